// How an iteration ends: gradient syncs, embedding sync and optimizer steps after the gradients;
// and, without a barrier, how it is joined to the next iteration.

#include "data/schedule/builder.h"

struct ending {
    int *last_gradient;   // [stage]: place in its rank's turns
    int *after;           // [stage]: the operation that its next step waits for
    int *queued;          // [stage]: another one, the queued sync; -1: none
    int *last_beside;     // [rank]: what its last sync has besides the stream; -1: nothing
    int *turns;           // [virtual stages]: those of a rank, in the order of their last gradients
    struct stream **sync; // [rank]
    int embedding_sync;   // -1: none
};

static void find_last_gradients(struct builder *b, struct ending *e)
{
    for (int rank = 0; rank < b->request->rank_count; rank++)
        for (int i = 0; i < b->turns[rank].count; i++)
            if (b->turns[rank].turns[i].pass != PASS_FORWARD)
                e->last_gradient[stage_of_turn(b, rank, &b->turns[rank].turns[i])] = i;
}

static void sort_turns(const struct builder *b, struct ending *e, int rank)
{
    const struct schedule_request *r = b->request;
    for (int k = 0; k < r->virtual_stages; k++) {
        int at = k, last = e->last_gradient[schedule_stage_of(r, rank, k)];
        for (; at > 0 && e->last_gradient[schedule_stage_of(r, rank, e->turns[at - 1])] > last;
             at--)
            e->turns[at] = e->turns[at - 1];
        e->turns[at] = k;
    }
}

// An exposed sync waits for the last gradient of its rank, an overlapped one for that of its own
// stage.
static void find_gradients_done(const struct builder *b, struct ending *e)
{
    const struct schedule_request *r = b->request;
    for (int stage = 0; stage < r->stage_count; stage++) {
        int rank = schedule_rank_of(r, stage);
        const struct turn_list *list = &b->turns[rank];
        const struct turn *t =
            &list->turns[r->sync_overlapped ? e->last_gradient[stage] : list->count - 1];
        e->after[stage] =
            *compute_of(b, (int)t->pass, stage_of_turn(b, rank, t), t->micro_batch, t->slice);
    }
}

// An overlapped sync ends when both are over: what is left of it after its own last gradient
// (beside the stream), and all of it after the sync before it, which ended in the same way.
static void make_queued_sync(struct builder *b, struct ending *e, int rank, int stage, int sync)
{
    int queued = add_operation(b, SYMBOL_QUEUED_SYNC, stage, stage, -1);
    if (e->last_beside[rank] >= 0) add_dependence(b, e->last_beside[rank], queued);
    put_operation(e->sync[rank], queued);
    e->queued[stage] = queued;
    e->last_beside[rank] = sync;
}

static void make_syncs(struct builder *b, struct ending *e)
{
    const struct schedule_request *r = b->request;
    for (int rank = 0; rank < r->rank_count; rank++) {
        e->sync[rank] = add_stream(b, STREAM_SYNC, rank, rank, r->virtual_stages);
        sort_turns(b, e, rank);
        for (int k = 0; k < r->virtual_stages; k++) {
            int stage = schedule_stage_of(r, rank, e->turns[k]),
                sync = add_operation(b, SYMBOL_SYNC, stage, stage, -1);
            add_dependence(b, e->after[stage], sync);
            if (r->sync_overlapped && k > 0) make_queued_sync(b, e, rank, stage, sync);
            else put_operation(e->sync[rank], sync);
            e->after[stage] = sync;
        }
    }
}

// Everything that follows a stage's ending so far.
static void follow(struct builder *b, const struct ending *e, int stage, int operation)
{
    add_dependence(b, e->after[stage], operation);
    if (e->queued[stage] >= 0) add_dependence(b, e->queued[stage], operation);
}

static void make_embedding_sync(struct builder *b, struct ending *e)
{
    int last = b->request->stage_count - 1,
        sync = add_operation(b, SYMBOL_EMBEDDING_SYNC, 0, 0, -1);
    follow(b, e, 0, sync);
    if (e->after[last] != e->after[0]) follow(b, e, last, sync);
    e->after[0] = e->after[last] = e->embedding_sync = sync;
    e->queued[0] = e->queued[last] = -1;
}

static void make_optimizers(struct builder *b, struct ending *e)
{
    const struct schedule_request *r = b->request;
    for (int rank = 0; rank < r->rank_count; rank++) {
        sort_turns(b, e, rank);
        for (int k = 0; k < r->virtual_stages; k++) {
            int stage = schedule_stage_of(r, rank, e->turns[k]),
                optimizer = add_operation(b, SYMBOL_OPTIMIZER, stage, stage, -1);
            if (r->sync || e->after[stage] == e->embedding_sync) follow(b, e, stage, optimizer);
            put_operation(b->compute_stream[rank], optimizer);
        }
    }
}

static void carry(struct builder *b, int before, int after)
{
    b->schedule->carried[b->schedule->carried_count++] = (struct dependence){before, after};
}

// A rank goes on when its own work is done, a link when it is free again.
static void make_carried(struct builder *b, const struct ending *e)
{
    const struct schedule_request *r = b->request;
    struct schedule *s = b->schedule;
    int end_ranks[] = {0, schedule_rank_of(r, r->stage_count - 1)};
    s->carried = TAKE(b->arena, 3 * r->rank_count + 2 + s->stream_count, struct dependence);
    for (int rank = 0; rank < r->rank_count; rank++) {
        const struct stream *c = b->compute_stream[rank];
        carry(b, c->operations[c->count - 1], c->operations[0]);
        if (r->optimizer) continue; // it waited for the rest
        if (r->sync) carry(b, e->sync[rank]->operations[r->virtual_stages - 1], c->operations[0]);
        if (e->last_beside[rank] >= 0) carry(b, e->last_beside[rank], c->operations[0]);
    }
    for (int i = 0;
         i < (end_ranks[0] == end_ranks[1] ? 1 : 2) && r->embedding_sync && !r->optimizer; i++)
        carry(b, e->embedding_sync, b->compute_stream[end_ranks[i]]->operations[0]);
    for (int i = 0; i < s->stream_count; i++)
        if (s->streams[i].kind == STREAM_LINK)
            carry(b, s->streams[i].operations[s->streams[i].count - 1],
                  s->streams[i].operations[0]);
    assert(s->carried_count >= r->rank_count &&
           s->carried_count <= 3 * r->rank_count + 2 + s->stream_count);
}

void make_ending(struct builder *b)
{
    const struct schedule_request *r = b->request;
    struct ending e = {
        .last_gradient = TAKE(b->arena, r->stage_count, int),
        .after = TAKE(b->arena, r->stage_count, int),
        .queued = TAKE(b->arena, r->stage_count, int),
        .last_beside = TAKE(b->arena, r->rank_count, int),
        .turns = TAKE(b->arena, r->virtual_stages, int),
        .sync = TAKE(b->arena, r->rank_count, struct stream *),
        .embedding_sync = -1,
    };
    for (int stage = 0; stage < r->stage_count; stage++) e.queued[stage] = -1;
    for (int rank = 0; rank < r->rank_count; rank++) e.last_beside[rank] = -1;
    find_last_gradients(b, &e);
    find_gradients_done(b, &e);
    if (r->sync) make_syncs(b, &e);
    if (r->embedding_sync) make_embedding_sync(b, &e);
    if (r->optimizer) make_optimizers(b, &e);
    if (!r->barrier) make_carried(b, &e);
}
