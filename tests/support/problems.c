// Draws random small problems.
#include "data/kinds/schedules.h"
#include "tests/support/draws/fabric.h"

#include "tests/support/draws/grids.h"
#include "tests/support/draws/settings.h"

#include <assert.h>
#include <string.h>

// What one problem is drawn with.
struct draw {
    struct problem *p;
    struct random *rng;
    const struct random_limits *limits;
    struct arena *arena;
    int layers, stages, groups, micro_batches, flavour;
    int richness;    // percent; falls with each attempt that has too many plans
    int64_t base_ns; // of a layer's pass, in long_and_close
};

static int size_between(struct draw *d, int low, int high)
{
    return random_chance(d->rng, 40) ? high : (int)random_between(d->rng, low, high);
}

static bool rich(struct draw *d, int percent)
{
    return random_chance(d->rng, percent * d->richness / 100);
}

struct estimate exactly(double value)
{
    return (struct estimate){.value = value, .low = value, .high = value, .origin = ORIGIN_ASSUMED};
}

static double seconds(int64_t ns) { return (double)ns * 1e-9; }

// ---- model

static struct measured_bytes draw_bytes(struct draw *d, const struct job *j)
{
    struct measured_bytes m = {.weight_bytes = random_between(d->rng, 0, 2000),
                               .optimizer_bytes = random_between(d->rng, 0, 3000)};
    m.matrix_rows = random_chance(d->rng, 80) ? random_between(d->rng, 8, 40) : 0;
    m.matrix_columns = m.matrix_rows ? random_between(d->rng, 8, 40) : 0;
    m.gradient_bytes = j->gradient_bytes_per_value * m.matrix_rows * m.matrix_columns +
                       random_between(d->rng, 0, 1000);
    m.boundary_bytes = m.matrix_rows
                           ? precision_bytes(j->precision) * m.matrix_rows * m.matrix_columns
                           : random_between(d->rng, 1, 4000);
    m.stash_bytes[RECOMPUTE_NONE] = random_between(d->rng, 1000, 4000);
    m.stash_bytes[RECOMPUTE_SELECTIVE] = m.stash_bytes[RECOMPUTE_NONE] *
                                         random_between(d->rng, 50, 100) / 100;
    m.stash_bytes[RECOMPUTE_FULL] = m.stash_bytes[RECOMPUTE_NONE] * random_between(d->rng, 5, 50) /
                                    100;
    for (int i = 0; i < 3; i++)
        m.working_bytes[i] =
            random_chance(d->rng, 30) ? 0 : m.stash_bytes[RECOMPUTE_NONE] - m.stash_bytes[i];
    return m;
}

static void add_run(struct draw *d, enum layer_kind kind, int count)
{
    static const char *const names[] = {"embedding", "block", "head"};
    struct model *m = &d->p->model;
    struct layer_run *r = &m->runs[m->run_count++];
    *r = (struct layer_run){.kind = kind, .count = count, .recomputable = kind == LAYER_BLOCK};
    if (kind == LAYER_MEASURED) {
        r->name = arena_print(d->arena, "run%d", m->run_count - 1);
        r->recomputable = random_chance(d->rng, 85);
        r->measured = draw_bytes(d, &d->p->job);
    } else {
        r->name = names[kind];
    }
    m->layer_count += count;
}

static void draw_shape(struct draw *d)
{
    int64_t tensor = d->p->job.layout.tensor;
    int64_t kv_heads = tensor * random_between(d->rng, 1, 2),
            heads = kv_heads * random_between(d->rng, 1, 2),
            width = 4 * random_between(d->rng, 1, 2);
    bool gated = random_chance(d->rng, 50), rms = random_chance(d->rng, 50),
         bias = random_chance(d->rng, 50);
    d->p->model.has_shape = true;
    d->p->model.shape = (struct shape){
        .hidden = heads * width,
        .ffn = heads * width * random_between(d->rng, 2, 4),
        .heads = heads,
        .kv_heads = kv_heads,
        .head_width = width,
        .vocabulary = tensor * random_between(d->rng, 8, 64),
        .positions = random_chance(d->rng, 50) ? d->p->job.sequence : 0,
        .gated_ffn = gated,
        .rms_norm = rms,
        .qkv_bias = bias,
        .linear_bias = bias && random_chance(d->rng, 50),
        .dropout = random_chance(d->rng, 50),
        .tied_embeddings = random_chance(d->rng, 50),
    };
}

