// Links and collectives in the program without MPI: it needs no libmpi, and executes
// plumbline-measure-mpi, the same program with mpi.c in place of this file, which the Makefile
// builds next to it if it finds MPI.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/base/shipped.h"
#include "measure/links/links.h"

static enum status hand_over(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    (void)exit_code;
    const char *suffix = "-mpi";
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--nccl")) suffix = "-nccl";
    const char *own = program_file(arena);
    if (own) {
        char **arguments = TAKE(arena, argc + 2, char *);
        arguments[0] = arena_print(arena, "%s%s", own, suffix);
        for (int i = 0; i < argc; i++) arguments[i + 1] = argv[i];
        fflush(stdout);
        execv(arguments[0], arguments);
    }
    return fail(err, UNAVAILABLE,
                "this build has no MPI%s: plumbline-measure%s is not next to plumbline-measure; "
                "install an MPI (on Debian libopenmpi-dev and openmpi-bin)%s and run make again",
                strcmp(suffix, "-mpi") ? ", or no NCCL" : "", suffix,
                strcmp(suffix, "-mpi") ? " and CUDA with NCCL" : "");
}

const struct command measure_links = {.name = "links", .text = LINKS_TEXT, .words = hand_over},
                     measure_collectives = {.name = "collectives",
                                            .text = COLLECTIVES_TEXT,
                                            .words = hand_over},
                     measure_run = {.name = "run", .text = RUN_TEXT, .words = hand_over};
