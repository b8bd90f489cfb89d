// What fits on a rank, from a layout's priced integers alone (docs/PROOFS.md 8).
#include "data/kinds/schedules.h"
#include "solve/layouts/bound.h"

#include <assert.h>

#include "data/base/least.h"

// Least number of micro-batches kept.
static int64_t kept_least(const struct layout_sketch *s, int rank) { return s->kept[rank].least; }

bool sketch_folds(const struct layout_sketch *s)
{
    return schedule_kinds[s->priced->layout.schedule].folds;
}

// Within a segment that reads its inputs from a file.
static bool sends_over(const struct layout_sketch *s, int boundary)
{
    return boundary >= 0 && boundary < s->ranks - 1 && (boundary + 1) % s->segment != 0;
}

int sketch_boundaries(const struct layout_sketch *s, int rank)
{
    if (s->ranks == 1) return 0;
    if (s->segment) return sends_over(s, rank - 1) + sends_over(s, rank);
    if (sketch_folds(s)) return 4 - (rank == 0 ? 2 : 0) - (rank == s->ranks - 1 ? 2 : 0);
    return 2 * s->turns - (rank == 0) - (rank == s->ranks - 1);
}

bool sketch_holds_first(const struct layout_sketch *s, int rank)
{
    return s->has_first && rank == 0;
}

bool sketch_holds_last(const struct layout_sketch *s, int rank)
{
    return s->has_last && rank == (sketch_folds(s) ? 0 : s->ranks - 1);
}

static int64_t least_of_end(const struct layer_room *end, int64_t kept)
{
    const int64_t *stash = end->stash_bytes;
    return end->fixed_bytes + kept * smaller(stash[0], smaller(stash[1], stash[2]));
}

// Bytes of a device that are left for main layers.
static int64_t room_of(const struct layout_sketch *s, const struct group_terms *g, int rank)
{
    // What is read from a file needs the same room as what arrives.
    int ends = s->segment ? (rank > 0) + sends_over(s, rank) : sketch_boundaries(s, rank);
    int64_t f = kept_least(s, rank),
            room = g->limit_bytes - g->constant_bytes - 2 * s->message_bytes * ends;
    if (sketch_holds_first(s, rank)) room -= least_of_end(&s->first, f);
    if (sketch_holds_last(s, rank)) room -= least_of_end(&s->last, f);
    return room;
}

static bool mode_allowed(const struct layout_sketch *s, int mode)
{
    return mode == 0 || (mode == 1 && s->selective) || (mode == 2 && (s->full || s->partly));
}

// If all layers but the first and the last are main ones, a rank holds at least this many of those:
// one per stage, except for the stages of these two.
static int64_t fewest(const struct layout_sketch *s, int rank)
{
    return s->only_ends ? s->turns - sketch_holds_first(s, rank) - sketch_holds_last(s, rank) : 0;
}

// For k main layers on the rank: the sum of the micro-batches kept over j of them, those that keep
// the most if j < k. Every stage holds at least one; the others are, at best, where the fewest are
// kept, and so are those missing where the first or the last layer has a stage alone.
static int64_t kept_by(const struct layout_sketch *s, int rank, int64_t k, int64_t j)
{
    const struct kept *kept = &s->kept[rank];
    int64_t forced = fewest(s, rank), turns = s->turns;
    if (forced < 1 || k < forced || turns == 1) return j * kept->least;
    // The stages of the first and the last layer may be those that keep the most.
    int64_t apart = turns - forced, of_forced = smaller(j, forced);
    assert(apart >= 0 && j >= 0 && j <= k);
    return kept->most[apart + of_forced] - kept->most[apart] + (j - of_forced) * kept->least;
}

// Bytes of k main layers, all in one recomputation mode.
static int64_t bytes_of(const struct layout_sketch *s, int rank, int64_t k, int mode)
{
    return k * s->main.fixed_bytes + s->main.stash_bytes[mode] * kept_by(s, rank, k, k);
}

static int64_t stash_in(const struct layer_room *r, int mode)
{
    return r->fixed_bytes + r->stash_bytes[mode];
}

