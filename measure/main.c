// plumbline-measure: takes samples on a machine. It is a separate program, so that a node without
// GLPK can measure and one without the measuring libraries can plan.
#include "data/base/commands.h"
#include "data/text/document.h"
#include "measure/compress.h"
#include "measure/compute.h"
#include "measure/links/links.h"
#include "measure/memory.h"
#include "measure/merge.h"

static const struct command commands[] = {
    {"compute", measure_compute,
     .text = "time kernels and whole transformer layers on this device"},
    {"compress", measure_compress,
     .text = "time compression of messages and gradients: low-rank, top-k, quantised"},
    {"memory", measure_memory,
     .text = "time copies and transfers of increasing size; measure a process's memory"},
    {"links", measure_links,
     .text = "time messages between every two ranks (under mpirun or srun)"},
    {"collectives", measure_collectives,
     .text = "time all-reduce and other collectives over groups of ranks (under mpirun or srun)"},
    {"merge", measure_merge,
     .text = "merge samples of several launches on one machine into one file"},
};

static const struct exit_meaning exits[] = {
    {"0", "success"},
    {"2",
     "bad input or usage, a file that cannot be written, or hardware or software that is missing"},
    {"1", "any other failure"},
    {"10", "interrupted by a signal; the samples so far were written"},
};

static const struct program program = {
    {"plumbline measure", "measurement", "WHAT [OPTION ...]", commands, ARRAY_LENGTH(commands)},
    "plumbline-measure",
    "measures this machine and writes samples",
    NULL,
    exits,
    ARRAY_LENGTH(exits)};

static enum status run(int argc, char **argv, int *exit_code, struct arena *arena,
                       struct error *err)
{
    return program_run(&program, argc, argv, exit_code, arena, err);
}

int main(int argc, char **argv) { return program_main(&program, run, argc, argv); }
