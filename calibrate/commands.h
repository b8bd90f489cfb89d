// The commands of this folder, each in its own file.
#pragma once

#include "data/base/command.h"
#include "data/inputs/costs.h"

extern const struct command command_calibrate, command_validate;
extern const struct command calibrate_iterations, calibrate_products; // its variants

// Costs begin with those they were made from. Names these and the table that they were fitted to,
// which has this role.
void name_sources(struct costs *costs, const char *role, const char *path, const char *sha256,
                  const char *output, struct arena *arena);
