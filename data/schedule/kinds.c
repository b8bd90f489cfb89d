// The names and properties of schedules, from their table. The generators' addresses are in
// turns.c: code that reads a property needs none of them.
#include "data/schedule/kinds.h"

#include <stddef.h>

#define NAME(constant, name, ...) name,
const char *const schedule_names[] = {SCHEDULE_KINDS(NAME) NULL};

#define PROPERTIES(constant, name, generator, ...) {__VA_ARGS__},
const struct schedule_properties schedule_kinds[] = {SCHEDULE_KINDS(PROPERTIES)};
