// The judge's check of schedule tables: the generator's tables of every kind of request pass, and
// each kind of damage to a table is found. The replay against the solver's walk on the same tables
// with random durations.
#include "data/kinds/schedules.h"
#include "data/schedule/schedule.h"
#include "formulate/graph/longest.h"
#include "solve/judge/internal.h"
#include "tests/support/problems.h"
#include "tests/support/requests.h"
#include "tests/support/check.h"

struct table {
    struct arena arena;
    struct error err;
    struct random rng;
    struct schedule_request request;
    struct schedule schedule;
};

static void table_open(struct table *t, uint64_t seed)
{
    *t = (struct table){.rng = {seed}};
    arena_open(&t->arena, NULL);
    t->request = request_random(&t->rng, 5, 8);
    if (schedule_build(&t->schedule, &t->request, &t->arena, &t->err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, t->err.text);
}

static bool is_faulty(struct table *t)
{
    struct verdict v = {.accepted = true};
    audit_schedule(&v, &t->schedule, &t->request, &t->arena);
    for (int i = 0; i < v.violation_count; i++)
        assert_string_equal(v.violations[i].rule, "schedule");
    return v.violation_count > 0;
}

TEST(test_right_tables)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct table t;
        table_open(&t, seed);
        struct verdict v = {0};
        audit_schedule(&v, &t.schedule, &t.request, &t.arena);
        if (v.violation_count)
            fail_msg("seed %llu: %s", (unsigned long long)seed, v.violations[0].text);
        arena_close(&t.arena);
    }
}

// ---- damages; false where there is nothing to damage

static bool blocks(const struct table *t, int operation)
{
    int kind = symbol_base_kind(t->schedule.operations[operation].symbol / t->request.stage_count);
    return kind >= SYMBOL_SEND_FORWARD && kind < SYMBOL_EMBEDDING_SYNC &&
           (kind - SYMBOL_SEND_FORWARD) % PART_COUNT == PART_BLOCKING;
}

static bool swap_in_stream(struct table *t)
{
    struct stream *s =
        &t->schedule.streams[random_between(&t->rng, 0, t->schedule.stream_count - 1)];
    if (s->count < 2) return false;
    int at = (int)random_between(&t->rng, 0, s->count - 2), first = s->operations[at];
    // In which order transfers go between two turns, and how early one is taken, is the table's
    // choice in part.
    bool simple = t->request.virtual_stages == 1 && !schedule_splits_backward(t->request.kind),
         one = blocks(t, first), other = blocks(t, s->operations[at + 1]);
    if (s->kind == STREAM_COMPUTE && (simple ? one && other : one || other)) return false;
    s->operations[at] = s->operations[at + 1];
    s->operations[at + 1] = first;
    return true;
}

static bool drop_from_stream(struct table *t)
{
    struct stream *s =
        &t->schedule.streams[random_between(&t->rng, 0, t->schedule.stream_count - 1)];
    int at = (int)random_between(&t->rng, 0, s->count - 1);
    memmove(s->operations + at, s->operations + at + 1,
            (size_t)(s->count - 1 - at) * sizeof *s->operations);
    s->count--;
    return true;
}

static bool drop_dependence(struct table *t)
{
    if (!t->schedule.dependence_count) return false;
    int at = (int)random_between(&t->rng, 0, t->schedule.dependence_count - 1);
    t->schedule.dependences[at] = t->schedule.dependences[--t->schedule.dependence_count];
    return true;
}

static bool turn_dependence(struct table *t)
{
    if (!t->schedule.dependence_count) return false;
    struct dependence *d =
        &t->schedule.dependences[random_between(&t->rng, 0, t->schedule.dependence_count - 1)];
    *d = (struct dependence){d->after, d->before};
    return true;
}

static bool bend_dependence(struct table *t)
{
    if (!t->schedule.dependence_count) return false;
    struct dependence *d =
        &t->schedule.dependences[random_between(&t->rng, 0, t->schedule.dependence_count - 1)];
    int before = (int)random_between(&t->rng, 0, t->schedule.operation_count - 1);
    if (before == d->before) return false;
    d->before = before;
    return true;
}

static bool rename_operation(struct table *t)
{
    struct operation *o =
        &t->schedule.operations[random_between(&t->rng, 0, t->schedule.operation_count - 1)];
    int symbol = (int)random_between(
        &t->rng, 0, symbol_count(t->request.stage_count, t->request.slice_count) - 1);
    if (symbol == o->symbol) return false;
    o->symbol = symbol;
    return true;
}

static bool move_operation(struct table *t)
{
    struct operation *o =
        &t->schedule.operations[random_between(&t->rng, 0, t->schedule.operation_count - 1)];
    if (t->request.micro_batches < 2) return false;
    o->micro_batch = o->micro_batch < 0 ? 0 : (o->micro_batch + 1) % t->request.micro_batches;
    return true;
}

