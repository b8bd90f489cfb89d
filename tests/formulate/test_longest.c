// The walk of the solver against a naive event-driven simulation of the same tables, against the
// round-based oracle of schedules, with and without a barrier, against Karp's theorem, and its
// counts against its length. Closed forms are in test_closed_forms.c.
#include "data/kinds/schedules.h"
#include "data/schedule/schedule.h"
#include "formulate/graph/longest.h"

#include "tests/support/oracle/pipeline.h"
#include "tests/support/requests.h"
#include "tests/support/check.h"

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)(next_random(state) % (uint64_t)n);
}

static struct schedule_request draw_request(uint64_t *state)
{
    struct random rng = {next_random(state)};
    struct schedule_request r = request_random(&rng, 8, 10);
    r.barrier = true;
    return r;
}

static int64_t *draw_durations(uint64_t *state, int symbol_total, int64_t below,
                               struct arena *arena)
{
    int64_t *d = TAKE(arena, symbol_total, int64_t);
    for (int i = 0; i < symbol_total; i++)
        d[i] = random_below(state, 4) ? random_below(state, below) : 0;
    return d;
}

// Event by event, slow and simple: any operation that is next on all its streams and whose
// dependences have ended starts as early as they allow. end[] receives when each operation ends.
static int64_t simulate(const struct schedule *s, const int64_t *durations, int64_t *end,
                        struct arena *arena)
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
                    else if (end[s->dependences[k].before] > start)
                        start = end[s->dependences[k].before];
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

static int64_t length_of(const struct schedule *s, const int64_t *durations, const int *path,
                         int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) sum += durations[s->operations[path[i]].symbol];
    return sum;
}

static void check_counts(const int *counts, const int64_t *durations, int symbol_total,
                         int64_t length)
{
    int64_t sum = 0;
    for (int i = 0; i < symbol_total; i++) {
        assert_true(counts[i] >= 0);
        sum += counts[i] * durations[i];
    }
    assert_int_equal(sum, length);
}

TEST(test_random)
{
    uint64_t seed = 7;
    for (int round = 0; round < 400; round++) {
        struct schedule s;
        struct graph *g;
        struct schedule_request r = draw_request(&seed);
        struct arena_mark mark = arena_set_mark(arena);
        CHECK_OK(schedule_build(&s, &r, arena, &err));
        CHECK_OK(graph_compile(&g, &s, arena, &err));
        int symbols = graph_symbol_count(g), *counts = TAKE(arena, symbols + 1, int), path_count;
        graph_keep_paths(g, arena);
        assert_int_equal(symbols, symbol_count(r.stage_count, r.slice_count));
        for (int draw = 0; draw < 4; draw++) {
            int64_t *durations =
                        draw_durations(&seed, symbols, draw % 2 ? 5 : (int64_t)1 << 40, arena),
                    *end = TAKE(arena, s.operation_count, int64_t);
            int64_t expected = simulate(&s, durations, end, arena);
            memset(counts, 255, (size_t)symbols * sizeof *counts);
            assert_int_equal(graph_longest(g, durations, counts), expected);
            assert_int_equal(graph_longest(g, durations, NULL), expected);
            check_counts(counts, durations, symbols, expected);
            const int *path = graph_path_operations(g, counts, &path_count);
            assert_non_null(path);
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
        arena_reset(arena, mark);
    }
}

// All schedules and options, and without a barrier many iterations in a row: equal to the
// nanosecond.
TEST(test_random_pipelines)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 500; seed++, arena_reset(arena, mark)) {
        struct schedule s;
        struct graph *g;
        struct random rng = {seed};
        uint64_t draws = seed;
        struct schedule_request r = request_random(&rng, 4, 7);
        if (schedule_build(&s, &r, arena, &err) != OK) fail_msg("seed %d: %s", (int)seed, err.text);
        CHECK_OK(graph_compile(&g, &s, arena, &err));
        int symbols = graph_symbol_count(g), *counts = TAKE(arena, symbols + 1, int);
        int64_t *durations = draw_durations(&draws, symbols, seed % 3 ? 100 : 5, arena), sum = 0,
                expected = pipeline_time(&s, durations, arena),
                found = graph_longest(g, durations, counts);
        if (found != expected)
            fail_msg("seed %d (%s): %lld, the ranks take %lld", (int)seed, schedule_names[r.kind],
                     (long long)found, (long long)expected);
        assert_int_equal(graph_longest(g, durations, NULL), expected);
        for (int i = 0; i < symbols; i++) sum += counts[i] * durations[i];
        assert_true(counts[symbols] >= 1 && (!r.barrier || counts[symbols] == 1));
        assert_int_equal((sum + counts[symbols] - 1) / counts[symbols], expected);
    }
}

