// The tables of schedules with several stages a rank, split backward, slices and local losses:
// orders written out by hand, closed forms of what is held (docs/FORMULAS.md 14), endings, and that
// no mix of shape and transfer parts deadlocks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "data/schedule/schedule.h"
#include "tests/support/requests.h"
#include "tests/support/oracle/tables.h"

#include <cmocka.h> // last: it takes the name of fail()

static int smaller(int a, int b) { return a < b ? a : b; }

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

// "F2.0" is micro-batch 0 forward through stage 2; behind a second point the slice.
static const char *turns_text(const struct schedule *s, int rank, struct arena *arena)
{
    const struct stream *c = stream_of(s, STREAM_COMPUTE, rank);
    const char *text = "";
    for (int i = 0; i < c->count; i++) {
        int kind = kind_of(s, c->operations[i]), base = symbol_base_kind(kind);
        const char *slice =
            s->request.slice_count > 1 ? arena_print(arena, ".%d", symbol_slice(kind)) : "";
        text = arena_print(arena, "%s%s%c%d.%d%s", text, i ? " " : "", "FBW"[base],
                           symbol_stage_of(s, c->operations[i]),
                           s -> operations[c->operations[i]].micro_batch, slice);
    }
    return text;
}

static void check_written(enum schedule_kind kind, int virtual_stages, int slices,
                          int micro_batches, int rank, const char *expected)
{
    struct arena arena;
    struct schedule s;
    struct schedule_request r = {.micro_batches = micro_batches, .barrier = true};
    arena_open(&arena, NULL);
    request_shape(&r, kind, 2, virtual_stages, slices);
    build_schedule(&s, &r, &arena);
    assert_string_equal(turns_text(&s, rank, &arena), expected);
    arena_close(&arena);
}

// Two ranks, written out by hand from the published rules.
static void test_written_orders_of_two_ranks(void **state)
{
    (void)state;
    check_written(
        SCHEDULE_INTERLEAVED, 2, 1, 4, 0,
        "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 F0.3 B2.1 F2.2 B0.0 F2.3 B0.1 B2.2 B2.3 B0.2 B0.3");
    check_written(
        SCHEDULE_INTERLEAVED, 2, 1, 4, 1,
        "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 F1.3 B1.1 F3.2 B3.2 F3.3 B3.3 B1.2 B1.3");
    // A last group that is not full: what is missing is left out.
    check_written(SCHEDULE_INTERLEAVED, 2, 1, 3, 1,
                  "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 B1.1 F3.2 B3.2 B1.2");
    check_written(SCHEDULE_ZB_H1, 1, 1, 3, 0, "F0.0 F0.1 B0.0 W0.0 F0.2 B0.1 W0.1 B0.2 W0.2");
    check_written(SCHEDULE_ZB_H1, 1, 1, 3, 1, "F1.0 B1.0 F1.1 B1.1 W1.0 F1.2 B1.2 W1.1 W1.2");
    check_written(SCHEDULE_ZB_H2, 1, 1, 4, 0,
                  "F0.0 F0.1 F0.2 B0.0 W0.0 F0.3 B0.1 W0.1 B0.2 W0.2 B0.3 W0.3");
    check_written(SCHEDULE_ZB_H2, 1, 1, 4, 1,
                  "F1.0 B1.0 F1.1 B1.1 F1.2 B1.2 W1.0 F1.3 B1.3 W1.1 W1.2 W1.3");
    check_written(SCHEDULE_ZB_V, 2, 1, 3, 0,
                  "F0.0 F0.1 F0.2 F3.0 B3.0 W3.0 F3.1 B3.1 W3.1 B0.0 W0.0 F3.2 B3.2 W3.2 B0.1 W0.1 "
                  "B0.2 W0.2");
    check_written(SCHEDULE_ZB_V, 2, 1, 3, 1,
                  "F1.0 F2.0 F1.1 F2.1 B2.0 W2.0 F1.2 B1.0 W1.0 F2.2 B2.1 W2.1 B1.1 B2.2 B1.2 W1.1 "
                  "W2.2 W1.2");
    check_written(SCHEDULE_LOOPED_BFS, 2, 1, 2, 1, "F1.0 F1.1 F3.0 F3.1 B3.0 B3.1 B1.0 B1.1");
    check_written(SCHEDULE_TOKEN_SLICED, 1, 2, 2, 0,
                  "F0.0.0 F0.0.1 F0.1.0 F0.1.1 B0.0.1 B0.0.0 B0.1.1 B0.1.0");
}

