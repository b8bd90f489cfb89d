// Tensor ranks as a grid: the orders of its axes, and what refuses it (docs/FORMULAS.md 20).
#include "solve/checker/space/space.h"

// The axes above 1 in an order's succession, as a number.
static int succession(const struct check_layout *l, const char *order)
{
    int both = l->grid[0] * l->grid[1], digits = 0;
    const int lengths[] = {l->value[KEY_TENSOR] / both, l->grid[0], l->grid[1]};
    for (; *order; order++)
        if (*order != '-' && lengths[*order - '1'] > 1) digits = 10 * digits + *order - '0';
    return digits;
}

int check_put_orders(const struct check_layout *l, int *values)
{
    int count = 0, seen[6];
    for (int order = 0; check_orders[order]; order++) {
        int own = succession(l, check_orders[order]), known = 0;
        while (known < count && seen[known] != own) known++;
        if (known == count) seen[count] = own, values[count++] = order;
    }
    return count;
}

bool check_has_order(const struct check_layout *l, const char *order)
{
    return succession(l, check_orders[l->value[KEY_GRID_ORDER]]) == succession(l, order);
}

// A grid whose ranks are all along its second and third axis.
bool check_is_undivided(const struct check_layout *l)
{
    return l->grid[0] && l->grid[0] * l->grid[1] == l->value[KEY_TENSOR];
}

// In a grid: whole sequences on the third axis, a part of each token's values on the second.
const char *check_grid_refusal(const struct check_space *s, const struct check_layout *l)
{
    if (!l->grid[0]) return NULL;
    if (l->value[KEY_CONTEXT] > 1 || l->value[KEY_EXPERT] > 1 || l->value[KEY_EXPERT_TENSOR])
        return "a tensor grid with context or experts";
    if (l->value[KEY_SEQUENCE_PARALLEL] && check_is_undivided(l))
        return "a tensor grid that divides no sequence, with sequence parallelism";
    if (l->value[KEY_GRID_GATHERS] && (l->value[KEY_ZERO] == 3 || l->grid[1] == 1))
        return "kept matrices that are not whole, or never gathered";
    if (l->value[KEY_MICRO_BATCH] % l->grid[1]) return "micro_batch not divisible by a grid's axis";
    return s->hidden % l->grid[0] ? "hidden not divisible by a grid's axis" : NULL;
}

// ---- batch and schedule

const char *check_batch_refusal(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    int64_t together = (int64_t)v[KEY_DATA] * v[KEY_MICRO_BATCH],
            micro_batches = s->global_batch / together, tokens = 0;
    if (check_schedules[v[KEY_SCHEDULE]].in_groups && micro_batches < v[KEY_PIPELINE])
        return "schedule in groups: fewer micro-batches than ranks";
    for (int i = 0; i < v[KEY_SLICES]; i++) tokens += l->slice[i];
    if (v[KEY_SLICES] > 1) {
        if (s->looks_ahead) return "slices of a sequence whose tokens see later ones";
        if (tokens != s->sequence) return "slices do not add up to the sequence";
        if (v[KEY_CONTEXT] > 1) return "slices of a sequence that context splits";
        if (s->has_options) return "slices with compression, shares on the host or tiers";
    }
    if (s->sequence % v[KEY_CONTEXT]) return "sequence not divisible by context";
    int64_t divided = v[KEY_TENSOR] / (l->grid[0] ? l->grid[0] * l->grid[1] : 1);
    if (v[KEY_SEQUENCE_PARALLEL] && s->sequence / v[KEY_CONTEXT] % divided)
        return "sequence not divisible by context x tensor";
    if (s->global_batch % together) return "batch not divisible by data x micro_batch";
    return micro_batches > MOST_MICRO_BATCHES ? "too many micro-batches" : NULL;
}

const char *check_schedule_refusal(const struct check_layout *l)
{
    const int *v = l->value, turns = v[KEY_TURNS], slices = v[KEY_SLICES];
    const struct check_schedule *schedule = &check_schedules[v[KEY_SCHEDULE]];
    if (schedule->turns ? turns != schedule->turns : turns < 2)
        return "stages of a rank do not fit the schedule";
    if (turns > 1 && v[KEY_PIPELINE] < 2 && !schedule->layered)
        return "several stages on a single rank";
    if (schedule->slices ? slices < 2 : slices != 1) return "slices do not fit the schedule";
    return slices > MOST_SLICES ? "too many slices" : NULL;
}
