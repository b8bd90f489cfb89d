// The judge on a plan's range: what the costs leave open, computed by the solver's own prices and
// walk and by the sum of squared logarithms of FORMULAS 19, is accepted; wrong ends are not.
#include "data/inputs/cost_keys.h"
#include "formulate/choices/choice.h"
#include "formulate/graph/longest.h"
#include "formulate/price/price.h"
#include "solve/judge/internal.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

static void widen(struct estimate *e, const struct cost_key *key, void *context)
{
    struct random *rng = context;
    e->low = e->value * (1 - (double)random_between(rng, 0, 20) / 100);
    e->high = e->value * (1 + (double)random_between(rng, 0, 20) / 100);
    if (e->low < key->low && e->value >= key->low) e->low = key->low;
    if (e->high > key->high) e->high = key->high;
}

static bool factor_of_runs; // of the trial's costs

// The plan's decision at other costs: its time by the solver's prices, choices and longest path.
static int64_t time_at(struct trial *t, enum cost_group group, enum cost_end end)
{
    struct problem moved = t->problem;
    struct priced priced;
    struct choices choices;
    struct graph *graph;
    moved.costs = costs_copy(&t->problem.costs, &t->arena);
    costs_move_to(&moved.costs, group, end);
    if (price_problem(&priced, &moved, &t->arena, &t->err) != OK ||
        choices_build(&choices, &priced, &t->schedule, &t->arena, &t->err) != OK ||
        graph_compile(&graph, &t->schedule, &t->arena, &t->err) != OK)
        fail_msg("%s", t->err.text);
    int *chosen = TAKE(&t->arena, priced.stage_count, int);
    int64_t *durations =
        TAKE(&t->arena, symbol_count(priced.stage_count, priced.slice_count), int64_t);
    for (int s = 0; s < priced.stage_count; s++) {
        struct choice x = t->choices.stages[s].items[t->chosen[s]];
        choice_evaluate(&choices, s, &x);
        choices.stages[s].items = TAKE(&t->arena, 1, struct choice);
        choices.stages[s].items[0] = x;
    }
    assert_true(choices_durations(&choices, chosen, durations));
    return graph_longest(graph, durations, NULL);
}

// The time at this end: factors whose squared logarithms are those of independent doubts.
static int64_t end_of(struct trial *t, enum cost_end end)
{
    double now = (double)t->plan.iteration_ns, factor = 1 + t->problem.costs.iteration_spread.value,
           square = 0, kernels = 0, trainer = 0;
    for (int group = -1; group < COST_GROUPS; group++) {
        double at = group < 0 ? end == COSTS_FAST ? now / factor : now * factor
                              : (double)time_at(t, (enum cost_group)group, end),
               doubt = log(at / now);
        if (end == COSTS_FAST ? doubt >= 0 : doubt <= 0) continue;
        *(group == COSTS_OF_TRAINER ? &trainer
          : group >= COSTS_OF_PRODUCTS && group <= COSTS_OF_MEMORY
              ? &kernels
              : &square) += (group < 0 ? 1 : 0.75 * 0.75) * doubt * doubt;
    }
    square += trainer > kernels || factor_of_runs ? trainer : kernels;
    return llround(now * exp(end == COSTS_FAST ? -sqrt(square) : sqrt(square)));
}

static void take_origin(struct estimate *e, const struct cost_key *key, void *context)
{
    const enum origin *origin = context;
    if (key->group == COSTS_OF_TRAINER) e->origin = *origin;
}

static bool open_with_range(struct trial *t, uint64_t seed)
{
    struct random_limits limits = random_limits_small();
    limits.flavour = (int)(seed % FLAVOUR_COUNT);
    if (!trial_open(t, seed, &limits, seed % 2)) return false;
    for (int key = 0; key < cost_key_count; key++)
        costs_visit(&t->problem.costs, key, NULL, 0, widen, &t->rng);
    // Of some the formulas leave everything open: a factor of 2, or of 31.
    double spread = seed % 12 == 0 ? 30 : seed % 6 == 0 ? 1 : 0.08;
    if (seed % 3 == 0)
        t->problem.costs.iteration_spread =
            (struct estimate){.value = spread, .low = spread, .high = spread};
    // Fitted to runs, a trainer's factor with it or not.
    enum origin origin = seed % 15 == 0 ? ORIGIN_FITTED : ORIGIN_ASSUMED;
    factor_of_runs = seed % 15 == 0;
    if (seed % 5 == 0) t->problem.costs.iteration_spread.origin = ORIGIN_FITTED;
    for (int key = 0; key < cost_key_count; key++)
        costs_visit(&t->problem.costs, key, NULL, 0, take_origin, &origin);
    t->plan.iteration_low_ns = end_of(t, COSTS_FAST);
    t->plan.iteration_high_ns = end_of(t, COSTS_SLOW);
    t->plan.runner_up_ns =
        random_chance(&t->rng, 50) ? t->plan.iteration_high_ns + random_between(&t->rng, -1, 1) : 0;
    t->plan.runner_up_inside = t->plan.runner_up_ns > 0 &&
                               t->plan.runner_up_ns >= t->plan.iteration_low_ns &&
                               t->plan.runner_up_ns <= t->plan.iteration_high_ns;
    return true;
}

static void expect_range(struct trial *t, const char *what, uint64_t seed)
{
    struct verdict v = trial_judge(t);
    for (int i = 0; i < v.violation_count; i++)
        if (!strcmp(v.violations[i].rule, "range")) return;
    fail_msg("seed %llu: %s is accepted", (unsigned long long)seed, what);
}

TEST(test_ranges)
{
    int accepted = 0, wide = 0;
    for (uint64_t seed = 20000; seed < 20400; seed++) {
        struct trial t;
        if (!open_with_range(&t, seed)) continue;
        trial_expect_accepted(&t, seed);
        accepted++;
        wide += t.plan.iteration_high_ns > t.plan.iteration_low_ns;
        assert_true(t.plan.iteration_low_ns > 0);
        t.plan.runner_up_inside = !t.plan.runner_up_inside;
        expect_range(&t, "a runner-up on the wrong side", seed);
        t.plan.runner_up_inside = !t.plan.runner_up_inside;
        t.plan.iteration_high_ns += 3;
        t.plan.runner_up_ns = 0;
        t.plan.runner_up_inside = false;
        expect_range(&t, "a slow end too late", seed);
        t.plan.iteration_high_ns -= 3;
        t.plan.iteration_low_ns -= 3;
        expect_range(&t, "a fast end too early", seed);
        trial_close(&t);
    }
    print_message("%d ranges accepted, %d of them wider than nothing\n", accepted, wide);
    assert_true(accepted > 150 && wide > 100);
}

// If nothing is stated, nothing is required; but a runner-up cannot be within no range.
TEST(test_no_range)
{
    struct trial t;
    uint64_t seed = 20000;
    while (!open_with_range(&t, seed)) seed++;
    t.plan.iteration_low_ns = t.plan.iteration_high_ns = t.plan.runner_up_ns = 0;
    t.plan.runner_up_inside = false;
    trial_expect_accepted(&t, seed);
    t.plan.runner_up_inside = true;
    expect_range(&t, "a runner-up inside of nothing", seed);
    trial_close(&t);
}
