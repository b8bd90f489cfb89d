// The commands of this folder, each in its own file.
#ifndef PLUMBLINE_CALIBRATE_COMMANDS_H
#define PLUMBLINE_CALIBRATE_COMMANDS_H

#include "data/base/options.h"
#include "data/inputs/costs.h"

command_function command_calibrate;
command_function command_validate;
command_function command_iterations; // calibrate --iterations
command_function command_products;   // calibrate --products

// Costs begin with those they were made from. Names these and the table that they were fitted to,
// which has this role.
void name_sources(struct costs *costs, const char *role, const char *path, const char *sha256,
                  const char *output, struct arena *arena);

#endif
