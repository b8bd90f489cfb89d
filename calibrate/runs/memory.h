// The allocator's factor by likelihood, from the runs of a set (calibrate/fit/factor.h).
#ifndef PLUMBLINE_CALIBRATE_RUNS_MEMORY_H
#define PLUMBLINE_CALIBRATE_RUNS_MEMORY_H

#include "calibrate/runs/iterations.h"

// Uses rows of metric oom, measured peaks and, if a file has none of these, its timed rows, which
// ran. Leaves the factor in the predictor's costs. BAD_INPUT as factor_fit.
enum status fit_memory(struct iterations_fit *fit, struct predictor *p, const struct run_set *set,
                       const bool *take, struct arena *arena, struct error *err);

// Whether a run proves that it ran: in a file with measured peaks, those runs do; otherwise all
// timed ones.
bool file_has_peaks(const struct run_set *set, int file);
bool run_ran(const struct run *run, bool file_has_peaks);

#endif
