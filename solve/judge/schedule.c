// The schedule's table, checked without the generator that wrote it:
// - every micro-batch, pass and message part once;
// - the named schedule's order in every stream (solve/judge/order.c);
// - each message made before it is sent and sent before it is used, and no needless dependence;
// - how iterations end and follow each other (solve/judge/ending.c);
// - the micro-batches in flight.
// The orders are described in data/schedule/schedule.h and docs/FORMULAS.md 14. Cycles are
// found by the replay, which then cannot finish.
#include <stdlib.h>
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/judge/internal.h"
#include "solve/judge/table.h"

static int *filled(struct arena *arena, size_t count, int value)
{
    int *result = TAKE(arena, count, int);
    for (size_t i = 0; i < count; i++) result[i] = value;
    return result;
}

// ---- every operation once

static bool carries_message(const struct schedule_request *r, int direction, int boundary)
{
    if (boundary < 0 || boundary >= r->stage_count - 1 || schedule_is_inner(r, boundary))
        return false;
    return !schedule_is_local(r, boundary) || (direction == FORWARD && !r->stored_inputs);
}

struct identity identity_of(const struct table *t, int operation)
{
    const struct operation *o = &t->s->operations[operation];
    int stages = t->r->stage_count, kind = o->symbol / stages, base = symbol_base_kind(kind);
    struct identity x = {-1, -1, -1, o->symbol % stages, o->micro_batch, symbol_slice(kind)};
    if (base == SYMBOL_FORWARD) x.pass = FORWARD;
    else if (base == SYMBOL_BACKWARD) x.pass = BACKWARD;
    else if (base == SYMBOL_WEIGHT) x.pass = WEIGHT;
    else if (base >= SYMBOL_SEND_FORWARD && base < SYMBOL_EMBEDDING_SYNC) {
        x.direction = base < SYMBOL_SEND_BACKWARD ? FORWARD : BACKWARD;
        x.piece = (base - SYMBOL_SEND_FORWARD) % PART_COUNT;
        if (x.piece == PART_OVERHEAD && o->stage == x.place + (x.direction == FORWARD))
            x.piece = RECEIVED;
    }
    return x;
}

// Where the operation is recorded; NULL if the request has no such operation. Whether a backward
// message belongs to the drain is checked later, when the order is known.
static int *slot_of(struct table *t, int operation)
{
    const struct schedule_request *r = t->r;
    const struct operation *o = &t->s->operations[operation];
    int stages = r->stage_count;
    if (o->symbol < 0 || o->symbol >= symbol_count(stages, r->slice_count)) return NULL;
    int kind = o->symbol / stages;
    struct identity x = identity_of(t, operation);
    bool single = o->micro_batch == -1 && o->stage == x.place;
    if (kind == SYMBOL_SYNC) return r->sync && single ? &t->sync[x.place] : NULL;
    if (kind == SYMBOL_QUEUED_SYNC) return queues_syncs(r) && single ? &t->queued[x.place] : NULL;
    if (kind == SYMBOL_OPTIMIZER) return r->optimizer && single ? &t->optimizer[x.place] : NULL;
    if (kind == SYMBOL_EMBEDDING_SYNC)
        return r->embedding_sync && single && x.place == 0 ? &t->embedding_sync : NULL;
    if (o->micro_batch < 0 || o->micro_batch >= r->micro_batches) return NULL;
    if (kind == SYMBOL_AWAY || kind == SYMBOL_BACK)
        return r->across_passes && o->stage == x.place
                   ? &t->moved[kind == SYMBOL_BACK][x.place * r->micro_batches + o->micro_batch]
                   : NULL;
    if (x.pass >= 0)
        return o->stage == x.place && x.pass < t->passes
                   ? turn_at(t, x.pass, x.place, x.micro_batch, x.slice)
                   : NULL;
    if (x.direction < 0) return NULL;
    bool received = x.piece == RECEIVED;
    if (!carries_message(r, x.direction, x.place) || !r->parts[received ? PART_OVERHEAD : x.piece])
        return NULL;
    return o->stage == x.place + ((x.direction == BACKWARD) != received)
               ? message_at(t, x.direction, x.place, x.micro_batch, x.slice, x.piece)
               : NULL;
}

