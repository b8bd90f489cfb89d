// The incumbent search against exhaustive enumeration and against the known optima of the chain
// family: what it finds is a plan, takes the stated time, is never better than the best, and is the
// best wherever that can be determined.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/boxes/search.h"
#include "solve/incumbent/incumbent.h"
#include "tests/support/oracle/enumerate.h"
#include "tests/support/prepare.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

enum { PROBLEMS = 200, REPLAYS = 4000 };

static void assert_is_plan(struct prepared *p, const struct incumbent *best, struct arena *arena)
{
    int64_t *durations = TAKE(arena, graph_symbol_count(p->graph), int64_t);
    assert_true(choices_fit_together(&p->choices, best->chosen));
    assert_true(choices_durations(&p->choices, best->chosen, durations));
    assert_true(graph_longest(p->graph, durations, NULL) == best->iteration_ns);
}

static struct incumbent search(struct prepared *p, uint64_t seed, int64_t replays,
                               struct arena *arena)
{
    struct incumbent best = {0};
    incumbent_search(&best, &p->choices, p->graph, seed, replays, NULL, NULL, arena);
    return best;
}

// The search of a set number of replays may miss the best of a problem, but of few.
TEST(test_small_problems_are_solved)
{
    struct random rng = {11};
    struct random_limits limits = random_limits_small();
    int plans = 0, missed = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct prepared p = {0};
        struct problem problem = {0};
        struct enumeration e;
        limits.long_and_close = i % 4 == 0;
        random_problem(&problem, &rng, &limits, arena);
        CHECK_OK(price_problem(&p.priced, &problem, arena, &err));
        prepare(&p, arena);
        enumerate(&e, &p.choices, p.graph, NULL, NULL, arena);
        struct incumbent best = search(&p, (uint64_t)i, REPLAYS, arena);
        assert_int_equal(best.found, e.best_ns < INT64_MAX);
        if (best.found) {
            assert_is_plan(&p, &best, arena);
            assert_true(best.iteration_ns >= e.best_ns);
            missed += best.iteration_ns > e.best_ns;
            plans++;
        }
    }
    assert_true(plans > PROBLEMS / 2 && 50 * missed < plans);
}

// Ranks with several stages, split backward, slices: what is found is a plan and no better than the
// best; counts how often it is the best.
TEST(test_every_schedule)
{
    struct random rng = {12};
    // Of ranks with one stage, and with several.
    struct {
        int plans, missed, best;
    } seen[2] = {{0}};
    for (int i = 0; i < 2 * PROBLEMS; i++) {
        struct prepared p = {0};
        struct enumeration e;
        uint64_t draws = random_bits(&rng);
        double combinations = 1;
        struct arena_mark mark = arena_set_mark(arena);
        random_priced_of(&p.priced, (int)(i % SCHEDULE_KIND_COUNT), &draws, arena);
        prepare(&p, arena);
        for (int s = 0; s < p.priced.stage_count; s++) combinations *= p.choices.stages[s].count;
        if (combinations > 0 && combinations < 2e5) {
            enumerate(&e, &p.choices, p.graph, NULL, NULL, arena);
            struct incumbent best = search(&p, (uint64_t)i, REPLAYS, arena);
            assert_true(!best.found || e.best_ns < INT64_MAX);
            bool several = p.priced.layout.virtual_stages > 1;
            seen[several].plans += e.best_ns < INT64_MAX;
            seen[several].missed += e.best_ns < INT64_MAX && !best.found;
            if (best.found) {
                assert_is_plan(&p, &best, arena);
                assert_true(best.iteration_ns >= e.best_ns);
                seen[several].best += best.iteration_ns == e.best_ns;
            }
        }
        arena_reset(arena, mark);
    }
    for (int several = 0; several < 2; several++)
        print_message("%s a rank: %d with a plan, %d without one found, %d best\n",
                      several ? "several stages" : "one stage", seen[several].plans,
                      seen[several].missed, seen[several].best);
    assert_true(seen[0].plans > PROBLEMS / 4 && seen[1].plans > PROBLEMS / 8);
    assert_true(!seen[0].missed && 20 * seen[0].best > 19 * seen[0].plans);
    assert_true(5 * seen[1].missed < 2 * seen[1].plans && 10 * seen[1].best > 6 * seen[1].plans);
}

struct chain {
    int layers, stages, types, micro_batches;
    int64_t optimum_ns;
};

// Known optima of the family, within the rounding of durations to whole nanoseconds.
TEST(test_chains_are_solved)
{
    static const struct chain chains[] = {
        {24, 4, 1, 16, 389100000},   {24, 4, 2, 16, 522854500},   {48, 8, 2, 32, 1041545453},
        {96, 16, 1, 64, 1594500000}, {96, 16, 2, 64, 2084927261},
    };
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(chains); i++, arena_reset(arena, mark)) {
        struct prepared p = {0};
        chain_priced(&p.priced, chains[i].layers, chains[i].stages, chains[i].types,
                     chains[i].micro_batches, arena);
        prepare(&p, arena);
        struct incumbent best = search(&p, 0, 20000, arena);
        assert_true(best.found);
        assert_is_plan(&p, &best, arena);
        assert_in_range(best.iteration_ns, chains[i].optimum_ns - 200, chains[i].optimum_ns + 200);
    }
}

static bool stop_at_once(void *asked)
{
    ++*(int *)asked;
    return true;
}

TEST(test_a_seed_means_a_plan_and_a_start_is_kept)
{
    struct prepared p = {0};
    int asked = 0;
    chain_priced(&p.priced, 40, 6, 3, 12, arena);
    prepare(&p, arena);
    struct incumbent a = search(&p, 7, 1500, arena), b = search(&p, 7, 1500, arena);
    assert_true(a.found && a.iteration_ns == b.iteration_ns);
    assert_memory_equal(a.chosen, b.chosen, 6 * sizeof *a.chosen);
    struct incumbent more = a; // a start is never made worse, however little is done
    incumbent_search(&more, &p.choices, p.graph, 8, 1, NULL, NULL, arena);
    assert_true(more.found && more.iteration_ns <= a.iteration_ns);
    struct incumbent stopped = {0};
    incumbent_search(&stopped, &p.choices, p.graph, 7, 1000000000, stop_at_once, &asked, arena);
    assert_int_equal(asked, 1); // before the first replay
    assert_false(stopped.found);
}

// A stopped search by boxes has one path, no box, and only the bound 0.
TEST(test_boxes_stop)
{
    struct prepared p = {0};
    int asked = 0;
    struct box_search_settings settings = {
        .target_ns = INT64_MAX, .boxes_max = 1000, .should_stop = stop_at_once, .argument = &asked};
    struct box_search_result r;
    chain_priced(&p.priced, 40, 6, 3, 12, arena);
    prepare(&p, arena);
    box_search(&r, &p.choices, p.graph, &settings, arena);
    assert_false(r.finished || r.found_better);
    assert_int_equal(r.boxes, 0);
    assert_int_equal(r.bound_ns, 0);
    assert_true(r.proof.paths <= 1);
}