static void draw_model(struct draw *d)
{
    struct model *m = &d->p->model;
    *m = (struct model){
        .name = "random", .document.path = "", .runs = TAKE(d->arena, d->layers, struct layer_run)};
    if (d->flavour == FLAVOUR_UNLIKE) {
        while (m->layer_count < d->layers) {
            int left = d->layers - m->layer_count;
            add_run(d, LAYER_MEASURED,
                    random_chance(d->rng, 70) || left == 1
                        ? 1
                        : (int)random_between(d->rng, 1, left < 4 ? left : 4));
        }
        return;
    }
    bool shape = d->flavour == FLAVOUR_SHAPE;
    if (shape) draw_shape(d);
    assert(d->layers >= 3);
    add_run(d, shape ? LAYER_EMBEDDING : LAYER_MEASURED, 1);
    add_run(d, shape ? LAYER_BLOCK : LAYER_MEASURED, d->layers - 2);
    add_run(d, shape ? LAYER_HEAD : LAYER_MEASURED, 1);
}

// ---- cluster

static struct link draw_link(struct draw *d, double scale)
{
    return (struct link){scale * (double)random_between(d->rng, 1, 40) * 1e9,
                         seconds(random_chance(d->rng, 40) ? 0 : random_between(d->rng, 1, 300))};
}

static void draw_group(struct draw *d, int index)
{
    struct node_group *g = &d->p->cluster.groups[index];
    const struct layout *l = &d->p->job.layout;
    int collective = l->tensor * l->context, slots = (int)random_between(d->rng, 1, d->stages + 1);
    *g = (struct node_group){.name = arena_print(d->arena, "group%d", index),
                             .intra = draw_link(d, 4),
                             .nics = TAKE(d->arena, NIC_KIND_COUNT, struct nic)};
    g->gpu = random_chance(d->rng, 80) ? arena_print(d->arena, "gpu%d", index) : "gpu0";
    g->gpus_per_node = random_chance(d->rng, 15) ? 1
                                                 : collective * (int)random_between(d->rng, 1, 4);
    int per_node = g->gpus_per_node / collective, all = slots * l->data;
    g->nodes = per_node ? (all + per_node - 1) / per_node : all * collective;
    bool usual = random_chance(d->rng, 75);
    int first_kind = usual ? NIC_ETHERNET : (int)random_between(d->rng, 0, NIC_KIND_COUNT - 1);
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        if (kind == first_kind || random_chance(d->rng, 15))
            g->nics[g->nic_count++] = (struct nic){
                (enum nic_kind)kind, (int)random_between(d->rng, 1, 4), draw_link(d, 1)};
    if (random_chance(d->rng, 4)) g->nic_count = 0;
    random_rings(g, d->rng, d->arena);
}

static void draw_cluster(struct draw *d)
{
    struct cluster *c = &d->p->cluster;
    *c = (struct cluster){.name = "random",
                          .document.path = "",
                          .groups = TAKE(d->arena, d->groups, struct node_group),
                          .group_count = d->groups};
    c->links = TAKE(d->arena, d->groups * d->groups, struct group_link);
    for (int g = 0; g < d->groups; g++) draw_group(d, g);
    for (int from = 0; from < d->groups; from++)
        for (int to = 0; to < d->groups; to++)
            if (random_chance(d->rng, 8))
                c->links[c->link_count++] = (struct group_link){from, to, draw_link(d, 1)};
}

// ---- costs

static struct layer_time draw_time(struct draw *d, const char *run, const char *gpu)
{
    struct layer_time t = {.run = run, .gpu = gpu};
    int64_t forward = random_between(d->rng, 50, 2000),
            backward = forward + random_between(d->rng, 0, 2000), full = forward;
    if (d->limits->long_and_close) {
        // All layers are equal on all GPUs except for a few nanoseconds, and so are the best plans.
        forward = d->base_ns + random_between(d->rng, 0, 25);
        backward = 2 * d->base_ns + random_between(d->rng, 0, 25);
        full = forward;
    }
    int64_t selective =
        random_between(d->rng, 0, full / (d->limits->long_and_close ? 10000000 : 2));
    t.forward_s = seconds(forward), t.backward_s = seconds(backward),
    t.selective_s = seconds(selective), t.full_s = seconds(full);
    t.optimizer_s = seconds(random_chance(d->rng, 50) ? 0 : random_between(d->rng, 0, 500));
    if (random_chance(d->rng, 20)) t.tensor = d->p->job.layout.tensor;
    if (random_chance(d->rng, 20)) t.micro_batch = d->p->job.layout.micro_batch;
    return t;
}