static bool drop_operation(struct table *t)
{
    t->schedule.operation_count--;
    return true;
}

static bool misstate_in_flight(struct table *t)
{
    t->schedule.in_flight[random_between(&t->rng, 0, t->request.stage_count - 1)] +=
        random_chance(&t->rng, 50) ? 1 : -1;
    return true;
}

static bool misstate_peak(struct table *t)
{
    struct peak *peak = &t->schedule.peaks[random_between(&t->rng, 0, t->schedule.peak_count - 1)];
    if (random_chance(&t->rng, 20)) peak->rank++;
    else
        peak->in_flight[random_between(&t->rng, 0, t->request.virtual_stages - 1)] +=
            random_chance(&t->rng, 50) ? 1 : -1;
    return true;
}

static bool drop_carried(struct table *t)
{
    if (!t->schedule.carried_count) return false;
    int at = (int)random_between(&t->rng, 0, t->schedule.carried_count - 1);
    t->schedule.carried[at] = t->schedule.carried[--t->schedule.carried_count];
    return true;
}

static bool bend_carried(struct table *t)
{
    if (!t->schedule.carried_count) return false;
    struct dependence *d =
        &t->schedule.carried[random_between(&t->rng, 0, t->schedule.carried_count - 1)];
    int other = (int)random_between(&t->rng, 0, t->schedule.operation_count - 1),
        *end = random_chance(&t->rng, 50) ? &d->before : &d->after;
    if (*end == other) return false;
    *end = other;
    return true;
}

// The table of another request: one micro-batch, part, sync or stage more or fewer, or the other
// schedule.
static bool ask_differently(struct table *t)
{
    switch (random_between(&t->rng, 0, 8)) {
    case 6: t->request.barrier = !t->request.barrier; break;
    case 7: t->request.local_loss_every = t->request.local_loss_every ? 0 : 1; break;
    case 8: t->request.sync_overlapped = !t->request.sync_overlapped; break;
    case 0: t->request.micro_batches++; break;
    case 1: t->request.parts[random_between(&t->rng, 0, PART_COUNT - 1)] ^= 1; break;
    case 2: t->request.sync = !t->request.sync; break;
    case 3: t->request.optimizer = !t->request.optimizer; break;
    case 4: t->request.epilogue = !t->request.epilogue; break;
    default:
        t->request.kind = t->request.kind == SCHEDULE_GPIPE ? SCHEDULE_1F1B : SCHEDULE_GPIPE;
        break;
    }
    return true;
}

// Whether two tables are the same but for the request that they state.
static bool same_tables(const struct schedule *a, const struct schedule *b)
{
    bool same =
        a->operation_count == b->operation_count && a->stream_count == b->stream_count &&
        a->dependence_count == b->dependence_count && a->carried_count == b->carried_count &&
        !memcmp(a->operations, b->operations, (size_t)a->operation_count * sizeof *a->operations) &&
        !memcmp(a->dependences, b->dependences,
                (size_t)a->dependence_count * sizeof *a->dependences) &&
        (!a->carried_count ||
         !memcmp(a->carried, b->carried, (size_t)a->carried_count * sizeof *a->carried));
    for (int i = 0; i < a->stream_count && same; i++)
        same = a->streams[i].count == b->streams[i].count &&
               !memcmp(a->streams[i].operations, b->streams[i].operations,
                       (size_t)a->streams[i].count * sizeof(int));
    return same;
}

// The same, with a table that claims to have this request: only its operations show it.
static bool pretend(struct table *t)
{
    struct schedule other;
    if (random_chance(&t->rng, 50)) ask_differently(t);
    else t->request.kind = (int)random_between(&t->rng, 0, SCHEDULE_KIND_COUNT - 1);
    t->schedule.request = t->request;
    struct error none = {OK, ""};
    return schedule_build(&other, &t->request, &t->arena, &none) == OK &&
           !same_tables(&other, &t->schedule);
}

static const struct damage {
    const char *name;
    bool (*plant)(struct table *t);
} damages[] = {
    {"two operations of a stream swapped", swap_in_stream},
    {"an operation gone from its stream", drop_from_stream},
    {"a dependence gone", drop_dependence},
    {"a dependence turned round", turn_dependence},
    {"a dependence bent", bend_dependence},
    {"an operation with another symbol", rename_operation},
    {"an operation of another micro-batch", move_operation},
    {"an operation gone", drop_operation},
    {"in flight misstated", misstate_in_flight},
    {"a peak misstated", misstate_peak},
    {"what is carried gone", drop_carried},
    {"what is carried bent", bend_carried},
    {"another request", ask_differently},
    {"another request, hidden", pretend},
};

