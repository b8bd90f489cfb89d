// The tables of all schedules: written order, messages, epilogue, endings, micro-batches in flight; that blocking
// transfers never deadlock; and that a table with a cycle is refused. The judge's own check of the same tables is tested in
// test_verify_schedule.c.
#include "data/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/requests.h"

#include <cmocka.h>        // last: it takes the name of fail()

static void build(struct schedule *s, const struct schedule_request *r, struct arena *arena)
{
    struct error err = {OK, ""};
    enum status status = schedule_build(s, r, arena, &err);
    if (status != OK) print_error("%s\n", err.text);
    assert_int_equal(status, OK);
}

static const struct stream *stream_of(const struct schedule *s, enum stream_kind kind, int stage)
{
    for (int i = 0; i < s->stream_count; i++)
        if (s->streams[i].kind == kind && s->streams[i].rank == stage) return &s->streams[i];
    return NULL;
}

static int kind_of(const struct schedule *s, int operation)
{
    return s->operations[operation].symbol / s->request.stage_count;
}
static int symbol_stage_of(const struct schedule *s, int operation)
{
    return s->operations[operation].symbol % s->request.stage_count;
}

// "F0 F1 B0 ..." of a stage's compute stream; f and b for blocking messages, O for the optimizer.
static const char *compute_text(const struct schedule *s, int stage, struct arena *arena)
{
    const struct stream *c = stream_of(s, STREAM_COMPUTE, stage);
    const char *text = "";
    for (int i = 0; i < c->count; i++) {
        int kind = kind_of(s, c->operations[i]);
        const char letter = kind == SYMBOL_FORWARD                        ? 'F'
                            : kind == SYMBOL_BACKWARD                     ? 'B'
                            : kind == SYMBOL_OPTIMIZER                    ? 'O'
                            : kind == SYMBOL_SEND_FORWARD + PART_BLOCKING ? 'f'
                                                                          : 'b';
        text = arena_print(arena, letter == 'O' ? "%s%s%c" : "%s%s%c%d", text, i ? " " : "", letter,
                           s->operations[c->operations[i]].micro_batch);
    }
    return text;
}

static void test_written_order(void **state)
{
    (void)state;
    struct arena arena;
    struct schedule s;
    arena_open(&arena, NULL);
    build(&s,
          &(struct schedule_request){.kind = SCHEDULE_1F1B, SCHEDULE_PLAIN(3), .micro_batches = 4, .optimizer = true},
          &arena);
    assert_string_equal(compute_text(&s, 0, &arena), "F0 F1 F2 B0 F3 B1 B2 B3 O");
    assert_string_equal(compute_text(&s, 1, &arena), "F0 F1 B0 F2 B1 F3 B2 B3 O");
    assert_string_equal(compute_text(&s, 2, &arena), "F0 B0 F1 B1 F2 B2 F3 B3 O");
    build(&s, &(struct schedule_request){.kind = SCHEDULE_1F1B, SCHEDULE_PLAIN(4), .micro_batches = 2}, &arena);
    assert_string_equal(compute_text(&s, 0, &arena), "F0 F1 B0 B1");
    build(&s, &(struct schedule_request){.kind = SCHEDULE_GPIPE, SCHEDULE_PLAIN(2), .micro_batches = 3}, &arena);
    for (int stage = 0; stage < 2; stage++) assert_string_equal(compute_text(&s, stage, &arena), "F0 F1 F2 B0 B1 B2");
    // Both ends take the forward transfer of a crossing pair first.
    build(&s,
          &(struct schedule_request){
              .kind = SCHEDULE_1F1B, SCHEDULE_PLAIN(2), .micro_batches = 3, .parts = {[PART_BLOCKING] = true}},
          &arena);
    assert_string_equal(compute_text(&s, 0, &arena), "F0 f0 F1 f1 b0 B0 F2 f2 b1 B1 b2 B2");
    assert_string_equal(compute_text(&s, 1, &arena), "f0 F0 B0 f1 b0 F1 B1 f2 b1 F2 B2 b2");
    arena_close(&arena);
}

// "F2.0" is micro-batch 0 forward through stage 2; behind a second point the slice.
static const char *turns_text(const struct schedule *s, int rank, struct arena *arena)
{
    const struct stream *c = stream_of(s, STREAM_COMPUTE, rank);
    const char *text = "";
    for (int i = 0; i < c->count; i++) {
        int kind = kind_of(s, c->operations[i]), base = symbol_base_kind(kind);
        const char *slice = s->request.slice_count > 1 ? arena_print(arena, ".%d", symbol_slice(kind)) : "";
        text = arena_print(arena, "%s%s%c%d.%d%s", text, i ? " " : "", "FBW"[base], symbol_stage_of(s, c->operations[i]),
                           s->operations[c->operations[i]].micro_batch, slice);
    }
    return text;
}

