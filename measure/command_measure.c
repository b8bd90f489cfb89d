// The planner does not link the measuring libraries: it executes plumbline-measure, found next to
// its own executable or in PATH. Arguments and exit code are that program's.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/base/shipped.h"
#include "measure/commands.h"

static const char program[] = "plumbline-measure";

static enum status hand_over(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    (void)exit_code;
    char **arguments = TAKE(arena, argc + 1, char *);
    for (int i = 1; i < argc; i++) arguments[i] = argv[i];
    arguments[0] = arena_copy_text(arena, program);
    fflush(stdout);
    const char *path = program_beside(program, arena);
    if (path) execv(path, arguments);
    execvp(program, arguments);
    return fail(err, UNAVAILABLE, "%s is neither next to plumbline nor in PATH (%s)", program,
                strerror(errno));
}

const struct command command_measure = {
    .name = "measure",
    .text = "measure this machine -> samples (runs plumbline-measure)",
    .about = "Times kernels, copies and messages on this machine and writes samples, from which "
             "calibrate "
             "makes costs. Runs plumbline-measure, which is next to plumbline or in PATH.",
    .words = hand_over,
};
