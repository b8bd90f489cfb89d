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
