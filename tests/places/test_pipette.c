// The objective pipette: the published setting's values to the digit, the solver against all orders
// of nodes with the formula written again in floating point, the judge on damaged plans, and what
// the objective refuses.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "solve/places/placed.h"
#include "solve/layout/solve.h"
#include "solve/judge/verify.h"
#include "tests/support/folder.h"
#include "tests/support/problems.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

enum { NODES_MAX = 7 };

static struct error err;
static int trials = 120;

static int forget_error(void **state)
{
    (void)state;
    err = (struct error){OK, ""};
    return 0;
}

static void demand(enum status status)
{
    if (status != OK) fail_msg("%s", err.text);
}

// In memory, without a hash: so are the problems made of them.
static void load_costs(struct costs *costs, struct arena *arena)
{
    const char *path;
    demand(shipped_find(&path, "costs", "published", arena, &err));
    demand(costs_load(costs, path, arena, &err));
    costs->document = (struct document){.path = "costs"};
}

static struct solve_result solved(const struct priced *priced, struct arena *arena)
{
    struct solve_settings settings;
    struct solve_result r;
    solve_defaults(&settings);
    settings.progress = 0;
    demand(placed_solve(&r, priced, &settings, NULL, NULL, arena, &err));
    return r;
}

// ---- the published setting

