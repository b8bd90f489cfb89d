// Persistent memory of one layer on one device: parameters, gradients, optimizer states and
// whatever else the trainer keeps; the step that updates them; and what a device holds whatever its
// layers are. docs/FORMULAS.md sections 4 and 8.

#include "formulate/price/adapters.h"

// Matrices of a block or of a memory layer's queries: what is sharded over tensor ranks and what is
// not.
struct values {
    real sharded, whole, matrices;
};

static struct values values_of_block(const struct pricing *x, const struct layer_run *run)
{
    const struct shape *s = x->shape;
    struct attention y = attention_of(x, run);
    real ffn = ffn_of(x, run), norm = s->plain_norms ? 0 : s->rms_norm ? x->h : 2 * x->h;
    struct values v = {.matrices = y.matrices.sharded + x->g * x->h * ffn};
    v.sharded = v.matrices + y.vectors.sharded + (s->linear_bias ? (x->g - 1) * ffn : 0) +
                (run->mtp ? 2 * x->h * x->h : 0);
    v.whole = y.matrices.whole + y.vectors.whole + norms_of(x, run) * norm +
              (s->linear_bias && !run->no_feed_forward ? x->h : 0);
    return v;
}

static struct values values_of_pool(const struct pricing *x, const struct pool_shape *pool)
{
    real heads = (real)pool->heads, key = (real)pool->key_width, width = (real)pool->width;
    real norm = x->shape->rms_norm ? x->h : 2 * x->h;
    return (struct values){.whole = sqrtl((real)pool->values) * heads * key + x->h * heads * key +
                                    width * x->h + (pool->gated ? x->h * width : 0) + norm};
}

static struct values values_of_ends(const struct pricing *x, const struct layer_run *run)
{
    const struct shape *shape = x->shape;
    real positions = (real)shape->positions * x->h,
         projection = shape->embedding_width ? x->h * x->h_e : 0,
         norm = shape->no_final_norm || shape->plain_norms ? 0
                : shape->rms_norm                          ? x->h
                                                           : 2 * x->h;
    if (run->kind == LAYER_EMBEDDING)
        return (struct values){.sharded = x->v * x->h_e, .whole = positions + projection};
    bool apart = !shape->tied_embeddings || x->p > 1;
    struct values v = {.sharded = apart ? x->v * x->h_e : 0, .whole = norm + projection};
    // Further tokens are looked up on the stage of the head.
    if (!shape->tied_embeddings && x->p > 1 && x->predicted > 1) v.sharded += x->v * x->h_e;
    if (shape->tied_embeddings && x->p > 1 && x->problem->job.trainer == TRAINER_DEEPSPEED)
        v.whole += positions;
    return v;
}

static struct values values_of_projector(const struct projector_shape *p)
{
    real inputs = (real)p->inputs, inner = (real)p->inner, outputs = (real)p->outputs,
         bias = p->bias ? 1 : 0;
    if (!p->inner) return (struct values){.whole = inputs * outputs + bias * outputs};
    return (struct values){.sharded = inputs * inner + inner * outputs + bias * inner,
                           .whole = bias * outputs};
}

real frozen_value_bytes(const struct pricing *x, const struct layer_run *run)
{
    return run->weight_bits ? run->weight_bits / 8.0L + 2.0L / 128 : x->e;
}

// A frozen layer keeps its values as they are, quantised if so stated, and trains its adapters.
static struct layer_parameters freeze(const struct pricing *x, const struct layer_run *run,
                                      const struct values *v, const struct layer_parameters *all)
{
    struct layer_parameters p = {.frozen_bytes = x->e * (all->dense + all->experts + all->pool)};
    if (run->weight_bits)
        p.frozen_bytes +=
            ((is_end(run) ? v->sharded : v->matrices) / x->t + all->experts + all->pool) *
            (frozen_value_bytes(x, run) - x->e);
    struct adapters adapters = adapters_of(x, run);
    p.dense = run->adapter_rank * (adapters.count * x->h + adapters.wide / x->t);
    return p;
}

