// The compute streams: every rank's turns and, between them, the parts of transfers that occupy a
// rank. The overhead of what a turn sends follows the turn at once, and the overhead of what it
// receives comes right before it; neither waits for the other end's. A blocking transfer is in the
// streams of both its ends: it follows the sending turn at once, and comes before the receiving
// turn at the latest. Each rank posts both, the send first, and the forward one first if two ranks
// exchange a pair. It waits until the other end's first posted transfer is the same one. If all
// ranks wait in this way, as around a ring, the first pair that both ends have posted at all goes
// ahead (Megatron posts them together). If there is no such pair either, the first rank's send is
// taken by its receiver earlier than needed, as looped schedules do. Such an order comes from one
// run, so it cannot deadlock unless the turns themselves do.
#include "data/schedule/builder.h"

struct end {
    int operation, peer;
}; // one end of a blocking transfer; operation -1: none

struct place {
    int next; // the next turn
    struct end send, receive;
    bool receive_first;
};

struct exchange {
    struct builder *builder;
    struct place *places; // [rank]
    bool *done;           // [operation]
};

static struct end end_of(const struct exchange *x, int rank, const struct turn *t, bool sends)
{
    const struct builder *b = x->builder;
    int stage = stage_of_turn(b, rank, t),
        boundary = sends ? boundary_out(b, t, stage) : boundary_in(b, t, stage);
    if (boundary < 0 || !b->request->parts[PART_BLOCKING]) return (struct end){-1, -1};
    int operation = message_of(b, (int)t->pass, boundary, t->micro_batch, t->slice)[PART_BLOCKING],
        other = boundary == stage ? stage + 1 : stage - 1;
    if (x->done[operation]) return (struct end){-1, -1};
    return (struct end){operation, schedule_rank_of(b->request, other)};
}

static void post(struct exchange *x, int rank)
{
    const struct turn_list *list = &x->builder->turns[rank];
    struct place *place = &x->places[rank];
    const struct turn *ended = place->next > 0 ? &list->turns[place->next - 1] : NULL,
                      *next = place->next < list->count ? &list->turns[place->next] : NULL;
    place->send = ended ? end_of(x, rank, ended, true) : (struct end){-1, -1};
    place->receive = next ? end_of(x, rank, next, false) : (struct end){-1, -1};
    place->receive_first = place->send.peer == place->receive.peer && ended && next &&
                           ended->pass == PASS_BACKWARD && next->pass == PASS_FORWARD;
}

static struct end foremost(const struct place *place)
{
    bool send = place->send.operation >= 0 &&
                !(place->receive_first && place->receive.operation >= 0);
    return send ? place->send : place->receive;
}

static bool has_posted(const struct place *place, int operation)
{
    return place->send.operation == operation || place->receive.operation == operation;
}

static void transfer(struct exchange *x, int operation, int rank, int peer)
{
    const int ends[] = {rank, peer};
    x->done[operation] = true;
    for (int i = 0; i < 2; i++) {
        struct place *place = &x->places[ends[i]];
        put_operation(x->builder->compute_stream[ends[i]], operation);
        if (place->send.operation == operation) place->send.operation = -1;
        if (place->receive.operation == operation) place->receive.operation = -1;
    }
}

// A turn, with the overheads of what it receives before it and of what it sends after it.
static void put_turn(struct builder *b, int rank, const struct turn *t)
{
    int stage = stage_of_turn(b, rank, t), in = boundary_in(b, t, stage),
        out = boundary_out(b, t, stage);
    struct stream *stream = b->compute_stream[rank];
    bool overhead = b->request->parts[PART_OVERHEAD];
    if (overhead && in >= 0)
        put_operation(stream,
                      message_of(b, (int)t->pass, in, t->micro_batch, t->slice)[MESSAGE_RECEIVED]);
    put_operation(stream, *compute_of(b, (int)t->pass, stage, t->micro_batch, t->slice));
    if (overhead && out >= 0)
        put_operation(stream,
                      message_of(b, (int)t->pass, out, t->micro_batch, t->slice)[PART_OVERHEAD]);
}

// The next step of one rank, if it can go on.
static bool advance(struct exchange *x, int rank)
{
    const struct turn_list *list = &x->builder->turns[rank];
    struct place *place = &x->places[rank];
    struct end first = foremost(place);
    if (first.operation >= 0) {
        if (foremost(&x->places[first.peer]).operation != first.operation) return false;
        transfer(x, first.operation, rank, first.peer);
        return true;
    }
    if (place->next == list->count) return false;
    put_turn(x->builder, rank, &list->turns[place->next++]);
    post(x, rank);
    return true;
}

static bool relax(struct exchange *x)
{
    int p = x->builder->request->rank_count;
    for (int rank = 0; rank < p; rank++) {
        const struct end ends[] = {x->places[rank].send, x->places[rank].receive};
        for (int i = 0; i < 2; i++)
            if (ends[i].operation >= 0 && has_posted(&x->places[ends[i].peer], ends[i].operation)) {
                transfer(x, ends[i].operation, rank, ends[i].peer);
                return true;
            }
    }
    for (int rank = 0; rank < p; rank++) {
        struct end send = x->places[rank].send;
        if (send.operation < 0) continue;
        transfer(x, send.operation, rank, send.peer);
        return true;
    }
    return false;
}

static enum status refuse_ring(const struct exchange *x, int rank, struct error *err)
{
    const struct schedule *s = x->builder->schedule;
    const struct operation *o = &s->operations[x->places[rank].receive.operation];
    return refuse(
        err,
        "schedule: deadlock: rank %d waits for %s of stage %d, micro-batch %d, which never comes",
        rank, symbol_kind_name(o->symbol / s->request.stage_count), o->stage, o->micro_batch);
}

enum status make_compute_streams(struct builder *b, struct error *err)
{
    const struct schedule_request *r = b->request;
    struct exchange x = {b, TAKE(b->arena, r->rank_count, struct place),
                         TAKE(b->arena, b->schedule->operation_count, bool)};
    for (int rank = 0; rank < r->rank_count; rank++) {
        int each = 1 + 2 * r->parts[PART_BLOCKING] + 2 * r->parts[PART_OVERHEAD],
            capacity = b->turns[rank].count * each + r->virtual_stages;
        b->compute_stream[rank] = add_stream(b, STREAM_COMPUTE, rank, rank, capacity);
        post(&x, rank);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < r->rank_count; rank++)
            while (advance(&x, rank)) moved = true;
        moved = moved || relax(&x);
    }
    for (int rank = 0; rank < r->rank_count; rank++)
        if (x.places[rank].next < b->turns[rank].count) return refuse_ring(&x, rank, err);
    return OK;
}
