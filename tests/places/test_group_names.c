// Rules find groups by their names, also in the programs by reaches, where a group stands once for
// every reach. Groups that are named as these are named: plan and bound against all placements.
#include "formulate/price/price.h"
#include "solve/places/placed.h"
#include "solve/layout/solve.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/check.h"

static int trials = 60;

// A rule keeps one stage off the first group; the other is named as that one in rings on both.
static void name_groups(struct problem *p, struct rule *rule, int draw, struct arena *arena)
{
    int named = draw % 2;
    p->cluster.groups[named].name = "pod in rings of reach 3";
    p->cluster.groups[!named].name = "pod";
    *rule = rule_empty;
    rule->action = RULE_FORBID;
    rule->stage = draw / 2 % p->job.layout.pipeline;
    rule->groups = TAKE(arena, 1, const char *);
    rule->groups[0] = "pod", rule->group_count = 1;
    p->job.rules = rule, p->job.rule_count = 1;
}

TEST(test_names_of_reaches)
{
    struct arena_mark mark = arena_set_mark(arena);
    int seen = 0, without = 0;
    for (int draw = 0; draw < trials; draw++, arena_reset(arena, mark)) {
        err = (struct error){OK, ""};
        struct random rng = {(uint64_t)draw + 1};
        struct problem problem;
        struct priced priced;
        struct rule rule;
        struct solve_settings settings;
        struct solve_result r;
        random_crossing_problem(&problem, &rng, arena);
        problem.job.objective = OBJECTIVE_ITERATION_TIME;
        name_groups(&problem, &rule, draw, arena);
        for (int g = 0; g < 2; g++) problem.cluster.groups[g].memory_bytes *= 1000;
        if (price_problem(&priced, &problem, arena, &err) != OK) continue;
        int64_t least_ns = best_placement(&problem, &priced, 20000, arena);
        if (least_ns < 0) continue;
        solve_defaults(&settings);
        settings.progress = 0;
        CHECK_OK(placed_solve(&r, &priced, &settings, NULL, NULL, arena, &err));
        int64_t found_ns = r.plan.stage_count ? r.plan.iteration_ns : INT64_MAX;
        if (found_ns != least_ns || (found_ns < INT64_MAX && r.plan.bound_ns > least_ns))
            fail_msg("draw %d: %lld, bound %lld, of all placements %lld", draw, (long long)found_ns,
                     (long long)r.plan.bound_ns, (long long)least_ns);
        seen++;
        without += least_ns == INT64_MAX;
    }
    printf("%d problems, %d of them without a plan\n", seen, without);
    assert_true(seen > trials / 4 && without * 2 < seen);
}

ARGUMENT(trials)
