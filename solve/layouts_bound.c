// Bounds of a layout from its priced integers. Rank i does all passes of m micro-batches over its layers, whatever the
// schedule. Before its first pass one micro-batch has gone forward through the stages before it; after its last backward,
// where backward is joint, that micro-batch's gradient goes back through them (cost-models.md 3.1). So
//     T >= fill_i + m x load_i + drain_i,     and with i's own sync and optimizer instead of the drain.
// Another way leaves the rank after its last forward, and turns round at the end of the pipeline (turn_round_ns).
// The layers are handed to the ranks in order, as many to each as T allows: if they do not all find room, T is too small. Taking
// as many as possible is best, because one layer more before rank i costs it at most one layer of its own. Of objective max_load m x load_i alone is bounded.
#include "solve/layouts_bound.h"


static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t pass_ns(const struct layer_terms *t) { return t->forward_ns + t->backward_ns + t->weight_ns; }

static int64_t kept(const struct layout_sketch *s, int rank) { return s->kept[rank].least; }

static int boundaries_of(const struct layout_sketch *s, int rank)
{
    if (s->ranks == 1) return 0;
    if (s->priced->layout.schedule == SCHEDULE_ZB_V) return 4 - (rank == 0 ? 2 : 0) - (rank == s->ranks - 1 ? 2 : 0);
    return 2 * s->turns - (rank == 0) - (rank == s->ranks - 1);
}

static bool holds_first(const struct layout_sketch *s, int rank) { return s->has_first && rank == 0; }

static bool holds_last(const struct layout_sketch *s, int rank)
{
    return s->has_last && rank == (s->priced->layout.schedule == SCHEDULE_ZB_V ? 0 : s->ranks - 1);
}

// ---- memory

// What is left of a device for main layers' bytes; those of one of them in a mode.
static int64_t room_of(const struct layout_sketch *s, const struct group_terms *g, int rank)
{
    int64_t f = kept(s, rank), room = g->limit_bytes - g->constant_bytes - 2 * s->message_bytes * boundaries_of(s, rank);
    if (holds_first(s, rank)) room -= s->first.fixed_bytes + f * smaller(s->first.stash_bytes[0], s->first.stash_bytes[2]);
    if (holds_last(s, rank)) room -= s->last.fixed_bytes + f * smaller(s->last.stash_bytes[0], s->last.stash_bytes[2]);
    return room;
}

static bool mode_allowed(const struct layout_sketch *s, int mode)
{
    return mode == 0 || (mode == 1 && s->selective) || (mode == 2 && (s->full || s->partly));
}

// Where all layers but the first and the last are main ones, a rank holds so many of those at least: one a stage, but for
// the stages of the two.
static int64_t fewest(const struct layout_sketch *s, int rank)
{
    return s->only_ends ? s->turns - holds_first(s, rank) - holds_last(s, rank) : 0;
}

// Of k main layers on the rank: the sum over j of them of the micro-batches kept. Every stage holds one at least; the others,
// at best, stand where the fewest are kept, and so do those missing where the first or the last layer has a stage alone. `top`:
// of the j that keep the most, else of any j.
static int64_t kept_by(const struct layout_sketch *s, int rank, int64_t k, int64_t j)
{
    const struct kept *kept = &s->kept[rank];
    int64_t forced = fewest(s, rank), turns = s->turns;
    if (forced < 1 || k < forced || turns == 1) return j * kept->least;
    // The stages of the first and the last layer may be those that keep the most.
    int64_t apart = turns - forced, of_forced = smaller(j, forced);
    return kept->most[apart + of_forced] - kept->most[apart] + (j - of_forced) * kept->least;
}

static int64_t bytes_of(const struct layout_sketch *s, int rank, int64_t k, int mode)
{
    return k * s->main.fixed_bytes + s->main.stash_bytes[mode] * kept_by(s, rank, k, k);
}

static int64_t stash_in(const struct layer_room *r, int mode, int64_t f) { return r->fixed_bytes + f * r->stash_bytes[mode]; }

// Main layers that fit on the rank at most, at their least.
static int64_t most_fitting(const struct layout_sketch *s, const struct group_terms *g, int rank)
{
    int64_t room = room_of(s, g, rank), low = 0, high = s->main_count;
    int mode = 0;
    if (room < 0) return -1;
    for (int other = 1; other < 3; other++)
        if (mode_allowed(s, other) && s->main.stash_bytes[other] < s->main.stash_bytes[mode]) mode = other;
    while (low < high) {
        int64_t k = low + (high - low + 1) / 2;
        if (bytes_of(s, rank, k, mode) <= room) low = k;
        else high = k - 1;
    }
    return low;
}

