// The judge's check of schedule tables: the generator's tables of every kind of request pass, and each way of damaging a
// table is found. The replay against the solver's walk on the same tables with random durations.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/schedule.h"
#include "formulate/longest.h"
#include "solve/verify_parts.h"
#include "tests/support/problems.h"

#include <cmocka.h>        // last: it takes the name of fail()

static struct schedule_request random_request(struct random *rng)
{
    enum schedule_kind kind = random_chance(rng, 50) ? SCHEDULE_1F1B : SCHEDULE_GPIPE;
    int stages = (int)random_between(rng, 1, 6);
    struct schedule_request r = {.kind = kind, SCHEDULE_PLAIN(stages)};
    r.micro_batches = (int)random_between(rng, 1, 9);
    for (int i = 0; i < PART_COUNT; i++) r.parts[i] = random_chance(rng, 60);
    r.epilogue = random_chance(rng, 50);
    r.sync = random_chance(rng, 50);
    r.optimizer = random_chance(rng, 50);
    r.embedding_sync = r.stage_count > 1 && random_chance(rng, 40);
    return r;
}

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
    t->request = random_request(&t->rng);
    if (schedule_build(&t->schedule, &t->request, &t->arena, &t->err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, t->err.text);
}

static bool is_faulty(struct table *t)
{
    struct verdict v = {.accepted = true};
    hear_schedule(&v, &t->schedule, &t->request, &t->arena);
    for (int i = 0; i < v.violation_count; i++) assert_string_equal(v.violations[i].rule, "schedule");
    return v.violation_count > 0;
}

static void test_right_tables(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct table t;
        table_open(&t, seed);
        struct verdict v = {0};
        hear_schedule(&v, &t.schedule, &t.request, &t.arena);
        if (v.violation_count) fail_msg("seed %llu: %s", (unsigned long long)seed, v.violations[0].text);
        arena_close(&t.arena);
    }
}

// ---- damages; false where there is nothing to damage

static bool swap_in_stream(struct table *t)
{
    struct stream *s = &t->schedule.streams[random_between(&t->rng, 0, t->schedule.stream_count - 1)];
    if (s->count < 2) return false;
    int at = (int)random_between(&t->rng, 0, s->count - 2), first = s->operations[at];
    s->operations[at] = s->operations[at + 1];
    s->operations[at + 1] = first;
    return true;
}

static bool drop_from_stream(struct table *t)
{
    struct stream *s = &t->schedule.streams[random_between(&t->rng, 0, t->schedule.stream_count - 1)];
    // A sync is alone in its stream, which orders nothing.
    if (s->kind == STREAM_SYNC) return false;
    int at = (int)random_between(&t->rng, 0, s->count - 1);
    // An optimizer step that stands behind its sync is ordered by that alone.
    if (s->kind == STREAM_COMPUTE && t->request.optimizer && at == s->count - 1) return false;
    memmove(s->operations + at, s->operations + at + 1, (size_t)(s->count - 1 - at) * sizeof *s->operations);
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
    struct dependence *d = &t->schedule.dependences[random_between(&t->rng, 0, t->schedule.dependence_count - 1)];
    *d = (struct dependence){d->after, d->before};
    return true;
}

static bool bend_dependence(struct table *t)
{
    if (!t->schedule.dependence_count) return false;
    struct dependence *d = &t->schedule.dependences[random_between(&t->rng, 0, t->schedule.dependence_count - 1)];
    int before = (int)random_between(&t->rng, 0, t->schedule.operation_count - 1);
    if (before == d->before) return false;
    d->before = before;
    return true;
}

static bool rename_operation(struct table *t)
{
    struct operation *o = &t->schedule.operations[random_between(&t->rng, 0, t->schedule.operation_count - 1)];
    int symbol = (int)random_between(&t->rng, 0, symbol_count(t->request.stage_count, t->request.slice_count) - 1);
    if (symbol == o->symbol) return false;
    o->symbol = symbol;
    return true;
}

