// The search over a space of layouts against all of its layouts solved one by one: same optimum, a
// fate for every layout that agrees with its own answer, bounds below it; and the search's
// guarantees about threads, limits and signals.
#include "data/base/file.h"
#include "data/inputs/framework.h"
#include "data/kinds/schedules.h"
#include "data/text/pieces.h"
#include "formulate/price/price.h"
#include "solve/layouts/layouts.h"
#include "solve/layouts/bound.h"
#include "solve/layouts/work.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/spaces.h"

enum { PROBLEMS = 100 };

static void check_bounds(const struct priced *priced, int64_t optimum_ns, struct arena *arena)
{
    struct kept_cache kept = {.arena = arena};
    struct layout_sketch sketch;
    const char *why = NULL;
    if (!layout_sketch(&sketch, priced, &kept, &why)) {
        assert_int_equal(optimum_ns, 0);
        return;
    }
    if (layout_missing_bytes(&sketch) > 0 || layout_filling_bound(&sketch, INT64_MAX) == INT64_MAX)
        assert_int_equal(optimum_ns, 0);
    if (!optimum_ns) return;
    assert_true(layout_average_bound(&sketch) <= optimum_ns);
    assert_true(layout_filling_bound(&sketch, INT64_MAX) <= optimum_ns);
}

static bool check_layout_bounds(void *argument, int64_t number, const struct layout *layout)
{
    const struct spaces_alone *a = argument;
    struct problem one = problem_with_layout(a->problem, layout);
    struct priced priced;
    if (a->refused[number]) return true;
    MUST(price_problem(&priced, &one, a->arena, &own_err));
    check_bounds(&priced, a->optimum_ns[number], a->arena);
    return true;
}

static void check_fates(const struct layouts *l, const struct spaces_alone *a)
{
    int64_t counted = 0;
    for (int i = 0; i < l->reason_count; i++) counted += l->reasons[i].count;
    assert_int_equal(counted, l->count);
    for (int64_t i = 0; i < l->count; i++) {
        enum layout_fate fate = layouts_fate(l, i);
        assert_int_not_equal(fate, FATE_OPEN);
        if (a->refused[i]) assert_true(fate == FATE_REFUSED || fate == FATE_BOUND);
        if (fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE)
            assert_int_equal(a->optimum_ns[i], 0);
        else if (a->optimum_ns[i]) assert_true(l->value[i] <= a->optimum_ns[i]);
    }
}

static void check_same(const struct layouts_result *a, const struct layouts_result *b)
{
    const struct plan *x = &a->solved.plan, *y = &b->solved.plan;
    assert_int_equal(x->iteration_ns, y->iteration_ns);
    assert_int_equal(x->bound_ns, y->bound_ns);
    assert_int_equal(a->layouts.chosen, b->layouts.chosen);
    for (int s = 0; s < x->stage_count; s++) {
        assert_int_equal(x->stages[s].first_layer, y->stages[s].first_layer);
        assert_int_equal(x->stages[s].group, y->stages[s].group);
        assert_int_equal(x->stages[s].recompute, y->stages[s].recompute);
        assert_int_equal(x->stages[s].recomputed_layers, y->stages[s].recomputed_layers);
    }
    assert_memory_equal(a->layouts.value, b->layouts.value,
                        (size_t)a->layouts.count * sizeof(int64_t));
    for (int64_t i = 0; i < a->layouts.count; i++)
        assert_int_equal(layouts_fate(&a->layouts, i), layouts_fate(&b->layouts, i));
}

static int64_t seen_layouts, seen_fates[FATE_COUNT], seen_feasible, seen_above;

static void expect_accepted(const struct plan *plan, const struct problem *problem,
                            struct arena *arena)
{
    struct verdict verdict;
    if (!plan->stage_count) return;
    MUST(verify_plan(&verdict, plan, problem, arena, &own_err));
    if (!verdict.accepted)
        fail_msg("%s: %s", verdict.violations[0].rule, verdict.violations[0].text);
}

