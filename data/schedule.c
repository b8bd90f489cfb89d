// A schedule's tables: operations, streams and dependences of one iteration, from the order of each stage's turns. The
// rules that all schedules share stand here: a message is up to three operations in series; a blocking one stands in both
// ends' compute streams; gradient syncs, embedding sync and optimizer follow the last backward (docs/ARCHITECTURE.md 2).
#include "data/schedule.h"

#include <assert.h>
#include <stdint.h>

#include "data/schedules/turns.h"

enum { OPERATIONS_MAX = 1 << 24 };

struct builder {
    struct schedule *schedule;
    struct arena *arena;
    int stage_count, micro_batches;
    struct turn **turns;            // [stage][2 x micro_batches]
    int *compute;                   // [(pass x stage_count + stage) x micro_batches + micro_batch]: operation
    int *message;                   // [((pass x stage_count + boundary) x micro_batches + micro_batch) x PART_COUNT + part], -1: none
};

static int compute_of(const struct builder *b, enum pass pass, int stage, int micro_batch)
{
    return b->compute[((size_t)pass * (size_t)b->stage_count + (size_t)stage) * (size_t)b->micro_batches +
                      (size_t)micro_batch];
}

static int *message_of(const struct builder *b, enum pass pass, int boundary, int micro_batch)
{
    size_t place =
        ((size_t)pass * (size_t)b->stage_count + (size_t)boundary) * (size_t)b->micro_batches + (size_t)micro_batch;
    return &b->message[place * PART_COUNT];
}

static int add_operation(struct builder *b, int kind, int symbol_stage, int stage, int micro_batch)
{
    struct schedule *s = b->schedule;
    s->operations[s->operation_count] =
        (struct operation){symbol_index(b->stage_count, kind, symbol_stage), stage, micro_batch};
    return s->operation_count++;
}

static void add_dependence(struct builder *b, int before, int after)
{
    b->schedule->dependences[b->schedule->dependence_count++] = (struct dependence){before, after};
}

static struct stream *add_stream(struct builder *b, enum stream_kind kind, int stage, int capacity)
{
    struct stream *stream = &b->schedule->streams[b->schedule->stream_count++];
    *stream = (struct stream){kind, stage, TAKE(b->arena, capacity, int), 0};
    return stream;
}

static void put(struct stream *stream, int operation) { stream->operations[stream->count++] = operation; }

// Which message a turn waits for, or sends: the boundary, or -1 at the ends of the pipeline.
static int boundary_in(const struct builder *b, struct turn t, int stage)
{
    return t.pass == PASS_FORWARD ? stage - 1 : stage < b->stage_count - 1 ? stage : -1;
}

static int boundary_out(const struct builder *b, struct turn t, int stage)
{
    return t.pass == PASS_BACKWARD ? stage - 1 : stage < b->stage_count - 1 ? stage : -1;
}

static void make_room(struct builder *b, size_t operation_max)
{
    struct schedule *s = b->schedule;
    size_t p = (size_t)b->stage_count, m = (size_t)b->micro_batches;
    s->operations = TAKE(b->arena, operation_max, struct operation);
    s->dependences = TAKE(b->arena, 2 * p * m * (PART_COUNT + 1) + 4 * p + 4, struct dependence);
    s->streams = TAKE(b->arena, 4 * p, struct stream);
    s->in_flight = TAKE(b->arena, p, int);
    b->turns = TAKE(b->arena, p, struct turn *);
    b->compute = TAKE(b->arena, PASS_COUNT * p * m, int);
    b->message = TAKE(b->arena, PASS_COUNT * p * m * PART_COUNT, int);
    for (size_t i = 0; i < PASS_COUNT * p * m * PART_COUNT; i++) b->message[i] = -1;
}

// Every micro-batch forward once and, later, backward once.
static enum status check_turns(const struct builder *b, int stage, struct error *err)
{
    struct arena_mark mark = arena_set_mark(b->arena);
    int *passes_done = TAKE(b->arena, b->micro_batches, int);
    enum status status = OK;
    for (int i = 0; i < 2 * b->micro_batches && status == OK; i++) {
        struct turn t = b->turns[stage][i];
        assert(t.micro_batch >= 0 && t.micro_batch < b->micro_batches);
        if (passes_done[t.micro_batch]++ != (int)t.pass)
            status = fail(err, BAD_INPUT, "schedule: stage %d, micro-batch %d: its %s is out of order or comes twice",
                          stage, t.micro_batch, t.pass == PASS_FORWARD ? "forward" : "backward");
    }
    arena_reset(b->arena, mark);
    return status;
}