static bool knows_gpu(const struct costs *c, const char *gpu)
{
    for (int i = 0; i < c->gpu_count; i++)
        if (!strcmp(c->gpus[i].gpu, gpu)) return true;
    return false;
}

static void draw_gpu(struct draw *d, const char *gpu)
{
    struct costs *c = &d->p->costs;
    struct gpu_costs *g = &c->gpus[c->gpu_count++];
    *g = (struct gpu_costs){
        .gpu = gpu,
        .precisions = TAKE(d->arena, 1, struct precision_costs),
        .memory_bytes_per_s = exactly((double)random_between(d->rng, 1, 40) * 1e10),
        .layer_overhead_s = exactly(seconds(random_between(d->rng, 0, 100))),
        .compression_overhead_s = exactly(seconds(random_between(d->rng, 0, 60))),
        .constant_bytes = exactly((double)random_between(d->rng, 0, 500)),
    };
    if (random_chance(d->rng, 97))
        g->precisions[g->precision_count++] = (struct precision_costs){
            .precision = d->p->job.precision,
            .gemm_flop_per_s = exactly((double)random_between(d->rng, 1, 60) * 3e9),
            .attention_flop_per_s = exactly((double)random_between(d->rng, 1, 60) * 2e9),
            .low_rank_flop_per_s = exactly((double)random_between(d->rng, 1, 90) * 1e10)};
}

struct estimate random_tree_share(const struct random *rng)
{
    struct random own = {rng->state ^ UINT64_C(0x7265657452696e67)};
    return random_chance(&own, 40) ? exactly((double)random_between(&own, 30, 100) / 100)
                                   : (struct estimate){0};
}

static void draw_costs(struct draw *d)
{
    static const double shares[][PART_COUNT] = {
        {0, 0, 1},         {0, 1, 0},     {1, 0, 0},      {0, 0.5, 0.5},
        {0.25, 0.5, 0.25}, {0.5, 0, 0.5}, {0, 0, 0, 0.5}, {0.25, 0, 0.25, 0.25},
        {0, 0.5, 0, 0.25}};
    struct costs *c = &d->p->costs;
    const struct model *m = &d->p->model;
    *c = (struct costs){
        .name = "random",
        .document.path = "",
        .intra_efficiency = exactly(0.75 + 0.25 * (double)random_between(d->rng, 0, 1))};
    c->gpus = TAKE(d->arena, d->groups, struct gpu_costs);
    c->layer_times = TAKE(d->arena, d->groups * m->run_count, struct layer_time);
    for (int i = 0; i < NIC_KIND_COUNT; i++)
        c->network_efficiency[i] = exactly((double)random_between(d->rng, 6, 10) / 10);
    c->tree_bandwidth_share = random_tree_share(d->rng);
    const double *share = shares[random_between(d->rng, 0, (int64_t)ARRAY_LENGTH(shares) - 1)];
    for (int i = 0; i < PART_COUNT; i++) c->transfer_share[i] = share[i];
    bool stated = d->flavour != FLAVOUR_SHAPE || d->limits->long_and_close ||
                  random_chance(d->rng, 30);
    for (int g = 0; g < d->groups; g++) {
        const char *gpu = d->p->cluster.groups[g].gpu;
        if (knows_gpu(c, gpu)) continue;
        draw_gpu(d, gpu);
        for (int r = 0; r < m->run_count && stated; r++)
            if (random_chance(d->rng, 99))
                c->layer_times[c->layer_time_count++] = draw_time(d, m->runs[r].name, gpu);
    }
}

// ---- job

// From separate random numbers, so that problems drawn without it do not change.
static void draw_grid(struct draw *d)
{
    struct random own = {d->rng->state * 0x9e3779b97f4a7c15u + 3};
    struct layout *l = &d->p->job.layout;
    int first = (int)random_between(&own, 1, 2), depth = (int)random_between(&own, 1, 2),
        rows = depth == 1 ? 2 : (int)random_between(&own, 1, 2);
    if (!d->limits->grids || d->flavour != FLAVOUR_SHAPE || random_chance(&own, 50)) return;
    l->tensor = first * depth * rows, l->grid_depth = depth, l->grid_rows = rows;
    l->context = 1, l->sequence_parallel = false, l->micro_batch *= rows;
}

