// The trace is read back and judged by its structure: slices of one track do not overlap, they span
// the iteration, every message has its arrow, the counter reaches the plan's activation bytes.
#include "solve/report/report.h"
#include "tests/support/oracle/plans.h"
#include "tests/support/check.h"

struct slice {
    int pid, tid;
    double start, end;
};

struct trace {
    struct slice *slices;
    int slice_count, arrow_starts, arrow_ends, delay_starts, delay_ends, counters, names;
    double most_gb;
};

static void read_event(struct trace *t, const struct json *event, struct arena *arena)
{
    const char *phase = "", *name, *category, *binding;
    struct json arguments;
    int pid = -1, tid = -1;
    int64_t id;
    double ts = -1, dur = -1, gb = 0;
    const struct json_field fields[] = {
        FIELD_TEXT("ph", REQUIRED, &phase),         FIELD_TEXT("name", REQUIRED, &name),
        FIELD_INT("pid", REQUIRED, &pid, 0, 1000),  FIELD_INT("tid", REQUIRED, &tid, 0, 10),
        FIELD_NUMBER("ts", OPTIONAL, &ts, 0, 1e15), FIELD_NUMBER("dur", OPTIONAL, &dur, 0, 1e15),
        FIELD_TEXT("cat", OPTIONAL, &category),     FIELD_OBJECT("args", OPTIONAL, &arguments),
        FIELD_COUNT("id", OPTIONAL, &id, 0, 1e9),   FIELD_TEXT("bp", OPTIONAL, &binding),
    };
    MUST(JSON_FIELDS(event, fields, arena, &own_err));
    assert_int_equal(strlen(phase), 1);
    switch (phase[0]) {
    case 'X': t->slices[t->slice_count++] = (struct slice){pid, tid, ts, ts + dur}; break;
    case 's': t->arrow_starts++; break;
    case 'f': t->arrow_ends++; break;
    case 'b': t->delay_starts++; break;
    case 'e': t->delay_ends++; break;
    case 'M': t->names++; break;
    case 'C': {
        const struct json_field value[] = {FIELD_NUMBER("GB", REQUIRED, &gb, 0, 1e9)};
        MUST(JSON_FIELDS(&arguments, value, arena, &own_err));
        if (gb > t->most_gb) t->most_gb = gb;
        t->counters++;
        break;
    }
    default: assert_string_equal(phase, "a known phase");
    }
}

static void read_trace(struct trace *t, const char *text, size_t length, struct arena *arena)
{
    struct json root, events, other;
    const char *unit;
    const struct json_field fields[] = {FIELD_ARRAY("traceEvents", REQUIRED, &events),
                                        FIELD_TEXT("displayTimeUnit", REQUIRED, &unit),
                                        FIELD_OBJECT("otherData", REQUIRED, &other)};
    MUST(json_parse(&root, "trace", text, length, arena, &own_err));
    MUST(JSON_FIELDS(&root, fields, arena, &own_err));
    int count = json_length(&events);
    *t = (struct trace){.slices = TAKE(arena, count, struct slice)};
    for (int i = 0; i < count; i++) {
        struct json event = json_element(&events, i, arena);
        read_event(t, &event, arena);
    }
}

// Which slices may share a track, and where links begin.
static void check_slices(const struct trace *t, const struct schedule_request *q)
{
    bool wound = q->virtual_stages > 1;
    for (int i = 0; i < t->slice_count; i++) {
        const struct slice *a = &t->slices[i];
        assert_true(a->pid < q->rank_count);
        if (a->tid == 1 && !wound)
            assert_true(a->pid < q->rank_count - 1);        // link forward: the sender's
        if (a->tid == 2 && !wound) assert_true(a->pid > 0); // link backward: the sender's
        for (int j = 0; j < i; j++) {
            const struct slice *b = &t->slices[j];
            if (a->pid == b->pid && a->tid == b->tid)
                assert_true(a->start >= b->end - 1e-6 || b->start >= a->end - 1e-6);
        }
    }
}

// The greatest memory from the schedule's peaks and the stages' bytes.
static double most_gb(const struct plan *plan, const struct schedule *s)
{
    double most = 0;
    for (int i = 0; i < s->peak_count; i++) {
        double sum = 0;
        for (int k = 0; k < s->request.virtual_stages; k++) {
            int stage = schedule_stage_of(&s->request, s->peaks[i].rank, k);
            sum += (double)plan->stages[stage].memory.activation_bytes * s->peaks[i].in_flight[k] /
                   s->in_flight[stage];
        }
        most = fmax(most, sum / 1e9);
    }
    return most;
}

static void check_trace(const struct plan *plan, struct arena *arena)
{
    struct text out;
    text_begin(&out, arena);
    struct trace t;
    struct schedule s;
    struct schedule_request q = plan_request(plan);
    double span = 0;
    int messages = 0;
    MUST(schedule_build(&s, &q, arena, &own_err));
    MUST(report_trace(&out, plan, NULL, &own_err));
    read_trace(&t, out.text, out.length, arena);
    check_slices(&t, &q);
    for (int i = 0; i < t.slice_count; i++) span = fmax(span, t.slices[i].end);
    if (q.barrier) assert_true(fabs(span - (double)plan->iteration_ns / 1000) < 1e-6);
    for (int i = 0; i < q.stage_count - 1; i++)
        if (!schedule_is_inner(&q, i))
            messages += (schedule_is_local(&q, i) ? 1 : 2) * q.micro_batches * q.slice_count;
    assert_int_equal(t.arrow_starts, messages);
    assert_int_equal(t.arrow_ends, messages);
    assert_int_equal(t.delay_starts, t.delay_ends);
    assert_int_equal(t.counters, 2 * q.stage_count * q.micro_batches);
    assert_int_equal(t.names, 10 * q.rank_count);
    assert_true(fabs(t.most_gb - most_gb(plan, &s)) < 1e-9);
}

TEST(test_trace)
{
    uint64_t seed = 5;
    struct arena_mark mark = arena_set_mark(arena);
    for (int round = 0; round < 80; round++, arena_reset(arena, mark)) {
        struct plan plan = !round      ? small_plan(arena)
                           : round % 2 ? random_plan(&seed, arena)
                                       : wound_plan(&seed, arena);
        claim_replay(&plan, arena);
        check_trace(&plan, arena);
    }
}