static int64_t operations_wanted(const struct table *t)
{
    const struct schedule_request *r = t->r;
    int64_t stages = r->stage_count, each = (int64_t)r->micro_batches * r->slice_count, parts = 0,
            messages = 0;
    for (int k = 0; k < PART_COUNT; k++) parts += r->parts[k];
    parts += r->parts[PART_OVERHEAD];
    for (int boundary = 0; boundary < stages - 1; boundary++)
        messages += carries_message(r, FORWARD, boundary) + carries_message(r, BACKWARD, boundary);
    int64_t syncs = stages + (queues_syncs(r) ? stages - r->rank_count : 0);
    return t->passes * stages * each + messages * each * parts + r->sync * syncs +
           stages * r->optimizer + r->embedding_sync + r->across_passes * 2 * stages * each;
}

static bool note_operations(struct table *t)
{
    for (int i = 0; i < t->s->operation_count; i++) {
        const struct operation *o = &t->s->operations[i];
        int *slot = slot_of(t, i);
        if (!slot)
            return FAULT(
                t, o->stage,
                "operation %d (symbol %d, micro-batch %d) does not belong to this schedule", i,
                o->symbol, o->micro_batch);
        if (*slot >= 0)
            return FAULT(t, o->stage,
                         "operation %d repeats operation %d (symbol %d, micro-batch %d)", i, *slot,
                         o->symbol, o->micro_batch);
        *slot = i;
    }
    // None repeats and none is foreign, so the number shows whether one is missing.
    int64_t wanted = operations_wanted(t);
    return t->s->operation_count == wanted ||
           FAULT(t, -1, "%lld operations are missing", (long long)(wanted - t->s->operation_count));
}

// ---- streams

static void note_second_streams(struct table *t)
{
    t->stream[1] = filled(t->arena, (size_t)t->s->operation_count, -1);
    t->place[1] = filled(t->arena, (size_t)t->s->operation_count, -1);
}

static bool note_streams(struct table *t)
{
    for (int i = 0; i < t->s->stream_count; i++) {
        const struct stream *stream = &t->s->streams[i];
        if (stream->rank < 0 || stream->rank >= t->r->rank_count)
            return FAULT(t, -1, "stream %d belongs to rank %d", i, stream->rank);
        int *of_rank = stream->kind == STREAM_COMPUTE ? t->compute
                       : stream->kind == STREAM_SYNC  ? t->sync_stream
                                                      : NULL;
        if (of_rank && of_rank[stream->rank] >= 0)
            return FAULT(t, stream->rank, "rank %d has two streams of one kind", stream->rank);
        if (of_rank) of_rank[stream->rank] = i;
        for (int k = 0; k < stream->count; k++) {
            int o = stream->operations[k];
            if (o < 0 || o >= t->s->operation_count || t->seen[o] == 2)
                return FAULT(
                    t, -1,
                    "stream %d holds operation %d, which does not exist or is in too many streams",
                    i, o);
            if (t->seen[o] && !t->stream[1]) note_second_streams(t);
            t->stream[t->seen[o]][o] = i;
            t->place[t->seen[o]++][o] = k;
        }
    }
    for (int rank = 0; rank < t->r->rank_count; rank++)
        if (t->compute[rank] < 0) return FAULT(t, rank, "rank %d has no compute stream", rank);
    return true;
}

