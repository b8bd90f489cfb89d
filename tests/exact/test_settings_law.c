// A law of recomputation: the best plan of stages that choose for themselves takes no longer than
// that of any setting for all of them. Random problems of every schedule: the first by enumeration,
// each setting by solve and, where it is small enough, by enumeration too.
//
//   test_settings_law [PROBLEMS] [SEED]      of each schedule
#include "data/kinds/schedules.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"

enum { PLANS_MAX = 20000, COUNTS = 3 };

static int problem_count = 12;
static uint64_t first_seed = 1;
static struct {
    int problems, settings, better, equal, none, enumerated;
} seen;

// INT64_MAX: no plan.
static int64_t solved_ns(const struct priced *p, struct arena *arena)
{
    static const volatile int never = 0;
    struct solve_settings settings;
    struct solve_result result;
    solve_defaults(&settings);
    settings.progress = settings.threads = 0;
    MUST(solve_run(&result, p, &settings, NULL, &never, arena, &own_err));
    assert_true(result.finished);
    return result.plan.stage_count ? result.plan.iteration_ns : INT64_MAX;
}

static int64_t enumerated_ns(const struct priced *p, struct arena *arena)
{
    struct schedule schedule;
    struct oracle e;
    priced_schedule(&schedule, p, arena);
    MUST(oracle_answer(&e, p, &schedule, arena, &own_err));
    return e.plans ? e.best_ns : INT64_MAX;
}

static void check_setting(const struct priced *p, int mode, int layers, int64_t each_ns,
                          const char *name)
{
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct priced one = *p;
    one.layout.recompute = 1 + mode, one.layout.recomputed_layers = layers;
    int64_t one_ns = solved_ns(&one, &own_arena);
    if (oracle_size(&one, PLANS_MAX, &own_arena) <= PLANS_MAX) {
        seen.enumerated++;
        assert_int_equal(one_ns, enumerated_ns(&one, &own_arena));
    }
    if (one_ns < each_ns)
        fail_msg("%s: %s takes %lld ns, stages that choose %lld", name, recompute_names[mode],
                 (long long)one_ns, (long long)each_ns);
    seen.settings++;
    *(one_ns == INT64_MAX ? &seen.none : one_ns == each_ns ? &seen.equal : &seen.better) += 1;
    arena_reset(&own_arena, mark);
}

static void check_problem(int kind, uint64_t seed)
{
    struct priced p;
    char name[80];
    uint64_t state = seed * 1000003 + (uint64_t)kind;
    snprintf(name, sizeof name, "%s, seed %llu", schedule_names[kind], (unsigned long long)seed);
    random_priced_of(&p, kind, &state, &own_arena);
    priced_without_setting(&p);
    if (oracle_size(&p, PLANS_MAX, &own_arena) > PLANS_MAX) return;
    int64_t each_ns = enumerated_ns(&p, &own_arena);
    seen.problems++;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        bool numbered = mode == RECOMPUTE_FIRST_LAYERS;
        if (mode == RECOMPUTE_SWAP || (mode && !p.recompute[mode])) continue;
        for (int layers = numbered; layers <= (numbered ? COUNTS : 0); layers++)
            check_setting(&p, mode, layers, each_ns, name);
    }
}

TEST(no_setting_is_better_than_the_stages_own)
{
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        for (int i = 0; i < problem_count; i++) {
            struct arena_mark mark = arena_set_mark(&own_arena);
            check_problem(kind, first_seed + (uint64_t)i);
            arena_reset(&own_arena, mark);
        }
    print_message("%d problems, %d settings (%d enumerated): %d take longer, %d as long, %d have "
                  "no plan\n",
                  seen.problems, seen.settings, seen.enumerated, seen.better, seen.equal,
                  seen.none);
    assert_true(seen.better > seen.problems / 4 && seen.equal > 0);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
