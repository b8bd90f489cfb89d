// Bytes of a rank that holds k main layers, at one moment of its schedule: what is always there, the micro-batches that its
// stages hold then, the working memory of one layer. The least recomputation that makes them fit is a lower bound on every
// plan's; where none does, no plan has k main layers there. Both only rise with k.
#include "solve/check_space_parts.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

bool check_holds_first(const struct check_sketch *s, int rank) { return s->has_first && rank == check_rank_of(s->p, 0); }

bool check_holds_last(const struct check_sketch *s, int rank)
{
    return s->has_last && rank == check_rank_of(s->p, s->p->stages - 1);
}

// Every stage holds a layer; where there are none but main ones and the two ends, only the ends' stages may lack a main one.
int64_t check_forced(const struct check_sketch *s, int rank)
{
    return s->only_ends ? s->p->turns - check_holds_first(s, rank) - check_holds_last(s, rank) : 0;
}

// Messages are kept twice at both their ends.
static int64_t message_bytes(const struct check_sketch *s, int rank)
{
    int sides = 0;
    for (int turn = 0; turn < s->p->turns; turn++) {
        int stage = check_stage_of(s->p, rank, turn);
        sides += check_sends_forward(s->p, stage - 1) + check_sends_forward(s->p, stage);
    }
    return 2 * sides * s->message;
}

static int64_t least_of_end(const struct check_room *end, int64_t held)
{
    return end->fixed + held * smaller(end->stash[0], smaller(end->stash[1], end->stash[2]));
}

static int64_t room_of(const struct check_sketch *s, const struct check_group_sketch *g, int rank)
{
    int64_t room = g->room - message_bytes(s, rank);
    if (check_holds_first(s, rank)) room -= least_of_end(&s->first, s->held[rank].least);
    if (check_holds_last(s, rank)) room -= least_of_end(&s->last, s->held[rank].least);
    return room;
}

// Of k main layers on the rank, the j that are held most: micro-batches, summed over the j. Stages that are forced to have one
// have one, the others stand where the fewest are held: whichever j are recomputed, no other way to place k takes fewer bytes,
// since each layer takes some for each micro-batch held.
static int64_t held_by(const struct check_sketch *s, int rank, int64_t k, int64_t j)
{
    const struct check_held *h = &s->held[rank];
    int64_t forced = check_forced(s, rank), free = s->p->turns - forced, of_forced = smaller(j, forced);
    if (forced < 1 || k < forced) return j * h->least;
    // Which stages lack a main layer is not known: at best those that hold the most.
    return h->most[free + of_forced] - h->most[free] + (j - of_forced) * h->least;
}

// A rank with an only stage: one mode for all of it. In first_layers any number of layers is recomputed.
static int64_t of_one_stage(const struct check_sketch *s, const struct check_terms *t, int64_t k, int64_t over, int64_t held)
{
    const struct check_room *r = &s->main;
    int64_t best = -1;
    if (over + r->working[0] <= 0) return 0;
    int64_t selective = k * held * (r->stash[0] - r->stash[1]), full = k * held * (r->stash[0] - r->stash[2]);
    if (s->selective && over + r->working[1] <= selective) best = k * t->selective;
    if (s->full && over + r->working[2] <= full && (best < 0 || k * t->full < best)) best = k * t->full;
    int64_t excess = over + smaller(r->working[0], r->working[2]), freed = held * (r->stash[0] - r->stash[2]);
    if (!s->partly) return best;
    int64_t layers = excess <= 0 ? 0 : freed > 0 ? (excess + freed - 1) / freed : k + 1;
    if (layers <= k && (best < 0 || layers * t->full < best)) best = layers * t->full;
    return best;
}

// Several stages: each has a mode of its own. Some layers fully, some more selectively, those first that are held most.
static int64_t of_many_stages(const struct check_sketch *s, const struct check_terms *t, int rank, int64_t k, int64_t over)
{
    const struct check_room *r = &s->main;
    bool any_full = s->full || s->partly;
    int64_t selective = s->selective ? larger(0, r->stash[0] - r->stash[1]) : 0, best = -1,
            full = any_full ? larger(selective, r->stash[0] - r->stash[2]) : selective, all = k;
    over += smaller(r->working[0], smaller(r->working[1], r->working[2]));
    if (over <= 0) return 0;
    if (full * held_by(s, rank, k, k) < over) return -1;
    for (int64_t fully = 0; fully <= (any_full ? k : 0); fully++) {
        int64_t left = over - (full - selective) * held_by(s, rank, k, fully);
        if (selective * held_by(s, rank, k, all) < left && fully < all) continue;
        while (all > fully && selective * held_by(s, rank, k, all - 1) >= left) all--;
        all = larger(all, fully);
        if (selective * held_by(s, rank, k, all) < left) continue;
        int64_t cost = fully * t->full + (all - fully) * t->selective;
        best = best < 0 ? cost : smaller(best, cost);
    }
    return best;
}

int64_t check_least_recomputation(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t k)
{
    int64_t room = room_of(s, g, rank), held = s->held[rank].least;
    if (k < 1) return room >= 0 ? 0 : -1;
    int64_t over = k * s->main.fixed + s->main.stash[0] * held_by(s, rank, k, k) - room;
    return s->p->turns > 1 ? of_many_stages(s, &g->main, rank, k, over) : of_one_stage(s, &g->main, k, over, held);
}
