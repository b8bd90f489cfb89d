// Bounds of a layout from its tables: lengths of paths of its graph at the least prices.
// docs/PROOFS.md 8 names the operations of each path. A rank holds k: main layers and, where they
// are counted, others; at least `before` of each are on the ranks before it.
//   stream    fill, the rank's passes and messages, its optimizer steps
//   ending    fill, the rank's passes and messages except what its last pass sends, its sync and
//             optimizer step
//   drain     fill, the rank's passes and messages, backwards of the stages before it, the first
//             stage's sync and step
//   turn      fill, the rank's passes up to its last forward, that micro-batch to the last stage
//             and back through all stages, the first one's sync and step
//   crossing  (across.c) with slices: one to the last stage and back, the rank's passes in between
// All of them grow with k, and moving a layer from the rank to those before it raises none.
#include "data/base/least.h"
#include "solve/checker/space/arguments.h"

static int64_t pass(const struct check_terms *t) { return t->forward + t->backward + t->weight; }

// How long the messages of one micro-batch occupy the rank's compute. No gradient crosses a local
// boundary.
static int64_t blocked(const struct check_sketch *s, int rank)
{
    const struct check_problem *p = s->p;
    int64_t forward = s->held[rank].sides, backward = p->local_every ? 0 : forward;
    for (int turn = 0; turn < p->turns && p->local_every; turn++) {
        int stage = check_stage_of(p, rank, turn);
        backward += check_sends_backward(p, stage - 1) + check_sends_backward(p, stage);
    }
    return forward * s->block_forward + backward * s->block_backward;
}

static int64_t bare_load(const struct check_sketch *s, const struct check_group_sketch *g, int rank,
                         struct check_share k)
{
    int64_t load = k.main * pass(&g->main) + k.other * pass(&g->other) + blocked(s, rank);
    if (check_holds_first(s, rank)) load += pass(&g->first);
    if (check_holds_last(s, rank)) load += pass(&g->last);
    return load;
}

// ---- after the rank's last pass

struct ending {
    int64_t sync, optimizer;
}; // all syncs of the rank in a row, all steps in a row

static struct ending add_layers(struct ending e, const struct check_terms *t, int64_t count)
{
    return (struct ending){e.sync + count * t->sync, e.optimizer + count * t->optimizer};
}

// An upper bound on the time between the previous layer's gradient and this one's.
static int64_t gradient_of(const struct check_sketch *s, const struct check_terms *t)
{
    return s->p->splits_backward ? t->weight : t->backward + t->most_again + t->most_read;
}

// Syncs that overlap the gradients of a rank's only stage. After the stage's last gradient comes
// the sync of its first layer. Syncs of the main layers before it are delayed by as much as they
// outlast the gradients that they overlap.
static int64_t pushed_back(const struct check_sketch *s, const struct check_group_sketch *g,
                           int rank, int64_t k)
{
    bool starts = check_holds_first(s, rank);
    int64_t queue = 0;
    if (k > 0 && s->only_ends)
        queue = g->main.sync + (k - 1) * larger(0, g->main.sync - gradient_of(s, &g->main));
    if (!starts) return queue;
    return g->first.sync + larger(0, queue - gradient_of(s, &g->first));
}

static struct ending ending_of(const struct check_sketch *s, const struct check_group_sketch *g,
                               int rank, struct check_share k)
{
    struct ending e = {s->p->turns * g->sync_constant, 0};
    e = add_layers(add_layers(e, &g->main, k.main), &g->other, k.other);
    if (check_holds_first(s, rank)) e = add_layers(e, &g->first, 1);
    if (check_holds_last(s, rank)) e = add_layers(e, &g->last, 1);
    if (!s->p->overlapped) return e;
    // With several stages, one's last gradient may come long before the rank's last pass.
    e.sync = s->p->turns == 1 ? g->sync_constant + pushed_back(s, g, rank, k.main) : 0;
    return e;
}

// A step follows its own stage's sync; with several stages, one may step while another syncs.
static int64_t sync_and_step(const struct check_sketch *s, struct ending e)
{
    return s->p->turns == 1 ? e.sync + e.optimizer : larger(e.sync, e.optimizer);
}

// Over the boundary before the rank's first stage.
static bool sends_back(const struct check_sketch *s, int rank)
{
    return check_sends_backward(s->p, check_stage_of(s->p, rank, 0) - 1);
}

// What the rank's last pass sends: nothing if it is a weight gradient; a gradient if the order is
// unknown.
static int64_t last_send(const struct check_sketch *s, int rank)
{
    if (s->p->splits_backward || (s->held[rank].returns && !sends_back(s, rank))) return 0;
    return s->block_backward;
}

// In addition to passes and messages: the steps follow all of them, the syncs all except what the
// last pass sends.
static int64_t own_tail(const struct check_sketch *s, struct ending e, int rank)
{
    return larger(e.optimizer, sync_and_step(s, e) - last_send(s, rank));
}

