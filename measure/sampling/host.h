// Properties of the machine that a process runs on, independent of what is measured.
#ifndef PLUMBLINE_MEASURE_SAMPLING_HOST_H
#define PLUMBLINE_MEASURE_SAMPLING_HOST_H

#include "data/numbers/samples.h"

// host, processor, gpu (the processor's name), memory_bytes; threads is 1.
void host_describe(struct machine *machine, struct arena *arena);

// The load of the last minute, in processors; 0: unknown. Above `busy_load`, before anything is
// measured, the machine is considered busy with other work.
double host_load(void);
extern const double busy_load;

// Processes with equal texts and with times from clock_seconds() read the same clock. Empty:
// unknown.
const char *host_clock(struct arena *arena);

#endif
