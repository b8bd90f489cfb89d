// The tables of schedules with several stages per rank, split backward, slices and local losses:
// orders and held activations against docs/FORMULAS.md 14, the three tables of kinds, endings, and
// that no mix of shape and transfer parts deadlocks.
#include "data/kinds/schedules.h"
#include "data/schedule/schedule.h"
#include "solve/checker/read/problem.h"
#include "solve/judge/table.h"
#include "tests/support/requests.h"
#include "tests/support/oracle/tables.h"
#include "tests/support/check.h"

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

// "F2.0" is micro-batch 0 forward through stage 2; after a second point the slice.
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

// The most that a rank holds, its stages together; checks that each stage holds at most its peak.
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

// ---- what docs/FORMULAS.md 14 writes out: lines "order KIND p= v= k= m= r=: TURNS" and
// "held KIND p= v= m=: MOST", of any rank

static struct schedule_request request_of(const char *name, int ranks, int virtual_stages,
                                          int slices, int micro_batches)
{
    struct schedule_request r = {.micro_batches = micro_batches, .barrier = true};
    int kind = 0;
    while (kind < SCHEDULE_KIND_COUNT && strcmp(schedule_names[kind], name)) kind++;
    if (kind == SCHEDULE_KIND_COUNT) fail_msg("docs/FORMULAS.md: no schedule is called %s", name);
    request_shape(&r, (int)kind, ranks, virtual_stages, slices);
    return r;
}

static int check_order_line(const char *line, struct arena *arena)
{
    char name[32];
    struct schedule s;
    int p, v, k, m, rank, at = 0;
    if (sscanf(line, " order %31s p=%d v=%d k=%d m=%d r=%d: %n", name, &p, &v, &k, &m, &rank,
               &at) != 6 ||
        !at)
        return -1;
    struct schedule_request r = request_of(name, p, v, k, m);
    build_schedule(&s, &r, arena);
    assert_string_equal(turns_text(&s, rank, arena),
                        arena_print(arena, "%.*s", (int)strcspn(line + at, "\n"), line + at));
    return (int)r.kind;
}

static bool check_held_line(const char *line, struct arena *arena)
{
    char name[32];
    struct schedule s;
    int p, v, m, held, most = 0;
    if (sscanf(line, " held %31s p=%d v=%d m=%d: %d", name, &p, &v, &m, &held) != 5) return false;
    struct schedule_request r = request_of(name, p, v, 1, m);
    build_schedule(&s, &r, arena);
    for (int rank = 0; rank < p; rank++)
        if (most_held(&s, rank) > most) most = most_held(&s, rank);
    if (most != held)
        fail_msg("%s of %d ranks and %d micro-batches holds %d, docs/FORMULAS.md says %d", name, p,
                 m, most, held);
    return true;
}

TEST(test_orders_as_the_document_writes_them)
{
    char line[1000];
    int orders[SCHEDULE_KIND_COUNT] = {0}, held = 0;
    FILE *f = fopen("docs/FORMULAS.md", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct arena_mark mark = arena_set_mark(arena);
        int kind = check_order_line(line, arena);
        if (kind >= 0) orders[kind]++;
        else held += check_held_line(line, arena);
        arena_reset(arena, mark);
    }
    fclose(f);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        if (!orders[kind])
            fail_msg("docs/FORMULAS.md writes out no order of %s", schedule_names[kind]);
    assert_true(held > 0);
}

// ---- the tables of planner, judge and checker

TEST(test_tables_agree)
{
    assert_int_equal(check_schedule_count, SCHEDULE_KIND_COUNT);
    assert_string_equal(check_schedule_names[check_schedule_default], "1f1b");
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        const struct schedule_properties *x = &schedule_kinds[kind];
        const struct check_schedule *y = &check_schedules[kind];
        assert_string_equal(schedule_names[kind], check_schedule_names[kind]);
        assert_int_equal(x->virtual_stages, y->turns);
        assert_int_equal(x->folds, y->folds);
        assert_int_equal(x->splits_backward, y->splits_backward);
        assert_int_equal(x->slices, y->slices);
        assert_int_equal(x->holds_all, y->holds_all);
        assert_int_equal(x->in_groups, y->in_groups);
        assert_int_equal(x->nests, y->fewer);
        assert_int_equal(x->layered, y->layered);
        assert_int_equal(x->in_megatron, y->in_megatron);
        assert_non_null(judged_places[kind]);
        assert_int_equal(x->in_groups, judged_kinds[kind].in_groups);
        assert_int_equal(x->turns_at_once, judged_kinds[kind].turns_at_once);
        assert_int_equal(x->layered, judged_kinds[kind].gathers_by_stage);
        assert_true(x->virtual_stages == 2 || !x->folds);
        assert_true(x->nests != NESTS_ALWAYS || x->virtual_stages == 1);
    }
}

// ---- what is held, in every shape

// Micro-batches of an equal group with one for each rank or more: the most groups there can be.
static int group_of(int m, int p)
{
    int groups = m / p;
    while (m % groups) groups--;
    return m / groups;
}