// ---- tables that no generator writes, whose greatest cycles take several laps

enum { NODES = 8 };

static struct schedule draw_table(uint64_t *state, struct arena *arena)
{
    struct schedule s = {
        .request = {.kind = SCHEDULE_GPIPE, SCHEDULE_PLAIN(NODES), .micro_batches = 1},
        .operations = TAKE(arena, NODES, struct operation),
        .operation_count = NODES,
        .streams = TAKE(arena, 1, struct stream),
        .stream_count = 1,
        .dependences = TAKE(arena, NODES * NODES, struct dependence),
        .carried = TAKE(arena, NODES + 1, struct dependence)};
    s.request.barrier = false;
    s.streams[0] = (struct stream){.kind = STREAM_COMPUTE, .operations = TAKE(arena, NODES, int)};
    for (int i = 0; i < NODES; i++) {
        s.operations[i] = (struct operation){symbol_index(NODES, SYMBOL_FORWARD, i), i, 0};
        if (random_below(state, 4) == 0) s.streams[0].operations[s.streams[0].count++] = i;
        for (int k = 0; k < i; k++)
            if (random_below(state, 4) == 0)
                s.dependences[s.dependence_count++] = (struct dependence){k, i};
    }
    int kept = (int)random_below(state, NODES);
    s.carried[s.carried_count++] = (struct dependence){kept, kept};
    for (int i = (int)random_below(state, NODES); i >= 0; i--)
        s.carried[s.carried_count++] =
            (struct dependence){(int)random_below(state, NODES), (int)random_below(state, NODES)};
    return s;
}

// The longest way from the start of `from` to the end of `to` within an iteration, -1: there is
// none.
static int64_t way(const struct schedule *s, const int64_t *durations, int from, int to)
{
    int64_t longest = from == to ? 0 : -1;
    for (int i = 0; i < s->dependence_count && from != to; i++)
        if (s->dependences[i].after == to &&
            way(s, durations, from, s->dependences[i].before) > longest)
            longest = way(s, durations, from, s->dependences[i].before);
    for (int i = 1; i < s->streams[0].count && from != to; i++)
        if (s->streams[0].operations[i] == to &&
            way(s, durations, from, s->streams[0].operations[i - 1]) > longest)
            longest = way(s, durations, from, s->streams[0].operations[i - 1]);
    return longest < 0 ? -1 : longest + durations[s->operations[to].symbol];
}

// Karp's theorem: over all ends of walks of n edges, the least mean of their last edges, the
// greatest of these. Rounded up.
static int64_t greatest_mean(const struct schedule *s, const int64_t *durations)
{
    int n = s->carried_count;
    int64_t walk[NODES + 2][NODES + 1], most_length = 0, most_laps = 1;
    for (int k = 0; k < n; k++) walk[0][k] = 0;
    for (int step = 1; step <= n; step++)
        for (int k = 0; k < n; k++) {
            walk[step][k] = -1;
            for (int j = 0; j < n; j++) {
                int64_t length = way(s, durations, s->carried[j].after, s->carried[k].before);
                if (length >= 0 && walk[step - 1][j] >= 0 &&
                    walk[step - 1][j] + length > walk[step][k])
                    walk[step][k] = walk[step - 1][j] + length;
            }
        }
    for (int k = 0; k < n; k++) {
        if (walk[n][k] < 0) continue;
        int64_t length = 0, laps = 0;
        for (int step = 0; step < n; step++)
            if (walk[step][k] >= 0 &&
                (!laps || (walk[n][k] - walk[step][k]) * laps < length * (n - step)))
                length = walk[n][k] - walk[step][k], laps = n - step;
        if (length * most_laps > most_length * laps) most_length = length, most_laps = laps;
    }
    return (most_length + most_laps - 1) / most_laps;
}

