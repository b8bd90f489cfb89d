// Bounds of a layout from its tables. Rank i does all passes of m micro-batches over its k main layers; before its first pass
// one micro-batch has gone forward through the ranks before it, and after its last backward that micro-batch's gradient goes
// back through them:
//     T >= fill + m x load + max(its own sync and optimizer, drain).
// Another path leaves the rank behind its last forward and turns round at the end of the pipeline. All these only rise with
// k, and a layer moved from the rank to those before it raises none. So, if the ranks take main layers in order, as many each
// as T allows, they take at least as many as in any plan of time T: if some are left, no plan takes T (docs/PROOFS.md 8).
#include "solve/check_space_parts.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t pass(const struct check_terms *t) { return t->forward + t->backward + t->weight; }

// What keeps the rank's compute busy for the messages of one micro-batch. No gradient goes over a local boundary.
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

static int64_t bare_load(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t k)
{
    int64_t load = k * pass(&g->main) + blocked(s, rank);
    if (check_holds_first(s, rank)) load += pass(&g->first);
    if (check_holds_last(s, rank)) load += pass(&g->last);
    return load;
}

// ---- behind the rank's last pass

// The sync of an only stage that runs behind its gradients: of the first layers' gradients, which come last, one main layer's
// sync each is still to do. It falls with k where a sync is shorter than a gradient; then it is counted only if what a layer
// adds to the rank's load makes up for it.
static int64_t behind_gradients(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t k)
{
    const struct check_problem *p = s->p;
    int64_t again = larger(g->main.selective, g->main.full), sync = g->main.sync,
            gradient = p->splits_backward ? g->main.weight : g->main.backward + again;
    if (k < 1 || p->turns > 1 || !s->only_ends) return 0;
    if (sync < gradient && !p->splits_backward && (g->main.forward < again || p->micro_batches < 2)) return 0;
    int64_t tail = k * sync - (k - 1) * gradient;
    if (check_holds_first(s, rank))
        tail += g->first.sync - (p->splits_backward ? g->first.weight : g->first.backward + larger(g->first.selective, g->first.full));
    return larger(tail, 0);
}

// Syncs of a rank follow each other, optimizer steps do, and each step its sync.
static int64_t tail_of(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t k)
{
    int64_t optimizer = k * g->main.optimizer, sync = k * g->main.sync + s->p->turns * g->sync_constant;
    if (check_holds_first(s, rank)) optimizer += g->first.optimizer, sync += g->first.sync;
    if (check_holds_last(s, rank)) optimizer += g->last.optimizer, sync += g->last.sync;
    if (!s->p->barrier) return optimizer;
    if (s->p->turns > 1) return larger(optimizer, s->p->overlapped ? 0 : sync);
    return optimizer + (s->p->overlapped ? g->sync_constant + behind_gradients(s, g, rank, k) : sync);
}

// The first stage's own, when the drain has come there.
static int64_t first_optimizer(const struct check_sketch *s)
{
    int64_t least = INT64_MAX;
    if (!s->p->barrier || !s->has_first) return 0;
    for (int g = 0; g < s->group_count; g++) least = smaller(least, s->groups[g].first.optimizer);
    return least;
}

// ---- before its first and behind its last pass

struct ends { int64_t fill, drain; };

// before: main layers on the ranks before. What blocks the rank itself is in its load.
static struct ends ends_of(const struct check_sketch *s, int rank, int64_t before)
{
    struct ends e = {0, 0};
    bool joint = !s->p->splits_backward && !s->p->local_every && s->held[rank].returns;
    if (rank == 0) return e;
    int64_t others = rank - s->has_first, counted = s->p->turns == 1 && s->p->slices == 1 ? before : 0;
    e.fill = s->fill_first + larger(others * s->fill, counted * s->fill_main) + rank * s->send_forward - s->block_forward;
    if (joint)
        e.drain = s->drain_first + larger(others * s->drain, counted * s->drain_main) + rank * s->send_backward - s->block_backward;
    return e;
}

