// Paths that cross the pipeline with one slice of a sequence, forward and back, and at one rank
// include all that it does: docs/PROOFS.md 8, crossing. The pipeline fills once per rank, so with
// many ranks the slowest slice counts, not the mean.
#include <assert.h>

#include "data/base/least.h"
#include "solve/layouts/bound.h"
#include "solve/layouts/room.h"

// Forward and backward of slices first .. end - 1 of a layer.
static int64_t slices_ns(const struct priced *p, int run, int group, int first, int end)
{
    int64_t sum = 0;
    for (int i = first; i < end; i++)
        sum += p->runs[run].forward_ns[i * p->group_count + group] +
               p->runs[run].backward_ns[i * p->group_count + group];
    return sum;
}

static bool usable(const struct priced *p, int g)
{
    return !p->groups[g].excluded && p->groups[g].slots > 0;
}

static int64_t least_ns(const struct priced *p, int run, int first, int end)
{
    int64_t least = INT64_MAX;
    for (int g = 0; g < p->group_count; g++)
        if (usable(p, g)) least = smaller(least, slices_ns(p, run, g, first, end));
    return least;
}

// All parts of the slice's message, over any boundary that joins two groups.
static int64_t message_ns(const struct priced *p, const int64_t *prices, int slice)
{
    int64_t least = INT64_MAX;
    for (int pair = 0; pair < p->group_count * p->group_count; pair++) {
        const int64_t *parts = prices + (size_t)(slice * p->group_count * p->group_count + pair) *
                                            PART_COUNT;
        bool both = usable(p, pair / p->group_count) && usable(p, pair % p->group_count);
        if (!both || parts[0] == PRICE_NONE) continue;
        least = smaller(least, parts[PART_BLOCKING] + parts[PART_LINK] + parts[PART_DELAY] +
                                   2 * parts[PART_OVERHEAD]);
    }
    return least;
}

static int64_t send_ns(const struct priced *p, int slice)
{
    int64_t forward = INT64_MAX, backward = INT64_MAX;
    for (int c = 0; c < p->cut_count; c++) {
        forward = smaller(forward, message_ns(p, p->cuts[c].forward_ns, slice));
        for (int option = 0; option < p->boundary_option_count; option++)
            backward = smaller(backward, message_ns(p, p->cuts[c].backward_ns[option], slice));
    }
    return (forward == INT64_MAX ? 0 : forward) + (backward == INT64_MAX ? 0 : backward);
}

static void find_lost(struct crossing *x, const struct priced *p, const bool *main)
{
    int slices = p->slice_count, last = p->run_count - 1;
    for (int g = 0, at = 0; g < p->group_count; g++) {
        if (!usable(p, g)) continue;
        for (int r = 0; r < p->run_count; r++) {
            if (!main[r]) continue;
            x->lost_before_ns[at] = larger(x->lost_before_ns[at], slices_ns(p, r, g, 0, x->slice));
            x->lost_behind_ns[at] =
                larger(x->lost_behind_ns[at], slices_ns(p, r, g, x->slice + 1, slices));
        }
        x->first_behind_ns[at] = slices_ns(p, 0, g, x->slice + 1, slices);
        x->last_before_ns[at] = slices_ns(p, last, g, 0, x->slice);
        at++;
    }
}

static int64_t least_again_ns(const struct layout_sketch *s, int run, int slice)
{
    const struct priced *p = s->priced;
    int64_t least = INT64_MAX;
    for (int g = 0; g < p->group_count; g++) {
        int at = slice * p->group_count + g;
        if (!usable(p, g)) continue;
        if (s->selective) least = smaller(least, p->runs[run].selective_ns[at]);
        if (s->full || s->partly) least = smaller(least, p->runs[run].full_ns[at]);
    }
    return least == INT64_MAX ? 0 : least;
}