// The most main layers that fit on the rank, each at its least memory.
static int64_t most_fitting(const struct layout_sketch *s, const struct group_terms *g, int rank)
{
    int64_t room = room_of(s, g, rank), low = 0, high = s->main_count;
    int mode = 0;
    if (room < 0) return -1;
    for (int other = 1; other < 3; other++)
        if (mode_allowed(s, other) && s->main.stash_bytes[other] < s->main.stash_bytes[mode])
            mode = other;
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

int64_t sketch_together(const struct layout_sketch *s, const int64_t *most)
{
    int64_t sum = 0;
    bool used[BOUND_GROUPS_MAX] = {false};
    assert(s->group_count > 0 && s->group_count <= BOUND_GROUPS_MAX);
    for (int left = s->ranks; left > 0;) {
        int best = -1;
        for (int g = 0; g < s->group_count; g++)
            if (!used[g] && (best < 0 || most[g] > most[best])) best = g;
        if (best < 0) break;
        int64_t seats = smaller(left, s->groups[best].seats);
        used[best] = true;
        sum += seats * larger(most[best], 0);
        left -= (int)seats;
    }
    return sum;
}

int64_t layout_missing_bytes(const struct layout_sketch *s)
{
    int64_t sum = 0, least = stash_in(&s->main, 0);
    for (int mode = 1; mode < 3; mode++)
        if (mode_allowed(s, mode)) least = smaller(least, stash_in(&s->main, mode));
    if (s->group_count > 1) {
        int64_t most[BOUND_GROUPS_MAX];
        for (int g = 0; g < s->group_count; g++) most[g] = most_in_group(s, &s->groups[g]);
        sum = sketch_together(s, most);
    }
    for (int i = 0; i < s->ranks; i++) {
        int64_t most = -1, room = INT64_MIN;
        for (int g = 0; g < s->group_count; g++) {
            most = larger(most, most_fitting(s, &s->groups[g], i));
            room = larger(room, room_of(s, &s->groups[g], i));
        }
        if (most < fewest(s, i) || most < 0)
            return larger(1, larger(0, fewest(s, i)) * least - room);
        if (s->group_count == 1) sum += most;
    }
    return sum < s->main_count ? larger(1, (s->main_count - sum) * least) : 0;
}

// ---- recomputation

// On a rank with several stages each has its own mode: the fewest layers whose recomputation frees
// the bytes, starting with those that keep the most, over all splits between the two modes.
static int64_t recomputation_apart_ns(const struct layout_sketch *s, const struct group_terms *g,
                                      int rank, int64_t k, int64_t over)
{
    const struct layer_room *r = &s->main;
    bool full = s->full || s->partly;
    int64_t free_selective = s->selective ? larger(0, r->stash_bytes[0] - r->stash_bytes[1]) : 0,
            best = -1, all = k;
    int64_t free_full = full ? larger(free_selective, r->stash_bytes[0] - r->stash_bytes[2])
                             : free_selective;
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

// On a rank with one stage: all its layers in one mode, or the first ones in full. -1: k main
// layers never fit.
static int64_t recomputation_together_ns(const struct layout_sketch *s, const struct group_terms *g,
                                         int rank, int64_t k, int64_t over)
{
    const struct layer_room *r = &s->main;
    const bool allowed[2] = {s->selective, s->full || s->partly};
    const int64_t costs[2] = {g->main.selective_ns, g->main.full_ns};
    int64_t best = -1;
    for (int mode = 0; mode < 2; mode++) {
        int64_t freed = kept_least(s, rank) * (r->stash_bytes[0] - r->stash_bytes[mode + 1]);
        bool partly = mode == 1 && s->partly;
        int64_t excess = over + (partly ? smaller(r->working_bytes[0], r->working_bytes[2])
                                        : r->working_bytes[mode + 1]);
        int64_t layers = !partly || (excess > 0 && freed <= 0) ? k
                         : excess <= 0                         ? 0
                                                               : (excess + freed - 1) / freed;
        if (!allowed[mode] || layers > k || excess > layers * freed) continue;
        best = best < 0 ? layers * costs[mode] : smaller(best, layers * costs[mode]);
    }
    return best;
}

static int64_t room_making_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                              int64_t k)
{
    int64_t over = bytes_of(s, rank, k, 0) - room_of(s, g, rank);
    if (k < 1) return over <= 0 ? 0 : -1;
    if (s->turns > 1) return over <= 0 ? 0 : recomputation_apart_ns(s, g, rank, k, over);
    return over + s->main.working_bytes[0] <= 0 ? 0
                                                : recomputation_together_ns(s, g, rank, k, over);
}

// ---- recomputation, with others besides the main layers

// Least bytes of a layer that is not recomputed in full, where mode may be used; then of one that
// may be recomputed in full.
static int64_t kept_bytes(const struct layer_room *r, int mode)
{
    return smaller(r->stash_bytes[0], r->stash_bytes[mode]);
}
static int64_t full_bytes(const struct layer_room *r, int mode)
{
    return smaller(kept_bytes(r, mode), r->stash_bytes[2]);
}

// Bytes of k if the given layers are recomputed in full and the others keep what mode keeps;
// without working memory. Every stage holds at least one layer: stages of which the rank keeps more
// micro-batches than the least have, at best, the lightest.
static int64_t mixed_bytes(const struct layout_sketch *s, int rank, struct layer_share k,
                           struct layer_share full, int mode)
{
    const struct kept *kept = &s->kept[rank];
    const struct layer_room *main = &s->main, *other = &s->other;
    int64_t stash = (k.main - full.main) * kept_bytes(main, mode) +
                    (k.other - full.other) * kept_bytes(other, mode) +
                    full.main * full_bytes(main, mode) + full.other * full_bytes(other, mode),
            bytes = k.main * main->fixed_bytes + k.other * other->fixed_bytes + kept->least * stash;
    int64_t ends = sketch_holds_first(s, rank) + sketch_holds_last(s, rank),
            forced = s->turns - ends;
    if (forced < 1) return bytes;
    int64_t lightest = s->full || s->partly
                           ? smaller(full_bytes(main, mode), full_bytes(other, mode))
                           : smaller(kept_bytes(main, mode), kept_bytes(other, mode));
    return bytes + (kept->most[s->turns] - kept->most[ends] - forced * kept->least) * lightest;
}

static int64_t least_working_of(const struct layer_room *r)
{
    return smaller(r->working_bytes[0], smaller(r->working_bytes[1], r->working_bytes[2]));
}

// The greatest working memory of a layer of the rank: those of k in one mode (those of `any` in the
// mode that needs the least), the ends at their least.
static int64_t working_bytes(const struct layout_sketch *s, int rank, struct layer_share k,
                             int mode, bool any)
{
    const struct layer_room *main = &s->main, *other = &s->other;
    int64_t most = 0;
    if (k.main) most = any ? least_working_of(main) : main->working_bytes[mode];
    if (k.other) most = larger(most, any ? least_working_of(other) : other->working_bytes[mode]);
    if (sketch_holds_first(s, rank)) most = larger(most, least_working_of(&s->first));
    if (sketch_holds_last(s, rank)) most = larger(most, least_working_of(&s->last));
    return most;
}

// The least time if some layers, any of them, are recomputed in full and the others keep what mode
// keeps. -1: that never fits.
static int64_t some_in_full_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                               struct layer_share k, int mode, int64_t room)
{
    int64_t best = -1;
    struct layer_share full = {0, k.other};
    for (; full.main <= k.main; full.main++) {
        if (mixed_bytes(s, rank, k, full, mode) > room) continue;
        while (full.other > 0 &&
               mixed_bytes(s, rank, k, (struct layer_share){full.main, full.other - 1}, mode) <=
                   room)
            full.other--;
        int64_t ns = full.main * g->main.full_ns + full.other * g->other.full_ns;
        best = best < 0 ? ns : smaller(best, ns);
    }
    return best;
}

