// The commands of this folder, each in its own file.
#ifndef PLUMBLINE_MEASURE_COMMANDS_H
#define PLUMBLINE_MEASURE_COMMANDS_H

#include "data/base/command.h"

extern const struct command command_measure;

#endif