// The model's first layer is synchronised and updated after the first stage's last backward, which
// sends nothing. In between comes the embedding sync, which takes at least this.
static int64_t embedding(const struct check_sketch *s)
{
    const struct check_problem *p = s->p;
    int64_t least = INT64_MAX;
    for (int from = 0; from < p->group_count && p->embedding; from++)
        for (int to = 0; to < p->group_count; to++) {
            int64_t ns = p->embedding[from * p->group_count + to];
            if (check_is_usable(p, from) && check_is_usable(p, to) && ns >= 0)
                least = smaller(least, ns);
        }
    return least == INT64_MAX ? 0 : least;
}

static int64_t first_tail(const struct check_sketch *s)
{
    int64_t least = INT64_MAX;
    for (int g = 0; g < s->group_count; g++) {
        const struct check_terms *t = s->has_first ? &s->groups[g].first : &s->groups[g].main;
        least = smaller(least, s->groups[g].sync_constant + t->sync + t->optimizer);
    }
    return least + embedding(s);
}

// The same, for a path through the rank that ends with the first stage.
static int64_t from_first(const struct check_sketch *s, const struct check_group_sketch *g,
                          int rank, struct check_share k)
{
    return rank > 0 ? first_tail(s) : sync_and_step(s, ending_of(s, g, rank, k)) + embedding(s);
}

// ---- before the rank's first pass, and after what its last one sends

// One micro-batch through stages before the rank, as many as there are ranks before it: their
// layers, at least one each. layers: the total of those known to be there.
static int64_t through_before(const struct check_sketch *s, int rank, int64_t first, int64_t any,
                              int64_t layers)
{
    int64_t stages = rank - s->has_first;
    return first + larger(stages * any, s->p->turns == 1 ? layers : 0);
}

// The part of the message that occupies the rank's own compute counts among its messages.
static int64_t fill_of(const struct check_sketch *s, int rank, struct check_share before)
{
    int64_t layers = before.main * s->fill_main + before.other * s->fill_other;
    if (rank == 0 || s->p->stored) return 0; // a segment need not wait for those before it
    return through_before(s, rank, s->fill_first, s->fill, layers) + rank * s->send_forward -
           s->block_forward;
}

static int64_t drain_of(const struct check_sketch *s, int rank, struct check_share before)
{
    int64_t layers = before.main * s->drain_main + before.other * s->drain_other;
    return through_before(s, rank, s->drain_first, s->drain, layers) + rank * s->send_backward -
           s->block_backward + first_tail(s);
}

// ---- paths

// Along the rank's compute stream. Without a barrier the cycle closes at the rank itself, or, if
// it includes the drain, at the first rank.
static int64_t along_stream(const struct check_sketch *s, const struct check_group_sketch *g,
                            int rank, struct check_share before, struct check_share k, int64_t busy)
{
    int64_t fill = fill_of(s, rank, before), tail = own_tail(s, ending_of(s, g, rank, k), rank),
            own = (s->p->barrier ? fill : 0) + busy + tail;
    if (rank == 0 || s->p->local_every || !s->held[rank].returns || !sends_back(s, rank))
        return own;
    return larger(own, fill + busy + drain_of(s, rank, before));
}

// With several stages a rank: from the last forward to the end of the pipeline, and back through
// all stages and layers.
static int64_t turn_of_many(const struct check_sketch *s, int rank, int64_t passes)
{
    int64_t forward = (s->p->ranks - 1 - rank) * (s->fill + s->send_forward),
            back = s->main_count * s->drain_main + s->others * s->drain_other;
    return fill_of(s, rank, (struct check_share){0, 0}) + passes + forward + back + first_tail(s);
}

// Up to the rank's last forward, then forward to the end and back. It starts and ends with the
// first stage: without a barrier it closes there.
static int64_t turning_round(const struct check_sketch *s, const struct check_group_sketch *g,
                             int rank, struct check_share k, int64_t again)
{
    const struct check_problem *p = s->p;
    const struct check_held *h = &s->held[rank];
    if (p->local_every || check_schedules[p->kind].folds) return 0;
    int64_t forward = k.main * g->main.forward + k.other * g->other.forward,
            backward = k.main * g->main.backward + k.other * g->other.backward + again,
            weight = k.main * g->main.weight + k.other * g->other.weight;
    if (check_holds_first(s, rank))
        forward += g->first.forward, backward += g->first.backward, weight += g->first.weight;
    if (check_holds_last(s, rank))
        forward += g->last.forward, backward += g->last.backward, weight += g->last.weight;
    int64_t passes = p->micro_batches * forward + h->backwards * backward + h->weights * weight;
    if (p->turns > 1) return turn_of_many(s, rank, passes);
    int64_t elsewhere = (s->main_count - k.main) * (s->fill_main + s->drain_main) +
                        (s->others - k.other) * (s->fill_other + s->drain_other),
            sends = (p->ranks - 1) * (s->send_forward + s->send_backward);
    if (rank > 0) elsewhere += s->fill_first + s->drain_first;
    return passes + backward + elsewhere + sends + from_first(s, g, rank, k);
}

