// The objective pipette: the judge on damaged plans, what documents preserve, and what the
// objective refuses.
#include "data/kinds/schedules.h"
#include "solve/judge/verify.h"
#include "tests/support/folder.h"
#include "tests/support/pipette.h"
#include "tests/support/check.h"

static void demand(enum status status)
{
    if (status != OK) fail_msg("%s", own_err.text);
}

// ---- damaged plans

// Two rows of three stages, two replicas on each node.
static void make_plain(struct pipette_trial *t, struct plan *plan, const struct costs *costs,
                       struct arena *arena)
{
    for (uint64_t seed = 1;; seed++) {
        struct random rng = {seed};
        pipette_trial_make(t, costs, &rng, arena);
        if (t->rows != 2 || t->each != 2 || t->problem.job.layout.pipeline != 3) continue;
        struct solve_result r = pipette_solved(&t->priced, arena);
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

TEST(test_damaged_plans)
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
    pipette_load_costs(&costs, arena);
    for (size_t i = 0; i < ARRAY_LENGTH(damages); i++) {
        struct pipette_trial t;
        struct plan plan;
        struct verdict verdict;
        bool named = false;
        make_plain(&t, &plan, &costs, arena);
        damages[i].plant(&plan);
        demand(verify_plan(&verdict, &plan, &t.problem, arena, &own_err));
        for (int k = 0; k < verdict.violation_count; k++)
            named = named ||
                    !strcmp(verdict.violations[k].rule, damages[i].rule ? damages[i].rule : "");
        if (verdict.accepted != !damages[i].rule || named != !verdict.accepted)
            fail_msg("%s: %s", damages[i].name,
                     verdict.violation_count ? verdict.violations[0].text : "accepted");
    }
}

// ---- documents and refusals

TEST(test_documents)
{
    char folder[FOLDER_SIZE];
    struct costs costs;
    struct pipette_trial t;
    struct plan plan, plan_again;
    struct priced again;
    const char *path;
    assert_int_equal(folder_make(folder), 0);
    pipette_load_costs(&costs, arena);
    make_plain(&t, &plan, &costs, arena);
    path = arena_print(arena, "%s/priced.json", folder);
    demand(priced_save(&t.priced, path, arena, &own_err));
    demand(priced_load(&again, path, arena, &own_err));
    const struct priced_pipette *x = t.priced.places->pipette, *y = again.places->pipette;
    size_t nodes = (size_t)t.priced.places->node_count;
    assert_memory_equal(x->hop_ns, y->hop_ns, nodes * nodes * sizeof *x->hop_ns);
    assert_memory_equal(x->ring_ns, y->ring_ns, nodes * nodes * sizeof *x->ring_ns);
    assert_memory_equal(x->inner_ns, y->inner_ns, nodes * sizeof *x->inner_ns);
    assert_true(x->replicas_per_node == y->replicas_per_node && x->first_block == y->first_block &&
                x->blocks_per_stage == y->blocks_per_stage);
    path = arena_print(arena, "%s/plan.json", folder);
    demand(plan_save(&plan, path, arena, &own_err));
    demand(plan_load(&plan_again, path, arena, &own_err));
    assert_memory_equal(plan.placement->pipette, plan_again.placement->pipette,
                        sizeof *plan.placement->pipette);
    assert_true(plan_again.objective == OBJECTIVE_PIPETTE &&
                plan_again.objective_ns == plan.objective_ns);
    again.objective = OBJECTIVE_ITERATION_TIME;
    assert_int_equal(priced_check(&again, &own_err), BAD_INPUT);
    again.objective = OBJECTIVE_PIPETTE;
    demand(priced_check(&again, &own_err));
    again.places->pipette->replicas_per_node = 1;
    assert_int_equal(priced_check(&again, &own_err), BAD_INPUT);
    again.places->pipette->replicas_per_node = 2;
    again.places->pipette->blocks_per_stage += 2;
    assert_int_equal(priced_check(&again, &own_err), BAD_INPUT);
    again.places->pipette = NULL;
    assert_int_equal(priced_check(&again, &own_err), BAD_INPUT);
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
    static struct compression_option option = {.form.amount = 4};
    p->job.gradient_options = &option, p->job.gradient_option_count = 1;
}
static void compressed_messages(struct problem *p)
{
    static struct compression_option option = {.form.amount = 4};
    p->job.boundary_options = &option, p->job.boundary_option_count = 1;
}
static void context_ranks(struct problem *p) { p->job.layout.context = 2; }

TEST(test_refusals)
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
    pipette_load_costs(&costs, arena);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct pipette_trial t;
        struct plan plan;
        uint64_t seed = 1;
        for (make_plain(&t, &plan, &costs, arena);
             t.problem.cluster.group_count < 2 || t.each != 2 || t.problem.model.run_count < 4 ||
             t.rows != 2 || t.priced.stage_count != 2;
             seed++) {
            struct random rng = {seed};
            pipette_trial_make(&t, &costs, &rng, arena);
        }
        MUST(problem_check(&t.problem, &own_err));
        cases[i].change(&t.problem);
        own_err = (struct error){OK, ""};
        if (problem_check(&t.problem, &own_err) != BAD_INPUT ||
            !strstr(own_err.text, cases[i].text))
            fail_msg("case %zu: %s", i, own_err.text);
    }
}

// Rows of the matrix as the published program reads them, or as they were measured; and stages that
// do not divide its nodes.
TEST(test_example)
{
    char folder[FOLDER_SIZE];
    struct problem problem;
    assert_int_equal(folder_make(folder), 0);
    struct pipette_request r =
        pipette_request_like_published(arena_print(arena, "%s/matrix.json", folder));
    r.tensor = 4, r.layers = 4, r.hidden = 256, r.heads = 4, r.vocabulary = 1000, r.sequence = 128;
    r.micro_batch = 1, r.global_batch = 16, r.stages = 2, r.nodes.name = "m";
    FILE *file = fopen(r.matrix, "w");
    fprintf(file, "{\"gpus\": [\"a\", \"b\", \"c\", \"d\"], \"bandwidth\": [[9, 1, 2, 3], [4, 9, "
                  "5, 6], [7, 8, 9, 10], [11, 12, 13, 9]]}");
    fclose(file);
    demand(example_pipette(&problem, &r, arena, &own_err));
    demand(problem_check(&problem, &own_err));
    assert_int_equal(problem.job.layout.data, 4);
    assert_true(problem.cluster.places.measured[1].bytes_per_s == 1e9);
    r.nodes.rows = ROWS_RECEIVER;
    demand(example_pipette(&problem, &r, arena, &own_err));
    assert_true(problem.cluster.places.measured[1].bytes_per_s == 4e9);
    file =
        fopen(r.matrix, "w"); // mpiGraph's two tables: the program takes the first, divided by 1000
    fprintf(file, "{\"0\": {\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[9000, 1000], [4000, "
                  "9000]]}, \"1\": {\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[1, 1], [1, 1]]}}");
    fclose(file);
    r.nodes.rows = ROWS_BY_TABLE;
    demand(example_pipette(&problem, &r, arena, &own_err));
    assert_true(problem.cluster.places.measured[1].bytes_per_s == 1e9);
    r.stages = 3;
    MUST_REFUSE(example_pipette(&problem, &r, arena, &own_err), "a divisor of the 2 nodes");
    folder_remove(folder);
}
