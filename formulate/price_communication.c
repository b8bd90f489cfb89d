// Collectives inside a layer's pass: tensor ranks, the ring of context ranks behind attention, experts' tokens, a memory
// layer's pool. docs/FORMULAS.md section 3.
#include <math.h>

#include "formulate/pricing.h"

// Keys and values travel the ring one message a step; a step shows only where it outlasts the attention it runs behind.
static double ring_s(const struct pricing *x, int group, const struct slice *slice, double messages, double attention_s)
{
    if (x->c <= 1) return 0;
    struct link_price link = link_of_context_ring(x, group);
    double step = messages * (2 * slice->tokens * (x->kv / x->t) * x->e / link.bytes_per_s + link.latency_s);
    return (x->c - 1) * fmax(0, step - x->problem->costs.context_overlap.value * attention_s / x->c);
}

// Dispatch and combine. What stays in the node goes beside what leaves it.
static double exchange_s(const struct pricing *x, int group, double routed)
{
    if (x->x <= 1) return 0;
    struct link_price link = link_of_experts(x, group);
    double near = link.intra ? 1 : fmax(1, floor(x->problem->cluster.groups[group].gpus_per_node / x->t));
    double bytes = routed / x->t * x->h * x->e * (x->x - near) / x->x;
    return 2 * (bytes / link.bytes_per_s + (x->x - 1) * link.latency_s);
}

static double pool_s(const struct pricing *x, const struct pool_shape *pool, int group, const struct slice *slice)
{
    if (x->D <= 1) return 0;
    struct link_price link = link_of_pool(x, group);
    double n = slice->tokens / x->t, found = 8 * n * (double)pool->heads * (double)pool->top_k, values = x->e * n * (double)pool->width;
    return (x->D - 1) * found / link.bytes_per_s + (x->D - 1) / x->D * values / link.bytes_per_s + 2 * (x->D - 1) * link.latency_s;
}

static double tensor_s(const struct pricing *x, const struct link_price *link, double bytes, double start_s)
{
    return x->t > 1 ? all_reduce_price_s(link, bytes, x->t) + start_s : 0;
}

void communication_of_layer(const struct pricing *x, const struct layer_run *run, int group, const struct slice *slice, double attention_s,
                            double *forward_s, double *backward_s)
{
    struct link_price tensor = link_of_tensor_ranks(x, group);
    double exposed = 1 - x->problem->costs.tensor_overlap.value, activation = slice->tokens * x->h * x->e;
    double start = x->gpus[group]->collective_launch_s.value, once = exposed * tensor_s(x, &tensor, activation, start);
    *forward_s = *backward_s = 0;
    if (run->kind == LAYER_EMBEDDING) {
        *forward_s = once;
    } else if (run->kind == LAYER_HEAD) {
        *forward_s = exposed * 3 * tensor_s(x, &tensor, 4 * slice->tokens, start);
        *backward_s = once;
    } else if (run->kind == LAYER_MEMORY) {
        *forward_s = *backward_s = once + pool_s(x, &run->pool, group, slice);
    } else {
        double both = 2 * once, beta = x->problem->job.layout.fused_attention ? 2.5 : 2;
        if (run->kind == LAYER_MOE) {
            double routed = (double)run->experts.top_k * fmax(1, run->experts.imbalance);
            both = once * (run->experts.shared_ffn > 0 ? 2 : 1) + exposed * tensor_s(x, &tensor, activation * routed, start) +
                   exchange_s(x, group, slice->tokens * routed);
        }
        *forward_s = both + ring_s(x, group, slice, 1, attention_s);
        *backward_s = both + ring_s(x, group, slice, 2, beta * attention_s);
    }
}
