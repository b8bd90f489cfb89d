// The quality cost of compression: the front of time and quality cost, and the least quality cost
// among plans of equal time, against every plan of random small problems. usage: test_quality
// [TRIALS] [SEED]
#include "formulate/price/price.h"
#include "solve/commands/verbs.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/oracle/enumerate.h"
#include "tests/support/prepare.h"
#include "tests/support/problems.h"

enum { FRONT_MOST = 200, PLANS_MOST = 200000 };

static int trials = 1200;
static uint64_t first_seed = 500;

struct met {
    int64_t time_ns, cost;
    int taken;
};
struct all_plans {
    struct prepared p;
    struct met *items;
    int count;
};

static void collect(void *argument, const int *chosen, const int64_t *durations)
{
    struct all_plans *all = argument;
    const struct priced *priced = &all->p.priced;
    struct met *m = &all->items[all->count++];
    assert_true(all->count <= PLANS_MOST);
    *m = (struct met){.time_ns = graph_longest(all->p.graph, durations, NULL)};
    for (int s = 0; s < priced->stage_count; s++) {
        const struct choice *x = &all->p.choices.stages[s].items[chosen[s]];
        m->cost += priced->gradient_options[x->gradient_option].quality_cost +
                   priced->boundary_options[x->boundary_option].quality_cost;
        m->taken += (priced->gradient_options[x->gradient_option].form.amount > 0) +
                    (priced->boundary_options[x->boundary_option].form.amount > 0);
    }
}

static bool is_better(const struct met *a, const struct met *b) // in quality
{
    return a->cost < b->cost || (a->cost == b->cost && a->taken < b->taken);
}

// The fastest of those better than `before` (NULL: of all), of these the best; NULL: none.
static const struct met *next_of(const struct all_plans *all, const struct met *before)
{
    const struct met *best = NULL;
    for (int i = 0; i < all->count; i++) {
        const struct met *m = &all->items[i];
        if (before && !is_better(m, before)) continue;
        if (!best || m->time_ns < best->time_ns ||
            (m->time_ns == best->time_ns && is_better(m, best)))
            best = m;
    }
    return best;
}

static bool draw(struct problem *problem, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.plans_max = 20000;
    random_problem(problem, rng, &limits, arena);
    problem->job.objective = OBJECTIVE_ITERATION_TIME;
    if (random_chance(rng, 70)) problem->job.budget = (struct quality_budget){-1, -1, -1, 0};
    return problem->job.gradient_option_count + problem->job.boundary_option_count > 0 &&
           problem_check(problem, &err) == OK;
}

static int second_searches; // problems whose second search, for the least quality cost, took boxes

// The effort that is stated is that of both searches.
static void check_effort(const struct solved *solved, const struct solve_settings *settings,
                         struct arena *arena)
{
    struct solve_result first;
    const volatile int stop = 0;
    MUST(solve_run(&first, solved->priced, settings, NULL, &stop, arena, &own_err));
    const struct plan_effort *all = &solved->result->plan.effort;
    assert_true(all->boxes >= first.plan.effort.boxes && all->seconds > 0);
    second_searches += all->boxes > first.plan.effort.boxes;
}

static int compare(const struct problem *problem, uint64_t seed, struct arena *arena)
{
    struct all_plans all = {.items = TAKE(arena, PLANS_MOST, struct met)};
    struct enumeration e;
    struct solved solved;
    struct solve_settings settings;
    struct front_point *points = TAKE(arena, FRONT_MOST, struct front_point);
    const volatile int stop = 0;
    int count, at = 0;
    MUST(price_problem(&all.p.priced, problem, arena, &own_err));
    prepare(&all.p, arena);
    enumerate(&e, &all.p.choices, all.p.graph, collect, &all, arena);
    solve_defaults(&settings);
    settings.progress = settings.threads = 0;
    MUST(solve_prepare(&solved, problem, arena, &own_err));
    MUST(solve_search(&solved, &settings, NULL, &stop, arena, &own_err));
    check_effort(&solved, &settings, arena);
    MUST(solve_front(points, &count, &solved, &settings, FRONT_MOST, &stop, arena, &own_err));
    for (const struct met *m = next_of(&all, NULL); m; m = next_of(&all, m), at++) {
        struct verdict verdict = {.closed_form_ns = -1};
        const struct front_point *p = &points[at];
        if (at >= count || p->plan.iteration_ns != m->time_ns || p->quality.cost != m->cost ||
            p->quality.taken != m->taken || p->bound_ns != m->time_ns)
            fail_msg("problem %llu: point %d of %d: %lld ns, %lld, %d; found %lld ns (at least "
                     "%lld), %lld, %d",
                     (unsigned long long)seed, at + 1, count, (long long)m->time_ns,
                     (long long)m->cost, m->taken, (long long)p->plan.iteration_ns,
                     (long long)p->bound_ns, (long long)p->quality.cost, p->quality.taken);
        MUST(verify_plan(&verdict, &p->plan, problem, arena, &own_err));
        if (!verdict.accepted)
            fail_msg("problem %llu: %s: %s", (unsigned long long)seed, verdict.violations[0].rule,
                     verdict.violations[0].text);
    }
    assert_int_equal(at, count);
    return count;
}

TEST(fronts)
{
    int drawn = 0, some = 0, several = 0;
    for (int i = 0; i < trials; i++) {
        struct random rng = {first_seed + (uint64_t)i};
        struct problem problem;
        struct arena_mark mark = arena_set_mark(arena);
        if (draw(&problem, &rng, arena)) {
            int points = compare(&problem, first_seed + (uint64_t)i, arena);
            drawn++, some += points > 0, several += points > 1;
        }
        arena_reset(arena, mark);
    }
    printf(
        "%d problems, %d with a plan, %d with a front of several points, %d with a second search\n",
        drawn, some, several, second_searches);
    assert_true(several > trials / 50 && second_searches > 0);
}

ARGUMENT(trials)
ARGUMENT(first_seed)
