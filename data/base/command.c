// Shared by the front doors of both programs.
#define _XOPEN_SOURCE 700 // SIGXFSZ
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#include "data/base/options.h"

bool command_flushed(void) { return !fflush(stdout) && !ferror(stdout); }

enum status command_audit(command_function *function, int argc, char **argv, int *exit_code,
                          struct arena *arena, struct error *err)
{
    arena->holds_files = true;
    enum status status = function(argc, argv, exit_code, arena, err);
    arena->holds_files = false;
    arena->files = NULL;
    memory_limit(0);
    return status;
}

static void fail_for_memory(struct error *err)
{
    if (!memory_limit_is_met()) fail(err, SYSTEM, "out of memory");
    else
        fail(err, SYSTEM,
             "needs more memory than the %zu MiB allowed for these files; raise --memory-limit-mib",
             memory_limit_now() >> 20);
}

int command_run(const char *program, const char *name, command_function *function, int argc,
                char **argv)
{
    struct arena arena;
    struct error err = {OK, ""};
    jmp_buf exhausted;
    int exit_code = 0;
    signal(SIGXFSZ, SIG_IGN); // writing a file beyond ulimit -f is an error of that write
    arena_open(&arena, &exhausted);
    if (setjmp(exhausted)) fail_for_memory(&err);
    else function(argc, argv, &exit_code, &arena, &err);
    arena_close(&arena);
    if (err.status == OK && !command_flushed())
        fail(&err, BAD_INPUT, "standard output: cannot be written");
    if (err.status == OK) return exit_code;
    fprintf(stderr, "%s%s%s: %s\n", program, name ? " " : "", name ? name : "", err.text);
    return err.status == BAD_INPUT || err.status == UNAVAILABLE ? 2 : 1;
}
