// The objective pipette: the published setting's values to the digit, and the solver against all
// orders of nodes with a second implementation of the formula in floating point. Plans, documents
// and refusals: test_pipette_documents.c.
#include "solve/judge/verify.h"
#include "tests/support/pipette.h"
#include "tests/support/check.h"

static int trials = 120;

static void demand(enum status status)
{
    if (status != OK) fail_msg("%s", own_err.text);
}

// ---- the published setting

static bool published(struct problem *p, int matrix, int stages, struct arena *arena)
{
    const char *path = arena_print(arena, "../shared/validation/cluster16_t%d.json", matrix);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    fclose(file);
    struct pipette_request r = pipette_request_like_published(path);
    r.stages = stages;
    r.nodes.name = "published";
    demand(example_pipette(p, &r, arena, &own_err));
    p->costs.document = p->cluster.document = (struct document){.path = "in memory"};
    return true;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Nodes in the order of the file, in thousandths of a millisecond (yimjinkyu1/date2024_pipette, its
// own formula on its matrices).
TEST(test_order_of_the_file)
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
        if (!published(&problem, values[i].matrix, stages, arena)) skip();
        demand(price_problem(&priced, &problem, arena, &own_err));
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

TEST(test_published_is_proven)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 8; i++, arena_reset(arena, mark)) {
        struct problem problem;
        struct priced priced;
        struct verdict verdict;
        if (!published(&problem, i % 2, 2 << i / 2, arena)) skip();
        demand(price_problem(&priced, &problem, arena, &own_err));
        struct solve_result r = pipette_solved(&priced, arena);
        assert_int_equal(r.plan.outcome, OUTCOME_OPTIMAL);
        assert_true(r.plan.bound_ns == r.plan.objective_ns && r.plan.objective_ns > 0);
        demand(verify_plan(&verdict, &r.plan, &problem, arena, &own_err));
        if (!verdict.accepted)
            fail_msg("%s: %s", verdict.violations[0].rule, verdict.violations[0].text);
    }
}

// ---- the formula once more, in nanoseconds

static double bandwidth(const struct pipette_trial *t, int from, int to)
{
    const struct cluster *c = &t->problem.cluster;
    if (from == to)
        return c->groups[c->places.nodes[from].group].intra.bytes_per_s *
               t->problem.costs.intra_efficiency.value;
    return c->places.measured[from * c->places.node_count + to].bytes_per_s;
}

static double value_of(const struct pipette_trial *t, const int *order)
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

static double least_of_all(const struct pipette_trial *t, int *order, bool *used, int at)
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

// The value of the placement of the plan's replicas, each row once.
static double value_of_plan(const struct pipette_trial *t, const struct plan *plan)
{
    int order[PIPETTE_NODES_MAX], p = t->problem.job.layout.pipeline;
    for (int i = 0; i < t->rows * p; i++)
        order[i] = node_named(&t->problem.cluster.places,
                              plan->placement->nodes[i / p * t->each * p + i % p]);
    return value_of(t, order);
}

TEST(test_all_orders)
{
    struct costs costs;
    int found = 0, none = 0, rows = 0, shared = 0, mixed = 0;
    pipette_load_costs(&costs, arena);
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < trials; i++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)i + 1};
        struct pipette_trial t;
        int order[PIPETTE_NODES_MAX];
        bool used[PIPETTE_NODES_MAX] = {false};
        pipette_trial_make(&t, &costs, &rng, arena);
        double least = least_of_all(&t, order, used, 0), off = t.priced.stage_count + 2;
        struct solve_result r = pipette_solved(&t.priced, arena);
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
            demand(verify_plan(&verdict, &r.plan, &t.problem, arena, &own_err));
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
    }
    printf("%d problems with a plan, %d with several rows, %d with several replicas a node, %d "
           "with two kinds of node; %d without a plan\n",
           found, rows, shared, mixed, none);
    assert_true(found * 2 > trials && rows * 5 > trials && shared * 5 > trials &&
                mixed * 5 > trials && none * 20 > trials);
}

ARGUMENT(trials)
