// The monotonic clock, and the time limits compared with it.
#include "data/base/watch.h"

#include <stddef.h>
#include <time.h>

double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct watch watch_begin(const volatile int *stop, double limit_s)
{
    return (struct watch){stop, limit_s, clock_s()};
}

double watch_elapsed_s(const struct watch *w) { return clock_s() - w->begin_s; }

double watch_left_s(const struct watch *w)
{
    static const double least_s = 1e-3;
    double left_s = w->limit_s - watch_elapsed_s(w);
    return w->limit_s <= 0 ? 0 : left_s > least_s ? left_s : least_s;
}

bool watch_is_over(const struct watch *w)
{
    return (w->stop && *w->stop) || (w->limit_s > 0 && watch_elapsed_s(w) > w->limit_s);
}
