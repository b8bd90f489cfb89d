// Properties of the machine that a process runs on, independent of what is measured.
#ifndef PLUMBLINE_MEASURE_SAMPLING_HOST_H
#define PLUMBLINE_MEASURE_SAMPLING_HOST_H

#include "data/inputs/samples.h"

// host, processor, gpu (the processor's name), memory_bytes; threads is 1.
void host_describe(struct machine *machine, struct arena *arena);

// Processes with equal texts and with times from clock_seconds() read the same clock. Empty:
// unknown.
const char *host_clock(struct arena *arena);

#endif
