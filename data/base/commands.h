// Several commands under one: those of a program, or of a command that has kinds. The selection,
// the help, the manual page and the completion all come from one table.
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
    const char *usage;   // after the program's name
    const struct command *commands;
    int count;
};

// Runs the command argv[1], or one of --help, -h, help [COMMAND] and the words of options_text.h.
// BAD_INPUT: there is none, or it is unknown; the error names the nearest one.
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

// The program's own command: in addition to those of the table, --version (-V, version) [--json],
// and help --man [COMMAND], which prints a manual page. There must be an argv[1].
enum status program_run(const struct program *p, int argc, char **argv, int *exit_code,
                        struct arena *arena, struct error *err);

// Runs it (`run` calls program_run) as command_run does, and returns the exit code.
int program_main(const struct program *p, command_function *run, int argc, char **argv);

#endif
