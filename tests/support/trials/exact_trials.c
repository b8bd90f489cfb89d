// A random small problem with its enumeration.
#include "tests/support/trials/exact_trials.h"

#include "formulate/price/price.h"
#include "solve/judge/verify.h"
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/check.h"
#include "tests/support/oracle/prices.h"
#include "tests/support/textbook/textbook.h"
#include "tests/support/trials/check_trials.h"

bool exact_trial_enumerate(struct exact_trial *t, int64_t plans_max, struct arena *arena)
{
    MUST(price_problem(&t->priced, &t->problem, arena, &own_err));
    MUST(schedule_build_priced(&t->schedule, &t->priced, arena, &own_err));
    if (oracle_size(&t->priced, plans_max, arena) > plans_max) return false;
    MUST(oracle_answer(&t->oracle, &t->priced, &t->schedule, arena, &own_err));
    return true;
}

static void check_plan(const struct exact_trial *t, unsigned long long seed, struct arena *arena)
{
    const struct plan *plan = &t->result.plan;
    struct verdict verdict = {0};
    if (plan->outcome != OUTCOME_OPTIMAL)
        fail_msg("seed %llu: solve says %s, enumeration has %lld plans", seed,
                 outcome_names[plan->outcome], (long long)t->oracle.plans);
    if (plan_value_ns(plan) != t->oracle.best_ns)
        fail_msg("seed %llu: solve finds %lld ns, enumeration %lld ns", seed,
                 (long long)plan_value_ns(plan), (long long)t->oracle.best_ns);
    if (plan->bound_ns != t->oracle.best_ns)
        fail_msg("seed %llu: bound %lld ns, optimum %lld ns", seed, (long long)plan->bound_ns,
                 (long long)t->oracle.best_ns);
    MUST(verify_plan(&verdict, plan, &t->problem, arena, &own_err));
    if (!verdict.accepted)
        fail_msg("seed %llu: the judge rejects: %s: %s", seed, verdict.violations[0].rule,
                 verdict.violations[0].text);
}

static void check_infeasible(const struct exact_trial *t, unsigned long long seed)
{
    const struct plan *plan = &t->result.plan;
    if (plan->outcome != OUTCOME_INFEASIBLE)
        fail_msg("seed %llu: there is no plan, solve says %s", seed, outcome_names[plan->outcome]);
    if (!plan->reason || !*plan->reason) fail_msg("seed %llu: infeasible without a reason", seed);
}

void exact_trial_check(struct exact_trial *t, uint64_t seed, struct arena *arena)
{
    static const volatile int never = 0;
    struct error err = {OK, ""};
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.recheck = true;
    settings.seed = (int64_t)(seed % 7);
    settings.threads = 1 + (int)(seed % 2);
    settings.start_search = seed % 3 != 0; // the tree must also work without it
    settings.eliminate = seed % 5 != 0;
    settings.evidence = true;
    CHECK_OK((t->priced.objective == OBJECTIVE_ENERGY ? solve_least_energy : solve_run)(
        &t->result, &t->priced, &settings, NULL, &never, arena, &err));
    if (t->oracle.plans) check_plan(t, seed, arena);
    else check_infeasible(t, seed);
    if (!certify_best(&t->certified, &t->priced, &t->result,
                      t->oracle.plans ? t->oracle.best_ns : INT64_MAX, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}

int64_t exact_trial_prices(const struct exact_trial *t, uint64_t seed, struct arena *arena)
{
    struct price_count count = {0, 0};
    struct check_text text = check_trial_save(&t->priced, "priced.json", arena);
    struct check_problem *read = TAKE(arena, 1, struct check_problem), *own;
    int64_t compared;
    compare_prices(&t->problem, (int64_t)seed, &count, arena);
    MUST(space_one_prices(&own, &t->problem, arena, &own_err));
    MUST(check_read_problem(read, &text, arena, &own_err));
    if (check_same_prices(read, own, &compared, &own_err) != OK)
        fail_msg("seed %llu: the checker: %s", (unsigned long long)seed, own_err.text);
    return compared;
}

void exact_trial_textbook(const struct exact_trial *t, uint64_t seed, struct arena *arena)
{
    struct plan plan;
    if (textbook_solve(&plan, &t->priced, 0, arena, &own_err) != OK)
        fail_msg("seed %llu: textbook: %s", (unsigned long long)seed, own_err.text);
    if (!t->oracle.plans) assert_int_equal(plan.outcome, OUTCOME_INFEASIBLE);
    else if (plan.iteration_ns != t->oracle.best_ns)
        fail_msg("seed %llu: textbook finds %lld ns, enumeration %lld ns", (unsigned long long)seed,
                 (long long)plan.iteration_ns, (long long)t->oracle.best_ns);
}
