// A block's forward and backward pass in turn, without a rest, as in a training step: what power
// and heat leave of the clocks. Each turn is a repetition of both.
#ifndef PLUMBLINE_MEASURE_SAMPLING_SUSTAINED_H
#define PLUMBLINE_MEASURE_SAMPLING_SUSTAINED_H

#include "measure/sampling/backend.h"

// pairs[2 * pair_count]: forward and backward of a block each, prepared. For each pair `least_s`
// untimed, then as long again, at most TURNS_MOST turns; fewer after a signal. Fills the samples.
enum { TURNS_MOST = 512 };
enum status sustained_run(const struct backend *backend, void *session, struct cell *pairs,
                          int pair_count, double least_s, struct arena *arena, struct error *err);

#endif
