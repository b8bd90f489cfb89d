// One layer as the judge prices it (docs/FORMULAS.md, sections 3 to 5): durations, parameters, activations.
#include "solve/verify_price.h"

#include <assert.h>
#include <string.h>

// What one pass of a layer works through on one GPU.
struct work {
    long double linear_flop, attention_flop, memory_bytes;
    long double score_bytes;            // moved for scores and softmax, part of memory_bytes; run again by selective
    long double forward_collective_s, backward_collective_s;
};

static const struct layer_time *stated_time(const struct assay *a, int run, int group)
{
    const struct costs *c = &a->problem->costs;
    const struct layout *l = &a->problem->job.layout;
    for (int i = 0; i < c->layer_time_count; i++) {
        const struct layer_time *t = &c->layer_times[i];
        bool same_size =
            (t->tensor == 0 || t->tensor == l->tensor) && (t->micro_batch == 0 || t->micro_batch == l->micro_batch);
        if (same_size && !strcmp(t->run, a->problem->model.runs[run].name) &&
            !strcmp(t->gpu, a->problem->cluster.groups[group].gpu))
            return t;
    }
    return NULL;
}

static struct work block_work(const struct assay *a, int group)
{
    const struct shape *s = &a->problem->model.shape;
    const struct layout *l = &a->problem->job.layout;
    long double n = a->tokens, h = s->hidden, f = s->ffn, e = a->value_bytes, t = l->tensor, c = l->context,
                b = l->micro_batch;
    long double q = (long double)s->heads * s->head_width, kv = (long double)s->kv_heads * s->head_width,
                gates = s->gated_ffn ? 3 : 2;
    long double length = a->problem->job.sequence;
    struct work w = {0};
    w.linear_flop = 2 * n * (h * (q + 2 * kv) + q * h + gates * h * f) / t;
    w.attention_flop = 4 * b * length * (length / c) * q / t;
    if (l->fused_attention) w.attention_flop /= 2;
    else w.score_bytes = 6 * b * (s->heads / t) * length * (length / c) * e;
    w.memory_bytes = 10 * n * h * e * a->share + gates * n * f * e / t + w.score_bytes;
    struct joint link = judged_ring_link(a, group);
    long double reduces = 2 * judged_all_reduce_s(judged_tensor_link(a, group), n * h * e, l->tensor), ring = 0;
    if (l->context > 1) ring = (c - 1) * (2 * n * (kv / t) * e / link.bytes_per_s + link.latency_s);
    w.forward_collective_s = reduces + ring;
    w.backward_collective_s = reduces + 2 * ring;
    return w;
}

static struct work end_work(const struct assay *a, int group, enum layer_kind kind)
{
    const struct shape *s = &a->problem->model.shape;
    int tensor = a->problem->job.layout.tensor;
    long double n = a->tokens, unsharded = n * s->hidden * a->value_bytes;
    struct joint link = judged_tensor_link(a, group);
    struct work w = {.memory_bytes = 2 * unsharded * a->share};
    if (kind == LAYER_EMBEDDING) {
        w.forward_collective_s = judged_all_reduce_s(link, unsharded, tensor);
        return w;
    }
    w.linear_flop = 2 * n * s->hidden * s->vocabulary / tensor;
    w.memory_bytes += 12 * n * s->vocabulary / tensor;
    w.forward_collective_s = 3 * judged_all_reduce_s(link, 4 * n, tensor);
    w.backward_collective_s = judged_all_reduce_s(link, unsharded, tensor);
    return w;
}

