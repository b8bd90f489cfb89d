// Replicas with unequal numbers of micro-batches: they pay off if GPUs differ; bounds by
// distribution of micro-batches hold; what the judge refuses, and what a job may not request.
#include "data/kinds/schedules.h"
#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "solve/places/internal.h"
#include "solve/judge/verify.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/check.h"

static int trials = 100;

static struct plan solve(const struct problem *p, double gap, struct arena *arena)
{
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct solve_result result;
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.gap = gap;
    if (price_problem(priced, p, arena, &own_err) != OK ||
        placed_solve(&result, priced, &settings, NULL, NULL, arena, &own_err) != OK)
        fail_msg("%s", own_err.text);
    return result.plan;
}

static struct verdict judge(const struct plan *plan, const struct problem *p, struct arena *arena)
{
    struct verdict v;
    MUST(verify_plan(&v, plan, p, arena, &own_err));
    return v;
}

static void assert_accepted(const struct plan *plan, const struct problem *p, struct arena *arena)
{
    struct verdict v = judge(plan, p, arena);
    if (!v.accepted) fail_msg("%s: %s", v.violations[0].rule, v.violations[0].text);
}

// ---- two kinds of GPU, their speeds as 0.55 to 0.45: layers with large messages and few
// parameters, so that a pipeline keeps to one kind

static void two_kinds(struct problem *p, int pipeline, int layers, int micro_batches, bool uneven,
                      struct arena *arena)
{
    const struct clusters_request r = {.costs = "data/costs/published.json",
                                       .share = 0.55,
                                       .layers = layers,
                                       .hidden = 512,
                                       .heads = 8,
                                       .nodes = pipeline,
                                       .gpus_per_node = 1,
                                       .tensor = 1,
                                       .pipeline = pipeline,
                                       .micro_batch = 16,
                                       .micro_batches = micro_batches,
                                       .sequence = 2048};
    MUST(example_clusters(p, &r, arena, &own_err));
    p->costs.document = (struct document){0};
    p->model.shape.vocabulary = 1024;
    p->job.layout.data = 2;
    p->job.global_batch = 2 * micro_batches * r.micro_batch;
    p->job.placement.uneven_micro_batches = uneven;
    if (problem_check(p, &own_err) != OK || problem_check_places(p, &own_err) != OK)
        fail_msg("%s", own_err.text);
}

static bool is_fast(const struct plan *plan, int place)
{
    return !strncmp(plan->placement->nodes[place], "ib", 2);
}

// Micro-batches of the replica that is only on fast GPUs; the other is only on slow ones.
static int fast_share(const struct plan *plan)
{
    const struct plan_placement *x = plan->placement;
    int fast = is_fast(plan, 0) ? 0 : 1;
    for (int place = 0; place < 2 * x->rank_count; place++)
        if (is_fast(plan, place) != (place / x->rank_count == fast))
            fail_msg("a replica stands on both kinds");
    return x->micro_batches[fast];
}

TEST(test_pays)
{
    struct problem even, uneven;
    two_kinds(&even, 2, 8, 20, false, arena);
    two_kinds(&uneven, 2, 8, 20, true, arena);
    struct plan as_many = solve(&even, 0, arena), unlike = solve(&uneven, 0, arena);
    assert_accepted(&as_many, &even, arena);
    assert_accepted(&unlike, &uneven, arena);
    printf("two stages: %lld ns, as many for each %lld ns\n", (long long)unlike.iteration_ns,
           (long long)as_many.iteration_ns);
    assert_true(unlike.bound_ns == unlike.iteration_ns && as_many.bound_ns == as_many.iteration_ns);
    assert_true((double)unlike.iteration_ns < 0.95 * (double)as_many.iteration_ns);
    assert_int_equal(fast_share(&unlike), 22);
    assert_int_equal(plan_micro_batches_together(&unlike), 40);
}

// Every schedule that may be uneven: no worse than as many for each, and accepted.
TEST(test_every_schedule)
{
    int tried = 0, better = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++, arena_reset(arena, mark)) {
        const struct schedule_properties *is = &schedule_kinds[kind];
        struct problem both[2];
        struct plan plans[2];
        if (is->nests == NESTS_NEVER || is->slices) continue;
        for (int uneven = 0; uneven < 2; uneven++) {
            two_kinds(&both[uneven], 2, 8, 12, uneven, arena);
            both[uneven].job.layout.schedule = (int)kind;
            both[uneven].job.layout.virtual_stages = is->virtual_stages == 1 ? 1 : 2;
            both[uneven].model.shape.tied_embeddings = false;
            plans[uneven] = solve(&both[uneven], 0, arena);
            assert_accepted(&plans[uneven], &both[uneven], arena);
            assert_true(plans[uneven].bound_ns <= plans[uneven].iteration_ns);
        }
        printf("%s: %lld ns, as many for each %lld ns; bounds %lld, %lld\n", schedule_names[kind],
               (long long)plans[1].iteration_ns, (long long)plans[0].iteration_ns,
               (long long)plans[1].bound_ns, (long long)plans[0].bound_ns);
        assert_true(plans[1].iteration_ns <= plans[0].iteration_ns);
        assert_true(plans[1].bound_ns <= plans[0].bound_ns);
        better += plans[1].iteration_ns < plans[0].iteration_ns;
        tried++;
    }
    assert_true(tried > 5 && better > 2);
}