// The closed form of what a rank holds; where there is one only for some numbers of micro-batches,
// -1 for the others.
static int stash_of(const struct schedule_request *r, int rank)
{
    int p = r->rank_count, m = r->micro_batches, stages = r->virtual_stages;
    switch (r->kind) {
    case SCHEDULE_1F1B:
        if (!r->stored_inputs) return smaller(m, p - rank);
        return smaller(m, smaller(p - rank, r->local_loss_every - rank % r->local_loss_every));
    case SCHEDULE_INTERLEAVED:
        return m < p ? -1
                     : smaller(m * stages, (stages - 1) * group_of(m, p) + 2 * p - 1 - 2 * rank);
    case SCHEDULE_ZB_H1: return smaller(m, p);
    case SCHEDULE_ZB_H2: return smaller(m, 2 * p - 1);
    case SCHEDULE_ZB_V: return m < 2 * p - 1 ? -1 : 2 * p;
    default: return schedule_kinds[r->kind].holds_all ? m * stages : -1;
    }
}

static bool carries(const struct schedule_request *r, int boundary, bool forward)
{
    bool local = schedule_is_local(r, boundary);
    return !schedule_is_inner(r, boundary) && (!local || (forward && !r->stored_inputs));
}

// No message over an inner boundary, none back over a local one or before stored inputs, every
// other once per micro-batch and slice (an overhead at both ends).
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

// Every schedule in every shape, with every mix of parts: no deadlock, and the closed forms of the
// activations held.
TEST(test_all_schedules)
{
    struct random rng = {3};
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        for (int p = 1; p <= 7; p++)
            for (int stages = 1; stages <= 3; stages++)
                for (int m = 1; m <= 2 * p + 3; m++)
                    for (int mask = 0; mask < 16; mask++) {
                        struct schedule s;
                        struct schedule_request r = request_random(&rng, 1, 1);
                        struct arena_mark mark = arena_set_mark(arena);
                        r.micro_batches = m;
                        request_shape(&r, (int)kind, p, stages, stages);
                        r.stored_inputs = r.stored_inputs && kind <= SCHEDULE_1F1B;
                        r.embedding_sync = r.embedding_sync && r.stage_count > 1;
                        for (int part = 0; part < PART_COUNT; part++)
                            r.parts[part] = mask >> part & 1;
                        build_schedule(&s, &r, arena);
                        check_message_counts(&s, arena);
                        assert_int_equal(s.carried_count > 0, !r.barrier);
                        for (int rank = 0; rank < p; rank++) {
                            int expected = stash_of(&r, rank);
                            if (expected >= 0) assert_int_equal(most_held(&s, rank), expected);
                        }
                        arena_reset(arena, mark);
                    }
}

// A rank's syncs in the order of its stages' last gradients: exposed ones after the rank's last
// gradient, overlapped ones after their own. What the next iteration waits for without a barrier.
TEST(test_endings_of_several_stages)
{
    struct schedule s;
    struct schedule_request r = {.micro_batches = 2, .sync = true, .parts = {[PART_LINK] = true}};
    request_shape(&r, SCHEDULE_LOOPED_BFS, 2, 2, 1);
    for (int overlapped = 0; overlapped < 2; overlapped++) {
        r.sync_overlapped = overlapped;
        build_schedule(&s, &r, arena);
        const struct stream *syncs = stream_of(&s, STREAM_SYNC, 1);
        assert_int_equal(syncs->count, 2);
        assert_int_equal(symbol_stage_of(&s, syncs->operations[0]),
                         3); // stage 3's gradients come first
        assert_int_equal(depends(&s, SYMBOL_BACKWARD, 3, SYMBOL_SYNC, 3), overlapped);
        assert_int_equal(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_SYNC, 3), !overlapped);
        assert_true(depends(&s, SYMBOL_BACKWARD, 1, SYMBOL_SYNC, 1));
        // Stage 3's sync may keep stage 1's waiting, which then takes its full time.
        assert_int_equal(kind_of(&s, syncs->operations[0]), SYMBOL_SYNC);
        assert_int_equal(kind_of(&s, syncs->operations[1]),
                         overlapped ? SYMBOL_QUEUED_SYNC : SYMBOL_SYNC);
        // Two ranks' compute and sync, and two links; where a sync has two ways, both.
        assert_int_equal(s.carried_count, overlapped ? 8 : 6);
    }
    r.optimizer = true;
    build_schedule(&s, &r, arena);
    assert_int_equal(s.carried_count, 4); // the optimizer waits for the syncs
    assert_true(depends(&s, SYMBOL_SYNC, 1, SYMBOL_OPTIMIZER, 1));
    assert_true(depends(&s, SYMBOL_QUEUED_SYNC, 1, SYMBOL_OPTIMIZER, 1));
    assert_true(depends(&s, SYMBOL_SYNC, 3, SYMBOL_OPTIMIZER, 3));
    r.virtual_stages = 3, r.stage_count = 6;
    build_schedule(&s, &r, arena);
    assert_true(depends(&s, SYMBOL_SYNC, 3, SYMBOL_QUEUED_SYNC, 1)); // after 5, 3
    assert_false(depends(&s, SYMBOL_SYNC, 3, SYMBOL_SYNC, 1));
}

// What a schedule cannot be is refused.
TEST(test_wrong_shapes)
{
    struct schedule s;
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        err = (struct error){OK, ""};
        struct schedule_request r = {.micro_batches = 2, .barrier = true};
        request_shape(&r, (int)kind, 2, 2, 2);
        if (schedule_kinds[kind].virtual_stages) {
            r.virtual_stages = 3;
            r.stage_count = 6;
        } else {
            r.slice_count = 2;
        }
        CHECK_REFUSED(schedule_build(&s, &r, arena, &err), schedule_names[kind]);
    }
}
