// The tree over nodes: against all decisions on all placements where a rank has several stages;
// bounds that hold wherever it is stopped; and equivalent nodes, of which it tries one.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/places/internal.h"
#include "solve/layout/solve.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/check.h"

static int trials = 60;

// ---- all decisions on all nodes, timed as the solver times them

struct all {
    struct placed *p;
    struct placed_plan plan;
    int *like, *left;
    int64_t best, looked_at;
};

static void all_nodes(struct all *a, int place)
{
    if (place < a->p->replicas * a->p->ranks) {
        for (int node = 0; node < a->p->nodes; node++) {
            if (!a->left[node]) continue;
            a->left[node]--;
            a->plan.node[place] = node;
            all_nodes(a, place + 1);
            a->left[node]++;
        }
        return;
    }
    a->looked_at++;
    if (!placed_fit_all(a->p, &a->plan, a->like)) return;
    a->plan.slowest = 0;
    placed_evaluate(a->p, &a->plan, INT64_MAX);
    if (a->plan.time_ns < a->best) a->best = a->plan.time_ns;
}

static void all_decisions(struct all *a, int stage, int layer)
{
    const struct choices *c = a->p->c;
    if (stage == a->p->stages) {
        if (layer == c->priced->layer_count && choices_within_budget(c, a->like)) all_nodes(a, 0);
        return;
    }
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        bool repeated = false;
        for (int k = 0; k < i && !repeated; k++) {
            const struct choice *y = &c->stages[stage].items[k];
            repeated = x->first_layer == y->first_layer && x->layer_count == y->layer_count &&
                       x->gradient_option == y->gradient_option &&
                       x->boundary_option == y->boundary_option;
        }
        if (repeated || x->first_layer != choices_place(c, layer)) continue;
        a->like[stage] = i;
        all_decisions(a, stage + 1, layer + x->layer_count);
    }
}

static int64_t best_of_all(struct placed *p, struct arena *arena)
{
    struct all a = {p,
                    placed_plan_empty(p, arena),
                    TAKE(arena, p->stages, int),
                    TAKE(arena, p->nodes, int),
                    INT64_MAX,
                    0};
    for (int i = 0; i < p->nodes; i++) a.left[i] = p->priced->places->nodes[i].slots;
    for (int r = 0; r < p->replicas; r++) a.plan.micro_batches[r] = p->priced->micro_batches;
    all_decisions(&a, 0, 0);
    return a.best;
}

// ---- trials

static int64_t tree(struct placed *p, struct placed_plan *best, int64_t effort, struct arena *arena)
{
    const struct placed_tree_settings settings = {0, 0, effort, NULL, NULL};
    for (int r = 0; r < p->replicas; r++) best->micro_batches[r] = p->priced->micro_batches;
    return placed_tree(p, best, 0, &settings, arena);
}

// A rank with two stages: what a part leaves open is then not known rank by rank.
static bool interleave(struct problem *problem, struct random *rng)
{
    struct layout *l = &problem->job.layout;
    struct error err = {OK, ""};
    l->schedule = SCHEDULE_INTERLEAVED;
    l->virtual_stages = 2;
    l->slice_count = 1;
    l->local_loss_every = 0;
    problem->job.rule_count = 0;
    problem->job.global_batch = (int64_t)l->data * l->micro_batch * l->pipeline *
                                random_between(rng, 1, 2);
    return l->pipeline > 1 && l->pipeline * l->data <= 4 &&
           problem->model.layer_count >= 2 * l->pipeline && problem_check(problem, &err) == OK &&
           problem_check_places(problem, &err) == OK;
}

TEST(test_ranks_with_several_stages)
{
    int compared = 0;
    for (int trial = 0; trial < 12 * trials && compared < trials / 4; trial++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct random rng = {(uint64_t)trial + 1};
        struct problem problem;
        struct priced priced;
        struct placed *p;
        random_placed_problem(&problem, &rng, false, arena);
        if (interleave(&problem, &rng)) {
            CHECK_OK(price_problem(&priced, &problem, arena, &err));
            CHECK_OK(placed_open(&p, &priced, arena, &err));
            int64_t best = best_of_all(p, arena);
            struct placed_plan found = placed_plan_empty(p, arena);
            int64_t bound = tree(p, &found, INT64_MAX, arena);
            if (found.time_ns != best)
                fail_msg("trial %d: %lld of %lld", trial, (long long)found.time_ns,
                         (long long)best);
            if (best < INT64_MAX && bound != best)
                fail_msg("trial %d: bound %lld of %lld", trial, (long long)bound, (long long)best);
            compared += best < INT64_MAX;
        }
        arena_reset(arena, mark);
    }
    printf("%d problems with two stages a rank\n", compared);
    assert_true(compared * 5 > trials);
}

TEST(test_bounds_of_a_tree_that_is_stopped)
{
    static const int64_t efforts[] = {0, 30, 100, 400};
    int stopped = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < trials; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 1};
        struct problem problem;
        struct priced priced;
        struct placed *p;
        random_placed_problem(&problem, &rng, false, arena);
        CHECK_OK(price_problem(&priced, &problem, arena, &err));
        CHECK_OK(placed_open(&p, &priced, arena, &err));
        struct placed_plan found = placed_plan_empty(p, arena);
        int64_t best = tree(p, &found, INT64_MAX, arena);
        for (size_t i = 0; i < ARRAY_LENGTH(efforts) && found.time_ns < INT64_MAX; i++) {
            struct placed_plan early = placed_plan_empty(p, arena);
            int64_t bound = tree(p, &early, efforts[i], arena);
            if (bound > best)
                fail_msg("trial %d: after %lld a bound of %lld, and %lld is possible", trial,
                         (long long)efforts[i], (long long)bound, (long long)best);
            stopped += bound < best;
        }
    }
    printf("%d trees stopped below the best plan\n", stopped);
    assert_true(stopped > trials / 2);
}

// Six nodes with equal links, two replicas of three ranks: of 720 placements one is evaluated.
TEST(test_nodes_that_are_alike)
{
    int proven = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 20 * trials && proven < 5; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 1};
        struct problem problem;
        struct priced priced;
        struct placed *p;
        random_placed_problem(&problem, &rng, false, arena);
        struct layout *l = &problem.job.layout;
        if (problem.cluster.group_count == 1 && l->pipeline == 3) {
            struct places *x = &problem.cluster.places;
            problem.job.global_batch = problem.job.global_batch / l->data * 2;
            l->data = 2;
            for (int i = 0; i < x->node_count * x->node_count; i++) x->measured[i] = x->measured[1];
            for (int i = 0; i < x->node_count; i++)
                x->measured[i * x->node_count + i] = (struct link){0, 0};
            CHECK_OK(price_problem(&priced, &problem, arena, &err));
            CHECK_OK(placed_open(&p, &priced, arena, &err));
            struct placed_plan found = placed_plan_empty(p, arena);
            int64_t few = 40 * 9, bound = tree(p, &found, few, arena); // some forty boxes
            if (found.time_ns < INT64_MAX) {
                if (bound != found.time_ns)
                    fail_msg("trial %d: bound %lld of %lld", trial, (long long)bound,
                             (long long)found.time_ns);
                proven++;
            }
        }
    }
    assert_true(proven >= 3);
}

ARGUMENT(trials)