TEST(test_several_laps)
{
    uint64_t seed = 29;
    int several = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int round = 0; round < 4000; round++, arena_reset(arena, mark)) {
        struct graph *g;
        struct schedule s = draw_table(&seed, arena);
        CHECK_OK(graph_compile(&g, &s, arena, &err));
        int symbols = graph_symbol_count(g), *counts = TAKE(arena, symbols + 1, int);
        int64_t *durations = draw_durations(&seed, symbols, round % 2 ? 4 : 1000, arena), sum = 0,
                expected = greatest_mean(&s, durations);
        assert_int_equal(graph_longest(g, durations, counts), expected);
        for (int i = 0; i < symbols; i++) sum += counts[i] * durations[i];
        assert_int_equal((sum + counts[symbols] - 1) / counts[symbols], expected);
        several += counts[symbols] > 1;
    }
    assert_true(several > 200);
}

static bool crosses(const struct schedule_request *r, int boundary, bool forward)
{
    return boundary >= 0 && boundary < r->stage_count - 1 && !schedule_is_inner(r, boundary) &&
           ((forward && !r->stored_inputs) || !schedule_is_local(r, boundary));
}

// A law of units, from whole nanoseconds to sums near 2^62: the same durations, each 2^48 times as
// long, have the same path, whose length per lap is 2^48 times as much.
static void check_unit(const struct schedule *s, const int64_t *durations, struct arena *arena)
{
    struct error err = {0};
    struct graph *g;
    CHECK_OK(graph_compile(&g, s, arena, &err));
    int symbols = graph_symbol_count(g), *counts = TAKE(arena, 2 * (symbols + 1), int),
        *longer = counts + symbols + 1;
    int64_t *scaled = TAKE(arena, symbols, int64_t), sum = 0;
    for (int i = 0; i < symbols; i++) scaled[i] = durations[i] * ((int64_t)1 << 48);
    graph_longest(g, durations, counts);
    int64_t found = graph_longest(g, scaled, longer);
    assert_memory_equal(counts, longer, (size_t)(symbols + 1) * sizeof *counts);
    for (int i = 0; i < symbols; i++) sum += counts[i] * scaled[i];
    assert_int_equal((sum + counts[symbols] - 1) / counts[symbols], found);
}

TEST(test_units)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 200; seed++, arena_reset(arena, mark)) {
        struct random rng = {seed + 1000};
        struct schedule_request r = request_random(&rng, 4, 7);
        struct schedule s;
        uint64_t state = seed;
        r.barrier = false;
        CHECK_OK(schedule_build(&s, &r, arena, &err));
        check_unit(&s,
                   draw_durations(&state, symbol_count(r.stage_count, r.slice_count),
                                  seed % 3 ? 100 : 5, arena),
                   arena);
        s = draw_table(&state, arena);
        check_unit(&s, draw_durations(&state, symbol_count(NODES, 1), seed % 3 ? 100 : 5, arena),
                   arena);
    }
}

