#include "data/options.h"

command_function command_verify;

enum status command_verify(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    (void)argc, (void)argv, (void)exit_code, (void)arena;
    return fail(err, UNAVAILABLE, "verify: under construction");
}
