// See kind_trials.h.
#include "tests/support/trials/kind_trials.h"

#include "formulate/price/price.h"
#include "solve/checker/prices/prices.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"

enum { PLANS_MAX = 5000 };

struct walked {
    struct layout *all;
    int64_t count;
    const struct space_trial *t;
    struct kind_trials *of;
};

static bool keep(void *argument, int64_t number, const struct layout *layout)
{
    struct walked *w = argument;
    assert_int_equal(number, w->count);
    w->all[w->count++] = *layout;
    w->of->of_kind += w->of->is_kind(layout);
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
    w->of->refused += is_refused;
    return true;
}

// Of each layout of the kind all plans, one by one, by the oracle.
static void enumerate(const struct space_trial *t, const struct walked *w, unsigned long long name,
                      struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int64_t i = 0; i < w->count; i++, arena_reset(arena, mark)) {
        struct problem one = problem_with_layout(&t->problem, &w->all[i]);
        struct priced priced;
        struct schedule schedule;
        struct oracle e;
        if (!w->of->is_kind(&w->all[i]) || t->alone.refused[i]) continue;
        MUST(price_problem(&priced, &one, arena, &own_err));
        struct schedule_request request = schedule_request_of(&priced);
        MUST(schedule_build(&schedule, &request, arena, &own_err));
        if (oracle_size(&priced, PLANS_MAX, arena) <= PLANS_MAX) {
            MUST(oracle_answer(&e, &priced, &schedule, arena, &own_err));
            if (t->alone.optimum_ns[i] != (e.plans ? e.best_ns : 0))
                fail_msg("seed %llu, layout %lld: solve finds %lld ns, of all plans %lld", name,
                         (long long)i, (long long)t->alone.optimum_ns[i], (long long)e.best_ns);
            w->of->enumerated++, w->of->enumerated_plans += e.plans;
        }
    }
}

static void walk_both(struct kind_trials *x, const struct space_trial *t, unsigned long long name,
                      struct arena *arena)
{
    struct space_limits limits = problem_space_limits(&t->problem);
    struct walked w = {TAKE(arena, t->found.layouts.count, struct layout), 0, t, x};
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

void kind_trial(struct kind_trials *x, uint64_t seed)
{
    struct space_trial t;
    struct check_space_result audited;
    unsigned long long name = seed;
    struct arena_mark mark = arena_set_mark(&own_arena);
    x->open(&t, seed, 0, &own_arena);
    int64_t best_ns = space_trial_best(&t, seed, &audited, &own_arena);
    walk_both(x, &t, name, &own_arena);
    if (best_ns) judge(&t, name, &own_arena);
    x->layouts += audited.layouts, x->bounded += audited.bounded;
    x->dominated += audited.dominated, x->proven += audited.proven;
    *(best_ns ? &x->plans : &x->infeasible) += 1;
    x->chosen += best_ns && x->is_kind(&t.found.solved.plan.layout);
    arena_reset(&own_arena, mark);
}

void kind_trials_print(const struct kind_trials *x)
{
    print_message(
        "%lld layouts, %lld of them %s, %lld refused; %lld spaces with a plan, %lld of "
        "them such a one, %lld without; %lld layouts by a bound, %lld dominated, %lld by a "
        "proof\n",
        (long long)x->layouts, (long long)x->of_kind, x->what, (long long)x->refused,
        (long long)x->plans, (long long)x->chosen, (long long)x->infeasible, (long long)x->bounded,
        (long long)x->dominated, (long long)x->proven);
    print_message("%lld of them enumerated, %lld plans\n", (long long)x->enumerated,
                  (long long)x->enumerated_plans);
}
