// Time of one layer on one device of a node group: measured outright where the costs hold it, else FLOP and bytes over the
// rates the costs give, with the collectives of tensor and context parallelism. docs/FORMULAS.md section 3.
#include <string.h>

#include "formulate/pricing.h"

struct layer_seconds { double forward, backward, selective, full, optimizer; };

static bool fits(int64_t measured_at, int asked) { return !measured_at || measured_at == asked; }

const struct layer_time *find_layer_time(const struct pricing *x, const char *run, const char *gpu)
{
    const struct costs *costs = &x->problem->costs;
    const struct layout *layout = &x->problem->job.layout;
    for (int i = 0; i < costs->layer_time_count; i++) {
        const struct layer_time *l = &costs->layer_times[i];
        if (!strcmp(l->run, run) && !strcmp(l->gpu, gpu) && fits(l->tensor, layout->tensor) &&
            fits(l->micro_batch, layout->micro_batch))
            return l;
    }
    return NULL;
}

// One pass forward: linear and attention FLOP, bytes of what memory bounds, and of those the scores' share.
struct work { double linear_flop, attention_flop, memory_bytes, score_bytes; };

static struct work work_of(const struct pricing *x, enum layer_kind kind)
{
    struct work work = {0, 0, 0, 0};
    bool fused = x->problem->job.layout.fused_attention;
    if (kind == LAYER_BLOCK) {
        work.linear_flop = 2 * x->n * (x->h * (x->q + 2 * x->kv) + x->q * x->h + x->g * x->h * x->f) / x->t;
        work.attention_flop = 4 * x->b * x->s * (x->s / x->c) * x->q / x->t / (fused ? 2 : 1);
        work.score_bytes = fused ? 0 : 6 * x->b * (x->a / x->t) * x->s * (x->s / x->c) * x->e;
        work.memory_bytes = 10 * x->n * x->h * x->e * x->u + x->g * x->n * x->f * x->e / x->t + work.score_bytes;
    } else {
        work.memory_bytes = 2 * x->n * x->h * x->e * x->u;
        if (kind == LAYER_HEAD) {
            work.linear_flop = 2 * x->n * x->h * x->v / x->t;
            work.memory_bytes += 12 * x->n * x->v / x->t;
        }
    }
    return work;
}

// Keys and values travel the ring of context ranks, one message a step.
static double context_ring_s(const struct pricing *x, const struct link_price *link)
{
    if (x->c <= 1) return 0;
    return (x->c - 1) * (2 * x->n * (x->kv / x->t) * x->e / link->bytes_per_s + link->latency_s);
}

static void add_collectives(const struct pricing *x, enum layer_kind kind, int group, struct layer_seconds *seconds)
{
    struct link_price tensor = link_of_tensor_ranks(x, group), context = link_of_context_ring(x, group);
    double activation = x->n * x->h * x->e;
    if (kind == LAYER_BLOCK) {
        double both = 2 * all_reduce_price_s(&tensor, activation, x->t), ring = context_ring_s(x, &context);
        seconds->forward += both + ring;
        seconds->backward += both + 2 * ring;
    } else if (kind == LAYER_EMBEDDING) {
        seconds->forward += all_reduce_price_s(&tensor, activation, x->t);
    } else {
        seconds->forward += 3 * all_reduce_price_s(&tensor, 4 * x->n, x->t);
        seconds->backward += all_reduce_price_s(&tensor, activation, x->t);
    }
}

static struct layer_seconds seconds_by_formula(const struct pricing *x, const struct layer_run *run, int group)
{
    const struct gpu_costs *gpu = costs_find_gpu(&x->problem->costs, x->problem->cluster.groups[group].gpu);
    const struct precision_costs *rates = costs_find_precision(gpu, x->problem->job.precision);
    double gemm = rates->gemm_flop_per_s.value, attention = rates->attention_flop_per_s.value,
           memory = gpu->memory_bytes_per_s.value;
    double overhead = gpu->layer_overhead_s.value, beta = x->problem->job.layout.fused_attention ? 2.5 : 2;
    struct work work = work_of(x, run->kind);
    struct layer_bytes bytes = bytes_of_layer(x, run);
    struct layer_seconds seconds = {
        .forward = work.linear_flop / gemm + work.attention_flop / attention + work.memory_bytes / memory + overhead,
        .backward = 2 * work.linear_flop / gemm + beta * work.attention_flop / attention +
                    2 * work.memory_bytes / memory + overhead,
        .optimizer = (2 * bytes.optimizer + bytes.gradient + bytes.weight) / memory,
    };
    add_collectives(x, run->kind, group, &seconds);
    if (run->kind == LAYER_BLOCK) {
        seconds.selective = work.attention_flop / attention + work.score_bytes / memory;
        seconds.full = seconds.forward;
    }
    return seconds;
}

// What an error calls these terms. Pricing thousands of configurations must not write it thousands of times: it is put
// together only where a term will be refused.
static const char *name_of_terms(const struct pricing *x, const struct layer_run *run, const struct node_group *nodes,
                                 const struct layer_seconds *s)
{
    bool counted = s->forward + s->backward + s->selective + s->full + s->optimizer < 1e6;
    return counted ? run->name : arena_print(x->arena, "run %s on group %s", run->name, nodes->name);
}

enum status price_layer_times(struct pricing *x, int run, int group, struct error *err)
{
    const struct layer_run *layers = &x->problem->model.runs[run];
    const struct node_group *nodes = &x->problem->cluster.groups[group];
    const struct layer_time *measured = find_layer_time(x, layers->name, nodes->gpu);
    struct layer_seconds seconds;
    if (measured)
        seconds = (struct layer_seconds){measured->forward_s, measured->backward_s, measured->selective_s,
                                         measured->full_s, measured->optimizer_s};
    else seconds = seconds_by_formula(x, layers, group);
    struct priced_run *to = &x->priced->runs[run];
    const char *of = name_of_terms(x, layers, nodes, &seconds);
    TRY(round_time(&to->forward_ns[group], seconds.forward, "forward time", of, err));
    TRY(round_time(&to->backward_ns[group], seconds.backward, "backward time", of, err));
    TRY(round_time(&to->selective_ns[group], seconds.selective, "selective recomputation time", of, err));
    TRY(round_time(&to->full_ns[group], seconds.full, "full recomputation time", of, err));
    return round_time(&to->optimizer_ns[group], seconds.optimizer, "optimizer time", of, err);
}
