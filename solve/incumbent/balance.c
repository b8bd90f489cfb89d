// Starting plans where ranks have several stages: those that the first box finds while it searches
// for weights (solve/boxes/balance.c), by ranks or, with memory prices, stage by stage.

#include "solve/boxes/box.h"
#include "solve/incumbent/internal.h"

int search_balance(struct search *s, bool by_ranks, int **starts, int starts_max)
{
    struct arena *scratch = arena_open_within(s->arena);
    struct box_closer *closer = box_closer_open(
        s->c, s->g, (struct box_settings){false, s->should_stop, s->stop_argument}, scratch);
    int *found = TAKE(s->arena, s->stage_count, int), count = 0;
    bool suits = box_closer_is_balanced(closer) && box_closer_is_by_ranks(closer) == by_ranks;
    if (starts_max > 0 && suits && box_closer_meet_plan(closer, found) &&
        search_replay(s, found, NULL) < INT64_MAX)
        starts[count++] = found;
    arena_close(scratch);
    arena_open(scratch, s->arena->exit);
    return count;
}
