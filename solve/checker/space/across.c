// The path of one slice of a sequence through all ranks and back, including everything between its
// passes on one rank (docs/PROOFS.md 8, crossing). A slice passes a rank once per micro-batch. On
// the path it passes once less in two cases:
// - it comes before the crossing slice: in the first micro-batch forward and in the last one
// backward;
// - it comes after it: in the last one forward and in the first one backward.
#include "data/base/least.h"
#include "solve/checker/space/arguments.h"

static int64_t both_ways(const struct check_problem *p, int run, int g, int slice)
{
    const struct check_run *r = &p->runs[run];
    int at = slice * p->group_count + g, set = r->recomputable ? check_set_mode(p) : MODE_NONE;
    return r->forward[at] + r->backward[at] + (set > MODE_NONE ? r->again[set][at] : 0);
}

// A layer's passes on the path, on a rank with others before it or after it.
static int64_t on_rank(const struct check_problem *p, int run, int g, int slice, bool before,
                       bool behind)
{
    int64_t sum = 0;
    for (int i = 0; i < p->slices; i++) {
        bool misses = (before && i < slice) || (behind && i > slice);
        sum += (p->micro_batches - misses) * both_ways(p, run, g, i);
    }
    return sum;
}

static void put_ranks(struct check_across *x, const struct check_sketch *s)
{
    const struct check_problem *p = s->p;
    int last = p->run_count - 1;
    for (int g = 0, at = 0; g < p->group_count; g++) {
        if (!check_is_usable(p, g)) continue;
        for (int ends = 0; ends < 4; ends++) {
            bool before = ends & 1, behind = ends & 2;
            int64_t main = INT64_MAX, other = INT64_MAX;
            for (int r = 0; r <= last; r++) {
                int64_t ns = on_rank(p, r, g, x->slice, before, behind);
                if (check_is_main(s, r)) main = smaller(main, ns);
                if (check_others_of(s, r) > 0) other = smaller(other, ns);
            }
            x->main[at][before][behind] = main;
            if (s->others) x->other[before][behind] = other; // one group
            x->first[at][before][behind] = on_rank(p, 0, g, x->slice, before, behind);
            x->last[at][before][behind] = on_rank(p, last, g, x->slice, before, behind);
        }
        at++;
    }
}

// Slices from..to of a layer, on the group where they take least.
static int64_t elsewhere(const struct check_problem *p, int run, int from, int to)
{
    int64_t least = INT64_MAX;
    for (int g = 0; g < p->group_count; g++) {
        int64_t sum = 0;
        for (int i = from; i <= to; i++) sum += both_ways(p, run, g, i);
        if (check_is_usable(p, g)) least = smaller(least, sum);
    }
    return least == INT64_MAX ? 0 : least;
}

static int64_t message(const struct check_problem *p, const int64_t *prices, int slice)
{
    int64_t least = INT64_MAX;
    for (int from = 0; from < p->group_count; from++)
        for (int to = 0; to < p->group_count; to++) {
            const int64_t *parts = prices +
                                   ((slice * p->group_count + from) * p->group_count + to) * PARTS;
            if (!check_is_usable(p, from) || !check_is_usable(p, to) || parts[PART_BLOCKS] < 0)
                continue;
            least = smaller(least, 2 * parts[PART_WORKS] + parts[PART_BLOCKS] + parts[PART_LINKS] +
                                       parts[PART_DELAYS]);
        }
    return least == INT64_MAX ? 0 : least;
}

static int64_t messages(const struct check_problem *p, int slice)
{
    int64_t there = INT64_MAX, back = INT64_MAX;
    for (int c = 0; c < p->cut_count; c++) {
        there = smaller(there, message(p, p->cuts[c].forward, slice));
        for (int o = 0; o < p->boundary_count; o++)
            back = smaller(back, message(p, p->cuts[c].backward[o], slice));
    }
    return p->cut_count ? there + back : 0;
}

// What recomputation adds to the slice of a layer, in the mode and on the group where it is least.
static int64_t recomputed(const struct check_sketch *s, int run, int slice)
{
    const struct check_problem *p = s->p;
    int64_t least = INT64_MAX;
    for (int g = 0; g < p->group_count && p->runs[run].recomputable; g++) {
        if (!check_is_usable(p, g)) continue;
        for (int mode = 0; mode < MODES; mode++)
            if (mode == MODE_FULL
                    ? s->full || s->partly
                    : s->selective && check_keeps_part(mode) && check_may_choose(p, mode))
                least = smaller(least, p->runs[run].again[mode][slice * p->group_count + g]);
    }
    return least == INT64_MAX ? 0 : least;
}

// Whether the rank, on any group, has no room for these layers unless some are recomputed. More of
// them do not fit either then.
static bool pays_for(const struct check_sketch *s, int rank, struct check_share one)
{
    for (int g = 0; g < s->group_count; g++)
        if (check_least_recomputation(s, &s->groups[g], rank, one) == 0) return false;
    return true;
}

