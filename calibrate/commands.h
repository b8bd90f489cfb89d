// The commands of this room; each in its own file.
#ifndef PLUMBLINE_CALIBRATE_COMMANDS_H
#define PLUMBLINE_CALIBRATE_COMMANDS_H

#include "data/base/options.h"

command_function command_calibrate;
command_function command_validate;
command_function command_iterations; // calibrate --iterations

#endif