static void draw_layout(struct draw *d)
{
    struct layout *l = &d->p->job.layout;
    bool shape = d->flavour == FLAVOUR_SHAPE;
    *l = (struct layout){.tensor = 1,
                         .context = 1,
                         .data = random_chance(d->rng, 50) ? 2 : 1,
                         LAYOUT_PLAIN(d->stages),
                         .micro_batch = 1};
    if (shape) {
        l->tensor = random_chance(d->rng, 30) ? 2 : 1;
        l->context = random_chance(d->rng, 15) ? 2 : 1;
        l->sequence_parallel = l->tensor > 1 && random_chance(d->rng, 50);
        l->micro_batch = random_chance(d->rng, 30) ? 2 : 1;
        l->fused_attention = random_chance(d->rng, 50);
        l->fused_embedding_sync = random_chance(d->rng, 30);
    }
    l->schedule = random_chance(d->rng, 60) ? SCHEDULE_1F1B : SCHEDULE_GPIPE;
    l->gradient_sync = random_chance(d->rng, 50) ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    l->zero = random_chance(d->rng, 30);
    draw_grid(d);
}

static void draw_options(struct draw *d)
{
    struct job *j = &d->p->job;
    j->recompute[RECOMPUTE_NONE] = true;
    j->recompute[RECOMPUTE_SELECTIVE] = rich(d, 30);
    j->recompute[RECOMPUTE_FULL] = rich(d, 40);
    j->recompute[RECOMPUTE_FIRST_LAYERS] = rich(d, 25);
    struct random own = {d->rng->state}; // what follows is drawn as without sets
    bool sets = !layout_has_grid(&j->layout) && random_chance(&own, d->richness / 6);
    for (int m = RECOMPUTE_SETS; m < RECOMPUTE_COUNT; m++)
        j->recompute[m] = sets && job_like_megatron(j) && random_chance(&own, 4);
    j->boundary_options = TAKE(d->arena, 2, struct compression_option);
    j->gradient_options = TAKE(d->arena, 2, struct compression_option);
    j->boundary_option_count = j->gradient_option_count = 0;
    int rank = 0;
    while (j->boundary_option_count < 2 && rich(d, 45)) {
        rank += (int)random_between(d->rng, 1, 3);
        j->boundary_options[j->boundary_option_count++] =
            (struct compression_option){.form.amount = rank,
                                        .epilogue_only = random_chance(d->rng, 50),
                                        .quality_cost = random_between(d->rng, 0, 3),
                                        .forgets = rank % 2 == 0};
    }
    rank = 0;
    while (j->gradient_option_count < 2 && rich(d, 45)) {
        rank += (int)random_between(d->rng, 1, 3);
        j->gradient_options[j->gradient_option_count++] =
            (struct compression_option){.form.amount = rank,
                                        .quality_cost = random_between(d->rng, 0, 3),
                                        .forgets = rank % 3 == 0};
    }
    bool limited = random_chance(d->rng, 60);
    j->budget = (struct quality_budget){
        .boundaries_max = limited && random_chance(d->rng, 50) ? random_between(d->rng, 0, 2) : -1,
        .stages_max = limited && random_chance(d->rng, 50) ? random_between(d->rng, 0, 2) : -1,
        .cost_max = limited && random_chance(d->rng, 50) ? random_between(d->rng, 0, 6) : -1,
        .rank_min = limited && random_chance(d->rng, 20) ? 2 : 0,
    };
}

