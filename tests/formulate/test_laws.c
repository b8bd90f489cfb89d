// Laws between the answers to related problems: a looser limit, a faster link or more choices never
// make the optimum worse, and a bound never exceeds an optimum, nor an optimum any heuristic plan.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/incumbent/incumbent.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"

enum { PROBLEMS = 150, PRICED_PROBLEMS = 30, PLANS_MAX = 20000 };

static const volatile int never = 0;

// The proven optimum, INT64_MAX where there is no plan.
static int64_t optimum_ns(const struct priced *priced, struct arena *arena)
{
    struct solve_settings settings;
    struct solve_result result;
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(solve_run(&result, priced, &settings, NULL, &never, arena, &own_err));
    if (result.plan.outcome == OUTCOME_INFEASIBLE) return INT64_MAX;
    assert_int_equal(result.plan.outcome, OUTCOME_OPTIMAL);
    assert_int_equal(result.plan.bound_ns, result.plan.iteration_ns);
    return result.plan.iteration_ns;
}

// Of a random problem, made easier unless NULL.
static int64_t solve_eased(uint64_t seed, void (*ease)(struct problem *p))
{
    struct problem problem;
    struct priced priced;
    struct random rng = {seed};
    struct random_limits limits = random_limits_small();
    struct arena_mark mark = arena_set_mark(&own_arena);
    random_problem(&problem, &rng, &limits, &own_arena);
    if (ease) ease(&problem);
    MUST(price_problem(&priced, &problem, &own_arena, &own_err));
    int64_t best_ns = optimum_ns(&priced, &own_arena);
    arena_reset(&own_arena, mark);
    return best_ns;
}

// ---- ways of making a problem easier

static void add_memory(struct problem *p)
{
    for (int g = 0; g < p->cluster.group_count; g++)
        p->cluster.groups[g].memory_bytes += p->cluster.groups[g].memory_bytes / 3 + 100;
}

static void add_nodes(struct problem *p)
{
    for (int g = 0; g < p->cluster.group_count; g++)
        p->cluster.groups[g].nodes += 1 + p->cluster.groups[g].nodes;
}

static void speed_links(struct problem *p)
{
    for (int g = 0; g < p->cluster.group_count; g++) {
        p->cluster.groups[g].intra.bytes_per_s *= 2;
        p->cluster.groups[g].intra.latency_s /= 2;
        for (int n = 0; n < p->cluster.groups[g].nic_count; n++) {
            p->cluster.groups[g].nics[n].link.bytes_per_s *= 2;
            p->cluster.groups[g].nics[n].link.latency_s /= 2;
        }
    }
    for (int l = 0; l < p->cluster.link_count; l++) {
        p->cluster.links[l].link.bytes_per_s *= 2;
        p->cluster.links[l].link.latency_s /= 2;
    }
}

static void drop_rules(struct problem *p) { p->job.rule_count = 0; }

static void loosen_budget(struct problem *p)
{
    struct quality_budget *b = &p->job.budget;
    if (b->boundaries_max >= 0) b->boundaries_max++;
    if (b->stages_max >= 0) b->stages_max++;
    if (b->cost_max >= 0) b->cost_max += 3;
    b->rank_min = 0;
}

static void allow_recompute(struct problem *p)
{
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) p->job.recompute[mode] = true;
}

static const struct easing {
    const char *name;
    void (*apply)(struct problem *p);
} easings[] = {
    {"memory", add_memory}, {"nodes", add_nodes},      {"links", speed_links},
    {"rules", drop_rules},  {"budget", loosen_budget}, {"recompute", allow_recompute},
};

TEST(easier_is_never_worse)
{
    int improved[ARRAY_LENGTH(easings)] = {0};
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        int64_t before = solve_eased(seed, NULL);
        for (size_t e = 0; e < ARRAY_LENGTH(easings); e++) {
            int64_t after = solve_eased(seed, easings[e].apply);
            if (after > before)
                fail_msg("seed %llu: %s eased, the optimum rises from %lld to %lld ns",
                         (unsigned long long)seed, easings[e].name, (long long)before,
                         (long long)after);
            improved[e] += after < before;
        }
    }
    for (size_t e = 0; e < ARRAY_LENGTH(easings); e++) {
        printf("laws: %s eased: better in %d of %d problems, worse in none\n", easings[e].name,
               improved[e], PROBLEMS);
        assert_true(improved[e] > 0); // or the law was never put to the test
    }
}

// ---- the same of priced problems, for every schedule

static void more_memory(struct priced *p)
{
    for (int g = 0; g < p->group_count; g++)
        p->groups[g].memory_limit_bytes += 1 + p->groups[g].memory_limit_bytes / 8;
}

