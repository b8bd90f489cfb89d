// One iteration of a plan on one rank: its compute stream in the plan's order, then syncs and
// optimizer steps.
#include <stdlib.h>

#include "data/kinds/schedules.h"
#include "data/numbers/intervals.h"
#include "measure/run/running.h"

static bool frees(const struct running *r, enum run_event_kind kind)
{
    return kind ==
           (schedule_splits_backward(r->plan->layout.schedule) ? EVENT_WEIGHT : EVENT_BACKWARD);
}

static void run_pass(struct running *r, enum run_event_kind kind, int stage, int micro_batch,
                     int slice)
{
    const struct stage_work *work = &r->stages[stage];
    struct run_event e = {.kind = kind, .stage = stage, .micro_batch = micro_batch, .slice = slice};
    e.start_ns = r->now_ns, e.wall_start_ns = run_wall_ns(r);
    if (kind == EVENT_FORWARD) run_hold(r, stage, micro_batch, slice, work->kept_bytes[slice]);
    else run_hold(r, stage, micro_batch, WORKING_PIECE, work->working_bytes);
    run_actions(r, &work->passes[kind][slice], e);
    if (kind != EVENT_FORWARD) {
        run_release(r, stage, micro_batch, WORKING_PIECE);
        r->gradient_ns[stage] = r->now_ns;
    }
    if (frees(r, kind)) run_release(r, stage, micro_batch, slice);
    e.end_ns = r->now_ns, e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
    if (r->yardstick >= 0 && !r->replays) run_repeat(r, r->yardstick); // in no time but its own
}

// ---- messages of a pass

static bool crosses(const struct running *r, int boundary)
{
    return boundary >= 0 && boundary + 1 < r->plan->stage_count &&
           !schedule_is_inner(&r->schedule.request, boundary);
}

static int process_of(const struct running *r, int stage)
{
    return run_process(r, r->replica, schedule_rank_of(&r->schedule.request, stage), r->tensor);
}

static struct stamp stamp_of(const struct running *r, bool forward, int boundary, int micro_batch,
                             int slice)
{
    return (struct stamp){.ready_ns = r->now_ns,
                          .kind = forward ? EVENT_SEND_FORWARD : EVENT_SEND_BACKWARD,
                          .stage = boundary,
                          .micro_batch = micro_batch,
                          .slice = slice};
}

static bool is_packed(const struct message_work *m, const struct stamp *s)
{
    return m->packed_bytes && s->kind == EVENT_SEND_BACKWARD &&
           (!m->drain_only || m->drains[s->micro_batch]);
}

// Packing and unpacking delay this message alone, as if beside the passes.
static void send_over(struct running *r, struct stamp stamp, int to)
{
    const struct message_work *m = &r->stages[stamp.stage].message;
    bool packed = is_packed(m, &stamp);
    if (packed) stamp.packing_ns = (int64_t)(1e9 * run_repeat(r, m->pack) + 0.5);
    stamp.ready_ns += stamp.packing_ns;
    run_send(r, stamp, to, packed ? m->packed_bytes : m->bytes[stamp.slice]);
}

static int64_t receive_over(struct running *r, const struct stamp *wanted, int from)
{
    const struct message_work *m = &r->stages[wanted->stage].message;
    bool packed = is_packed(m, wanted);
    return run_receive(r, wanted, from, packed ? m->packed_bytes : m->bytes[wanted->slice],
                       packed ? m->unpack : -1);
}

static void take_message(struct running *r, enum run_event_kind pass, int stage, int micro_batch,
                         int slice)
{
    bool forward = pass == EVENT_FORWARD;
    int boundary = forward ? stage - 1 : stage;
    if (pass == EVENT_WEIGHT || !crosses(r, boundary)) return;
    struct stamp wanted = stamp_of(r, forward, boundary, micro_batch, slice);
    wanted.ready_ns = 0;
    r->now_ns =
        larger(r->now_ns, receive_over(r, &wanted, process_of(r, forward ? stage - 1 : stage + 1)));
}

static void send_message(struct running *r, enum run_event_kind pass, int stage, int micro_batch,
                         int slice)
{
    bool forward = pass == EVENT_FORWARD;
    int boundary = forward ? stage : stage - 1;
    if (pass == EVENT_WEIGHT || !crosses(r, boundary)) return;
    send_over(r, stamp_of(r, forward, boundary, micro_batch, slice),
              process_of(r, forward ? stage + 1 : stage - 1));
}

// A message for which both ends wait, at this place of their streams; the receiver answers when it
// is over.
static void exchange(struct running *r, int kind, int boundary, int micro_batch, int slice)
{
    bool forward = kind < SYMBOL_SEND_BACKWARD;
    int from = process_of(r, forward ? boundary : boundary + 1),
        to = process_of(r, forward ? boundary + 1 : boundary);
    struct stamp stamp = stamp_of(r, forward, boundary, micro_batch, slice);
    if (r->self == from) {
        send_over(r, stamp, to);
        r->now_ns = run_answer(r, &stamp, to);
    } else {
        r->now_ns = receive_over(r, &stamp, from);
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
        int kind = symbol_base_kind(o->symbol / stages), at = o->symbol % stages,
            slice = symbol_slice(o->symbol / stages);
        if (kind <= SYMBOL_WEIGHT) {
            enum run_event_kind pass = (enum run_event_kind)kind;
            if (!blocks) take_message(r, pass, at, o->micro_batch, slice);
            run_pass(r, pass, at, o->micro_batch, slice);
            if (pass != EVENT_FORWARD) note_gradient(r, at);
            if (!blocks) send_message(r, pass, at, o->micro_batch, slice);
        } else if (kind >= SYMBOL_SEND_FORWARD && kind < SYMBOL_EMBEDDING_SYNC &&
                   (kind - SYMBOL_SEND_FORWARD) % PART_COUNT == PART_BLOCKING)
            exchange(r, kind, at, o->micro_batch, slice);
    }
}

