// The walk of the solver against the closed forms of every schedule (docs/FORMULAS.md 9 and 14).
#include "data/kinds/schedules.h"
#include "data/schedule/schedule.h"
#include "formulate/graph/longest.h"
#include "tests/support/requests.h"
#include "tests/support/check.h"

static int64_t random_below(uint64_t *state, int64_t n)
{
    struct random rng = {*state};
    int64_t drawn = random_between(&rng, 0, n - 1);
    *state = rng.state;
    return drawn;
}

struct pipeline {
    struct schedule schedule;
    struct graph *graph;
    int64_t *durations;
    int stage_count;
};

static void open_pipeline(struct pipeline *p, int kind, int stage_count, int micro_batches,
                          bool delay, struct arena *arena)
{
    struct schedule_request r = {.kind = kind,
                                 SCHEDULE_PLAIN(stage_count),
                                 .micro_batches = micro_batches,
                                 .parts = {[PART_DELAY] = delay}};
    MUST(schedule_build(&p->schedule, &r, arena, &own_err));
    MUST(graph_compile(&p->graph, &p->schedule, arena, &own_err));
    p->durations = TAKE(arena, symbol_count(stage_count, 1), int64_t);
    p->stage_count = stage_count;
}

static int64_t *duration_of(struct pipeline *p, int kind, int stage)
{
    return &p->durations[symbol_index(p->stage_count, kind, stage)];
}

// GPipe, unequal stages, no transfers: sum F + (m-1) max F + sum B + (m-1) max B.
TEST(test_gpipe_closed_form)
{
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        struct pipeline p;
        int stages = 1 + (int)random_below(&seed, 12), m = 1 + (int)random_below(&seed, 30);
        int64_t sum = 0, most_forward = 0, most_backward = 0;
        struct arena_mark mark = arena_set_mark(arena);
        open_pipeline(&p, SCHEDULE_GPIPE, stages, m, round % 2, arena);
        for (int s = 0; s < stages; s++) {
            int64_t f = *duration_of(&p, SYMBOL_FORWARD, s) = 1 + random_below(&seed, 1000),
                    b = *duration_of(&p, SYMBOL_BACKWARD, s) = 1 + random_below(&seed, 1000);
            sum += f + b;
            if (f > most_forward) most_forward = f;
            if (b > most_backward) most_backward = b;
        }
        assert_int_equal(graph_longest(p.graph, p.durations, NULL),
                         sum + (m - 1) * (most_forward + most_backward));
        arena_reset(arena, mark);
    }
}

// 1F1B, equal stages, no transfers: (m + p - 1)(F + B), the same as GPipe's.
TEST(test_1f1b_equal_stages)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int stages = 1; stages <= 10; stages++)
        for (int m = 1; m <= 24; m++, arena_reset(arena, mark)) {
            struct pipeline p;
            open_pipeline(&p, SCHEDULE_1F1B, stages, m, false, arena);
            for (int s = 0; s < stages; s++)
                *duration_of(&p, SYMBOL_FORWARD, s) = 7, *duration_of(&p, SYMBOL_BACKWARD, s) = 15;
            assert_int_equal(graph_longest(p.graph, p.durations, NULL), (m + stages - 1) * 22);
        }
}

// The time of equal stages without transfers, forward, backward and weight gradient each the same
// everywhere.
static int64_t equal_time(int kind, int ranks, int virtual_stages, int slices, int micro_batches,
                          bool barrier, const int64_t passes[3])
{
    struct schedule s;
    struct graph *g;
    struct schedule_request r = {.micro_batches = micro_batches, .barrier = barrier};
    struct arena_mark mark = arena_set_mark(&own_arena);
    request_shape(&r, kind, ranks, virtual_stages, slices);
    MUST(schedule_build(&s, &r, &own_arena, &own_err));
    MUST(graph_compile(&g, &s, &own_arena, &own_err));
    int64_t *durations = TAKE(&own_arena, graph_symbol_count(g), int64_t);
    for (int i = 0; i < graph_symbol_count(g); i++) {
        int base = symbol_base_kind(i / r.stage_count);
        durations[i] = base <= SYMBOL_WEIGHT ? passes[base] : 0;
    }
    int64_t time = graph_longest(g, durations, NULL);
    arena_reset(&own_arena, mark);
    return time;
}

// Interleaved and looped (m >= p): the bubble of 1F1B, divided by the stages of
// a rank. Sliced: GPipe of more micro-batches.
TEST(test_wound_closed_forms)
{
    for (int p = 1; p <= 7; p++)
        for (int stages = 1; stages <= 5; stages++)
            for (int m = 1; m <= 4 * p; m++)
                for (int64_t f = 1; f <= 3; f++)
                    for (int64_t b = 1; b <= 4; b++) {
                        const int64_t passes[3] = {f, b, 0},
                                      expected = ((int64_t)m * stages + p - 1) * (f + b);
                        if (m >= p)
                            assert_int_equal(
                                equal_time(SCHEDULE_INTERLEAVED, p, stages, 1, m, true, passes),
                                expected);
                        if (m >= p)
                            assert_int_equal(
                                equal_time(SCHEDULE_LOOPED_BFS, p, stages, 1, m, true, passes),
                                expected);
                        if (m <= p)
                            assert_int_equal(
                                equal_time(SCHEDULE_TOKEN_SLICED, p, 1, stages, m, true, passes),
                                expected);
                    }
}

