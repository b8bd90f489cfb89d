// The promise that matters most: on small random problems the plan equals the best of all plans, to
// the nanosecond, and `infeasible` is said exactly when there is none; the judge accepts it, and
// the checker its certificate. The oracle enumerates and replays without any code of formulate or
// solve. Half of the problems have a layout of any schedule: tests/solve/test_exact_schedules.c
// goes deeper there.
//
//   test_exact [PROBLEMS] [SEED]      make test runs 300, make test-exact 2,000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulate/price/price.h"
#include "solve/layout/solve.h"
#include "solve/judge/verify.h"
#include "tests/support/trials/certified.h"
#include "tests/support/check.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/towers.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/problems.h"

enum {
    PLANS_MAX = 200000,
    DIMENSION_MIN = 50,
    DEFAULT_PROBLEMS = 300,
    CLOSE_NS = 50,
    LONG_NS = 1000000000
};

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;

static struct {
    int feasible, infeasible, most_layers, most_stages, most_groups, long_ones, close_ones,
        textbook, grids;
    int by_schedule[SCHEDULE_KIND_COUNT], compressed, budgeted, ruled, recomputed, shared,
        offloaded, pooled, further, swapping, swapped;
    int64_t plans, certified, boxes, anew, bytes;
} seen;

static struct {
    bool wanted;
    int feasible, inside, behind; // where the best plan has a boundary
} towers;

static bool is_long_and_close(const struct oracle *e)
{
    return e->plans && e->best_ns >= LONG_NS && e->second_ns != INT64_MAX &&
           e->second_ns - e->best_ns <= CLOSE_NS;
}

static void count_dimensions(const struct problem *p, const struct priced *priced,
                             const struct oracle *e)
{
    seen.plans += e->plans;
    seen.most_layers += priced->layer_count == 9;
    seen.most_stages += priced->stage_count == 4;
    seen.most_groups += priced->group_count == 3;
    seen.by_schedule[priced->layout.schedule]++;
    seen.compressed += priced->boundary_option_count > 1 || priced->gradient_option_count > 1;
    seen.budgeted += priced->budget.boundaries_max >= 0 || priced->budget.stages_max >= 0 ||
                     priced->budget.cost_max >= 0;
    seen.ruled += p->job.rule_count > 0;
    seen.grids += layout_has_grid(&p->job.layout);
    seen.shared += priced_offloads(priced);
    for (int s = 0; e->plans && s < priced->stage_count; s++)
        if (priced->gradient_options[e->best[s].gradient_option].offloaded_percent) {
            seen.offloaded++;
            break;
        }
    seen.swapping += priced->recompute[RECOMPUTE_SWAP];
    for (int s = 0; e->plans && s < priced->stage_count; s++)
        if (e->best[s].recompute == RECOMPUTE_SWAP) {
            seen.swapped++;
            break;
        }
    for (int s = 0; e->plans && s < priced->stage_count; s++) {
        seen.recomputed += e->best[s].recompute != RECOMPUTE_NONE;
        if (e->best[s].recompute != RECOMPUTE_NONE) break;
    }
    seen.long_ones += e->plans && e->best_ns >= LONG_NS;
    seen.close_ones += is_long_and_close(e);
}

static void count_tower(const struct problem *p, const struct oracle *e)
{
    int end = 0;
    const struct model *m = &p->model;
    bool inside = false, behind = false;
    for (int i = 0; m->runs[i].tokens; i++) end += m->runs[i].count;
    for (int s = 0, at = 0; e->plans && s < layout_stage_count(&p->job.layout) - 1; s++) {
        at += e->best[s].layer_count;
        inside = inside || at < end, behind = behind || at == end;
    }
    towers.feasible += e->plans > 0, towers.inside += inside, towers.behind += behind;
}

