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
    return r->forward[slice * p->group_count + g] + r->backward[slice * p->group_count + g];
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
            int64_t *main = &x->main[at][before][behind];
            *main = INT64_MAX;
            for (int r = 0; r <= last; r++)
                if (check_is_main(s, r))
                    *main = smaller(*main, on_rank(p, r, g, x->slice, before, behind));
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
    for (int g = 0; g < p->group_count; g++) {
        if (!check_is_usable(p, g)) continue;
        int64_t selective = p->runs[run].selective[slice * p->group_count + g],
                full = p->runs[run].full[slice * p->group_count + g];
        if (s->selective) least = smaller(least, selective);
        if (s->full || s->partly) least = smaller(least, full);
    }
    return least == INT64_MAX ? 0 : least;
}

// Every stage holds a layer; on the ranks at the ends it may be the first or last one. If one main
// layer that keeps everything does not fit, more of them do not either.
static void count_recomputing(struct check_sketch *s)
{
    int ranks = s->p->ranks;
    s->recomputing[0] = 0;
    for (int rank = 0; rank < ranks; rank++) {
        bool sure = !(s->has_first && rank == 0) && !(s->has_last && rank == ranks - 1);
        for (int g = 0; g < s->group_count && sure; g++)
            sure = check_least_recomputation(s, &s->groups[g], rank, (struct check_share){1, 0}) !=
                   0;
        s->recomputing[rank + 1] = s->recomputing[rank] + sure;
    }
}

static void add(struct check_sketch *s, int slice)
{
    const struct check_problem *p = s->p;
    struct check_across *x = &s->across[s->across_count++];
    int last = p->run_count - 1;
    *x = (struct check_across){.slice = slice,
                               .other = INT64_MAX,
                               .before = elsewhere(p, 0, 0, slice - 1),
                               .behind = elsewhere(p, last, slice + 1, p->slices - 1),
                               .messages = messages(p, slice)};
    x->again = INT64_MAX;
    for (int r = 0; r <= last; r++)
        if (check_is_main(s, r)) {
            x->other = smaller(x->other, elsewhere(p, r, slice, slice));
            x->again = smaller(x->again, recomputed(s, r, slice));
        }
    if (s->has_first) x->other_first = elsewhere(p, 0, slice, slice);
    if (s->has_last) x->other_last = elsewhere(p, last, slice, slice);
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
    if (p->slices == 1 || p->turns > 1 || !p->barrier || p->local_every || p->splits_backward)
        return;
    for (int i = 1; i < p->slices; i++)
        if (of_main(s, i) > of_main(s, slowest)) slowest = i;
    count_recomputing(s);
    add(s, 0);
    add(s, p->slices - 1);
    if (slowest > 0 && slowest < p->slices - 1) add(s, slowest);
}

int64_t check_across_takes(const struct check_sketch *s, int group, int rank, int64_t k,
                           int64_t again, int64_t tail)
{
    const struct check_problem *p = s->p;
    bool before = rank > 0, behind = rank < p->ranks - 1;
    int64_t longest = 0;
    for (int i = 0; i < s->across_count; i++) {
        const struct check_across *x = &s->across[i];
        bool whole = (!before || x->slice == 0) && (!behind || x->slice == p->slices - 1);
        int64_t sum = k * x->main[group][before][behind] + (s->main_count - k) * x->other;
        if (check_holds_first(s, rank)) sum += x->first[group][before][behind];
        else sum += x->other_first;
        if (check_holds_last(s, rank)) sum += x->last[group][before][behind];
        else sum += x->other_last;
        if (before) sum += x->before;
        if (behind) sum += x->behind;
        sum += (s->recomputing[rank] + s->recomputing[p->ranks] - s->recomputing[rank + 1]) *
               x->again;
        sum += (whole ? p->micro_batches : p->micro_batches - 1) * again;
        longest = larger(longest, sum + (p->ranks - 1) * x->messages + tail);
    }
    return longest;
}
