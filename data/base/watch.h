// When a search has to end: a flag that a signal sets, and a time limit in seconds. How long a
// process keeps its processor.
#pragma once

#include <stdbool.h>

struct watch {
    const volatile int *stop; // NULL: none
    double limit_s, begin_s;  // limit 0: none
};

double clock_s(void); // monotonic

// This process and those it starts keep their processor for 100 ms at a time where others want it,
// too, and then wait for longer: fewer turns empty the caches less often. A request: kernels before
// Linux 6.12, and other systems, do not know it.
void watch_take_long_turns(void);

struct watch watch_begin(const volatile int *stop, double limit_s);
double watch_elapsed_s(const struct watch *w);
bool watch_is_over(const struct watch *w);
// Until the limit: 0 if there is none, otherwise more than 0, even after the limit.
double watch_left_s(const struct watch *w);