static void draw_rule(struct draw *d, struct rule *r)
{
    int last = d->layers - 1;
    *r = rule_empty;
    r->action = random_chance(d->rng, 50) ? RULE_REQUIRE : RULE_FORBID;
    r->stage = random_chance(d->rng, 80) ? (int)random_between(d->rng, 0, d->stages - 1) : -1;
    r->groups = TAKE(d->arena, d->groups, const char *);
    switch (random_between(d->rng, 0, 5)) {
    case 0:
        for (int g = 0; g < d->groups; g++)
            if (random_chance(d->rng, 60) || (g == d->groups - 1 && !r->group_count))
                r->groups[r->group_count++] = d->p->cluster.groups[g].name;
        break;
    case 1:
        if (r->action == RULE_REQUIRE && r->stage < 0 && d->stages > 1) r->stage = 0;
        r->holds_first = (int)random_between(d->rng, 0, last);
        r->holds_last = (int)random_between(d->rng, r->holds_first,
                                            r->holds_first < last ? r->holds_first + 1 : last);
        break;
    case 2:
        if (random_chance(d->rng, 30))
            r->run = d->p->model.runs[random_between(d->rng, 0, d->p->model.run_count - 1)].name;
        r->layers_min =
            random_chance(d->rng, 50)
                ? (int)random_between(d->rng, r->run ? 0 : 1, d->layers < 3 ? d->layers : 3)
                : -1;
        r->layers_max =
            r->layers_min < 0 || random_chance(d->rng, 50)
                ? (int)random_between(d->rng, r->layers_min < 0 ? 1 : r->layers_min, d->layers)
                : -1;
        break;
    case 3:
        r->recompute_stated = true;
        for (int i = 0; i < RECOMPUTE_SWAP; i++) r->recompute[i] = random_chance(d->rng, 50);
        r->recompute[random_between(d->rng, 0, RECOMPUTE_SWAP - 1)] = true;
        break;
    case 4: r->compresses_gradient = (int)random_between(d->rng, 0, 1); break;
    default: r->compresses_boundary = (int)random_between(d->rng, 0, 1); break;
    }
    // Two conditions at once, now and then.
    if (r->action == RULE_FORBID && !r->group_count && random_chance(d->rng, 50))
        r->groups[r->group_count++] =
            d->p->cluster.groups[random_between(d->rng, 0, d->groups - 1)].name;
}

static void draw_job(struct draw *d)
{
    struct job *j = &d->p->job;
    *j = (struct job){.name = "random",
                      .document.path = "",
                      .adam = random_chance(d->rng, 80),
                      .memory_fraction = 1};
    j->precision = random_chance(d->rng, 30) ? FP32 : random_chance(d->rng, 50) ? FP16 : BF16;
    j->gradient_bytes_per_value = random_chance(d->rng, 50) ? 4 : 2;
    if (j->adam && d->rng->state % 5 < 2) j->state_bytes_per_value = 1 + (int)(d->rng->state % 16);
    draw_layout(d);
    j->sequence = d->flavour == FLAVOUR_SHAPE ? 4 * random_between(d->rng, 1, 4) : 1;
    j->global_batch = (int64_t)d->micro_batches * j->layout.data * j->layout.micro_batch;
    if (random_chance(d->rng, 30)) j->memory_fraction = 0.8;
    j->overlapped_tensor = d->rng->state % 3 == 0;
    if (random_chance(d->rng, 30)) j->memory_margin_bytes = random_between(d->rng, 1, 300);
}

static void draw_rules(struct draw *d)
{
    struct job *j = &d->p->job;
    int count = random_chance(d->rng, 50) ? 0 : (int)random_between(d->rng, 1, 2);
    j->rules = TAKE(d->arena, count, struct rule);
    for (j->rule_count = 0; j->rule_count < count; j->rule_count++)
        draw_rule(d, &j->rules[j->rule_count]);
}

// Memory around what an even share of the layers needs, so that it decides without always
// forbidding.
static void draw_memory(struct draw *d)
{
    const struct model *m = &d->p->model;
    const struct shape *s = &m->shape;
    int64_t need = 0, tokens = d->p->job.sequence * d->p->job.layout.micro_batch;
    for (int r = 0; r < m->run_count; r++) {
        const struct measured_bytes *b = &m->runs[r].measured;
        int64_t states = b->weight_bytes + b->gradient_bytes + b->optimizer_bytes,
                stash = b->stash_bytes[RECOMPUTE_NONE];
        if (m->runs[r].kind != LAYER_MEASURED) {
            int64_t values = m->runs[r].kind == LAYER_BLOCK
                                 ? 4 * s->hidden * s->hidden + 3 * s->hidden * s->ffn
                                 : s->vocabulary * s->hidden;
            states = 16 * values;
            stash = m->runs[r].kind == LAYER_BLOCK ? tokens * (12 * s->hidden + 4 * s->ffn) * 2
                                                   : 4 * tokens * s->vocabulary;
        }
        need += m->runs[r].count *
                (states + stash * (d->stages < d->micro_batches ? d->stages : d->micro_batches));
    }
    bool tight = random_chance(d->rng, 60);
    for (int g = 0; g < d->groups; g++) {
        int64_t percent = tight ? random_between(d->rng, 60, 250)
                                : random_between(d->rng, 400, 1000);
        d->p->cluster.groups[g].memory_bytes = need / d->stages * percent / 100 + 4000;
    }
}

