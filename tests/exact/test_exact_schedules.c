// The same promise as tests/exact/test_exact.c, schedule by schedule: on small random priced
// problems of every schedule, with ranks of several stages, slices, weight gradients split off,
// local losses and iterations that overlap, the plan equals the best of all plans to the
// nanosecond, whichever way it is searched for, and each proof of the two ways that prove is
// certified.
//
//   test_exact_schedules [PROBLEMS] [SEED] [SCHEDULE]      PROBLEMS of each schedule, or of the one
//                                                          named; make test runs 25
#include "data/kinds/schedules.h"
#include "solve/layout/solve.h"
#include "tests/support/trials/certified.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/textbook/textbook.h"

enum { PLANS_MAX = 20000, DEFAULT_PROBLEMS = 25 };

// Ways of searching: all of them must agree.
enum way { WAY_DEFAULT, WAY_TREE_ALONE, WAY_GLPK, WAY_TEXTBOOK, WAY_COUNT };
static const char *const way_names[WAY_COUNT] = {"default", "tree alone", "GLPK", "textbook"};

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static const char *only; // NULL: all schedules
static struct {
    int feasible, infeasible, periodic, local, by_way[WAY_COUNT];
    int64_t plans, certified;
} seen[SCHEDULE_KIND_COUNT];

static struct solve_settings settings_of(enum way way, uint64_t seed)
{
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.seed = (int64_t)(seed % 7);
    settings.threads = 1 + (int)(seed % 2);
    settings.recheck = settings.evidence = way <= WAY_GLPK;
    settings.start_search = settings.eliminate = way == WAY_DEFAULT;
    if (way == WAY_GLPK) settings.engine = ENGINE_GLPK;
    return settings;
}

static void check_way(const struct priced *p, const struct oracle *e, enum way way, uint64_t seed)
{
    static const volatile int never = 0;
    struct error err = {OK, ""};
    struct solve_result result;
    struct solve_settings settings = settings_of(way, seed);
    char name[100];
    snprintf(name, sizeof name, "%s, seed %llu, %s", schedule_names[p->layout.schedule],
             (unsigned long long)seed, way_names[way]);
    struct arena_mark mark = arena_set_mark(&own_arena);
    if ((way == WAY_TEXTBOOK
             ? textbook_solve(&result.plan, p, 0, &own_arena, &err)
             : solve_run(&result, p, &settings, NULL, &never, &own_arena, &err)) != OK)
        fail_msg("%s: %s", name, err.text);
    if (!e->plans) {
        if (result.plan.outcome != OUTCOME_INFEASIBLE)
            fail_msg("%s: there is no plan, solve says %s", name,
                     outcome_names[result.plan.outcome]);
    } else {
        if (result.plan.iteration_ns != e->best_ns)
            fail_msg("%s: finds %lld ns, enumeration %lld ns", name,
                     (long long)result.plan.iteration_ns, (long long)e->best_ns);
        if (way <= WAY_GLPK &&
            (result.plan.outcome != OUTCOME_OPTIMAL || result.plan.bound_ns != e->best_ns))
            fail_msg("%s: %s, bound %lld ns, optimum %lld ns", name,
                     outcome_names[result.plan.outcome], (long long)result.plan.bound_ns,
                     (long long)e->best_ns);
        if (result.plan.bound_ns > e->best_ns) fail_msg("%s: the bound is above the optimum", name);
    }
    if (settings.evidence) {
        struct certified c;
        if (!certify_best(&c, p, &result, e->plans ? e->best_ns : INT64_MAX, &own_arena, &err))
            fail_msg("%s: %s", name, err.text);
        seen[p->layout.schedule].certified++;
    }
    seen[p->layout.schedule].by_way[way]++;
    arena_reset(&own_arena, mark);
}

// Draws until the enumeration is small enough.
static void draw(struct priced *p, struct schedule *schedule, struct oracle *e, int kind,
                 uint64_t seed, struct arena *arena)
{
    uint64_t state = seed;
    struct arena_mark mark = arena_set_mark(arena);
    for (;; arena_reset(arena, mark)) {
        random_priced_of(p, kind, &state, arena);
        if (oracle_size(p, PLANS_MAX, arena) <= PLANS_MAX) {
            priced_schedule(schedule, p, arena);
            MUST(oracle_answer(e, p, schedule, arena, &own_err));
            // A problem without a plan is mostly seen through at once: one in five is enough.
            if (e->plans || random_less(&state, 5) == 0) return;
        }
    }
}

static void check_one(int kind, uint64_t seed)
{
    struct priced p;
    struct schedule schedule;
    struct oracle e;
    struct arena_mark mark = arena_set_mark(&own_arena);
    draw(&p, &schedule, &e, kind, 1000 * seed + (uint64_t)kind, &own_arena);
    check_way(&p, &e, WAY_DEFAULT, seed);
    check_way(&p, &e, WAY_TREE_ALONE, seed);
    if (seed % 3 == 0) check_way(&p, &e, WAY_GLPK, seed);
    // A few bytes in rows of ten thousand millions are beyond glp_intopt's tolerances; by itself it
    // then reports no plan.
    bool large = p.groups[0].memory_limit_bytes > 1000000;
    if (seed % 3 == 1 && !large && textbook_covers(&p)) check_way(&p, &e, WAY_TEXTBOOK, seed);
    seen[kind].feasible += e.plans > 0;
    seen[kind].infeasible += e.plans == 0;
    seen[kind].periodic += !p.layout.barrier;
    seen[kind].local += p.layout.local_loss_every > 0;
    seen[kind].plans += e.plans;
    arena_reset(&own_arena, mark);
}

TEST(plan_is_the_best_of_all)
{
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        if (only && strcmp(only, schedule_names[kind])) continue;
        for (int i = 0; i < problem_count; i++) check_one((int)kind, first_seed + (uint64_t)i);
        printf("%s: %d feasible with %lld plans, %d infeasible, %d without barrier, %d with local "
               "losses; tree alone %d, GLPK %d, textbook %d; %lld certificates accepted\n",
               schedule_names[kind], seen[kind].feasible, (long long)seen[kind].plans,
               seen[kind].infeasible, seen[kind].periodic, seen[kind].local,
               seen[kind].by_way[WAY_TREE_ALONE], seen[kind].by_way[WAY_GLPK],
               seen[kind].by_way[WAY_TEXTBOOK], (long long)seen[kind].certified);
        assert_true(seen[kind].feasible >= problem_count / 3 &&
                    seen[kind].infeasible >= problem_count / 25);
        assert_true(seen[kind].periodic >= problem_count / 25 &&
                    seen[kind].local >= problem_count / 25);
    }
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
ARGUMENT(only)
