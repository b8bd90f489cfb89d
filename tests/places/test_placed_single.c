// One replica on nodes as ranks on groups: plan and bound equal the least time of all placements.
// And a tree that stops after a number of boxes: its bound is never above the optimum.
#include "formulate/price/price.h"
#include "solve/places/internal.h"
#include "solve/layout/solve.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/check.h"

enum { DRAWS_MAX = 2000 };

static int trials = 60;

static int64_t prove(struct placed *p, struct placed_plan *best, struct arena *arena)
{
    struct solve_settings settings;
    int64_t bound_ns = 0;
    solve_defaults(&settings);
    settings.progress = 0;
    assert_true(placed_is_single(p));
    if (placed_single(p, best, &bound_ns, &(struct solve_evidence *){NULL}, &settings, NULL, arena,
                      &own_err) != OK)
        fail_msg("%s", own_err.text);
    return bound_ns;
}

TEST(test_against_all)
{
    int seen = 0, without = 0, apart = 0;
    for (int draw = 0; seen < trials && draw < DRAWS_MAX; draw++) {
        err = (struct error){OK, ""};
        struct arena_mark mark = arena_set_mark(arena);
        struct random rng = {(uint64_t)draw + 1};
        struct problem problem;
        struct priced priced;
        struct placed *p;
        random_placed_problem(&problem, &rng, false, arena);
        if (problem.job.layout.data == 1 && price_problem(&priced, &problem, arena, &err) == OK) {
            int64_t least_ns = best_placement(&problem, &priced, 20000, arena);
            if (least_ns == INT64_MAX ? without * 4 <= seen : least_ns >= 0) {
                CHECK_OK(placed_open(&p, &priced, arena, &err));
                struct placed_plan best = placed_plan_empty(p, arena), known;
                int64_t bound_ns = prove(p, &best, arena);
                if (best.time_ns != least_ns || bound_ns != least_ns)
                    fail_msg("draw %d: %lld, bound %lld, of all placements %lld", draw,
                             (long long)best.time_ns, (long long)bound_ns, (long long)least_ns);
                if (least_ns < INT64_MAX) { // with an already known plan
                    known = placed_plan_empty(p, arena);
                    placed_plan_copy(p, &known, &best);
                    if (prove(p, &known, arena) != least_ns || known.time_ns != least_ns)
                        fail_msg("draw %d: with a known plan", draw);
                }
                seen++;
                without += least_ns == INT64_MAX;
                apart += problem.cluster.group_count > 1;
            }
        }
        arena_reset(arena, mark);
    }
    printf("%d problems, %d of them without a plan, %d with several groups\n", seen, without,
           apart);
    assert_true(seen == trials && apart * 4 > seen && without * 2 < seen);
}

TEST(test_stopped_trees)
{
    int open = 0, solved = 0;
    for (int trial = 0; trial < 2 * trials; trial++) {
        err = (struct error){OK, ""};
        struct arena_mark mark = arena_set_mark(arena);
        struct random rng = {(uint64_t)trial + 1};
        struct random_limits limits = random_limits_small();
        struct problem problem;
        struct priced priced;
        struct solve_settings settings;
        struct solve_result whole, stopped;
        limits.long_and_close = limits.keeps = true;
        random_problem(&problem, &rng, &limits, arena);
        if (!problem.job.space.given && price_problem(&priced, &problem, arena, &err) == OK) {
            solve_defaults(&settings);
            settings.progress = 0;
            CHECK_OK(solve_run(&whole, &priced, &settings, NULL, NULL, arena, &err));
            settings.eliminate = settings.start_search = false;
            settings.boxes_max = 1;
            CHECK_OK(solve_run(&stopped, &priced, &settings, NULL, NULL, arena, &err));
            if (whole.plan.stage_count && stopped.plan.bound_ns > whole.plan.iteration_ns)
                fail_msg("trial %d: bound %lld above %lld", trial, (long long)stopped.plan.bound_ns,
                         (long long)whole.plan.iteration_ns);
            if (stopped.plan.outcome == OUTCOME_OPTIMAL &&
                stopped.plan.iteration_ns != whole.plan.iteration_ns)
                fail_msg("trial %d: not the optimum", trial);
            if (stopped.plan.outcome == OUTCOME_INFEASIBLE)
                assert_int_equal(whole.plan.outcome, OUTCOME_INFEASIBLE);
            open += stopped.plan.outcome == OUTCOME_OPEN || stopped.plan.outcome == OUTCOME_NO_PLAN;
            solved += stopped.plan.outcome == OUTCOME_OPTIMAL;
        }
        arena_reset(arena, mark);
    }
    printf("%d trees stopped open, %d solved before\n", open, solved);
    assert_true(open > 0 && solved > 0);
}

ARGUMENT(trials)