static int64_t most_in_group(const struct layout_sketch *s, const struct group_terms *g)
{
    int64_t most = -1;
    for (int i = 0; i < s->ranks; i++) most = larger(most, most_fitting(s, g, i));
    return most;
}

// The best `ranks` of the groups' slots, a rank holding most[g].
static int64_t together(const struct layout_sketch *s, const int64_t *most)
{
    int64_t sum = 0;
    bool used[BOUND_GROUPS_MAX] = {false};
    for (int left = s->ranks; left > 0;) {
        int best = -1;
        for (int g = 0; g < s->group_count; g++)
            if (!used[g] && (best < 0 || most[g] > most[best])) best = g;
        if (best < 0) break;
        int64_t slots = smaller(left, s->groups[best].slots);
        used[best] = true;
        sum += slots * larger(most[best], 0);
        left -= (int)slots;
    }
    return sum;
}

int64_t layout_missing_bytes(const struct layout_sketch *s)
{
    int64_t sum = 0, least = stash_in(&s->main, 0, 1);
    for (int mode = 1; mode < 3; mode++)
        if (mode_allowed(s, mode)) least = smaller(least, stash_in(&s->main, mode, 1));
    if (s->group_count > 1) {
        int64_t most[BOUND_GROUPS_MAX];
        for (int g = 0; g < s->group_count; g++) most[g] = most_in_group(s, &s->groups[g]);
        sum = together(s, most);
    }
    for (int i = 0; i < s->ranks; i++) {
        int64_t most = -1, room = INT64_MIN;
        for (int g = 0; g < s->group_count; g++) {
            most = larger(most, most_fitting(s, &s->groups[g], i));
            room = larger(room, room_of(s, &s->groups[g], i));
        }
        if (most < fewest(s, i) || most < 0) return larger(1, larger(0, fewest(s, i)) * least - room);
        if (s->group_count == 1) sum += most;
    }
    return sum < s->main_count ? larger(1, (s->main_count - sum) * least) : 0;
}

// ---- time

// On a rank with several stages each has a mode of its own: the fewest layers, those first that keep the most, whose recompu-
// tation frees the bytes, over all splits between the two ways.
static int64_t recomputation_apart_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t k, int64_t over)
{
    const struct layer_room *r = &s->main;
    bool full = s->full || s->partly;
    int64_t free_selective = s->selective ? larger(0, r->stash_bytes[0] - r->stash_bytes[1]) : 0, best = -1, all = k;
    int64_t free_full = full ? larger(free_selective, r->stash_bytes[0] - r->stash_bytes[2]) : free_selective;
    if (larger(free_full, free_selective) * kept_by(s, rank, k, k) < over) return -1;
    for (int64_t fully = 0; fully <= (full ? k : 0); fully++) {
        int64_t left = over - (free_full - free_selective) * kept_by(s, rank, k, fully);
        if (free_selective * kept_by(s, rank, k, all) < left && fully < all) continue;
        while (all > fully && free_selective * kept_by(s, rank, k, all - 1) >= left) all--;
        if (all < fully) all = fully;
        if (free_selective * kept_by(s, rank, k, all) < left) continue;
        int64_t cost = fully * g->main.full_ns + (all - fully) * g->main.selective_ns;
        best = best < 0 ? cost : smaller(best, cost);
    }
    return best;
}

// Least recomputation that may make k main layers fit, in ns of one micro-batch; -1: nothing does.
static int64_t recomputation_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t k)
{
    const struct layer_room *r = &s->main;
    int64_t f = kept(s, rank), over = bytes_of(s, rank, k, 0) - room_of(s, g, rank), best = -1;
    if (over + (k ? r->working_bytes[0] : 0) <= 0) return 0;
    if (s->turns > 1) return over <= 0 ? 0 : recomputation_apart_ns(s, g, rank, k, over);
    int64_t frees[2] = {s->selective ? f * (r->stash_bytes[0] - r->stash_bytes[1]) : 0,
                        s->full || s->partly ? f * (r->stash_bytes[0] - r->stash_bytes[2]) : 0};
    int64_t costs[2] = {g->main.selective_ns, g->main.full_ns};
    for (int mode = 0; mode < 2; mode++) {
        int64_t excess = over + smaller(r->working_bytes[0], r->working_bytes[mode + 1]);
        if (frees[mode] <= 0) continue;
        int64_t layers = excess <= 0 ? 0 : (excess + frees[mode] - 1) / frees[mode];
        if (layers > k) continue;
        if (mode == 0 || !s->partly) layers = k;
        best = best < 0 ? layers * costs[mode] : smaller(best, layers * costs[mode]);
    }
    return best;
}

