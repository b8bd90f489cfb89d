// Converts a job's space and layouts to the checker's form, and back.
#include <assert.h>
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"

static const struct {
    enum space_key from;
    enum check_key to;
} keys[] = {
    {SPACE_TENSOR, KEY_TENSOR},
    {SPACE_CONTEXT, KEY_CONTEXT},
    {SPACE_PIPELINE, KEY_PIPELINE},
    {SPACE_DATA, KEY_DATA},
    {SPACE_EXPERT_TENSOR, KEY_EXPERT_TENSOR},
    {SPACE_EXPERT, KEY_EXPERT},
    {SPACE_SCHEDULE, KEY_SCHEDULE},
    {SPACE_VIRTUAL_STAGES, KEY_TURNS},
    {SPACE_MICRO_BATCH, KEY_MICRO_BATCH},
    {SPACE_SEQUENCE_PARALLEL, KEY_SEQUENCE_PARALLEL},
    {SPACE_ZERO, KEY_ZERO},
    {SPACE_GRADIENT_SYNC, KEY_OVERLAPPED},
    {SPACE_OFFLOAD_OPTIMIZER, KEY_OFFLOAD},
    {SPACE_BARRIER, KEY_BARRIER},
    {SPACE_FUSED_EMBEDDING_SYNC, KEY_FUSED_EMBEDDING},
    {SPACE_LOCAL_LOSS_EVERY, KEY_LOCAL},
    {SPACE_SLICE_COUNT, KEY_SLICES},
    {SPACE_CONTEXT_KIND, KEY_CONTEXT_KIND},
    {SPACE_OVERLAPPED_DISPATCH, KEY_BESIDE},
    {SPACE_POOL, KEY_POOL},
    {SPACE_GRID_ORDER, KEY_GRID_ORDER},
    {SPACE_GRID_GATHERS, KEY_GRID_GATHERS},
    {SPACE_RECOMPUTE, KEY_RECOMPUTE},
};

// The index in one table of names of the name at `kind` in the other.
static int kind_named(const char *name, const char *const *names)
{
    int kind = 0;
    while (names[kind] && strcmp(names[kind], name)) kind++;
    assert(names[kind]);
    return kind;
}

static_assert((int)MOST_LISTED == (int)LISTED_STAGES_MAX, "copied whole");

struct check_layout space_layout(const struct layout *l)
{
    struct check_layout to = {.fused_attention = l->fused_attention, .data_shard = l->data_shard};
    int *v = to.value;
    v[KEY_TENSOR] = l->tensor, v[KEY_CONTEXT] = l->context, v[KEY_PIPELINE] = l->pipeline,
    v[KEY_DATA] = l->data, v[KEY_EXPERT_TENSOR] = l->expert_tensor, v[KEY_EXPERT] = l->expert;
    v[KEY_TURNS] = l->virtual_stages, v[KEY_MICRO_BATCH] = l->micro_batch,
    v[KEY_SEQUENCE_PARALLEL] = l->sequence_parallel;
    v[KEY_ZERO] = l->zero, v[KEY_OVERLAPPED] = l->gradient_sync == SYNC_OVERLAPPED,
    v[KEY_OFFLOAD] = l->offload_optimizer;
    v[KEY_BARRIER] = l->barrier, v[KEY_FUSED_EMBEDDING] = l->fused_embedding_sync,
    v[KEY_LOCAL] = l->local_loss_every;
    v[KEY_SLICES] = l->slice_count;
    v[KEY_RECOMPUTE] = l->recompute, to.recomputed = l->recomputed_layers;
    v[KEY_CONTEXT_KIND] = l->context_kind, v[KEY_BESIDE] = l->overlapped_dispatch;
    v[KEY_POOL] = l->pool, v[KEY_GRID_ORDER] = l->grid_order;
    v[KEY_GRID_GATHERS] = (int)l->grid_gathers;
    v[KEY_SCHEDULE] = kind_named(schedule_names[l->schedule], check_schedule_names);
    to.grid[0] = l->grid_depth, to.grid[1] = l->grid_rows;
    for (int i = 0; i < MOST_SLICES; i++)
        to.slice[i] = l->slice_count > 1 && i < l->slice_count ? l->slices[i] : 0;
    memcpy(to.in_flight, l->in_flight, sizeof to.in_flight);
    return to;
}