static void check_written(enum schedule_kind kind, int virtual_stages, int slices, int micro_batches, int rank,
                          const char *expected)
{
    struct arena arena;
    struct schedule s;
    struct schedule_request r = {.micro_batches = micro_batches, .barrier = true};
    arena_open(&arena, NULL);
    request_shape(&r, kind, 2, virtual_stages, slices);
    build(&s, &r, &arena);
    assert_string_equal(turns_text(&s, rank, &arena), expected);
    arena_close(&arena);
}

// Two ranks, written out by hand from the published rules.
static void test_written_orders_of_two_ranks(void **state)
{
    (void)state;
    check_written(SCHEDULE_INTERLEAVED, 2, 1, 4, 0,
                  "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 F0.3 B2.1 F2.2 B0.0 F2.3 B0.1 B2.2 B2.3 B0.2 B0.3");
    check_written(SCHEDULE_INTERLEAVED, 2, 1, 4, 1,
                  "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 F1.3 B1.1 F3.2 B3.2 F3.3 B3.3 B1.2 B1.3");
    // A last group that is not full: what is missing is left out.
    check_written(SCHEDULE_INTERLEAVED, 2, 1, 3, 1, "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 B1.1 F3.2 B3.2 B1.2");
    check_written(SCHEDULE_ZB_H1, 1, 1, 3, 0, "F0.0 F0.1 B0.0 W0.0 F0.2 B0.1 W0.1 B0.2 W0.2");
    check_written(SCHEDULE_ZB_H1, 1, 1, 3, 1, "F1.0 B1.0 F1.1 B1.1 W1.0 F1.2 B1.2 W1.1 W1.2");
    check_written(SCHEDULE_ZB_H2, 1, 1, 4, 0, "F0.0 F0.1 F0.2 B0.0 W0.0 F0.3 B0.1 W0.1 B0.2 W0.2 B0.3 W0.3");
    check_written(SCHEDULE_ZB_H2, 1, 1, 4, 1, "F1.0 B1.0 F1.1 B1.1 F1.2 B1.2 W1.0 F1.3 B1.3 W1.1 W1.2 W1.3");
    check_written(SCHEDULE_ZB_V, 2, 1, 3, 0,
                  "F0.0 F0.1 F0.2 F3.0 B3.0 W3.0 F3.1 B3.1 W3.1 B0.0 W0.0 F3.2 B3.2 W3.2 B0.1 W0.1 B0.2 W0.2");
    check_written(SCHEDULE_ZB_V, 2, 1, 3, 1,
                  "F1.0 F2.0 F1.1 F2.1 B2.0 W2.0 F1.2 B1.0 W1.0 F2.2 B2.1 W2.1 B1.1 B2.2 B1.2 W1.1 W2.2 W1.2");
    check_written(SCHEDULE_LOOPED_BFS, 2, 1, 2, 1, "F1.0 F1.1 F3.0 F3.1 B3.0 B3.1 B1.0 B1.1");
    check_written(SCHEDULE_TOKEN_SLICED, 1, 2, 2, 0, "F0.0.0 F0.0.1 F0.1.0 F0.1.1 B0.0.1 B0.0.0 B0.1.1 B0.1.0");
}

static int smaller(int a, int b) { return a < b ? a : b; }

static void check_each_once(const struct schedule *s, struct arena *arena)
{
    int p = s->request.stage_count, m = s->request.micro_batches, *seen = TAKE(arena, SYMBOL_KIND_COUNT * p * m, int);
    for (int i = 0; i < s->operation_count; i++) {
        struct operation o = s->operations[i];
        int kind = kind_of(s, i), boundary = symbol_stage_of(s, i);
        if (o.micro_batch < 0) continue;
        if (kind >= SYMBOL_SEND_EPILOGUE) kind -= PART_COUNT;       // drain and steady state are one message
        assert_int_equal(seen[(kind * p + boundary) * m + o.micro_batch]++, 0);
        if (kind <= SYMBOL_BACKWARD) assert_int_equal(o.stage, boundary);
        else assert_int_equal(o.stage, kind < SYMBOL_SEND_BACKWARD ? boundary : boundary + 1);
    }
    for (int kind = 0; kind < SYMBOL_SEND_EPILOGUE; kind++)
        for (int stage = 0; stage < p; stage++)
            for (int k = 0; k < m; k++) {
                bool message = kind >= SYMBOL_SEND_FORWARD &&
                               s->request.parts[(kind - SYMBOL_SEND_FORWARD) % PART_COUNT] && stage < p - 1;
                assert_int_equal(seen[(kind * p + stage) * m + k], kind <= SYMBOL_BACKWARD || message);
            }
}

