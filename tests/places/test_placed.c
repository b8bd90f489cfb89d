// Plans on nodes: the solver against all decisions on all placements, with durations put together
// and played by the oracle; bounds that are the optimum; what the judge makes of it. Likewise where
// replicas take unlike numbers of micro-batches.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulate/price/price.h"
#include "solve/places/placed.h"
#include "solve/layout/solve.h"
#include "solve/judge/verify.h"
#include "tests/support/oracle/placements.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

static int trials = 100;

enum { PLACES = 6 };

struct seen {
    int placed, several, apart, transports, uneven, shapes[PLACES + 1][PLACES + 1];
}; // [pipeline][data]

static void assert_best(const struct problem *problem, const struct plan *plan, int64_t best,
                        int trial, struct arena *arena)
{
    struct error err = {OK, ""};
    if (plan_value_ns(plan) != best || plan->bound_ns != best)
        fail_msg("trial %d: %lld of %lld, bound %lld", trial, (long long)plan_value_ns(plan),
                 (long long)best, (long long)plan->bound_ns);
    struct verdict verdict;
    assert_int_equal(verify_plan(&verdict, plan, problem, arena, &err), OK);
    if (!verdict.accepted)
        fail_msg("trial %d: %s: %s", trial, verdict.violations[0].rule, verdict.violations[0].text);
}

// A load that is off.
static void expect_load_is_audited(const struct problem *problem, const struct plan *plan,
                                   struct arena *arena)
{
    struct plan wrong = *plan;
    struct error err = {OK, ""};
    wrong.outcome = OUTCOME_OPEN;
    wrong.bound_ns = 0;
    for (int off = -1; off <= 1; off++) {
        struct verdict verdict;
        wrong.objective_ns = plan->objective_ns + off;
        if (wrong.objective_ns < 1) continue;
        assert_int_equal(verify_plan(&verdict, &wrong, problem, arena, &err), OK);
        assert_int_equal(verdict.accepted, off == 0);
        for (int i = 0; i < verdict.violation_count; i++)
            assert_string_equal(verdict.violations[i].rule, "objective");
    }
}

static void count(struct seen *seen, const struct problem *problem, const struct priced *priced,
                  const struct plan *plan)
{
    const struct plan_placement *x = plan->placement;
    bool uneven = false;
    for (int r = 1; x->micro_batches && r < x->replica_count; r++)
        uneven = uneven || x->micro_batches[r] != x->micro_batches[0];
    seen->placed++;
    seen->shapes[plan->layout.pipeline][plan->layout.data]++;
    seen->several += plan->layout.data > 1;
    seen->apart += problem->cluster.group_count > 1;
    seen->transports += priced->places->transport_count > 1;
    seen->uneven += uneven;
}

static struct seen solve_trials(bool uneven, enum objective objective, int trial_count,
                                void **state)
{
    struct seen seen = {0};
    for (int trial = 0; trial < trial_count; trial++) {
        struct arena_mark mark = arena_set_mark(*state);
        struct random rng = {(uint64_t)trial + 1};
        struct problem problem;
        struct priced priced;
        struct solve_result result;
        struct solve_settings settings;
        struct error err = {OK, ""};
        random_placed_problem(&problem, &rng, uneven, *state);
        problem.job.objective = objective;
        if (price_problem(&priced, &problem, *state, &err) != OK)
            fail_msg("trial %d: %s", trial, err.text);
        int64_t best = best_placement(&problem, &priced, uneven ? 150000 : 60000, *state);
        if (best >= 0) {
            solve_defaults(&settings);
            settings.progress = 0;
            if (placed_solve(&result, &priced, &settings, NULL, NULL, *state, &err) != OK)
                fail_msg("trial %d: %s", trial, err.text);
            if (best < INT64_MAX) {
                assert_best(&problem, &result.plan, best, trial, *state);
                if (objective == OBJECTIVE_MAX_LOAD)
                    expect_load_is_audited(&problem, &result.plan, *state);
                count(&seen, &problem, &priced, &result.plan);
            } else if (result.plan.outcome != OUTCOME_INFEASIBLE) {
                fail_msg("trial %d: a plan, %lld ns, where there is none", trial,
                         (long long)result.plan.iteration_ns);
            }
        }
        arena_reset(*state, mark);
    }
    printf("%d problems with a plan, %d of them with several replicas, %d with several groups, %d "
           "with several transports, %d with unlike micro-batches\n",
           seen.placed, seen.several, seen.apart, seen.transports, seen.uneven);
    return seen;
}

static void test_all_placements(void **state)
{
    struct seen seen = solve_trials(false, OBJECTIVE_ITERATION_TIME, trials, state);
    assert_true(seen.placed * 6 > trials && seen.several * 12 > trials &&
                seen.apart * 12 > trials && !seen.uneven);
}

static void test_all_loads(void **state)
{
    struct seen seen = solve_trials(false, OBJECTIVE_MAX_LOAD, trials, state);
    assert_true(seen.placed * 6 > trials && seen.several * 12 > trials && seen.apart * 12 > trials);
}

static void test_all_uneven(void **state)
{
    struct seen seen = solve_trials(true, OBJECTIVE_ITERATION_TIME, trials, state);
    for (int pipeline = 1; pipeline <= 3; pipeline++)
        for (int data = 2; data * pipeline <= PLACES; data++)
            if (!seen.shapes[pipeline][data] && trials >= 100)
                fail_msg("no problem with %d stages and %d replicas", pipeline, data);
    assert_true(seen.placed * 8 > trials && seen.several * 8 > trials && seen.apart * 12 > trials &&
                seen.uneven * 20 > trials);
}

int main(int argc, char **argv)
{
    if (argc > 1) trials = atoi(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_placements),
                                       cmocka_unit_test(test_all_loads),
                                       cmocka_unit_test(test_all_uneven)};
    return cmocka_run_group_tests(tests, check_open_arena, check_close_arena);
}
