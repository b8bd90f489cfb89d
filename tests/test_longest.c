// The walk of the solver against a naive event-driven simulation of the same tables, against closed forms
// (docs/FORMULAS.md 9), and its counts against its length.
#include "data/schedule.h"
#include "formulate/longest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t random_below(uint64_t *state, int64_t n) { return (int64_t)(next_random(state) % (uint64_t)n); }

static struct schedule_request draw_request(uint64_t *state)
{
    enum schedule_kind kind = random_below(state, 2) ? SCHEDULE_1F1B : SCHEDULE_GPIPE;
    int stages = 1 + (int)random_below(state, 9);
    struct schedule_request r = {
        .kind = kind,
        SCHEDULE_PLAIN(stages),
        .micro_batches = 1 + (int)random_below(state, 14),
        .epilogue = random_below(state, 2),
        .sync = random_below(state, 2),
        .optimizer = random_below(state, 2),
        .embedding_sync = random_below(state, 3) == 0,
    };
    for (int i = 0; i < PART_COUNT; i++) r.parts[i] = random_below(state, 2);
    return r;
}

static int64_t *draw_durations(uint64_t *state, int symbol_total, int64_t below, struct arena *arena)
{
    int64_t *d = TAKE(arena, symbol_total, int64_t);
    for (int i = 0; i < symbol_total; i++) d[i] = random_below(state, 4) ? random_below(state, below) : 0;
    return d;
}

// Event by event, slow and plain: any operation that is next on all its streams and whose dependences have ended starts
// as early as they allow. end[] receives when each operation ends.
static int64_t simulate(const struct schedule *s, const int64_t *durations, int64_t *end, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int *next = TAKE(arena, s->stream_count, int), left = s->operation_count;
    bool *done = TAKE(arena, s->operation_count, bool), progress = true;
    int64_t *free_at = TAKE(arena, s->stream_count, int64_t), longest = 0;
    while (left > 0 && progress) {
        progress = false;
        for (int o = 0; o < s->operation_count; o++) {
            int64_t start = 0;
            bool ready = !done[o];
            for (int k = 0; k < s->stream_count && ready; k++)
                for (int i = next[k]; i < s->streams[k].count; i++)
                    if (s->streams[k].operations[i] == o) {
                        if (i > next[k]) ready = false;
                        else if (free_at[k] > start) start = free_at[k];
                    }
            for (int k = 0; k < s->dependence_count && ready; k++)
                if (s->dependences[k].after == o) {
                    if (!done[s->dependences[k].before]) ready = false;
                    else if (end[s->dependences[k].before] > start) start = end[s->dependences[k].before];
                }
            if (!ready) continue;
            end[o] = start + durations[s->operations[o].symbol];
            done[o] = progress = true;
            left--;
            if (end[o] > longest) longest = end[o];
            for (int k = 0; k < s->stream_count; k++)
                if (next[k] < s->streams[k].count && s->streams[k].operations[next[k]] == o)
                    next[k]++, free_at[k] = end[o];
        }
    }
    assert_int_equal(left, 0);
    arena_reset(arena, mark);
    return longest;
}

static int64_t length_of(const struct schedule *s, const int64_t *durations, const int *path, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) sum += durations[s->operations[path[i]].symbol];
    return sum;
}

