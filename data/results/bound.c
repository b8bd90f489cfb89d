#include "data/results/bound.h"

#include <assert.h>

int64_t bound_stated(int64_t bound_ns, int64_t value_ns, int64_t parent_ns)
{
    assert(bound_ns >= 0 && value_ns >= 0);
    assert(value_ns == 0 || bound_ns <= value_ns);
    assert(bound_ns >= parent_ns);
    return bound_ns;
}
