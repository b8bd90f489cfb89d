// The tables of GPipe and 1F1B: written order, messages, epilogue, endings, micro-batches in
// flight; that blocking transfers never deadlock; and that a table with a cycle is refused. The
// judge's own check of the same tables is tested in test_verify_schedule.c; schedules with several
// stages per rank, split backward and slices are in test_schedule_kinds.c.
#include "data/kinds/schedules.h"
#include "data/schedule/schedule.h"
#include "tests/support/oracle/tables.h"
#include "tests/support/check.h"

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

TEST(test_written_order)
{
    struct schedule s;
    build_schedule(
        &s,
        &(struct schedule_request){
            .kind = SCHEDULE_1F1B, SCHEDULE_PLAIN(3), .micro_batches = 4, .optimizer = true},
        arena);
    assert_string_equal(compute_text(&s, 0, arena), "F0 F1 F2 B0 F3 B1 B2 B3 O");
    assert_string_equal(compute_text(&s, 1, arena), "F0 F1 B0 F2 B1 F3 B2 B3 O");
    assert_string_equal(compute_text(&s, 2, arena), "F0 B0 F1 B1 F2 B2 F3 B3 O");
    build_schedule(
        &s,
        &(struct schedule_request){.kind = SCHEDULE_1F1B, SCHEDULE_PLAIN(4), .micro_batches = 2},
        arena);
    assert_string_equal(compute_text(&s, 0, arena), "F0 F1 B0 B1");
    build_schedule(
        &s,
        &(struct schedule_request){.kind = SCHEDULE_GPIPE, SCHEDULE_PLAIN(2), .micro_batches = 3},
        arena);
    for (int stage = 0; stage < 2; stage++)
        assert_string_equal(compute_text(&s, stage, arena), "F0 F1 F2 B0 B1 B2");
    // Both ends take the forward transfer of a crossing pair first.
    build_schedule(&s,
                   &(struct schedule_request){.kind = SCHEDULE_1F1B,
                                              SCHEDULE_PLAIN(2),
                                              .micro_batches = 3,
                                              .parts = {[PART_BLOCKING] = true}},
                   arena);
    assert_string_equal(compute_text(&s, 0, arena), "F0 f0 F1 f1 b0 B0 F2 f2 b1 B1 b2 B2");
    assert_string_equal(compute_text(&s, 1, arena), "f0 F0 B0 f1 b0 F1 B1 f2 b1 F2 B2 b2");
}

static int smaller(int a, int b) { return a < b ? a : b; }

static void check_each_once(const struct schedule *s, struct arena *arena)
{
    int p = s->request.stage_count, m = s->request.micro_batches,
        *seen = TAKE(arena, SYMBOL_KIND_COUNT * p * m, int);
    for (int i = 0; i < s->operation_count; i++) {
        struct operation o = s->operations[i];
        int kind = kind_of(s, i), boundary = symbol_stage_of(s, i);
        if (o.micro_batch < 0) continue;
        if (kind >= SYMBOL_SEND_EPILOGUE)
            kind -= PART_COUNT; // drain and steady state are one message
        bool sends = kind >= SYMBOL_SEND_FORWARD, forward = kind < SYMBOL_SEND_BACKWARD,
             received = sends && o.stage == boundary + forward;
        // An overhead occurs twice, once at each end; the sender's first.
        int before = sends && (kind - SYMBOL_SEND_FORWARD) % PART_COUNT == PART_OVERHEAD &&
                     received;
        assert_int_equal(seen[(kind * p + boundary) * m + o.micro_batch]++, before);
        if (!sends) assert_int_equal(o.stage, boundary);
        else if (!before) assert_int_equal(o.stage, forward ? boundary : boundary + 1);
    }
    for (int kind = 0; kind < SYMBOL_SEND_EPILOGUE; kind++)
        for (int stage = 0; stage < p; stage++)
            for (int k = 0; k < m; k++) {
                bool message = kind >= SYMBOL_SEND_FORWARD &&
                               s->request.parts[(kind - SYMBOL_SEND_FORWARD) % PART_COUNT] &&
                               stage < p - 1;
                bool twice = message && (kind - SYMBOL_SEND_FORWARD) % PART_COUNT == PART_OVERHEAD;
                assert_int_equal(seen[(kind * p + stage) * m + k],
                                 twice ? 2 : kind <= SYMBOL_BACKWARD || message);
            }
}

// The order lists every operation once, after all it waits for.
static void check_order(const struct schedule *s, struct arena *arena)
{
    int *order = TAKE(arena, s->operation_count, int),
        *place = TAKE(arena, s->operation_count, int);
    MUST(schedule_order(s, order, arena, &own_err));
    for (int i = 0; i < s->operation_count; i++) place[i] = -1;
    for (int i = 0; i < s->operation_count; i++) {
        assert_int_equal(place[order[i]], -1);
        place[order[i]] = i;
    }
    for (int i = 0; i < s->dependence_count; i++)
        assert_true(place[s->dependences[i].before] < place[s->dependences[i].after]);
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            assert_true(place[s->streams[i].operations[k - 1]] <
                        place[s->streams[i].operations[k]]);
}

