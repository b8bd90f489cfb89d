// The properties of schedules, from the judge's table.
#include "solve/judge/kinds/kinds.h"
#include "data/kinds/schedules.h"

#define PROPERTIES(constant, place, form, ...) [SCHEDULE_##constant] = {__VA_ARGS__},
const struct judged_properties judged_kinds[] = {JUDGED_KINDS(PROPERTIES)};