static void check_counts(const int *counts, const int64_t *durations, int symbol_total, int64_t length)
{
    int64_t sum = 0;
    for (int i = 0; i < symbol_total; i++) {
        assert_true(counts[i] >= 0);
        sum += counts[i] * durations[i];
    }
    assert_int_equal(sum, length);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 400; round++) {
        struct arena arena;
        struct error err = {OK, ""};
        struct schedule s;
        struct graph *g;
        struct schedule_request r = draw_request(&seed);
        arena_open(&arena, NULL);
        assert_int_equal(schedule_build(&s, &r, &arena, &err), OK);
        assert_int_equal(graph_compile(&g, &s, &arena, &err), OK);
        int symbols = graph_symbol_count(g), *counts = TAKE(&arena, symbols + 1, int),
            *path = TAKE(&arena, s.operation_count, int), path_count;
        assert_int_equal(symbols, symbol_count(r.stage_count, r.slice_count));
        for (int draw = 0; draw < 4; draw++) {
            int64_t *durations = draw_durations(&seed, symbols, draw % 2 ? 5 : (int64_t)1 << 40, &arena),
                    *end = TAKE(&arena, s.operation_count, int64_t);
            int64_t expected = simulate(&s, durations, end, &arena);
            memset(counts, 255, (size_t)symbols * sizeof *counts);
            assert_int_equal(graph_longest(g, durations, counts), expected);
            assert_int_equal(graph_longest(g, durations, NULL), expected);
            check_counts(counts, durations, symbols, expected);
            assert_int_equal(graph_longest_operations(g, durations, path, &path_count), expected);
            assert_int_equal(length_of(&s, durations, path, path_count), expected);
            // The path is in order of time, without a gap, and its counts are the row's.
            int64_t now = 0;
            for (int i = 0; i < path_count; i++) {
                counts[s.operations[path[i]].symbol]--;
                now += durations[s.operations[path[i]].symbol];
                assert_int_equal(end[path[i]], now);
            }
            for (int i = 0; i < symbols; i++) assert_int_equal(counts[i], 0);
        }
        arena_close(&arena);
    }
}

struct pipeline { struct schedule schedule; struct graph *graph; int64_t *durations; int stage_count; };

static void open_pipeline(struct pipeline *p, enum schedule_kind kind, int stage_count, int micro_batches, bool delay,
                          struct arena *arena)
{
    struct error err = {OK, ""};
    struct schedule_request r = {
        .kind = kind, SCHEDULE_PLAIN(stage_count), .micro_batches = micro_batches, .parts = {[PART_DELAY] = delay}};
    assert_int_equal(schedule_build(&p->schedule, &r, arena, &err), OK);
    assert_int_equal(graph_compile(&p->graph, &p->schedule, arena, &err), OK);
    p->durations = TAKE(arena, symbol_count(stage_count, 1), int64_t);
    p->stage_count = stage_count;
}

static int64_t *duration_of(struct pipeline *p, int kind, int stage)
{
    return &p->durations[symbol_index(p->stage_count, kind, stage)];
}

// GPipe, unequal stages, no transfers: sum F + (m-1) max F + sum B + (m-1) max B.
static void test_gpipe_closed_form(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        struct arena arena;
        struct pipeline p;
        int stages = 1 + (int)random_below(&seed, 12), m = 1 + (int)random_below(&seed, 30);
        int64_t sum = 0, most_forward = 0, most_backward = 0;
        arena_open(&arena, NULL);
        open_pipeline(&p, SCHEDULE_GPIPE, stages, m, round % 2, &arena);
        for (int s = 0; s < stages; s++) {
            int64_t f = *duration_of(&p, SYMBOL_FORWARD, s) = 1 + random_below(&seed, 1000),
                    b = *duration_of(&p, SYMBOL_BACKWARD, s) = 1 + random_below(&seed, 1000);
            sum += f + b;
            if (f > most_forward) most_forward = f;
            if (b > most_backward) most_backward = b;
        }
        assert_int_equal(graph_longest(p.graph, p.durations, NULL), sum + (m - 1) * (most_forward + most_backward));
        arena_close(&arena);
    }
}

// 1F1B, equal stages, no transfers: (m + p - 1)(F + B), the same as GPipe's.
static void test_1f1b_equal_stages(void **state)
{
    (void)state;
    for (int stages = 1; stages <= 10; stages++)
        for (int m = 1; m <= 24; m++) {
            struct arena arena;
            struct pipeline p;
            arena_open(&arena, NULL);
            open_pipeline(&p, SCHEDULE_1F1B, stages, m, false, &arena);
            for (int s = 0; s < stages; s++)
                *duration_of(&p, SYMBOL_FORWARD, s) = 7, *duration_of(&p, SYMBOL_BACKWARD, s) = 15;
            assert_int_equal(graph_longest(p.graph, p.durations, NULL), (m + stages - 1) * 22);
            arena_close(&arena);
        }
}