static void take_part(const struct pricing *x, const struct layer_run *run,
                      struct layer_parameters *p)
{
    struct pool_spread s = spread_of_pool(x, run);
    p->pool = (real)run->pool.values * (real)run->pool.width / s.parts, p->copies = s.copies;
}

static struct layer_parameters own_parameters(const struct pricing *x, const struct layer_run *run)
{
    struct pricing own;
    x = pricing_of_run(x, run, &own);
    struct values v = is_layered(run)                ? values_of_block(x, run)
                      : run->kind == LAYER_MEMORY    ? values_of_pool(x, &run->pool)
                      : run->kind == LAYER_PROJECTOR ? values_of_projector(&run->projector)
                                                     : values_of_ends(x, run);
    struct layer_parameters p = {0};
    v.whole = v.whole / x->t2 + (real)run->more_values;
    if (run->kind == LAYER_MOE) {
        const struct expert_shape *e = &run->experts;
        v.whole += x->h * ((real)e->experts + (e->shared_gate ? 1 : 0));
        p.experts = x->g * (real)expert_width(x->shape, e) * (real)e->ffn * (real)e->experts /
                    (x->x * x->t_e);
    }
    if (run->kind == LAYER_MEMORY && !run->pool.shared) take_part(x, run, &p);
    p.dense = v.sharded / x->t + v.whole;
    return run->frozen ? freeze(x, run, &v, &p) : p;
}

// Layers that share weights have none of their own.
struct layer_parameters parameters_of(const struct pricing *x, const struct layer_run *run)
{
    struct kept_layer *kept = kept_of(x, run, 0, 0);
    if (run->shared_weights) return (struct layer_parameters){0};
    if (!kept) return own_parameters(x, run);
    if (!kept->has_parameters) kept->parameters = own_parameters(x, run);
    kept->has_parameters = true;
    return kept->parameters;
}

// Trained values that one device keeps, if ZeRO stages from `stage` on shard them. Copies of a
// pool's parts share the optimizer's state alone.
static real kept_values(const struct pricing *x, const struct layer_parameters *p, int stage)
{
    if (x->zero < stage) return p->dense + p->experts + p->pool;
    real pool = stage == 1 && p->pool > 0 ? p->pool / p->copies : p->pool;
    return p->dense / x->R_S + p->experts / x->R_Se + pool;
}

static real state_bytes(const struct pricing *x, const struct layer_parameters *p)
{
    const struct job *job = &x->problem->job;
    return job->adam ? job_state_bytes(job) * kept_values(x, p, 1) : 0;
}

static real step_rate(const struct gpu_costs *gpu)
{
    double own = gpu->step_bytes_per_s.value;
    return own > 0 ? own : gpu->memory_bytes_per_s.value;
}

// On the device.
static real step_s(const struct pricing *x, const struct layer_parameters *p, int group)
{
    const struct gpu_costs *gpu = x->gpus[group];
    return (2 * state_bytes(x, p) + x->e_g * kept_values(x, p, 2) +
            (x->e + gpu->step_bytes_per_value.value) * kept_values(x, p, 1)) /
           step_rate(gpu);
}

// Of values that every rank has, whatever its stages decide.
static real common_step_s(const struct pricing *x, const struct layer_parameters *p, int group)
{
    struct layer_bytes bytes = {.values = kept_values(x, p, 1), .state = state_bytes(x, p)};
    return state_step_s(x, &bytes, group, 0, step_s(x, p, group), false);
}

real optimizer_s(const struct pricing *x, const struct layer_run *run, int group)
{
    struct layer_parameters p = parameters_of(x, run);
    return step_s(x, &p, group);
}

real table_gradient_bytes(const struct pricing *x, const struct layer_run *run)
{
    const struct job *job = &x->problem->job;
    bool shared = run->kind == LAYER_HEAD && x->shape->tied_embeddings && x->p > 1;
    if (job->trainer != TRAINER_DEEPSPEED || job->precision == FP32 || run->frozen) return 0;
    return run->kind == LAYER_EMBEDDING || shared ? x->e_w * x->v * x->h_e / x->t : 0;
}

