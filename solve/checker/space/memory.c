// Bytes of a rank that holds k main layers, at one moment of its schedule: what is always there,
// the micro-batches that its stages then hold, and the working memory of one layer. The least
// recomputation that makes them fit is a lower bound for every plan; if none does, no plan has k
// main layers there. Both grow with k.
#include "data/base/least.h"
#include "solve/checker/space/arguments.h"

bool check_holds_first(const struct check_sketch *s, int rank)
{
    return s->has_first && rank == check_rank_of(s->p, 0);
}

bool check_holds_last(const struct check_sketch *s, int rank)
{
    return s->has_last && rank == check_rank_of(s->p, s->p->stages - 1);
}

// Every stage holds a layer; if all layers are main ones or the two ends, only the ends' stages
// may lack a main one.
int64_t check_forced(const struct check_sketch *s, int rank)
{
    return s->only_ends ? s->p->turns - check_holds_first(s, rank) - check_holds_last(s, rank) : 0;
}

static int64_t least_of_end(const struct check_room *end, int64_t held)
{
    return end->fixed + held * smaller(end->stash[0], smaller(end->stash[1], end->stash[2]));
}

static int64_t room_of(const struct check_sketch *s, const struct check_group_sketch *g, int rank)
{
    // Both ends keep messages twice; what a file has instead is kept like what arrives.
    bool reads = s->p->stored && rank > 0 && !check_sends_forward(s->p, rank - 1);
    int64_t room = g->room - 2 * (s->held[rank].sides + reads) * s->message;
    if (check_holds_first(s, rank)) room -= least_of_end(&s->first, s->held[rank].least);
    if (check_holds_last(s, rank)) room -= least_of_end(&s->last, s->held[rank].least);
    return room;
}

// Of k main layers on the rank, the j most held: micro-batches, summed over the j. Stages that
// must have a main layer have one, the others are placed where the fewest are held. Whichever j
// are recomputed, no other placement of the k takes fewer bytes, since each layer takes some for
// each micro-batch held.
struct standing {
    const struct check_held *held;
    int64_t forced, free;
}; // free: stages that may lack a main layer

static struct standing standing_of(const struct check_sketch *s, int rank, int64_t k)
{
    int64_t forced = check_forced(s, rank);
    bool counts = forced >= 1 && k >= forced;
    return (struct standing){&s->held[rank], counts ? forced : 0,
                             counts ? s->p->turns - forced : 0};
}

// Which stages lack a main layer is unknown; the best case is those that hold the most.
static int64_t held_by(const struct standing *x, int64_t j)
{
    int64_t of_forced = smaller(j, x->forced);
    return x->held->most[x->free + of_forced] - x->held->most[x->free] +
           (j - of_forced) * x->held->least;
}

// A rank with a single stage: one mode for all of it. In first_layers any number of layers is
// recomputed.
static int64_t of_one_stage(const struct check_sketch *s, const struct check_terms *t, int64_t k,
                            int64_t over, int64_t held)
{
    const struct check_room *r = &s->main;
    int64_t best = -1;
    if (over + r->working[0] <= 0) return 0;
    int64_t selective = k * held * (r->stash[0] - r->stash[1]),
            full = k * held * (r->stash[0] - r->stash[2]);
    if (s->selective && over + r->working[1] <= selective) best = k * t->selective;
    if (s->full && over + r->working[2] <= full && (best < 0 || k * t->full < best))
        best = k * t->full;
    int64_t excess = over + smaller(r->working[0], r->working[2]),
            freed = held * (r->stash[0] - r->stash[2]);
    if (!s->partly) return best;
    int64_t layers = excess <= 0 ? 0 : freed > 0 ? (excess + freed - 1) / freed : k + 1;
    if (layers <= k && (best < 0 || layers * t->full < best)) best = layers * t->full;
    return best;
}

// Bytes per micro-batch that recomputing a layer frees, in either mode.
struct freeing {
    int64_t selective, full;
};

static struct freeing freeing_of(const struct check_sketch *s)
{
    const struct check_room *r = &s->main;
    int64_t selective = s->selective ? larger(0, r->stash[0] - r->stash[1]) : 0;
    return (struct freeing){
        selective, s->full || s->partly ? larger(selective, r->stash[0] - r->stash[2]) : selective};
}