// Too many placements to go through: the bound shares micro-batches out. Two blocks a stage cannot
// follow the speeds.
TEST(test_pays_in_long_pipelines)
{
    struct problem even, uneven;
    two_kinds(&even, 5, 10, 40, false, arena);
    two_kinds(&uneven, 5, 10, 40, true, arena);
    struct plan as_many = solve(&even, 0.01, arena), unlike = solve(&uneven, 0.01, arena);
    assert_accepted(&unlike, &uneven, arena);
    printf("five stages: %lld ns, bound %lld, as many for each %lld ns, bound %lld; %d and %d "
           "micro-batches\n",
           (long long)unlike.iteration_ns, (long long)unlike.bound_ns,
           (long long)as_many.iteration_ns, (long long)as_many.bound_ns,
           unlike.placement->micro_batches[0], unlike.placement->micro_batches[1]);
    assert_int_equal(unlike.outcome, OUTCOME_OPTIMAL);
    assert_true(unlike.iteration_ns < as_many.bound_ns);
    assert_int_equal(fast_share(&unlike), 44);
}

// ---- bounds

TEST(test_bounds)
{
    double worst = 1;
    int better = 0, bounds = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < trials; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 5000};
        struct problem problem;
        struct priced priced, relaxed;
        struct placed *p;
        struct solve_settings settings;
        random_placed_problem(&problem, &rng, true, arena);
        CHECK_OK(price_problem(&priced, &problem, arena, &err));
        int64_t best = best_placement(&problem, &priced, 30000, arena), bound, simple;
        if (best >= 0 && best < INT64_MAX) {
            solve_defaults(&settings);
            const struct placed_share_settings share = {.solve = &settings};
            CHECK_OK(placed_open(&p, &priced, arena, &err));
            placed_relax(&relaxed, &priced, arena);
            assert_int_equal(solve_bound(&simple, &(int64_t){0}, &relaxed, NULL, NULL, arena, &err),
                             OK);
            bound = simple;
            CHECK_OK(placed_share(p, &relaxed, best, &bound, &share, arena, &err));
            if (bound > best || bound < simple)
                fail_msg("trial %d: bound %lld, best %lld", trial, (long long)bound,
                         (long long)best);
            if ((double)bound / (double)best < worst) worst = (double)bound / (double)best;
            better += bound > simple;
            bounds++;
        }
    }
    printf("%d bounds, %d of them above the one that takes all micro-batches alike, the lowest "
           "%.3f of the optimum\n",
           bounds, better, worst);
    assert_true(bounds * 10 > trials && better > 0);
}

// ---- the judge

static struct plan copy_plan(const struct plan *plan, struct arena *arena)
{
    struct plan copy = *plan;
    const struct plan_placement *x = plan->placement;
    size_t replicas = (size_t)x->replica_count, stages = (size_t)plan->stage_count;
    copy.stages = TAKE_COPY(arena, plan->stages, stages);
    copy.placement = TAKE_COPY(arena, x, 1);
    copy.placement->micro_batches = TAKE_COPY(arena, x->micro_batches, replicas);
    copy.placement->iteration_ns = TAKE_COPY(arena, x->iteration_ns, replicas);
    copy.placement->rings = TAKE_COPY(arena, x->rings, stages * replicas);
    copy.placement->nodes = TAKE_COPY(arena, x->nodes, replicas * (size_t)x->rank_count);
    copy.placement->recompute = TAKE_COPY(arena, x->recompute, replicas * stages);
    return copy;
}

static void assert_refused(const struct plan *plan, const struct problem *p, const char *rule,
                           const char *what, struct arena *arena)
{
    struct verdict v = judge(plan, p, arena);
    bool named = false;
    for (int i = 0; i < v.violation_count; i++)
        named = named || !strcmp(v.violations[i].rule, rule);
    if (v.accepted || !named)
        fail_msg("%s: %s", what, v.accepted ? "accepted" : v.violations[0].text);
}

