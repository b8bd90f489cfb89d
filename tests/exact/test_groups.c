// Groups of layouts (docs/PROOFS.md 8.17): for random problems of every kind, in each layout of the
// space every layer's passes take at least as long as in the layout that stands for its group,
// the planner's and the checker's, number by number; the group's bound is at most each layout's
// own; and a walk over some numbers of a space finds the layouts that the whole walk finds there.
#include "data/inputs/framework.h"
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/checker/prices/prices.h"
#include "solve/checker/space/arguments.h"
#include "solve/layouts/group.h"
#include "tests/support/check.h"
#include "tests/support/spaces.h"
#include "tests/support/draws/models.h"

enum { PROBLEMS = 60 };

static void draw_space(struct problem *p, struct random *rng, struct arena *arena)
{
    static const enum space_key some[] = {
        SPACE_TENSOR, SPACE_CONTEXT,     SPACE_PIPELINE,          SPACE_DATA,
        SPACE_EXPERT, SPACE_MICRO_BATCH, SPACE_SEQUENCE_PARALLEL, SPACE_SLICE_COUNT};
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    int64_t count;
    limits.groups_max = 2;
    do {
        random_problem(p, rng, &limits, arena);
        if (!random_pools(p, rng->state, arena) && rng->state / 4 % 2)
            predict_further(p, rng->state, arena);
        p->job.space = (struct space){.given = true, .fewer_devices = random_chance(rng, 40)};
        for (int key = 0; key < SPACE_KEY_COUNT; key++) p->job.space.axes[key].kind = AXIS_ALL;
        if (random_chance(rng, 50)) switches_list(&p->job.space);
        for (size_t i = 0; i < ARRAY_LENGTH(some); i++)
            if (random_chance(rng, 60)) p->job.space.axes[some[i]].kind = AXIS_FIXED;
        count = spaces_count(p);
    } while (count < 2 || count > 3000 || problem_check(p, &err) != OK);
}

// Breadth-first layouts alone that gather weights, for several micro-batches: where what stands for
// them may gather no more often.
static void draw_breadth_first(struct problem *p, struct random *rng, struct arena *arena)
{
    static const enum space_key every[] = {SPACE_PIPELINE, SPACE_DATA, SPACE_VIRTUAL_STAGES,
                                           SPACE_GRADIENT_SYNC};
    static int schedules[] = {SCHEDULE_LOOPED_BFS}, sharded[] = {3};
    struct error err = {OK, ""};
    do {
        draw_space(p, rng, arena);
        struct layout *l = &p->job.layout;
        l->tensor = l->context = l->expert = l->micro_batch = 1;
        l->expert_tensor = l->pool = 0;
        l->sequence_parallel = false;
        p->job.global_batch *= 8;
        for (int key = 0; key < SPACE_KEY_COUNT; key++)
            p->job.space.axes[key] = (struct space_axis){.kind = AXIS_FIXED};
        for (size_t i = 0; i < ARRAY_LENGTH(every); i++)
            p->job.space.axes[every[i]].kind = AXIS_ALL;
        p->job.space.axes[SPACE_SCHEDULE] = (struct space_axis){AXIS_LIST, schedules, 1};
        p->job.space.axes[SPACE_ZERO] = (struct space_axis){AXIS_LIST, sharded, 1};
    } while (spaces_count(p) < 2 || problem_check(p, &err) != OK);
}

struct trial {
    const struct problem *problem;
    struct group_bounds bounds;
    struct kept_cache kept;
    int64_t compared, bounded;
    struct arena *arena;
};

static int64_t passes_ns(const struct priced *p, int run, int group)
{
    const struct priced_run *r = &p->runs[run];
    int64_t sum = r->weight_ns[group];
    for (int slice = 0; slice < p->slice_count; slice++)
        sum += r->forward_ns[slice * p->group_count + group] +
               r->backward_ns[slice * p->group_count + group];
    return sum;
}

static bool price(struct priced *priced, const struct problem *problem, const struct layout *layout,
                  struct arena *arena)
{
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(problem, layout);
    return problem_check_layout(&one, &err) == OK && price_terms(priced, &one, arena, &err) == OK;
}

// No pass takes longer in the layout that stands for its group, on any group that both can use.
static void compare_passes(struct trial *t, const struct priced *own, const struct priced *standing,
                           int64_t number, const char *whose)
{
    for (int run = 0; run < own->run_count; run++)
        for (int g = 0; g < own->group_count; g++) {
            if (!priced_seats(own, g)) continue;
            assert_true(priced_seats(standing, g) >= priced_seats(own, g));
            int64_t ns = passes_ns(own, run, g), least_ns = passes_ns(standing, run, g);
            if (ns < least_ns)
                fail_msg("layout %lld, run %d: passes take %lld ns, %lld in %s group",
                         (long long)number, run, (long long)ns, (long long)least_ns, whose);
            t->compared++;
        }
}