static bool check_counts(struct table *t)
{
    for (int i = 0; i < t->s->operation_count; i++) {
        struct identity x = identity_of(t, i);
        int kind = t->s->operations[i].symbol / t->r->stage_count,
            place = kind == SYMBOL_SYNC || kind == SYMBOL_QUEUED_SYNC ? x.place : -1,
            wanted = x.pass >= 0 || kind == SYMBOL_OPTIMIZER ? 1
                     : place >= 0                            ? in_sync_stream(t, place, kind)
                     : x.direction < 0                       ? 0
                     : x.piece == PART_BLOCKING              ? 2
                                                             : x.piece != PART_DELAY;
        if (t->seen[i] != wanted)
            return FAULT(t, t->s->operations[i].stage, "operation %d is in %d streams, not in %d",
                         i, t->seen[i], wanted);
        bool computes = x.pass >= 0 ||
                        (x.direction >= 0 && (x.piece == PART_OVERHEAD || x.piece == RECEIVED));
        if (computes && t->s->streams[t->stream[0][i]].kind != STREAM_COMPUTE)
            return FAULT(t, x.place, "operation %d is in no compute stream", i);
    }
    return true;
}

static void find_last_gradients(struct table *t)
{
    for (int rank = 0; rank < t->r->rank_count; rank++) {
        const struct stream *stream = &t->s->streams[t->compute[rank]];
        for (int k = 0; k < stream->count; k++) {
            struct identity x = identity_of(t, stream->operations[k]);
            if (x.pass > FORWARD) t->last_gradient[x.place] = k;
        }
    }
}

// Of the backward messages that a stage receives, the last p-1-i and the one before them have the
// drain's times, for the first slice only; i counts within its round of the ranks.
static bool check_drain(struct table *t)
{
    const struct schedule_request *r = t->r;
    for (int boundary = 0; boundary < r->stage_count - 1; boundary++) {
        const struct stream *stream = &t->s->streams[t->compute[schedule_rank_of(r, boundary)]];
        int left = r->rank_count - boundary % r->rank_count;
        for (int k = stream->count - 1; k >= 0 && carries_message(r, BACKWARD, boundary); k--) {
            struct identity x = identity_of(t, stream->operations[k]);
            if (x.pass != BACKWARD || x.place != boundary || x.slice > 0) continue;
            bool drain = r->epilogue && left-- > 0;
            for (int piece = 0; piece < PIECES; piece++) {
                int o = *message_at(t, BACKWARD, boundary, x.micro_batch, 0, piece);
                if (o >= 0 &&
                    (t->s->operations[o].symbol / r->stage_count >= SYMBOL_SEND_EPILOGUE) != drain)
                    return FAULT(t, boundary, "operation %d is %sof the drain", o,
                                 drain ? "" : "not ");
            }
        }
    }
    return true;
}

static bool check_streams(struct table *t)
{
    for (int i = 0; i < t->s->stream_count; i++) {
        const struct stream *stream = &t->s->streams[i];
        if (stream->kind == STREAM_COMPUTE && !check_compute(t, stream)) return false;
        if (stream->kind == STREAM_LINK && !check_link(t, stream)) return false;
        for (int k = 0; k < i && stream->kind == STREAM_LINK; k++)
            if (t->s->streams[k].kind == STREAM_LINK && t->s->streams[k].rank == stream->rank &&
                t->s->streams[k].to_rank == stream->to_rank)
                return FAULT(t, stream->rank, "two links to rank %d", stream->to_rank);
    }
    return check_sync_streams(t);
}

// ---- dependences

void need(struct table *t, int before, int after)
{
    t->needed[t->needed_count++] = (struct dependence){before, after};
}

static void need_message(struct table *t, int pass, int boundary, int micro_batch, int slice)
{
    int sender = pass == FORWARD ? boundary : boundary + 1,
        receiver = pass == FORWARD ? boundary + 1 : boundary;
    int before = *turn_at(t, pass, sender, micro_batch, slice);
    static const int series[] = {PART_OVERHEAD, PART_BLOCKING, PART_LINK, PART_DELAY, RECEIVED};
    for (size_t i = 0; i < ARRAY_LENGTH(series); i++) {
        int o = *message_at(t, pass, boundary, micro_batch, slice, series[i]);
        if (o < 0) continue;
        need(t, before, o);
        before = o;
    }
    need(t, before, *turn_at(t, pass, receiver, micro_batch, slice));
}

