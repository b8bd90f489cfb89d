// Random problems with a space for the tests of claims: every feature, sizes that can be
// enumerated.
#include "data/kinds/schedules.h"
#include "tests/support/claims/draw.h"

#include "tests/support/claims/draw_space.h"

#include <stdlib.h>
#include <string.h>

#include "formulate/price/price.h"
#include "tests/support/oracle/oracle.h"

enum { KINDS_PERCENT = 25 }; // problems of few kinds of layers

struct weights {
    int64_t pass, recompute, optimizer, sync, message, latency, stash;
};

// What the end of an iteration turns on, syncs, last messages and steps; periods without a barrier;
// anything.
enum theme { THEME_ENDING, THEME_PERIOD, THEME_ANY };

struct draw {
    struct problem *p;
    struct random *rng;
    struct arena *arena;
    struct layout *layout;
    int layers, micro_batches, spare; // spare: devices of the cluster over those of the base layout
    enum theme theme;
    bool shape, jitter, options;
    int64_t unit; // ns, and bytes
    struct weights weight;
};

static int64_t pick(struct draw *d, const int64_t *values, size_t count)
{
    return values[random_between(d->rng, 0, (int64_t)count - 1)];
}
#define PICK(d, ...)                                                                               \
    pick(d, (const int64_t[]){__VA_ARGS__},                                                        \
         sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static bool chance(struct draw *d, int percent) { return random_chance(d->rng, percent); }

static double seconds(int64_t ns) { return (double)ns * 1e-9; }

static int64_t amount(struct draw *d, int64_t weight)
{
    int64_t most = chance(d, 50) ? 3 : 12,
            whole = random_between(d->rng, chance(d, 30) ? 0 : 1, most) * weight * d->unit;
    return whole + (d->jitter && weight ? random_between(d->rng, 0, d->unit - 1) : 0);
}

// What a theme is about.
static bool is_kept(const struct draw *d, const int64_t *weight)
{
    const struct weights *w = &d->weight;
    return d->theme == THEME_ENDING
               ? weight == &w->sync || weight == &w->message
               : d->theme == THEME_PERIOD && (weight == &w->pass || weight == &w->optimizer);
}

// One or two quantities outweigh the others; some are not there at all.
// In a sparse problem only a few are there, passes being none of them: bounds are tight then.
static void draw_weights(struct draw *d)
{
    struct weights *w = &d->weight;
    int64_t *const all[] = {&w->pass, &w->recompute, &w->optimizer,
                            &w->sync, &w->message,   &w->stash};
    bool sparse = chance(d, 50);
    int64_t *const heavy[] = {&w->pass,    &w->optimizer, &w->sync,     &w->sync,
                              &w->message, &w->message,   &w->recompute};
    d->unit = d->options ? PICK(d, 10, 100, 1000) : PICK(d, 1, 10, 1000, 100000, 1000000);
    d->jitter = chance(d, 30);
    *w = (struct weights){.pass = 1,
                          .recompute = PICK(d, 0, 1, 1),
                          .optimizer = PICK(d, 0, 1, 1),
                          .sync = PICK(d, 0, 1, 1, 1),
                          .message = PICK(d, 0, 1, 1, 1),
                          .latency = PICK(d, 0, 0, 0, 1, 3),
                          .stash = PICK(d, 0, 1, 1, 3)};
    if (d->theme == THEME_ENDING)
        w->sync = PICK(d, 4, 16, 16), w->message = PICK(d, 4, 4, 16), w->latency = 0;
    if (d->theme == THEME_PERIOD)
        w->optimizer = PICK(d, 1, 1, 2), w->message = PICK(d, 0, 0, 1), w->sync = PICK(d, 0, 0, 1);
    for (int left = d->theme == THEME_ANY ? (int)random_between(d->rng, 0, 2) : 0; left > 0; left--)
        *heavy[random_between(d->rng, 0, 6)] *= PICK(d, 4, 4, 16);
    for (int i = 0; i < 6 && sparse; i++)
        if (chance(d, is_kept(d, all[i]) ? 5 : 50)) *all[i] = 0;
}

// A run's own part of a quantity: mostly the others', of ends often more, or nothing.
static int64_t of_run(struct draw *d, const char *run, int64_t weight)
{
    bool end = !strcmp(run, "first") || !strcmp(run, "last") || !strcmp(run, "embedding") ||
               !strcmp(run, "head");
    return weight * (end ? PICK(d, 0, 1, 1, 4, 16) : PICK(d, 1, 1, 1, 1, 1, 0, 4));
}

// The same for passes and steps: without a barrier the steps of ends without passes matter.
static int64_t of_pass(struct draw *d, const char *run, int64_t weight)
{
    return d->theme == THEME_PERIOD && !strcmp(run, "last")
               ? weight * PICK(d, 0, 0, 0, 1)
               : of_run(d, run, weight * (d->theme == THEME_PERIOD ? 2 : 1));
}

static int64_t of_step(struct draw *d, const char *run, int64_t weight)
{
    return d->theme == THEME_PERIOD && !strcmp(run, "last") ? weight * PICK(d, 1, 2, 4, 8)
                                                            : of_run(d, run, weight);
}

// ---- layout

static int draw_turns(struct draw *d, int kind)
{
    int turns = schedule_kinds[kind].virtual_stages;
    return turns ? turns : (int)PICK(d, 2, 2, 3);
}

static void draw_slices(struct draw *d)
{
    struct layout *l = d->layout;
    l->slice_count = (int)PICK(d, 2, 2, 3);
    d->p->job.sequence = l->slice_count * random_between(d->rng, 1, 4) +
                         random_between(d->rng, 0, l->slice_count - 1);
    int64_t left = d->p->job.sequence;
    for (int i = 0; i < l->slice_count; i++) {
        int behind = l->slice_count - 1 - i;
        l->slices[i] = (int)(behind ? (chance(d, 50) ? left / (behind + 1)
                                                     : random_between(d->rng, 1, left - behind))
                                    : left);
        left -= l->slices[i];
    }
}

static void draw_layout(struct draw *d)
{
    struct layout *l = d->layout;
    bool plain = d->theme != THEME_ANY && chance(d, 50);
    int kind = (int)(plain ? PICK(d, SCHEDULE_GPIPE, SCHEDULE_1F1B)
                           : random_between(d->rng, 0, SCHEDULE_KIND_COUNT - 1));
    int turns = draw_turns(d, kind),
        ranks = (int)(turns > 2   ? 2
                      : turns > 1 ? PICK(d, kind == SCHEDULE_LOOPED_BFS ? 1 : 2, 2, 3)
                                  : PICK(d, 1, 2, 2, 2, 3, 3, 4));
    *l = (struct layout){.tensor = 1,
                         .context = 1,
                         .data = (int)PICK(d, 1, 2, 2, 3),
                         LAYOUT_PLAIN(ranks),
                         .micro_batch = (int)PICK(d, 1, 1, 2)};
    l->virtual_stages = turns;
    l->schedule = kind;
    l->gradient_sync = chance(d, d->theme == THEME_ENDING ? 25 : 40) ? SYNC_OVERLAPPED
                                                                     : SYNC_EXPOSED;
    l->zero = (int)PICK(d, 0, 0, 0, 1, 2, 3);
    l->offload_optimizer = chance(d, 12);
    l->barrier = d->theme == THEME_PERIOD ? chance(d, 5)
                                          : chance(d, d->theme == THEME_ENDING ? 85 : 60);
    if (d->theme == THEME_ENDING && l->data == 1) l->data = 2;
    if (chance(d, 12)) l->local_loss_every = (int)PICK(d, 1, 2);
    d->p->job.sequence = d->shape ? 2 * random_between(d->rng, 1, 4) : 1;
    if (schedule_kinds[kind].slices) draw_slices(d);
    if (d->shape && chance(d, 25)) l->tensor = 2, l->sequence_parallel = chance(d, 50);
    if (d->shape && !schedule_kinds[kind].slices && chance(d, 20)) l->context = 2;
    if (d->shape) l->fused_attention = chance(d, 50), l->fused_embedding_sync = chance(d, 40);
    int more = (int)(d->theme != THEME_ANY ? PICK(d, 1, 1, 1, 2, d->theme == THEME_PERIOD ? 2 : 0)
                                           : PICK(d, 0, 0, 0, 1, 1, 2, ranks * turns > 3 ? 2 : 3));
    d->layers = ranks * turns + (turns > 2 && more > 1 ? 1 : more);
    d->micro_batches =
        (int)(d->theme == THEME_ANY ? PICK(d, 1, 2, 3, 4, 5, 6) : PICK(d, 1, 1, 2, 3));
    if (schedule_kinds[kind].in_groups)
        d->micro_batches = ranks + (int)random_between(d->rng, 0, ranks > 2 ? 1 : 3);
    d->spare = chance(d, 25) ? 2 : 1;
}

// ---- model

static struct measured_bytes draw_bytes(struct draw *d, const char *run)
{
    const struct job *j = &d->p->job;
    struct measured_bytes m = {.weight_bytes = amount(d, d->weight.stash),
                               .optimizer_bytes = amount(d, d->weight.stash)};
    m.gradient_bytes = amount(d, of_run(d, run, d->weight.sync));
    m.boundary_bytes = 1 + amount(d, d->weight.message);
    if (d->options && chance(d, 85)) {
        m.matrix_rows = random_between(d->rng, 8, 40),
        m.matrix_columns = random_between(d->rng, 8, 40);
        m.gradient_bytes += j->gradient_bytes_per_value * m.matrix_rows * m.matrix_columns;
        m.boundary_bytes = precision_bytes(j->precision) * m.matrix_rows * m.matrix_columns;
    }
    m.stash_bytes[RECOMPUTE_NONE] = amount(d, d->weight.stash);
    m.stash_bytes[RECOMPUTE_SELECTIVE] = m.stash_bytes[RECOMPUTE_NONE] *
                                         random_between(d->rng, 50, 100) / 100;
    m.stash_bytes[RECOMPUTE_FULL] = m.stash_bytes[RECOMPUTE_NONE] * random_between(d->rng, 0, 60) /
                                    100;
    for (int i = 0; i < 3 && chance(d, 15); i++)
        m.stash_bytes[i] = amount(d, d->weight.stash); // what a mode keeps is any number
    for (int i = 0; i < 3; i++)
        m.working_bytes[i] =
            chance(d, 50) ? 0 : llabs(m.stash_bytes[RECOMPUTE_NONE] - m.stash_bytes[i]);
    if (chance(d, 15)) m.working_bytes[random_between(d->rng, 0, 2)] = amount(d, d->weight.stash);
    return m;
}

static void add_run(struct draw *d, enum layer_kind kind, int count, const char *name)
{
    struct model *m = &d->p->model;
    struct layer_run *r = &m->runs[m->run_count++];
    *r = (struct layer_run){
        .name = name, .kind = kind, .count = count, .recomputable = kind == LAYER_BLOCK};
    if (kind == LAYER_MEASURED) r->recomputable = chance(d, 80), r->measured = draw_bytes(d, name);
    m->layer_count += count;
}

static void draw_shape(struct draw *d)
{
    const struct layout *l = d->layout;
    int64_t tensor = 2, kv_heads = tensor * random_between(d->rng, 1, 2),
            heads = kv_heads * random_between(d->rng, 1, 2), width = 4;
    d->p->model.has_shape = true;
    d->p->model.shape =
        (struct shape){.hidden = heads * width,
                       .ffn = heads * width * random_between(d->rng, 2, 4),
                       .heads = heads,
                       .kv_heads = kv_heads,
                       .head_width = width,
                       .vocabulary = tensor * l->tensor * random_between(d->rng, 8, 64),
                       .positions = chance(d, 30) ? d->p->job.sequence : 0,
                       .gated_ffn = chance(d, 50),
                       .rms_norm = chance(d, 50),
                       .dropout = chance(d, 50),
                       .tied_embeddings = chance(d, 70)};
}

// Like layers between ends that are others, or not; layers of a few sorts; all of one.
static void draw_model(struct draw *d)
{
    struct model *m = &d->p->model;
    *m = (struct model){.name = "drawn",
                        .document.path = "",
                        .runs = TAKE(d->arena, d->layers + 3, struct layer_run)};
    if (d->shape) {
        draw_shape(d);
        add_run(d, LAYER_EMBEDDING, 1, "embedding");
        add_run(d, LAYER_BLOCK, d->layers > 2 ? d->layers - 2 : 1, "block");
        add_run(d, LAYER_HEAD, 1, "head");
        return;
    }
    int ends = d->theme == THEME_ANY ? 50 : 20, unlike = chance(d, d->theme == THEME_ANY ? 20 : 5);
    int first = chance(d, ends) && d->layers > 1,
        last = chance(d, d->theme == THEME_PERIOD ? 75 : ends) && d->layers - first > 1;
    if (first) add_run(d, LAYER_MEASURED, 1, "first");
    for (int left = d->layers - first - last, i = 0; left > 0; i++) {
        int count = unlike ? (int)random_between(d->rng, 1, left < 3 ? left : 3) : left;
        add_run(d, LAYER_MEASURED, count, arena_print(d->arena, "run%d", i));
        left -= count;
    }
    if (last) add_run(d, LAYER_MEASURED, 1, "last");
    if (chance(d, 4)) m->runs[random_between(d->rng, 0, m->run_count - 1)].frozen = true;
}

// ---- cluster

static struct link draw_link(struct draw *d)
{
    return (struct link){(double)PICK(d, 1, 1, 1, 2, 4, 10) * 1e9,
                         seconds(amount(d, d->weight.latency))};
}

static void draw_group(struct draw *d, int index, int slots)
{
    struct node_group *g = &d->p->cluster.groups[index];
    const struct layout *l = d->layout;
    int collective = l->tensor * l->context, per_node = collective * (chance(d, 40) ? l->data : 1);
    *g = (struct node_group){.name = arena_print(d->arena, "group%d", index),
                             .intra = draw_link(d),
                             .nics = TAKE(d->arena, NIC_KIND_COUNT, struct nic)};
    g->gpu = chance(d, 75) ? arena_print(d->arena, "gpu%d", index) : "gpu0";
    if (chance(d, 20)) per_node *= slots;
    g->gpus_per_node = per_node;
    g->nodes = slots * l->data * collective / per_node;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        if (chance(d, kind == NIC_ETHERNET ? 92 : 20))
            g->nics[g->nic_count++] =
                (struct nic){(enum nic_kind)kind, (int)PICK(d, 1, 1, 2), draw_link(d)};
}

static void draw_cluster(struct draw *d)
{
    struct cluster *c = &d->p->cluster;
    int slots = d->layout->pipeline * d->spare, groups = d->theme == THEME_ANY
                                                             ? (int)PICK(d, 1, 1, 2, 2, 3)
                                                             : (int)PICK(d, 1, 1, 1, 1, 1, 2);
    if (groups > slots) groups = slots;
    *c = (struct cluster){
        .name = "drawn", .document.path = "", .groups = TAKE(d->arena, groups, struct node_group)};
    for (int left = slots; c->group_count < groups; c->group_count++) {
        int behind = groups - 1 - c->group_count,
            own = behind ? (int)random_between(d->rng, 1, left - behind) : left;
        draw_group(d, c->group_count, own);
        left -= own;
    }
    c->links = TAKE(d->arena, groups * groups, struct group_link);
    for (int from = 0; from < groups; from++)
        for (int to = 0; to < groups; to++)
            if (chance(d, 10))
                c->links[c->link_count++] = (struct group_link){from, to, draw_link(d)};
}

// ---- costs

// Ends may be heavy, or nothing; some passes take nothing at all.
static struct layer_time draw_time(struct draw *d, const char *run, const char *gpu, int64_t speed)
{
    int64_t pass = of_pass(d, run, d->weight.pass * speed), forward = amount(d, pass),
            backward = amount(d, pass);
    if (chance(d, 8)) *(chance(d, 50) ? &forward : &backward) = 0;
    struct layer_time t = {
        .run = run, .gpu = gpu, .forward_s = seconds(forward), .backward_s = seconds(backward)};
    t.weight_s = seconds(backward * PICK(d, 0, 20, 50, 80, 100) / 100);
    t.selective_s = seconds(amount(d, d->weight.recompute) / 2);
    t.full_s = chance(d, 60) ? t.forward_s : seconds(amount(d, d->weight.recompute));
    t.optimizer_s = seconds(amount(d, of_step(d, run, d->weight.optimizer)));
    return t;
}

static const struct gpu_costs *find_gpu(const struct costs *c, const char *gpu)
{
    for (int i = 0; i < c->gpu_count; i++)
        if (!strcmp(c->gpus[i].gpu, gpu)) return &c->gpus[i];
    return NULL;
}

static void draw_gpu(struct draw *d, const char *gpu)
{
    struct costs *c = &d->p->costs;
    struct gpu_costs *g = &c->gpus[c->gpu_count++];
    int64_t speed = PICK(d, 1, 1, 2, 3);
    *g = (struct gpu_costs){.gpu = gpu,
                            .precisions = TAKE(d->arena, 1, struct precision_costs),
                            .memory_bytes_per_s = exactly(1e9 * (double)PICK(d, 10, 100, 1000)),
                            .layer_overhead_s = exactly(seconds(random_between(d->rng, 0, 100))),
                            .constant_bytes = exactly((double)amount(d, chance(d, 50)))};
    g->compression_overhead_s = exactly(seconds(random_between(d->rng, 0, 60)));
    if (chance(d, 98))
        g->precisions[g->precision_count++] = (struct precision_costs){
            .precision = d->p->job.precision,
            .gemm_flop_per_s = exactly(1e9 * (double)PICK(d, 3, 30, 100)),
            .attention_flop_per_s = exactly(1e9 * (double)PICK(d, 2, 20, 100)),
            .low_rank_flop_per_s = exactly(1e10 * (double)PICK(d, 1, 20, 90))};
    if (d->layout->offload_optimizer || chance(d, 10))
        g->host_memory_bytes_per_s = exactly(1e9 * (double)PICK(d, 1, 10)),
        g->host_link_bytes_per_s = exactly(1e9 * (double)PICK(d, 1, 10));
    if (d->shape && chance(d, 50)) return;
    for (int r = 0; r < d->p->model.run_count; r++)
        c->layer_times[c->layer_time_count++] = draw_time(d, d->p->model.runs[r].name, gpu, speed);
}

static void draw_costs(struct draw *d)
{
    enum { BLOCKING_FIRST = 6 }; // those from here on keep an end busy
    static const double shares[][PART_COUNT] = {{0, 1, 0, 0},
                                                {0, 0, 1, 0},
                                                {0, 0.5, 0.5, 0},
                                                {0.5, 0.5, 0, 0},
                                                {0.25, 0.25, 0.25, 0.125},
                                                {0, 0.5, 0, 0.25},
                                                {0.5, 0, 0.5, 0},
                                                {0.5, 0, 0, 0.25},
                                                {1, 0, 0, 0},
                                                {1, 0, 0, 0},
                                                {0, 0, 0, 0.5},
                                                {0, 0, 0, 0.5}};
    struct costs *c = &d->p->costs;
    int first = d->theme == THEME_ENDING && chance(d, 80) ? BLOCKING_FIRST : 0;
    const double *share =
        shares[random_between(d->rng, first, (int64_t)(sizeof shares / sizeof *shares) - 1)];
    int groups = d->p->cluster.group_count;
    *c = (struct costs){
        .name = "drawn",
        .document.path = "",
        .intra_efficiency = exactly(1),
        .gpus = TAKE(d->arena, groups, struct gpu_costs),
        .layer_times = TAKE(d->arena, groups * d->p->model.run_count, struct layer_time)};
    for (int i = 0; i < NIC_KIND_COUNT; i++)
        c->network_efficiency[i] = exactly(chance(d, 80) ? 1 : 0.7);
    memcpy(c->transfer_share, share, sizeof c->transfer_share);
    c->tree_bandwidth_share = random_tree_share(d->rng);
    for (int g = 0; g < groups; g++)
        if (!find_gpu(c, d->p->cluster.groups[g].gpu)) draw_gpu(d, d->p->cluster.groups[g].gpu);
}

// ---- job

// Some are of another form than low rank, with the rates that it needs.
static void draw_form(struct draw *d, struct compression_form *form)
{
    if (chance(d, 60)) return;
    form->method = chance(d, 50) ? COMPRESS_TOP_K : COMPRESS_QUANTISE;
    form->amount = form->method == COMPRESS_QUANTISE ? 4 : (int)random_between(d->rng, 1, 500);
    for (int g = 0; g < d->p->costs.gpu_count; g++) {
        struct gpu_costs *gpu = &d->p->costs.gpus[g];
        gpu->top_k_values_per_s = gpu->top_k_back_values_per_s =
            exactly(1e9 * (double)PICK(d, 1, 20));
        gpu->quantise_values_per_s = gpu->quantise_back_values_per_s =
            exactly(1e9 * (double)PICK(d, 1, 20));
    }
}

// From numbers of its own, so that the others are as without.
static void draw_swaps(struct draw *d)
{
    struct random own = {d->rng->state * 0x9e3779b97f4a7c15u + 5};
    if (!random_chance(&own, 30)) return;
    d->p->job.recompute[RECOMPUTE_SWAP] = true;
    for (int g = 0; g < d->p->costs.gpu_count; g++)
        if (random_chance(&own, 85))
            d->p->costs.gpus[g].host_link_bytes_per_s =
                exactly(1e8 * (double)(int64_t[]){1, 10, 100, 1000}[random_between(&own, 0, 3)]);
}

static void draw_options(struct draw *d)
{
    struct job *j = &d->p->job;
    bool any = chance(d, 60);
    for (int mode = 0; mode < RECOMPUTE_SWAP; mode++)
        j->recompute[mode] = mode == RECOMPUTE_NONE ||
                             (any && chance(d, d->layout->virtual_stages > 1 ? 25 : 45));
    draw_swaps(d);
    j->boundary_options = TAKE(d->arena, 2, struct compression_option),
    j->gradient_options = TAKE(d->arena, 2, struct compression_option);
    j->budget = (struct quality_budget){-1, -1, -1, 0};
    if (!d->options) return;
    for (int i = 0, rank = 0; i < 2; i++) {
        rank += (int)random_between(d->rng, 1, 3);
        if (chance(d, 60))
            j->boundary_options[j->boundary_option_count++] =
                (struct compression_option){.form.amount = rank,
                                            .epilogue_only = chance(d, 50),
                                            .quality_cost = random_between(d->rng, 0, 3),
                                            .forgets = rank % 2 == 0};
        if (chance(d, 50))
            j->gradient_options[j->gradient_option_count++] =
                (struct compression_option){.form.amount = rank,
                                            .quality_cost = random_between(d->rng, 0, 3),
                                            .forgets = rank % 3 == 0};
    }
    for (int i = 0; i < j->boundary_option_count + j->gradient_option_count; i++)
        draw_form(d, i < j->boundary_option_count
                         ? &j->boundary_options[i].form
                         : &j->gradient_options[i - j->boundary_option_count].form);
    if (chance(d, 25)) {
        int shares[2] = {(int)random_between(d->rng, 1, 60)};
        shares[1] = (int)random_between(d->rng, 61, 100);
        job_offer_shares(j, shares, 1 + chance(d, 50), d->arena);
        for (int g = 0; g < d->p->costs.gpu_count; g++) {
            struct gpu_costs *gpu = &d->p->costs.gpus[g];
            gpu->host_memory_bytes_per_s = exactly(1e9 * (double)PICK(d, 1, 10));
            gpu->host_link_bytes_per_s = exactly(1e9 * (double)PICK(d, 1, 10));
            if (chance(d, 60)) gpu->host_update_values_per_s = exactly(1e8 * (double)PICK(d, 1, 5));
        }
    }
    if (chance(d, 40)) j->budget.boundaries_max = random_between(d->rng, 0, 2);
    if (chance(d, 40)) j->budget.stages_max = random_between(d->rng, 0, 2);
    if (chance(d, 30)) j->budget.cost_max = random_between(d->rng, 0, 6);
    if (chance(d, 15)) j->budget.rank_min = 2;
}

static void draw_rule(struct draw *d, struct rule *r)
{
    int last = d->p->model.layer_count - 1, stages = layout_stage_count(d->layout);
    *r = rule_empty;
    r->action = chance(d, 50) ? RULE_REQUIRE : RULE_FORBID;
    r->stage = chance(d, 80) ? (int)random_between(d->rng, 0, stages - 1) : -1;
    r->groups = TAKE(d->arena, 1, const char *);
    switch (random_between(d->rng, 0, 4)) {
    case 0:
        r->groups[r->group_count++] =
            d->p->cluster.groups[random_between(d->rng, 0, d->p->cluster.group_count - 1)].name;
        break;
    case 1:
        if (r->action == RULE_REQUIRE && r->stage < 0 && stages > 1) r->stage = 0;
        r->holds_first = (int)random_between(d->rng, 0, last), r->holds_last = r->holds_first;
        break;
    case 2:
        r->layers_min = (int)random_between(d->rng, 1, 2);
        if (chance(d, 50)) r->layers_max = r->layers_min + 1;
        break;
    case 3:
        r->recompute_stated = true;
        for (int i = 0; i < RECOMPUTE_SWAP; i++) r->recompute[i] = chance(d, 50);
        r->recompute[random_between(d->rng, 0, RECOMPUTE_SWAP - 1)] = true;
        break;
    default:
        *(chance(d, 50) ? &r->compresses_gradient : &r->compresses_boundary) =
            (int)random_between(d->rng, 0, 1);
        break;
    }
}

static void draw_job(struct draw *d)
{
    struct job *j = &d->p->job;
    *j = (struct job){.name = "drawn",
                      .document.path = "",
                      .adam = chance(d, 70),
                      .memory_fraction = chance(d, 80) ? 1 : 0.8};
    j->precision = chance(d, 30) ? FP32 : chance(d, 50) ? FP16 : BF16;
    j->gradient_bytes_per_value = chance(d, 50) ? 4 : 2;
    d->layout = &j->layout;
    draw_layout(d);
    j->global_batch = (int64_t)d->micro_batches * j->layout.data * j->layout.micro_batch;
    if (j->layout.local_loss_every || chance(d, 10))
        j->local_loss = (struct local_loss){seconds(amount(d, chance(d, 50))),
                                            seconds(amount(d, chance(d, 50))),
                                            amount(d, chance(d, 50)),
                                            {0, 0}};
    if (chance(d, 4)) j->objective = OBJECTIVE_MAX_LOAD;
}

static void draw_rules(struct draw *d)
{
    struct job *j = &d->p->job;
    int count = chance(d, 80) ? 0 : (int)random_between(d->rng, 1, 2);
    j->rules = TAKE(d->arena, count, struct rule);
    while (j->rule_count < count) draw_rule(d, &j->rules[j->rule_count++]);
}

// Around what an even share of the layers needs, or plenty.
static void draw_memory(struct draw *d)
{
    const struct model *m = &d->p->model;
    const struct layout *l = d->layout;
    int64_t need = 0, held = l->pipeline < d->micro_batches ? l->pipeline : d->micro_batches,
            plenty = (int64_t)1 << 40;
    for (int r = 0; r < m->run_count; r++) {
        const struct measured_bytes *b = &m->runs[r].measured;
        const struct shape *s = &m->shape;
        int64_t states = b->weight_bytes + b->gradient_bytes + b->optimizer_bytes,
                stash = b->stash_bytes[RECOMPUTE_NONE];
        if (m->runs[r].kind == LAYER_BLOCK)
            states = 16 * (4 * s->hidden * s->hidden + 3 * s->hidden * s->ffn),
            stash = d->p->job.sequence * l->micro_batch * (12 * s->hidden + 4 * s->ffn) * 2;
        else if (m->runs[r].kind != LAYER_MEASURED) states = 16 * s->vocabulary * s->hidden;
        need += m->runs[r].count * (states + stash * held);
    }
    bool tight = chance(d, d->theme == THEME_ANY ? 40 : 15);
    for (int g = 0; g < d->p->cluster.group_count; g++)
        d->p->cluster.groups[g].memory_bytes =
            tight ? need / l->pipeline * random_between(d->rng, 50, 200) / 100 +
                        random_between(d->rng, 1, 4 * d->unit)
                  : plenty;
}

// Few plans enough.
static bool is_small(const struct problem *p, struct arena *arena)
{
    enum { PLANS_MOST = 30000 };
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(p, &p->job.layout);
    struct priced priced;
    return price_problem(&priced, &one, arena, &err) == OK &&
           oracle_size(&priced, PLANS_MOST, arena) <= PLANS_MOST;
}

void claims_draw(struct problem *p, struct random *rng, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (;;) {
        struct draw d = {.p = p, .rng = rng, .arena = arena};
        arena_reset(arena, mark);
        if (chance(&d, KINDS_PERCENT)) {
            if (claims_draw_kinds(p, rng, arena) && is_small(p, arena)) return;
            continue;
        }
        *p = (struct problem){.name = "drawn", .document.path = ""};
        d.theme = (enum theme)PICK(&d, THEME_ENDING, THEME_ENDING, THEME_PERIOD, THEME_PERIOD,
                                   THEME_ANY, THEME_ANY);
        d.shape = chance(&d, d.theme == THEME_ANY ? 25 : 8),
        d.options = chance(&d, d.theme == THEME_ANY ? 40 : 8);
        draw_weights(&d);
        draw_job(&d);
        if (schedule_kinds[d.layout->schedule].slices) d.options = false;
        draw_model(&d);
        draw_cluster(&d);
        draw_costs(&d);
        draw_memory(&d);
        draw_options(&d);
        draw_rules(&d);
        if (d.shape) claims_draw_kind(p, rng->state, arena);
        claims_draw_energy(p, rng->state, arena);
        struct space_draw space = {p, rng, arena, d.layout, d.theme != THEME_ANY, d.spare};
        if (claims_draw_space(&space) && is_small(p, arena)) return;
    }
}