struct layer_weight layer_weight_of(const struct assay *a, int run)
{
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden, f = s->ffn, t = a->problem->job.layout.tensor, table = (long double)s->vocabulary * h;
    long double q = (long double)s->heads * s->head_width, kv = (long double)s->kv_heads * s->head_width,
                gates = s->gated_ffn ? 3 : 2;
    long double norm = s->rms_norm ? h : 2 * h, sharded = 0, unsharded = 0;
    switch (a->problem->model.runs[run].kind) {
    case LAYER_EMBEDDING:
        sharded = table;
        unsharded = (long double)s->positions * h;
        break;
    case LAYER_HEAD:
        sharded = s->tied_embeddings && a->pipeline == 1 ? 0 : table;
        unsharded = norm;
        break;
    case LAYER_BLOCK:
        sharded = h * (q + 2 * kv) + q * h + gates * h * f;
        if (s->qkv_bias) sharded += q + 2 * kv;
        if (s->linear_bias) sharded += (gates - 1) * f;
        unsharded = 2 * norm + (s->linear_bias ? 2 * h : 0);
        break;
    case LAYER_MEASURED: case LAYER_MOE: case LAYER_MEMORY: assert(!"a layer without these parameters"); break;
    }
    return (struct layer_weight){sharded / t, unsharded};
}

// Weights, gradients and optimizer state before rounding; the optimizer's time follows from them.
static void state_bytes(const struct assay *a, int run, long double bytes[3])
{
    const struct job *j = &a->problem->job;
    struct layer_weight w = layer_weight_of(a, run);
    long double values = w.sharded + w.whole;
    bytes[0] = a->value_bytes * values;
    bytes[1] = j->gradient_bytes_per_value * values;
    bytes[2] = j->adam ? (j->precision == FP32 ? 8 : 12) * values : 0;
    if (j->layout.zero == 1) bytes[2] /= (long double)a->ranks;
}

long double optimizer_unrounded_ns(const struct assay *a, int run, int group)
{
    const struct layer_time *stated = stated_time(a, run, group);
    if (stated) return stated->optimizer_s * 1e9L;
    long double states[3];
    state_bytes(a, run, states);
    return (2 * states[2] + states[1] + states[0]) /
           costs_find_gpu(&a->problem->costs, a->problem->cluster.groups[group].gpu)->memory_bytes_per_s.value * 1e9L;
}

struct layer_duration layer_duration_of(const struct assay *a, int run, int group, int slice)
{
    (void)slice;
    const struct layer_time *stated = stated_time(a, run, group);
    if (stated)
        return (struct layer_duration){judged_nanoseconds(stated->forward_s), judged_nanoseconds(stated->backward_s), 0,
                                       judged_nanoseconds(stated->selective_s), judged_nanoseconds(stated->full_s),
                                       judged_whole(optimizer_unrounded_ns(a, run, group))};
    const struct job *j = &a->problem->job;
    const struct gpu_costs *gpu = costs_find_gpu(&a->problem->costs, a->problem->cluster.groups[group].gpu);
    const struct precision_costs *rates = gpu ? costs_find_precision(gpu, j->precision) : NULL;
    enum layer_kind kind = a->problem->model.runs[run].kind;
    assert(rates && kind != LAYER_MEASURED);
    struct work w = kind == LAYER_BLOCK ? block_work(a, group) : end_work(a, group, kind);
    long double linear = w.linear_flop / rates->gemm_flop_per_s.value,
                attention = w.attention_flop / rates->attention_flop_per_s.value;
    long double memory = w.memory_bytes / gpu->memory_bytes_per_s.value, overhead = kind == LAYER_EMBEDDING ? 0 : gpu->layer_overhead_s.value;
    long double forward = linear + attention + memory + overhead + w.forward_collective_s;
    long double again = j->layout.fused_attention ? 2.5L : 2;
    struct layer_duration d = {.forward_ns = judged_nanoseconds(forward)};
    d.backward_ns =
        judged_nanoseconds(2 * linear + again * attention + 2 * memory + overhead + w.backward_collective_s);
    if (kind == LAYER_BLOCK) {
        d.selective_ns = judged_nanoseconds(attention + w.score_bytes / gpu->memory_bytes_per_s.value);
        d.full_ns = judged_nanoseconds(forward);
    }
    d.optimizer_ns = judged_whole(optimizer_unrounded_ns(a, run, group));
    return d;
}