// The order lists every operation once, after all it waits for.
static void check_order(const struct schedule *s, struct arena *arena)
{
    struct error err = {OK, ""};
    int *order = TAKE(arena, s->operation_count, int), *place = TAKE(arena, s->operation_count, int);
    assert_int_equal(schedule_order(s, order, arena, &err), OK);
    for (int i = 0; i < s->operation_count; i++) place[i] = -1;
    for (int i = 0; i < s->operation_count; i++) {
        assert_int_equal(place[order[i]], -1);
        place[order[i]] = i;
    }
    for (int i = 0; i < s->dependence_count; i++)
        assert_true(place[s->dependences[i].before] < place[s->dependences[i].after]);
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            assert_true(place[s->streams[i].operations[k - 1]] < place[s->streams[i].operations[k]]);
}

// Whether the tables say that `before` ends before `after` starts: a dependence, or a stream that both stand on.
static bool joined(const struct schedule *s, int before, int after)
{
    for (int i = 0; i < s->dependence_count; i++)
        if (s->dependences[i].before == before && s->dependences[i].after == after) return true;
    for (int i = 0; i < s->stream_count; i++) {
        bool seen = false;
        for (int k = 0; k < s->streams[i].count; k++) {
            seen |= s->streams[i].operations[k] == before;
            if (seen && s->streams[i].operations[k] == after) return true;
        }
    }
    return false;
}

static int find(const struct schedule *s, int kind, int symbol_stage, int micro_batch)
{
    for (int i = 0; i < s->operation_count; i++)
        if (kind_of(s, i) == kind && symbol_stage_of(s, i) == symbol_stage &&
            s->operations[i].micro_batch == micro_batch)
            return i;
    return -1;
}

// A message is a chain: the sender's pass, the parts in series, the receiver's pass.
static void check_chain(const struct schedule *s, bool forward, int boundary, int micro_batch)
{
    int pass = forward ? SYMBOL_FORWARD : SYMBOL_BACKWARD,
        at = find(s, pass, forward ? boundary : boundary + 1, micro_batch);
    for (int part = 0; part < PART_COUNT; part++) {
        int next = find(s, (forward ? SYMBOL_SEND_FORWARD : SYMBOL_SEND_BACKWARD) + part, boundary, micro_batch);
        if (next < 0 && !forward) next = find(s, SYMBOL_SEND_EPILOGUE + part, boundary, micro_batch);
        if (next < 0) continue;
        assert_true(joined(s, at, next));
        at = next;
    }
    assert_true(joined(s, at, find(s, pass, forward ? boundary + 1 : boundary, micro_batch)));
}

static void test_messages(void **state)
{
    (void)state;
    for (int mask = 0; mask < 32; mask++) {
        struct arena arena;
        struct schedule s;
        struct schedule_request r = {.kind = mask & 8 ? SCHEDULE_1F1B : SCHEDULE_GPIPE,
                                     SCHEDULE_PLAIN(4),
                                     .micro_batches = 5,
                                     .parts = {mask & 1, mask & 2, mask & 4},
                                     .epilogue = mask & 16};
        arena_open(&arena, NULL);
        build(&s, &r, &arena);
        for (int boundary = 0; boundary < 3; boundary++)
            for (int m = 0; m < 5; m++) {
                check_chain(&s, true, boundary, m);
                check_chain(&s, false, boundary, m);
            }
        arena_close(&arena);
    }
}