static void try_problem(struct random *rng, enum objective objective, struct arena *arena)
{
    struct problem p;
    struct layouts_result one, two, rough;
    spaces_draw(&p, rng, arena);
    p.job.objective = objective;
    int64_t count = spaces_count(&p);
    struct spaces_alone a;
    struct space_limits limits = problem_space_limits(&p);
    spaces_solve(&a, &p, arena);
    space_each(&p.job.space, &limits, check_layout_bounds, &a);
    spaces_search(&one, &p, 1, 0, 0, NULL, arena);
    assert_int_equal(one.layouts.count, count);
    assert_int_equal(spaces_value(&one.solved.plan), a.best_ns == INT64_MAX ? 0 : a.best_ns);
    assert_int_equal(one.layouts.iteration_ns, spaces_value(&one.solved.plan));
    assert_int_equal(one.solved.plan.objective, objective);
    expect_accepted(&one.solved.plan, &p, arena);
    assert_int_equal(one.solved.plan.outcome,
                     a.best_ns == INT64_MAX ? OUTCOME_INFEASIBLE : OUTCOME_OPTIMAL);
    if (a.best_ns != INT64_MAX)
        assert_int_equal(one.solved.plan.bound_ns, plan_value_ns(&one.solved.plan));
    check_fates(&one.layouts, &a);
    spaces_search(&two, &p, 2, 0, 0, NULL, arena);
    check_same(&one, &two);
    spaces_search(&rough, &p, 2, 0.05, 0, NULL, arena);
    if (a.best_ns != INT64_MAX) {
        assert_true(rough.layouts.bound_ns <= a.best_ns &&
                    spaces_value(&rough.solved.plan) >= a.best_ns);
        assert_true(rough.layouts.bound_ns >= 0.95 * (double)rough.layouts.iteration_ns);
        int64_t edge_ns = rough.layouts.iteration_ns -
                          (int64_t)(0.05 * (double)rough.layouts.iteration_ns);
        seen_above += rough.layouts.bound_ns > edge_ns;
        int64_t each = objective == OBJECTIVE_MAX_LOAD ? rough.solved.plan.micro_batches : 1;
        assert_int_equal(rough.solved.plan.bound_ns, rough.layouts.bound_ns / each);
    }
    check_fates(&rough.layouts, &a);
    seen_layouts += count;
    seen_feasible += a.best_ns != INT64_MAX;
    for (int64_t i = 0; i < count; i++) seen_fates[layouts_fate(&rough.layouts, i)]++;
}

TEST(test_search_equals_all_layouts_solved)
{
    struct random rng = {20};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark))
        try_problem(&rng, i % 3 == 2 ? OBJECTIVE_MAX_LOAD : OBJECTIVE_ITERATION_TIME, arena);
    print_message("%lld layouts of %d problems, %lld feasible; of the rough searches: %lld solved, "
                  "%lld bound, %lld same, %lld memory, %lld infeasible, %lld refused\n",
                  (long long)seen_layouts, PROBLEMS, (long long)seen_feasible,
                  (long long)seen_fates[FATE_SOLVED], (long long)seen_fates[FATE_BOUND],
                  (long long)seen_fates[FATE_SAME], (long long)seen_fates[FATE_MEMORY],
                  (long long)seen_fates[FATE_INFEASIBLE], (long long)seen_fates[FATE_REFUSED]);
    print_message("%lld of the rough searches' bounds above the gap's edge\n",
                  (long long)seen_above);
    assert_true(seen_feasible > PROBLEMS / 4 && 2 * seen_above > seen_feasible);
    for (int f = 0; f < FATE_OPEN; f++) assert_true(seen_fates[f] > 0);
}

// An interrupted search still bounds every layout: interrupted at once, or by a signal.
TEST(test_a_search_cut_short_has_a_bound)
{
    struct random rng = {77};
    for (int i = 0; i < 8; i++) {
        struct problem p;
        struct layouts_result whole, cut;
        volatile int stop = 1;
        struct arena_mark mark = arena_set_mark(arena);
        spaces_draw(&p, &rng, arena);
        spaces_search(&whole, &p, 2, 0, 0, NULL, arena);
        for (int by_signal = 0; by_signal < 2; by_signal++) {
            spaces_search(&cut, &p, 2, 0, by_signal ? 0 : 1e-4, by_signal ? &stop : NULL, arena);
            const struct plan *plan = &cut.solved.plan;
            if (whole.solved.plan.stage_count)
                assert_true(plan->bound_ns <= whole.solved.plan.iteration_ns);
            if (plan->stage_count)
                assert_true(plan->iteration_ns >= whole.solved.plan.iteration_ns);
            if (plan->outcome == OUTCOME_INFEASIBLE)
                assert_int_equal(whole.solved.plan.outcome, OUTCOME_INFEASIBLE);
            assert_int_equal(cut.layouts.count, whole.layouts.count);
        }
        arena_reset(arena, mark);
    }
}

// ---- prices that several layouts share

struct sharing {
    const struct problem *problem;
    struct price_cache cache;
    struct arena *arena;
    int64_t compared;
};

static bool compare_prices(void *argument, int64_t number, const struct layout *layout)
{
    struct sharing *s = argument;
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(s->problem, layout);
    struct priced own;
    const char *why;
    (void)number;
    if (problem_check_layout(&one, &err) != OK) return true;
    const struct priced *shared = price_cached(&s->cache, layout, &why);
    bool priced = price_terms(&own, &one, s->arena, &err) == OK;
    assert_int_equal(priced, shared != NULL);
    if (!priced) return true;
    assert_int_equal(shared->stage_count, own.stage_count);
    assert_int_equal(shared->micro_batches, own.micro_batches);
    assert_true(layout_equal(&shared->layout, &own.layout));
    assert_true(layout_no_worse(shared, &own) &&
                layout_no_worse(&own, shared)); // equal in every term
    s->compared++;
    return true;
}

