// The commands of solve/, each in its own file.
#pragma once

#include "data/base/command.h"

extern const struct command command_plan, command_offers, command_solve, command_verify,
    command_report, command_compare, command_check, command_vipr, command_carry, command_explain;