// The stage's pass that its schedule puts before the given one; -1: that is its first of this kind.
static int pass_before(const struct table *t, int pass, int stage, int micro_batch)
{
    int best = -1;
    for (int i = 0; i < t->r->micro_batches; i++) {
        int one = *turn_at(t, pass, stage, i, 0);
        if (t->place[0][one] < t->place[0][*turn_at(t, pass, stage, micro_batch, 0)] &&
            (best < 0 || t->place[0][one] > t->place[0][*turn_at(t, pass, stage, best, 0)]))
            best = i;
    }
    return best;
}

// A stage's swapped layers have the room of one micro-batch on their way out, and of another one on
// their way in. They come back when they are all away, before the pass that needs them.
static void need_swap(struct table *t, int stage, int micro_batch)
{
    const int *away = t->moved[0] + stage * t->r->micro_batches,
              *back = t->moved[1] + stage * t->r->micro_batches;
    int forward = *turn_at(t, FORWARD, stage, micro_batch, 0),
        backward = *turn_at(t, BACKWARD, stage, micro_batch, 0),
        out = pass_before(t, FORWARD, stage, micro_batch),
        in = pass_before(t, BACKWARD, stage, micro_batch);
    need(t, forward, away[micro_batch]);
    need(t, away[micro_batch], back[micro_batch]);
    need(t, back[micro_batch], backward);
    if (out >= 0) need(t, away[out], forward);
    if (in >= 0) need(t, *turn_at(t, BACKWARD, stage, in, 0), back[micro_batch]);
}

// What a pass needs from its own stage and, across the boundary after it, from the next.
static void need_pass(struct table *t, int stage, int micro_batch, int slice)
{
    const struct schedule_request *r = t->r;
    int last = r->slice_count - 1;
    need(t, *turn_at(t, FORWARD, stage, micro_batch, slice),
         *turn_at(t, BACKWARD, stage, micro_batch, slice));
    if (t->passes > WEIGHT)
        need(t, *turn_at(t, BACKWARD, stage, micro_batch, slice),
             *turn_at(t, WEIGHT, stage, micro_batch, slice));
    if (slice < last) {
        need(t, *turn_at(t, FORWARD, stage, micro_batch, slice),
             *turn_at(t, FORWARD, stage, micro_batch, slice + 1));
        need(t, *turn_at(t, BACKWARD, stage, micro_batch, slice + 1),
             *turn_at(t, BACKWARD, stage, micro_batch, slice));
    }
    if (r->across_passes) need_swap(t, stage, micro_batch);
    if (stage == r->stage_count - 1) return;
    bool local = schedule_is_local(r, stage);
    if (!local || !r->stored_inputs) need_message(t, FORWARD, stage, micro_batch, slice);
    if (!local) need_message(t, BACKWARD, stage, micro_batch, slice);
}

