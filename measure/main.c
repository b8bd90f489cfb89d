// plumbline-measure: samples out of a machine. A program of its own, so that a node without GLPK measures and one
// without the measuring libraries plans.
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "data/document.h"
#include "measure/compute.h"

static const struct command {
    const char *name;
    command_function *run;
    const char *text;
} commands[] = {
    {"compute", measure_compute, "times the parts of a transformer block on this device"},
};

static int usage(FILE *to, int exit_code)
{
    fprintf(to,
            "plumbline-measure %s: samples out of this machine\n\nusage: plumbline measure WHAT [OPTION ...]; "
            "plumbline measure WHAT "
            "--help tells the options\n\n",
            PLUMBLINE_VERSION);
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].text);
    return exit_code;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena arena;
    struct error err = {OK, ""};
    jmp_buf exhausted;
    int exit_code = 0;
    arena_open(&arena, &exhausted);
    if (setjmp(exhausted)) fail(&err, SYSTEM, "out of memory");
    else command->run(argc, argv, &exit_code, &arena, &err);
    arena_close(&arena);
    if (err.status == OK && (fflush(stdout) || ferror(stdout)))
        fail(&err, BAD_INPUT, "standard output: cannot be written");
    if (err.status == OK) return exit_code;
    fprintf(stderr, "plumbline measure %s: %s\n", command->name, err.text);
    return err.status == BAD_INPUT || err.status == UNAVAILABLE ? 2 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) return usage(stderr, 2);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) return usage(stdout, 0);
    if (!strcmp(argv[1], "--version")) return puts("plumbline-measure " PLUMBLINE_VERSION) < 0;
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
        if (!strcmp(argv[1], commands[i].name)) return run(&commands[i], argc - 1, argv + 1);
    fprintf(stderr, "plumbline measure: unknown measurement '%s'\n\n", argv[1]);
    return usage(stderr, 2);
}
