// Replays a plan's claims on its schedule. Operations are visited in an order of the graph: each
// passes its end to its successors, and the latest end is what an operation waited for.
#include <string.h>

#include "solve/report/report.h"

static void set_slice(int64_t *durations, int stages, int stage, int slice,
                      const struct plan_slice *x)
{
    durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_FORWARD), stage)] = x->forward_ns;
    durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_BACKWARD), stage)] =
        x->backward_ns;
    for (int part = 0; part < PART_COUNT; part++) {
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_SEND_FORWARD) + part, stage)] =
            x->send_forward_ns[part];
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD) + part,
                               stage)] = x->send_backward_ns[part];
    }
}

static void set_durations(int64_t *durations, const struct plan *plan)
{
    int p = plan->stage_count;
    for (int s = 0; s < p; s++) {
        const struct plan_stage *stage = &plan->stages[s];
        durations[symbol_index(p, SYMBOL_WEIGHT, s)] = stage->weight_ns;
        durations[symbol_index(p, SYMBOL_SYNC, s)] = stage->sync_ns;
        durations[symbol_index(p, SYMBOL_QUEUED_SYNC, s)] = stage->queued_sync_ns;
        durations[symbol_index(p, SYMBOL_OPTIMIZER, s)] = stage->optimizer_ns;
        durations[symbol_index(p, SYMBOL_AWAY, s)] = stage->away_ns;
        durations[symbol_index(p, SYMBOL_BACK, s)] = stage->back_ns;
        for (int part = 0; part < PART_COUNT; part++)
            durations[symbol_index(p, SYMBOL_SEND_EPILOGUE + part, s)] =
                stage->send_epilogue_ns[part];
        for (int i = 0; i < plan->layout.slice_count; i++)
            set_slice(durations, p, s, i, &stage->slices[i]);
    }
    durations[symbol_index(p, SYMBOL_EMBEDDING_SYNC, 0)] = plan->embedding_sync_ns;
}

// Successors on streams (an operation is on at most two) and by dependence (a list per operation).
struct followers {
    int *on_stream[2];
    int *first_dependence, *next_dependence; // [operation], [dependence]
};

static struct followers find_followers(const struct schedule *s, struct arena *arena)
{
    struct followers f = {
        {TAKE(arena, s->operation_count, int), TAKE(arena, s->operation_count, int)},
        TAKE(arena, s->operation_count, int),
        TAKE(arena, s->dependence_count, int)};
    for (int i = 0; i < s->operation_count; i++)
        f.on_stream[0][i] = f.on_stream[1][i] = f.first_dependence[i] = -1;
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++) {
            int before = s->streams[i].operations[k - 1];
            f.on_stream[f.on_stream[0][before] >= 0][before] = s->streams[i].operations[k];
        }
    for (int i = s->dependence_count - 1; i >= 0; i--) {
        f.next_dependence[i] = f.first_dependence[s->dependences[i].before];
        f.first_dependence[s->dependences[i].before] = i;
    }
    return f;
}

static void tell(struct report_replay *r, int *waited_for, int before, int after)
{
    if (after < 0 || r->start_ns[after] > r->end_ns[before]) return;
    if (waited_for[after] >= 0 && r->start_ns[after] == r->end_ns[before]) return;
    r->start_ns[after] = r->end_ns[before];
    waited_for[after] = before;
}

// So that no sum can overflow.
static bool times_add_up(const struct report_replay *r)
{
    int64_t sum = 0;
    for (int i = 0; i < r->schedule.operation_count; i++)
        if (__builtin_add_overflow(sum, report_duration_of(r, i), &sum)) return false;
    return r->schedule.request.barrier || sum < INT64_MAX / 128; // enough room for repetitions
}

static void trace_back(struct report_replay *r, const int *waited_for)
{
    int last = 0, count = 0;
    for (int i = 1; i < r->schedule.operation_count; i++)
        if (r->end_ns[i] > r->end_ns[last]) last = i;
    r->span_ns = r->end_ns[last];
    for (int i = last; i >= 0; i = waited_for[i]) count++;
    r->path_length = count;
    for (int i = last; i >= 0; i = waited_for[i]) r->path[--count] = i;
}