TEST(test_damaged_tables)
{
    for (size_t i = 0; i < ARRAY_LENGTH(damages); i++) {
        int planted = 0;
        for (uint64_t seed = 1; seed <= 600; seed++) {
            struct table t;
            table_open(&t, seed);
            if (damages[i].plant(&t)) {
                if (!is_faulty(&t))
                    fail_msg("seed %llu, %s: not found", (unsigned long long)seed, damages[i].name);
                planted++;
            }
            arena_close(&t.arena);
        }
        if (planted < 100) fail_msg("%s: planted only %d times", damages[i].name, planted);
    }
}

// ---- replay

static int64_t draw_duration(struct random *rng)
{
    return random_chance(rng, 20) ? 0 : random_between(rng, 1, 1000);
}

static void random_slice(struct table *t, int64_t *durations, int stage, int slice,
                         struct plan_slice *x)
{
    int stages = t->request.stage_count;
    durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_FORWARD), stage)] = x->forward_ns =
        draw_duration(&t->rng);
    durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_BACKWARD), stage)] =
        x->backward_ns = draw_duration(&t->rng);
    for (int part = 0; part < PART_COUNT; part++) {
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_SEND_FORWARD) + part, stage)] =
            x->send_forward_ns[part] = draw_duration(&t->rng);
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD) + part,
                               stage)] = x->send_backward_ns[part] = draw_duration(&t->rng);
    }
}

static struct plan random_claims(struct table *t, int64_t *durations)
{
    int stages = t->request.stage_count, slices = t->request.slice_count;
    struct plan plan = {.stage_count = stages,
                        .stages = TAKE(&t->arena, stages, struct plan_stage),
                        .embedding_sync_ns = draw_duration(&t->rng)};
    durations[symbol_index(stages, SYMBOL_EMBEDDING_SYNC, 0)] = plan.embedding_sync_ns;
    for (int s = 0; s < stages; s++) {
        struct plan_stage *x = &plan.stages[s];
        durations[symbol_index(stages, SYMBOL_WEIGHT, s)] = x->weight_ns = draw_duration(&t->rng);
        x->slices = TAKE(&t->arena, slices, struct plan_slice);
        for (int k = 0; k < slices; k++) random_slice(t, durations, s, k, &x->slices[k]);
        durations[symbol_index(stages, SYMBOL_SYNC, s)] = x->sync_ns = draw_duration(&t->rng);
        durations[symbol_index(stages, SYMBOL_QUEUED_SYNC, s)] = x->queued_sync_ns =
            draw_duration(&t->rng);
        durations[symbol_index(stages, SYMBOL_OPTIMIZER, s)] = x->optimizer_ns =
            draw_duration(&t->rng);
        for (int part = 0; part < PART_COUNT; part++)
            durations[symbol_index(stages, SYMBOL_SEND_EPILOGUE + part, s)] =
                x->send_epilogue_ns[part] = draw_duration(&t->rng);
    }
    return plan;
}

TEST(test_replay_is_longest_path)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct table t;
        struct graph *graph;
        table_open(&t, seed);
        int64_t *durations =
            TAKE(&t.arena, symbol_count(t.request.stage_count, t.request.slice_count), int64_t);
        struct plan plan = random_claims(&t, durations);
        assert_int_equal(graph_compile(&graph, &t.schedule, &t.arena, &t.err), OK);
        int64_t longest = graph_longest(graph, durations, NULL);
        // A right claim, one too low, one too high, none.
        const int64_t claims[] = {longest, longest - 1, longest + 1, 0};
        for (size_t i = 0; i < ARRAY_LENGTH(claims); i++) {
            plan.iteration_ns = claims[i];
            int64_t ns = t.request.barrier ? judged_replay(&t.schedule, &plan, &t.arena)
                                           : judged_period(&t.schedule, &plan, &t.arena);
            assert_int_equal(ns, longest);
        }
        arena_close(&t.arena);
    }
}

TEST(test_cycle)
{
    struct table t;
    table_open(&t, 1);
    int64_t *durations =
        TAKE(&t.arena, symbol_count(t.request.stage_count, t.request.slice_count), int64_t);
    struct plan plan = random_claims(&t, durations);
    const struct stream *s = &t.schedule.streams[0];
    assert_true(s->count > 1);
    t.schedule.dependences =
        arena_grow(&t.arena, t.schedule.dependences, (size_t)t.schedule.dependence_count,
                   (size_t)t.schedule.dependence_count + 1, sizeof *t.schedule.dependences);
    t.schedule.dependences[t.schedule.dependence_count++] =
        (struct dependence){s->operations[s->count - 1], s->operations[0]};
    assert_int_equal(judged_replay(&t.schedule, &plan, &t.arena), -1);
    arena_close(&t.arena);
}
