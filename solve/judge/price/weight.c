// Bytes on a device for one layer, as the judge counts them (docs/FORMULAS.md, section 4): values
// and states, and the time of the optimizer's step, which follows from them.
#include "solve/judge/price/passes.h"

long double matrix_values(const struct price_audit *a, long double ffn)
{
    long double h = a->problem->model.shape.hidden;
    return h * (a->query + 2 * a->key) + a->query * h + a->gates * h * ffn;
}

int judged_adapters(const struct price_audit *a, const struct layer_run *r, struct adapted *to)
{
    const struct shape *s = &a->problem->model.shape;
    const long double q = a->query, k = a->key, f = s->ffn;
    const struct adapted each[ADAPTER_MODULE_COUNT] = {
        [ADAPTER_QUERY] = {true, false, q},   [ADAPTER_KEY] = {true, false, k},
        [ADAPTER_VALUE] = {true, false, k},   [ADAPTER_QKV] = {true, false, q + k + k},
        [ADAPTER_OUTPUT] = {false, false, q}, [ADAPTER_GATE] = {true, true, f},
        [ADAPTER_UP] = {true, true, f},       [ADAPTER_GATE_UP] = {true, true, f + f},
        [ADAPTER_DOWN] = {false, true, f},
    };
    int count = 0;
    for (int m = 0; m < ADAPTER_MODULE_COUNT; m++)
        if (run_adapts(r, s, (enum adapter_module)m)) to[count++] = each[m];
    return count;
}

// Values by kind; `whole` ones are on every tensor rank.

struct values {
    long double matrices, sharded, whole, experts, pool;
}; // sharded: other than the matrices of a block

static struct values layered_values(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    const struct shape *s = &a->problem->model.shape;
    const struct expert_shape *e = &r->experts;
    struct judged_matrix m[ATTENTION_MATRICES_MAX];
    struct judged_attention y = judged_attention(a, run);
    long double h = s->hidden, t = a->outer * a->inner, ffn = shared_width(a, r),
                norm = s->plain_norms ? 0
                       : s->rms_norm  ? h
                                      : 2 * h;
    struct values v = {.matrices = a->gates * h * ffn,
                       .sharded = y.vectors_split + (r->mtp ? 2 * h * h : 0),
                       .whole = y.vectors_whole + judged_norms(a, r) * norm};
    for (int i = judged_matrices(a, run, m) - 1; i >= 0; i--)
        if (m[i].whole) v.whole += m[i].inputs * m[i].outputs;
        else v.matrices += t * m[i].inputs * m[i].outputs;
    if (s->linear_bias && !r->no_feed_forward) v.sharded += (a->gates - 1) * ffn, v.whole += h;
    if (r->kind != LAYER_MOE) return v;
    v.whole += h * (e->shared_gate ? e->experts + 1 : e->experts);
    v.experts = a->gates * judged_expert_reads(a, r) * e->ffn * e->experts /
                ((long double)layout_of(a)->expert * (long double)a->expert_parts);
    return v;
}

long double half_keys(const struct pool_shape *p)
{
    return floorl(sqrtl((long double)p->values) + 0.5L);
}

static struct values memory_values(const struct price_audit *a, const struct layer_run *r)
{
    const struct shape *s = &a->problem->model.shape;
    const struct pool_shape *p = &r->pool;
    long double h = s->hidden, keys = (long double)p->heads * p->key_width, width = p->width;
    struct values v = {0};
    // A shared pool belongs to no layer.
    if (!p->shared) v.pool = (long double)p->values * width / (long double)judged_pool_group(a, r);
    v.whole = half_keys(p) * keys + h * keys + width * h * (p->gated ? 2 : 1) +
              (s->rms_norm ? h : 2 * h);
    return v;
}

// With two matrices each tensor rank has a part of the width between them; a single matrix is on
// every rank.
static struct values projector_values(const struct projector_shape *p)
{
    long double in = p->inputs, between = p->inner, out = p->outputs;
    struct values v = {0};
    if (p->inner > 0) v.sharded = between * (in + out);
    else v.whole = in * out;
    if (p->bias) v.sharded += between, v.whole += out;
    return v;
}