// A rank that cannot hold a main layer without recomputation recomputes one of those it holds.
static void find_recomputing(struct layout_sketch *s)
{
    for (int rank = s->has_first; rank < s->ranks - s->has_last; rank++) {
        bool must = true;
        for (int g = 0; g < s->group_count && must; g++)
            must = sketch_recomputation_ns(s, &s->groups[g], rank, (struct layer_share){1, 0}) != 0;
        s->recomputes[rank] = must;
        s->recomputing_count += must;
    }
}

static struct crossing crossing_of(const struct layout_sketch *s, const bool *main, int slice)
{
    const struct priced *p = s->priced;
    int slices = p->slice_count, last = p->run_count - 1;
    struct crossing x = {.slice = slice,
                         .main_ns = INT64_MAX,
                         .again_ns = INT64_MAX,
                         .first_ns = s->has_first ? least_ns(p, 0, slice, slice + 1) : 0,
                         .last_ns = s->has_last ? least_ns(p, last, slice, slice + 1) : 0,
                         .before_ns = least_ns(p, 0, 0, slice),
                         .behind_ns = least_ns(p, last, slice + 1, slices),
                         .send_ns = send_ns(p, slice)};
    for (int r = 0; r < p->run_count; r++) {
        if (!main[r]) continue;
        x.main_ns = smaller(x.main_ns, least_ns(p, r, slice, slice + 1));
        x.again_ns = smaller(x.again_ns, least_again_ns(s, r, slice));
    }
    find_lost(&x, p, main);
    return x;
}

void layout_find_crossings(struct layout_sketch *s, const bool *main)
{
    int last = s->priced->slice_count - 1;
    if (last < 1 || !s->barrier || s->local || s->turns > 1) return;
    find_recomputing(s);
    struct crossing slowest = crossing_of(s, main, 0);
    s->crossings[s->crossing_count++] = slowest;
    for (int slice = 1; slice <= last; slice++) {
        struct crossing x = crossing_of(s, main, slice);
        if (x.main_ns > slowest.main_ns) slowest = x;
        if (slice == last) s->crossings[s->crossing_count++] = x;
    }
    if (slowest.slice > 0 && slowest.slice < last) s->crossings[s->crossing_count++] = slowest;
}

// The rank's own passes that are on the path.
static int64_t own_ns(const struct layout_sketch *s, const struct crossing *x,
                      const struct group_terms *g, int rank, int64_t k)
{
    int64_t m = s->micro_batches;
    int at = (int)(g - s->groups);
    bool before = rank > 0, behind = rank < s->ranks - 1;
    int64_t lost = (before ? x->lost_before_ns[at] : 0) + (behind ? x->lost_behind_ns[at] : 0),
            sum = k * (m * (g->main.forward_ns + g->main.backward_ns) - lost);
    if (sketch_holds_first(s, rank))
        sum += m * (g->first.forward_ns + g->first.backward_ns) -
               (behind ? x->first_behind_ns[at] : 0);
    if (sketch_holds_last(s, rank))
        sum += m * (g->last.forward_ns + g->last.backward_ns) -
               (before ? x->last_before_ns[at] : 0);
    return sum;
}

int64_t layout_crossing_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                           int64_t k, int64_t again_ns, int64_t tail_ns)
{
    bool before = rank > 0, behind = rank < s->ranks - 1;
    int64_t longest = 0;
    for (int i = 0; i < s->crossing_count; i++) {
        const struct crossing *x = &s->crossings[i];
        bool loses = (before && x->slice > 0) || (behind && x->slice < s->priced->slice_count - 1);
        int64_t sum = own_ns(s, x, g, rank, k) + (s->micro_batches - loses) * again_ns +
                      (s->main_count - k) * x->main_ns + (s->ranks - 1) * x->send_ns + tail_ns +
                      (s->recomputing_count - s->recomputes[rank]) * x->again_ns;
        if (before) sum += x->first_ns + x->before_ns;
        if (behind) sum += x->last_ns + x->behind_ns;
        longest = larger(longest, sum);
    }
    return longest;
}
