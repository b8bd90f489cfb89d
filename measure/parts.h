// The parts of a transformer block on a CPU, in fp32: what cpu.c times. Every matrix is dense; in[] is only read, out[]
// only written by the caller's part. OpenBLAS runs inside each member of the team, one thread per call.
#ifndef PLUMBLINE_MEASURE_PARTS_H
#define PLUMBLINE_MEASURE_PARTS_H

#include "measure/backend.h"
#include "measure/team.h"

// Beyond it random scores leave the range of the exponential that softmax uses.
enum { HEAD_WIDTH_MAX = 1024 };

// How many floats a repetition reads and writes.
int64_t part_input_floats(const struct cell *cell, int threads);
int64_t part_output_floats(const struct cell *cell, int threads);

// One repetition. in[part_input_floats], out[part_output_floats].
void part_run(struct team *team, const struct cell *cell, const float *in, float *out);

#endif