// ---- the ending

// Overlapped, it went on beside the stage's last pass; noted is what is left of it after the pass.
static void sync_stage(struct running *r, int stage)
{
    bool overlapped = r->plan->layout.gradient_sync == SYNC_OVERLAPPED;
    struct run_event e = {.kind = EVENT_SYNC, .stage = stage, .micro_batch = -1};
    if (!r->schedule.request.sync) return;
    e.wall_start_ns = run_wall_ns(r);
    if (overlapped) {
        e.start_ns = r->gradient_ns[stage];
        r->synced_ns[stage] = larger(e.start_ns, r->beside_synced_ns[stage]);
        r->sync_ns = larger(r->sync_ns, r->synced_ns[stage]);
    } else {
        e.start_ns = r->sync_ns = larger(r->sync_ns, r->now_ns);
        run_sync(r, &r->stages[stage].sync, stage, &e.start_ns);
        r->synced_ns[stage] = r->sync_ns;
    }
    e.end_ns = r->synced_ns[stage], e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
}

static void sync_embedding(struct running *r)
{
    int last = r->plan->stage_count - 1,
        own = schedule_rank_of(&r->schedule.request, 0) == r->rank ? 0 : last;
    struct run_event e = {.kind = EVENT_EMBEDDING_SYNC, .stage = own, .micro_batch = -1};
    if (!run_in_embedding_ring(r)) return;
    e.start_ns = larger(r->sync_ns, larger(r->now_ns, r->synced_ns[own]));
    e.wall_start_ns = run_wall_ns(r);
    r->sync_ns = r->synced_ns[own] =
        run_embedding_ring(r, r->stages[0].embedding_sync.items, e.start_ns);
    e.start_ns = r->ring_begun_ns;
    e.end_ns = r->sync_ns, e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
}

static void step(struct running *r, int stage)
{
    struct run_event e = {.kind = EVENT_OPTIMIZER, .stage = stage, .micro_batch = -1};
    if (r->stages[stage].optimizer < 0) return;
    r->now_ns = larger(r->now_ns, r->synced_ns[stage]);
    e.start_ns = r->now_ns, e.wall_start_ns = run_wall_ns(r);
    r->now_ns += (int64_t)(1e9 * run_repeat(r, r->stages[stage].optimizer) + 0.5);
    e.end_ns = r->now_ns, e.wall_end_ns = run_wall_ns(r);
    run_note(r, e);
}

static void walk_ending(struct running *r)
{
    bool alone = r->replicas == 1 && run_ring_size(r, RING_OF_COPIES) == 1;
    for (int i = 0; i < r->own_count && !alone; i++) sync_stage(r, r->own[i]);
    if (r->schedule.request.embedding_sync) sync_embedding(r);
    for (int i = 0; i < r->own_count; i++) step(r, r->own[i]);
}

// ---- the iteration

static void walk(struct running *r)
{
    for (int s = 0; s < r->plan->stage_count; s++)
        r->synced_ns[s] = r->gradient_ns[s] = r->beside_synced_ns[s] = 0;
    ranks_meet(r->ranks);
    if (!r->replays) r->wall_zero_s = clock_s();
    walk_compute(r);
    walk_ending(r);
    run_settle(r);
}

// Times of a warm-up are not kept.
static void begin(struct running *r)
{
    for (int c = 0; c < r->cell_count && r->iteration <= 0; c++) r->times[c].count = 0;
    for (int i = 0; i < r->lanes.count; i++)
        r->lanes.items[i].free_before_ns = r->lanes.items[i].free_ns;
    r->carried.at = r->carried.count;
    r->additions.count = r->additions.at = 0;
}

static void find_lower(struct running *r)
{
    for (int c = 0; c < r->cell_count; c++) {
        struct cell_times *t = &r->times[c];
        if (!t->count) continue;
        struct arena_mark mark = arena_set_mark(r->arena);
        double low, high, *sorted = TAKE_COPY(r->arena, t->seconds, t->count);
        qsort(sorted, (size_t)t->count, sizeof *sorted, compare_numbers);
        t->lower_s = lower_tenth(sorted, t->count, 0.95, &low, &high);
        arena_reset(r->arena, mark);
    }
}

void run_iterate(struct running *r, int64_t *end_ns)
{
    int64_t now_ns = r->now_ns, sync_ns = r->sync_ns;
    begin(r);
    walk(r);
    r->wall_end_ns = run_wall_ns(r);
    find_lower(r);
    if (r->shared) {
        r->now_ns = now_ns, r->sync_ns = sync_ns;
        for (int i = 0; i < r->lanes.count; i++)
            r->lanes.items[i].free_ns = r->lanes.items[i].free_before_ns;
        r->replays = true;
        walk(r);
        r->replays = false;
    }
    *end_ns = larger(r->now_ns, r->sync_ns);
}