// The fewest layers that free this much.
static int64_t fewest_freeing(const struct standing *x, int64_t freed, int64_t over, int64_t k)
{
    int64_t low = 0, high = k;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (freed * held_by(x, middle) >= over) high = middle;
        else low = middle + 1;
    }
    return low;
}

// With several stages, each has its own mode. Some layers are recomputed in full, some
// selectively, those held most first; all of them together free enough.
static int64_t of_many_stages(const struct check_sketch *s, const struct check_terms *t,
                              const struct standing *x, int64_t k, int64_t over)
{
    struct freeing f = freeing_of(s);
    int64_t fully = fewest_freeing(x, f.full, over, k),
            best = fully * (s->full || s->partly ? t->full : t->selective);
    if (f.selective == 0 || !(s->full || s->partly)) return best;
    for (int64_t most = fully, all = k; fully-- > 0;) {
        int64_t left = over - (f.full - f.selective) * held_by(x, fully);
        if (f.selective * held_by(x, k) < left) break; // with fewer in full, not enough is freed
        if (fully == most - 1) all = fewest_freeing(x, f.selective, left, k);
        while (all < k && f.selective * held_by(x, all) < left) all++;
        best = smaller(best, fully * t->full + larger(all - fully, 0) * t->selective);
    }
    return best;
}

// Missing bytes if nothing is recomputed.
static int64_t missing(const struct check_sketch *s, const struct check_group_sketch *g, int rank,
                       const struct standing *x, int64_t k)
{
    return k * s->main.fixed + s->main.stash[0] * held_by(x, k) - room_of(s, g, rank);
}

static int64_t least_working(const struct check_room *r)
{
    return smaller(r->working[0], smaller(r->working[1], r->working[2]));
}

static int64_t least_room_making(const struct check_sketch *s, const struct check_group_sketch *g,
                                 int rank, int64_t k)
{
    if (k < 1) return room_of(s, g, rank) >= 0 ? 0 : -1;
    struct standing x = standing_of(s, rank, k);
    int64_t over = missing(s, g, rank, &x, k);
    if (s->p->turns == 1) return of_one_stage(s, &g->main, k, over, x.held->least);
    over += least_working(&s->main);
    if (over <= 0) return 0;
    return freeing_of(s).full * held_by(&x, k) < over ? -1
                                                      : of_many_stages(s, &g->main, &x, k, over);
}

// ---- main layers and others

// Bytes of a layer for each micro-batch held: not recomputed in full, in the stage's mode or
// better; and recomputed in full.
struct keeping {
    int64_t main, other, main_full, other_full;
};

static struct keeping keeping_of(const struct check_sketch *s, int mode)
{
    const struct check_room *m = &s->main, *o = &s->other;
    int64_t main = smaller(m->stash[0], m->stash[mode]),
            other = smaller(o->stash[0], o->stash[mode]);
    return (struct keeping){main, other, smaller(main, m->stash[2]), smaller(other, o->stash[2])};
}

// The greatest working memory of any layer; mode -1: each in its own cheapest mode.
static int64_t working_of(const struct check_room *r, int mode)
{
    return mode < 0 ? least_working(r) : r->working[mode];
}
static int64_t working_on(const struct check_sketch *s, int rank, struct check_share k, int mode)
{
    int64_t main = k.main > 0 ? working_of(&s->main, mode) : 0,
            other = k.other > 0 ? working_of(&s->other, mode) : 0, most = larger(main, other);
    if (check_holds_first(s, rank)) most = larger(most, least_working(&s->first));
    if (check_holds_last(s, rank)) most = larger(most, least_working(&s->last));
    return most;
}