// Whether by the tables `before` ends before `after` starts: a dependence, or a common stream.
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

static int find_at(const struct schedule *s, int kind, int symbol_stage, int stage, int micro_batch)
{
    for (int i = 0; i < s->operation_count; i++)
        if (kind_of(s, i) == kind && symbol_stage_of(s, i) == symbol_stage &&
            s->operations[i].stage == stage && s->operations[i].micro_batch == micro_batch)
            return i;
    return -1;
}

// Whether two operations are adjacent in one compute stream.
static bool adjacent(const struct schedule *s, int first, int second)
{
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count && s->streams[i].kind == STREAM_COMPUTE; k++)
            if (s->streams[i].operations[k - 1] == first && s->streams[i].operations[k] == second)
                return true;
    return false;
}

// A message is a chain: the sender's pass, its overhead right after it, the parts in series, the
// receiver's overhead right before its pass.
static void check_chain(const struct schedule *s, bool forward, int boundary, int micro_batch)
{
    static const int series[] = {PART_OVERHEAD, PART_BLOCKING, PART_LINK, PART_DELAY,
                                 PART_OVERHEAD};
    int pass = forward ? SYMBOL_FORWARD : SYMBOL_BACKWARD,
        sender = forward ? boundary : boundary + 1, receiver = forward ? boundary + 1 : boundary,
        at = find_at(s, pass, sender, sender, micro_batch),
        last = find_at(s, pass, receiver, receiver, micro_batch);
    for (int i = 0; i < 5; i++) {
        int kind = (forward ? SYMBOL_SEND_FORWARD : SYMBOL_SEND_BACKWARD) + series[i],
            stage = i < 4 ? sender : receiver,
            next = find_at(s, kind, boundary, stage, micro_batch);
        if (next < 0 && !forward)
            next = find_at(s, SYMBOL_SEND_EPILOGUE + series[i], boundary, stage, micro_batch);
        assert_int_equal(next >= 0, s->request.parts[series[i]]);
        if (next < 0) continue;
        assert_true(i ? joined(s, at, next) : adjacent(s, at, next));
        at = next;
    }
    assert_true(s->request.parts[PART_OVERHEAD] ? adjacent(s, at, last) : joined(s, at, last));
}

TEST(test_messages)
{
    for (int mask = 0; mask < 64; mask++) {
        struct schedule s;
        struct schedule_request r = {.kind = mask & 8 ? SCHEDULE_1F1B : SCHEDULE_GPIPE,
                                     SCHEDULE_PLAIN(4),
                                     .micro_batches = 5,
                                     .parts = {mask & 1, mask & 2, mask & 4, mask & 32},
                                     .epilogue = mask & 16};
        struct arena_mark mark = arena_set_mark(arena);
        build_schedule(&s, &r, arena);
        for (int boundary = 0; boundary < 3; boundary++)
            for (int m = 0; m < 5; m++) {
                check_chain(&s, true, boundary, m);
                check_chain(&s, false, boundary, m);
            }
        arena_reset(arena, mark);
    }
}

// All shapes and parts: no deadlock, everything once, the counts in flight that the closed forms
// give.
TEST(test_all_shapes)
{
    for (int p = 1; p <= 9; p++)
        for (int m = 1; m <= 12; m++)
            for (int mask = 0; mask < 32; mask++) {
                struct schedule s;
                struct schedule_request r = {.kind = mask & 8 ? SCHEDULE_1F1B : SCHEDULE_GPIPE,
                                             SCHEDULE_PLAIN(p),
                                             .micro_batches = m,
                                             .parts = {mask & 1, mask & 2, mask & 4, mask & 16},
                                             .epilogue = m % 2,
                                             .sync = p % 2,
                                             .optimizer = m % 3,
                                             .embedding_sync = p > 1 && m % 5};
                struct arena_mark mark = arena_set_mark(arena);
                build_schedule(&s, &r, arena);
                check_each_once(&s, arena);
                check_order(&s, arena);
                for (int stage = 0; stage < p; stage++)
                    assert_int_equal(s.in_flight[stage],
                                     r.kind == SCHEDULE_GPIPE ? m : smaller(m, p - stage));
                arena_reset(arena, mark);
            }
}