// The layout that the checker has stand for it, which need not be the planner's.
static void compare_checkers(struct trial *t, const struct priced *own, const struct layout *layout,
                             int64_t number)
{
    struct check_layout asked = space_layout(layout), stands = check_standing_for(&asked);
    struct layout group = space_layout_back(&stands, layout);
    struct priced standing;
    if (price(&standing, t->problem, &group, t->arena))
        compare_passes(t, own, &standing, number, "the checker's");
}

static bool compare_layout(void *argument, int64_t number, const struct layout *layout)
{
    struct trial *t = argument;
    struct layout group = layout_group(layout);
    struct priced own, standing;
    struct layout_sketch *sketch = TAKE(t->arena, 1, struct layout_sketch);
    const char *why;
    int64_t bound_ns = group_bound_ns(&t->bounds, layout);
    if (!price(&own, t->problem, layout, t->arena)) return true;
    if (!price(&standing, t->problem, &group, t->arena)) {
        assert_int_equal(bound_ns, 0);
        return true;
    }
    compare_passes(t, &own, &standing, number, "its");
    compare_checkers(t, &own, layout, number);
    if (!layout_sketch(sketch, &own, &t->kept, &why)) return true;
    assert_true(bound_ns <= layout_average_bound(sketch));
    t->bounded += bound_ns > 0;
    return true;
}

static void compare_space(const struct problem *p, int64_t *compared, int64_t *bounded,
                          struct arena *arena)
{
    struct space_limits limits = problem_space_limits(p);
    struct trial t = {.problem = p, .kept = {.arena = arena}, .arena = arena};
    group_bounds_open(&t.bounds, p, arena);
    space_each(&p->job.space, &limits, compare_layout, &t);
    group_bounds_close(&t.bounds);
    *compared += t.compared, *bounded += t.bounded;
}

TEST(passes_of_a_group_are_the_fastest)
{
    struct random rng = {77};
    int64_t compared = 0, bounded = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct problem p;
        draw_space(&p, &rng, arena);
        compare_space(&p, &compared, &bounded, arena);
    }
    print_message("%lld passes compared, %lld layouts with a bound of their group\n",
                  (long long)compared, (long long)bounded);
    assert_true(bounded > 100 * PROBLEMS / 10 && compared > bounded);
}

TEST(passes_that_gather_once_are_the_fastest)
{
    struct random rng = {79};
    int64_t compared = 0, bounded = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS / 2; i++, arena_reset(arena, mark)) {
        struct problem p;
        draw_breadth_first(&p, &rng, arena);
        compare_space(&p, &compared, &bounded, arena);
    }
    print_message("%lld passes compared, %lld layouts with a bound of their group\n",
                  (long long)compared, (long long)bounded);
    assert_true(bounded > PROBLEMS / 2);
}

// ---- walks over some numbers

struct listing {
    struct layout *layouts;
    int64_t count;
    struct space_index *index;
};

static bool list_all(void *argument, int64_t number, const struct layout *layout)
{
    struct listing *l = argument;
    assert_int_equal(number, l->count);
    l->layouts[l->count++] = *layout;
    space_index_add(l->index, number, layout);
    return true;
}

static bool compare_listed(void *argument, int64_t number, const struct layout *layout)
{
    struct listing *l = argument;
    assert_true(layout_equal(&l->layouts[number], layout));
    l->count++;
    return true;
}

TEST(a_walk_over_some_numbers_finds_their_layouts)
{
    struct random rng = {78};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct problem p;
        if (i % 2) draw_space(&p, &rng, arena);
        else spaces_draw_grids(&p, &rng, arena);
        struct space_limits limits = problem_space_limits(&p);
        struct space_index index = {.arena = arena};
        int64_t count = spaces_count(&p), wanted = 0;
        struct listing l = {TAKE(arena, count, struct layout), 0, &index};
        space_each(&p.job.space, &limits, list_all, &l);
        assert_int_equal(l.count, count);
        struct space_range *ranges = TAKE(arena, count, struct space_range);
        int range_count = 0;
        for (int64_t at = random_between(&rng, 0, 9); at < count;) {
            int64_t end = at + random_between(&rng, 1, 40);
            ranges[range_count++] = (struct space_range){at, end < count ? end : count};
            wanted += ranges[range_count - 1].end - at;
            at = end + random_between(&rng, 0, 300);
        }
        l.count = 0;
        space_each_of(&p.job.space, &limits, &index, ranges, range_count, compare_listed, &l);
        assert_int_equal(l.count, wanted);
    }
}