bool sums_apart(const struct pricing *x)
{
    const struct job *job = &x->problem->job;
    return (job->trainer == TRAINER_DEEPSPEED || job->trainer == TRAINER_OTHER) &&
           job->precision != FP32 && x->e_g > 2 && x->zero < 2;
}

// Another trainer with sums in fp32: all gradients twice, and for replicas that keep whole states a
// third time, in the buckets in which they are sent.
static real other_gradient_bytes(const struct pricing *x, const struct layer_parameters *p)
{
    real sent = (x->R > 1 ? p->dense : 0) + (x->R_e > 1 ? p->experts : 0);
    return 6 * (p->dense + p->experts + p->pool) + (x->zero ? 0 : x->e * sent);
}

// What DeepSpeed keeps in addition to the states: all gradients twice with a dense gradient of the
// embedding, or else the copies that the step makes of the gradients' shards.
static void add_trainer(const struct pricing *x, const struct layer_run *run,
                        const struct layer_parameters *p, struct layer_bytes *bytes)
{
    const struct job *job = &x->problem->job;
    if (job->trainer == TRAINER_OTHER && sums_apart(x))
        bytes->gradient = other_gradient_bytes(x, p);
    if (job->trainer != TRAINER_DEEPSPEED || job->precision == FP32) return;
    if (sums_apart(x)) {
        bytes->gradient = 6 * (p->dense + p->experts + p->pool);
        bytes->fixed += table_gradient_bytes(x, run);
    } else {
        bytes->movable += (x->e_g > 2 ? 4 : x->zero ? 6 : 8) * kept_values(x, p, 1);
    }
}

// FSDP2's weights are fp32 and counted with the states. Gathered weights are kept only for the two
// end layers, together with the gather's buffer, which belongs to a separate stream. With a
// pipeline, whole gradients accumulate in addition to their shards.
static void add_gathered(const struct pricing *x, const struct layer_run *run,
                         const struct layer_parameters *p, struct layer_bytes *bytes)
{
    real whole = x->e * (p->dense + p->experts);
    if (!is_fully_sharded(x)) return;
    if (x->zero == 3) bytes->weight -= x->e * (p->dense / x->R_S + p->experts / x->R_Se);
    if (is_end(run)) bytes->weight += x->zero == 3 ? 2 * whole : whole;
    if (x->zero == 1) bytes->gradient += x->e_g * (p->dense / x->R_S + p->experts / x->R_Se);
}

static struct layer_bytes bytes_as_measured(const struct pricing *x, const struct measured_bytes *m)
{
    struct layer_bytes bytes = {.weight = (real)m->weight_bytes,
                                .trained = (real)m->weight_bytes,
                                .gradient = (real)m->gradient_bytes,
                                .state = (real)m->optimizer_bytes,
                                .movable = (real)m->optimizer_bytes,
                                .message = (real)m->boundary_bytes,
                                .matrix_rows = (real)m->matrix_rows,
                                .matrix_columns = (real)m->matrix_columns};
    for (int mode = 0; mode < 3; mode++) {
        bytes.stash[mode] = (real)m->stash_bytes[mode];
        bytes.working[mode] = (real)m->working_bytes[mode];
    }
    for (int mode = RECOMPUTE_SETS; mode < x->modes; mode++) // no module is known
        bytes.stash[mode] = bytes.stash[0], bytes.working[mode] = bytes.working[0];
    bytes.values = bytes.state / job_state_bytes(&x->problem->job);
    return bytes;
}