TEST(test_large_blocking)
{
    const int shapes[][2] = {{32, 256}, {64, 16}, {16, 100}, {128, 130}};
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++, arena_reset(arena, mark)) {
        struct schedule s;
        build_schedule(&s,
                       &(struct schedule_request){.kind = SCHEDULE_1F1B,
                                                  SCHEDULE_PLAIN(shapes[i][0]),
                                                  .micro_batches = shapes[i][1],
                                                  .parts = {true, true, true}},
                       arena);
    }
}

// Of the backward receives of stage i the last p-1-i and the one before them.
TEST(test_epilogue)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int kind = SCHEDULE_GPIPE; kind <= SCHEDULE_1F1B; kind++)
        for (int m = 1; m <= 9; m++, arena_reset(arena, mark)) {
            struct schedule s;
            int p = 5, epilogue[5] = {0}, steady[5] = {0};
            build_schedule(&s,
                           &(struct schedule_request){.kind = (int)kind,
                                                      SCHEDULE_PLAIN(p),
                                                      .micro_batches = m,
                                                      .parts = {[PART_LINK] = true},
                                                      .epilogue = true},
                           arena);
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
        }
}

static bool depends(const struct schedule *s, int before_kind, int before_stage, int after_kind,
                    int after_stage)
{
    for (int i = 0; i < s->dependence_count; i++) {
        int a = s->dependences[i].before, b = s->dependences[i].after;
        if (kind_of(s, a) == before_kind && symbol_stage_of(s, a) == before_stage &&
            kind_of(s, b) == after_kind && symbol_stage_of(s, b) == after_stage)
            return true;
    }
    return false;
}

TEST(test_endings)
{
    struct schedule s;
    struct schedule_request r = {.kind = SCHEDULE_1F1B,
                                 SCHEDULE_PLAIN(3),
                                 .micro_batches = 2,
                                 .sync = true,
                                 .optimizer = true,
                                 .embedding_sync = true};
    build_schedule(&s, &r, arena);
    for (int stage = 0; stage < 3; stage++) {
        assert_int_equal(stream_of(&s, STREAM_SYNC, stage)->count, 1);
        assert_true(depends(&s, SYMBOL_BACKWARD, stage, SYMBOL_SYNC, stage));
        assert_int_equal(depends(&s, SYMBOL_SYNC, stage, SYMBOL_OPTIMIZER, stage), stage == 1);
        assert_int_equal(depends(&s, SYMBOL_SYNC, stage, SYMBOL_EMBEDDING_SYNC, 0), stage != 1);
        assert_int_equal(depends(&s, SYMBOL_EMBEDDING_SYNC, 0, SYMBOL_OPTIMIZER, stage),
                         stage != 1);
    }
    r.sync = false;
    build_schedule(&s, &r, arena);
    assert_true(depends(&s, SYMBOL_BACKWARD, 0, SYMBOL_EMBEDDING_SYNC, 0));
    assert_true(depends(&s, SYMBOL_BACKWARD, 2, SYMBOL_EMBEDDING_SYNC, 0));
    assert_false(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_EMBEDDING_SYNC, 0));
    assert_null(stream_of(&s, STREAM_SYNC, 0));
}

// A planted cycle is a deadlock, named.
TEST(test_deadlock)
{
    struct schedule s;
    build_schedule(&s,
                   &(struct schedule_request){.kind = SCHEDULE_1F1B,
                                              SCHEDULE_PLAIN(2),
                                              .micro_batches = 3,
                                              .parts = {[PART_BLOCKING] = true}},
                   arena);
    const struct stream *c = stream_of(&s, STREAM_COMPUTE, 1);
    int swapped = c->operations[3]; // stage 1 sends backward before it takes the next forward
    assert_int_equal(kind_of(&s, swapped), SYMBOL_SEND_FORWARD + PART_BLOCKING);
    c->operations[3] = c->operations[4];
    c->operations[4] = swapped;
    CHECK_REFUSED(schedule_order(&s, TAKE(arena, s.operation_count, int), arena, &err), "deadlock");
}

TEST(test_too_large)
{
    struct schedule s;
    struct schedule_request r = {.kind = SCHEDULE_GPIPE,
                                 SCHEDULE_PLAIN(STAGES_MAX),
                                 .micro_batches = MICRO_BATCHES_MAX,
                                 .parts = {true, true, true}};
    assert_int_equal(schedule_build(&s, &r, arena, &err), BAD_INPUT);
}

TEST(test_names)
{
    assert_string_equal(symbol_kind_name(SYMBOL_FORWARD), "forward");
    assert_string_equal(symbol_kind_name(SYMBOL_SEND_BACKWARD + PART_LINK), "send_backward.link");
    assert_string_equal(symbol_kind_name(SYMBOL_SEND_EPILOGUE + PART_DELAY), "send_epilogue.delay");
    assert_string_equal(symbol_kind_name(SYMBOL_EMBEDDING_SYNC), "embedding_sync");
}
