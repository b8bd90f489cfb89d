// When a search has to end: a flag that a signal sets, and a limit of seconds.
#ifndef PLUMBLINE_DATA_BASE_WATCH_H
#define PLUMBLINE_DATA_BASE_WATCH_H

#include <stdbool.h>

struct watch {
    const volatile int *stop; // NULL: none
    double limit_s, begin_s;  // limit 0: none
};

double clock_s(void); // monotonic
struct watch watch_begin(const volatile int *stop, double limit_s);
double watch_elapsed_s(const struct watch *w);
bool watch_is_over(const struct watch *w);
// Of the limit: 0 where there is none, else more than 0 even behind it.
double watch_left_s(const struct watch *w);

#endif