struct layout space_layout_back(const struct check_layout *l, const struct layout *base)
{
    struct layout to = *base;
    const int *v = l->value;
    to.tensor = v[KEY_TENSOR], to.context = v[KEY_CONTEXT], to.pipeline = v[KEY_PIPELINE],
    to.data = v[KEY_DATA], to.expert_tensor = v[KEY_EXPERT_TENSOR], to.expert = v[KEY_EXPERT];
    to.virtual_stages = v[KEY_TURNS], to.micro_batch = v[KEY_MICRO_BATCH],
    to.sequence_parallel = v[KEY_SEQUENCE_PARALLEL];
    to.zero = v[KEY_ZERO], to.gradient_sync = v[KEY_OVERLAPPED] ? SYNC_OVERLAPPED : SYNC_EXPOSED,
    to.offload_optimizer = v[KEY_OFFLOAD];
    to.barrier = v[KEY_BARRIER], to.fused_embedding_sync = v[KEY_FUSED_EMBEDDING],
    to.local_loss_every = v[KEY_LOCAL];
    to.stored_inputs = base->stored_inputs && v[KEY_LOCAL]; // a file has them for every segment
    to.slice_count = v[KEY_SLICES];
    to.recompute = v[KEY_RECOMPUTE], to.recomputed_layers = l->recomputed;
    to.context_kind = v[KEY_CONTEXT_KIND], to.overlapped_dispatch = v[KEY_BESIDE];
    to.pool = v[KEY_POOL], to.grid_order = v[KEY_GRID_ORDER];
    to.grid_gathers = (enum grid_gathers)v[KEY_GRID_GATHERS];
    to.fused_attention = l->fused_attention, to.data_shard = l->data_shard;
    to.grid_depth = l->grid[0], to.grid_rows = l->grid[1];
    const char *schedule = check_schedule_names[v[KEY_SCHEDULE]];
    to.schedule = kind_named(schedule, schedule_names);
    for (int i = 0; i < SLICES_MAX; i++) to.slices[i] = (int)l->slice[i];
    memcpy(to.in_flight, l->in_flight, sizeof to.in_flight);
    return to;
}

void space_switch(struct job *to, const struct problem *problem, const struct check_layout *l)
{
    const struct job *job = &problem->job;
    const bool *listed = job->space.switches;
    bool compiles = job->compiled || listed[SWITCH_COMPILED];
    const struct check_switches has =
        check_switches(kind_named(framework_names[job->space.framework], check_framework_names), l,
                       job->trainer == TRAINER_TORCHTITAN, job->trainer == TRAINER_OTHER, compiles);
    to->overlapped_messages = job->overlapped_messages ||
                              (listed[SWITCH_OVERLAPPED_MESSAGES] && has.messages);
    to->overlapped_tensor = job->overlapped_tensor ||
                            (listed[SWITCH_OVERLAPPED_TENSOR] && has.sums);
    to->scattered_messages = job->scattered_messages ||
                             (listed[SWITCH_SCATTERED_MESSAGES] && has.parts);
    to->fused_loss = job->fused_loss || (listed[SWITCH_FUSED_LOSS] && has.loss);
    to->compiled = job->compiled || (listed[SWITCH_COMPILED] && has.compiled);
    to->overlapped_dispatch = job->overlapped_dispatch || l->value[KEY_BESIDE];
    if (l->value[KEY_CONTEXT_KIND])
        to->context_kind = (enum context_kind)(l->value[KEY_CONTEXT_KIND] - 1);
    else to->context_kind = job->context_kind;
}

static void read_axis(struct check_axis *to, const struct space_axis *from, enum space_key key,
                      struct arena *arena)
{
    to->kind = from->kind == AXIS_ALL    ? AXIS_EVERY
               : from->kind == AXIS_LIST ? AXIS_THESE
                                         : AXIS_AS_BASE;
    to->count = from->kind == AXIS_LIST ? from->count : 0;
    int *values = TAKE(arena, to->count, int);
    for (int i = 0; i < to->count; i++) {
        struct layout l = {.schedule = from->values[i]};
        values[i] = key == SPACE_SCHEDULE ? space_layout(&l).value[KEY_SCHEDULE] : from->values[i];
    }
    to->values = values;
}

// 0 is divided by everything.
static int64_t common(int64_t a, int64_t b) { return b ? common(b, a % b) : a; }

// Of linear attention: heads of keys, or of values without any.
static int64_t split_heads(const struct linear_shape *l)
{
    return l->key_heads ? l->key_heads : l->value_heads;
}

static void read_own(struct check_space *to, const struct layer_run *r)
{
    to->own_widths = common(to->own_widths, r->projector.inner);
    if (!r->shape) return;
    to->own_widths = common(to->own_widths, r->shape->heads);
    to->own_widths = common(to->own_widths, r->shape->ffn);
    to->own_widths = common(to->own_widths, split_heads(&r->shape->linear));
}