// Any schedule, and what it asks for, as far as the problem goes along with it.
static void vary_layout(struct problem *p, struct random *rng)
{
    struct job *j = &p->job;
    struct layout *l = &j->layout, plain = *l;
    struct error err = {OK, ""};
    l->schedule = (enum schedule_kind)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1);
    if (schedule_kinds[l->schedule].virtual_stages != 1) {
        l->pipeline = l->virtual_stages = 2;
        if (schedule_kinds[l->schedule].in_groups && job_micro_batches(j) % 2) j->global_batch *= 2;
        if (random_chance(rng, 70)) j->boundary_option_count = j->gradient_option_count = 0;
    }
    if (schedule_kinds[l->schedule].slices) {
        l->slice_count = 2;
        if (j->sequence < 2) j->sequence = 2;
        l->slices[0] = (int)(j->sequence / 3 + 1);
        l->slices[1] = (int)j->sequence - l->slices[0];
        j->boundary_option_count = j->gradient_option_count = j->offload_percent_count = 0;
    }
    l->barrier = random_chance(rng, 70);
    l->local_loss_every = random_chance(rng, 30) ? (int)random_between(rng, 1, 2) : 0;
    j->local_loss = (struct local_loss){(double)random_between(rng, 0, 900) * 1e-9,
                                        (double)random_between(rng, 0, 900) * 1e-9,
                                        random_between(rng, 0, 900)};
    if (problem_check(p, &err) != OK || layout_stage_count(l) > 6) *l = plain;
}

// Draws until a model takes a tower and the enumeration is small enough.
static void draw_tower(struct problem *p, struct priced *priced, struct schedule *schedule,
                       struct oracle *e, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct random rng = {seed * 0x9e3779b97f4a7c15u + 31};
    struct random_limits limits = random_limits_small();
    limits.flavour = FLAVOUR_SHAPE;
    for (;;) {
        struct arena_mark mark = arena_set_mark(arena);
        random_problem(p, &rng, &limits, arena);
        if (seed % 2) vary_layout(p, &rng);
        if (random_small_tower(p, rng.state, arena)) {
            CHECK_OK(price_problem(priced, p, arena, &err));
            struct schedule_request request = schedule_request_of(priced);
            CHECK_OK(schedule_build(schedule, &request, arena, &err));
            if (oracle_size(priced, PLANS_MAX, arena) <= PLANS_MAX) {
                CHECK_OK(oracle_answer(e, priced, schedule, arena, &err));
                return;
            }
        }
        arena_reset(arena, mark);
    }
}

static bool draw_further(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct problem before = *p;
    struct error err = {OK, ""};
    if (seed % 4 == 0 || !predict_further(p, seed, arena)) return false;
    if (problem_check(p, &err) == OK) return true;
    *p = before;
    return false;
}

// The best plan of all has the layers that predict further tokens where the head is.
static void assert_together(const struct problem *p, const struct priced *priced,
                            const struct oracle *e)
{
    int further = p->model.layer_count - 1 - model_mtp_depth(&p->model);
    assert_true(e->best[priced->stage_count - 1].first_layer <= further);
}

// Draws until the enumeration is small enough and, where that is wanted, the iteration long and the
// two best times close: there floating tolerances fail.
static void draw(struct problem *p, struct priced *priced, struct schedule *schedule,
                 struct oracle *e, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct random rng = {seed};
    struct random_limits limits = random_limits_small();
    limits.long_and_close = seed % 4 == 0;
    limits.grids = seed % 4 != 0;
    for (;;) {
        struct arena_mark mark = arena_set_mark(arena);
        random_problem(p, &rng, &limits, arena);
        if (seed / 4 % 2) vary_layout(p, &rng);
        bool pooled = seed % 4 && !layout_has_grid(&p->job.layout) &&
                      random_pools(p, rng.state, arena);
        bool further = !pooled && draw_further(p, rng.state, arena);
        CHECK_OK(price_problem(priced, p, arena, &err));
        struct schedule_request request = schedule_request_of(priced);
        CHECK_OK(schedule_build(schedule, &request, arena, &err));
        if (oracle_size(priced, PLANS_MAX, arena) <= PLANS_MAX) {
            CHECK_OK(oracle_answer(e, priced, schedule, arena, &err));
            if (!limits.long_and_close || is_long_and_close(e)) {
                seen.pooled += pooled && e->plans;
                seen.further += further && e->plans;
                if (further && e->plans) assert_together(p, priced, e);
                return;
            }
        }
        arena_reset(arena, mark);
    }
}

