// Several commands under one: of a program, or of a command that has kinds. One table gives the
// choice, the help, the manual page and the completion.
#ifndef PLUMBLINE_DATA_BASE_COMMANDS_H
#define PLUMBLINE_DATA_BASE_COMMANDS_H

#include "data/base/options.h"

struct command {
    const char *name;
    command_function *run;
    const char *text;  // a line
    const char *about; // sentences for its manual page
};

struct command_table {
    const char *program; // "plumbline", "plumbline import"
    const char *what;    // what a name is: "command", "format"
    const char *usage;   // behind the program's name
    const struct command *commands;
    int count;
};

// The command argv[1], or what stands there instead: --help, -h, help [COMMAND], and the words of
// options_text.h. BAD_INPUT: none, or an unknown one; the nearest is told.
enum status commands_run(const struct command_table *t, int argc, char **argv, int *exit_code,
                         struct arena *arena, struct error *err);

struct program {
    struct command_table table;
    const char *name, *text, *about; // of the executable; about: sentences for its manual page
    const struct exit_meaning {
        const char *code, *text;
    } * exits; // for help and manual pages
    int exit_count;
};

// The program's own command: beside those of the table --version (-V, version) [--json], and help
// --man [COMMAND], which prints a manual page. There is an argv[1].
enum status program_run(const struct program *p, int argc, char **argv, int *exit_code,
                        struct arena *arena, struct error *err);

// Runs it (`run` calls program_run) as command_run does, and returns the exit code.
int program_main(const struct program *p, command_function *run, int argc, char **argv);

#endif
