// The commands of solve/, each in its own file.
#ifndef PLUMBLINE_SOLVE_COMMANDS_COMMANDS_H
#define PLUMBLINE_SOLVE_COMMANDS_COMMANDS_H

#include "data/base/options.h"

command_function command_plan;
command_function command_offers;
command_function command_solve;
command_function command_verify;
command_function command_report;
command_function command_compare;
command_function command_check;
command_function command_vipr;

#endif