static struct values end_values(const struct price_audit *a, const struct layer_run *r)
{
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden, table = a->vocabulary * a->row,
                positions = (long double)s->positions * h,
                projection = s->embedding_width ? h * a->row : 0;
    if (r->kind == LAYER_EMBEDDING)
        return (struct values){.sharded = table, .whole = positions + projection};
    bool shared = s->tied_embeddings && a->pipeline == 1,
         copied = s->tied_embeddings && a->pipeline > 1;
    struct values v = {.sharded = shared ? 0 : table, .whole = projection};
    // A matrix for the logits, and another for the further tokens.
    if (a->two_tables && !s->tied_embeddings) v.sharded += table;
    if (!s->no_final_norm && !s->plain_norms) v.whole += s->rms_norm ? h : 2 * h;
    if (copied && a->problem->job.trainer == TRAINER_DEEPSPEED) v.whole += positions;
    return v;
}

// ---- trained and frozen

long double kept_bytes(const struct price_audit *a, const struct layer_run *r)
{
    return r->weight_bits ? (16 * r->weight_bits + 2) / 128.0L : a->value_bytes;
}

// Large parts of a frozen layer may be held in fewer bits: matrices, experts, a vocabulary, a
// pool; vectors, routers and keys are not. At the ends, tensor ranks share only the vocabulary's
// matrix.
static long double frozen_bytes(const struct price_audit *a, const struct layer_run *r,
                                const struct values *v)
{
    long double t = layout_of(a)->tensor, large = v->matrices / t + v->experts + v->pool,
                small = v->whole, shared = v->sharded / t;
    if (is_end(r)) large += shared;
    else small += shared;
    return kept_bytes(a, r) * large + a->value_bytes * small;
}

// Two factors for each: rank times both widths.
static long double adapter_values(const struct price_audit *a, const struct layer_run *r)
{
    struct adapted each[ADAPTER_MODULE_COUNT];
    int count = judged_adapters(a, r, each);
    long double wide = 0;
    for (int i = 0; i < count; i++) wide += each[i].other;
    return r->adapter_rank *
           (count * (long double)a->problem->model.shape.hidden + wide / layout_of(a)->tensor);
}

static struct layer_weight weight_alone(const struct price_audit *of_all, int run)
{
    struct own_audit own;
    const struct price_audit *a = audit_of_run(of_all, run, &own);
    const struct layer_run *r = run_of(a, run);
    assert(r->kind != LAYER_MEASURED);
    bool end = is_end(r);
    struct values v = end                       ? end_values(a, r)
                      : r->kind == LAYER_MEMORY ? memory_values(a, r)
                      : is_projector(a, run)    ? projector_values(&r->projector)
                                                : layered_values(a, run);
    v.whole = v.whole / a->inner + r->more_values;
    long double t = layout_of(a)->tensor, dense = (v.matrices + v.sharded) / t + v.whole;
    struct layer_weight w = {.table = end ? a->vocabulary * a->row / t : 0};
    if (r->frozen) {
        w.frozen_bytes = frozen_bytes(a, r, &v);
        w.dense = w.apart = is_layered(a, run) ? adapter_values(a, r) : 0;
        return w;
    }
    w.dense = dense;
    w.apart = end && a->two_tables ? v.whole + (v.sharded - a->vocabulary * a->row) / t : dense;
    w.experts = v.experts;
    w.pool = v.pool;
    if (v.pool > 0) w.pool_copies = judged_pool_copies(a, r);
    return w;
}

// Weights shared by a run's layers belong to none of them.
struct layer_weight layer_weight_of(const struct price_audit *a, int run)
{
    struct layer_weight none = {0};
    return run_of(a, run)->shared_weights ? none : weight_alone(a, run);
}

// Trained values that one GPU holds once this ZeRO stage's sharding is applied. A pool's copies
// divide the states among them, and keep everything else.
static long double held_values(const struct price_audit *a, const struct layer_weight *w, int stage)
{
    bool sharded = a->zero >= stage, divided = sharded && stage == 1 && w->pool_copies > 1;
    return (sharded
                ? w->dense / (long double)a->sharing + w->experts / (long double)a->expert_sharing
                : w->dense + w->experts) +
           (divided ? w->pool / (long double)w->pool_copies : w->pool);
}

