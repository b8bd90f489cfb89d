// The command of this folder.
#ifndef PLUMBLINE_SOLVE_BATCH_COMMANDS_H
#define PLUMBLINE_SOLVE_BATCH_COMMANDS_H

#include "data/base/command.h"

extern const struct command command_batch;

#endif
