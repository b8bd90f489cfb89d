// Every search (by boxes, by the tree, over layouts or over nodes) ends in the same way: with the
// requested gap, the matching outcome, and a bound that no plan is below; also if there is no plan,
// and if the search is stopped before it begins.
#include "data/results/bound.h"
#include "formulate/price/price.h"
#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"
#include "solve/places/space/space.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/check.h"

enum driver { BOXES, TREE, LAYOUTS, PLACES, PLACED_SPACE, DRIVERS };
static const char *const names[] = {"boxes", "tree", "layouts", "places", "placed space"};
static int trials = 40;

static void draw(struct problem *p, struct random *rng, enum driver driver, struct arena *arena)
{
    static int pipelines[] = {1, 2}, batches[] = {1, 2};
    random_placed_problem(p, rng, false, arena);
    p->job.rule_count = 0;
    p->job.global_batch *= 12;
    if (driver < PLACES) p->cluster.places = (struct places){0};
    if (driver != LAYOUTS && driver != PLACED_SPACE) return;
    p->job.space.given = p->job.space.fewer_devices = true;
    p->job.space.axes[SPACE_PIPELINE] = (struct space_axis){AXIS_LIST, pipelines, 2};
    p->job.space.axes[SPACE_MICRO_BATCH] = (struct space_axis){AXIS_LIST, batches, 2};
}

static struct solve_result drive(enum driver driver, const struct problem *p, double gap,
                                 const volatile int *stop, struct arena *arena)
{
    struct error err = {OK, ""};
    struct solve_settings settings;
    struct layouts_result all;
    struct solve_result r;
    struct priced priced;
    solve_defaults(&settings);
    settings.progress = settings.threads = 0;
    settings.gap = gap;
    if (driver == TREE) settings.eliminate = false; // nor boxes before it
    if (driver == LAYOUTS) CHECK_OK(layouts_search(&all, p, &settings, NULL, stop, arena, &err));
    if (driver == PLACED_SPACE)
        CHECK_OK(placed_space_search(&all, p, &settings, NULL, stop, arena, &err));
    if (driver == LAYOUTS || driver == PLACED_SPACE) return all.solved;
    CHECK_OK(price_problem(&priced, p, arena, &err));
    if (driver == PLACES) CHECK_OK(placed_solve(&r, &priced, &settings, NULL, stop, arena, &err));
    else CHECK_OK(solve_run(&r, &priced, &settings, NULL, stop, arena, &err));
    return r;
}

// optimum_ns 0: there is no plan.
static void check(const struct solve_result *r, double gap, int64_t optimum_ns)
{
    const struct plan *p = &r->plan;
    bool reached = p->bound_ns >= bound_closing(p->iteration_ns, gap, 0);
    assert_true(p->gap_asked == gap);
    if (p->stage_count) {
        assert_int_equal(p->outcome, reached ? OUTCOME_OPTIMAL : OUTCOME_OPEN);
        assert_true(p->bound_ns <= optimum_ns && optimum_ns <= p->iteration_ns);
    } else {
        assert_int_equal(p->iteration_ns, 0);
        assert_true(p->outcome == OUTCOME_NO_PLAN || p->outcome == OUTCOME_INFEASIBLE);
        assert_true(p->outcome == OUTCOME_NO_PLAN || (!optimum_ns && !p->bound_ns));
        assert_true(!optimum_ns || p->bound_ns <= optimum_ns);
    }
    if (r->finished) assert_true(p->outcome == (optimum_ns ? OUTCOME_OPTIMAL : OUTCOME_INFEASIBLE));
}

static void try_driver(enum driver driver, struct random *rng, int *planned, struct arena *arena)
{
    static const double gaps[] = {0.1, 0.002, 0};
    static const volatile int stop = 1;
    struct random again = *rng;
    struct problem p, small; // small: without room for anything
    draw(&p, rng, driver, arena);
    draw(&small, &again, driver, arena);
    for (int g = 0; g < small.cluster.group_count; g++) small.cluster.groups[g].memory_bytes = 9;
    struct solve_result exact = drive(driver, &p, 0, NULL, arena);
    int64_t optimum_ns = exact.plan.iteration_ns;
    if (!exact.finished) return; // not proven within the efforts of a placement
    assert_int_equal(exact.plan.bound_ns, optimum_ns);
    check(&exact, 0, optimum_ns);
    for (size_t i = 0; i < ARRAY_LENGTH(gaps); i++) {
        struct solve_result near = drive(driver, &p, gaps[i], NULL, arena);
        if (!near.finished)
            fail_msg("%s: gap %g: %s, %lld to %lld", names[driver], gaps[i],
                     outcome_names[near.plan.outcome], (long long)near.plan.bound_ns,
                     (long long)near.plan.iteration_ns);
        check(&near, gaps[i], optimum_ns);
        struct solve_result stopped = drive(driver, &p, gaps[i], &stop, arena);
        check(&stopped, gaps[i], optimum_ns);
        struct solve_result none = drive(driver, &small, gaps[i], NULL, arena);
        assert_int_equal(none.plan.outcome, OUTCOME_INFEASIBLE);
        assert_true(none.finished);
        check(&none, gaps[i], 0);
    }
    planned[driver] += optimum_ns > 0;
}

TEST(test_all_end_alike)
{
    int planned[DRIVERS] = {0};
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < trials; trial++)
        for (enum driver driver = BOXES; driver < DRIVERS; driver++, arena_reset(arena, mark)) {
            struct random rng = {(uint64_t)trial + 1};
            try_driver(driver, &rng, planned, arena);
        }
    for (int d = 0; d < DRIVERS; d++) {
        printf("%s: %d of %d with a plan\n", names[d], planned[d], trials);
        assert_true(planned[d] * 4 >= trials);
    }
}

ARGUMENT(trials)