// ---- states

// For each value that is updated: two moments of 4 bytes, and the fp32 weight where training has
// another one; or what the job says instead.
long double judged_state_width(const struct price_audit *a)
{
    const struct job *j = &a->problem->job;
    if (j->state_bytes_per_value > 0) return j->state_bytes_per_value;
    return 2 * 4 + (j->precision == FP32 ? 0 : 4);
}

static long double state_bytes(const struct price_audit *a, const struct layer_weight *w)
{
    return a->problem->job.adam ? judged_state_width(a) * held_values(a, w, 1) : 0;
}

long double dense_table_bytes(const struct price_audit *a, const struct layer_run *r,
                              const struct layer_weight *w)
{
    const struct job *j = &a->problem->job;
    bool tied = a->problem->model.shape.tied_embeddings && a->pipeline > 1;
    bool looked_up = r->kind == LAYER_EMBEDDING || (r->kind == LAYER_HEAD && tied);
    bool made = j->trainer == TRAINER_DEEPSPEED && j->precision != FP32 && !r->frozen;
    return made && looked_up ? scattered_gradient_bytes(a) * w->table : 0;
}

// Up to ZeRO 1, the fp32 sums of DeepSpeed and of trainers that are not known are whole on each
// rank, next to the 16-bit gradients.
bool keeps_two_gradients(const struct price_audit *a)
{
    const struct job *j = &a->problem->job;
    return a->zero <= 1 && j->gradient_bytes_per_value == 4 && j->precision != FP32 &&
           j->trainer != TRAINER_MEGATRON && j->trainer != TRAINER_TORCHTITAN;
}

// Of a trainer that is not known, with sums of its own: at ZeRO 0, where there are replicas, the
// buckets of what they send.
static long double bucket_bytes(const struct price_audit *a, const struct layer_weight *w)
{
    if (a->problem->job.trainer != TRAINER_OTHER || a->zero > 0) return 0;
    return a->value_bytes *
           ((a->ranks > 1 ? w->dense : 0) + (a->expert_ranks > 1 ? w->experts : 0));
}

// ZeRO 2 and 3 of DeepSpeed: what a pass made, in the weights' precision, is what is scattered.
int scattered_gradient_bytes(const struct price_audit *a)
{
    int bytes = a->problem->job.gradient_bytes_per_value, made = (int)a->value_bytes;
    bool shards = a->zero > 1 && a->problem->job.trainer == TRAINER_DEEPSPEED;
    return shards && made < bytes ? made : bytes;
}

// Copies that DeepSpeed's step makes on the device, per value that a rank updates there: its share
// in one piece (2 bytes, or 4 of fp32 sums), and the fp32 copy of 16-bit gradients (4); without
// ZeRO the 16-bit weights' as well (2).
static long double step_copies(const struct price_audit *a, const struct layer_weight *w)
{
    const struct job *j = &a->problem->job;
    if (j->trainer != TRAINER_DEEPSPEED || j->precision == FP32 || keeps_two_gradients(a)) return 0;
    int each = j->gradient_bytes_per_value == 4 ? 4 : a->zero ? 6 : 8;
    return each * held_values(a, w, 1);
}

// What of the step is on the GPU with the state wherever the layout has it: the GPU's part of the
// state with the copies.
static long double state_here(const struct price_audit *a, const struct layer_weight *w)
{
    int percent = job_tiering(&a->problem->job, 0).parts[TIER_OPTIMIZER].percent;
    return (100 - percent) * (state_bytes(a, w) + step_copies(a, w)) / 100;
}

// Of accumulated gradients, which some trainers keep differently.
static long double gradient_bytes(const struct price_audit *a, const struct layer_weight *w)
{
    if (!keeps_two_gradients(a))
        return a->problem->job.gradient_bytes_per_value * held_values(a, w, 2);
    return 6 * (w->dense + w->experts + w->pool) + bucket_bytes(a, w);
}