TEST(test_layouts_with_one_key_have_one_price)
{
    struct random rng = {5};
    int64_t compared = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 100; i++, arena_reset(arena, mark)) {
        struct arena prices;
        struct problem p;
        arena_open(&prices, NULL);
        spaces_draw(&p, &rng, arena);
        if (i % 2) switches_list(&p.job.space);
        struct sharing s = {.problem = &p, .arena = arena};
        price_cache_open(&s.cache, &p, &prices, arena);
        struct space_limits limits = problem_space_limits(&p);
        space_each(&p.job.space, &limits, compare_prices, &s);
        compared += s.compared;
        arena_close(&prices);
    }
    assert_true(compared > 300);
}

// ---- what a rank keeps in flight

TEST(test_kept_is_at_most_what_the_schedule_holds)
{
    struct random rng = {9};
    for (int i = 0; i < 400; i++) {
        int kind = (int)random_between(&rng, 0, SCHEDULE_KIND_COUNT - 1);
        const struct schedule_properties *is = &schedule_kinds[kind];
        int p = (int)random_between(&rng, is->virtual_stages == 1 ? 1 : 2, 6),
            v = is->virtual_stages ? is->virtual_stages : (int)random_between(&rng, 2, 4);
        int m = (int)random_between(&rng, is->in_groups ? p : 1, 40), slices = is->slices ? 2 : 1;
        struct priced priced = {.layout = {.schedule = kind,
                                           .pipeline = p,
                                           .virtual_stages = v,
                                           .slice_count = slices,
                                           .barrier = true},
                                .stage_count = p * v,
                                .rank_count = p,
                                .slice_count = slices,
                                .micro_batches = m};
        struct schedule_request request = {.kind = kind,
                                           .stage_count = p * v,
                                           .rank_count = p,
                                           .virtual_stages = v,
                                           .slice_count = slices,
                                           .micro_batches = m,
                                           .barrier = true};
        struct schedule s;
        struct kept_cache cache = {.arena = arena};
        CHECK_OK(schedule_build(&s, &request, arena, &err));
        const struct kept *kept = kept_by_ranks(&cache, &priced);
        for (int rank = 0; rank < p; rank++) {
            int most = 0;
            bool below = false; // one of the peaks
            for (int k = 0; k < s.peak_count; k++) {
                if (s.peaks[k].rank != rank) continue;
                int sum = 0, above = 0;
                for (int t = 0; t < v; t++)
                    sum += s.peaks[k].in_flight[t],
                        above += kept[rank].by_turn[t] > s.peaks[k].in_flight[t];
                most = sum > most ? sum : most;
                below = below || !above;
            }
            assert_int_equal(kept[rank].most[v], most);
            assert_true(below);
        }
    }
}

// ---- the document

// Rewrites the file as it was before value_runs: with `values`, one for each layout that has one.
static void write_as_before(const char *path, const struct layouts *l, struct arena *arena)
{
    struct text out;
    const char *text, *separator = "";
    size_t size;
    MUST(file_read(path, &text, &size, arena, &own_err));
    const char *at = strstr(text, "\"value_runs\": [");
    text_begin(&out, arena);
    text_put(&out, "%.*s\"values\": [", (int)(at - text), text);
    for (int64_t i = 0; i < l->count; i++) {
        enum layout_fate fate = layouts_fate(l, i);
        if (fate == FATE_REFUSED || fate == FATE_INFEASIBLE) continue;
        text_put(&out, "%s%lld", separator, (long long)l->value[i]);
        separator = ", ";
    }
    text_put(&out, "%s", strchr(at, ']'));
    MUST(file_write(path, out.text, out.length, &own_err));
}

TEST(test_the_document_reads_what_was_written)
{
    struct random rng = {31};
    for (int i = 0; i < 6; i++) {
        struct problem p;
        struct layouts_result r;
        struct layouts again;
        const char *path = "test_layouts.json";
        spaces_draw(&p, &rng, arena);
        spaces_search(&r, &p, 1, 0.02, 0, NULL, arena);
        CHECK_OK(layouts_save(&r.layouts, path, arena, &err));
        if (i % 2) write_as_before(path, &r.layouts, arena);
        CHECK_OK(layouts_load(&again, path, arena, &err));
        remove(path);
        assert_int_equal(again.count, r.layouts.count);
        assert_int_equal(again.chosen, r.layouts.chosen);
        assert_int_equal(again.bound_ns, r.layouts.bound_ns);
        assert_int_equal(again.work_count, r.layouts.work_count);
        for (int64_t k = 0; k < again.count; k++) {
            assert_int_equal(layouts_fate(&again, k), layouts_fate(&r.layouts, k));
            if (layouts_fate(&again, k) != FATE_REFUSED &&
                layouts_fate(&again, k) != FATE_INFEASIBLE)
                assert_int_equal(again.value[k], r.layouts.value[k]);
        }
    }
}
