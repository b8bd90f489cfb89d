// Lays the events of a run on the operations of its plan.
#include <stdlib.h>

#include "data/numbers/intervals.h"
#include "solve/report/against/against.h"

const char *const against_step_names[] = {
    "forward passes", "backward passes", "weight gradients",        "optimizer steps",
    "syncs",          "transfers",       "schedule model and waits"};

// What a plan's operations have of an event, and which step of the difference it is.
static const struct {
    int symbol;
    enum against_step step;
} of_event[EVENT_KIND_COUNT] = {
    [EVENT_FORWARD] = {SYMBOL_FORWARD, AGAINST_FORWARD},
    [EVENT_BACKWARD] = {SYMBOL_BACKWARD, AGAINST_BACKWARD},
    [EVENT_WEIGHT] = {SYMBOL_WEIGHT, AGAINST_WEIGHT},
    [EVENT_SEND_FORWARD] = {SYMBOL_SEND_FORWARD, AGAINST_TRANSFER},
    [EVENT_SEND_BACKWARD] = {SYMBOL_SEND_BACKWARD, AGAINST_TRANSFER},
    [EVENT_SYNC] = {SYMBOL_SYNC, AGAINST_SYNC},
    [EVENT_EMBEDDING_SYNC] = {SYMBOL_EMBEDDING_SYNC, AGAINST_SYNC},
    [EVENT_OPTIMIZER] = {SYMBOL_OPTIMIZER, AGAINST_OPTIMIZER},
};

// The event's kind of a symbol's kind, and its part for a message, else -1.
static enum run_event_kind event_of(int symbol_kind, int *part)
{
    int kind = symbol_base_kind(symbol_kind);
    *part = -1;
    if (kind >= SYMBOL_SEND_FORWARD && kind < SYMBOL_EMBEDDING_SYNC) {
        *part = (kind - SYMBOL_SEND_FORWARD) % PART_COUNT;
        return kind < SYMBOL_SEND_BACKWARD ? EVENT_SEND_FORWARD : EVENT_SEND_BACKWARD;
    }
    if (kind == SYMBOL_QUEUED_SYNC) return EVENT_SYNC;
    for (int i = 0; i < EVENT_KIND_COUNT; i++)
        if (of_event[i].symbol == kind) return (enum run_event_kind)i;
    return EVENT_FORWARD;
}

// ---- rows

// Of a message, in a run of PyTorch: what a rank does for it at its ends is no part of its event.
static int64_t message_ns(const struct against *a, int symbol, int stage)
{
    const int64_t *durations = a->predicted.durations;
    int stages = a->plan->stage_count;
    int64_t end = durations[symbol_index(stages, symbol + PART_OVERHEAD, stage)], sum = end;
    for (int part = 0; part < PART_COUNT; part++)
        sum += durations[symbol_index(stages, symbol + part, stage)];
    return a->run->with == RUNNER_TORCH ? sum - 2 * end : sum;
}

static int64_t predicted_of(const struct against *a, enum run_event_kind kind, int stage, int slice)
{
    const struct report_replay *r = &a->predicted;
    int stages = a->plan->stage_count, symbol = symbol_of_slice(slice, of_event[kind].symbol);
    if (kind != EVENT_SEND_FORWARD && kind != EVENT_SEND_BACKWARD)
        return r->durations[symbol_index(stages, symbol, kind == EVENT_EMBEDDING_SYNC ? 0 : stage)];
    return message_ns(a, symbol, stage);
}

static void find_row(struct against *a, struct against_row row, double *ns)
{
    const struct plan_run *run = a->run;
    for (int i = 0; i < run->event_count; i++) {
        const struct run_event *e = &run->events[i];
        if (e->kind != row.kind || e->stage != row.stage || e->slice != row.slice) continue;
        ns[row.count++] = (double)(e->end_ns - e->start_ns);
        row.rank = e->rank;
    }
    if (!row.count) return;
    qsort(ns, (size_t)row.count, sizeof *ns, compare_numbers);
    median_interval(ns, row.count, 0.95, &row.measured_ns, &row.low_ns, &row.high_ns);
    row.predicted_ns = predicted_of(a, row.kind, row.stage, row.slice);
    a->rows[a->row_count++] = row;
}

static void find_rows(struct against *a, struct arena *arena)
{
    int slices = a->plan->layout.slice_count;
    double *ns = TAKE(arena, a->run->event_count, double);
    a->rows = TAKE(arena, EVENT_KIND_COUNT * a->plan->stage_count * slices, struct against_row);
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++)
        for (int stage = 0; stage < a->plan->stage_count; stage++)
            for (int slice = 0; slice < slices; slice++)
                find_row(a,
                         (struct against_row){
                             .kind = (enum run_event_kind)kind, .stage = stage, .slice = slice},
                         ns);
}

// ---- the typical iteration

// Events of one iteration of one replica by operation: [kind][stage][micro-batch, or 0][slice]. Of
// tensor ranks the one that ended last.
struct lookup {
    const struct run_event **at;
    int stages, micro_batches, slices;
};

