// Asserts what must hold for every bound that is published.
#include "data/results/bound.h"

#include <assert.h>

int64_t bound_stated(int64_t bound_ns, int64_t value_ns, int64_t parent_ns)
{
    assert(bound_ns >= 0 && value_ns >= 0);
    assert(value_ns == 0 || bound_ns <= value_ns);
    assert(bound_ns >= parent_ns);
    return bound_ns;
}

int64_t bound_closing(int64_t best_ns, double gap, int64_t cutoff_ns)
{
    // Without a plan only what has none is closed, whatever the gap.
    int64_t closing = best_ns < NEVER_NS ? best_ns - (int64_t)(gap * (double)best_ns) : NEVER_NS;
    return cutoff_ns > 0 && cutoff_ns < closing ? cutoff_ns : closing;
}
