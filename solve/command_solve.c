#include "solve/commands.h"

enum status command_solve(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    (void)argc, (void)argv, (void)exit_code, (void)arena;
    return fail(err, UNAVAILABLE, "solve: under construction");
}
