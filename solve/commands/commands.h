// The commands of solve/, each in its own file.
#ifndef PLUMBLINE_SOLVE_COMMANDS_COMMANDS_H
#define PLUMBLINE_SOLVE_COMMANDS_COMMANDS_H

#include "data/base/command.h"

extern const struct command command_plan, command_offers, command_solve, command_verify,
    command_report, command_compare, command_check, command_vipr, command_carry, command_explain;

#endif
