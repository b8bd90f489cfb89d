// What every sub-command writes with its samples: when, where and how they were taken.
#ifndef PLUMBLINE_MEASURE_SAMPLING_RECORD_H
#define PLUMBLINE_MEASURE_SAMPLING_RECORD_H

#include "measure/sampling/cell.h"

const char *record_time(struct arena *arena); // now, UTC, ISO 8601
const char *record_command(int argc, char **argv,
                           struct arena *arena); // "plumbline measure compute --quick"

// One launch: host and time as in s->machine.
void record_launch(struct samples *s, int64_t seed, const char *command, struct arena *arena);

// Adds the cells' samples; those without a repetition are left out.
void record_cells(struct samples *s, const struct cell *cells, int cell_count, struct arena *arena);

#endif
