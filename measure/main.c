// plumbline-measure: takes samples on a machine. It is a separate program, so that a node without
// GLPK can measure and one without the measuring libraries can plan.
#include "data/base/commands.h"
#include "measure/commands.h"
#include "measure/cpu/core.h"
#include "measure/links/links.h"

static const struct command *const commands[] = {
    &measure_compute,     &measure_compress, &measure_memory, &measure_links,
    &measure_collectives, &measure_run,      &measure_merge};

static const struct exit_meaning exits[] = {
    {"0", "success"},
    {"2",
     "bad input or usage, a file that cannot be written, or hardware or software that is missing"},
    {"1", "any other failure"},
    {"10", "interrupted by a signal; the samples so far were written"},
};

static const struct command program = {
    .program = "plumbline measure",
    .executable = "plumbline-measure",
    .text = "measures this machine and writes samples",
    .what = "measurement",
    .usage = "plumbline measure WHAT [OPTION ...]",
    COMMAND_KINDS(commands),
    .exits = exits,
    .exit_count = ARRAY_LENGTH(exits),
};

int main(int argc, char **argv)
{
    core_choose(argv);
    return program_main(&program, argc, argv);
}
