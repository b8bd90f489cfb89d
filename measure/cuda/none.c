// CUDA in the programs without it: they need none of its libraries, and execute
// plumbline-measure-cuda, the same program with cuda.c in place of this file, which the Makefile
// builds next to them if it finds CUDA.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/base/shipped.h"
#include "measure/sampling/backend.h"

enum { ARGUMENTS_MAX = 256, COMMAND_LENGTH_MAX = 1 << 17 };

static const char program[] = "plumbline-measure-cuda";

// The words of this process' command line, from the system; NULL if not available.
static char **own_arguments(struct arena *arena)
{
    char *text = TAKE(arena, COMMAND_LENGTH_MAX + 1, char),
         **words = TAKE(arena, ARGUMENTS_MAX + 1, char *);
    FILE *file = fopen("/proc/self/cmdline", "rb");
    if (!file) return NULL;
    size_t length = fread(text, 1, COMMAND_LENGTH_MAX, file);
    fclose(file);
    int count = 0;
    for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
        if (count == ARGUMENTS_MAX) return NULL;
        words[count++] = text + at;
    }
    return length && length < COMMAND_LENGTH_MAX ? words : NULL;
}

static enum status hand_over(void **session, const struct backend_settings *settings,
                             enum precision precision, struct arena *arena, struct error *err)
{
    (void)session, (void)settings, (void)precision;
    char **arguments = own_arguments(arena);
    const char *path = program_beside(program, arena);
    if (arguments && path) {
        arguments[0] = arena_copy_text(arena, path);
        fflush(stdout);
        execv(path, arguments);
        if (errno != ENOENT) return fail(err, UNAVAILABLE, "%s: %s", path, strerror(errno));
    }
    return fail(err, UNAVAILABLE,
                "no CUDA in this build: %s is not next to plumbline-measure; install the CUDA "
                "toolkit with cuBLAS and run make again",
                program);
}

const struct backend backend_cuda = {.name = "cuda", .open = hand_over};