bool shards_fully(const struct price_audit *a)
{
    const struct job *j = &a->problem->job;
    return j->trainer == TRAINER_TORCHTITAN && j->precision != FP32 && a->ranks > 1 &&
           j->layout.zero > 1 && a->zero > 0;
}

// The actual weights are the states' fp32 ones. The 16-bit ones are those that stay gathered: at
// ZeRO 3, of the two ends, with the buffer they were gathered in, which another stream owns.
static long double fsdp_weight_bytes(const struct price_audit *a, const struct layer_run *r,
                                     const struct layer_weight *w)
{
    long double gathered = a->value_bytes * (w->dense + w->experts);
    bool end = is_end(r), kept = a->zero < 3 || end;
    return (kept ? gathered : 0) + (end ? gathered : 0) + a->value_bytes * w->pool;
}

struct held_weights held_weights_of(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    if (!has_shape(a, run))
        return (struct held_weights){.trained = stated_bytes(a, r)->weight_bytes};
    struct layer_weight w = layer_weight_of(a, run);
    return (struct held_weights){
        .trained = shards_fully(a) ? fsdp_weight_bytes(a, r, &w)
                                   : a->value_bytes * held_values(a, &w, 3),
        .frozen = a->zero == 3 ? w.frozen_bytes / (long double)a->sharing : w.frozen_bytes,
    };
}

struct layer_bytes layer_bytes_of(const struct price_audit *of_all, int run)
{
    struct own_audit own;
    const struct price_audit *a = audit_of_run(of_all, run, &own);
    const struct layer_run *r = run_of(a, run);
    struct layer_bytes b = {0};
    if (r->kind == LAYER_MEASURED) {
        const struct measured_bytes *m = stated_bytes(a, r);
        b = (struct layer_bytes){
            .weight = m->weight_bytes, .gradient = m->gradient_bytes, .message = m->boundary_bytes};
        for (int i = 0; i < 3; i++) {
            b.stash[i] = m->stash_bytes[i];
            b.working[i] = m->working_bytes[i];
        }
        // Its modules are not known, so a set of them keeps everything.
        for (int i = RECOMPUTE_SETS; i < RECOMPUTE_COUNT; i++)
            b.stash[i] = m->stash_bytes[0], b.working[i] = m->working_bytes[0];
        return b;
    }
    struct layer_weight w = layer_weight_of(a, run);
    struct held_weights held = held_weights_of(a, run);
    long double gradient = gradient_bytes(a, &w);
    // Full sums over the micro-batches, and the scattered result.
    if (shards_fully(a) && a->zero == 1)
        gradient +=
            a->problem->job.gradient_bytes_per_value *
            (w.dense / (long double)a->sharing + w.experts / (long double)a->expert_sharing);
    b.weight = judged_whole(a, held.trained + held.frozen);
    b.gradient = judged_whole(a, gradient);
    long double width = is_projector(a, run) ? r->projector.outputs
                                             : a->problem->model.shape.hidden;
    b.message = judged_whole(a, a->carried * a->value_bytes * a->tokens * width * a->share);
    activations_of(a, run, &b);
    return b;
}

// With everything on the GPU.
static long double update_s(const struct price_audit *a, const struct layer_weight *w, int group)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    long double gradient = a->problem->job.gradient_bytes_per_value,
                rate = gpu->step_bytes_per_s.value > 0 ? gpu->step_bytes_per_s.value
                                                       : gpu->memory_bytes_per_s.value;
    // What it updates is written here; the others' weights come with their gather.
    long double updated = held_values(a, w, 1);
    return (2 * state_bytes(a, w) + gradient * held_values(a, w, 2) + a->value_bytes * updated +
            gpu->step_bytes_per_value.value * updated) /
           rate;
}

// Of what is updated whatever a stage decides: where the layout has it.
static long double common_update_s(const struct price_audit *a, const struct layer_weight *w,
                                   int group)
{
    struct judged_state all = {.bytes = state_bytes(a, w), .values = held_values(a, w, 1)};
    return judged_state_step_s(a, &all, group, job_tiering(&a->problem->job, 0),
                               update_s(a, w, group));
}

// ---- the pool that memory layers share: a part of it on every device of the pipeline

