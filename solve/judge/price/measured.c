// All-reduces whose times were measured, as gradient syncs take them (docs/FORMULAS.md, section 7).
#include "data/base/least.h"
#include "solve/judge/price/passes.h"

const long double judged_long_bytes = 0x1p29L;

// Each layer's messages are its own.
static bool by_layer(const struct price_audit *a)
{
    return a->problem->job.trainer == TRAINER_TORCHTITAN;
}

long double judged_sent_at_once(const struct price_audit *a, long double layer)
{
    long double wide = a->problem->job.gradient_bytes_per_value;
    if (by_layer(a)) return layer;
    if (a->problem->job.trainer == TRAINER_DEEPSPEED) return wide * 500e6L;
    return a->overlapped ? wide * 1e6L * larger(40, a->ranks) : judged_long_bytes;
}

bool judged_half_measured(const struct price_audit *a, int group, struct joint link, int64_t ranks,
                          long double bytes, struct computed *half)
{
    const struct collective_times *table = judged_table(a, group, link, ranks, false);
    long double rings = table ? (long double)link.rings : 1;
    if (!table && !judged_by_nodes(a, group, link)) return false;
    if (!(bytes > 0)) bytes = by_layer(a) ? 0 : 1, link.nodes = 1;
    *half = (struct computed){0, 0};
    if (!(bytes > 0)) return true;
    struct computed all = table ? judged_table_s(a, table, bytes)
                                : judged_nodes_s(a, group, link, bytes, ranks);
    *half = (struct computed){rings * all.value / 2, rings * all.lost / 2};
    return true;
}
