// One iteration of a plan on one rank: its compute stream in the plan's order, then syncs and
// optimizer steps.
#include <stdlib.h>

#include "data/base/grow.h"
#include "data/base/least.h"
#include "data/numbers/intervals.h"
#include "measure/run/running.h"

static double repeat(struct running *r, int cell)
{
    struct cell_times *t = &r->times[cell];
    if (r->replays) return t->lower_s;
    GROW(r->arena, t->seconds, t->count, t->capacity, 64);
    return t->seconds[t->count++] = r->backend->repeat(r->session, &r->cells[cell]);
}

static void run_pass(struct running *r, enum run_event_kind kind, int stage, int micro_batch)
{
    const struct pass_work *work = &r->stages[stage].passes[kind];
    struct run_event e = {.kind = kind, .stage = stage, .micro_batch = micro_batch};
    e.start_ns = r->now_ns, e.wall_start_ns = run_wall_ns(r);
    double seconds = 0;
    for (int i = 0; i < work->count; i++)
        if (work->cells[i] >= 0) seconds += repeat(r, work->cells[i]);
    r->now_ns += (int64_t)(1e9 * seconds + 0.5);
    if (kind != EVENT_FORWARD) r->gradient_ns[stage] = r->now_ns;
    e.end_ns = r->now_ns, e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
}

// ---- messages of a pass

static bool crosses(const struct running *r, int boundary)
{
    return boundary >= 0 && boundary + 1 < r->plan->stage_count &&
           !schedule_is_inner(&r->schedule.request, boundary);
}

static int process_of(const struct running *r, int stage)
{
    return run_process(r, r->replica, schedule_rank_of(&r->schedule.request, stage));
}

static struct stamp stamp_of(const struct running *r, bool forward, int boundary, int micro_batch)
{
    return (struct stamp){.ready_ns = r->now_ns,
                          .kind = forward ? EVENT_SEND_FORWARD : EVENT_SEND_BACKWARD,
                          .stage = boundary,
                          .micro_batch = micro_batch};
}

static void take_message(struct running *r, enum run_event_kind pass, int stage, int micro_batch)
{
    bool forward = pass == EVENT_FORWARD;
    int boundary = forward ? stage - 1 : stage;
    if (pass == EVENT_WEIGHT || !crosses(r, boundary)) return;
    struct stamp wanted = stamp_of(r, forward, boundary, micro_batch);
    wanted.ready_ns = 0;
    r->now_ns =
        larger(r->now_ns, run_receive(r, &wanted, process_of(r, forward ? stage - 1 : stage + 1),
                                      r->stages[boundary].message_bytes));
}

static void send_message(struct running *r, enum run_event_kind pass, int stage, int micro_batch)
{
    bool forward = pass == EVENT_FORWARD;
    int boundary = forward ? stage : stage - 1;
    if (pass == EVENT_WEIGHT || !crosses(r, boundary)) return;
    run_send(r, stamp_of(r, forward, boundary, micro_batch),
             process_of(r, forward ? stage + 1 : stage - 1), r->stages[boundary].message_bytes);
}

// A message for which both ends wait, at this place of their streams; the receiver answers when it
// is over.
static void exchange(struct running *r, int kind, int boundary, int micro_batch)
{
    bool forward = kind < SYMBOL_SEND_BACKWARD;
    int from = process_of(r, forward ? boundary : boundary + 1),
        to = process_of(r, forward ? boundary + 1 : boundary);
    struct stamp stamp = stamp_of(r, forward, boundary, micro_batch);
    if (r->self == from) {
        run_send(r, stamp, to, r->stages[boundary].message_bytes);
        r->now_ns = run_answer(r, &stamp, to);
    } else {
        r->now_ns = run_receive(r, &stamp, from, r->stages[boundary].message_bytes);
        stamp.ready_ns = r->now_ns;
        run_send(r, stamp, from, 0);
    }
}

// The rank's stages, that of the pass last.
static void note_gradient(struct running *r, int stage)
{
    int at = 0;
    while (r->own[at] != stage) at++;
    for (; at + 1 < r->own_count; at++) r->own[at] = r->own[at + 1];
    r->own[at] = stage;
}

static void walk_compute(struct running *r)
{
    const struct schedule *s = &r->schedule;
    const struct stream *stream = s->streams;
    int stages = s->request.stage_count;
    bool blocks = s->request.parts[PART_BLOCKING];
    while (stream->kind != STREAM_COMPUTE || stream->rank != r->rank) stream++;
    for (int i = 0; i < stream->count; i++) {
        const struct operation *o = &s->operations[stream->operations[i]];
        int kind = symbol_base_kind(o->symbol / stages), at = o->symbol % stages;
        if (kind <= SYMBOL_WEIGHT) {
            enum run_event_kind pass = (enum run_event_kind)kind;
            if (!blocks) take_message(r, pass, at, o->micro_batch);
            run_pass(r, pass, at, o->micro_batch);
            if (pass != EVENT_FORWARD) note_gradient(r, at);
            if (!blocks) send_message(r, pass, at, o->micro_batch);
        } else if (kind >= SYMBOL_SEND_FORWARD && kind < SYMBOL_EMBEDDING_SYNC &&
                   (kind - SYMBOL_SEND_FORWARD) % PART_COUNT == PART_BLOCKING)
            exchange(r, kind, at, o->micro_batch);
    }
}