// Missing bytes if nothing is recomputed in full. Each stage except those of the ends holds a
// layer; micro-batches held beyond the fewest count for the lightest layer.
static int64_t missing_of_both(const struct check_sketch *s, const struct check_group_sketch *g,
                               int rank, struct check_share k, const struct keeping *keep)
{
    const struct check_held *h = &s->held[rank];
    int64_t turns = s->p->turns, ends = check_holds_first(s, rank) + check_holds_last(s, rank),
            sum = k.main * (s->main.fixed + h->least * keep->main) +
                  k.other * (s->other.fixed + h->least * keep->other) - room_of(s, g, rank);
    if (turns <= ends) return sum;
    bool fully = s->full || s->partly;
    int64_t lightest = fully ? smaller(keep->main_full, keep->other_full)
                             : smaller(keep->main, keep->other);
    return sum + (h->most[turns] - h->most[ends] - (turns - ends) * h->least) * lightest;
}

// The least time in which recomputing some layers in full frees so many bytes. -1: all of them do
// not free enough.
static int64_t least_freeing(const struct check_sketch *s, const struct check_group_sketch *g,
                             int rank, struct check_share k, const struct keeping *keep,
                             int64_t bytes)
{
    int64_t held = s->held[rank].least, frees_main = held * (keep->main - keep->main_full),
            frees_other = held * (keep->other - keep->other_full), best = -1;
    for (int64_t main = 0; main <= k.main; main++) {
        int64_t left = bytes - main * frees_main, other = 0;
        if (left > 0)
            other = frees_other > 0 ? (left + frees_other - 1) / frees_other : k.other + 1;
        if (other > k.other) continue;
        int64_t ns = main * g->main.full + other * g->other.full;
        best = best < 0 ? ns : smaller(best, ns);
    }
    return best;
}

static int64_t lesser(int64_t a, int64_t b) { return a < 0 || (b >= 0 && b < a) ? b : a; }

static int64_t both_in_one_stage(const struct check_sketch *s, const struct check_group_sketch *g,
                                 int rank, struct check_share k)
{
    const bool offered[] = {true, s->selective, s->full};
    const int64_t costs[] = {0, k.main * g->main.selective + k.other * g->other.selective,
                             k.main * g->main.full + k.other * g->other.full};
    int64_t best = -1;
    for (int mode = 0; mode < 3; mode++) {
        struct keeping keep = keeping_of(s, mode);
        if (offered[mode] &&
            missing_of_both(s, g, rank, k, &keep) + working_on(s, rank, k, mode) <= 0)
            best = lesser(best, costs[mode]);
    }
    if (!s->partly) return best;
    struct keeping keep = keeping_of(s, MODE_NONE);
    return lesser(
        best, least_freeing(s, g, rank, k, &keep,
                            missing_of_both(s, g, rank, k, &keep) + working_on(s, rank, k, -1)));
}

// What is not recomputed in full is recomputed selectively at no cost, where that is allowed.
static int64_t both_in_many_stages(const struct check_sketch *s, const struct check_group_sketch *g,
                                   int rank, struct check_share k)
{
    struct keeping keep = keeping_of(s, s->selective ? MODE_SELECTIVE : MODE_NONE);
    int64_t over = missing_of_both(s, g, rank, k, &keep) + working_on(s, rank, k, -1);
    if (over <= 0) return 0;
    return s->full || s->partly ? least_freeing(s, g, rank, k, &keep, over) : -1;
}

static int64_t room_making(const struct check_sketch *s, const struct check_group_sketch *g,
                           int rank, struct check_share k)
{
    if (!s->others) return least_room_making(s, g, rank, k.main);
    return s->p->turns == 1 ? both_in_one_stage(s, g, rank, k) : both_in_many_stages(s, g, rank, k);
}

// Swapping may be hidden completely: where it is offered, room is made at no cost or not at all.
int64_t check_least_recomputation(const struct check_sketch *s, const struct check_group_sketch *g,
                                  int rank, struct check_share k)
{
    int64_t least = room_making(s, g, rank, k);
    return s->swaps ? smaller(least, 0) : least;
}

bool check_may_fit(const struct check_sketch *s, const struct check_group_sketch *g, int rank,
                   int64_t k)
{
    if (k < 1 || s->p->turns == 1) return least_room_making(s, g, rank, k) >= 0;
    struct standing x = standing_of(s, rank, k);
    int64_t over = missing(s, g, rank, &x, k) + least_working(&s->main);
    return over <= 0 || freeing_of(s).full * held_by(&x, k) >= over;
}
