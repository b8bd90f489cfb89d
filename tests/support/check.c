// See check.h.
#include "tests/support/check.h"

int check_open_arena(void **state)
{
    static struct arena arena;
    arena_open(&arena, NULL);
    *state = &arena;
    return 0;
}

int check_close_arena(void **state)
{
    arena_close(*state);
    return 0;
}