// Up to the rank's last forward, then forward to the end and back. With a barrier it starts and ends with the ranks before;
// without one it closes to a cycle at the rank itself.
static int64_t turning_round(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t before, int64_t k, int64_t again)
{
    const struct check_problem *p = s->p;
    const struct check_held *h = &s->held[rank];
    int64_t behind = p->ranks - 1 - rank, others = s->main_count - k;
    if (p->local_every || p->slices > 1 || p->kind == ZB_V || !h->leaves_last) return 0;
    int64_t forward = k * g->main.forward, backward = k * g->main.backward + again, weight = k * g->main.weight;
    if (check_holds_first(s, rank)) forward += g->first.forward, backward += g->first.backward, weight += g->first.weight;
    if (check_holds_last(s, rank)) forward += g->last.forward, backward += g->last.backward, weight += g->last.weight;
    int64_t way = p->micro_batches * forward + h->backwards * backward + h->weights * weight;
    if (p->turns > 1) {
        way += behind * (s->fill + s->send_forward);
        return way + (p->barrier ? s->main_count * s->drain_main + ends_of(s, rank, 0).fill : 0);
    }
    int64_t sends = s->send_forward + s->send_backward, through = s->fill_main + s->drain_main;
    way += backward;
    if (p->barrier)
        return way + others * through + (p->ranks - 1) * sends + (rank ? s->fill_first + s->drain_first : 0);
    return way + (s->group_count == 1 ? larger(others - before, 0) * through : 0) + behind * sends + tail_of(s, g, rank, k);
}

// Whether the rank may hold k main layers in a plan that takes less than t.
static bool may_hold(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t before, int64_t k, int64_t t)
{
    int64_t again = check_least_recomputation(s, g, rank, k);
    if (again < 0) return false;
    int64_t load = s->p->micro_batches * (bare_load(s, g, rank, k) + again), tail = tail_of(s, g, rank, k);
    if (turning_round(s, g, rank, before, k, again) >= t) return false;
    struct ends ends = ends_of(s, rank, before);
    // Without a barrier the cycle closes at the rank itself, or at the first one.
    if (!s->p->barrier) return load + tail < t && (!ends.drain || ends.fill + load + ends.drain < t);
    return ends.fill + load + larger(tail, ends.drain ? ends.drain + first_optimizer(s) : 0) < t;
}

// Main layers on the rank at most; -1: not even what it must hold, wherever it stands. Behind more layers than in a plan, as
// many fewer are enough: none, if need be.
static int64_t most_held(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t before, int64_t t)
{
    int64_t low = 0, high = s->main_count - before, share = 2 * (s->main_count / s->p->ranks) + 2;
    if (!may_hold(s, g, rank, 0, check_forced(s, rank), t)) return -1;
    if (share < high && !may_hold(s, g, rank, before, share, t)) high = share - 1;
    while (low < high) {
        int64_t k = low + (high - low + 1) / 2;
        if (may_hold(s, g, rank, before, k, t)) low = k;
        else high = k - 1;
    }
    return low;
}

// The slots that hold the most, for as many ranks as there are.
static int64_t held_together(const struct check_sketch *s, const int64_t *most)
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

// Several groups: a rank may stand on any, in no order.
static bool all_held_somewhere(const struct check_sketch *s, int64_t t)
{
    int64_t most[MOST_GROUPS];
    bool stands[MOST_STAGES] = {false};
    for (int g = 0; g < s->group_count; g++) {
        most[g] = -1;
        for (int rank = 0; rank < s->p->ranks; rank++) {
            int64_t k = most_held(s, &s->groups[g], rank, 0, t);
            stands[rank] = stands[rank] || k >= 0;
            most[g] = larger(most[g], k);
        }
    }
    for (int rank = 0; rank < s->p->ranks; rank++)
        if (!stands[rank]) return false;
    return held_together(s, most) >= s->main_count;
}

bool check_filling_reaches(const struct check_sketch *s, int64_t t)
{
    int64_t before = 0;
    if (s->group_count != 1) return !all_held_somewhere(s, t);
    for (int rank = 0; rank < s->p->ranks && before < s->main_count; rank++) {
        int64_t k = most_held(s, &s->groups[0], rank, before, t);
        if (k < 0) return true;
        before += k;
    }
    return before < s->main_count;
}

// One rank does the mean of all passes at least, and whole main layers as many as the mean rank's.
bool check_average_reaches(const struct check_sketch *s, int64_t t)
{
    int64_t all = s->all, one = INT64_MAX, ranks = s->p->ranks;
    for (int g = 0; g < s->group_count; g++) one = smaller(one, pass(&s->groups[g].main));
    for (int rank = 0; rank < ranks; rank++) all += blocked(s, rank);
    int64_t mean = (all + ranks - 1) / ranks, whole = (s->main_count + ranks - 1) / ranks * one;
    return s->p->micro_batches * larger(mean, whole) >= t;
}

// ---- memory alone

// Where neighbours' numbers are alike, the last one is tried first.
static int64_t most_fitting(const struct check_sketch *s, const struct check_group_sketch *g, int rank, int64_t guess)
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
    // With one group the ranks' own numbers count, else those of the groups' slots.
    return (s->group_count == 1 ? sum : held_together(s, most)) < s->main_count;
}