static void check_textbook(const struct priced *priced, const struct oracle *e, uint64_t seed,
                           struct arena *arena)
{
    static const volatile int never = 0;
    struct error err = {OK, ""};
    struct solve_settings settings;
    struct solve_result result;
    solve_defaults(&settings);
    settings.formulation = FORMULATION_TEXTBOOK;
    settings.engine = ENGINE_INTOPT;
    settings.progress = 0;
    if (solve_run(&result, priced, &settings, NULL, &never, arena, &err) == UNAVAILABLE) {
        fprintf(stderr, "TB %s\n", err.text);
        return;
    }
    if (err.status != OK) fail_msg("seed %llu: textbook: %s", (unsigned long long)seed, err.text);
    if (result.sidelined)
        fail_msg("seed %llu: textbook: %s", (unsigned long long)seed, result.sidelined);
    if (!e->plans) assert_int_equal(result.plan.outcome, OUTCOME_INFEASIBLE);
    else if (result.plan.iteration_ns != e->best_ns)
        fail_msg("seed %llu: textbook finds %lld ns, enumeration %lld ns", (unsigned long long)seed,
                 (long long)result.plan.iteration_ns, (long long)e->best_ns);
    seen.textbook++;
}

static void audit_certificate_of(const struct priced *priced, const struct solve_result *result,
                                 const struct oracle *e, uint64_t seed, struct arena *arena)
{
    struct certified c;
    struct error err;
    if (!certify_best(&c, priced, result, e->plans ? e->best_ns : INT64_MAX, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    seen.certified++;
    seen.anew += c.made.mended > 0;
    seen.boxes += c.made.boxes;
    seen.bytes += (int64_t)c.made.size;
}

static void check_one(uint64_t seed)
{
    static const volatile int never = 0;
    struct arena arena;
    struct error err = {OK, ""};
    struct problem problem;
    struct priced priced;
    struct schedule schedule;
    struct oracle e;
    struct solve_settings settings;
    struct solve_result result;
    struct verdict verdict = {0};
    unsigned long long name = seed;
    arena_open(&arena, NULL);
    if (towers.wanted) draw_tower(&problem, &priced, &schedule, &e, seed, &arena);
    else draw(&problem, &priced, &schedule, &e, seed, &arena);
    solve_defaults(&settings);
    settings.progress = 0;
    settings.recheck = true;
    settings.seed = (int64_t)(seed % 7);
    settings.threads = 1 + (int)(seed % 2);
    settings.start_search = seed % 3 != 0; // the tree must stand on its own feet too
    settings.eliminate = seed % 5 != 0;
    settings.evidence = true;
    CHECK_OK(solve_run(&result, &priced, &settings, NULL, &never, &arena, &err));
    if (!e.plans) {
        if (result.plan.outcome != OUTCOME_INFEASIBLE)
            fail_msg("seed %llu: there is no plan, solve says %s", name,
                     outcome_names[result.plan.outcome]);
        if (!result.plan.reason || !*result.plan.reason)
            fail_msg("seed %llu: infeasible without a reason", name);
        seen.infeasible++;
    } else {
        if (result.plan.outcome != OUTCOME_OPTIMAL)
            fail_msg("seed %llu: solve says %s, enumeration has %lld plans", name,
                     outcome_names[result.plan.outcome], (long long)e.plans);
        if (result.plan.iteration_ns != e.best_ns)
            fail_msg("seed %llu: solve finds %lld ns, enumeration %lld ns", name,
                     (long long)result.plan.iteration_ns, (long long)e.best_ns);
        if (result.plan.bound_ns != e.best_ns)
            fail_msg("seed %llu: bound %lld ns, optimum %lld ns", name,
                     (long long)result.plan.bound_ns, (long long)e.best_ns);
        CHECK_OK(verify_plan(&verdict, &result.plan, &problem, &arena, &err));
        if (!verdict.accepted)
            fail_msg("seed %llu: the judge rejects: %s: %s", name, verdict.violations[0].rule,
                     verdict.violations[0].text);
        seen.feasible++;
    }
    audit_certificate_of(&priced, &result, &e, seed, &arena);
    if (towers.wanted) count_tower(&problem, &e);
    else count_dimensions(&problem, &priced, &e);
    if (seed % 4 == 1 && !priced.recompute[RECOMPUTE_SWAP])
        check_textbook(&priced, &e, seed,
                       &arena); // glp_intopt's tolerances miss nanoseconds in a minute
    arena_close(&arena);
}

static void plan_is_the_best_of_all(void **state)
{
    (void)state;
    for (int i = 0; i < problem_count; i++) {
        check_one(first_seed + (uint64_t)i);
        if ((i + 1) % 100 == 0)
            fprintf(stderr,
                    "exact: %d problems, %lld plans enumerated, %d feasible, %d infeasible\n",
                    i + 1, (long long)seen.plans, seen.feasible, seen.infeasible);
    }
}

// The sample must have reached into every corner, or the test above proves little.
static void sample_reaches_every_dimension(void **state)
{
    (void)state;
    printf("exact:");
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        printf(" %s %d", schedule_names[kind], seen.by_schedule[kind]);
    printf(
        "; %d feasible, %d infeasible; 9 layers %d, 4 stages %d, 3 groups %d; compression %d, "
        "budget %d, rules %d, "
        "recomputed optimum %d; feasible with shared pools or weights %d; shares on the host "
        "offered %d, in the optimum %d; swapping offered %d, in the optimum %d; tensor grids %d; "
        "feasible with further tokens %d; >= 1 s %d, of these with optima 1 to 50 ns apart %d; "
        "textbook %d\n",
        seen.feasible, seen.infeasible, seen.most_layers, seen.most_stages, seen.most_groups,
        seen.compressed, seen.budgeted, seen.ruled, seen.recomputed, seen.pooled, seen.shared,
        seen.offloaded, seen.swapping, seen.swapped, seen.grids, seen.further, seen.long_ones,
        seen.close_ones, seen.textbook);
    printf(
        "exact: %lld certificates accepted, %lld boxes, %lld bytes; %lld with boxes closed anew\n",
        (long long)seen.certified, (long long)seen.boxes, (long long)seen.bytes,
        (long long)seen.anew);
    assert_int_equal(seen.certified, problem_count);
    int full = problem_count >= 2000, least = full ? DIMENSION_MIN : problem_count / 40;
    assert_true(seen.infeasible >= least && seen.feasible >= least);
    assert_true(seen.most_layers >= least && seen.most_stages >= least &&
                seen.most_groups >= least);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        assert_true(seen.by_schedule[kind] >= (full ? 30 : problem_count / 100));
    assert_true(seen.compressed >= least && seen.budgeted >= least && seen.ruled >= least &&
                seen.recomputed >= least && seen.shared >= least && seen.pooled >= least &&
                seen.further > 0 && seen.offloaded > 0 && seen.grids >= least &&
                seen.swapping >= least && seen.swapped > 0);
    assert_true(seen.close_ones >= (full ? 200 : problem_count / 20));
    assert_true(seen.textbook >= problem_count / 20);
}

// The same of models with a tower before the embedding.
static void plan_with_a_tower_is_the_best(void **state)
{
    (void)state;
    towers.wanted = true;
    int count = 3 * problem_count / 5, least = count / 20;
    for (int i = 0; i < count; i++) check_one(first_seed + (uint64_t)i);
    printf("exact: %d problems with a tower, %d feasible; the best plan has a boundary in the "
           "tower in %d, right behind it in %d\n",
           count, towers.feasible, towers.inside, towers.behind);
    assert_true(towers.feasible >= 2 * count / 5 && towers.inside >= least &&
                towers.behind >= least);
}

int main(int argc, char **argv)
{
    if (argc > 1) problem_count = atoi(argv[1]);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_is_the_best_of_all),
        cmocka_unit_test(sample_reaches_every_dimension),
        cmocka_unit_test(plan_with_a_tower_is_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
