// Problems with the objective pipette.
#include "data/kinds/schedules.h"
#include "tests/support/pipette.h"

#include "solve/places/placed.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

void pipette_load_costs(struct costs *costs, struct arena *arena)
{
    const char *path;
    MUST(shipped_find(&path, "costs", "published", arena, &own_err));
    MUST(costs_load(costs, path, arena, &own_err));
    costs->document = (struct document){.path = "costs"};
}

struct solve_result pipette_solved(const struct priced *priced, struct arena *arena)
{
    struct solve_settings settings;
    struct solve_result r;
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(placed_solve(&r, priced, &settings, NULL, NULL, arena, &own_err));
    return r;
}

static void put_cluster(struct pipette_trial *t, struct random *rng)
{
    static const char *const names[PIPETTE_NODES_MAX] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6"};
    struct cluster *c = &t->problem.cluster;
    struct places *p = &c->places;
    p->node_count = (int)random_between(rng, 2, PIPETTE_NODES_MAX);
    *c = (struct cluster){.name = "c", .group_count = random_chance(rng, 60) ? 2 : 1, .places = *p};
    c->groups = TAKE(t->arena, c->group_count, struct node_group);
    for (int g = 0; g < c->group_count; g++)
        c->groups[g] =
            (struct node_group){.name = g ? "b" : "a",
                                .gpu = g && random_chance(rng, 50) ? "v100-32gb" : "a100-80gb",
                                .memory_bytes = 32000000000,
                                .gpus_per_node = t->each * t->problem.job.layout.tensor,
                                .intra = {(double)random_between(rng, 1, 100) * 1e9, 1e-6}};
    if (c->group_count > 1 && random_chance(rng, 20))
        c->groups[1].memory_bytes = 1000000; // no stage fits
    p->nodes = TAKE(t->arena, p->node_count, struct cluster_node);
    for (int i = 0; i < p->node_count; i++) {
        int group = i >= p->node_count - c->group_count
                        ? i - (p->node_count - c->group_count)
                        : (int)random_between(rng, 0, c->group_count - 1);
        p->nodes[i] = (struct cluster_node){
            .name = names[i], .group = group, .switches = TAKE(t->arena, 1, int)};
        c->groups[group].nodes++;
    }
    p->measured = TAKE(t->arena, p->node_count * p->node_count, struct link);
    for (int i = 0; i < p->node_count * p->node_count; i++)
        if (i / p->node_count != i % p->node_count)
            p->measured[i] = (struct link){(double)random_between(rng, 10, 400) * 1e8,
                                           (double)random_between(rng, 0, 9) * 1e-6};
}

static void put_model(struct model *m, struct random *rng, int pipeline, struct arena *arena)
{
    struct layer_run *runs = TAKE(arena, 4, struct layer_run);
    int blocks = pipeline * (int)random_between(rng, 1, 3),
        split = blocks > 1 ? (int)random_between(rng, 0, blocks - 1) : 0;
    runs[0] = (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    runs[1] = (struct layer_run){
        .name = "block", .kind = LAYER_BLOCK, .count = blocks - split, .recomputable = true};
    runs[2] = (struct layer_run){
        .name = "more", .kind = LAYER_BLOCK, .count = split, .recomputable = true};
    runs[split ? 3 : 2] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    *m = (struct model){.name = "m",
                        .has_shape = true,
                        .runs = runs,
                        .run_count = split ? 4 : 3,
                        .layer_count = blocks + 2,
                        .shape = {.hidden = 256,
                                  .ffn = 1024,
                                  .heads = 4,
                                  .kv_heads = 4,
                                  .head_width = 64,
                                  .vocabulary = random_between(rng, 100, 20000)}};
}

void pipette_trial_make(struct pipette_trial *t, const struct costs *costs, struct random *rng,
                        struct arena *arena)
{
    struct problem *p = &t->problem;
    struct job *job = &p->job;
    int tensor = random_chance(rng, 30) ? 2 : 1;
    *t = (struct pipette_trial){.each = random_chance(rng, 50) ? 1 : (int)random_between(rng, 2, 3),
                                .arena = arena};
    *p = (struct problem){.name = "trial", .costs = *costs};
    job->layout.tensor = tensor;
    put_cluster(t, rng);
    int nodes = p->cluster.places.node_count, pipeline = (int)random_between(rng, 1, nodes);
    t->rows = (int)random_between(rng, 1, nodes / pipeline);
    put_model(&p->model, rng, pipeline, arena);
    *job = (struct job){
        .name = "job",
        .sequence = 512,
        .precision = random_chance(rng, 50) ? FP32 : FP16,
        .gradient_bytes_per_value = 4,
        .adam = true,
        .objective = OBJECTIVE_PIPETTE,
        .recompute = {true},
        .budget = {-1, -1, -1, 0},
        .memory_fraction = 0.9,
        .layout = {.tensor = tensor,
                   .context = 1,
                   .data = t->rows * t->each,
                   LAYOUT_PLAIN(pipeline),
                   .micro_batch = (int)random_between(rng, 1, 4),
                   .schedule = random_chance(rng, 80) ? SCHEDULE_1F1B : SCHEDULE_GPIPE}};
    job->global_batch = 2 * job->layout.data * job->layout.micro_batch;
    bool ruled = p->cluster.group_count > 1 && random_chance(rng, 25);
    static const char *only[] = {"a"};
    job->rules = TAKE(arena, 1, struct rule);
    job->rules[0] = rule_empty;
    job->rules[0].stage = 0, job->rules[0].groups = only, job->rules[0].group_count = 1;
    job->rule_count = ruled;
    MUST(price_problem(&t->priced, p, arena, &own_err));
    for (int i = 0; i < nodes; i++) {
        int group = p->cluster.places.nodes[i].group;
        t->usable[i] = p->cluster.groups[group].memory_bytes > 1000000 &&
                       !t->priced.groups[group].excluded; // no costs for it
        t->first[i] = t->usable[i] && !(ruled && group);
    }
}

struct pipette_request pipette_request_like_published(const char *matrix)
{
    return (struct pipette_request){.matrix = matrix,
                                    .costs = "published",
                                    .tensor = 8,
                                    .layers = 64,
                                    .hidden = 3072,
                                    .heads = 32,
                                    .vocabulary = 50256,
                                    .sequence = 1024,
                                    .micro_batch = 4,
                                    .global_batch = 128,
                                    .stages = 2,
                                    .precision = FP32,
                                    .objective = OBJECTIVE_PIPETTE,
                                    .nodes = {.name = "published",
                                              .like = "a100-16x8",
                                              .intra_latency_us = -1,
                                              .latency_us = -1,
                                              .rows = ROWS_BY_TABLE,
                                              .table = TABLE_ONLY,
                                              .unit = MATRIX_BY_FORM,
                                              .published = true}};
}