// All shapes and parts: no deadlock, everything once, the counts in flight that the closed forms give.
static void test_all_shapes(void **state)
{
    (void)state;
    for (int p = 1; p <= 9; p++)
        for (int m = 1; m <= 12; m++)
            for (int mask = 0; mask < 16; mask++) {
                struct arena arena;
                struct schedule s;
                struct schedule_request r = {.kind = mask & 8 ? SCHEDULE_1F1B : SCHEDULE_GPIPE,
                                             SCHEDULE_PLAIN(p),
                                             .micro_batches = m,
                                             .parts = {mask & 1, mask & 2, mask & 4},
                                             .epilogue = m % 2,
                                             .sync = p % 2,
                                             .optimizer = m % 3,
                                             .embedding_sync = p > 1 && m % 5};
                arena_open(&arena, NULL);
                build(&s, &r, &arena);
                check_each_once(&s, &arena);
                check_order(&s, &arena);
                for (int stage = 0; stage < p; stage++)
                    assert_int_equal(s.in_flight[stage], r.kind == SCHEDULE_GPIPE ? m : smaller(m, p - stage));
                arena_close(&arena);
            }
}

static void test_large_blocking(void **state)
{
    (void)state;
    const int shapes[][2] = {{32, 256}, {64, 16}, {16, 100}, {128, 130}};
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++) {
        struct arena arena;
        struct schedule s;
        arena_open(&arena, NULL);
        build(&s,
              &(struct schedule_request){.kind = SCHEDULE_1F1B,
                                         SCHEDULE_PLAIN(shapes[i][0]),
                                         .micro_batches = shapes[i][1],
                                         .parts = {true, true, true}},
              &arena);
        arena_close(&arena);
    }
}

// Of the backward receives of stage i the last p-1-i and the one before them.
static void test_epilogue(void **state)
{
    (void)state;
    for (int kind = SCHEDULE_GPIPE; kind <= SCHEDULE_1F1B; kind++)
        for (int m = 1; m <= 9; m++) {
            struct arena arena;
            struct schedule s;
            int p = 5, epilogue[5] = {0}, steady[5] = {0};
            arena_open(&arena, NULL);
            build(&s,
                  &(struct schedule_request){.kind = (enum schedule_kind)kind,
                                             SCHEDULE_PLAIN(p),
                                             .micro_batches = m,
                                             .parts = {[PART_LINK] = true},
                                             .epilogue = true},
                  &arena);
            for (int i = 0; i < s.operation_count; i++) {
                int boundary = symbol_stage_of(&s, i);
                if (kind_of(&s, i) == SYMBOL_SEND_BACKWARD + PART_LINK) steady[boundary]++;
                if (kind_of(&s, i) != SYMBOL_SEND_EPILOGUE + PART_LINK) continue;
                epilogue[boundary]++;
                assert_true(s.operations[i].micro_batch >= m - (p - boundary));
            }
            for (int i = 0; i < p - 1; i++) {
                assert_int_equal(epilogue[i], smaller(m, p - i));
                assert_int_equal(epilogue[i] + steady[i], m);
            }
            arena_close(&arena);
        }
}

// The most that a rank holds, its stages together; and each stage at most what the peaks say.
static int most_held(const struct schedule *s, int rank)
{
    int most = 0, turns = s->request.virtual_stages;
    for (int i = 0; i < s->peak_count; i++) {
        int sum = 0;
        if (s->peaks[i].rank != rank) continue;
        for (int k = 0; k < turns; k++) {
            assert_true(s->peaks[i].in_flight[k] <= s->in_flight[schedule_stage_of(&s->request, rank, k)]);
            sum += s->peaks[i].in_flight[k];
        }
        if (sum > most) most = sum;
    }
    return most;
}

// The closed form of what a rank holds; where there is one only for some numbers of micro-batches, -1 for the others.
static int stash_of(const struct schedule_request *r, int rank)
{
    int p = r->rank_count, m = r->micro_batches, stages = r->virtual_stages;
    switch (r->kind) {
    case SCHEDULE_1F1B: return smaller(m, p - rank);
    case SCHEDULE_INTERLEAVED: return m % p ? -1 : smaller(m * stages, stages * p + p - 1 - 2 * rank);
    case SCHEDULE_ZB_H1: return smaller(m, p);
    case SCHEDULE_ZB_H2: return smaller(m, 2 * p - 1);
    case SCHEDULE_ZB_V: return m < 2 * p - 1 ? -1 : 2 * p;
    default: return m * stages;
    }
}

static bool carries(const struct schedule_request *r, int boundary, bool forward)
{
    return !schedule_is_inner(r, boundary) && (forward || !schedule_is_local(r, boundary));
}

