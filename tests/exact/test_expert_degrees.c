// Expert degrees: random problems with mixtures of which every layout is solved by itself, and
// those whose experts are spread by enumeration, too. The search finds the best of them; its
// certificate is accepted and proves that time, and not a nanosecond more; the checker's walk
// equals the planner's. usage: test_expert_degrees [PROBLEMS] [SEED]
#include "formulate/price/price.h"
#include "solve/checker/prices/prices.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/trials/space_trials.h"

enum { PLANS_MAX = 5000 };

static int problem_count = 80;
static uint64_t first_seed = 1;
static int64_t enumerated, enumerated_plans, layouts, spread, refused, plans, infeasible, chosen,
    bounded, dominated, proven;

struct walked {
    struct layout *all;
    int64_t count;
    const struct space_trial *t;
};

static bool keep(void *argument, int64_t number, const struct layout *layout)
{
    struct walked *w = argument;
    assert_int_equal(number, w->count);
    w->all[w->count++] = *layout;
    spread += layout->expert > 1;
    return true;
}

static bool compare(void *argument, int64_t number, const struct check_layout *layout)
{
    const struct walked *w = argument;
    struct layout own = space_layout_back(layout, &w->t->problem.job.layout);
    assert_true(number < w->count && layout_equal(&own, &w->all[number]));
    bool is_refused = check_space_refusal(&w->t->space, layout) != NULL;
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(&w->t->problem, &own);
    if (is_refused != (problem_check_layout(&one, &err) != OK))
        fail_msg("layout %lld: %s", (long long)number,
                 is_refused ? "refused here alone" : err.text);
    refused += is_refused;
    return true;
}

// Of each layout that spreads experts all plans, one by one, by the oracle.
static void enumerate(const struct space_trial *t, const struct walked *w, unsigned long long name,
                      struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int64_t i = 0; i < w->count; i++, arena_reset(arena, mark)) {
        struct problem one = problem_with_layout(&t->problem, &w->all[i]);
        struct priced priced;
        struct schedule schedule;
        struct oracle e;
        if (w->all[i].expert == 1 || t->alone.refused[i]) continue;
        MUST(price_problem(&priced, &one, arena, &own_err));
        struct schedule_request request = schedule_request_of(&priced);
        MUST(schedule_build(&schedule, &request, arena, &own_err));
        if (oracle_size(&priced, PLANS_MAX, arena) <= PLANS_MAX) {
            MUST(oracle_answer(&e, &priced, &schedule, arena, &own_err));
            if (t->alone.optimum_ns[i] != (e.plans ? e.best_ns : 0))
                fail_msg("seed %llu, layout %lld: solve finds %lld ns, of all plans %lld", name,
                         (long long)i, (long long)t->alone.optimum_ns[i], (long long)e.best_ns);
            enumerated++, enumerated_plans += e.plans;
        }
    }
}

static void walk_both(const struct space_trial *t, unsigned long long name, struct arena *arena)
{
    struct space_limits limits = problem_space_limits(&t->problem);
    struct walked w = {TAKE(arena, t->found.layouts.count, struct layout), 0, t};
    space_each(&t->problem.job.space, &limits, keep, &w);
    assert_int_equal(w.count, t->found.layouts.count);
    assert_int_equal(check_space_walk(&t->space, compare, &w), w.count);
    enumerate(t, &w, name, arena);
}

static void judge(const struct space_trial *t, unsigned long long name, struct arena *arena)
{
    struct verdict verdict;
    MUST(verify_plan(&verdict, &t->found.solved.plan, &t->problem, arena, &own_err));
    if (!verdict.accepted) fail_msg("seed %llu: the judge: %s", name, verdict.violations[0].text);
}

static void try_problem(uint64_t seed)
{
    struct space_trial t;
    struct check_space_result audited;
    unsigned long long name = seed;
    struct arena_mark mark = arena_set_mark(&own_arena);
    space_trial_of_experts(&t, seed, 0, &own_arena);
    const struct plan *plan = &t.found.solved.plan;
    int64_t best_ns = space_trial_best(&t, seed, &audited, &own_arena);
    walk_both(&t, name, &own_arena);
    if (best_ns) judge(&t, name, &own_arena);
    layouts += audited.layouts, bounded += audited.bounded, dominated += audited.dominated,
        proven += audited.proven;
    *(best_ns ? &plans : &infeasible) += 1;
    chosen += best_ns && plan->layout.expert > 1;
    arena_reset(&own_arena, mark);
}

TEST(best_degrees_are_found_and_proven)
{
    for (int i = 0; i < problem_count; i++) try_problem(first_seed + (uint64_t)i);
    print_message(
        "%lld layouts, %lld of them spread experts, %lld refused; %lld spaces with a plan, %lld of "
        "them one, %lld without; %lld layouts by a bound, %lld dominated, %lld by a "
        "proof\n",
        (long long)layouts, (long long)spread, (long long)refused, (long long)plans,
        (long long)chosen, (long long)infeasible, (long long)bounded, (long long)dominated,
        (long long)proven);
    print_message("%lld layouts enumerated, %lld plans\n", (long long)enumerated,
                  (long long)enumerated_plans);
    assert_true(plans > problem_count / 3 && chosen > 0 && spread > problem_count &&
                bounded > problem_count / 2);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