static const struct run_event **place(const struct lookup *l, enum run_event_kind kind, int stage,
                                      int micro_batch, int slice)
{
    int each = micro_batch < 0 ? 0 : micro_batch;
    size_t at = ((size_t)kind * (size_t)l->stages + (size_t)stage) * (size_t)l->micro_batches +
                (size_t)each;
    return &l->at[at * (size_t)l->slices + (size_t)slice];
}

static struct lookup look_up(struct against *a, int iteration, struct arena *arena)
{
    const struct plan_run *run = a->run;
    struct lookup l = {NULL, a->plan->stage_count, a->plan->micro_batches,
                       a->plan->layout.slice_count};
    size_t each = (size_t)l.micro_batches * (size_t)l.slices;
    l.at =
        TAKE(arena, (size_t)EVENT_KIND_COUNT * (size_t)l.stages * each, const struct run_event *);
    int64_t last = -1;
    for (int i = 0; i < run->event_count; i++) {
        const struct run_event *e = &run->events[i];
        if (e->iteration != iteration || e->end_ns <= last) continue;
        last = e->end_ns;
        a->replica = e->replica;
    }
    for (int i = 0; i < run->event_count; i++) {
        const struct run_event *e = &run->events[i];
        if (e->iteration != iteration || e->replica != a->replica) continue;
        const struct run_event **at = place(
            &l, e->kind, e->kind == EVENT_EMBEDDING_SYNC ? 0 : e->stage, e->micro_batch, e->slice);
        if (!*at || e->end_ns > (*at)->end_ns) *at = e;
    }
    return l;
}

static const struct run_event *event_at(const struct against *a, const struct lookup *l,
                                        int operation, int *part)
{
    const struct operation *o = &a->predicted.schedule.operations[operation];
    enum run_event_kind kind = event_of(o->symbol / l->stages, part);
    return *place(l, kind, o->symbol % l->stages, o->micro_batch,
                  symbol_slice(o->symbol / l->stages));
}

// A part's share of a message as predicted; all of it where nothing was.
static int64_t share_of(const struct against *a, int operation, int part, int64_t measured)
{
    const struct report_replay *r = &a->predicted;
    int stages = a->plan->stage_count, symbol = r->schedule.operations[operation].symbol,
        kind = symbol / stages - part;
    int64_t sum = message_ns(a, kind, symbol % stages), own = r->durations[symbol];
    if (part == PART_OVERHEAD && a->run->with == RUNNER_TORCH) return own;
    if (sum) return (int64_t)((double)measured * (double)own / (double)sum);
    for (int i = 0; i < part; i++)
        if (r->schedule.request.parts[i]) return 0;
    return measured;
}

// Durations with those of the first `steps` steps as measured.
static void take_measured(int64_t *each_ns, const struct against *a, const struct lookup *l,
                          int steps)
{
    for (int i = 0; i < a->predicted.schedule.operation_count; i++) {
        int part;
        const struct run_event *e = event_at(a, l, i, &part);
        each_ns[i] = a->predicted.durations[a->predicted.schedule.operations[i].symbol];
        if (!e || (int)of_event[e->kind].step >= steps) continue;
        int64_t took = e->end_ns - e->start_ns;
        each_ns[i] = part < 0 ? took : share_of(a, i, part, took);
    }
}

// The chart of what was: where the replay has an operation without an event, it keeps its place.
static void put_measured(struct against *a, const struct lookup *l)
{
    struct report_replay *m = &a->measured;
    for (int i = 0; i < m->schedule.operation_count; i++) {
        int part;
        const struct run_event *e = event_at(a, l, i, &part);
        if (!e) continue;
        m->start_ns[i] = e->start_ns, m->end_ns[i] = e->end_ns;
        if (e->end_ns > m->span_ns) m->span_ns = e->end_ns;
    }
    m->iteration_ns = a->measured_ns;
    m->path_length = 0;
}

enum status against_find(struct against *a, const struct plan *plan, const struct plan_run *run,
                         struct arena *arena, struct error *err)
{
    *a = (struct against){.plan = plan, .run = run};
    TRY(report_expect_stages(plan, err));
    TRY(plan_run_check(run, plan, err));
    TRY(report_replay(&a->predicted, plan, arena, err));
    find_rows(a, arena);
    int typical = plan_run_typical(run, arena);
    a->measured_ns = a->low_ns = a->high_ns = run->iterations[typical].ns;
    for (int i = 0; i < run->iteration_count; i++) {
        int64_t ns = run->iterations[i].ns;
        a->low_ns = ns < a->low_ns ? ns : a->low_ns;
        a->high_ns = ns > a->high_ns ? ns : a->high_ns;
    }
    struct lookup l = look_up(a, typical, arena);
    int64_t before = a->predicted.iteration_ns;
    for (int step = 0; step < AGAINST_MODEL; step++) {
        int64_t *each_ns = TAKE(arena, a->predicted.schedule.operation_count, int64_t);
        take_measured(each_ns, a, &l, step + 1);
        TRY(report_replay(&a->measured, plan, arena, err));
        TRY(report_replay_again(&a->measured, plan, each_ns, arena, err));
        a->each_ns = each_ns;
        a->steps_ns[step] = a->measured.iteration_ns - before;
        before = a->measured.iteration_ns;
    }
    a->steps_ns[AGAINST_MODEL] = a->measured_ns - before;
    put_measured(a, &l);
    return OK;
}
