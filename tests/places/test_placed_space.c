// A space of layouts on nodes: the search against every layout solved by itself; the fate of each
// agrees with its own answer; the judge accepts the plan found.
#include "formulate/price/price.h"
#include "solve/layouts/bound.h"
#include "solve/places/placed.h"
#include "solve/places/space/space.h"
#include "solve/judge/verify.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/check.h"

static int trials = 12;

struct alone {
    const struct problem *problem;
    const struct layouts *found;
    int64_t best_ns, layouts, refused,
        near; // near: bounds of free links above half of a plan's time
    struct arena *arena;
};

// As if links took no time: no plan takes less, and what has no room there has no plan.
static void hold_free_links(struct alone *a, const struct problem *one, const struct plan *plan)
{
    struct priced priced;
    struct layout_sketch sketch;
    struct kept_cache kept = {.arena = a->arena};
    const char *why;
    MUST(price_terms_of_free_links(&priced, one, a->arena, &own_err));
    bool room = layout_sketch(&sketch, &priced, &kept, &why) && layout_missing_bytes(&sketch) <= 0;
    if (!plan->stage_count) return;
    assert_true(room);
    int64_t bound_ns = layout_filling_bound(&sketch, INT64_MAX);
    assert_true(bound_ns <= plan->iteration_ns);
    a->near += 2 * bound_ns > plan->iteration_ns;
}

static bool solve_alone(void *argument, int64_t number, const struct layout *layout)
{
    struct alone *a = argument;
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(a->problem, layout);
    struct priced priced;
    struct solve_settings settings;
    struct solve_result r;
    enum layout_fate fate = layouts_fate(a->found, number);
    a->layouts++;
    if (problem_check_layout(&one, &err) != OK || problem_check_places(&one, &err) != OK) {
        a->refused++;
        assert_int_equal(fate, FATE_REFUSED);
        return true;
    }
    solve_defaults(&settings);
    settings.progress = 0;
    CHECK_OK(price_problem(&priced, &one, a->arena, &err));
    CHECK_OK(placed_solve(&r, &priced, &settings, NULL, NULL, a->arena, &err));
    hold_free_links(a, &one, &r.plan);
    if (!r.plan.stage_count) {
        assert_int_equal(r.plan.outcome, OUTCOME_INFEASIBLE);
        if (fate != FATE_MEMORY && fate != FATE_INFEASIBLE && fate != FATE_BOUND)
            fail_msg("layout %lld has no plan, found: %s", (long long)number,
                     layout_fate_names[fate]);
        return true;
    }
    assert_true(fate == FATE_SOLVED || fate == FATE_BOUND);
    assert_true(a->found->value[number] <= r.plan.iteration_ns);
    if (r.plan.iteration_ns < a->best_ns) a->best_ns = r.plan.iteration_ns;
    return true;
}

static bool draw(struct problem *p, struct random *rng, struct arena *arena)
{
    static int pipelines[] = {1, 2, 3}, batches[] = {1, 2};
    struct error err = {OK, ""};
    random_placed_problem(p, rng, false, arena);
    p->job.rule_count = 0;
    p->job.global_batch *= 12;
    p->job.space.given = true;
    p->job.space.fewer_devices = true;
    p->job.space.axes[SPACE_PIPELINE] = (struct space_axis){AXIS_LIST, pipelines, 3};
    p->job.space.axes[SPACE_MICRO_BATCH] = (struct space_axis){AXIS_LIST, batches, 2};
    p->job.space.axes[SPACE_DATA] = (struct space_axis){AXIS_ALL, NULL, 0};
    return problem_check(p, &err) == OK && problem_check_places(p, &err) == OK;
}

// Progress "n of m", for likely layouts and for all.
static void hear(void *likely, const struct solve_progress *progress)
{
    long long looked_at, count;
    if (!strstr(progress->text, "layouts, ")) return; // a layout's own search
    assert_int_equal(sscanf(progress->text, "%lld of %lld ", &looked_at, &count), 2);
    assert_true(looked_at >= 1 && looked_at <= count);
    assert_int_equal(strstr(progress->text, "no plan yet") != NULL, !progress->plan_ns);
    *(int *)likely += strstr(progress->text, "likely layouts") != NULL;
}

TEST(test_every_layout_alone)
{
    int planned = 0, likely = 0;
    int64_t layouts = 0, refused = 0, near = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < trials; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 1};
        struct problem p;
        struct layouts_result r;
        struct solve_settings settings;
        solve_defaults(&settings);
        settings.progress = 1;
        settings.tell = hear, settings.tell_argument = &likely;
        if (draw(&p, &rng, arena)) {
            CHECK_OK(placed_space_search(&r, &p, &settings, NULL, NULL, arena, &err));
            struct alone a = {&p, &r.layouts, INT64_MAX, 0, 0, 0, arena};
            struct space_limits limits = problem_space_limits(&p);
            space_each(&p.job.space, &limits, solve_alone, &a);
            const struct plan *plan = &r.solved.plan;
            if (a.best_ns < INT64_MAX) {
                struct verdict verdict;
                assert_int_equal(plan->iteration_ns, a.best_ns);
                assert_int_equal(plan->bound_ns, a.best_ns);
                CHECK_OK(verify_plan(&verdict, plan, &p, arena, &err));
                if (!verdict.accepted)
                    fail_msg("trial %d: %s: %s", trial, verdict.violations[0].rule,
                             verdict.violations[0].text);
                planned++;
            } else {
                assert_int_equal(plan->outcome, OUTCOME_INFEASIBLE);
            }
            layouts += a.layouts, refused += a.refused, near += a.near;
        }
    }
    printf("%d spaces with a plan, %lld layouts, %lld of them refused; %lld bounds of free links "
           "above half of the time\n",
           planned, (long long)layouts, (long long)refused, (long long)near);
    assert_true(near > 0 && likely > 0);
    assert_true(planned * 4 > trials && layouts > 2 * trials && refused * 4 < layouts * 3);
}

