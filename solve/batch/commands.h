// The command of this folder.
#ifndef PLUMBLINE_SOLVE_BATCH_COMMANDS_H
#define PLUMBLINE_SOLVE_BATCH_COMMANDS_H

#include "data/base/options.h"

command_function command_batch;

#endif