static bool ties_behind_tower(const struct model *m)
{
    bool tower = false, trained = false;
    for (int i = 0; i < m->run_count; i++) {
        tower = tower || m->runs[i].tokens > 0;
        if (m->runs[i].kind == LAYER_EMBEDDING) trained = tower && !m->runs[i].frozen;
    }
    return trained && m->shape.tied_embeddings && m->runs[m->run_count - 1].kind == LAYER_HEAD;
}

// gpt-oss: in each layer a gated mixture of experts with a bias each in gate, value and output, one
// for each of the router's outputs, and a sink for each head; attention has all of its biases.
static bool has_sinks(const struct model *m)
{
    const struct shape *s = &m->shape;
    const char *gate = s->activation ? s->activation : "silu";
    int64_t unlike = 0, mixtures = 0;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        int64_t each = r->experts.ffn + r->experts.ffn + s->hidden + 1, more = 0;
        if (r->kind == LAYER_MOE) more = s->heads + each * r->experts.experts, mixtures++;
        else unlike += r->kind != LAYER_EMBEDDING && r->kind != LAYER_HEAD;
        unlike += r->more_values != more || r->shape || r->linear || r->linear_beside ||
                  r->no_attention || r->experts.shared_ffn;
    }
    return m->has_shape && mixtures && !unlike && s->gated_ffn && !strcmp(gate, "silu") &&
           s->qkv_bias && s->output_bias > 0 && !s->linear_bias && !s->kv_rank;
}

// Megatron's hybrid: a layer between the ends is a mixer, attention or a feed-forward part, of the
// model's own sizes. Its mixer is Mamba-2's: groups, a convolution over four tokens, a norm.
static bool is_of_parts(const struct model *m)
{
    const struct linear_shape *mixer = &m->shape.linear;
    bool own = mixer->rule == LINEAR_STATE_SPACE && mixer->key_heads > 0 &&
               mixer->convolution == 4 && !mixer->no_norm;
    int inner = 0;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        if (r->kind == LAYER_EMBEDDING || r->kind == LAYER_HEAD) continue;
        bool half = r->no_attention != r->no_feed_forward;
        if (!half || r->window || r->mtp || r->shape || (r->linear && !own)) return false;
        inner++;
    }
    return inner > 0;
}

static void read_model(struct check_space *to, const struct model *m, struct arena *arena)
{
    struct check_mixture *mixtures = TAKE(arena, m->run_count, struct check_mixture);
    int64_t *key_heads = TAKE(arena, m->run_count + 1, int64_t);
    to->layers = m->layer_count;
    to->heads = m->shape.heads, to->ffn = m->shape.ffn;
    to->hidden = m->shape.hidden;
    to->sinks = has_sinks(m);
    to->latents = m->shape.kv_rank > 0;
    to->parts = is_of_parts(m);
    to->own_widths = split_heads(&m->shape.linear);
    to->ties_behind_tower = ties_behind_tower(m);
    to->tied = m->shape.tied_embeddings;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        read_own(to, r);
        to->tower = to->tower || r->tokens;
        to->looks_ahead = to->looks_ahead || r->bidirectional || r->cross_attention || r->tokens;
        to->shares_pool = to->shares_pool || r->pool.shared;
        to->own_pool = to->own_pool || (r->kind == LAYER_MEMORY && !r->pool.shared);
        to->shares_weights = to->shares_weights || r->shared_weights;
        to->has_blocks = to->has_blocks || r->kind == LAYER_BLOCK || r->kind == LAYER_MOE;
        to->windows = to->windows || r->window;
        if (r->shape) key_heads[to->key_head_count++] = r->shape->kv_heads;
        if (r->kind != LAYER_MOE) continue;
        to->has_mixtures = true;
        mixtures[to->mixture_count++] =
            (struct check_mixture){r->experts.ffn, r->experts.shared_ffn, r->experts.experts};
    }
    if (to->has_blocks) key_heads[to->key_head_count++] = m->shape.kv_heads;
    to->mixtures = mixtures, to->key_heads = key_heads;
}

// Whole nanoseconds within a limit, up to the relative 10^-12 that its own digits leave open (as
// the judge: solve/judge/load.c). No value is above 2^59.
static int64_t within_ns(long double ns)
{
    const long double most = 576460752303423488.0L;
    ns *= 1 + 1e-12L;
    return ns < most ? (int64_t)ns : (int64_t)most;
}