// Load of one micro-batch with k main layers that recompute nothing.
static int64_t bare_load_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t k)
{
    int64_t load = k * pass_ns(&g->main);
    if (holds_first(s, rank)) load += pass_ns(&g->first);
    if (holds_last(s, rank)) load += pass_ns(&g->last);
    return load + boundaries_of(s, rank) * (s->block_forward_ns + (s->local ? 0 : s->block_backward_ns));
}

// Load of one micro-batch with k main layers, -1 where they do not fit.
static int64_t find_load_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t k)
{
    int64_t extra = recomputation_ns(s, g, rank, k);
    if (extra < 0) return -1;
    return bare_load_ns(s, g, rank, k) + extra;
}

enum { LOAD_UNKNOWN = -2 };

// Where there is one group the loads are remembered: a bound asks for the same ones again and again.
static int64_t load_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t k)
{
    if (s->group_count > 1) return find_load_ns(s, g, rank, k);
    int64_t *load = &s->loads[rank * (s->main_count + 1) + k];
    if (*load == LOAD_UNKNOWN) *load = find_load_ns(s, g, rank, k);
    return *load;
}

// The exposed part of an only stage's syncs that run behind its gradients, those of the first layers last.
static int64_t behind_gradients_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t k)
{
    if (k < 1 || !s->only_ends) return 0;
    int64_t gradient = s->joint ? g->main.backward_ns + larger(g->main.full_ns, g->main.selective_ns) : g->main.weight_ns;
    int64_t tail = k * g->main.sync_ns - (k - 1) * gradient;
    if (holds_first(s, rank))
        tail += g->first.sync_ns - (s->joint ? g->first.backward_ns + larger(g->first.full_ns, g->first.selective_ns) : g->first.weight_ns);
    return larger(tail, 0);
}

// Sync and optimizer of the rank itself, after its last pass. Of several stages one is updated while another is synchronised.
static int64_t tail_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t k)
{
    int64_t optimizer = k * g->main.optimizer_ns, sync = s->turns * g->sync_constant_ns + k * g->main.sync_ns;
    if (holds_first(s, rank)) optimizer += g->first.optimizer_ns, sync += g->first.sync_ns;
    if (holds_last(s, rank)) optimizer += g->last.optimizer_ns, sync += g->last.sync_ns;
    if (!s->barrier) return optimizer;
    if (s->turns > 1) return larger(optimizer, s->overlapped ? 0 : sync);
    return optimizer + (s->overlapped ? g->sync_constant_ns + behind_gradients_ns(s, g, rank, k) : sync);
}

// Of the first stage of all, which ends the drain.
static int64_t end_tail_ns(const struct layout_sketch *s)
{
    int64_t least = INT64_MAX;
    if (!s->barrier || !s->has_first) return 0;
    for (int g = 0; g < s->group_count; g++) least = smaller(least, s->groups[g].first.optimizer_ns);
    return least;
}

struct ends { int64_t fill_ns, drain_ns; };

// before: main layers on the ranks before.
static struct ends ends_of(const struct layout_sketch *s, int rank, int64_t before)
{
    struct ends e = {0, 0};
    if (rank == 0) return e;
    int64_t others = rank - s->has_first;       // every stage before holds a layer at least
    bool many = before > others && s->turns == 1 && s->priced->slice_count == 1;
    e.fill_ns = s->fill_first_ns + larger(others * s->fill_ns, many ? before * s->fill_main_ns : 0) + rank * s->send_forward_ns
                - s->block_forward_ns;      // what blocks the rank itself is in its load
    if (!s->joint || s->local) return e;
    e.drain_ns = s->drain_first_ns + larger(others * s->drain_ns, many ? before * s->drain_main_ns : 0) + rank * s->send_backward_ns
                 - s->block_backward_ns;
    return e;
}