int64_t check_rank_takes(const struct check_sketch *s, int group, int rank,
                         struct check_share before, struct check_share k)
{
    const struct check_group_sketch *g = &s->groups[group];
    int64_t again = check_least_recomputation(s, g, rank, k);
    if (again < 0) return -1;
    if (s->p->objective == MINIMISE_LOAD) return bare_load(s, g, rank, k) + again;
    int64_t busy = s->p->micro_batches * (bare_load(s, g, rank, k) + again);
    int64_t across = check_across_takes(s, group, rank, k, again, from_first(s, g, rank, k));
    return larger(across, larger(along_stream(s, g, rank, before, k, busy),
                                 turning_round(s, g, rank, k, again)));
}

// For what it must hold, wherever the other layers are.
int64_t check_rank_takes_anyway(const struct check_sketch *s, int group, int rank)
{
    return check_rank_takes(s, group, rank, (struct check_share){0, 0},
                            (struct check_share){larger(check_forced(s, rank), 0), 0});
}

// The first rank begins a micro-batch only when one of those that it holds at once is back, so some
// of them pass all stages and return one after another (8.20).
static int64_t round_trips(const struct check_sketch *s)
{
    const struct check_problem *p = s->p;
    int64_t held = p->turns == 1 ? s->held[0].most[1] : 0;
    if (held < 1 || p->slices > 1 || p->local_every || p->splits_backward) return 0;
    return (p->micro_batches + held - 1) / held *
               (s->all + (p->ranks - 1) * (s->send_forward + s->send_backward)) +
           first_tail(s);
}

// Some rank does at least the mean of all passes, and at least as many whole main layers as the
// mean rank.
bool check_average_reaches(const struct check_sketch *s, int64_t t)
{
    int64_t all = s->all, one = INT64_MAX, ranks = s->p->ranks;
    for (int g = 0; g < s->group_count; g++) one = smaller(one, pass(&s->groups[g].main));
    for (int rank = 0; rank < ranks; rank++) all += blocked(s, rank);
    int64_t mean = (all + ranks - 1) / ranks, whole = (s->main_count + ranks - 1) / ranks * one;
    bool of_load = s->p->objective == MINIMISE_LOAD;
    int64_t times = of_load ? 1 : s->p->micro_batches;
    return times * larger(mean, whole) >= t || (!of_load && round_trips(s) >= t);
}

// As many of the slots that hold the most as there are ranks.
int64_t check_held_together(const struct check_sketch *s, const int64_t *most)
{
    bool used[MOST_GROUPS] = {false};
    int64_t sum = 0;
    for (int left = s->p->ranks; left > 0;) {
        int best = -1;
        for (int g = 0; g < s->group_count; g++)
            if (!used[g] && (best < 0 || most[g] > most[best])) best = g;
        if (best < 0) break;
        int slots = s->groups[best].slots < left ? s->groups[best].slots : left;
        used[best] = true;
        sum += slots * larger(most[best], 0);
        left -= slots;
    }
    return sum;
}

// ---- memory alone

// Neighbours often have equal numbers, so the previous one is tried first.
static int64_t most_fitting(const struct check_sketch *s, const struct check_group_sketch *g,
                            int rank, int64_t guess)
{
    int64_t low = check_forced(s, rank), high = larger(s->main_count, low);
    if (!check_may_fit(s, g, rank, low)) return -1;
    if (guess >= low && guess < high) {
        if (!check_may_fit(s, g, rank, guess + 1)) high = guess;
        else low = guess + 1;
        if (high == guess && check_may_fit(s, g, rank, guess)) return guess;
    }
    while (low < high) {
        int64_t k = low + (high - low + 1) / 2;
        if (check_may_fit(s, g, rank, k)) low = k;
        else high = k - 1;
    }
    return low;
}

bool check_never_fits(const struct check_sketch *s)
{
    int64_t most[MOST_GROUPS], last[MOST_GROUPS], sum = 0;
    for (int g = 0; g < s->group_count; g++) most[g] = last[g] = -1;
    for (int rank = 0; rank < s->p->ranks; rank++) {
        int64_t here = -1;
        for (int g = 0; g < s->group_count; g++) {
            last[g] = most_fitting(s, &s->groups[g], rank, last[g]);
            most[g] = larger(most[g], last[g]);
            here = larger(here, last[g]);
        }
        if (here < 0) return true;
        sum += here;
    }
    // With one group the ranks' own numbers count, otherwise those of the groups' slots.
    return (s->group_count == 1 ? sum : check_held_together(s, most)) < s->main_count;
}
