// The timed parts on a CPU, in fp32, which cpu.c times. in[] is only read; out[] is written, or
// updated where training does so (gradients of weights, the optimizer's state). OpenBLAS runs
// inside each member of the team, one thread per call.
#ifndef PLUMBLINE_MEASURE_CPU_INTERNAL_H
#define PLUMBLINE_MEASURE_CPU_INTERNAL_H

#include "measure/sampling/backend.h"
#include "measure/sampling/team.h"

// The number of floats that a repetition reads, and writes.
int64_t part_input_floats(const struct cell *cell, int threads);
int64_t part_output_floats(const struct cell *cell, int threads);

// One repetition. in[part_input_floats], out[part_output_floats].
void part_run(struct team *team, const struct cell *cell, const float *in, float *out);

#endif
