// The state of this machine's processors during measurement, where Linux reports it: clocks,
// temperature, throttling.
#ifndef PLUMBLINE_MEASURE_SAMPLING_HOST_CONDITION_H
#define PLUMBLINE_MEASURE_SAMPLING_HOST_CONDITION_H

#include "data/numbers/samples.h"

enum { CONDITION_CPUS_MAX = 8 };

struct host_condition {
    const char *clocks[CONDITION_CPUS_MAX],
        *throttles[CONDITION_CPUS_MAX]; // files; of some processors, evenly spread
    int clock_count, throttle_count;
    const char *heat;  // file; NULL: none
    int64_t throttled; // events at the last reading
};

// `root` is "/sys" except in tests.
void host_condition_open(struct host_condition *c, const char *root, struct arena *arena);
// false: the system reports nothing. slowdown: NVML's bit for heat if a processor was throttled
// since the last reading.
bool host_condition_read(struct host_condition *c, struct condition *now);

#endif