// On the ranks at the ends there may be nothing but the first or last layer.
static void count_paying(struct check_sketch *s)
{
    int ranks = s->p->ranks;
    s->main_pays[0] = s->both_pay[0] = 0;
    for (int rank = 0; rank < ranks; rank++) {
        bool inner = !(s->has_first && rank == 0) && !(s->has_last && rank == ranks - 1),
             main = inner && pays_for(s, rank, (struct check_share){1, 0}),
             both = main && s->others && pays_for(s, rank, (struct check_share){0, 1});
        s->main_pays[rank + 1] = s->main_pays[rank] + main;
        s->both_pay[rank + 1] = s->both_pay[rank] + both;
    }
}

static int without(const int *counts, int rank, int ranks)
{
    return counts[ranks] - (counts[rank + 1] - counts[rank]);
}

// What the slice's recomputation takes at least on all ranks but this one. A rank without a main
// layer has another kind of layer: so at most as many ranks lack one as there are such layers away
// from this rank. Of those, the ranks beyond the ones that pay for a main layer alone pay for the
// other layer.
static int64_t recomputed_away(const struct check_sketch *s, const struct check_across *x, int rank,
                               int64_t others)
{
    int64_t main = without(s->main_pays, rank, s->p->ranks),
            both = without(s->both_pay, rank, s->p->ranks),
            lacking = smaller(s->strays - others, main),
            paying = larger(0, lacking - (main - both));
    return (main - lacking) * x->main_again + paying * smaller(x->main_again, x->other_again);
}

static void add(struct check_sketch *s, int slice)
{
    const struct check_problem *p = s->p;
    struct check_across *x = &s->across[s->across_count++];
    int last = p->run_count - 1;
    *x = (struct check_across){.slice = slice,
                               .main_away = INT64_MAX,
                               .other_away = INT64_MAX,
                               .main_again = INT64_MAX,
                               .other_again = INT64_MAX,
                               .before = elsewhere(p, 0, 0, slice - 1),
                               .behind = elsewhere(p, last, slice + 1, p->slices - 1),
                               .messages = messages(p, slice)};
    for (int r = 0; r <= last; r++) {
        int64_t away = elsewhere(p, r, slice, slice), again = recomputed(s, r, slice);
        if (check_is_main(s, r))
            x->main_away = smaller(x->main_away, away),
            x->main_again = smaller(x->main_again, again);
        if (check_others_of(s, r) > 0)
            x->other_away = smaller(x->other_away, away),
            x->other_again = smaller(x->other_again, again);
    }
    if (!s->others) x->other_away = x->other_again = 0;
    if (s->has_first) x->first_away = elsewhere(p, 0, slice, slice);
    if (s->has_last) x->last_away = elsewhere(p, last, slice, slice);
    put_ranks(x, s);
}

static int64_t of_main(const struct check_sketch *s, int slice)
{
    const struct check_problem *p = s->p;
    int64_t least = INT64_MAX;
    for (int r = 0; r < p->run_count; r++)
        if (check_is_main(s, r)) least = smaller(least, elsewhere(p, r, slice, slice));
    return least;
}

void check_find_across(struct check_sketch *s)
{
    const struct check_problem *p = s->p;
    int slowest = 0;
    s->across_count = 0;
    if (p->slices == 1 || p->local_every) return; // in slices: one stage a rank, a joint backward
    for (int i = 1; i < p->slices; i++)
        if (of_main(s, i) > of_main(s, slowest)) slowest = i;
    count_paying(s);
    add(s, 0);
    add(s, p->slices - 1);
    if (slowest > 0 && slowest < p->slices - 1) add(s, slowest);
}

int64_t check_across_takes(const struct check_sketch *s, int group, int rank, struct check_share k,
                           int64_t again, int64_t tail)
{
    const struct check_problem *p = s->p;
    bool before = rank > 0, behind = rank < p->ranks - 1;
    int64_t longest = 0;
    for (int i = 0; i < s->across_count; i++) {
        const struct check_across *x = &s->across[i];
        bool whole = (!before || x->slice == 0) && (!behind || x->slice == p->slices - 1);
        int64_t sum = k.main * x->main[group][before][behind] +
                      (s->main_count - k.main) * x->main_away + k.other * x->other[before][behind] +
                      (s->others - k.other) * x->other_away;
        if (check_holds_first(s, rank)) sum += x->first[group][before][behind];
        else sum += x->first_away;
        if (check_holds_last(s, rank)) sum += x->last[group][before][behind];
        else sum += x->last_away;
        if (before) sum += x->before;
        if (behind) sum += x->behind;
        sum += recomputed_away(s, x, rank, k.other);
        sum += (whole ? p->micro_batches : p->micro_batches - 1) * again;
        longest = larger(longest, sum + (p->ranks - 1) * x->messages + tail);
    }
    return longest;
}