// What was found once is recalled for the same durations alone.
TEST(test_recalled_paths)
{
    struct schedule s;
    struct graph *g;
    struct schedule_request r = {SCHEDULE_PLAIN(4), .kind = SCHEDULE_1F1B, .micro_batches = 8};
    uint64_t state = 3;
    CHECK_OK(schedule_build(&s, &r, arena, &err));
    CHECK_OK(graph_compile(&g, &s, arena, &err));
    int symbols = graph_symbol_count(g), *counts = TAKE(arena, symbols + 1, int);
    const int *paths;
    int64_t *durations = draw_durations(&state, symbols, 100, arena);
    assert_int_equal(graph_recall_paths(g, durations, &paths), 0);
    graph_longest(g, durations, counts);
    graph_note_paths(g, durations, counts, 1);
    assert_int_equal(graph_recall_paths(g, durations, &paths), 1);
    assert_memory_equal(paths, counts, (size_t)(symbols + 1) * sizeof *counts);
    durations[0]++;
    assert_int_equal(graph_recall_paths(g, durations, &paths), 0);
    durations[0]--;
    graph_keep_paths(g, arena); // whose operations nobody noted
    assert_int_equal(graph_recall_paths(g, durations, &paths), 0);
}

// The overheads of a pass's messages, added to it.
static void lengthen(const struct schedule_request *r, int64_t *durations, int stage, int slice,
                     bool forward)
{
    int kind = symbol_of_slice(slice, forward ? SYMBOL_FORWARD : SYMBOL_BACKWARD),
        send = symbol_of_slice(slice, forward ? SYMBOL_SEND_FORWARD : SYMBOL_SEND_BACKWARD);
    for (int boundary = stage - 1; boundary <= stage; boundary++)
        if (crosses(r, boundary, forward))
            durations[symbol_index(r->stage_count, kind, stage)] +=
                durations[symbol_index(r->stage_count, send + PART_OVERHEAD, boundary)];
}

// Overheads are next to their passes and no end waits for the other's: if a message has nothing
// else and nothing waits for a pass alone, the time is that of longer passes whose messages take
// none. So no schedule serialises around its ring.
TEST(test_overheads_lengthen_passes)
{
    uint64_t seed = 29;
    int wound = 0;
    for (int round = 0; round < 600; round++) {
        struct schedule with, without;
        struct graph *one, *other;
        struct random rng = {next_random(&seed)};
        struct schedule_request r = request_random(&rng, 6, 9);
        r.sync = r.embedding_sync = r.epilogue = false;
        for (int part = 0; part < PART_COUNT; part++) r.parts[part] = part == PART_OVERHEAD;
        struct arena_mark mark = arena_set_mark(arena);
        CHECK_OK(schedule_build(&with, &r, arena, &err));
        r.parts[PART_OVERHEAD] = false;
        CHECK_OK(schedule_build(&without, &r, arena, &err));
        CHECK_OK(graph_compile(&one, &with, arena, &err));
        CHECK_OK(graph_compile(&other, &without, arena, &err));
        int64_t *durations = draw_durations(&seed, graph_symbol_count(one), 300, arena),
                length = graph_longest(one, durations, NULL);
        for (int stage = 0; stage < r.stage_count; stage++)
            for (int slice = 0; slice < r.slice_count; slice++)
                for (int forward = 0; forward < 2; forward++)
                    lengthen(&r, durations, stage, slice, forward);
        assert_int_equal(length, graph_longest(other, durations, NULL));
        wound += r.virtual_stages > 1 && r.rank_count > 1;
        arena_reset(arena, mark);
    }
    assert_true(wound > 50);
}

