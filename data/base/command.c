// Runs a command, by itself or as a front door.
#define _XOPEN_SOURCE 700 // SIGXFSZ
#include "data/base/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "data/base/commands.h"

bool command_flushed(void) { return !fflush(stdout) && !ferror(stdout); }

static const struct command *find_variant(const struct command *c, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (int k = 0; k < c->variant_count; k++)
            if (!strcmp(argv[i], c->variants[k]->name)) return c->variants[k];
    return c;
}

static enum status read_and_run(const struct command *c, int argc, char **argv, int *exit_code,
                                struct arena *arena, struct error *err)
{
    void *options = arena_take(arena, 1, c->size);
    bool helped;
    TRY(command_read(c, options, argc, argv, &helped, arena, err));
    *exit_code = 0;
    return helped ? OK : c->run(options, exit_code, arena, err);
}

enum status command_call(const struct command *c, int argc, char **argv, int *exit_code,
                         struct arena *arena, struct error *err)
{
    if (c->words) return c->words(argc, argv, exit_code, arena, err);
    if (c->kinds) return commands_run(c, argc, argv, exit_code, arena, err);
    c = find_variant(c, argc, argv);
    if (!c->audits) return read_and_run(c, argc, argv, exit_code, arena, err);
    arena->holds_files = true;
    enum status status = read_and_run(c, argc, argv, exit_code, arena, err);
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

int command_run(const char *program, const char *name, const struct command *c, int argc,
                char **argv)
{
    struct arena arena;
    struct error err = {OK, ""};
    jmp_buf exhausted;
    int exit_code = 0;
    signal(SIGXFSZ, SIG_IGN); // writing a file beyond ulimit -f is an error of that write
    arena_open(&arena, &exhausted);
    if (setjmp(exhausted)) fail_for_memory(&err);
    else command_call(c, argc, argv, &exit_code, &arena, &err);
    arena_close(&arena);
    if (err.status == OK && !command_flushed()) refuse(&err, "standard output: cannot be written");
    if (err.status == OK) return exit_code;
    fprintf(stderr, "%s%s%s: %s\n", program, name ? " " : "", name ? name : "", err.text);
    return err.status == BAD_INPUT || err.status == UNAVAILABLE ? 2 : 1;
}