// One stage: all layers in one mode, or some in full.
static int64_t share_together_ns(const struct layout_sketch *s, const struct group_terms *g,
                                 int rank, struct layer_share k, int64_t room)
{
    const struct layer_share none = {0, 0};
    const int64_t costs[] = {0, k.main * g->main.selective_ns + k.other * g->other.selective_ns,
                             k.main * g->main.full_ns + k.other * g->other.full_ns};
    const bool allowed[] = {true, s->selective, s->full};
    int64_t best = -1;
    for (int mode = 0; mode < 3; mode++)
        if (allowed[mode] &&
            mixed_bytes(s, rank, k, none, mode) + working_bytes(s, rank, k, mode, false) <= room)
            best = best < 0 ? costs[mode] : smaller(best, costs[mode]);
    if (best == 0 || !s->partly) return best;
    int64_t ns = some_in_full_ns(s, g, rank, k, 0, room - working_bytes(s, rank, k, 0, true));
    return ns >= 0 && (best < 0 || ns < best) ? ns : best;
}

// Several stages, each with its own mode: some layers in full, and selectively as long as that
// frees bytes fastest.
static int64_t share_apart_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                              struct layer_share k, int64_t room)
{
    const struct layer_share none = {0, 0};
    if (mixed_bytes(s, rank, k, none, 0) <= room) return 0;
    int64_t best = s->full || s->partly ? some_in_full_ns(s, g, rank, k, 0, room) : -1;
    bool frees = s->main.stash_bytes[1] < s->main.stash_bytes[0] ||
                 s->other.stash_bytes[1] < s->other.stash_bytes[0];
    if (!s->selective || !frees) return best;
    int64_t ns = s->full || s->partly ? some_in_full_ns(s, g, rank, k, 1, room)
                 : mixed_bytes(s, rank, k, none, 1) <= room ? 0
                                                            : -1;
    return ns >= 0 && (best < 0 || ns < best) ? ns : best;
}

static int64_t share_room_making_ns(const struct layout_sketch *s, const struct group_terms *g,
                                    int rank, struct layer_share k)
{
    int64_t room = room_of(s, g, rank);
    if (s->turns > 1)
        return share_apart_ns(s, g, rank, k, room - working_bytes(s, rank, k, 0, true));
    return share_together_ns(s, g, rank, k, room);
}

int64_t sketch_recomputation_ns(const struct layout_sketch *s, const struct group_terms *g,
                                int rank, struct layer_share k)
{
    int64_t ns = s->others ? share_room_making_ns(s, g, rank, k)
                           : room_making_ns(s, g, rank, k.main);
    return s->swaps && ns > 0 ? 0 : ns; // all swapping may be hidden
}
