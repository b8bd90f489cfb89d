// plumbline-measure: samples out of a machine. A program of its own, so that a node without GLPK
// measures and one without the measuring libraries plans.
#include "data/base/commands.h"
#include "data/text/document.h"
#include "measure/compress.h"
#include "measure/compute.h"
#include "measure/links/links.h"
#include "measure/memory.h"
#include "measure/merge.h"

static const struct command commands[] = {
    {"compute", measure_compute,
     .text = "times kernels and whole layers of a transformer on this device"},
    {"compress", measure_compress,
     .text = "times compression of messages and gradients: low rank, top-k, quantised"},
    {"memory", measure_memory,
     .text = "times copies and transfers over a ladder of sizes; what a process takes, in bytes"},
    {"links", measure_links, .text = "under mpirun or srun: messages between every two ranks"},
    {"collectives", measure_collectives,
     .text = "under mpirun or srun: all-reduce and its like over groups of ranks"},
    {"merge", measure_merge, .text = "joins launches on one machine into one samples file"},
};

static const struct exit_meaning exits[] = {
    {"0", "done"},
    {"2", "bad input or usage, a file that cannot be written, or a machine that lacks what was "
          "asked for"},
    {"1", "anything else that failed"},
    {"10", "stopped by a signal: the samples so far are written"},
};

static const struct program program = {
    {"plumbline measure", "measurement", "WHAT [OPTION ...]", commands, ARRAY_LENGTH(commands)},
    "plumbline-measure",
    "samples out of this machine",
    NULL,
    exits,
    ARRAY_LENGTH(exits)};

static enum status run(int argc, char **argv, int *exit_code, struct arena *arena,
                       struct error *err)
{
    return program_run(&program, argc, argv, exit_code, arena, err);
}

int main(int argc, char **argv) { return program_main(&program, run, argc, argv); }