static void more_slots(struct priced *p)
{
    for (int g = 0; g < p->group_count; g++) p->groups[g].slots++;
}

static void no_rules(struct priced *p) { p->rule_count = 0; }

static void no_barrier(struct priced *p)
{
    p->layout.barrier = false;
} // iterations may still wait for one another

// One gradient less to send, if the loss itself costs nothing; what is not sent cannot be
// compressed.
static void free_local_losses(struct priced *p)
{
    p->local_forward_ns = p->local_backward_ns = p->local_bytes = 0;
    if (p->boundary_option_count == 1 && !p->rule_count && !p->layout.local_loss_every)
        p->layout.local_loss_every = 1;
}

static const struct priced_easing {
    const char *name;
    void (*apply)(struct priced *p);
} priced_easings[] = {
    {"memory", more_memory},
    {"slots", more_slots},
    {"rules", no_rules},
    {"barrier", no_barrier},
    {"local losses", free_local_losses},
};

static void draw_priced(struct priced *p, int kind, uint64_t seed, struct arena *arena)
{
    uint64_t state = 1000 * seed + (uint64_t)kind;
    do random_priced_of(p, kind, &state, arena);
    while (oracle_size(p, PLANS_MAX, arena) > PLANS_MAX || p->layer_count < p->stage_count);
}

static int64_t solve_priced_eased(int kind, uint64_t seed, void (*ease)(struct priced *p))
{
    struct priced p;
    struct arena_mark mark = arena_set_mark(&own_arena);
    draw_priced(&p, kind, seed, &own_arena);
    if (ease) ease(&p);
    int64_t best_ns = optimum_ns(&p, &own_arena);
    arena_reset(&own_arena, mark);
    return best_ns;
}

TEST(easier_is_never_worse_by_schedule)
{
    int improved[ARRAY_LENGTH(priced_easings)] = {0};
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        for (uint64_t seed = 1; seed <= PRICED_PROBLEMS; seed++) {
            int64_t before = solve_priced_eased((int)kind, seed, NULL);
            for (size_t e = 0; e < ARRAY_LENGTH(priced_easings); e++) {
                int64_t after = solve_priced_eased((int)kind, seed, priced_easings[e].apply);
                if (after > before)
                    fail_msg("%s, seed %llu: %s eased, the optimum rises from %lld to %lld ns",
                             schedule_names[kind], (unsigned long long)seed, priced_easings[e].name,
                             (long long)before, (long long)after);
                improved[e] += after < before;
            }
        }
    for (size_t e = 0; e < ARRAY_LENGTH(priced_easings); e++) {
        printf("laws: %s eased: better in %d of %d problems of all schedules, worse in none\n",
               priced_easings[e].name, improved[e], PRICED_PROBLEMS * SCHEDULE_KIND_COUNT);
        assert_true(improved[e] > 0);
    }
}

TEST(bound_optimum_heuristic)
{
    int compared = 0;
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        struct problem problem;
        struct priced priced;
        struct schedule schedule;
        struct choices choices;
        struct graph *graph;
        struct incumbent heuristic = {0};
        struct random rng = {seed};
        struct random_limits limits = random_limits_small();
        struct arena_mark mark = arena_set_mark(arena);
        random_problem(&problem, &rng, &limits, arena);
        CHECK_OK(price_problem(&priced, &problem, arena, &err));
        struct schedule_request request = schedule_request_of(&priced);
        CHECK_OK(schedule_build(&schedule, &request, arena, &err));
        CHECK_OK(choices_build(&choices, &priced, &schedule, arena, &err));
        CHECK_OK(graph_compile(&graph, &schedule, arena, &err));
        const char *why;
        if (choices_hopeless_stage(&choices, &why) < 0)
            incumbent_search(&heuristic, &choices, graph, seed, 20, NULL, NULL, arena);
        int64_t best = optimum_ns(&priced, arena);
        if (heuristic.found) {
            assert_true(best <= heuristic.iteration_ns);
            compared++;
        }
        // A search that is interrupted at once still states nothing false.
        struct solve_settings settings;
        struct solve_result result;
        const volatile int at_once = 1;
        solve_defaults(&settings);
        settings.progress = 0;
        CHECK_OK(solve_run(&result, &priced, &settings, NULL, &at_once, arena, &err));
        assert_true(result.plan.bound_ns <= best);
        if (result.plan.stage_count) assert_true(result.plan.iteration_ns >= best);
        if (result.plan.outcome == OUTCOME_INFEASIBLE) assert_true(best == INT64_MAX);
        arena_reset(arena, mark);
    }
    assert_true(compared > PROBLEMS / 4);
}
