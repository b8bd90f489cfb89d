// The bounds of a layout from its prices alone, against plans: on chains of every schedule, none
// may be above the time of a plan that a search found, and none may call a layout impossible that
// has a plan.
#include "data/kinds/schedules.h"
#include "solve/incumbent/incumbent.h"
#include "solve/layouts/bound.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

enum { DRAWS = 400, REPLAYS = 2000 };

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

// Like blocks between an embedding and a head, on ranks of one kind; tight memory half of the time.
static void draw(struct priced *p, uint64_t *state, struct arena *arena)
{
    int kind;
    do kind = below(state, SCHEDULE_KIND_COUNT);
    while (schedule_kinds[kind].slices);
    int ranks = 2 + below(state, 7), turns = schedule_kinds[kind].virtual_stages;
    if (!turns) turns = 2 + below(state, 2);
    int stages = ranks * turns, m = (schedule_kinds[kind].in_groups ? ranks : 1) + below(state, 40);
    chain_priced(p, stages + below(state, 2 * stages + 1), stages, 1, m, arena);
    p->layout.schedule = (int)kind;
    p->layout.virtual_stages = turns;
    p->layout.pipeline = p->rank_count = ranks;
    p->layout.barrier = below(state, 3) > 0;
    p->groups[0].slots = ranks;
    p->groups[0].memory_limit_bytes = below(state, 2) ? (int64_t)8e14
                                                      : (30 + below(state, 60)) * (int64_t)1e9;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        if (schedule_splits_backward(p->layout.schedule))
            run->weight_ns[0] = run->backward_ns[0] * (20 + below(state, 50)) / 100;
        run->backward_ns[0] -= run->weight_ns[0];
        if (below(state, 2)) run->optimizer_ns[0] = below(state, 3000000);
    }
    for (int part = 0; part < PART_COUNT; part++)
        p->cuts[0].forward_ns[part] = below(state, 2) ? below(state, 400000) : 0;
}

// The time of a plan, 0: none was found.
static int64_t plan_ns(const struct priced *p, struct arena *arena)
{
    struct schedule schedule;
    struct graph *graph;
    struct choices choices;
    struct incumbent best = {0};
    const char *why;
    priced_schedule(&schedule, p, arena);
    MUST(graph_compile(&graph, &schedule, arena, &own_err));
    MUST(choices_build(&choices, p, &schedule, arena, &own_err));
    if (choices_hopeless_stage(&choices, &why) >= 0) return 0;
    incumbent_search(&best, &choices, graph, 1, REPLAYS, NULL, NULL, arena);
    return best.found ? best.iteration_ns : 0;
}

TEST(no_bound_is_above_a_plan)
{
    uint64_t seed = 2026;
    int compared = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < DRAWS; i++, arena_reset(arena, mark)) {
        struct priced p;
        struct layout_sketch sketch;
        const char *why;
        struct kept_cache kept = {.arena = arena};
        draw(&p, &seed, arena);
        assert_true(layout_sketch(&sketch, &p, &kept, &why));
        int64_t bound = layout_filling_bound(&sketch, INT64_MAX), found = plan_ns(&p, arena);
        if (found > 0) {
            assert_int_equal(layout_missing_bytes(&sketch), 0);
            if (bound > found)
                fail_msg(
                    "draw %d, %s, %d ranks, %d stages, %d micro-batches: bound %lld, plan %lld", i,
                    schedule_names[p.layout.schedule], p.rank_count, p.stage_count, p.micro_batches,
                    (long long)bound, (long long)found);
            compared++;
        }
    }
    assert_true(compared > DRAWS / 2);
}
