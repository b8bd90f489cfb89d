#include "data/options.h"

command_function command_report;

enum status command_report(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    (void)argc, (void)argv, (void)exit_code, (void)arena;
    return fail(err, UNAVAILABLE, "report: under construction");
}
