// Solving against exhaustive enumeration: the plan's time is the least one to the nanosecond,
// infeasible exactly when the enumeration finds nothing, for any number of processes; alternatives
// are the best distinct plans; the second engine and the textbook formulation agree; a stopped
// search has a valid bound.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/layout/solve.h"
#include "tests/support/oracle/enumerate.h"
#include "tests/support/prepare.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"
#include "tests/support/textbook/textbook.h"
#include "tests/support/check.h"

static bool draw(struct prepared *p, struct random *rng, bool long_and_close, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct problem problem = {0};
    struct error err = {0};
    limits.plans_max = 20000;
    limits.long_and_close = long_and_close;
    random_problem(&problem, rng, &limits, arena);
    if (price_problem(&p->priced, &problem, arena, &err) != OK) return false;
    prepare(p, arena);
    return true;
}

static void solve(struct solve_result *r, const struct priced *p, const struct solve_settings *s,
                  struct arena *arena)
{
    if (solve_run(r, p, s, NULL, NULL, arena, &own_err) != OK)
        fail_msg("solve_run: %s", own_err.text);
}

static int64_t best_of(const struct prepared *p, struct arena *arena)
{
    struct enumeration e;
    for (int s = 0; s < p->priced.stage_count; s++)
        if (!p->choices.stages[s].count) return INT64_MAX;
    enumerate(&e, &p->choices, p->graph, NULL, NULL, arena);
    return e.best_ns;
}

static void expect(const struct solve_result *r, int64_t best_ns)
{
    if (best_ns == INT64_MAX) {
        assert_int_equal(r->plan.outcome, OUTCOME_INFEASIBLE);
        assert_int_equal(r->plan.stage_count, 0);
        assert_non_null(r->plan.reason);
        return;
    }
    assert_int_equal(r->plan.outcome, OUTCOME_OPTIMAL);
    assert_int_equal(r->plan.iteration_ns, best_ns);
    assert_int_equal(r->plan.bound_ns, best_ns);
    assert_null(r->sidelined);
}

static void each(uint64_t seed, int count,
                 void (*check)(const struct prepared *p, int64_t best_ns, struct arena *arena))
{
    struct random rng = {seed};
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < count; i++, arena_reset(&own_arena, mark)) {
        struct prepared p = {0};
        if (draw(&p, &rng, i % 4 == 0, &own_arena)) check(&p, best_of(&p, &own_arena), &own_arena);
    }
}

static void check_default(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    struct solve_settings s;
    struct solve_result r;
    solve_defaults(&s);
    s.recheck = true;
    solve(&r, &p->priced, &s, arena);
    expect(&r, best_ns);
}

TEST(test_default) { each(11, 120, check_default); }

// The tree alone: no start plan, nothing eliminated. And not a bit of difference between one
// process and two.
static void check_tree_alone(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    struct solve_settings s;
    struct solve_result one, two;
    solve_defaults(&s);
    s.recheck = true;
    s.start_search = s.eliminate = false;
    solve(&one, &p->priced, &s, arena);
    expect(&one, best_ns);
    s.threads = 2;
    solve(&two, &p->priced, &s, arena);
    expect(&two, best_ns);
    assert_int_equal(one.plan.effort.boxes, two.plan.effort.boxes);
    assert_int_equal(one.plan.effort.relaxations, two.plan.effort.relaxations);
    for (int i = 0; i < one.plan.stage_count; i++) {
        struct plan_stage *x = &one.plan.stages[i], *y = &two.plan.stages[i];
        assert_memory_equal(x->slices, y->slices,
                            (size_t)p->priced.slice_count * sizeof *x->slices);
        x->slices = y->slices;
        assert_memory_equal(x, y, sizeof *x);
    }
}

TEST(test_tree_alone) { each(12, 120, check_tree_alone); }

// ---- alternatives

struct times {
    int64_t *items;
    int count;
    struct graph *graph;
};

