// A schedule's tables: operations, streams and dependences of one iteration, built from the order
// of each rank's turns. The rules that all schedules share are in the files next to this one:
// turns.c, the conditions on an order and what is in flight; messages.c, what is sent; streams.c,
// the order of the work of each rank; ending.c, what ends an iteration and joins it to the next
// (docs/FORMULAS.md 14).
#include "data/schedule/schedule.h"

#include "data/schedule/builder.h"

enum { OPERATIONS_MAX = 1 << 24 };

int add_operation(struct builder *b, int kind, int symbol_stage, int stage, int micro_batch)
{
    struct schedule *s = b->schedule;
    assert((unsigned)stage < (unsigned)b->request->stage_count);
    s->operations[s->operation_count] = (struct operation){
        symbol_index(b->request->stage_count, kind, symbol_stage), stage, micro_batch};
    return s->operation_count++;
}

void add_dependence(struct builder *b, int before, int after)
{
    unsigned count = (unsigned)b->schedule->operation_count;
    assert((unsigned)before < count && (unsigned)after < count && before != after);
    b->schedule->dependences[b->schedule->dependence_count++] = (struct dependence){before, after};
}

struct stream *add_stream(struct builder *b, enum stream_kind kind, int rank, int to_rank,
                          int capacity)
{
    struct stream *stream = &b->schedule->streams[b->schedule->stream_count++];
    *stream = (struct stream){kind, rank, to_rank, TAKE(b->arena, capacity, int), 0};
    return stream;
}

int boundary_in(const struct builder *b, const struct turn *t, int stage)
{
    const struct schedule_request *r = b->request;
    if (t->pass == PASS_FORWARD) return stage > 0 && schedule_sends(r, stage - 1) ? stage - 1 : -1;
    bool has_next = t->pass == PASS_BACKWARD && stage < r->stage_count - 1;
    return has_next && !schedule_is_inner(r, stage) && !schedule_is_local(r, stage) ? stage : -1;
}

int boundary_out(const struct builder *b, const struct turn *t, int stage)
{
    const struct schedule_request *r = b->request;
    if (t->pass == PASS_FORWARD)
        return stage < r->stage_count - 1 && schedule_sends(r, stage) ? stage : -1;
    bool has_previous = t->pass == PASS_BACKWARD && stage > 0;
    return has_previous && !schedule_is_inner(r, stage - 1) && !schedule_is_local(r, stage - 1)
               ? stage - 1
               : -1;
}

static void make_room(struct builder *b, size_t operation_max)
{
    struct schedule *s = b->schedule;
    const struct schedule_request *r = b->request;
    size_t p = (size_t)r->rank_count, stages = (size_t)r->stage_count,
           passes = stages * (size_t)r->micro_batches * (size_t)r->slice_count;
    s->operations = TAKE(b->arena, operation_max, struct operation);
    s->dependences =
        TAKE(b->arena, 2 * passes * (MESSAGE_OPERATIONS + 4) + 8 * stages + 4, struct dependence);
    s->streams = TAKE(b->arena, 4 * p + 4, struct stream);
    s->in_flight = TAKE(b->arena, stages, int);
    b->compute = TAKE(b->arena, PASS_COUNT * passes, int);
    b->message = TAKE(b->arena, 2 * passes * MESSAGE_OPERATIONS, int);
    b->link_count = TAKE(b->arena, p * p, int);
    b->compute_stream = TAKE(b->arena, p, struct stream *);
    for (size_t i = 0; i < 2 * passes * MESSAGE_OPERATIONS; i++) b->message[i] = -1;
}

// The shapes that a schedule's generator can write.
static enum status check_shape(const struct schedule_request *r, struct error *err)
{
    assert(r->rank_count >= 1 && r->virtual_stages >= 1 && r->slice_count >= 1 &&
           r->micro_batches >= 1);
    assert(!r->across_passes || (r->virtual_stages == 1 && r->slice_count == 1 && r->barrier &&
                                 !schedule_splits_backward(r->kind)));
    assert(r->stage_count == r->rank_count * r->virtual_stages && r->slice_count <= SLICES_MAX);
    const char *name = schedule_names[r->kind];
    int wanted = schedule_kinds[r->kind].virtual_stages;
    if (wanted && r->virtual_stages != wanted)
        return refuse(err, "schedule: %s has %d stage%s a rank, not %d", name, wanted,
                      wanted > 1 ? "s" : "", r->virtual_stages);
    if (!schedule_kinds[r->kind].slices && r->slice_count > 1)
        return refuse(err, "schedule: %s passes whole sequences, not %d slices", name,
                      r->slice_count);
    return OK;
}

enum status schedule_build(struct schedule *s, const struct schedule_request *request,
                           struct arena *arena, struct error *err)
{
    TRY(check_shape(request, err));
    *s = (struct schedule){.request = *request};
    struct builder b = {.schedule = s,
                        .arena = arena,
                        .request = &s->request,
                        .passes = schedule_splits_backward(request->kind) ? 3 : 2};
    int64_t stages = request->stage_count,
            passes = (int64_t)request->micro_batches * request->slice_count, parts = 0;
    for (int i = 0; i < PART_COUNT; i++) parts += request->parts[i] * (i == PART_OVERHEAD ? 2 : 1);
    int64_t operation_max = b.passes * stages * passes + 2 * (stages - 1) * passes * parts +
                            3 * stages + 1 + (request->across_passes ? 2 * stages * passes : 0);
    if (operation_max > OPERATIONS_MAX)
        return refuse(
            err, "schedule: %lld stages and %d micro-batches make %lld operations, more than %d",
            (long long)stages, request->micro_batches, (long long)operation_max, OPERATIONS_MAX);
    make_room(&b, (size_t)operation_max);
    TRY(make_turns(&b, err));
    make_compute(&b);
    make_messages(&b);
    make_swaps(&b);
    TRY(make_compute_streams(&b, err));
    if (request->parts[PART_LINK]) make_link_streams(&b);
    make_ending(&b);
    assert(s->operation_count <= operation_max);
    struct arena_mark mark = arena_set_mark(arena);
    enum status status = schedule_order(s, TAKE(arena, s->operation_count, int), arena, err);
    arena_reset(arena, mark);
    return status;
}
