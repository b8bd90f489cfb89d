// The messages of a schedule. A message is up to five operations in series: overhead at its sender,
// a part that blocks both ends, a part that occupies the link between two ranks, a pure delay, and
// overhead at its receiver. All messages from one rank to another share the link of that direction,
// in the order in which they are produced.

#include "data/schedule/builder.h"

void make_compute(struct builder *b)
{
    for (int rank = 0; rank < b->request->rank_count; rank++)
        for (int i = 0; i < b->turns[rank].count; i++) {
            const struct turn *t = &b->turns[rank].turns[i];
            int stage = stage_of_turn(b, rank, t), kind = t->pass == PASS_FORWARD ? SYMBOL_FORWARD
                                                          : t->pass == PASS_BACKWARD
                                                              ? SYMBOL_BACKWARD
                                                              : SYMBOL_WEIGHT;
            *compute_of(b, (int)t->pass, stage, t->micro_batch, t->slice) =
                add_operation(b, symbol_of_slice(t->slice, kind), stage, stage, t->micro_batch);
        }
}

// The drain over boundary i, if requested: of the backward receives of stage i, the last p-1-i and
// the one before them, with i counted within its round of the ranks.
static bool is_epilogue(const struct schedule_request *r, int boundary, int receive)
{
    return r->epilogue && receive >= r->micro_batches - (r->rank_count - boundary % r->rank_count);
}

static int message_kind(const struct schedule_request *r, const struct turn *t, int boundary,
                        int receive)
{
    bool drains = t->slice == 0 && is_epilogue(r, boundary, receive);
    return symbol_of_slice(t->slice, t->pass == PASS_FORWARD ? SYMBOL_SEND_FORWARD
                                     : drains                ? SYMBOL_SEND_EPILOGUE
                                                             : SYMBOL_SEND_BACKWARD);
}

// The operations of a message that a turn of `stage` receives over `boundary`, and their
// dependences. What one compute stream orders needs no dependence: the sender's turn, its overhead
// and a part that blocks; that part, the receiver's overhead and its turn.
static void make_message(struct builder *b, const struct turn *t, int stage, int boundary,
                         int receive)
{
    static const int series[] = {PART_OVERHEAD, PART_BLOCKING, PART_LINK, PART_DELAY,
                                 MESSAGE_RECEIVED};
    const struct schedule_request *r = b->request;
    int kind = message_kind(r, t, boundary, receive),
        sender = t->pass == PASS_FORWARD ? stage - 1 : stage + 1,
        *message = message_of(b, (int)t->pass, boundary, t->micro_batch, t->slice),
        before = *compute_of(b, (int)t->pass, sender, t->micro_batch, t->slice);
    bool with_sender = true, with_receiver = false; // in whose compute streams `before` is
    for (size_t i = 0; i < ARRAY_LENGTH(series); i++) {
        bool received = series[i] == MESSAGE_RECEIVED, blocks = series[i] == PART_BLOCKING;
        int part = received ? PART_OVERHEAD : series[i];
        if (!r->parts[part]) continue;
        int next = message[series[i]] =
            add_operation(b, kind + part, boundary, received ? stage : sender, t->micro_batch);
        bool sends = blocks || series[i] == PART_OVERHEAD, receives = blocks || received;
        if (!(with_sender && sends) && !(with_receiver && receives))
            add_dependence(b, before, next);
        before = next;
        with_sender = sends;
        with_receiver = receives;
    }
    if (!with_receiver)
        add_dependence(b, before, *compute_of(b, (int)t->pass, stage, t->micro_batch, t->slice));
    b->link_count[schedule_rank_of(r, sender) * r->rank_count + schedule_rank_of(r, stage)]++;
}

void make_messages(struct builder *b)
{
    const struct schedule_request *r = b->request;
    int *received = TAKE(b->arena, r->stage_count, int); // backward, of the first slice
    for (int rank = 0; rank < r->rank_count; rank++)
        for (int i = 0; i < b->turns[rank].count; i++) {
            const struct turn *t = &b->turns[rank].turns[i];
            int stage = stage_of_turn(b, rank, t), boundary = boundary_in(b, t, stage);
            if (boundary < 0) continue;
            int receive = t->pass == PASS_BACKWARD && t->slice == 0 ? received[stage]++ : 0;
            make_message(b, t, stage, boundary, receive);
        }
}

// Of each pass one operation. A stage's next forward pass needs the room that what goes away
// leaves, and what comes back needs that of the last backward pass, and begins when all is away.
void make_swaps(struct builder *b)
{
    const struct schedule_request *r = b->request;
    int *away = TAKE(b->arena, r->micro_batches, int);
    for (int rank = 0; rank < r->rank_count && r->across_passes; rank++) {
        int left = -1, passed = -1;
        for (int i = 0; i < b->turns[rank].count; i++) {
            const struct turn *t = &b->turns[rank].turns[i];
            bool forward = t->pass == PASS_FORWARD;
            int pass = *compute_of(b, (int)t->pass, rank, t->micro_batch, 0),
                moved = add_operation(b, forward ? SYMBOL_AWAY : SYMBOL_BACK, rank, rank,
                                      t->micro_batch);
            if (forward) {
                if (left >= 0) add_dependence(b, left, pass);
                add_dependence(b, pass, moved);
                away[t->micro_batch] = left = moved;
                continue;
            }
            if (passed >= 0) add_dependence(b, passed, moved);
            add_dependence(b, away[t->micro_batch], moved);
            add_dependence(b, moved, pass);
            passed = pass;
        }
    }
}

static void make_link_stream(struct builder *b, int from, int to)
{
    const struct schedule_request *r = b->request;
    int count = b->link_count[from * r->rank_count + to];
    if (!count) return;
    struct stream *stream = add_stream(b, STREAM_LINK, from, to, count);
    for (int i = 0; i < b->turns[from].count; i++) {
        const struct turn *t = &b->turns[from].turns[i];
        int stage = stage_of_turn(b, from, t), boundary = boundary_out(b, t, stage);
        if (boundary < 0 ||
            schedule_rank_of(r, t->pass == PASS_FORWARD ? stage + 1 : stage - 1) != to)
            continue;
        put_operation(stream,
                      message_of(b, (int)t->pass, boundary, t->micro_batch, t->slice)[PART_LINK]);
    }
    assert(stream->count == count); // everything that the receivers wait for is sent
}

// Messages are sent between neighbours in the ring of ranks.
void make_link_streams(struct builder *b)
{
    int p = b->request->rank_count;
    for (int rank = 0; rank < (p > 2 ? p : p - 1); rank++) {
        make_link_stream(b, rank, (rank + 1) % p);
        make_link_stream(b, (rank + 1) % p, rank);
    }
}