static const struct layer_run *sharing_run(const struct price_audit *a)
{
    for (int i = 0; i < a->problem->model.run_count; i++)
        if (run_of(a, i)->kind == LAYER_MEMORY && run_of(a, i)->pool.shared) return run_of(a, i);
    return NULL;
}

static struct layer_weight shared_part(const struct price_audit *a, const struct layer_run *r)
{
    long double all = (long double)r->pool.values * (long double)r->pool.width;
    return (struct layer_weight){.pool = all / (long double)judged_pool_group(a, r),
                                 .pool_copies = judged_pool_copies(a, r)};
}

// Copies of a pool's part: their gradients are scattered and gathered, or scattered before the step
// and the weights gathered after it.
long double judged_pool_sum_s(const struct price_audit *a, const struct layer_run *r,
                              long double values, int group)
{
    int64_t copies = judged_pool_copies(a, r);
    if (copies <= 1 || values <= 0) return 0;
    struct joint link = judged_pool_ring(a, r, group);
    long double gradient = a->problem->job.gradient_bytes_per_value,
                others = (long double)copies - 1, back = a->zero > 0 ? a->value_bytes : gradient;
    return others / (long double)copies * values * (gradient + back) / link.bytes_per_s +
           2 * others * link.latency_s;
}

long double judged_pool_bytes(const struct price_audit *a)
{
    const struct layer_run *r = sharing_run(a);
    if (!r) return 0;
    struct layer_weight w = shared_part(a, r);
    if (r->frozen) return kept_bytes(a, r) * w.pool;
    return a->value_bytes * w.pool + gradient_bytes(a, &w) + state_here(a, &w);
}

long double judged_pool_update_s(const struct price_audit *a, int group)
{
    const struct layer_run *r = sharing_run(a);
    if (!r || r->frozen) return 0;
    struct layer_weight w = shared_part(a, r);
    return (common_update_s(a, &w, group) + judged_pool_sum_s(a, r, w.pool, group)) * a->pipeline /
           a->stage_count;
}

// ---- weights that the layers of a run share: one copy on every GPU of a tensor rank

long double shared_copy_bytes(const struct price_audit *a)
{
    long double sum = 0;
    for (int i = 0; i < a->problem->model.run_count; i++) {
        if (!run_of(a, i)->shared_weights) continue;
        struct layer_weight w = weight_alone(a, i);
        sum += a->value_bytes * w.dense + gradient_bytes(a, &w) + state_here(a, &w);
    }
    return sum;
}

long double shared_copy_s(const struct price_audit *a, int group)
{
    long double seconds = 0;
    for (int i = 0; i < a->problem->model.run_count; i++) {
        if (!run_of(a, i)->shared_weights) continue;
        struct layer_weight w = weight_alone(a, i);
        seconds += common_update_s(a, &w, group) +
                   judged_all_reduce_s(judged_copies_link(a, group),
                                       a->problem->job.gradient_bytes_per_value * w.dense,
                                       a->ranks * a->pipeline);
    }
    return seconds * a->pipeline / a->stage_count;
}

// ---- the state, and the step on a device, for what tiers have of them (tiers.c)

struct judged_state judged_state_of(const struct price_audit *a, int run, int group)
{
    const struct layer_run *r = run_of(a, run);
    bool timed = stated_time(a, run, group) != NULL;
    if (!has_shape(a, run)) {
        long double bytes = stated_bytes(a, r)->optimizer_bytes;
        return (struct judged_state){
            .bytes = bytes, .timed = timed, .values = bytes / judged_state_width(a)};
    }
    struct layer_weight w = layer_weight_of(a, run);
    return (struct judged_state){.bytes = state_bytes(a, &w),
                                 .copies = step_copies(a, &w),
                                 .table = keeps_two_gradients(a) ? dense_table_bytes(a, r, &w) : 0,
                                 .values = held_values(a, &w, 1),
                                 .timed = timed};
}

long double judged_step_s(const struct price_audit *a, int run, int group)
{
    const struct layer_time *stated = stated_time(a, run, group);
    if (stated) return stated->optimizer_s;
    struct layer_weight w = layer_weight_of(a, run);
    return update_s(a, &w, group);
}