// Unequal stages with delays: T >= sum over j < i of (e_j + 2 c_j) + m e_i for every i, and the period of every window
// a..b is a path: T (b-a+1) >= (rounds of it that fit) x window; with many micro-batches T/m tends to the largest window mean.
static void test_1f1b_bounds(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int round = 0; round < 60; round++) {
        struct arena arena;
        struct pipeline p, twice;
        int stages = 2 + (int)random_below(&seed, 7), m = 600;
        double period = 0;
        arena_open(&arena, NULL);
        open_pipeline(&p, SCHEDULE_1F1B, stages, m, true, &arena);
        open_pipeline(&twice, SCHEDULE_1F1B, stages, 2 * m, true, &arena);
        for (int s = 0; s < stages; s++) {
            *duration_of(&p, SYMBOL_FORWARD, s) = 100 + random_below(&seed, 100);
            *duration_of(&p, SYMBOL_BACKWARD, s) = 200 + random_below(&seed, 200);
            *duration_of(&p, SYMBOL_SEND_FORWARD + PART_DELAY, s) =
                *duration_of(&p, SYMBOL_SEND_BACKWARD + PART_DELAY, s) = random_below(&seed, 80);
        }
        twice.durations = p.durations;
        int64_t length = graph_longest(p.graph, p.durations, NULL), before = 0;
        for (int i = 0; i < stages; i++) {
            int64_t own = *duration_of(&p, SYMBOL_FORWARD, i) + *duration_of(&p, SYMBOL_BACKWARD, i), window = 0;
            assert_true(length >= before + m * own);
            before += own + 2 * *duration_of(&p, SYMBOL_SEND_FORWARD + PART_DELAY, i);
            for (int b = i; b < stages; b++) {
                window += *duration_of(&p, SYMBOL_FORWARD, b) + *duration_of(&p, SYMBOL_BACKWARD, b);
                if ((double)window / (b - i + 1) > period) period = (double)window / (b - i + 1);
                window += 2 * *duration_of(&p, SYMBOL_SEND_FORWARD + PART_DELAY, b);
            }
        }
        double growth = (double)(graph_longest(twice.graph, twice.durations, NULL) - length) / m;
        assert_true(growth > period * 0.999 - 1 && growth < period * 1.001 + 1);
        arena_close(&arena);
    }
}

// Starting rows are paths (so for any durations at most the length), all distinct; each stage's steady round is among them.
static void test_starting_paths(void **state)
{
    (void)state;
    uint64_t seed = 17;
    for (int round = 0; round < 60; round++) {
        struct arena arena;
        struct error err = {OK, ""};
        struct schedule s;
        struct graph *g;
        struct schedule_request r = draw_request(&seed);
        arena_open(&arena, NULL);
        assert_int_equal(schedule_build(&s, &r, &arena, &err), OK);
        assert_int_equal(graph_compile(&g, &s, &arena, &err), OK);
        int symbols = graph_symbol_count(g), *paths, count = graph_starting_paths(g, &paths, &arena);
        assert_true(count >= 1);
        for (int draw = 0; draw < 5; draw++) {
            int64_t *durations = draw_durations(&seed, symbols, 1000, &arena),
                    length = graph_longest(g, durations, NULL);
            for (int i = 0; i < count; i++) {
                int64_t sum = 0;
                for (int k = 0; k < symbols; k++) sum += paths[i * (symbols + 1) + k] * durations[k];
                assert_true(sum <= length);
            }
        }
        for (int i = 0; i < count; i++)
            for (int j = 0; j < i; j++)
                assert_memory_not_equal(&paths[i * (symbols + 1)], &paths[j * (symbols + 1)], (size_t)symbols * sizeof *paths);
        for (int stage = 0; stage < r.stage_count; stage++) {
            int most = 0;
            for (int i = 0; i < count; i++)
                if (paths[i * (symbols + 1) + symbol_index(r.stage_count, SYMBOL_FORWARD, stage)] > most)
                    most = paths[i * (symbols + 1) + symbol_index(r.stage_count, SYMBOL_FORWARD, stage)];
            assert_int_equal(most, r.micro_batches);
        }
        arena_close(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_gpipe_closed_form),
        cmocka_unit_test(test_1f1b_equal_stages),
        cmocka_unit_test(test_1f1b_bounds),
        cmocka_unit_test(test_starting_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
