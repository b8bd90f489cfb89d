// The program vipr_check (tests/vipr_check.c): vipr_check FILE.vipr.
#pragma once

#include "data/base/command.h"

// Says what a VIPR file proves. Exit code 0: proven; 1: not; 2: not a file of this format.
extern const struct command command_vipr_check;
