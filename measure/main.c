// plumbline-measure: samples out of a machine. A program of its own, so that a node without GLPK
// measures and one without the measuring libraries plans.
#include <stdio.h>
#include <string.h>

#include "data/text/document.h"
#include "measure/compress.h"
#include "measure/compute.h"
#include "measure/links/links.h"
#include "measure/memory.h"
#include "measure/merge.h"

static const struct {
    const char *name;
    command_function *run;
    const char *text;
} commands[] = {
    {"compute", measure_compute, "times kernels and whole layers of a transformer on this device"},
    {"compress", measure_compress,
     "times compression of messages and gradients: low rank, top-k, quantised"},
    {"memory", measure_memory,
     "times copies and transfers over a ladder of sizes; what a process takes, in bytes"},
    {"links", measure_links, "under mpirun or srun: messages between every two ranks"},
    {"collectives", measure_collectives,
     "under mpirun or srun: all-reduce and its like over groups of ranks"},
    {"merge", measure_merge, "joins launches on one machine into one samples file"},
};

static int usage(FILE *to, int exit_code)
{
    fprintf(to,
            "plumbline-measure %s: samples out of this machine\n\nusage: plumbline measure WHAT "
            "[OPTION ...]; "
            "plumbline measure WHAT "
            "--help tells the options\n\n",
            PLUMBLINE_VERSION);
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
        fprintf(to, "  %-11s %s\n", commands[i].name, commands[i].text);
    return command_flushed() ? exit_code : 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) return usage(stderr, 2);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) return usage(stdout, 0);
    if (!strcmp(argv[1], "--version"))
        return puts("plumbline-measure " PLUMBLINE_VERSION) < 0 || !command_flushed() ? 2 : 0;
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
        if (!strcmp(argv[1], commands[i].name))
            return command_run("plumbline measure", commands[i].name, commands[i].run, argc - 1,
                               argv + 1);
    fprintf(stderr,
            "plumbline measure: unknown measurement '%s'; plumbline measure --help lists them\n",
            argv[1]);
    return 2;
}