// The way that turns round at the end of the pipeline: all that the rank does up to its last forward, that micro-batch forward
// through the stages behind it, and back. With a barrier it begins and ends with the stages before the rank; without one it
// closes to a cycle at the rank itself. before: main layers on the ranks before, at most.
static int64_t turn_round_ns(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t before, int64_t k)
{
    const struct layer_terms *main = &g->main;
    const struct kept *kept = &s->kept[rank];
    int64_t further = kept_further_rounds(s->priced), ends = s->ranks - 1 - rank, others = s->main_count - k;
    if (s->local || s->priced->slice_count > 1 || s->priced->layout.schedule == SCHEDULE_ZB_V) return 0;
    int64_t forward = k * main->forward_ns, weight = k * main->weight_ns,
            backward = k * main->backward_ns + load_ns(s, g, rank, k) - bare_load_ns(s, g, rank, k);
    if (holds_first(s, rank)) forward += g->first.forward_ns, backward += g->first.backward_ns, weight += g->first.weight_ns;
    if (holds_last(s, rank)) forward += g->last.forward_ns, backward += g->last.backward_ns, weight += g->last.weight_ns;
    int64_t way = s->micro_batches * forward + (kept->backwards ? kept->backwards + further : 0) * backward
                  + (kept->weights ? kept->weights + further : 0) * weight;
    if (s->turns > 1) {
        way += ends * (s->fill_ns + s->send_forward_ns);
        return way + (s->barrier ? s->main_count * s->drain_main_ns + ends_of(s, rank, 0).fill_ns : 0);
    }
    int64_t sends = s->send_forward_ns + s->send_backward_ns, through = s->fill_main_ns + s->drain_main_ns;
    way += backward;
    if (!s->barrier) return way + (s->group_count == 1 ? larger(others - before, 0) * through : 0) + ends * sends + tail_ns(s, g, rank, k);
    return way + others * through + (s->ranks - 1) * sends + (rank ? s->fill_first_ns + s->drain_first_ns : 0);
}

static bool within(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t before, int64_t k, int64_t limit_ns)
{
    struct ends ends = ends_of(s, rank, before);
    int64_t load = load_ns(s, g, rank, k), tail;
    if (s->priced->objective == OBJECTIVE_MAX_LOAD) return load >= 0 && s->micro_batches * load <= limit_ns;
    if (load < 0 || turn_round_ns(s, g, rank, before, k) > limit_ns) return false;
    load *= s->micro_batches;
    tail = tail_ns(s, g, rank, k);
    // Without a barrier the cycle closes through the rank itself, or, with a joint backward, through the first one.
    if (!s->barrier) return load + tail <= limit_ns && (!s->joint || s->local || ends.fill_ns + load + ends.drain_ns <= limit_ns);
    return ends.fill_ns + load + larger(tail, ends.drain_ns + (ends.drain_ns ? end_tail_ns(s) : 0)) <= limit_ns;
}

static int64_t most_within(const struct layout_sketch *s, const struct group_terms *g, int rank, int64_t before, int64_t limit_ns)
{
    int64_t low = 0, high = s->main_count - before;     // low is not known to be within
    int64_t share = 2 * (s->main_count / s->ranks) + 2;  // mostly enough
    if (high < 0) return 0;
    if (share < high && !within(s, g, rank, before, share, limit_ns)) high = share - 1;
    while (low < high) {
        int64_t k = low + (high - low + 1) / 2;
        if (within(s, g, rank, before, k, limit_ns)) low = k;
        else high = k - 1;
    }
    return low;
}

static bool all_within(const struct layout_sketch *s, int64_t limit_ns)
{
    int64_t before = 0;
    if (s->group_count == 1) {
        for (int i = 0; i < s->ranks && before < s->main_count; i++) before += most_within(s, &s->groups[0], i, before, limit_ns);
        return before >= s->main_count;
    }
    int64_t most[BOUND_GROUPS_MAX];
    for (int g = 0; g < s->group_count; g++) {
        most[g] = 0;
        for (int i = 0; i < s->ranks; i++) most[g] = larger(most[g], most_within(s, &s->groups[g], i, 0, limit_ns));
    }
    return together(s, most) >= s->main_count;
}

int64_t layout_average_bound(const struct layout_sketch *s)
{
    int64_t all = s->all_ns, one = INT64_MAX;
    for (int g = 0; g < s->group_count; g++) one = smaller(one, pass_ns(&s->groups[g].main));
    int64_t blocks = (s->ranks - 1) * 2 * (s->turns == 1) * (s->block_forward_ns + (s->local ? 0 : s->block_backward_ns));
    int64_t average = (all + blocks + s->ranks - 1) / s->ranks, whole = (s->main_count + s->ranks - 1) / s->ranks * one;
    return s->micro_batches * larger(average, whole);
}

int64_t layout_filling_bound(const struct layout_sketch *s)
{
    int64_t average = layout_average_bound(s), low = average, high = average;
    for (int64_t i = 0; s->group_count == 1 && i < s->ranks * ((int64_t)s->main_count + 1); i++) s->loads[i] = LOAD_UNKNOWN;
    if (all_within(s, low)) return low;
    if (!all_within(s, (int64_t)1 << 60)) return INT64_MAX;
    while (!all_within(s, high)) low = high, high += high / 8 + (high - average) + 1;
    while (high - low > average / 100000 + 1) {
        int64_t middle = low + (high - low) / 2;
        if (all_within(s, middle)) high = middle;
        else low = middle;
    }
    return low + 1;
}
