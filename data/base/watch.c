// The monotonic clock, and the time limits compared with it.
#define _DEFAULT_SOURCE // syscall
#include "data/base/watch.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

// What the system calls a runtime is, of ordinary processes, how long a turn lasts.
void watch_take_long_turns(void)
{
#ifdef SYS_sched_setattr
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } turns = {.size = sizeof turns, .runtime_ns = 100000000};
    if (sched_getscheduler(0) != SCHED_OTHER) return; // as somebody wanted it
    turns.nice = getpriority(PRIO_PROCESS, 0);
    (void)!syscall(SYS_sched_setattr, 0, &turns, 0);
#endif
}
