// Plans to begin with where the dynamic programme goes by ranks: those that the first box meets
// while it looks for weights (solve/boxes/balance.c).
#include <string.h>

#include "solve/boxes/box.h"
#include "solve/incumbent/internal.h"

int search_balance(struct search *s, int **starts, int starts_max)
{
    struct arena *scratch = arena_open_within(s->arena);
    struct box_closer *closer = box_closer_open(s->c, s->g, scratch);
    int *found = TAKE(s->arena, s->stage_count, int), count = 0;
    if (starts_max > 0 && box_closer_is_by_ranks(closer) && box_closer_meet_plan(closer, found) &&
        search_replay(s, found, NULL) < INT64_MAX)
        starts[count++] = found;
    arena_close(scratch);
    arena_open(scratch, s->arena->exit);
    return count;
}
