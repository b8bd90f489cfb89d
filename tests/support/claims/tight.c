// Layouts in which memory is decisive.
#include "tests/support/claims/tight.h"

#include <string.h>

#include "solve/checker/layout/plan.h"
#include "tests/support/claims/proofs.h"

enum { ROOMS = 1024 };

// Sets the memory besides the constant bytes to a number of ROOMS parts, in both tables.
static void give_room(struct layout_truth *l, const struct layout_truth *of, int64_t parts,
                      struct arena *arena)
{
    int count = of->priced.group_count;
    struct check_problem *tables = TAKE(arena, 1, struct check_problem);
    struct priced_group *groups = TAKE(arena, count, struct priced_group);
    struct check_group *checked = TAKE(arena, count, struct check_group);
    *l = *of, *tables = *of->tables;
    for (int g = 0; g < count; g++) {
        int64_t constant = of->priced.groups[g].constant_bytes,
                room = of->priced.groups[g].memory_limit_bytes - constant;
        groups[g] = of->priced.groups[g], checked[g] = of->tables->groups[g];
        if (room > 0) groups[g].memory_limit_bytes = constant + room / ROOMS * parts;
        checked[g].memory_limit = groups[g].memory_limit_bytes;
    }
    tables->groups = checked, l->tables = tables, l->priced.groups = groups;
}

bool tighten(struct layout_truth *l, const struct layout_truth *of, enum tight how,
             int64_t plans_most, struct arena *arena)
{
    int64_t low = 0, high = ROOMS;
    if (!of->known || !of->alike || !of->enumerated || of->time_ns == INT64_MAX) return false;
    while (high - low > 1) {
        struct arena_mark mark = arena_set_mark(arena);
        bool enumerated;
        int64_t middle = low + (high - low) / 2;
        give_room(l, of, middle, arena);
        int64_t best_ns = priced_optimum(&l->priced, plans_most, &enumerated, arena);
        bool enough = how == TIGHT_BEST ? best_ns == of->time_ns : best_ns < INT64_MAX;
        *(enough ? &high : &low) = middle;
        arena_reset(arena, mark);
    }
    give_room(l, of, how == TIGHT_BEST ? low : high, arena);
    l->time_ns = l->value_ns = priced_optimum(&l->priced, plans_most, &l->enumerated, arena);
    return l->enumerated;
}