// No message over an inner boundary, none back over a local one, every other once per micro-batch and slice.
static void check_message_counts(const struct schedule *s, struct arena *arena)
{
    const struct schedule_request *r = &s->request;
    int *counts = TAKE(arena, 2 * PART_COUNT * r->stage_count, int);
    for (int i = 0; i < s->operation_count; i++) {
        int base = symbol_base_kind(kind_of(s, i)), part = (base - SYMBOL_SEND_FORWARD) % PART_COUNT;
        if (base < SYMBOL_SEND_FORWARD || base >= SYMBOL_EMBEDDING_SYNC) continue;
        counts[((base < SYMBOL_SEND_BACKWARD) * PART_COUNT + part) * r->stage_count + symbol_stage_of(s, i)]++;
    }
    for (int boundary = 0; boundary < r->stage_count - 1; boundary++)
        for (int part = 0; part < PART_COUNT; part++)
            for (int forward = 0; forward < 2; forward++)
                assert_int_equal(counts[(forward * PART_COUNT + part) * r->stage_count + boundary],
                                 r->parts[part] && carries(r, boundary, forward) ? r->micro_batches * r->slice_count : 0);
}

// Every schedule in every shape, with every mix of parts: no deadlock, and the closed forms of what is held.
static void test_all_schedules(void **state)
{
    (void)state;
    struct random rng = {3};
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        for (int p = 1; p <= 7; p++)
            for (int stages = 1; stages <= 3; stages++)
                for (int m = 1; m <= 2 * p + 3; m++)
                    for (int mask = 0; mask < 8; mask++) {
                        struct arena arena;
                        struct schedule s;
                        struct schedule_request r = request_random(&rng, 1, 1);
                        arena_open(&arena, NULL);
                        r.micro_batches = m;
                        request_shape(&r, (enum schedule_kind)kind, p, stages, stages);
                        r.embedding_sync = r.embedding_sync && r.stage_count > 1;
                        for (int part = 0; part < PART_COUNT; part++) r.parts[part] = mask >> part & 1;
                        build(&s, &r, &arena);
                        check_order(&s, &arena);
                        check_message_counts(&s, &arena);
                        assert_int_equal(s.carried_count > 0, !r.barrier);
                        for (int rank = 0; rank < p; rank++) {
                            int expected = stash_of(&r, rank);
                            if (expected >= 0) assert_int_equal(most_held(&s, rank), expected);
                        }
                        arena_close(&arena);
                    }
}

static bool depends(const struct schedule *s, int before_kind, int before_stage, int after_kind, int after_stage)
{
    for (int i = 0; i < s->dependence_count; i++) {
        int a = s->dependences[i].before, b = s->dependences[i].after;
        if (kind_of(s, a) == before_kind && symbol_stage_of(s, a) == before_stage && kind_of(s, b) == after_kind &&
            symbol_stage_of(s, b) == after_stage)
            return true;
    }
    return false;
}

static void test_endings(void **state)
{
    (void)state;
    struct arena arena;
    struct schedule s;
    struct schedule_request r = {.kind = SCHEDULE_1F1B,
                                 SCHEDULE_PLAIN(3),
                                 .micro_batches = 2,
                                 .sync = true,
                                 .optimizer = true,
                                 .embedding_sync = true};
    arena_open(&arena, NULL);
    build(&s, &r, &arena);
    for (int stage = 0; stage < 3; stage++) {
        assert_int_equal(stream_of(&s, STREAM_SYNC, stage)->count, 1);
        assert_true(depends(&s, SYMBOL_BACKWARD, stage, SYMBOL_SYNC, stage));
        assert_int_equal(depends(&s, SYMBOL_SYNC, stage, SYMBOL_OPTIMIZER, stage), stage == 1);
        assert_int_equal(depends(&s, SYMBOL_SYNC, stage, SYMBOL_EMBEDDING_SYNC, 0), stage != 1);
        assert_int_equal(depends(&s, SYMBOL_EMBEDDING_SYNC, 0, SYMBOL_OPTIMIZER, stage), stage != 1);
    }
    r.sync = false;
    build(&s, &r, &arena);
    assert_true(depends(&s, SYMBOL_BACKWARD, 0, SYMBOL_EMBEDDING_SYNC, 0));
    assert_true(depends(&s, SYMBOL_BACKWARD, 2, SYMBOL_EMBEDDING_SYNC, 0));
    assert_false(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_EMBEDDING_SYNC, 0));
    assert_null(stream_of(&s, STREAM_SYNC, 0));
    arena_close(&arena);
}