// Placement and rings of both; what they took and which process did it aside.
static void assert_same_answer(const struct layouts_result *a, const struct layouts_result *b)
{
    const struct plan *p = &a->solved.plan, *q = &b->solved.plan;
    assert_int_equal(p->outcome, q->outcome);
    assert_int_equal(p->iteration_ns, q->iteration_ns);
    assert_int_equal(p->bound_ns, q->bound_ns);
    assert_int_equal(a->layouts.chosen, b->layouts.chosen);
    for (int64_t i = 0; i < a->layouts.count; i++) {
        assert_int_equal(a->layouts.value[i], b->layouts.value[i]);
        assert_int_equal(layouts_fate(&a->layouts, i), layouts_fate(&b->layouts, i));
    }
    if (!p->stage_count) return;
    const struct plan_placement *x = p->placement, *y = q->placement;
    for (int i = 0; i < x->replica_count * x->rank_count; i++)
        assert_string_equal(x->nodes[i], y->nodes[i]);
    for (int i = 0; i < x->replica_count * p->stage_count; i++) {
        assert_int_equal(x->rings[i], y->rings[i]);
        assert_int_equal(x->recompute[i], y->recompute[i]);
        assert_int_equal(x->send_forward_ns[i], y->send_forward_ns[i]);
    }
    for (int i = 0; i < x->replica_count; i++)
        assert_int_equal(x->iteration_ns[i], y->iteration_ns[i]);
}

// The same from this process alone, from one worker and from three.
TEST(test_workers)
{
    static const int threads[] = {0, 1, 3};
    int planned = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 6 || !planned; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 1};
        struct problem p;
        struct layouts_result results[ARRAY_LENGTH(threads)];
        struct solve_settings settings;
        solve_defaults(&settings);
        for (size_t i = 0; i < ARRAY_LENGTH(threads) && draw(&p, &rng, arena); i++) {
            rng = (struct random){(uint64_t)trial + 1};
            settings.threads = threads[i];
            CHECK_OK(placed_space_search(&results[i], &p, &settings, NULL, NULL, arena, &err));
            assert_null(results[i].solved.sidelined);
            if (i) assert_same_answer(&results[0], &results[i]);
            planned += results[i].solved.plan.stage_count > 0;
        }
    }
}

// A time limit that nobody needs: the search ends when it is done, and with the same answer.
TEST(test_long_limit)
{
    int planned = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 4 || !planned; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 1};
        struct problem p;
        struct layouts_result results[2];
        struct solve_settings settings;
        solve_defaults(&settings);
        if (!draw(&p, &rng, arena)) continue;
        for (int i = 0; i < 2; i++) {
            settings.time_limit_s = i * 1e6;
            CHECK_OK(placed_space_search(&results[i], &p, &settings, NULL, NULL, arena, &err));
        }
        assert_same_answer(&results[0], &results[1]);
        planned += results[0].solved.plan.stage_count > 0;
    }
}

// Nodes of which nothing is known but the measured links between them: what is likely is found by
// these.
TEST(test_measured_alone)
{
    int likely = 0;
    for (int trial = 0; trial < 4; trial++) {
        err = (struct error){OK, ""};
        struct arena_mark mark = arena_set_mark(arena);
        struct random rng = {(uint64_t)trial + 1};
        struct problem p;
        struct layouts_result r;
        struct solve_settings settings;
        solve_defaults(&settings);
        settings.progress = 1;
        settings.tell = hear, settings.tell_argument = &likely;
        if (!draw(&p, &rng, arena)) continue;
        int nodes = p.cluster.places.node_count;
        p.cluster.places.measured = TAKE(arena, nodes * nodes, struct link);
        p.cluster.places.absent = NULL;
        p.cluster.places.level_count = p.cluster.link_count = 0;
        for (int g = 0; g < p.cluster.group_count; g++) p.cluster.groups[g].nic_count = 0;
        for (int i = 0; i < nodes * nodes; i++)
            if (i / nodes != i % nodes)
                p.cluster.places.measured[i] = (struct link){1e9 * (1 + i * 7 % 11), 1e-5};
        if (problem_check(&p, &err) == OK && problem_check_places(&p, &err) == OK)
            CHECK_OK(placed_space_search(&r, &p, &settings, NULL, NULL, arena, &err));
        arena_reset(arena, mark);
    }
    assert_true(likely > 0);
}

ARGUMENT(trials)
