// Plans of different layouts are compared by their value: the iteration time; for the objective
// cost, devices x time; for max_load, micro-batches x the greatest load (docs/FORMULAS.md 17 and
// 18). A limit of time or price is a longest time of each layout's plans.
#include "data/base/least.h"
#include "solve/checker/space/space.h"

static int64_t devices_of(const struct check_layout *l)
{
    return (int64_t)l->value[KEY_TENSOR] * l->value[KEY_CONTEXT] * l->value[KEY_PIPELINE] *
           l->value[KEY_DATA];
}

int64_t check_weight(const struct check_space *s, const struct check_layout *l)
{
    if (s->objective == MINIMISE_COST) return devices_of(l);
    if (s->objective != MINIMISE_LOAD) return 1;
    return s->global_batch / ((int64_t)l->value[KEY_DATA] * l->value[KEY_MICRO_BATCH]);
}

int64_t check_cap_ns(const struct check_space *s, const struct check_layout *l)
{
    if (s->limit_device_ns == INT64_MAX) return s->limit_ns;
    return smaller(s->limit_ns, s->limit_device_ns / devices_of(l));
}

int64_t check_goal_ns(const struct check_space *s, const struct check_layout *l, int64_t bound_ns)
{
    int64_t cap_ns = check_cap_ns(s, l), weight = check_weight(s, l);
    if (bound_ns < 0) return cap_ns == INT64_MAX ? -1 : cap_ns + 1;
    if (weight < 1) return -1; // more sequences at once than there are: it is refused
    int64_t goal_ns = bound_ns / weight + (bound_ns % weight > 0);
    return cap_ns < goal_ns ? cap_ns + 1 : goal_ns;
}