// A rank's syncs in the order of its stages' last gradients: exposed ones behind the rank's last, overlapped ones behind
// their own. What the next iteration waits for without a barrier.
static void test_endings_of_several_stages(void **state)
{
    (void)state;
    struct arena arena;
    struct schedule s;
    struct schedule_request r = {.micro_batches = 2, .sync = true, .parts = {[PART_LINK] = true}};
    arena_open(&arena, NULL);
    request_shape(&r, SCHEDULE_LOOPED_BFS, 2, 2, 1);
    for (int overlapped = 0; overlapped < 2; overlapped++) {
        r.sync_overlapped = overlapped;
        build(&s, &r, &arena);
        const struct stream *syncs = stream_of(&s, STREAM_SYNC, 1);
        assert_int_equal(syncs->count, 2);
        assert_int_equal(symbol_stage_of(&s, syncs->operations[0]), 3);     // stage 3's gradients come first
        assert_int_equal(depends(&s, SYMBOL_BACKWARD, 3, SYMBOL_SYNC, 3), overlapped);
        assert_int_equal(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_SYNC, 3), !overlapped);
        assert_true(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_SYNC, 1));
        // Two ranks' compute and sync, and two links.
        assert_int_equal(s.carried_count, 6);
    }
    r.optimizer = true;
    build(&s, &r, &arena);
    assert_int_equal(s.carried_count, 4);       // the optimizer waits for the syncs
    arena_close(&arena);
}

// What a schedule cannot be is refused.
static void test_wrong_shapes(void **state)
{
    (void)state;
    struct arena arena;
    struct schedule s;
    arena_open(&arena, NULL);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        struct error err = {OK, ""};
        struct schedule_request r = {.micro_batches = 2, .barrier = true};
        request_shape(&r, (enum schedule_kind)kind, 2, 2, 2);
        if (kind != SCHEDULE_INTERLEAVED && kind != SCHEDULE_LOOPED_BFS) {
            r.virtual_stages = 3;
            r.stage_count = 6;
        } else {
            r.slice_count = 2;
        }
        assert_int_equal(schedule_build(&s, &r, &arena, &err), BAD_INPUT);
        assert_non_null(strstr(err.text, schedule_names[kind]));
    }
    arena_close(&arena);
}

// A planted cycle is a deadlock, named.
static void test_deadlock(void **state)
{
    (void)state;
    struct arena arena;
    struct schedule s;
    struct error err = {OK, ""};
    arena_open(&arena, NULL);
    build(&s,
          &(struct schedule_request){
              .kind = SCHEDULE_1F1B, SCHEDULE_PLAIN(2), .micro_batches = 3, .parts = {[PART_BLOCKING] = true}},
          &arena);
    const struct stream *c = stream_of(&s, STREAM_COMPUTE, 1);
    int swapped = c->operations[3];         // stage 1 sends backward before it takes the next forward
    assert_int_equal(kind_of(&s, swapped), SYMBOL_SEND_FORWARD + PART_BLOCKING);
    c->operations[3] = c->operations[4];
    c->operations[4] = swapped;
    assert_int_equal(schedule_order(&s, TAKE(&arena, s.operation_count, int), &arena, &err), BAD_INPUT);
    assert_non_null(strstr(err.text, "deadlock"));
    arena_close(&arena);
}

static void test_too_large(void **state)
{
    (void)state;
    struct arena arena;
    struct schedule s;
    struct error err = {OK, ""};
    arena_open(&arena, NULL);
    struct schedule_request r = {.kind = SCHEDULE_GPIPE,
                                 SCHEDULE_PLAIN(STAGES_MAX),
                                 .micro_batches = MICRO_BATCHES_MAX,
                                 .parts = {true, true, true}};
    assert_int_equal(schedule_build(&s, &r, &arena, &err), BAD_INPUT);
    arena_close(&arena);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(symbol_kind_name(SYMBOL_FORWARD), "forward");
    assert_string_equal(symbol_kind_name(SYMBOL_SEND_BACKWARD + PART_LINK), "send_backward.link");
    assert_string_equal(symbol_kind_name(SYMBOL_SEND_EPILOGUE + PART_DELAY), "send_epilogue.delay");
    assert_string_equal(symbol_kind_name(SYMBOL_EMBEDDING_SYNC), "embedding_sync");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_order),  cmocka_unit_test(test_all_shapes), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_large_blocking), cmocka_unit_test(test_epilogue),   cmocka_unit_test(test_endings),
        cmocka_unit_test(test_written_orders_of_two_ranks), cmocka_unit_test(test_all_schedules),
        cmocka_unit_test(test_endings_of_several_stages), cmocka_unit_test(test_wrong_shapes),
        cmocka_unit_test(test_deadlock),       cmocka_unit_test(test_too_large),  cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
