// The command of this folder.
#pragma once

#include "data/base/command.h"

extern const struct command command_batch;