static int compare_dependences(const void *left, const void *right)
{
    const struct dependence *x = left, *y = right;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

static bool ordered_by_stream(const struct table *t, int before, int after)
{
    for (int i = 0; i < t->seen[before]; i++)
        for (int k = 0; k < t->seen[after]; k++)
            if (t->stream[i][before] == t->stream[k][after] &&
                t->place[i][before] < t->place[k][after])
                return true;
    return false;
}

static size_t pieces_of(const struct schedule_request *r)
{
    size_t count = r->parts[PART_OVERHEAD];
    for (int k = 0; k < PART_COUNT; k++) count += r->parts[k];
    return count;
}

static bool check_dependences(struct table *t)
{
    const struct schedule_request *r = t->r;
    size_t given_count = (size_t)t->s->dependence_count,
           each = (size_t)r->stage_count * (size_t)r->micro_batches * (size_t)r->slice_count;
    struct dependence *given = TAKE_COPY(t->arena, t->s->dependences, given_count);
    t->needed = TAKE(t->arena,
                     each * (4 + 5 * (size_t)r->across_passes + 2 * (pieces_of(r) + 1)) +
                         8 * (size_t)r->stage_count,
                     struct dependence);
    for (int stage = 0; stage < r->stage_count; stage++)
        for (int i = 0; i < r->micro_batches; i++)
            for (int slice = 0; slice < r->slice_count; slice++) need_pass(t, stage, i, slice);
    need_endings(t);
    qsort(given, given_count, sizeof *given, compare_dependences);
    qsort(t->needed, t->needed_count, sizeof *t->needed, compare_dependences);
    for (size_t i = 0; i < t->needed_count; i++) {
        const struct dependence *d = &t->needed[i];
        if (!ordered_by_stream(t, d->before, d->after) &&
            !bsearch(d, given, given_count, sizeof *given, compare_dependences))
            return FAULT(t, t->s->operations[d->after].stage,
                         "operation %d does not wait for operation %d", d->after, d->before);
    }
    for (size_t i = 0; i < given_count; i++)
        if (!bsearch(&given[i], t->needed, t->needed_count, sizeof *given, compare_dependences))
            return FAULT(t, -1, "operation %d waits for operation %d without need", given[i].after,
                         given[i].before);
    return true;
}

// ---- all of it

static bool same_request(struct table *t)
{
    const struct schedule_request *x = &t->s->request, *y = t->r;
    bool same = x->kind == y->kind && x->stage_count == y->stage_count &&
                x->rank_count == y->rank_count && x->virtual_stages == y->virtual_stages &&
                x->slice_count == y->slice_count && x->micro_batches == y->micro_batches &&
                x->local_loss_every == y->local_loss_every &&
                x->stored_inputs == y->stored_inputs && x->barrier == y->barrier &&
                x->sync_overlapped == y->sync_overlapped && x->epilogue == y->epilogue &&
                x->sync == y->sync && x->optimizer == y->optimizer &&
                x->embedding_sync == y->embedding_sync && x->across_passes == y->across_passes &&
                !memcmp(x->in_flight, y->in_flight, sizeof x->in_flight);
    for (int k = 0; k < PART_COUNT; k++) same = same && x->parts[k] == y->parts[k];
    return same || FAULT(t, -1, "the table was written for another request");
}

void audit_schedule(struct verdict *v, const struct schedule *s,
                    const struct schedule_request *request, struct arena *arena)
{
    struct table t = {.s = s,
                      .r = request,
                      .v = v,
                      .arena = arena,
                      .passes = schedule_splits_backward(request->kind) ? 3 : 2};
    struct arena_mark mark = arena_set_mark(arena);
    size_t stages = (size_t)request->stage_count, operations = (size_t)s->operation_count,
           ranks = (size_t)request->rank_count,
           turns = stages * (size_t)request->micro_batches * (size_t)request->slice_count;
    t.turn = filled(arena, PASSES * turns, -1);
    t.message = filled(arena, 2 * turns * PIECES, -1);
    t.sync = filled(arena, stages, -1);
    t.queued = filled(arena, stages, -1);
    t.optimizer = filled(arena, stages, -1);
    t.last_gradient = filled(arena, stages, -1);
    for (int i = 0; i < 2; i++) t.moved[i] = filled(arena, turns, -1);
    t.compute = filled(arena, ranks, -1);
    t.sync_stream = filled(arena, ranks, -1);
    t.embedding_sync = -1;
    t.seen = TAKE(arena, operations, unsigned char);
    t.stream[0] = filled(arena, operations, -1);
    t.place[0] = filled(arena, operations, -1);
    if (!same_request(&t) || !note_operations(&t) || !note_streams(&t) || !check_counts(&t)) return;
    find_last_gradients(&t);
    if (check_streams(&t) && check_drain(&t) && check_dependences(&t) && check_carried(&t) &&
        check_peaks(&t))
        arena_reset(arena, mark);
}
