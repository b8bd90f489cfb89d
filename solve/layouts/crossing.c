// Paths that cross the pipeline with one slice of a sequence, forward and back, and at one rank
// include all that it does: docs/PROOFS.md 8, crossing. The pipeline fills once per rank, so with
// many ranks the slowest slice counts, not the mean. What the other ranks recompute of it is lemma
// 8.1.
#include <assert.h>

#include "data/base/least.h"
#include "solve/layouts/bound.h"

// Forward and backward of slices first .. end - 1 of a layer, in the mode of all if one is set.
static int64_t slices_ns(const struct priced *p, int run, int group, int first, int end)
{
    const struct priced_run *r = &p->runs[run];
    bool set = r->recomputable && priced_sets_mode(p);
    const int64_t *again = set ? r->again_ns[layout_recompute(&p->layout)] : NULL;
    int64_t sum = 0;
    for (int i = first; i < end; i++) {
        int at = i * p->group_count + group;
        sum += r->forward_ns[at] + r->backward_ns[at] + (again ? again[at] : 0);
    }
    return sum;
}

static int64_t least_ns(const struct priced *p, int run, int first, int end)
{
    int64_t least = INT64_MAX;
    for (int g = 0; g < p->group_count; g++)
        if (priced_seats(p, g)) least = smaller(least, slices_ns(p, run, g, first, end));
    return least;
}

