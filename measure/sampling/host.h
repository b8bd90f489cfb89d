// What is known of the machine that a process runs on, whatever is measured on it.
#ifndef PLUMBLINE_MEASURE_SAMPLING_HOST_H
#define PLUMBLINE_MEASURE_SAMPLING_HOST_H

#include "data/inputs/samples.h"

// host, processor, gpu (the processor's name), memory_bytes; threads is 1.
void host_describe(struct machine *machine, struct arena *arena);

// Processes that get the same text here and are told times by clock_seconds() read the same clock.
// Empty: not known.
const char *host_clock(struct arena *arena);

#endif