// ZB-H1: bubble (p-1)(F+B-W) where W <= F and W <= B, m >= p; never less. ZB-H2 without a barrier:
// (p-1)(F+B-2W), m >= 2p-1; never less. ZB-V without a barrier: none where F = B = W, m >= 2p-1.
TEST(test_zero_bubble_closed_forms)
{
    for (int p = 1; p <= 7; p++)
        for (int m = p; m <= 3 * p + 2; m++)
            for (int64_t f = 1; f <= 4; f++)
                for (int64_t b = 1; b <= 4; b++)
                    for (int64_t w = 1; w <= 5; w++) {
                        const int64_t passes[3] = {f, b, w}, ideal = m * (f + b + w),
                                      one = equal_time(SCHEDULE_ZB_H1, p, 1, 1, m, true, passes),
                                      two = equal_time(SCHEDULE_ZB_H2, p, 1, 1, m, false, passes);
                        bool short_weight = w <= f && w <= b;
                        assert_true(one >= ideal + (p - 1) * (f + b - w));
                        assert_true(two >= ideal + (p - 1) * (f + b - 2 * w));
                        if (short_weight) assert_int_equal(one, ideal + (p - 1) * (f + b - w));
                        if (m < 2 * p - 1) continue;
                        if (short_weight) assert_int_equal(two, ideal + (p - 1) * (f + b - 2 * w));
                        if (f == b && b == w)
                            assert_int_equal(equal_time(SCHEDULE_ZB_V, p, 2, 1, m, false, passes),
                                             2 * ideal);
                        // With a barrier the skew of H2 is paid again: at least the fill and the
                        // drain's last backwards.
                        assert_true(equal_time(SCHEDULE_ZB_H2, p, 1, 1, m, true, passes) >=
                                    ideal + (p - 1) * f);
                    }
}

// ZB-H2 of any number of micro-batches: equal passes of 1 take 2m + 2p - 1 while the pipeline is
// not full (m <= p, without a barrier m <= 2p-1), then 3m + p - 1 (3m); it takes no longer than
// ZB-H1 whatever equal stages take; without a barrier, where W <= F and W <= B.
TEST(test_few_micro_batches)
{
    const int64_t ones[3] = {1, 1, 1};
    for (int p = 1; p <= 8; p++)
        for (int m = 1; m <= 2 * p + 2; m++) {
            bool few = m <= p, fewer_than_full = m < 2 * p;
            assert_int_equal(equal_time(SCHEDULE_ZB_H2, p, 1, 1, m, true, ones),
                             few ? 2 * m + 2 * p - 1 : 3 * m + p - 1);
            assert_int_equal(equal_time(SCHEDULE_ZB_H2, p, 1, 1, m, false, ones),
                             fewer_than_full ? 2 * m + 2 * p - 1 : 3 * m);
            for (int shape = 0; shape < 64; shape++) {
                const int64_t passes[3] = {1 + shape % 4, 1 + shape / 4 % 4, 1 + shape / 16};
                bool short_weight = passes[2] <= passes[0] && passes[2] <= passes[1];
                for (int barrier = !short_weight; barrier < 2; barrier++)
                    assert_true(equal_time(SCHEDULE_ZB_H2, p, 1, 1, m, barrier, passes) <=
                                equal_time(SCHEDULE_ZB_H1, p, 1, 1, m, barrier, passes));
            }
        }
}

// Unequal stages with delays: T >= sum over j < i of (e_j + 2 c_j) + m e_i for every i, and the
// period of every window a..b is a path: T (b-a+1) >= (rounds of it that fit) x window; with many
// micro-batches T/m tends to the largest window mean.
TEST(test_1f1b_bounds)
{
    uint64_t seed = 13;
    for (int round = 0; round < 60; round++) {
        struct pipeline p, twice;
        int stages = 2 + (int)random_below(&seed, 7), m = 600;
        double period = 0;
        struct arena_mark mark = arena_set_mark(arena);
        open_pipeline(&p, SCHEDULE_1F1B, stages, m, true, arena);
        open_pipeline(&twice, SCHEDULE_1F1B, stages, 2 * m, true, arena);
        for (int s = 0; s < stages; s++) {
            *duration_of(&p, SYMBOL_FORWARD, s) = 100 + random_below(&seed, 100);
            *duration_of(&p, SYMBOL_BACKWARD, s) = 200 + random_below(&seed, 200);
            *duration_of(&p, SYMBOL_SEND_FORWARD + PART_DELAY, s) =
                *duration_of(&p, SYMBOL_SEND_BACKWARD + PART_DELAY, s) = random_below(&seed, 80);
        }
        twice.durations = p.durations;
        int64_t length = graph_longest(p.graph, p.durations, NULL), before = 0;
        for (int i = 0; i < stages; i++) {
            int64_t own = *duration_of(&p, SYMBOL_FORWARD, i) +
                          *duration_of(&p, SYMBOL_BACKWARD, i),
                    window = 0;
            assert_true(length >= before + m * own);
            before += own + 2 * *duration_of(&p, SYMBOL_SEND_FORWARD + PART_DELAY, i);
            for (int b = i; b < stages; b++) {
                window += *duration_of(&p, SYMBOL_FORWARD, b) +
                          *duration_of(&p, SYMBOL_BACKWARD, b);
                if ((double)window / (b - i + 1) > period) period = (double)window / (b - i + 1);
                window += 2 * *duration_of(&p, SYMBOL_SEND_FORWARD + PART_DELAY, b);
            }
        }
        double growth = (double)(graph_longest(twice.graph, twice.durations, NULL) - length) / m;
        assert_true(growth > period * 0.999 - 1 && growth < period * 1.001 + 1);
        arena_reset(arena, mark);
    }
}
