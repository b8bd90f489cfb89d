// Plans from other sources: splits over a problem's one layout and ranks on nodes in a framework's
// order, with all their claims. The judge finds nothing wrong with them except what they may
// violate (memory, rules, budgets), and none is faster than the optimum.
#include "formulate/predict/predict.h"
#include "formulate/price/price.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/placed.h"

// What a plan that was not solved for may violate.
static bool is_limit(const char *rule)
{
    static const char *const limits[] = {"memory", "rules", "budget"};
    for (size_t i = 0; i < ARRAY_LENGTH(limits); i++)
        if (!strcmp(rule, limits[i])) return true;
    return false;
}

// Whether it keeps every limit.
static bool judge(const struct plan *plan, const struct problem *problem, int trial,
                  struct arena *arena)
{
    struct verdict verdict = {.closed_form_ns = -1};
    MUST(verify_plan(&verdict, plan, problem, arena, &own_err));
    for (int i = 0; i < verdict.violation_count; i++)
        if (!is_limit(verdict.violations[i].rule))
            fail_msg("problem %d: %s: %s", trial, verdict.violations[i].rule,
                     verdict.violations[i].text);
    return verdict.accepted;
}

// Layers on each stage at random, as --split has them.
static const char *random_split(const struct placement *equal, struct random *rng,
                                struct arena *arena)
{
    const char *text = "";
    for (int s = 0; s < equal->stage_count; s++)
        text = arena_print(arena, "%s%s%d", text, s ? "," : "",
                           (int)random_between(rng, 1, equal->layer_count[s] + 1));
    return text;
}

static int64_t optimum_of(const struct problem *problem, struct arena *arena)
{
    struct priced priced;
    struct solve_settings settings;
    struct solve_result r;
    const volatile int stop = 0;
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(price_problem(&priced, problem, arena, &own_err));
    MUST(solve_run(&r, &priced, &settings, NULL, &stop, arena, &own_err));
    return r.plan.outcome == OUTCOME_OPTIMAL && r.plan.stage_count ? r.plan.iteration_ns : -1;
}

TEST(splits_are_what_they_claim)
{
    enum { TRIALS = 400 };
    struct random rng = {71};
    struct arena_mark mark = arena_set_mark(arena);
    int made = 0, kept = 0, stated = 0;
    for (int trial = 0; trial < TRIALS; trial++, arena_reset(arena, mark)) {
        err = (struct error){OK, ""};
        struct random_limits limits = random_limits_small();
        struct problem problem;
        struct placement placement;
        struct plan plan;
        random_problem(&problem, &rng, &limits, arena);
        problem.job.objective = OBJECTIVE_ITERATION_TIME;
        if (placement_equal(&placement, &problem, RECOMPUTE_NONE, &err) != OK) continue;
        const char *split = random_split(&placement, &rng, arena);
        if (placement_plan(&plan, &problem, &placement, arena, &err) != OK) continue;
        made++;
        if (judge(&plan, &problem, trial, arena)) {
            int64_t best = trial % 4 ? 0 : optimum_of(&problem, arena);
            assert_true(placement_fits(&plan) && plan.iteration_ns >= best);
            kept++;
        }
        if (placement_stated(&placement, &problem, split, RECOMPUTE_NONE, &err) != OK) continue;
        if (placement_plan(&plan, &problem, &placement, arena, &err) != OK) continue;
        judge(&plan, &problem, trial, arena);
        stated++;
    }
    printf("%d equal splits, %d within every limit; %d stated ones\n", made, kept, stated);
    assert_true(made > TRIALS / 2 && kept > TRIALS / 10 && stated > TRIALS / 20);
}

TEST(splits_that_cannot_be)
{
    static const char *const splits[] = {"", "1", "1,x", "0,1,1", "1000,1000", "1,1,1,1,1,1,1,1,1"};
    struct random rng = {5};
    struct random_limits limits = random_limits_small();
    struct problem problem;
    struct placement placement;
    do random_problem(&problem, &rng, &limits, arena);
    while (problem.job.layout.pipeline != 3 || problem.job.layout.virtual_stages > 1);
    for (size_t i = 0; i < ARRAY_LENGTH(splits); i++, err = (struct error){OK, ""}) {
        CHECK_REFUSED(placement_stated(&placement, &problem, splits[i], RECOMPUTE_NONE, &err),
                      splits[i]);
    }
}

TEST(nodes_in_order)
{
    enum { TRIALS = 60 };
    struct random rng = {9};
    struct arena_mark mark = arena_set_mark(arena);
    int found_count = 0, worse = 0;
    for (int trial = 0; trial < TRIALS; trial++, arena_reset(arena, mark)) {
        err = (struct error){OK, ""};
        struct problem problem;
        struct priced priced;
        struct solve_result r;
        struct plan plan;
        bool found;
        placed_problem_random(&problem, &rng, arena);
        problem.job.objective = OBJECTIVE_ITERATION_TIME;
        if (price_problem(&priced, &problem, arena, &err) != OK) continue;
        if (!placed_solve_within(&r, &priced, NULL, 0, false, arena)) continue;
        CHECK_OK(placed_in_order(&plan, &found, &r.plan, &priced, arena, &err));
        if (!found) continue;
        judge(&plan, &problem, trial, arena);
        const struct plan_placement *x = plan.placement;
        for (int i = 0, node = 0; i < x->rank_count * x->replica_count; i++) {
            const char *stands =
                x->nodes[i % x->replica_count * x->rank_count + i / x->replica_count];
            while (node < priced.places->node_count &&
                   strcmp(priced.places->nodes[node].name, stands))
                node++;
            assert_true(node < priced.places->node_count);
        }
        if (r.plan.outcome == OUTCOME_OPTIMAL) assert_true(plan.iteration_ns >= r.plan.bound_ns);
        worse += plan.iteration_ns > r.plan.iteration_ns;
        found_count++;
    }
    printf("%d in a framework's order, %d of them slower than their plan\n", found_count, worse);
    assert_true(found_count > TRIALS / 4 && worse > 0);
}