TEST(test_faults)
{
    struct problem problem;
    two_kinds(&problem, 2, 8, 20, true, arena);
    struct plan good = solve(&problem, 0, arena), x;
    int slowest = good.placement->slowest, other = 1 - slowest;
    assert_accepted(&good, &problem, arena);
    x = copy_plan(&good, arena);
    assert_accepted(&x, &problem, arena);
    x.placement->micro_batches[other]++;
    assert_refused(&x, &problem, "micro_batches", "a sum too large", arena);
    x = copy_plan(&good, arena);
    x.placement->micro_batches[other] = 0;
    x.placement->micro_batches[slowest] = x.micro_batches = 40;
    assert_refused(&x, &problem, "micro_batches", "none for one replica", arena);
    x = copy_plan(&good, arena);
    x.placement->micro_batches[other]++, x.placement->micro_batches[slowest]--, x.micro_batches--;
    assert_refused(&x, &problem, "iteration", "one moved, times as they were", arena);
    x = copy_plan(&good, arena);
    x.micro_batches++;
    assert_refused(&x, &problem, "micro_batches", "not the slowest replica's", arena);
    x = copy_plan(&good, arena);
    x.placement->micro_batches = NULL;
    assert_refused(&x, &problem, "micro_batches", "as many for each, of another sum", arena);
    x = copy_plan(&good, arena);
    x.iteration_ns = x.bound_ns = x.placement->iteration_ns[slowest] -= 1;
    assert_refused(&x, &problem, "iteration", "the slowest replica quicker by 1", arena);
    x = copy_plan(&good, arena);
    x.placement->iteration_ns[other] -= 1000;
    assert_refused(&x, &problem, "iteration", "another replica quicker", arena);
    x = copy_plan(&good, arena);
    x.placement->slowest = other;
    assert_refused(&x, &problem, "micro_batches", "the other one called the slowest", arena);
    x = copy_plan(&good, arena);
    x.placement->nodes[0] = good.placement->nodes[2],
    x.placement->nodes[2] = good.placement->nodes[0];
    assert_refused(&x, &problem, "iteration", "two nodes exchanged", arena);
    problem.job.placement.uneven_micro_batches = false;
    assert_refused(&good, &problem, "layout", "a job that does not permit it", arena);
}

// A ring in another order than the plan's takes longer where links differ by direction.
TEST(test_ring_turned)
{
    int turned = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 300 && turned < 3; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 9000};
        struct problem problem;
        random_placed_problem(&problem, &rng, true, arena);
        struct plan good = problem.job.layout.data == 3 ? solve(&problem, 0, arena)
                                                        : (struct plan){0};
        if (good.stage_count) {
            struct plan x = copy_plan(&good, arena);
            for (int s = 0; s < x.stage_count; s++)
                x.placement->rings[s * 3 + 1] = good.placement->rings[s * 3 + 2],
                                           x.placement->rings[s * 3 + 2] =
                                               good.placement->rings[s * 3 + 1];
            turned += !judge(&x, &problem, arena).accepted;
            assert_accepted(&good, &problem, arena);
        }
    }
    assert_int_equal(turned, 3);
}

// A replica that is not the slowest is audited as well: its memory has to fit.
TEST(test_memory_of_others)
{
    struct problem problem;
    two_kinds(&problem, 2, 8, 20, true, arena);
    struct plan good = solve(&problem, 0, arena);
    int other = 1 - good.placement->slowest, group = is_fast(&good, other * 2) ? 0 : 1;
    int64_t before = problem.cluster.groups[group].memory_bytes;
    assert_accepted(&good, &problem, arena);
    problem.cluster.groups[group].memory_bytes = before / 50;
    assert_refused(&good, &problem, "memory", "another replica out of memory", arena);
}

// ---- what a job may request

static void assert_bad(struct problem *p, const char *part)
{
    struct error err = {OK, ""};
    enum status status = problem_check(p, &err);
    if (status == OK) status = problem_check_places(p, &err);
    if (status != BAD_INPUT || !strstr(err.text, part))
        fail_msg("expected '%s', found '%s'", part, err.text);
}

TEST(test_refusals)
{
    struct problem p;
    two_kinds(&p, 2, 8, 20, true, arena);
    p.job.space.given = true;
    assert_bad(&p, "without space");
    two_kinds(&p, 2, 8, 20, true, arena);
    p.cluster.places = (struct places){0};
    assert_bad(&p, "a cluster with places");
    two_kinds(&p, 2, 8, 20, true, arena);
    p.job.layout.schedule = SCHEDULE_ZB_V, p.job.layout.virtual_stages = 2;
    assert_bad(&p, "than zb-v");
    two_kinds(&p, 2, 8, 20, true, arena);
    p.job.global_batch++;
    assert_bad(&p, "a multiple of micro_batch");
    p.job.global_batch = p.job.layout.micro_batch;
    assert_bad(&p, "2 micro-batches or more for 2 replicas");
    two_kinds(&p, 2, 8, 20, true, arena);
    p.job.layout.schedule = SCHEDULE_INTERLEAVED, p.job.layout.virtual_stages = 2;
    p.job.global_batch = 41 * p.job.layout.micro_batch;
    assert_bad(&p, "micro_batch x pipeline");
    two_kinds(&p, 2, 8, 20, true, arena);
    p.job.objective = OBJECTIVE_MAX_LOAD;
    assert_bad(&p, "expected the objective \"iteration_time\"");
    two_kinds(&p, 2, 8, 20, true, arena);
    p.job.global_batch = 41 * p.job.layout.micro_batch;
    assert_int_equal(problem_check(&p, &(struct error){OK, ""}), OK);
    assert_int_equal(job_micro_batches(&p.job), 21);
}

ARGUMENT(trials)
