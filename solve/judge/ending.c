// The end of an iteration in a schedule's table, by the judge's own rule: syncs after gradients,
// the embedding's sync after those of both ends, optimizer steps after their syncs; and, without a
// barrier, what the next iteration waits for.

#include "solve/judge/table.h"

bool queues_syncs(const struct schedule_request *r)
{
    return r->sync && r->sync_overlapped && r->virtual_stages > 1;
}

// Of two syncs of one stage the one after the rank's sync before it is in the stream; the one after
// its own gradients is where there is no other.
bool in_sync_stream(const struct table *t, int stage, int kind)
{
    return kind == SYMBOL_QUEUED_SYNC || t->queued[stage] < 0;
}

bool check_sync_streams(struct table *t)
{
    const struct schedule_request *r = t->r;
    for (int rank = 0; rank < r->rank_count; rank++) {
        if ((t->sync_stream[rank] >= 0) != r->sync)
            return FAULT(t, rank, "rank %d has %s sync stream", rank, r->sync ? "no" : "a");
        if (!r->sync) continue;
        const struct stream *stream = &t->s->streams[t->sync_stream[rank]];
        int last = -1;
        if (stream->count != r->virtual_stages)
            return FAULT(t, rank, "sync stream with %d operations, expected %d", stream->count,
                         r->virtual_stages);
        for (int k = 0; k < stream->count; k++) {
            const struct operation *o = &t->s->operations[stream->operations[k]];
            int stage = o->symbol % r->stage_count;
            int kind = queues_syncs(r) && k > 0 ? SYMBOL_QUEUED_SYNC : SYMBOL_SYNC;
            if (o->symbol / r->stage_count != kind || schedule_rank_of(r, stage) != rank)
                return FAULT(t, rank, "sync stream holds operation %d, no sync of the rank",
                             stream->operations[k]);
            if (t->last_gradient[stage] < last)
                return FAULT(t, stage, "syncs are not in the order of the last gradients");
            last = t->last_gradient[stage];
        }
    }
    return true;
}

// What a stage's ending waits for first: the last gradient of the stage, or of the rank.
static int gradients_of(const struct table *t, int stage)
{
    const struct schedule_request *r = t->r;
    int rank = schedule_rank_of(r, stage), place = t->last_gradient[stage];
    for (int k = 0; k < r->virtual_stages && !r->sync_overlapped; k++) {
        int other = t->last_gradient[schedule_stage_of(r, rank, k)];
        if (other > place) place = other;
    }
    return t->s->streams[t->compute[rank]].operations[place];
}

// A sync in the stream waits for the stage before it in both of its ways; the stream has one.
static void need_queue(struct table *t, int rank)
{
    const struct stream *stream = &t->s->streams[t->sync_stream[rank]];
    for (int k = 2; k < stream->count; k++) {
        int before = t->s->operations[stream->operations[k - 1]].symbol % t->r->stage_count;
        need(t, t->sync[before], stream->operations[k]);
    }
}

void need_endings(struct table *t)
{
    const struct schedule_request *r = t->r;
    for (int stage = 0; stage < r->stage_count; stage++) {
        int before = gradients_of(t, stage), queued = t->queued[stage];
        if (r->sync) {
            need(t, before, t->sync[stage]);
            before = t->sync[stage];
        }
        if (r->embedding_sync && (stage == 0 || stage == r->stage_count - 1)) {
            need(t, before, t->embedding_sync);
            if (queued >= 0) need(t, queued, t->embedding_sync);
            before = t->embedding_sync;
            queued = -1;
        }
        if (r->optimizer) need(t, before, t->optimizer[stage]);
        if (r->optimizer && queued >= 0) need(t, queued, t->optimizer[stage]);
    }
    for (int rank = 0; rank < r->rank_count && queues_syncs(r); rank++) need_queue(t, rank);
}

// ---- from one iteration to the next

static bool is_carried(const struct table *t, int before, int after)
{
    for (int i = 0; i < t->s->carried_count; i++)
        if (t->s->carried[i].before == before && t->s->carried[i].after == after) return true;
    return false;
}

static bool wants(struct table *t, int before, int after, int *wanted)
{
    ++*wanted;
    return is_carried(t, before, after) ||
           FAULT(t, t->s->operations[after].stage,
                 "operation %d does not wait for operation %d of the iteration before", after,
                 before);
}

static bool check_rank_carried(struct table *t, int rank, int *wanted)
{
    const struct schedule_request *r = t->r;
    const struct stream *c = &t->s->streams[t->compute[rank]];
    int first = c->operations[0];
    if (!wants(t, c->operations[c->count - 1], first, wanted)) return false;
    if (r->optimizer) return true;
    if (r->sync) {
        const struct stream *sync = &t->s->streams[t->sync_stream[rank]];
        int end = sync->operations[sync->count - 1],
            beside = t->sync[t->s->operations[end].symbol % r->stage_count];
        if (!wants(t, end, first, wanted)) return false;
        if (beside != end && !wants(t, beside, first, wanted)) return false;
    }
    bool end = schedule_rank_of(r, 0) == rank || schedule_rank_of(r, r->stage_count - 1) == rank;
    return !r->embedding_sync || !end || wants(t, t->embedding_sync, first, wanted);
}

// All of them are there, and no others: none is redundant.
bool check_carried(struct table *t)
{
    int wanted = 0;
    for (int rank = 0; rank < t->r->rank_count && !t->r->barrier; rank++)
        if (!check_rank_carried(t, rank, &wanted)) return false;
    for (int i = 0; i < t->s->stream_count && !t->r->barrier; i++) {
        const struct stream *s = &t->s->streams[i];
        if (s->kind == STREAM_LINK &&
            !wants(t, s->operations[s->count - 1], s->operations[0], &wanted))
            return false;
    }
    return t->s->carried_count == wanted ||
           FAULT(t, -1, "%d operations wait for the iteration before, expected %d",
                 t->s->carried_count, wanted);
}