static struct layer_bytes measured_bytes_of(const struct measured_bytes *m)
{
    struct layer_bytes b = {m->weight_bytes, m->gradient_bytes, m->optimizer_bytes, {0}, {0}, m->boundary_bytes};
    for (int i = 0; i < 3; i++) {
        b.stash[i] = m->stash_bytes[i];
        b.working[i] = m->working_bytes[i];
    }
    return b;
}

static void block_activations(const struct assay *a, struct layer_bytes *b)
{
    const struct shape *s = &a->problem->model.shape;
    const struct layout *l = &a->problem->job.layout;
    long double n = a->tokens, h = s->hidden, e = a->value_bytes, masks = s->dropout ? 2 : 0;
    long double q = (long double)s->heads * s->head_width, kv = (long double)s->kv_heads * s->head_width;
    long double scores = 0;
    if (!l->fused_attention)
        scores = (s->dropout ? 5 : 2) * (long double)s->heads * (long double)a->problem->job.sequence * n;
    long double kept = n * (2 * q + 2 * (q + 2 * kv) + (s->gated_ffn ? 8 : 4) * (long double)s->ffn);
    long double stash[3];
    stash[RECOMPUTE_SELECTIVE] = n * h * a->share * (8 + masks) * e / 2 + kept * e / 2 / l->tensor;
    stash[RECOMPUTE_NONE] = stash[RECOMPUTE_SELECTIVE] + scores * e / 2 / l->tensor;
    stash[RECOMPUTE_FULL] = e * n * h * a->share;
    long double gradients = e * n * h * a->share + e * n * (s->gated_ffn ? 8 : 4) * (long double)s->ffn / l->tensor;
    if (!l->fused_attention)
        gradients += 4 * l->micro_batch * ((long double)s->heads / l->tensor) * (long double)a->problem->job.sequence *
                     ((long double)a->problem->job.sequence / l->context) * e / 2;
    if (l->context > 1) gradients += 4 * n * (kv / l->tensor) * e;
    const long double again[3] = {0, scores * e / 2 / l->tensor, stash[RECOMPUTE_NONE]};
    for (int i = 0; i < 3; i++) {
        b->stash[i] = judged_whole(stash[i]);
        b->working[i] = judged_whole(gradients + again[i]);
    }
}

struct layer_bytes layer_bytes_of(const struct assay *a, int run)
{
    const struct layer_run *r = &a->problem->model.runs[run];
    if (r->kind == LAYER_MEASURED) return measured_bytes_of(&r->measured);
    const struct shape *s = &a->problem->model.shape;
    long double states[3], n = a->tokens, e = a->value_bytes, unsharded = n * s->hidden * a->share;
    state_bytes(a, run, states);
    struct layer_bytes b = {judged_whole(states[0]),    judged_whole(states[1]), judged_whole(states[2]), {0}, {0},
                            judged_whole(e * unsharded)};
    if (r->kind == LAYER_BLOCK) {
        block_activations(a, &b);
        return b;
    }
    const struct job *j = &a->problem->job;
    long double logits = n * s->vocabulary / j->layout.tensor, input = 2 * e * unsharded;
    bool at_once = j->layout.schedule == SCHEDULE_1F1B || j->layout.schedule == SCHEDULE_INTERLEAVED;
    long double kept = at_once ? 0 : input + 4 * logits, whole = (j->precision == FP32 ? 4 : e + 4) * logits + input;
    for (int i = 0; i < 3; i++) {
        b.stash[i] = r->kind == LAYER_HEAD ? judged_whole(kept) : s->dropout ? judged_whole(unsharded * e / 2) : 0;
        b.working[i] = r->kind == LAYER_HEAD ? judged_whole(whole - kept) : 0;
    }
    return b;
}