// Most micro-batches that were started forward and not yet released by their backward.
static int count_in_flight(const struct builder *b, int stage)
{
    int now = 0, most = 0;
    for (int i = 0; i < 2 * b->micro_batches; i++) {
        now += b->turns[stage][i].pass == PASS_FORWARD ? 1 : -1;
        if (now > most) most = now;
    }
    return most;
}

static enum status make_turns(struct builder *b, struct error *err)
{
    turn_generator *const generators[] = {[SCHEDULE_GPIPE] = gpipe_turns, [SCHEDULE_1F1B] = one_f_one_b_turns};
    if ((size_t)b->schedule->request.kind >= ARRAY_LENGTH(generators))
        return fail(err, UNAVAILABLE, "schedule: %s has no generator", schedule_names[b->schedule->request.kind]);
    turn_generator *generate = generators[b->schedule->request.kind];
    for (int s = 0; s < b->stage_count; s++) {
        b->turns[s] = TAKE(b->arena, 2 * b->micro_batches, struct turn);
        generate(b->turns[s], &b->schedule->request, s);
        TRY(check_turns(b, s, err));
        b->schedule->in_flight[s] = count_in_flight(b, s);
    }
    return OK;
}

static void make_compute(struct builder *b)
{
    for (int s = 0; s < b->stage_count; s++)
        for (int i = 0; i < 2 * b->micro_batches; i++) {
            struct turn t = b->turns[s][i];
            size_t place = ((size_t)t.pass * (size_t)b->stage_count + (size_t)s) * (size_t)b->micro_batches +
                           (size_t)t.micro_batch;
            b->compute[place] =
                add_operation(b, t.pass == PASS_FORWARD ? SYMBOL_FORWARD : SYMBOL_BACKWARD, s, s, t.micro_batch);
        }
}

// The drain over boundary i, where asked for: of the backward receives of stage i the last p-1-i and the one before them.
static bool is_epilogue(const struct builder *b, int boundary, int receive)
{
    return b->schedule->request.epilogue && receive >= b->micro_batches - (b->stage_count - boundary);
}

// The operations of what `stage` receives, part by part, each in the order of its receives.
static void make_messages(struct builder *b, int stage)
{
    int received[PASS_COUNT] = {0};
    for (int i = 0; i < 2 * b->micro_batches; i++) {
        struct turn t = b->turns[stage][i];
        int boundary = boundary_in(b, t, stage), receive = received[t.pass]++;
        if (boundary < 0) continue;
        int kind = t.pass == PASS_FORWARD              ? SYMBOL_SEND_FORWARD
                   : is_epilogue(b, boundary, receive) ? SYMBOL_SEND_EPILOGUE
                                                       : SYMBOL_SEND_BACKWARD;
        int sender = t.pass == PASS_FORWARD ? stage - 1 : stage + 1,
            *parts = message_of(b, t.pass, boundary, t.micro_batch);
        int before = compute_of(b, t.pass, sender, t.micro_batch);
        bool in_stream = true;      // `before` stands in the sender's compute stream
        for (int part = 0; part < PART_COUNT; part++) {
            if (!b->schedule->request.parts[part]) continue;
            parts[part] = add_operation(b, kind + part, boundary, sender, t.micro_batch);
            if (part != PART_BLOCKING || !in_stream) add_dependence(b, before, parts[part]);
            before = parts[part];
            in_stream = part == PART_BLOCKING;
        }
        // A message that only blocks is ordered before its receiver by the receiver's stream.
        bool only_blocking = parts[PART_BLOCKING] >= 0 && in_stream;
        if (!only_blocking) add_dependence(b, before, compute_of(b, t.pass, stage, t.micro_batch));
    }
}

// What blocks stage `stage` between two of its turns (either may be NULL): what the first sends and what the second
// receives. Where the two cross on one boundary, both ends take the forward one first; any other rule deadlocks 1F1B.
static void put_blocking(const struct builder *b, struct stream *stream, int stage, const struct turn *ended,
                         const struct turn *next)
{
    int sent = -1, received = -1;
    if (!b->schedule->request.parts[PART_BLOCKING]) return;
    if (ended && boundary_out(b, *ended, stage) >= 0)
        sent = message_of(b, ended->pass, boundary_out(b, *ended, stage), ended->micro_batch)[PART_BLOCKING];
    if (next && boundary_in(b, *next, stage) >= 0)
        received = message_of(b, next->pass, boundary_in(b, *next, stage), next->micro_batch)[PART_BLOCKING];
    bool crossing = sent >= 0 && received >= 0 && ended->pass == PASS_BACKWARD && next->pass == PASS_FORWARD;
    if (crossing) put(stream, received);
    if (sent >= 0) put(stream, sent);
    if (received >= 0 && !crossing) put(stream, received);
}