static bool move_operation(struct table *t)
{
    struct operation *o = &t->schedule.operations[random_between(&t->rng, 0, t->schedule.operation_count - 1)];
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

// The table of another request: one micro-batch, part, sync or stage more or fewer, or the other schedule.
static bool ask_differently(struct table *t)
{
    switch (random_between(&t->rng, 0, 5)) {
    case 0: t->request.micro_batches++; break;
    case 1: t->request.parts[random_between(&t->rng, 0, PART_COUNT - 1)] ^= 1; break;
    case 2: t->request.sync = !t->request.sync; break;
    case 3: t->request.optimizer = !t->request.optimizer; break;
    case 4: t->request.epilogue = !t->request.epilogue; break;
    default: t->request.kind = t->request.kind == SCHEDULE_GPIPE ? SCHEDULE_1F1B : SCHEDULE_GPIPE; break;
    }
    return true;
}

// The same, and the table claims to have been asked that: only its operations tell.
static bool pretend(struct table *t)
{
    struct schedule_request before = t->request;
    ask_differently(t);
    t->schedule.request = t->request;
    bool same_table = t->request.stage_count == 1 && (t->request.epilogue != before.epilogue ||
                                                      memcmp(t->request.parts, before.parts, sizeof before.parts));
    // With one micro-batch, or one stage, the two schedules are the same.
    same_table = same_table ||
                 (t->request.kind != before.kind && (t->request.micro_batches == 1 || t->request.stage_count == 1));
    // A drain without messages has no symbols.
    bool messages = false;
    for (int i = 0; i < PART_COUNT; i++) messages = messages || before.parts[i];
    return !same_table && (messages || t->request.epilogue == before.epilogue) &&
           !(t->request.stage_count == 1 && t->request.kind != before.kind);
}

static const struct damage { const char *name; bool (*plant)(struct table *t);
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
    {"another request", ask_differently},
    {"another request, hidden", pretend},
};

static void test_damaged_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(damages); i++) {
        int planted = 0;
        for (uint64_t seed = 1; seed <= 600; seed++) {
            struct table t;
            table_open(&t, seed);
            if (damages[i].plant(&t)) {
                if (!is_faulty(&t)) fail_msg("seed %llu, %s: not found", (unsigned long long)seed, damages[i].name);
                planted++;
            }
            arena_close(&t.arena);
        }
        if (planted < 100) fail_msg("%s: planted only %d times", damages[i].name, planted);
    }
}

// ---- replay

static int64_t draw_duration(struct random *rng) { return random_chance(rng, 20) ? 0 : random_between(rng, 1, 1000); }

static struct plan random_claims(struct table *t, int64_t *durations)
{
    int stages = t->request.stage_count;
    struct plan plan = {.stage_count = stages,
                        .stages = TAKE(&t->arena, stages, struct plan_stage),
                        .embedding_sync_ns = draw_duration(&t->rng)};
    durations[symbol_index(stages, SYMBOL_EMBEDDING_SYNC, 0)] = plan.embedding_sync_ns;
    for (int s = 0; s < stages; s++) {
        struct plan_stage *x = &plan.stages[s];
        durations[symbol_index(stages, SYMBOL_FORWARD, s)] = x->forward_ns = draw_duration(&t->rng);
        durations[symbol_index(stages, SYMBOL_BACKWARD, s)] = x->backward_ns = draw_duration(&t->rng);
        durations[symbol_index(stages, SYMBOL_SYNC, s)] = x->sync_ns = draw_duration(&t->rng);
        durations[symbol_index(stages, SYMBOL_OPTIMIZER, s)] = x->optimizer_ns = draw_duration(&t->rng);
        for (int part = 0; part < PART_COUNT; part++) {
            durations[symbol_index(stages, SYMBOL_SEND_FORWARD + part, s)] = x->send_forward_ns[part] =
                draw_duration(&t->rng);
            durations[symbol_index(stages, SYMBOL_SEND_BACKWARD + part, s)] = x->send_backward_ns[part] =
                draw_duration(&t->rng);
            durations[symbol_index(stages, SYMBOL_SEND_EPILOGUE + part, s)] = x->send_epilogue_ns[part] =
                draw_duration(&t->rng);
        }
    }
    return plan;
}

static void test_replay_is_longest_path(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct table t;
        struct graph *graph;
        table_open(&t, seed);
        int64_t *durations = TAKE(&t.arena, symbol_count(t.request.stage_count, t.request.slice_count), int64_t);
        struct plan plan = random_claims(&t, durations);
        assert_int_equal(graph_compile(&graph, &t.schedule, &t.arena, &t.err), OK);
        assert_int_equal(judged_replay(&t.schedule, &plan, &t.arena), graph_longest(graph, durations, NULL));
        arena_close(&t.arena);
    }
}

static void test_cycle(void **state)
{
    (void)state;
    struct table t;
    table_open(&t, 1);
    int64_t *durations = TAKE(&t.arena, symbol_count(t.request.stage_count, t.request.slice_count), int64_t);
    struct plan plan = random_claims(&t, durations);
    const struct stream *s = &t.schedule.streams[0];
    assert_true(s->count > 1);
    t.schedule.dependences = arena_grow(&t.arena, t.schedule.dependences, (size_t)t.schedule.dependence_count,
                                        (size_t)t.schedule.dependence_count + 1, sizeof *t.schedule.dependences);
    t.schedule.dependences[t.schedule.dependence_count++] =
        (struct dependence){s->operations[s->count - 1], s->operations[0]};
    assert_int_equal(judged_replay(&t.schedule, &plan, &t.arena), -1);
    arena_close(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_tables),
        cmocka_unit_test(test_damaged_tables),
        cmocka_unit_test(test_replay_is_longest_path),
        cmocka_unit_test(test_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
