// The timed parts on a CPU, in fp32, which cpu.c times. in[] is only read; out[] is written, or
// updated where training does so (gradients of weights, the optimizer's state). OpenBLAS runs
// inside each member of the team, one thread per call.
#ifndef PLUMBLINE_MEASURE_CPU_INTERNAL_H
#define PLUMBLINE_MEASURE_CPU_INTERNAL_H

#include "measure/sampling/backend.h"
#include "measure/sampling/team.h"

// The numbers of floats that a repetition reads from one area and writes to another.
struct part_size {
    int64_t in, out;
};
struct part_size part_size(const struct cell *cell, int threads);

// One repetition. in[part_size().in], out[part_size().out].
void part_run(struct team *team, const struct cell *cell, const float *in, float *out);

#endif