static void make_compute_stream(struct builder *b, int stage)
{
    int turn_count = 2 * b->micro_batches;
    const struct turn *turns = b->turns[stage];
    struct stream *stream =
        add_stream(b, STREAM_COMPUTE, stage, (b->schedule->request.parts[PART_BLOCKING] ? 3 : 1) * turn_count + 1);
    for (int i = 0; i <= turn_count; i++) {
        put_blocking(b, stream, stage, i > 0 ? &turns[i - 1] : NULL, i < turn_count ? &turns[i] : NULL);
        if (i < turn_count) put(stream, compute_of(b, turns[i].pass, stage, turns[i].micro_batch));
    }
}

// The link of one boundary and direction, in its producer's order.
static void make_link_stream(struct builder *b, enum pass pass, int boundary)
{
    int producer = pass == PASS_FORWARD ? boundary : boundary + 1;
    struct stream *stream =
        add_stream(b, pass == PASS_FORWARD ? STREAM_LINK_FORWARD : STREAM_LINK_BACKWARD, boundary, b->micro_batches);
    for (int i = 0; i < 2 * b->micro_batches; i++) {
        struct turn t = b->turns[producer][i];
        if (t.pass == pass) put(stream, message_of(b, pass, boundary, t.micro_batch)[PART_LINK]);
    }
}

// Gradient syncs, embedding sync and optimizer: after[s] is what the stage's next step has to wait for.
static void make_ending(struct builder *b, struct stream *const *compute)
{
    const struct schedule_request *r = &b->schedule->request;
    int last = b->stage_count - 1, embedding_sync = -1, *after = TAKE(b->arena, b->stage_count, int);
    for (int s = 0; s <= last; s++)
        after[s] = compute_of(b, PASS_BACKWARD, s, b->turns[s][2 * b->micro_batches - 1].micro_batch);
    for (int s = 0; s <= last && r->sync; s++) {
        int sync = add_operation(b, SYMBOL_SYNC, s, s, -1);
        add_dependence(b, after[s], sync);
        put(add_stream(b, STREAM_SYNC, s, 1), sync);
        after[s] = sync;
    }
    if (r->embedding_sync) {
        embedding_sync = add_operation(b, SYMBOL_EMBEDDING_SYNC, 0, 0, -1);
        add_dependence(b, after[0], embedding_sync);
        if (last > 0) add_dependence(b, after[last], embedding_sync);
        after[0] = after[last] = embedding_sync;
    }
    for (int s = 0; s <= last && r->optimizer; s++) {
        int optimizer = add_operation(b, SYMBOL_OPTIMIZER, s, s, -1);
        if (r->sync || after[s] == embedding_sync) add_dependence(b, after[s], optimizer);
        put(compute[s], optimizer);
    }
}

static void make_tables(struct builder *b)
{
    struct stream **compute = TAKE(b->arena, b->stage_count, struct stream *);
    make_compute(b);
    for (int s = 0; s < b->stage_count; s++) make_messages(b, s);
    for (int s = 0; s < b->stage_count; s++) {
        make_compute_stream(b, s);
        compute[s] = &b->schedule->streams[b->schedule->stream_count - 1];
    }
    for (int s = 0; s < b->stage_count - 1 && b->schedule->request.parts[PART_LINK]; s++) {
        make_link_stream(b, PASS_FORWARD, s);
        make_link_stream(b, PASS_BACKWARD, s);
    }
    make_ending(b, compute);
}

enum status schedule_build(struct schedule *s, const struct schedule_request *request, struct arena *arena,
                           struct error *err)
{
    int64_t p = request->stage_count, m = request->micro_batches, parts = 0;
    assert(p >= 1 && m >= 1);
    for (int i = 0; i < PART_COUNT; i++) parts += request->parts[i];
    int64_t operation_max = 2 * p * m + 2 * (p - 1) * m * parts + 2 * p + 1;
    *s = (struct schedule){.request = *request};
    if (operation_max > OPERATIONS_MAX)
        return fail(err, BAD_INPUT, "schedule: %lld stages and %lld micro-batches make %lld operations, more than %d",
                    (long long)p, (long long)m, (long long)operation_max, OPERATIONS_MAX);
    struct builder b = {.schedule = s, .arena = arena, .stage_count = (int)p, .micro_batches = (int)m};
    make_room(&b, (size_t)operation_max);
    TRY(make_turns(&b, err));
    make_tables(&b);
    assert(s->operation_count <= operation_max);
    struct arena_mark mark = arena_set_mark(arena);
    enum status status = schedule_order(s, TAKE(arena, s->operation_count, int), arena, err);
    arena_reset(arena, mark);
    return status;
}