// ---- size of an enumeration

static bool is_recomputable(const struct model *m, int layer)
{
    int run = 0;
    for (int behind = m->runs[0].count; layer >= behind; behind += m->runs[run].count) run++;
    return m->runs[run].recomputable;
}

// Ways to swap for a stage with this many layers that can be recomputed.
static double swap_count(const struct job *j, int n)
{
    if (!j->recompute[RECOMPUTE_SWAP]) return 0;
    if (j->recompute[RECOMPUTE_FIRST_LAYERS]) return n * (n + 1) / 2.0;
    return n && j->recompute[RECOMPUTE_FULL] ? 2 * n - 1 : n;
}

// Plans of all layers, groups, modes and options, before rules, budgets and memory.
static double plan_count(const struct problem *p)
{
    enum { LAYERS = 64 };
    const struct job *j = &p->job;
    int stages = j->layout.pipeline, layers = p->model.layer_count;
    double ways[LAYERS + 1] = {1}, options = p->cluster.group_count;
    options *= (1 + j->gradient_option_count) * job_tier_ways(j);
    assert(layers <= LAYERS);
    for (int s = 0; s < stages; s++) {
        double next[LAYERS + 1] = {0}, of_stage = options * (s ? 1 + j->boundary_option_count : 1);
        for (int first = 0; first < layers; first++)
            for (int behind = first + 1, recomputable = 0; behind <= layers; behind++) {
                recomputable += is_recomputable(&p->model, behind - 1);
                double modes = (j->recompute[RECOMPUTE_FIRST_LAYERS] ? recomputable : 0) +
                               swap_count(j, recomputable);
                for (int m = 0; m < RECOMPUTE_COUNT; m++)
                    modes += recompute_of_layer((enum recompute)m) && j->recompute[m];
                next[behind] += ways[first] * of_stage * modes;
            }
        memcpy(ways, next, sizeof ways);
    }
    return ways[layers];
}

// ---- all of it

static void draw_form(struct compression_form *form, struct random *own)
{
    form->method = (enum compression_method)random_between(own, 0, COMPRESSION_METHOD_COUNT - 1);
    if (form->method == COMPRESS_TOP_K) form->amount = (int)random_between(own, 1, 600);
    if (form->method == COMPRESS_QUANTISE) form->amount = random_chance(own, 50) ? 1 : 4;
}

// Some compressions become others than of low rank, from numbers of their own.
static void draw_forms(struct draw *d)
{
    struct job *j = &d->p->job;
    struct random own = {d->rng->state * 0x9e3779b97f4a7c15u + 3};
    if (random_chance(&own, 50)) return;
    for (int i = 0; i < j->boundary_option_count; i++)
        draw_form(&j->boundary_options[i].form, &own);
    for (int i = 0; i < j->gradient_option_count; i++)
        draw_form(&j->gradient_options[i].form, &own);
    for (int g = 0; g < d->p->costs.gpu_count; g++) {
        struct gpu_costs *gpu = &d->p->costs.gpus[g];
        struct estimate *const rates[] = {&gpu->top_k_values_per_s, &gpu->top_k_back_values_per_s,
                                          &gpu->quantise_values_per_s,
                                          &gpu->quantise_back_values_per_s};
        for (int i = 0; i < 4; i++) *rates[i] = exactly((double)random_between(&own, 1, 90) * 1e9);
    }
}

// Shares of the state on the host, from separate random numbers, so that other problems do not
// change; none if there would be more plans than requested.
static void draw_shares(struct draw *d, double plans_max)
{
    struct job *j = &d->p->job;
    struct random own = {d->rng->state * 0x9e3779b97f4a7c15u + 1};
    int shares[2] = {(int)random_between(&own, 1, 60)};
    shares[1] = (int)random_between(&own, 61, 100);
    if (j->layout.slice_count > 1 || random_chance(&own, 80)) return;
    job_offer_shares(j, shares, (int)random_between(&own, 1, 2), d->arena);
    while (plans_max > 0 && j->tier_option_count && plan_count(d->p) > plans_max)
        j->tier_option_count--;
    for (int g = 0; g < d->p->costs.gpu_count && j->tier_option_count; g++) {
        struct gpu_costs *gpu = &d->p->costs.gpus[g];
        double unit = random_chance(&own, 50) ? 1e8 : 1e11;
        gpu->host_memory_bytes_per_s = exactly((double)random_between(&own, 1, 40) * unit);
        gpu->host_link_bytes_per_s = exactly((double)random_between(&own, 1, 40) * unit);
        if (random_chance(&own, 30))
            gpu->host_update_values_per_s = exactly((double)random_between(&own, 1, 9) * 1e7);
    }
}