// The most that a rank holds, its stages together; and each stage at most what the peaks say.
static int most_held(const struct schedule *s, int rank)
{
    int most = 0, turns = s->request.virtual_stages;
    for (int i = 0; i < s->peak_count; i++) {
        int sum = 0;
        if (s->peaks[i].rank != rank) continue;
        for (int k = 0; k < turns; k++) {
            assert_true(s->peaks[i].in_flight[k] <=
                        s->in_flight[schedule_stage_of(&s->request, rank, k)]);
            sum += s->peaks[i].in_flight[k];
        }
        if (sum > most) most = sum;
    }
    return most;
}

// The closed form of what a rank holds; where there is one only for some numbers of micro-batches,
// -1 for the others.
static int stash_of(const struct schedule_request *r, int rank)
{
    int p = r->rank_count, m = r->micro_batches, stages = r->virtual_stages;
    switch (r->kind) {
    case SCHEDULE_1F1B: return smaller(m, p - rank);
    case SCHEDULE_INTERLEAVED:
        return m % p ? -1 : smaller(m * stages, stages * p + p - 1 - 2 * rank);
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

// No message over an inner boundary, none back over a local one, every other once per micro-batch
// and slice (an overhead at both ends).
static void check_message_counts(const struct schedule *s, struct arena *arena)
{
    const struct schedule_request *r = &s->request;
    int *counts = TAKE(arena, 2 * PART_COUNT * r->stage_count, int);
    for (int i = 0; i < s->operation_count; i++) {
        int base = symbol_base_kind(kind_of(s, i)),
            part = (base - SYMBOL_SEND_FORWARD) % PART_COUNT;
        if (base < SYMBOL_SEND_FORWARD || base >= SYMBOL_EMBEDDING_SYNC) continue;
        counts[((base < SYMBOL_SEND_BACKWARD) * PART_COUNT + part) * r->stage_count +
               symbol_stage_of(s, i)]++;
    }
    for (int boundary = 0; boundary < r->stage_count - 1; boundary++)
        for (int part = 0; part < PART_COUNT; part++)
            for (int forward = 0; forward < 2; forward++)
                assert_int_equal(counts[(forward * PART_COUNT + part) * r->stage_count + boundary],
                                 r->parts[part] && carries(r, boundary, forward)
                                     ? r->micro_batches * r->slice_count *
                                           (part == PART_OVERHEAD ? 2 : 1)
                                     : 0);
}

// Every schedule in every shape, with every mix of parts: no deadlock, and the closed forms of what
// is held.
static void test_all_schedules(void **state)
{
    (void)state;
    struct random rng = {3};
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        for (int p = 1; p <= 7; p++)
            for (int stages = 1; stages <= 3; stages++)
                for (int m = 1; m <= 2 * p + 3; m++)
                    for (int mask = 0; mask < 16; mask++) {
                        struct arena arena;
                        struct schedule s;
                        struct schedule_request r = request_random(&rng, 1, 1);
                        arena_open(&arena, NULL);
                        r.micro_batches = m;
                        request_shape(&r, (enum schedule_kind)kind, p, stages, stages);
                        r.embedding_sync = r.embedding_sync && r.stage_count > 1;
                        for (int part = 0; part < PART_COUNT; part++)
                            r.parts[part] = mask >> part & 1;
                        build_schedule(&s, &r, &arena);
                        check_message_counts(&s, &arena);
                        assert_int_equal(s.carried_count > 0, !r.barrier);
                        for (int rank = 0; rank < p; rank++) {
                            int expected = stash_of(&r, rank);
                            if (expected >= 0) assert_int_equal(most_held(&s, rank), expected);
                        }
                        arena_close(&arena);
                    }
}

// A rank's syncs in the order of its stages' last gradients: exposed ones behind the rank's last,
// overlapped ones behind their own. What the next iteration waits for without a barrier.
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
        build_schedule(&s, &r, &arena);
        const struct stream *syncs = stream_of(&s, STREAM_SYNC, 1);
        assert_int_equal(syncs->count, 2);
        assert_int_equal(symbol_stage_of(&s, syncs->operations[0]),
                         3); // stage 3's gradients come first
        assert_int_equal(depends(&s, SYMBOL_BACKWARD, 3, SYMBOL_SYNC, 3), overlapped);
        assert_int_equal(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_SYNC, 3), !overlapped);
        assert_true(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_SYNC, 1));
        // Two ranks' compute and sync, and two links.
        assert_int_equal(s.carried_count, 6);
    }
    r.optimizer = true;
    build_schedule(&s, &r, &arena);
    assert_int_equal(s.carried_count, 4); // the optimizer waits for the syncs
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_orders_of_two_ranks),
        cmocka_unit_test(test_all_schedules),
        cmocka_unit_test(test_endings_of_several_stages),
        cmocka_unit_test(test_wrong_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
