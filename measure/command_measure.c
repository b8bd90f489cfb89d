// The planner does not link the measuring libraries: it executes plumbline-measure, found next to
// its own executable or in PATH. Arguments and exit code are that program's.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "measure/commands.h"

enum { PATH_LENGTH_MAX = 4096 };

static const char program[] = "plumbline-measure";

static enum status hand_over(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    (void)exit_code;
    char **arguments = TAKE(arena, argc + 1, char *);
    for (int i = 1; i < argc; i++) arguments[i] = argv[i];
    arguments[0] = arena_copy_text(arena, program);
    fflush(stdout);

    char own[PATH_LENGTH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length > 0) {
        own[length] = '\0';
        char *slash = strrchr(own, '/');
        if (slash)
            execv(arena_print(arena, "%.*s/%s", (int)(slash - own), own, program), arguments);
    }
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
