// The names and properties of schedules, from their table. The generators' addresses are in
// data/schedule/turns.c: code that reads a property needs none of them.
#include "data/kinds/schedules.h"

#include <stddef.h>

#define NAME(constant, name, ...) name,
const char *const schedule_names[] = {SCHEDULE_KINDS(NAME) NULL};

#define PROPERTIES(constant, name, generator, ...) {__VA_ARGS__},
const struct schedule_properties schedule_kinds[] = {SCHEDULE_KINDS(PROPERTIES)};

int schedule_group(int micro_batches, int ranks)
{
    int group = ranks;
    while (group < micro_batches && micro_batches % group) group++;
    return group;
}