// One iteration: start_ns[] holds the constraints on starts from outside the iteration.
static void play(struct report_replay *r, const struct followers *f, const int *order,
                 int *waited_for)
{
    int n = r->schedule.operation_count;
    for (int i = 0; i < n; i++) waited_for[i] = -1;
    for (int k = 0; k < n; k++) {
        int i = order[k];
        r->end_ns[i] = r->start_ns[i] + report_duration_of(r, i);
        tell(r, waited_for, i, f->on_stream[0][i]);
        tell(r, waited_for, i, f->on_stream[1][i]);
        for (int d = f->first_dependence[i]; d >= 0; d = f->next_dependence[d])
            tell(r, waited_for, i, r->schedule.dependences[d].after);
    }
}

// Iterations in sequence until the slowest operation repeats with a constant period. If this does
// not happen soon, the plan's claim is kept.
static void repeat(struct report_replay *r, const struct followers *f, const int *order,
                   int *waited_for, int64_t claimed_ns, struct arena *arena)
{
    enum { ITERATIONS_MAX = 64, ENOUGH = 6 };
    const struct schedule *s = &r->schedule;
    int n = s->operation_count, same = 0;
    int64_t *begin = TAKE(arena, n, int64_t), first = INT64_MAX;
    r->iteration_ns = 0;
    for (int k = 0; k < ITERATIONS_MAX && same < ENOUGH; k++) {
        int64_t growth = 0;
        for (int i = 0; i < s->carried_count; i++) {
            int64_t *at = &begin[s->carried[i].after], end = r->end_ns[s->carried[i].before];
            if (end > *at) *at = end;
        }
        for (int i = 0; i < s->carried_count; i++) {
            int after = s->carried[i].after;
            if (begin[after] - r->start_ns[after] > growth)
                growth = begin[after] - r->start_ns[after];
        }
        same = growth == r->iteration_ns ? same + 1 : 0;
        r->iteration_ns = growth;
        memcpy(r->start_ns, begin, (size_t)n * sizeof *begin);
        play(r, f, order, waited_for);
        for (int i = 0; i < s->carried_count; i++)
            begin[s->carried[i].after] = r->start_ns[s->carried[i].after];
    }
    if (same < ENOUGH) r->iteration_ns = claimed_ns;
    for (int i = 0; i < n; i++)
        if (r->start_ns[i] < first) first = r->start_ns[i];
    for (int i = 0; i < n; i++) {
        r->start_ns[i] -= first;
        r->end_ns[i] -= first;
    }
}

enum status report_replay(struct report_replay *r, const struct plan *plan, struct arena *arena,
                          struct error *err)
{
    struct schedule_request request = plan_request(plan);
    *r = (struct report_replay){
        .durations =
            TAKE(arena, symbol_count(plan->stage_count, plan->layout.slice_count), int64_t)};
    TRY(schedule_build(&r->schedule, &request, arena, err));
    set_durations(r->durations, plan);
    return report_replay_again(r, plan, NULL, arena, err);
}

enum status report_replay_again(struct report_replay *r, const struct plan *plan,
                                const int64_t *each_ns, struct arena *arena, struct error *err)
{
    int n = r->schedule.operation_count, *order = TAKE(arena, n, int),
        *waited_for = TAKE(arena, n, int);
    bool barrier = r->schedule.request.barrier;
    r->each_ns = each_ns;
    if (!times_add_up(r)) return refuse(err, "the plan's times add up to more than 2^63 ns");
    r->start_ns = TAKE(arena, n, int64_t);
    r->end_ns = TAKE(arena, n, int64_t);
    r->path = TAKE(arena, n, int);
    TRY(schedule_order(&r->schedule, order, arena, err));
    struct followers f = find_followers(&r->schedule, arena);
    play(r, &f, order, waited_for);
    if (!barrier) repeat(r, &f, order, waited_for, plan->iteration_ns, arena);
    trace_back(r, waited_for);
    if (barrier) r->iteration_ns = r->span_ns;
    return OK;
}