struct layer_bytes bytes_of_layer(const struct pricing *x, const struct layer_run *run)
{
    struct pricing own;
    if (run->kind == LAYER_MEASURED) return bytes_as_measured(x, find_measured(x, run));
    x = pricing_of_run(x, run, &own);
    real width = run->kind == LAYER_PROJECTOR ? (real)run->projector.outputs : x->h;
    struct layer_parameters p = parameters_of(x, run);
    struct layer_bytes bytes = {.frozen = p.frozen_bytes / (x->zero >= 3 ? x->R_S : 1),
                                .weight = x->e * kept_values(x, &p, 3),
                                .gradient = x->e_g * kept_values(x, &p, 2),
                                .message = x->e * x->n * width * x->u * x->streams};
    bytes.state = bytes.movable = state_bytes(x, &p);
    bytes.values = kept_values(x, &p, 1);
    bytes.weight += bytes.frozen;
    bytes.matrix_rows = bytes.message / (x->e * width);
    bytes.matrix_columns = width;
    add_trainer(x, run, &p, &bytes);
    add_gathered(x, run, &p, &bytes);
    bytes.trained = bytes.weight - bytes.frozen;
    if (run->kind == LAYER_EMBEDDING || run->kind == LAYER_MEMORY)
        bytes.frozen = bytes.trained = 0; // of which a pass reads some rows
    if (!x->times_alone) stash_of_layer(x, run, &p, &bytes);
    return bytes;
}

real shared_pool_bytes(const struct pricing *x)
{
    const struct layer_run *run = model_shared_pool(&x->problem->model);
    if (!run) return 0;
    struct layer_parameters p = {0};
    take_part(x, run, &p);
    if (run->frozen) return frozen_value_bytes(x, run) * p.pool;
    struct layer_bytes bytes = {.gradient = x->e_g * p.pool, .movable = state_bytes(x, &p)};
    add_trainer(x, run, &p, &bytes);
    bytes.fixed = 0;
    return x->e * p.pool + bytes.gradient + state_that_stays(x, &bytes, 0);
}

real shared_pool_step_s(const struct pricing *x, int group)
{
    const struct layer_run *run = model_shared_pool(&x->problem->model);
    if (!run || run->frozen) return 0;
    struct layer_parameters p = {0};
    take_part(x, run, &p);
    return (common_step_s(x, &p, group) + pool_sum_s(x, run, &p, group)) /
           x->problem->job.layout.virtual_stages;
}

real shared_weight_bytes(const struct pricing *x)
{
    const struct model *m = &x->problem->model;
    real sum = 0;
    for (int i = 0; i < m->run_count; i++) {
        if (!m->runs[i].shared_weights) continue;
        struct layer_parameters p = own_parameters(x, &m->runs[i]);
        struct layer_bytes bytes = {.gradient = x->e_g * p.dense, .movable = state_bytes(x, &p)};
        add_trainer(x, &m->runs[i], &p, &bytes);
        bytes.fixed = 0;
        sum += x->e * p.dense + bytes.gradient + state_that_stays(x, &bytes, 0);
    }
    return sum;
}

// Gradients are summed over all ranks of the pipeline; then each rank updates its copy.
real shared_weight_step_s(const struct pricing *x, int group)
{
    const struct model *m = &x->problem->model;
    real sum = 0;
    for (int i = 0; i < m->run_count; i++) {
        if (!m->runs[i].shared_weights) continue;
        struct layer_parameters p = own_parameters(x, &m->runs[i]);
        struct link_price link = link_of_copies(x, group);
        sum += all_reduce_price_s(&link, x->e_g * p.dense, x->R * x->p) +
               common_step_s(x, &p, group);
    }
    return sum / x->problem->job.layout.virtual_stages;
}

real outside_bytes(const struct pricing *x, int group)
{
    const struct gpu_costs *gpu = x->gpus[group];
    int dimensions = (x->t1 > 1) + (x->t2 > 1) + (x->t3 > 1) + (x->c > 1) + (x->d > 1) +
                     (x->p > 1) + (x->x > 1) + (x->t_e > 1 && x->t_e < x->t) +
                     (x->R_C > 1 && x->R_C < x->d);
    return gpu->constant_bytes.value + dimensions * (real)gpu->communicator_bytes.value;
}

real inside_bytes(const struct pricing *x, int group)
{
    return x->problem->job.trainer == TRAINER_DEEPSPEED ? 5e8 * x->e_w
                                                        : x->gpus[group]->library_bytes.value;
}