// All parts of the slice's message, over any boundary that joins two groups.
static int64_t message_ns(const struct priced *p, const int64_t *prices, int slice)
{
    int64_t least = INT64_MAX;
    for (int pair = 0; pair < p->group_count * p->group_count; pair++) {
        const int64_t *parts = prices + (size_t)(slice * p->group_count * p->group_count + pair) *
                                            PART_COUNT;
        bool both = priced_seats(p, pair / p->group_count) &&
                    priced_seats(p, pair % p->group_count);
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

static int64_t least_again_ns(const struct layout_sketch *s, int run, int slice)
{
    const struct priced *p = s->priced;
    int64_t least = INT64_MAX;
    if (!p->runs[run].recomputable) return 0;
    for (int g = 0; g < p->group_count; g++) {
        int at = slice * p->group_count + g;
        if (!priced_seats(p, g)) continue;
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            if (mode == RECOMPUTE_FULL ? s->full || s->partly
                                       : s->selective && recompute_in_part((enum recompute)mode) &&
                                             priced_may_recompute(p, (enum recompute)mode))
                least = smaller(least, p->runs[run].again_ns[mode][at]);
    }
    return least == INT64_MAX ? 0 : least;
}

// Any layer of the chosen runs; all zero if there is none.
static struct crossing_layer layer_of(const struct layout_sketch *s, const bool *chosen, int slice)
{
    const struct priced *p = s->priced;
    struct crossing_layer l = {.pass_ns = INT64_MAX, .again_ns = INT64_MAX};
    for (int r = 0; r < p->run_count; r++) {
        if (!chosen[r]) continue;
        l.pass_ns = smaller(l.pass_ns, least_ns(p, r, slice, slice + 1));
        l.again_ns = smaller(l.again_ns, least_again_ns(s, r, slice));
        for (int g = 0, at = 0; g < p->group_count; g++) {
            if (!priced_seats(p, g)) continue;
            int64_t *lost = l.lost_ns[at++];
            lost[0] = larger(lost[0], slices_ns(p, r, g, 0, slice));
            lost[1] = larger(lost[1], slices_ns(p, r, g, slice + 1, p->slice_count));
        }
    }
    if (l.pass_ns == INT64_MAX) l.pass_ns = l.again_ns = 0;
    return l;
}

static struct crossing crossing_of(const struct layout_sketch *s, const bool *main,
                                   const bool *other, int slice)
{
    const struct priced *p = s->priced;
    int slices = p->slice_count, last = p->run_count - 1;
    struct crossing x = {.slice = slice,
                         .main = layer_of(s, main, slice),
                         .other = layer_of(s, other, slice),
                         .first_ns = s->has_first ? least_ns(p, 0, slice, slice + 1) : 0,
                         .last_ns = s->has_last ? least_ns(p, last, slice, slice + 1) : 0,
                         .before_ns = least_ns(p, 0, 0, slice),
                         .behind_ns = least_ns(p, last, slice + 1, slices),
                         .send_ns = send_ns(p, slice)};
    for (int g = 0, at = 0; g < p->group_count; g++) {
        if (!priced_seats(p, g)) continue;
        x.first_behind_ns[at] = slices_ns(p, 0, g, slice + 1, slices);
        x.last_before_ns[at++] = slices_ns(p, last, g, 0, slice);
    }
    return x;
}

// ---- what other ranks recompute

// Whether one such layer alone has to be recomputed on the rank, on any group.
static bool recomputes(const struct layout_sketch *s, int rank, struct layer_share one)
{
    bool must = true;
    for (int g = 0; g < s->group_count && must; g++)
        must = sketch_recomputation_ns(s, &s->groups[g], rank, one) != 0;
    return must;
}

// A rank at the model's ends may hold its first or last layer alone: it needs nothing.
static void find_needs(struct layout_sketch *s)
{
    for (int need = 0; need < NEEDS; need++) s->need_counts[need] = 0;
    for (int rank = s->has_first; rank < s->ranks - s->has_last; rank++) {
        enum need need = NEED_NOTHING;
        if (recomputes(s, rank, (struct layer_share){1, 0})) need = NEED_MAIN;
        if (need == NEED_MAIN && s->others && recomputes(s, rank, (struct layer_share){0, 1}))
            need = NEED_ALL;
        s->needs[rank] = (unsigned char)need;
        s->need_counts[need]++;
    }
}

// At least what the other ranks' recomputation adds to the slice. The layers that are no main ones
// may be on ranks of their own, one each: first on those that then recompute nothing.
static int64_t again_elsewhere_ns(const struct layout_sketch *s, const struct crossing *x, int rank,
                                  int64_t others_here)
{
    int of_main = s->need_counts[NEED_MAIN] - (s->needs[rank] == NEED_MAIN),
        of_all = s->need_counts[NEED_ALL] - (s->needs[rank] == NEED_ALL);
    int64_t apart = s->apart - others_here, idle = smaller(of_main, apart),
            lone = smaller(of_all, apart - idle), main_ns = x->main.again_ns;
    assert(apart >= 0);
    return (of_main - idle + of_all - lone) * main_ns + lone * smaller(main_ns, x->other.again_ns);
}

void layout_find_crossings(struct layout_sketch *s, const bool *main, const bool *other)
{
    int last = s->priced->slice_count - 1;
    s->crossing_count = 0;
    if (last < 1 || s->local) return; // in slices: one stage a rank, a joint backward
    find_needs(s);
    struct crossing slowest = crossing_of(s, main, other, 0);
    s->crossings[s->crossing_count++] = slowest;
    for (int slice = 1; slice <= last; slice++) {
        struct crossing x = crossing_of(s, main, other, slice);
        if (x.main.pass_ns > slowest.main.pass_ns) slowest = x;
        if (slice == last) s->crossings[s->crossing_count++] = x;
    }
    if (slowest.slice > 0 && slowest.slice < last) s->crossings[s->crossing_count++] = slowest;
}

// ---- lengths

// A layer's passes on the path, all_ns of each micro-batch, on a rank with others before or behind
// it: never less than its slice takes on another rank.
static int64_t layer_ns(const struct layout_sketch *s, const struct crossing_layer *l, int group,
                        int64_t all_ns, bool before, bool behind)
{
    int64_t lost = (before ? l->lost_ns[group][0] : 0) + (behind ? l->lost_ns[group][1] : 0);
    return larger(s->micro_batches * all_ns - lost, l->pass_ns);
}

// The rank's own passes that are on the path.
static int64_t own_ns(const struct layout_sketch *s, const struct crossing *x,
                      const struct group_terms *g, int rank, struct layer_share k)
{
    int64_t m = s->micro_batches;
    int at = (int)(g - s->groups);
    bool before = rank > 0, behind = rank < s->ranks - 1;
    int64_t sum = k.main * layer_ns(s, &x->main, at, g->main.forward_ns + g->main.backward_ns,
                                    before, behind);
    if (k.other)
        sum += k.other * layer_ns(s, &x->other, at, g->other.forward_ns + g->other.backward_ns,
                                  before, behind);
    if (sketch_holds_first(s, rank))
        sum += m * (g->first.forward_ns + g->first.backward_ns) -
               (behind ? x->first_behind_ns[at] : 0);
    if (sketch_holds_last(s, rank))
        sum += m * (g->last.forward_ns + g->last.backward_ns) -
               (before ? x->last_before_ns[at] : 0);
    return sum;
}

int64_t layout_crossing_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                           struct layer_share k, int64_t again_ns, int64_t tail_ns)
{
    bool before = rank > 0, behind = rank < s->ranks - 1;
    int64_t longest = 0;
    for (int i = 0; i < s->crossing_count; i++) {
        const struct crossing *x = &s->crossings[i];
        bool loses = (before && x->slice > 0) || (behind && x->slice < s->priced->slice_count - 1);
        int64_t sum =
            own_ns(s, x, g, rank, k) + (s->micro_batches - loses) * again_ns +
            (s->main_count - k.main) * x->main.pass_ns + (s->others - k.other) * x->other.pass_ns +
            again_elsewhere_ns(s, x, rank, k.other) + (s->ranks - 1) * x->send_ns + tail_ns;
        if (before) sum += x->first_ns + x->before_ns;
        if (behind) sum += x->last_ns + x->behind_ns;
        longest = larger(longest, sum);
    }
    return longest;
}
