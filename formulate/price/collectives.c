// Collectives over a link: by the ring's volume and steps, or by a table of measured times where
// the costs have one for just these ranks. docs/FORMULAS.md section 2.
#include <math.h>
#include <string.h>

#include "formulate/price/pricing.h"

const struct collective_times *find_collective(const struct pricing *x, int group, real ranks,
                                               bool between_nodes, bool send)
{
    const struct costs *costs = &x->problem->costs;
    const char *gpu = x->problem->cluster.groups[group].gpu;
    for (int i = 0; i < costs->collective_count; i++) {
        const struct collective_times *t = &costs->collectives[i];
        if ((real)t->ranks == ranks && t->between_nodes == between_nodes && t->send == send &&
            !strcmp(t->gpu, gpu))
            return t;
    }
    return NULL;
}

static real segment_price_s(const struct collective_times *table, real bytes)
{
    const struct segment *s = table->segments;
    while (s + 1 < table->segments + table->segment_count && reaches(bytes, s[1].from_bytes)) s++;
    return s->seconds.value + (bytes - s->from_bytes) / s->bytes_per_s.value;
}

// Between two points a straight line of the logarithms.
real table_price_s(const struct collective_times *table, real bytes)
{
    int last = table->point_count - 1, at = 1;
    if (bytes <= 0) return 0;
    if (table->segment_count) return segment_price_s(table, bytes);
    if (bytes <= table->bytes[0]) return table->seconds[0];
    if (bytes >= table->bytes[last]) return bytes / table->bytes[last] * table->seconds[last];
    while (table->bytes[at] < bytes) at++;
    real share = logl(bytes / table->bytes[at - 1]) /
                 logl((real)table->bytes[at] / table->bytes[at - 1]);
    return table->seconds[at - 1] *
           expl(share * logl((real)table->seconds[at] / table->seconds[at - 1]));
}

real all_reduce_price_s(const struct link_price *link, real bytes, real ranks)
{
    if (ranks <= 1) return 0;
    if (link->table) return table_price_s(link->table, bytes);
    return 2 * (ranks - 1) / ranks * bytes / link->bytes_per_s + 2 * (ranks - 1) * link->latency_s;
}

// Bytes of gradient that the ranks of a mean pipeline rank send together: the message whose table
// entry stands for all.
static real mean_message(const struct pricing *x)
{
    const struct model *model = &x->problem->model;
    real bytes = 0;
    for (int i = 0; i < model->run_count; i++) {
        const struct layer_run *run = &model->runs[i];
        bool measured = run->kind == LAYER_MEASURED;
        bytes += run->count * (measured ? (real)run->measured.gradient_bytes
                                        : x->e_g * parameters_of(x, run).dense);
    }
    return bytes / x->p;
}

real scatter_s(const struct pricing *x, const struct link_price *link, real bytes, real ranks)
{
    if (ranks <= 1) return 0;
    if (!link->table) return (ranks - 1) / ranks * bytes / link->bytes_per_s;
    real message = mean_message(x), rings = link->rings > 1 ? link->rings : 1;
    return message > 0 ? bytes / message * rings * table_price_s(link->table, message) / 2 : 0;
}

real scatter_latency_s(const struct link_price *link, real ranks)
{
    return ranks <= 1 || link->table ? 0 : (ranks - 1) * link->latency_s;
}
