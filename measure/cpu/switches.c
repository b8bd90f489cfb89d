// The cost of a switch is the slope of time over switches, within cells: by least squares over all
// repetitions so far.
#include "measure/cpu/internal.h"

#include <math.h>
#include <sys/resource.h>

// Fewer tell nothing (in squares about the means); more than this share of a repetition is not due
// to switches.
static const double squares_min = 20, share_most = 0.1;

void switches_begin(struct switches *s, int cell_count, struct arena *arena)
{
    s->cells = TAKE(arena, cell_count, struct cell_switches);
}

long switches_now(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nivcsw;
}

double switches_take_out(struct switches *s, int cell, double seconds, double switches)
{
    struct cell_switches *c = &s->cells[cell];
    double beyond = switches - c->switches, longer = seconds - c->seconds;
    c->count++;
    c->switches += beyond / c->count, c->seconds += longer / c->count;
    s->squares += beyond * (switches - c->switches);
    s->products += beyond * (seconds - c->seconds);
    if (s->squares < squares_min) return seconds;
    double each_s = fmax(0, s->products / s->squares);
    return seconds - fmin(each_s * switches, share_most * seconds);
}