static void collect(void *argument, const int *chosen, const int64_t *durations)
{
    struct times *t = argument;
    (void)chosen;
    if (t->count < 20000) t->items[t->count++] = graph_longest(t->graph, durations, NULL);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void check_alternatives(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    enum { WANTED = 5 };
    struct enumeration e;
    struct times t = {TAKE(arena, 20000, int64_t), 0, p->graph};
    struct solve_settings s;
    struct solve_result r;
    if (best_ns == INT64_MAX) return;
    enumerate(&e, &p->choices, p->graph, collect, &t, arena);
    qsort(t.items, (size_t)t.count, sizeof *t.items, ascending);
    solve_defaults(&s);
    s.alternatives = WANTED;
    solve(&r, &p->priced, &s, arena);
    assert_int_equal(r.alternative_count, t.count < WANTED ? t.count : WANTED);
    for (int i = 0; i < r.alternative_count; i++) {
        assert_int_equal(r.alternatives[i].iteration_ns, t.items[i]);
        assert_int_equal(r.alternatives[i].bound_ns, best_ns);
    }
}

TEST(test_alternatives) { each(13, 40, check_alternatives); }

// ---- the other engine, the other formulation

static int ended; // before their time limit

// Tolerances of 1e-7 decide there, so that a plan within that of the best one counts as agreement.
static void agree(const struct plan *plan, int64_t best_ns)
{
    if (best_ns == INT64_MAX) {
        assert_int_equal(plan->outcome, OUTCOME_INFEASIBLE);
        return;
    }
    assert_true(plan->stage_count > 0);
    assert_true(plan->iteration_ns >= best_ns);
    assert_true((double)(plan->iteration_ns - best_ns) <= 2e-7 * (double)best_ns + 2);
}

// One that a time limit ended may have any plan, but states nothing false.
static void agree_if_ended(const struct plan *plan, int64_t best_ns)
{
    bool is_open = plan->outcome == OUTCOME_OPEN;
    ended += !is_open && plan->outcome != OUTCOME_NO_PLAN;
    if (is_open) assert_true(best_ns <= plan->iteration_ns);
    else if (plan->outcome != OUTCOME_NO_PLAN) agree(plan, best_ns);
}

static int64_t boxes_by_glpk, boxes_by_tree;

// GLPK's branch and bound, with and without a plan to start from; its bound is as exact as any, and
// needs as many boxes as the tree's.
static void check_glpk(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    struct solve_settings s;
    struct solve_result r;
    solve_defaults(&s);
    s.engine = ENGINE_GLPK;
    s.recheck = true;
    solve(&r, &p->priced, &s, arena);
    expect(&r, best_ns);
    s.start_search = s.eliminate = false;
    s.threads = 0;
    solve(&r, &p->priced, &s, arena);
    expect(&r, best_ns);
    boxes_by_glpk += r.plan.effort.boxes;
    s.engine = ENGINE_TREE;
    solve(&r, &p->priced, &s, arena);
    boxes_by_tree += r.plan.effort.boxes;
}

TEST(test_glpk)
{
    each(14, 25, check_glpk);
    printf("%lld boxes by GLPK's branch and bound, %lld by the tree\n", (long long)boxes_by_glpk,
           (long long)boxes_by_tree);
    assert_true(boxes_by_tree > 100 && boxes_by_glpk < boxes_by_tree / 2 * 3);
}

static void check_textbook(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    struct plan plan;
    if (!textbook_covers(&p->priced)) return;
    MUST(textbook_solve(&plan, &p->priced, 3, arena, &own_err));
    agree_if_ended(&plan, best_ns);
}

TEST(test_textbook)
{
    ended = 0;
    each(15, 8, check_textbook);
    assert_true(ended > 0);
}

// ---- stopping, starting

TEST(test_chain)
{
    struct priced p;
    struct solve_settings s;
    struct solve_result r, again;
    volatile int stop = 1;
    chain_priced(&p, 24, 4, 2, 16, arena);
    solve_defaults(&s);
    solve(&r, &p, &s, arena);
    assert_int_equal(r.plan.outcome, OUTCOME_OPTIMAL);
    assert_true(llabs(r.plan.iteration_ns - 522854500) <
                1000); // known, within rounding of the layers' prices
    s.start_search = s.eliminate = false;
    CHECK_OK(solve_run(&again, &p, &s, &r.plan, &stop, arena, &err));
    assert_int_equal(again.plan.outcome, OUTCOME_OPEN);
    assert_int_equal(again.plan.iteration_ns, r.plan.iteration_ns);
    assert_true(again.plan.bound_ns < r.plan.iteration_ns);
    CHECK_OK(solve_run(&again, &p, &s, NULL, &stop, arena, &err));
    assert_int_equal(again.plan.outcome, OUTCOME_NO_PLAN);
    s.gap = 0.5;
    stop = 0;
    CHECK_OK(solve_run(&again, &p, &s, &r.plan, &stop, arena, &err));
    assert_true(again.plan.bound_ns <= r.plan.iteration_ns && plan_gap(&again.plan) <= 0.5);
    r.plan.stages[0].layer_count++;
    assert_int_equal(solve_run(&again, &p, &s, &r.plan, &stop, arena, &err), BAD_INPUT);
}

// ---- problems of every schedule

static void each_scheduled(uint64_t seed, int count,
                           void (*check)(const struct prepared *p, int64_t best_ns,
                                         struct arena *arena))
{
    struct random rng = {seed};
    for (int i = 0; i < count; i++) {
        struct prepared p = {0};
        uint64_t state = random_bits(&rng);
        double plans = 1;
        struct arena_mark mark = arena_set_mark(&own_arena);
        random_priced_of(&p.priced, (int)(i % SCHEDULE_KIND_COUNT), &state, &own_arena);
        prepare(&p, &own_arena);
        for (int s = 0; s < p.priced.stage_count; s++) plans *= p.choices.stages[s].count;
        if (plans < 1e5) check(&p, best_of(&p, &own_arena), &own_arena);
        arena_reset(&own_arena, mark);
    }
}

// At the cut-off or above no plan need be found, and the statement about it is true; below it the
// best plan is found.
static void check_cutoff(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    const int64_t above[] = {-3, 0, 1, 1000};
    for (size_t i = 0; i < ARRAY_LENGTH(above); i++) {
        struct solve_settings s;
        struct solve_result r;
        solve_defaults(&s);
        s.eliminate = i % 2 == 0 || best_ns % 2;
        s.recheck = true;
        s.cutoff_ns = (best_ns == INT64_MAX ? 100 : best_ns) + above[i];
        if (s.cutoff_ns <= 0) continue;
        solve(&r, &p->priced, &s, arena);
        assert_true(r.finished);
        if (best_ns < s.cutoff_ns) {
            expect(&r, best_ns);
            assert_false(r.cut_off);
            continue;
        }
        assert_true(r.cut_off ? r.plan.bound_ns >= s.cutoff_ns
                              : best_ns == INT64_MAX || r.plan.bound_ns >= s.cutoff_ns);
        assert_true(r.plan.bound_ns <= best_ns);
        if (best_ns == INT64_MAX) assert_int_equal(r.plan.stage_count, 0);
        if (r.plan.stage_count) assert_true(r.plan.iteration_ns >= best_ns);
    }
}

TEST(test_cutoff)
{
    each(31, 40, check_cutoff);
    each_scheduled(32, 120, check_cutoff);
}

static void check_bound(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    int64_t bound_ns, time_ns;
    MUST(solve_bound(&bound_ns, &time_ns, &p->priced, NULL, NULL, arena, &own_err));
    if (best_ns < INT64_MAX) assert_true(bound_ns <= best_ns && bound_ns > 0);
    assert_true(time_ns == 0 || time_ns >= best_ns);
}

TEST(test_quick_bound)
{
    each(33, 40, check_bound);
    each_scheduled(34, 400, check_bound);
}

// With a gap the tree closes boxes by it too: the plan is within the gap, and the bound is valid.
static void check_gap(const struct prepared *p, int64_t best_ns, struct arena *arena)
{
    struct solve_settings s;
    struct solve_result r;
    solve_defaults(&s);
    s.eliminate = false;
    s.start_search = best_ns % 2;
    s.recheck = true;
    s.gap = 0.07;
    solve(&r, &p->priced, &s, arena);
    assert_true(r.finished);
    if (best_ns == INT64_MAX) return;
    assert_true(r.plan.bound_ns <= best_ns && r.plan.iteration_ns >= best_ns);
    assert_true((double)(r.plan.iteration_ns - r.plan.bound_ns) <=
                0.07 * (double)r.plan.iteration_ns);
}

TEST(test_gap_in_the_tree)
{
    each(35, 30, check_gap);
    each_scheduled(36, 80, check_gap);
}
