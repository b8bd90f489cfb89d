// Several commands under one: those of a program, or of a command that has kinds. The selection,
// the help, the manual page and the completion all come from one table.
#pragma once

#include "data/base/command.h"

// Runs the kind argv[1] of a command, or one of --help, -h, help [COMMAND] and the words of
// command_text.h. BAD_INPUT: there is none, or it is unknown; the error names the nearest one.
enum status commands_run(const struct command *c, int argc, char **argv, int *exit_code,
                         struct arena *arena, struct error *err);

// Runs the command of a whole program: in addition to the kinds, --version (-V, version) [--json],
// and help --man [COMMAND], which prints a manual page. Returns the exit code.
int program_main(const struct command *p, int argc, char **argv);