static bool published(struct problem *p, int matrix, int stages, struct arena *arena)
{
    const char *path = arena_print(arena, "../shared/validation/cluster16_t%d.json", matrix);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    fclose(file);
    struct pipette_request r = {.matrix = path,
                                .costs = "published",
                                .tensor = 8,
                                .layers = 64,
                                .hidden = 3072,
                                .heads = 32,
                                .vocabulary = 50256,
                                .sequence = 1024,
                                .micro_batch = 4,
                                .global_batch = 128,
                                .stages = stages,
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
    demand(example_pipette(p, &r, arena, &err));
    p->costs.document = p->cluster.document = (struct document){.path = "in memory"};
    return true;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Nodes in the order of the file, in thousandths of a millisecond (yimjinkyu1/date2024_pipette, its
// own formula on its matrices).
static void test_order_of_the_file(void **state)
{
    static const struct {
        int matrix, stages;
        double hops_ms, ring_ms;
    } values[] = {
        {0, 2, 5.883, 227.726}, {0, 4, 16.230, 101.080}, {0, 8, 37.277, 36.250}, {0, 16, 78.593, 0},
        {1, 2, 5.883, 249.320}, {1, 4, 16.883, 109.135}, {1, 8, 38.158, 36.447}, {1, 16, 80.420, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        struct problem problem;
        struct priced priced;
        int stages = values[i].stages, n = 16;
        if (!published(&problem, values[i].matrix, stages, *state)) skip();
        demand(price_problem(&priced, &problem, *state, &err));
        const struct priced_pipette *x = priced.places->pipette;
        int64_t most = 0, ring = 0;
        for (int row = 0; row < n / stages; row++) {
            int64_t hops = 0;
            for (int at = row * stages; at + 1 < (row + 1) * stages; at++)
                hops += x->hop_ns[at * n + at + 1];
            most = larger(most, hops);
            if (stages < n)
                ring = larger(ring, x->ring_ns[row * stages * n + (row + 1) * stages % n]);
        }
        assert_true(fabs((double)most / 1e6 - values[i].hops_ms) < 0.0005 + 1e-5);
        assert_true(fabs((double)ring / 1e6 - values[i].ring_ms) < 0.0005 + 1e-5);
    }
}

static void test_published_is_proven(void **state)
{
    for (int i = 0; i < 8; i++) {
        struct arena_mark mark = arena_set_mark(*state);
        struct problem problem;
        struct priced priced;
        struct verdict verdict;
        if (!published(&problem, i % 2, 2 << i / 2, *state)) skip();
        demand(price_problem(&priced, &problem, *state, &err));
        struct solve_result r = solved(&priced, *state);
        assert_int_equal(r.plan.outcome, OUTCOME_OPTIMAL);
        assert_true(r.plan.bound_ns == r.plan.objective_ns && r.plan.objective_ns > 0);
        demand(verify_plan(&verdict, &r.plan, &problem, *state, &err));
        if (!verdict.accepted)
            fail_msg("%s: %s", verdict.violations[0].rule, verdict.violations[0].text);
        arena_reset(*state, mark);
    }
}

// ---- random problems

struct trial {
    struct problem problem;
    struct priced priced;
    bool usable[NODES_MAX], first[NODES_MAX]; // the node can hold a stage, and the first one
    int rows, each;
    struct arena *arena;
};

static void put_cluster(struct trial *t, struct random *rng)
{
    static const char *const names[NODES_MAX] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6"};
    struct cluster *c = &t->problem.cluster;
    struct places *p = &c->places;
    p->node_count = (int)random_between(rng, 2, NODES_MAX);
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

// Nodes of other kinds, with room for one to three replicas; some cannot be used, some not for the
// first stage.
static void make_trial(struct trial *t, const struct costs *costs, struct random *rng,
                       struct arena *arena)
{
    struct problem *p = &t->problem;
    struct job *job = &p->job;
    int tensor = random_chance(rng, 30) ? 2 : 1;
    *t = (struct trial){.each = random_chance(rng, 50) ? 1 : (int)random_between(rng, 2, 3),
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
    static struct rule rule = {.action = RULE_REQUIRE,
                               .stage = 0,
                               .groups = only,
                               .group_count = 1,
                               .holds_first = -1,
                               .holds_last = -1,
                               .layers_min = -1,
                               .layers_max = -1,
                               .compresses_gradient = -1,
                               .compresses_boundary = -1};
    job->rules = &rule;
    job->rule_count = ruled;
    demand(price_problem(&t->priced, p, arena, &err));
    for (int i = 0; i < nodes; i++) {
        int group = p->cluster.places.nodes[i].group;
        t->usable[i] = p->cluster.groups[group].memory_bytes > 1000000 &&
                       !t->priced.groups[group].excluded; // no costs for it
        t->first[i] = t->usable[i] && !(ruled && group);
    }
}

// ---- the formula once more, in nanoseconds

static double bandwidth(const struct trial *t, int from, int to)
{
    const struct cluster *c = &t->problem.cluster;
    if (from == to)
        return c->groups[c->places.nodes[from].group].intra.bytes_per_s *
               t->problem.costs.intra_efficiency.value;
    return c->places.measured[from * c->places.node_count + to].bytes_per_s;
}

static double value_of(const struct trial *t, const int *order)
{
    const struct job *job = &t->problem.job;
    int p = job->layout.pipeline;
    double h = (double)t->problem.model.shape.hidden, v = (double)t->problem.model.shape.vocabulary,
           bytes = job->precision == FP32 ? 4 : 2;
    double message = job->layout.micro_batch * (double)job->sequence * h * bytes;
    double blocks = (t->problem.model.layer_count - 2) / p,
           gradient = (h * v + blocks * 16 * h * h) / job->layout.tensor * bytes;
    double most = 0, ring = 0, inner = 0;
    for (int row = 0; row < t->rows; row++) {
        const int *x = order + row * p;
        double hops = 0;
        for (int at = 0; at + 1 < p; at++) hops += 2 * message / bandwidth(t, x[at], x[at + 1]);
        most = fmax(most, hops);
        inner = fmax(inner, 2 * (t->each - 1.0) / t->each * gradient / bandwidth(t, x[0], x[0]));
        if (t->rows > 1)
            ring = fmax(ring, 2 * (t->rows - 1.0) / t->rows * gradient /
                                  bandwidth(t, x[0], order[(row + 1) % t->rows * p]));
    }
    return (most + ring + inner) * 1e9;
}

static double least_of_all(const struct trial *t, int *order, bool *used, int at)
{
    if (at == t->rows * t->problem.job.layout.pipeline) return value_of(t, order);
    double least = HUGE_VAL;
    for (int node = 0; node < t->problem.cluster.places.node_count; node++) {
        if (used[node] || !(at % t->problem.job.layout.pipeline ? t->usable : t->first)[node])
            continue;
        used[node] = true;
        order[at] = node;
        least = fmin(least, least_of_all(t, order, used, at + 1));
        used[node] = false;
    }
    return least;
}

static int node_named(const struct places *p, const char *name)
{
    int node = 0;
    while (strcmp(p->nodes[node].name, name)) node++;
    return node;
}

// The value of where the plan's replicas stand, each row once.
static double value_of_plan(const struct trial *t, const struct plan *plan)
{
    int order[NODES_MAX], p = t->problem.job.layout.pipeline;
    for (int i = 0; i < t->rows * p; i++)
        order[i] = node_named(&t->problem.cluster.places,
                              plan->placement->nodes[i / p * t->each * p + i % p]);
    return value_of(t, order);
}

static void test_all_orders(void **state)
{
    struct costs costs;
    int found = 0, none = 0, rows = 0, shared = 0, mixed = 0;
    load_costs(&costs, *state);
    for (int i = 0; i < trials; i++) {
        struct arena_mark mark = arena_set_mark(*state);
        struct random rng = {(uint64_t)i + 1};
        struct trial t;
        int order[NODES_MAX];
        bool used[NODES_MAX] = {false};
        make_trial(&t, &costs, &rng, *state);
        double least = least_of_all(&t, order, used, 0), off = t.priced.stage_count + 2;
        struct solve_result r = solved(&t.priced, *state);
        if (least < HUGE_VAL) {
            struct verdict verdict;
            if (r.plan.outcome != OUTCOME_OPTIMAL)
                fail_msg("trial %d: %d of %d stages, %d replicas a node, on %d nodes: no plan: %s",
                         i, t.rows, t.priced.stage_count, t.each, t.priced.places->node_count,
                         r.plan.reason);
            if (fabs((double)r.plan.objective_ns - least) > off ||
                r.plan.bound_ns != r.plan.objective_ns ||
                fabs(value_of_plan(&t, &r.plan) - least) > 2 * off)
                fail_msg("trial %d: %lld, bound %lld, of all orders %.3f, of the plan %.3f", i,
                         (long long)r.plan.objective_ns, (long long)r.plan.bound_ns, least,
                         value_of_plan(&t, &r.plan));
            demand(verify_plan(&verdict, &r.plan, &t.problem, *state, &err));
            if (!verdict.accepted)
                fail_msg("trial %d: %s: %s", i, verdict.violations[0].rule,
                         verdict.violations[0].text);
            found++;
            rows += t.rows > 1;
            shared += t.each > 1;
            mixed += t.problem.cluster.group_count > 1;
        } else {
            assert_int_equal(r.plan.outcome, OUTCOME_INFEASIBLE);
            none++;
        }
        arena_reset(*state, mark);
    }
    printf("%d problems with a plan, %d with several rows, %d with several replicas a node, %d "
           "with two kinds of node; %d without a plan\n",
           found, rows, shared, mixed, none);
    assert_true(found * 2 > trials && rows * 5 > trials && shared * 5 > trials &&
                mixed * 5 > trials && none * 20 > trials);
}

// ---- damaged plans

// Two rows of three stages, two replicas on each node.
static void make_plain(struct trial *t, struct plan *plan, const struct costs *costs,
                       struct arena *arena)
{
    for (uint64_t seed = 1;; seed++) {
        struct random rng = {seed};
        make_trial(t, costs, &rng, arena);
        if (t->rows != 2 || t->each != 2 || t->problem.job.layout.pipeline != 3) continue;
        struct solve_result r = solved(&t->priced, arena);
        *plan = r.plan;
        if (plan->stage_count) return;
    }
}

static void swap_nodes(struct plan *p, int a, int b)
{
    const char *kept = p->placement->nodes[a];
    p->placement->nodes[a] = p->placement->nodes[b], p->placement->nodes[b] = kept;
}

static void of_none(struct plan *p) { (void)p; }
static void value_two_more(struct plan *p) { p->objective_ns += 2; }
static void value_two_less(struct plan *p) { p->objective_ns -= 2, p->bound_ns -= 2; }
static void hops_four_more(struct plan *p)
{
    p->placement->pipette->hops_ns += 4, p->objective_ns += 4;
}
static void ring_two_less(struct plan *p)
{
    p->placement->pipette->ring_ns -= 2, p->objective_ns -= 2, p->bound_ns -= 2;
}
static void inner_two_more(struct plan *p)
{
    p->placement->pipette->inner_ns += 2, p->objective_ns += 2;
}
static void parts_gone(struct plan *p) { p->placement->pipette = NULL; }
static void bound_above(struct plan *p) { p->bound_ns += 1; }
static void other_objective(struct plan *p)
{
    p->objective = OBJECTIVE_ITERATION_TIME, p->bound_ns = p->iteration_ns;
}
static void max_load_instead(struct plan *p) { p->objective = OBJECTIVE_MAX_LOAD; }
static void replicas_apart(struct plan *p)
{
    for (int rank = 0; rank < 3; rank++) swap_nodes(p, 3 + rank, 6 + rank);
}
static void nodes_exchanged(struct plan *p) { swap_nodes(p, 0, 1), swap_nodes(p, 3, 4); }
static void layer_moved(struct plan *p)
{
    p->stages[0].layer_count++, p->stages[1].first_layer++, p->stages[1].layer_count--;
}

static void test_damaged_plans(void **state)
{
    static const struct {
        const char *name;
        void (*plant)(struct plan *);
        const char *rule;
    } damages[] = {
        {"none", of_none, NULL},
        {"objective + 2", value_two_more, "objective"},
        {"objective - 2", value_two_less, "objective"},
        {"hops + 4", hops_four_more, "objective"},
        {"ring - 2", ring_two_less, "objective"},
        {"inner + 2", inner_two_more, "objective"},
        {"parts gone", parts_gone, "objective"},
        {"bound above", bound_above, "bound"},
        {"iteration time instead", other_objective, "objective"},
        {"max_load instead", max_load_instead, "objective"},
        {"replicas apart", replicas_apart, "objective"},
        {"nodes exchanged", nodes_exchanged, "objective"},
        {"layer moved", layer_moved, "objective"},
    };
    struct costs costs;
    load_costs(&costs, *state);
    for (size_t i = 0; i < ARRAY_LENGTH(damages); i++) {
        struct trial t;
        struct plan plan;
        struct verdict verdict;
        bool named = false;
        make_plain(&t, &plan, &costs, *state);
        damages[i].plant(&plan);
        demand(verify_plan(&verdict, &plan, &t.problem, *state, &err));
        for (int k = 0; k < verdict.violation_count; k++)
            named = named ||
                    !strcmp(verdict.violations[k].rule, damages[i].rule ? damages[i].rule : "");
        if (verdict.accepted != !damages[i].rule || named != !verdict.accepted)
            fail_msg("%s: %s", damages[i].name,
                     verdict.violation_count ? verdict.violations[0].text : "accepted");
    }
}

// ---- documents and refusals

static void test_documents(void **state)
{
    char folder[FOLDER_SIZE];
    struct costs costs;
    struct trial t;
    struct plan plan, plan_again;
    struct priced again;
    const char *path;
    assert_int_equal(folder_make(folder), 0);
    load_costs(&costs, *state);
    make_plain(&t, &plan, &costs, *state);
    path = arena_print(*state, "%s/priced.json", folder);
    demand(priced_save(&t.priced, path, *state, &err));
    demand(priced_load(&again, path, *state, &err));
    const struct priced_pipette *x = t.priced.places->pipette, *y = again.places->pipette;
    size_t nodes = (size_t)t.priced.places->node_count;
    assert_memory_equal(x->hop_ns, y->hop_ns, nodes * nodes * sizeof *x->hop_ns);
    assert_memory_equal(x->ring_ns, y->ring_ns, nodes * nodes * sizeof *x->ring_ns);
    assert_memory_equal(x->inner_ns, y->inner_ns, nodes * sizeof *x->inner_ns);
    assert_true(x->replicas_per_node == y->replicas_per_node && x->first_block == y->first_block &&
                x->blocks_per_stage == y->blocks_per_stage);
    path = arena_print(*state, "%s/plan.json", folder);
    demand(plan_save(&plan, path, *state, &err));
    demand(plan_load(&plan_again, path, *state, &err));
    assert_memory_equal(plan.placement->pipette, plan_again.placement->pipette,
                        sizeof *plan.placement->pipette);
    assert_true(plan_again.objective == OBJECTIVE_PIPETTE &&
                plan_again.objective_ns == plan.objective_ns);
    again.objective = OBJECTIVE_ITERATION_TIME;
    assert_int_equal(priced_check(&again, &err), BAD_INPUT);
    again.objective = OBJECTIVE_PIPETTE;
    demand(priced_check(&again, &err));
    again.places->pipette->replicas_per_node = 1;
    assert_int_equal(priced_check(&again, &err), BAD_INPUT);
    again.places->pipette->replicas_per_node = 2;
    again.places->pipette->blocks_per_stage += 2;
    assert_int_equal(priced_check(&again, &err), BAD_INPUT);
    again.places->pipette = NULL;
    assert_int_equal(priced_check(&again, &err), BAD_INPUT);
    folder_remove(folder);
}

static void no_places(struct problem *p) { p->cluster.places = (struct places){0}; }
static void a_space(struct problem *p) { p->job.space.given = true; }
static void two_stages_a_rank(struct problem *p)
{
    p->job.layout.virtual_stages = 2, p->job.layout.schedule = SCHEDULE_LOOPED_BFS,
    p->model.runs[1].count += 2, p->model.layer_count += 2;
}
static void homogeneous(struct problem *p) { p->job.placement.homogeneous_groups = true; }
static void uneven(struct problem *p) { p->job.placement.uneven_micro_batches = true; }
static void odd_replicas(struct problem *p)
{
    p->job.layout.data = 3, p->job.global_batch = 3 * p->job.layout.micro_batch;
}
static void other_nodes(struct problem *p) { p->cluster.groups[0].gpus_per_node *= 2; }
static void wide_tensor(struct problem *p) { p->job.layout.tensor = 4; }
static void two_heads(struct problem *p)
{
    p->model.runs[1].kind = LAYER_HEAD, p->model.runs[1].recomputable = false;
}
static void fewer_blocks(struct problem *p)
{
    p->model.runs[1].count += 1, p->model.layer_count += 1;
}
static void compressed(struct problem *p)
{
    static struct gradient_compression option = {4, 0};
    p->job.gradient_options = &option, p->job.gradient_option_count = 1;
}
static void compressed_messages(struct problem *p)
{
    static struct boundary_compression option = {4, false, 0};
    p->job.boundary_options = &option, p->job.boundary_option_count = 1;
}
static void context_ranks(struct problem *p) { p->job.layout.context = 2; }

static void test_refusals(void **state)
{
    static const struct {
        void (*change)(struct problem *);
        const char *text;
    } cases[] = {
        {no_places, "expected a cluster with places"},
        {a_space, "space: "},
        {two_stages_a_rank, "layout.virtual_stages"},
        {homogeneous, "homogeneous_groups"},
        {uneven, "uneven_micro_batches"},
        {odd_replicas, "a multiple of the 2 replicas that fill a node, found 3"},
        {other_nodes, "groups[1].gpus_per_node"},
        {wide_tensor, "gpus_per_node"},
        {two_heads, "runs: "},
        {fewer_blocks, "a divisor of the model's"},
        {compressed, "gradient_options"},
        {compressed_messages, "boundary_options"},
        {context_ranks, "layout.context"},
    };
    struct costs costs;
    load_costs(&costs, *state);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct trial t;
        struct plan plan;
        uint64_t seed = 1;
        for (make_plain(&t, &plan, &costs, *state);
             t.problem.cluster.group_count < 2 || t.each != 2 || t.problem.model.run_count < 4 ||
             t.rows != 2 || t.priced.stage_count != 2;
             seed++) {
            struct random rng = {seed};
            make_trial(&t, &costs, &rng, *state);
        }
        assert_int_equal(problem_check(&t.problem, &err), OK);
        cases[i].change(&t.problem);
        forget_error(NULL);
        if (problem_check(&t.problem, &err) != BAD_INPUT || !strstr(err.text, cases[i].text))
            fail_msg("case %zu: %s", i, err.text);
    }
}

// Rows of the matrix as the published program reads them, or as they were measured; and stages that
// do not divide its nodes.
static void test_example(void **state)
{
    char folder[FOLDER_SIZE];
    struct problem problem;
    assert_int_equal(folder_make(folder), 0);
    struct pipette_request r = {.matrix = arena_print(*state, "%s/matrix.json", folder),
                                .costs = "published",
                                .tensor = 4,
                                .layers = 4,
                                .hidden = 256,
                                .heads = 4,
                                .vocabulary = 1000,
                                .sequence = 128,
                                .micro_batch = 1,
                                .global_batch = 16,
                                .stages = 2,
                                .precision = FP32,
                                .objective = OBJECTIVE_PIPETTE,
                                .nodes = {.name = "m",
                                          .like = "a100-16x8",
                                          .intra_latency_us = -1,
                                          .latency_us = -1,
                                          .rows = ROWS_BY_TABLE,
                                          .table = TABLE_ONLY,
                                          .unit = MATRIX_BY_FORM,
                                          .published = true}};
    FILE *file = fopen(r.matrix, "w");
    fprintf(file, "{\"gpus\": [\"a\", \"b\", \"c\", \"d\"], \"bandwidth\": [[9, 1, 2, 3], [4, 9, "
                  "5, 6], [7, 8, 9, 10], [11, 12, 13, 9]]}");
    fclose(file);
    demand(example_pipette(&problem, &r, *state, &err));
    demand(problem_check(&problem, &err));
    assert_int_equal(problem.job.layout.data, 4);
    assert_true(problem.cluster.places.measured[1].bytes_per_s == 1e9);
    r.nodes.rows = ROWS_RECEIVER;
    demand(example_pipette(&problem, &r, *state, &err));
    assert_true(problem.cluster.places.measured[1].bytes_per_s == 4e9);
    file =
        fopen(r.matrix, "w"); // mpiGraph's two tables: the program takes the first, divided by 1000
    fprintf(file, "{\"0\": {\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[9000, 1000], [4000, "
                  "9000]]}, \"1\": {\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[1, 1], [1, 1]]}}");
    fclose(file);
    r.nodes.rows = ROWS_BY_TABLE;
    demand(example_pipette(&problem, &r, *state, &err));
    assert_true(problem.cluster.places.measured[1].bytes_per_s == 1e9);
    r.stages = 3;
    assert_int_equal(example_pipette(&problem, &r, *state, &err), BAD_INPUT);
    assert_non_null(strstr(err.text, "a divisor of the 2 nodes"));
    folder_remove(folder);
}

int main(int argc, char **argv)
{
    if (argc > 1) trials = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_order_of_the_file, forget_error),
        cmocka_unit_test_setup(test_published_is_proven, forget_error),
        cmocka_unit_test_setup(test_all_orders, forget_error),
        cmocka_unit_test_setup(test_damaged_plans, forget_error),
        cmocka_unit_test_setup(test_documents, forget_error),
        cmocka_unit_test_setup(test_refusals, forget_error),
        cmocka_unit_test_setup(test_example, forget_error)};
    return cmocka_run_group_tests(tests, check_open_arena, check_close_arena);
}
