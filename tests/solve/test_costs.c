// The objective cost, and limits of time and price: searches of random spaces against every layout
// solved by itself, its devices counted here.
#include "data/inputs/space.h"
#include "solve/judge/verify.h"
#include "solve/layouts/layouts.h"
#include "tests/support/spaces.h"
#include "tests/support/check.h"

enum { PROBLEMS = 70, LAYOUTS_MAX = 4000 };

static const double price = 3.6; // of a device-hour: 0.001 of a second

static int64_t devices[LAYOUTS_MAX];

static bool note_devices(void *argument, int64_t number, const struct layout *l)
{
    (void)argument;
    assert_true(number < LAYOUTS_MAX);
    devices[number] = (int64_t)l->tensor * l->context * l->data * l->pipeline;
    return true;
}

// The best of the layouts whose own optimum keeps the limits; INT64_MAX: none.
static int64_t best_of(const struct problem *p, const struct spaces_alone *a, int64_t count)
{
    const struct job *j = &p->job;
    int64_t best = INT64_MAX;
    for (int64_t i = 0; i < count; i++) {
        int64_t ns = a->optimum_ns[i],
                value = j->objective == OBJECTIVE_COST ? ns * devices[i] : ns;
        double seconds = (double)ns / 1e9, tokens = (double)j->global_batch * (double)j->sequence,
               million = seconds * (double)devices[i] * price / 3600 / tokens * 1e6;
        if (a->refused[i] || !ns || value >= best) continue;
        if (j->iteration_limit_s > 0 && seconds > j->iteration_limit_s) continue;
        if (j->price_limit > 0 && million > j->price_limit) continue;
        best = value;
    }
    return best;
}

static void check_search(const struct problem *p, int threads, double gap, int64_t best,
                         struct arena *arena)
{
    struct layouts_result r;
    struct verdict verdict;
    const struct plan *plan = &r.solved.plan;
    spaces_search(&r, p, threads, gap, 0, NULL, arena);
    int64_t value = plan->stage_count ? plan_value_ns(plan) : INT64_MAX;
    assert_int_equal(plan->objective, p->job.objective);
    if (gap <= 0) assert_true(value == best);
    assert_true(value >= best && (best == INT64_MAX || r.layouts.bound_ns <= best));
    if (gap <= 0)
        assert_int_equal(plan->outcome, best == INT64_MAX ? OUTCOME_INFEASIBLE : OUTCOME_OPTIMAL);
    if (gap <= 0 && best < INT64_MAX) assert_true(plan->bound_ns == best);
    if (!plan->stage_count) return;
    MUST(verify_plan(&verdict, plan, p, arena, &own_err));
    if (!verdict.accepted)
        fail_msg("%s: %s", verdict.violations[0].rule, verdict.violations[0].text);
}

// A limit that some layout just keeps, or just does not.
static void draw_limits(struct problem *p, const struct spaces_alone *a, int64_t count,
                        struct random *rng)
{
    int64_t at = random_between(rng, 0, count - 1), ns = a->optimum_ns[at];
    double edge = random_chance(rng, 50) ? 0.5 : -0.5, seconds = ((double)ns + edge) / 1e9,
           tokens = (double)p->job.global_batch * (double)p->job.sequence;
    if (!ns || a->refused[at]) return;
    if (random_chance(rng, 60)) p->job.iteration_limit_s = seconds;
    else p->job.price_limit = seconds * (double)devices[at] * price / 3600 / tokens * 1e6;
}

static int limited, changed;

static void try_problem(struct random *rng, enum objective objective, struct arena *arena)
{
    struct problem p;
    struct error err = {OK, ""};
    do {
        spaces_draw(&p, rng, arena);
        p.job.space.fewer_devices = true;
        for (int g = 0; g < p.cluster.group_count; g++) p.cluster.groups[g].gpu_hour_price = price;
        p.job.objective = objective;
    } while (spaces_count(&p) > 120 || problem_check(&p, &err) != OK);
    int64_t count = spaces_count(&p);
    struct spaces_alone a;
    struct space_limits limits = problem_space_limits(&p);
    spaces_solve(&a, &p, arena);
    space_each(&p.job.space, &limits, note_devices, NULL);
    int64_t free = best_of(&p, &a, count);
    draw_limits(&p, &a, count, rng);
    int64_t best = best_of(&p, &a, count);
    CHECK_OK(problem_check(&p, &err));
    for (int threads = 1; threads <= 2; threads++) check_search(&p, threads, 0, best, arena);
    check_search(&p, 2, 0.1, best, arena);
    limited += p.job.iteration_limit_s > 0 || p.job.price_limit > 0;
    changed += best != free;
}

TEST(test_searches_against_enumeration)
{
    struct random rng = {5};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark))
        try_problem(&rng, i % 2 ? OBJECTIVE_ITERATION_TIME : OBJECTIVE_COST, arena);
    print_message("%d problems, %d with a limit, which changed the answer of %d\n", PROBLEMS,
                  limited, changed);
    assert_true(limited > PROBLEMS / 5 && changed > 4);
}

static bool breaks(const struct verdict *v, const char *rule)
{
    for (int i = 0; i < v->violation_count; i++)
        if (!strcmp(v->violations[i].rule, rule)) return true;
    return false;
}

// A plan that another devices' count, a cost or a limit does not fit is refused.
TEST(test_the_judge_counts)
{
    struct random rng = {11};
    struct problem p;
    struct layouts_result r;
    struct verdict verdict;
    do {
        spaces_draw(&p, &rng, arena);
        p.job.objective = OBJECTIVE_COST;
        if (problem_check(&p, &err) == OK) spaces_search(&r, &p, 1, 0, 0, NULL, arena);
    } while (!r.solved.plan.stage_count);
    struct plan *plan = &r.solved.plan;
    CHECK_OK(verify_plan(&verdict, plan, &p, arena, &err));
    assert_true(verdict.accepted);
    plan->objective_ns++;
    CHECK_OK(verify_plan(&verdict, plan, &p, arena, &err));
    assert_true(breaks(&verdict, "objective"));
    plan->objective_ns--;
    p.job.iteration_limit_s = ((double)plan->iteration_ns - 0.5) / 1e9;
    CHECK_OK(verify_plan(&verdict, plan, &p, arena, &err));
    assert_true(breaks(&verdict, "limit"));
}