// Starting rows are paths (so for any durations at most the length), all distinct; each stage's
// steady round is among them. Their operations are known, on a single rank, too, whose graph is a
// chain: no certificate could show them otherwise.
TEST(test_starting_paths)
{
    uint64_t seed = 17;
    int chains = 0;
    for (int round = 0; round < 60; round++) {
        struct schedule s;
        struct graph *g;
        struct schedule_request r = draw_request(&seed);
        struct arena_mark mark = arena_set_mark(arena);
        if (round % 6 == 0) {
            r = (struct schedule_request){SCHEDULE_PLAIN(1 + round / 6),
                                          .kind = SCHEDULE_LOOPED_BFS};
            r.virtual_stages = r.stage_count, r.rank_count = 1, r.micro_batches = 1 + round % 5;
        }
        CHECK_OK(schedule_build(&s, &r, arena, &err));
        CHECK_OK(graph_compile(&g, &s, arena, &err));
        graph_keep_paths(g, arena);
        chains += graph_is_chains(g);
        int symbols = graph_symbol_count(g), *paths,
            count = graph_starting_paths(g, &paths, NULL, NULL, arena);
        assert_true(count >= 1);
        for (int i = 0, operations; i < count; i++)
            assert_non_null(graph_path_operations(g, &paths[i * (symbols + 1)], &operations));
        for (int draw = 0; draw < 5; draw++) {
            int64_t *durations = draw_durations(&seed, symbols, 1000, arena),
                    length = graph_longest(g, durations, NULL);
            for (int i = 0; i < count; i++) {
                int64_t sum = 0;
                for (int k = 0; k < symbols; k++)
                    sum += paths[i * (symbols + 1) + k] * durations[k];
                assert_true(sum <= length);
            }
        }
        for (int i = 0; i < count; i++)
            for (int j = 0; j < i; j++)
                assert_memory_not_equal(&paths[i * (symbols + 1)], &paths[j * (symbols + 1)],
                                        (size_t)symbols * sizeof *paths);
        for (int stage = 0; stage < r.stage_count; stage++) {
            int most = 0;
            for (int i = 0; i < count; i++)
                if (paths[i * (symbols + 1) + symbol_index(r.stage_count, SYMBOL_FORWARD, stage)] >
                    most)
                    most = paths[i * (symbols + 1) +
                                 symbol_index(r.stage_count, SYMBOL_FORWARD, stage)];
            assert_int_equal(most, r.micro_batches);
        }
        arena_reset(arena, mark);
    }
    assert_true(chains >= 9);
}

struct countdown {
    int left, asked;
};

static bool is_at_zero(void *argument)
{
    struct countdown *c = argument;
    c->asked++;
    return c->left-- <= 0;
}

// When stopped, it walks no further: the first path is always there, and so are those before.
TEST(test_starting_paths_stop)
{
    struct schedule s;
    struct graph *g;
    struct schedule_request r = {SCHEDULE_PLAIN(8), .kind = SCHEDULE_1F1B};
    r.micro_batches = 16;
    CHECK_OK(schedule_build(&s, &r, arena, &err));
    CHECK_OK(graph_compile(&g, &s, arena, &err));
    int *all, *some, most = graph_starting_paths(g, &all, NULL, NULL, arena), last = 0;
    size_t bytes = (size_t)(graph_symbol_count(g) + 1) * sizeof *all;
    for (int after = 0; after < 100; after++) {
        struct countdown c = {.left = after};
        int count = graph_starting_paths(g, &some, is_at_zero, &c, arena);
        assert_true(count >= 1 && count >= last && count <= 1 + 2 * after);
        for (int i = 0; i < count; i++)
            assert_memory_equal((char *)some + (size_t)i * bytes, (char *)all + (size_t)i * bytes,
                                bytes);
        if (!after) assert_int_equal(count, 1);
        last = count;
    }
    assert_int_equal(last, most);
}

// As many stages and slices as a problem may have: n equal slices take (n + p - 1) (F + B).
TEST(test_most_symbols)
{
    struct schedule s;
    struct graph *g;
    struct schedule_request r = {SCHEDULE_PLAIN(STAGES_MAX), .kind = SCHEDULE_TOKEN_SLICED};
    r.slice_count = SLICES_MAX, r.micro_batches = 1;
    CHECK_OK(schedule_build(&s, &r, arena, &err));
    CHECK_OK(graph_compile(&g, &s, arena, &err));
    int64_t *durations = TAKE(arena, graph_symbol_count(g), int64_t);
    for (int slice = 0; slice < SLICES_MAX; slice++)
        for (int stage = 0; stage < STAGES_MAX; stage++) {
            durations[symbol_index(STAGES_MAX, symbol_of_slice(slice, SYMBOL_FORWARD), stage)] = 5;
            durations[symbol_index(STAGES_MAX, symbol_of_slice(slice, SYMBOL_BACKWARD), stage)] = 7;
        }
    assert_int_equal(graph_longest(g, durations, NULL), (SLICES_MAX + STAGES_MAX - 1) * 12);
}
