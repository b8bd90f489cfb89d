// Properties of the machine that a process runs on, independent of what is measured.
#pragma once

#include "data/numbers/samples.h"

// host, processor, gpu (the processor's name), memory_bytes; threads is 1.
void host_describe(struct machine *machine, struct arena *arena);

// The load of the last minute, in processors; 0: unknown. Above `busy_load`, before anything is
// measured, the machine is considered busy with other work.
double host_load(void);
extern const double busy_load;

// Processes with equal texts and with times from clock_s() read the same clock. Empty:
// unknown.
const char *host_clock(struct arena *arena);

// The state of this machine's processors during measurement, where Linux reports it: clocks,
// temperature, throttling.

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

// SIGINT and SIGTERM during measurement: what was taken so far is kept and written. A second
// signal ends the program at once.

void interrupts_listen(void); // forgets earlier ones
bool interrupts_came(void);
void interrupts_ignore(void); // while the document is written: signals wait

// The memory of this process, as the system counts it.

// From the sums over the process's mappings, which are exact (statm lags behind); 0: not known.
int64_t pages_resident_bytes(void);
// Of the machine, without taking any from others; INT64_MAX: not known.
int64_t pages_available_bytes(void);
// Memory that the system has not handed out before, none of it resident yet; malloc could return a
// used piece. It ends by munmap. NULL: there is none.
char *pages_take(size_t bytes);
