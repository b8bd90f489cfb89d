// Groups of layouts: one layout stands for all that differ from it only in what no layer's pass
// gets faster by (docs/PROOFS.md 8.17). The mean of its passes bounds every plan of each of them.
#include <string.h>

#include "data/base/least.h"
#include "solve/checker/space/arguments.h"

enum { KEPT = 1 << 10, WORK_OF_GROUP = 256 };

struct check_group_kept {
    bool known;
    struct check_layout standing;
    int64_t takes;
};

// The first schedule in the table with these properties and whole sequences.
static int schedule_with(bool splits_backward, bool layered)
{
    for (int kind = 0; kind < check_schedule_count; kind++) {
        const struct check_schedule *s = &check_schedules[kind];
        if (!s->slices && s->splits_backward == splits_backward && s->layered == layered &&
            (layered || s->turns == 1))
            return kind;
    }
    return check_schedule_default;
}

struct check_layout check_standing_for(const struct check_layout *l)
{
    struct check_layout g = *l;
    const struct check_schedule *s = &check_schedules[l->value[KEY_SCHEDULE]];
    bool gathers = l->value[KEY_ZERO] == 3, layered = gathers && s->layered;
    if (!gathers) g.value[KEY_ZERO] = g.value[KEY_OVERLAPPED] = 0;
    g.value[KEY_OFFLOAD] = g.value[KEY_FUSED_EMBEDDING] = 0;
    g.value[KEY_BARRIER] = 1;
    memset(g.in_flight, 0, sizeof g.in_flight);
    g.value[KEY_TURNS] = layered ? 2 : 1;
    if (!s->slices) g.value[KEY_SCHEDULE] = schedule_with(s->splits_backward, layered);
    return g;
}

// Of one layer, on the group where it is fastest; recomputed if the layout sets that for all.
static int64_t passes_of(const struct check_problem *p, int run)
{
    int64_t least = INT64_MAX;
    for (int g = 0; g < p->group_count; g++) {
        if (!check_is_usable(p, g)) continue;
        struct check_terms t = check_terms_of(p, run, g);
        least = smaller(least, t.forward + t.backward + t.weight);
    }
    return least;
}

// The mean rank's passes, and its share of the layers that take at least as long as those of one
// of the runs.
static int64_t mean_of(const struct check_problem *p)
{
    int64_t all = 0, most = 0;
    for (int run = 0; run < p->run_count; run++) {
        int64_t one = passes_of(p, run), as_long = 0;
        all += p->runs[run].count * one;
        for (int other = 0; other < p->run_count; other++)
            if (passes_of(p, other) >= one) as_long += p->runs[other].count;
        most = larger(most, (as_long + p->ranks - 1) / p->ranks * one);
    }
    return larger(most, (all + p->ranks - 1) / p->ranks);
}

static enum status find_takes(struct check_layouts *x, const struct check_layout *standing,
                              int64_t *takes)
{
    *takes = 0;
    if (check_space_refusal(x->space, standing) ||
        !x->pricer->bytes(x->pricer->context, standing, &x->p))
        return OK;
    x->p->reader = x->reader;
    TRY(check_spend(x->p, x->held.work, WORK_OF_GROUP));
    if (!check_has_slots(x->p) || !x->pricer->times(x->pricer->context)) return OK;
    TRY(check_problem_bytes(x->p));
    TRY(check_problem_times(x->p));
    int64_t times = x->p->objective == MINIMISE_LOAD ? 1 : x->p->micro_batches;
    *takes = times * mean_of(x->p);
    return OK;
}

static bool same_layout(const struct check_layout *a, const struct check_layout *b)
{
    return !memcmp(a->value, b->value, sizeof a->value) &&
           !memcmp(a->grid, b->grid, sizeof a->grid) &&
           !memcmp(a->slice, b->slice, sizeof a->slice) && a->recomputed == b->recomputed &&
           !memcmp(a->in_flight, b->in_flight, sizeof a->in_flight) &&
           a->fused_attention == b->fused_attention && a->data_shard == b->data_shard;
}

enum status check_group_takes(struct check_layouts *x, const struct check_layout *layout,
                              int64_t *takes)
{
    struct check_layout standing = check_standing_for(layout);
    uint64_t hash = 0;
    *takes = 0;
    if (x->space->of_nodes) return OK;
    for (int key = 0; key < KEYS; key++)
        hash = (hash ^ (uint64_t)standing.value[key]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 31;
    if (!x->groups) x->groups = TAKE(x->held.arena, KEPT, struct check_group_kept);
    struct check_group_kept *kept = &x->groups[hash % KEPT];
    if (!kept->known || !same_layout(&kept->standing, &standing)) {
        *kept = (struct check_group_kept){.standing = standing};
        TRY(find_takes(x, &standing, &kept->takes));
        kept->known = true;
    }
    *takes = kept->takes;
    return OK;
}