// An iteration of n devices that takes t costs n t x the price of an hour / 3600 s.
static void read_limits(struct check_space *to, const struct problem *p)
{
    const struct job *j = &p->job;
    if (j->iteration_limit_s > 0) to->limit_ns = within_ns(j->iteration_limit_s * 1e9L);
    if (j->price_limit <= 0) return;
    long double tokens = (long double)j->global_batch * (long double)j->sequence,
                second = p->cluster.groups[0].gpu_hour_price / 3600.0L;
    to->limit_device_ns = within_ns(j->price_limit * tokens / 1e6L / second * 1e9L);
}

static void read_widths(struct check_space *to, const struct problem *p, struct arena *arena)
{
    struct seat *seats;
    int count = problem_seats(p, &seats, arena);
    struct check_width *widths = TAKE(arena, count, struct check_width);
    for (int i = 0; i < count; i++)
        widths[i] = (struct check_width){seats[i].tensor, seats[i].context, seats[i].data};
    to->widths = widths, to->width_count = count;
    to->in_turn = p->job.replicas == REPLICAS_IN_TURN;
}

void space_read(struct check_space *to, const struct problem *p, struct arena *arena)
{
    *to = (struct check_space){.base = space_layout(&p->job.layout),
                               .fewer_devices = p->job.space.fewer_devices,
                               .grids = p->job.space.tensor_grids,
                               .uneven = p->job.space.uneven_stages,
                               .framework = (enum check_framework)kind_named(
                                   framework_names[p->job.space.framework], check_framework_names),
                               .narrow = p->job.precision != FP32,
                               .global_batch = p->job.global_batch,
                               .sequence = p->job.sequence,
                               .slice_tokens = p->job.space.slice_tokens,
                               .in_flight_most = p->job.space.in_flight_max,
                               .has_options = p->job.boundary_option_count ||
                                              p->job.gradient_option_count ||
                                              p->job.tier_option_count,
                               .rule_stage = -1,
                               .rule_layer = -1,
                               .limit_ns = INT64_MAX,
                               .limit_device_ns = INT64_MAX};
    to->objective =
        (enum check_objective)kind_named(objective_names[p->job.objective], check_objective_names);
    for (int mode = 0; mode < MODES; mode++)
        to->modes[mode] = job_offers(&p->job, (enum recompute)mode);
    read_limits(to, p);
    if (p->cluster.places.node_count) to->of_nodes = p;
    to->context_kind = (enum check_context)kind_named(context_kind_names[p->job.context_kind],
                                                      check_context_names);
    to->further_tokens = model_mtp_depth(&p->model);
    to->shares_keys = (p->job.trainer == TRAINER_MEGATRON || p->job.trainer == TRAINER_OTHER);
    to->ends_meet = p->model.has_shape &&
                    (p->model.shape.tied_embeddings || model_mtp_depth(&p->model));
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        read_axis(&to->axes[keys[i].to], &p->job.space.axes[keys[i].from], keys[i].from, arena);
    for (int g = 0; g < p->cluster.group_count; g++)
        to->devices += (int64_t)p->cluster.groups[g].nodes * p->cluster.groups[g].gpus_per_node;
    for (int i = 0; i < p->job.rule_count; i++) {
        if (p->job.rules[i].stage > to->rule_stage) to->rule_stage = p->job.rules[i].stage;
        if (p->job.rules[i].holds_last > to->rule_layer)
            to->rule_layer = p->job.rules[i].holds_last;
    }
    read_model(to, &p->model, arena);
    if (job_has_widths(&p->job)) read_widths(to, p, arena);
}

enum status space_pricers_open(struct check_pricer pricers[2], const struct problem *problem,
                               struct arena *arena, struct error *err)
{
    for (int i = 0; i < 2; i++) {
        bool nodes = problem->cluster.places.node_count;
        TRY((nodes ? space_free_pricer_open : space_pricer_open)(&pricers[i], problem, arena, err));
        if (!nodes) space_pricer_lean(&pricers[i], i ? 1 : -1, 0);
    }
    return OK;
}

enum status space_open(struct check_space *space, struct check_pricer pricers[2],
                       const char *problem_path, const struct check_input *inputs, int input_count,
                       struct arena *arena, struct error *err)
{
    struct problem *problem = TAKE(arena, 1, struct problem);
    TRY(space_load_problem(problem, problem_path, inputs, input_count, arena, err));
    if (!problem->job.space.given)
        return refuse(err, "%s: expected a job with a space of layouts", problem_path);
    TRY(space_check_kind(problem, CERTIFICATE_OF_SPACE, err));
    space_read(space, problem, arena);
    return space_pricers_open(pricers, problem, arena, err);
}
