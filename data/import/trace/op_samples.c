// Operators of one trace as samples: those of the same kind, size and precision are repetitions of
// one sample.
#include "data/import/trace/ranges.h"

#include <stdlib.h>
#include <string.h>

enum { REPETITIONS_MOST = 1000000, SAMPLES_MOST = 1 << 20 };

static int compare_external(const void *a, const void *b)
{
    const struct trace_op *x = a, *y = b;
    return (x->external > y->external) - (x->external < y->external);
}

static int compare_ops(const void *a, const void *b)
{
    const struct trace_op *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = strcmp(x->operation, y->operation);
    if (order) return order;
    if (x->precision != y->precision) return x->precision < y->precision ? -1 : 1;
    for (int i = 0; i < 4; i++)
        if (x->dimensions[i] != y->dimensions[i])
            return x->dimensions[i] < y->dimensions[i] ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->stride != y->stride) return x->stride < y->stride ? -1 : 1;
    return (x->flop > y->flop) - (x->flop < y->flop); // causal or not
}

// The device's time of each operator; the host's if there is no work on a device.
static void add_times(struct trace *t)
{
    struct trace_ops *ops = &t->ops;
    qsort(ops->items, (size_t)ops->count, sizeof *ops->items, compare_external);
    for (int i = 0; i < ops->count && !t->work_count; i++)
        ops->items[i].seconds = ops->items[i].host_s;
    for (int i = 0; i < t->work_count; i++) {
        struct trace_op key = {.external = t->work[i].external}, *op = NULL;
        if (key.external)
            op = bsearch(&key, ops->items, (size_t)ops->count, sizeof key, compare_external);
        if (op) op->seconds += t->work[i].seconds;
    }
}

static int endpoint_of(struct samples *s, int rank, int gpus_per_node, struct arena *arena)
{
    const char *name = arena_print(arena, "rank %d", rank);
    for (int i = 0; i < s->endpoint_count; i++)
        if (!strcmp(s->endpoints[i].name, name)) return i;
    s->endpoints[s->endpoint_count] =
        (struct endpoint){.name = name,
                          .host = arena_print(arena, "node %d", rank / gpus_per_node),
                          .device = rank % gpus_per_node,
                          .clock = -1};
    return s->endpoint_count++;
}

static void put_members(struct samples *s, struct sample *to, const struct trace_op *op,
                        int gpus_per_node, struct arena *arena)
{
    to->member_count = (int)op->dimensions[1];
    to->members = TAKE(arena, to->member_count, int);
    s->endpoints = arena_grow(arena, s->endpoints, (size_t)s->endpoint_count,
                              (size_t)(s->endpoint_count + to->member_count), sizeof *s->endpoints);
    for (int i = 0; i < to->member_count; i++)
        to->members[i] = endpoint_of(s, op->rank + i * op->stride, gpus_per_node, arena);
}

static int dimension_count(const struct trace_op *op)
{
    return op->kind == SAMPLE_GEMM || op->kind == SAMPLE_ATTENTION ? 3
           : op->kind == SAMPLE_COLLECTIVE                         ? 2
                                                                   : 1;
}

static void put_sample(struct samples *s, const struct trace_op *ops, int count, int gpus_per_node,
                       struct arena *arena)
{
    struct sample *to = &s->samples[s->sample_count++];
    *to = (struct sample){.kind = ops->kind,
                          .operation = ops->operation,
                          .dimension_count = dimension_count(ops),
                          .precision = ops->precision,
                          .flop = ops->flop,
                          .bytes = ops->bytes,
                          .from = -1,
                          .to = -1,
                          .seconds = TAKE(arena, count, double),
                          .stopped_by = "imported"};
    memcpy(to->dimensions, ops->dimensions, sizeof to->dimensions);
    for (int i = 0; i < count && to->repetitions < REPETITIONS_MOST; i++)
        if (ops[i].seconds > 0) to->seconds[to->repetitions++] = ops[i].seconds;
    if (ops->kind == SAMPLE_COLLECTIVE) put_members(s, to, ops, gpus_per_node, arena);
}

int trace_op_samples(struct samples *s, struct trace *t, int gpus_per_node, struct arena *arena)
{
    struct trace_ops *ops = &t->ops;
    int without_time = 0;
    if (!ops->count) return 0;
    add_times(t);
    qsort(ops->items, (size_t)ops->count, sizeof *ops->items, compare_ops);
    s->samples = TAKE(arena, ops->count, struct sample);
    for (int i = 0, end; i < ops->count; i = end) {
        bool any = false;
        for (end = i; end < ops->count && !compare_ops(&ops->items[i], &ops->items[end]); end++) {
            any |= ops->items[end].seconds > 0;
            without_time += !(ops->items[end].seconds > 0);
        }
        if (any && s->sample_count < SAMPLES_MOST)
            put_sample(s, &ops->items[i], end - i, gpus_per_node, arena);
    }
    return without_time;
}