// Memory for an even share of the states and some activations, so that swapping is of use.
static void leave_no_room(struct draw *d, struct random *own)
{
    const struct model *m = &d->p->model;
    int64_t states = 0, stash = 0,
            flight = d->stages < d->micro_batches ? d->stages : d->micro_batches;
    for (int r = 0; r < m->run_count; r++) {
        const struct measured_bytes *b = &m->runs[r].measured;
        if (m->runs[r].kind != LAYER_MEASURED) return;
        states += m->runs[r].count * (b->weight_bytes + b->gradient_bytes + b->optimizer_bytes);
        stash += m->runs[r].count * b->stash_bytes[RECOMPUTE_NONE] * flight;
    }
    for (int g = 0; g < d->groups; g++)
        d->p->cluster.groups[g].memory_bytes =
            (states * random_between(own, 135, 200) + stash * random_between(own, 5, 50)) / 100 /
                d->stages +
            8000;
}

// Stages may swap, from numbers of their own, over links that are about as fast as the layers;
// sometimes not from every kind of GPU.
static void draw_swaps(struct draw *d, double plans_max)
{
    struct job *j = &d->p->job;
    struct random own = {d->rng->state * 0x9e3779b97f4a7c15u + 5};
    if (d->limits->keeps || j->layout.slice_count > 1 || random_chance(&own, 50)) return;
    j->recompute[RECOMPUTE_SWAP] = true;
    j->recompute[RECOMPUTE_SWAP] = plans_max <= 0 || plan_count(d->p) <= plans_max;
    if (!j->recompute[RECOMPUTE_SWAP]) return;
    if (random_chance(&own, 75)) leave_no_room(d, &own);
    for (int g = 0; g < d->p->costs.gpu_count; g++) {
        double part = (double)random_between(&own, 1, 40) / 10,
               forward = d->p->costs.layer_time_count ? d->p->costs.layer_times[0].forward_s : 1e-7;
        if (j->tier_option_count || random_chance(&own, 15)) continue;
        d->p->costs.gpus[g].host_link_bytes_per_s = exactly(2500 / (part * forward + 1e-9));
    }
    for (int i = 0; i < j->rule_count; i++)
        if (j->rules[i].recompute_stated)
            j->rules[i].recompute[RECOMPUTE_SWAP] = random_chance(&own, 50);
}

void random_problem(struct problem *p, struct random *rng, const struct random_limits *limits,
                    struct arena *arena)
{
    struct draw d = {.p = p, .rng = rng, .limits = limits, .arena = arena, .richness = 100};
    d.flavour = limits->flavour == FLAVOUR_ANY ? (int)random_between(rng, 0, FLAVOUR_COUNT - 1)
                                               : limits->flavour;
    d.layers = size_between(&d, d.flavour == FLAVOUR_UNLIKE ? 1 : 3, limits->layers_max);
    d.stages = size_between(&d, 1, limits->stages_max < d.layers ? limits->stages_max : d.layers);
    d.groups = size_between(&d, 1, limits->groups_max);
    d.micro_batches = size_between(&d, 1, limits->micro_batches_max);
    d.base_ns = random_between(rng, 400000000, 1000000000);
    *p = (struct problem){.name = "random", .document.path = ""};
    draw_job(&d);
    draw_model(&d);
    draw_cluster(&d), draw_costs(&d), draw_memory(&d);
    do {
        draw_options(&d);
        d.richness = d.richness * 3 / 4;
    } while (limits->plans_max > 0 && plan_count(p) > limits->plans_max && d.richness > 0);
    draw_rules(&d);
    draw_forms(&d);
    if (layout_has_grid(&p->job.layout)) grids_fit(p), grids_decide(p, rng->state);
    draw_shares(&d, limits->plans_max);
    draw_swaps(&d, limits->plans_max);
    settings_draw(&p->job.layout, p->job.recompute, rng->state);
    assert(limits->plans_max <= 0 || plan_count(p) <= limits->plans_max);
}
