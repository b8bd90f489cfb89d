// The order and the number of repetitions: rounds over all cells in random order, so that a drift of the machine falls
// on every cell alike, until each median is known well enough or the time is spent.
#ifndef PLUMBLINE_MEASURE_ROUNDS_H
#define PLUMBLINE_MEASURE_ROUNDS_H

#include "measure/backend.h"

struct rounds_settings {
    double budget_s;            // from `begin_s` on; the least number of repetitions is taken in any case
    double begin_s;
    double width;               // (high - low) / median of the 95 % rank interval that is narrow enough
    int repetitions_min, repetitions_max, warm_ups;
    uint64_t seed;
    bool progress;              // a line on stderr that is written over
};

struct rounds_result {
    int done, repetitions;      // cells that are narrow enough; repetitions of all cells
    double elapsed_s;
};

// Fills every cell's sample.seconds, repetitions, warm_ups and stopped_by.
void rounds_run(struct rounds_result *result, const struct backend *backend, void *session, struct cell *cells,
                int cell_count, const struct rounds_settings *settings, struct arena *arena);

double clock_seconds(void);     // monotonic

#endif