// ---- the ending

static void sync_stage(struct running *r, int stage)
{
    bool early = r->schedule.request.sync_overlapped;
    int members[STAGES_MAX], rank = schedule_rank_of(&r->schedule.request, stage);
    const struct plan_placement *p = r->plan->placement;
    for (int d = 0; d < r->replicas; d++)
        members[d] = run_process(r, p ? p->rings[stage * r->replicas + d] : d, rank);
    struct run_event e = {.kind = EVENT_SYNC, .stage = stage, .micro_batch = -1};
    e.start_ns = larger(r->sync_ns, early ? r->gradient_ns[stage] : r->now_ns);
    e.wall_start_ns = run_wall_ns(r);
    r->sync_ns = r->synced_ns[stage] =
        run_ring(r, members, r->replicas, stage, r->stages[stage].gradient_bytes, e.start_ns);
    e.end_ns = r->sync_ns, e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
}

static void sync_embedding(struct running *r)
{
    int last = r->plan->stage_count - 1;
    const int members[] = {process_of(r, 0), process_of(r, last)};
    const struct shape *shape = &r->problem->model.shape;
    if (members[0] == members[1] || (r->self != members[0] && r->self != members[1])) return;
    int own = r->self == members[0] ? 0 : last;
    struct run_event e = {.kind = EVENT_EMBEDDING_SYNC, .stage = own, .micro_batch = -1};
    e.start_ns = larger(r->sync_ns, larger(r->now_ns, r->synced_ns[own]));
    e.wall_start_ns = run_wall_ns(r);
    r->sync_ns = r->synced_ns[own] = run_ring(
        r, members, 2, STAGES_MAX,
        shape->vocabulary * shape->hidden * r->problem->job.gradient_bytes_per_value, e.start_ns);
    e.end_ns = r->sync_ns, e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
}

static void step(struct running *r, int stage)
{
    struct run_event e = {.kind = EVENT_OPTIMIZER, .stage = stage, .micro_batch = -1};
    if (r->stages[stage].optimizer < 0) return;
    r->now_ns = larger(r->now_ns, r->synced_ns[stage]);
    e.start_ns = r->now_ns, e.wall_start_ns = run_wall_ns(r);
    r->now_ns += (int64_t)(1e9 * repeat(r, r->stages[stage].optimizer) + 0.5);
    e.end_ns = r->now_ns, e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
}

static void walk_ending(struct running *r)
{
    for (int i = 0; i < r->own_count && r->replicas > 1; i++) sync_stage(r, r->own[i]);
    if (r->schedule.request.embedding_sync) sync_embedding(r);
    for (int i = 0; i < r->own_count; i++) step(r, r->own[i]);
}

// ---- the iteration

static void walk(struct running *r)
{
    for (int s = 0; s < r->plan->stage_count; s++) r->synced_ns[s] = r->gradient_ns[s] = 0;
    ranks_meet(r->ranks);
    if (!r->replays) r->wall_zero_s = clock_seconds();
    walk_compute(r);
    walk_ending(r);
    run_settle(r);
}

// Times of a warm-up are not kept.
static void begin(struct running *r)
{
    for (int c = 0; c < r->cell_count; c++) {
        if (r->iteration <= 0) r->times[c].count = 0;
        r->times[c].first = r->times[c].count;
    }
    for (int i = 0; i < r->lanes.count; i++)
        r->lanes.items[i].free_before_ns = r->lanes.items[i].free_ns;
    r->carried.at = r->carried.count;
    r->additions.count = r->additions.at = 0;
}

static void find_lower(struct running *r)
{
    for (int c = 0; c < r->cell_count; c++) {
        struct cell_times *t = &r->times[c];
        int count = t->count - t->first;
        double low, high, *sorted = TAKE_COPY(r->arena, t->seconds + t->first, count);
        if (!count) continue;
        qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
        t->lower_s = lower_tenth(sorted, count, 0.95, &low, &high);
    }
}

void run_iterate(struct running *r, int64_t *end_ns)
{
    int64_t now_ns = r->now_ns, sync_ns = r->sync_ns;
    begin(r);
    walk(r);
    r->wall_end_ns = run_wall_ns(r);
    if (r->shared) {
        find_lower(r);
        r->now_ns = now_ns, r->sync_ns = sync_ns;
        for (int i = 0; i < r->lanes.count; i++)
            r->lanes.items[i].free_ns = r->lanes.items[i].free_before_ns;
        r->replays = true;
        walk(r);
        r->replays = false;
    }
    *end_ns = larger(r->now_ns, r->sync_ns);
}
