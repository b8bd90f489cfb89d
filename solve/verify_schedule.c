// The schedule's table, checked without the generator that wrote it: every micro-batch, pass and message part once; the
// named schedule's order in every stream; each message made before it is sent and sent before it is used; no dependence
// that nothing asks for; the micro-batches in flight. What the orders are: data/schedule.h and docs/ARCHITECTURE.md 2.
// Cycles are found by the replay, which then comes to no end.
#include <stdlib.h>

#include "solve/verify_parts.h"

enum { FORWARD, BACKWARD, PASSES };

struct table {
    const struct schedule *s;
    const struct schedule_request *r;
    struct verdict *v;
    struct arena *arena;
    size_t stages, micro_batches;
    int *turn;              // [pass, stage, micro-batch]: its operation, -1 none
    int *message;           // [pass, boundary, micro-batch, part]
    int *sync, *optimizer;  // [stage]
    int embedding_sync;
    int *seen;              // [operation]: in how many streams it stands
    int *stream[2], *place[2];      // [operation]: of the first two
    struct dependence *needed;
    size_t needed_count;
};

#define FAULT(t, stage, ...) (verdict_add((t)->v, (t)->arena, "schedule", stage, __VA_ARGS__), false)

static int *turn_at(const struct table *t, int pass, int stage, int micro_batch)
{
    return &t->turn[((size_t)pass * t->stages + (size_t)stage) * t->micro_batches + (size_t)micro_batch];
}

static int *message_at(const struct table *t, int pass, int boundary, int micro_batch, int part)
{
    return &t->message[(((size_t)pass * t->stages + (size_t)boundary) * t->micro_batches + (size_t)micro_batch) *
                           PART_COUNT +
                       (size_t)part];
}

static int *filled(struct arena *arena, size_t count, int value)
{
    int *result = TAKE(arena, count, int);
    for (size_t i = 0; i < count; i++) result[i] = value;
    return result;
}

// ---- every operation once

// The last p-1-i backward receives of stage i, and the steady one before them, are the drain over boundary i.
static bool in_drain(const struct table *t, int boundary, int micro_batch)
{
    return t->r->epilogue && micro_batch + t->r->stage_count - boundary >= t->r->micro_batches;
}

// Where the operation is to be noted, NULL if the request has no such operation.
static int *slot_of(struct table *t, const struct operation *o)
{
    int stages = t->r->stage_count, kind = o->symbol / stages, place = o->symbol % stages, mb = o->micro_batch;
    if (o->symbol < 0 || kind >= SYMBOL_KIND_COUNT) return NULL;
    bool single = mb == -1 && o->stage == place;
    if (kind == SYMBOL_SYNC) return t->r->sync && single ? &t->sync[place] : NULL;
    if (kind == SYMBOL_OPTIMIZER) return t->r->optimizer && single ? &t->optimizer[place] : NULL;
    if (kind == SYMBOL_EMBEDDING_SYNC) return t->r->embedding_sync && single && place == 0 ? &t->embedding_sync : NULL;
    if (mb < 0 || mb >= t->r->micro_batches) return NULL;
    if (kind == SYMBOL_FORWARD || kind == SYMBOL_BACKWARD)
        return o->stage == place ? turn_at(t, kind == SYMBOL_FORWARD ? FORWARD : BACKWARD, place, mb) : NULL;
    int part = (kind - SYMBOL_SEND_FORWARD) % PART_COUNT, direction = (kind - SYMBOL_SEND_FORWARD) / PART_COUNT;
    if (place == stages - 1 || !t->r->parts[part]) return NULL;
    if (direction == 0) return o->stage == place ? message_at(t, FORWARD, place, mb, part) : NULL;
    bool drain = direction == 2;
    return o->stage == place + 1 && drain == in_drain(t, place, mb) ? message_at(t, BACKWARD, place, mb, part) : NULL;
}

static bool note_operations(struct table *t)
{
    const struct schedule_request *r = t->r;
    int64_t p = r->stage_count, m = r->micro_batches, parts = 0;
    for (int k = 0; k < PART_COUNT; k++) parts += r->parts[k];
    int64_t wanted = 2 * p * m + 2 * (p - 1) * m * parts + p * r->sync + p * r->optimizer + r->embedding_sync;
    for (int i = 0; i < t->s->operation_count; i++) {
        const struct operation *o = &t->s->operations[i];
        int *slot = slot_of(t, o);
        if (!slot)
            return FAULT(t, o->stage, "operation %d (symbol %d, micro-batch %d) does not belong to this schedule", i,
                         o->symbol, o->micro_batch);
        if (*slot >= 0)
            return FAULT(t, o->stage, "operation %d repeats operation %d (symbol %d, micro-batch %d)", i, *slot,
                         o->symbol, o->micro_batch);
        *slot = i;
    }
    // As none repeats and none is foreign, the number tells whether one is missing.
    if (t->s->operation_count != wanted)
        return FAULT(t, -1, "%lld operations are missing", (long long)(wanted - t->s->operation_count));
    return true;
}

// ---- streams

static bool note_streams(struct table *t)
{
    for (int i = 0; i < t->s->stream_count; i++)
        for (int k = 0; k < t->s->streams[i].count; k++) {
            int o = t->s->streams[i].operations[k];
            if (o < 0 || o >= t->s->operation_count || t->seen[o] == 2)
                return FAULT(t, -1, "stream %d holds operation %d, which is none or in too many streams", i, o);
            t->stream[t->seen[o]][o] = i;
            t->place[t->seen[o]++][o] = k;
        }
    for (int i = 0; i < t->s->operation_count; i++) {
        int kind = t->s->operations[i].symbol / t->r->stage_count, part = (kind - SYMBOL_SEND_FORWARD) % PART_COUNT;
        bool message = kind >= SYMBOL_SEND_FORWARD && kind < SYMBOL_EMBEDDING_SYNC,
             turn = kind == SYMBOL_FORWARD || kind == SYMBOL_BACKWARD;
        int wanted = turn ? 1 : !message ? t->seen[i] : part == PART_BLOCKING ? 2 : part == PART_LINK;
        if (t->seen[i] != wanted)
            return FAULT(t, t->s->operations[i].stage, "operation %d stands in %d streams, not in %d", i, t->seen[i],
                         wanted);
    }
    return true;
}

// How many forwards come before the backward of a micro-batch: GPipe turns after all of them, 1F1B keeps p - s in flight.
static int forwards_before(const struct schedule_request *r, int stage, int micro_batch)
{
    int64_t ahead = (int64_t)micro_batch + r->stage_count - stage;
    return r->kind == SCHEDULE_GPIPE || ahead > r->micro_batches ? r->micro_batches : (int)ahead;
}

struct blocking { int operations[2], count; };

static void expect_blocking(struct blocking *b, const struct table *t, int pass, int boundary, int micro_batch)
{
    if (boundary < 0 || boundary >= t->r->stage_count - 1 || !t->r->parts[PART_BLOCKING]) return;
    b->operations[b->count++] = *message_at(t, pass, boundary, micro_batch, PART_BLOCKING);
}

// What stands between two turns of a stage (pass -1: none): what the first sends, then what the second needs; where the two
// cross on one boundary, the forward message first.
static struct blocking blocking_between(const struct table *t, int stage, int pass, int micro_batch, int next_pass,
                                        int next_micro_batch)
{
    struct blocking b = {{-1, -1}, 0};
    bool crossing = pass == BACKWARD && next_pass == FORWARD;
    if (crossing) expect_blocking(&b, t, FORWARD, stage - 1, next_micro_batch);
    if (pass == FORWARD) expect_blocking(&b, t, FORWARD, stage, micro_batch);
    if (pass == BACKWARD) expect_blocking(&b, t, BACKWARD, stage - 1, micro_batch);
    if (next_pass == FORWARD && !crossing) expect_blocking(&b, t, FORWARD, stage - 1, next_micro_batch);
    if (next_pass == BACKWARD) expect_blocking(&b, t, BACKWARD, stage, next_micro_batch);
    return b;
}

// The stage's turns one after the other, as the schedule's rule has them.
static bool check_compute(struct table *t, const struct stream *stream)
{
    int stage = stream->rank, done[PASSES] = {0, 0}, pass = -1, micro_batch = 0, at = 0, most = 0,
        m = t->r->micro_batches;
    for (int turn = 0; turn <= 2 * m; turn++) {
        bool back = done[BACKWARD] < m && done[FORWARD] >= forwards_before(t->r, stage, done[BACKWARD]);
        int next = turn == 2 * m ? -1 : back ? BACKWARD : FORWARD, next_micro_batch = next < 0 ? 0 : done[next];
        struct blocking between = blocking_between(t, stage, pass, micro_batch, next, next_micro_batch);
        int wanted[3], count = 0;
        for (int i = 0; i < between.count; i++) wanted[count++] = between.operations[i];
        if (next >= 0) wanted[count++] = *turn_at(t, next, stage, next_micro_batch);
        for (int i = 0; i < count; i++, at++)
            if (at >= stream->count || stream->operations[at] != wanted[i])
                return FAULT(
                    t, stage,
                    "compute stream, place %d: operation %d where the schedule's order has %d (%s of micro-batch %d)",
                    at, at < stream->count ? stream->operations[at] : -1, wanted[i],
                    next == BACKWARD ? "backward" : "forward", next_micro_batch);
        if (next < 0) break;
        done[next]++;
        if (done[FORWARD] - done[BACKWARD] > most) most = done[FORWARD] - done[BACKWARD];
        pass = next;
        micro_batch = next_micro_batch;
    }
    if (at < stream->count && t->r->optimizer && stream->operations[at] == t->optimizer[stage]) at++;
    if (at != stream->count)
        return FAULT(t, stage, "compute stream: %d operations behind the last backward", stream->count - at);
    if (t->s->in_flight[stage] != most || in_flight_of(t->r, stage) != most)
        return FAULT(t, stage, "%d micro-batches in flight by the table, %d by its order", t->s->in_flight[stage],
                     most);
    return true;
}

// A link carries its messages in the producer's order, which is that of the micro-batches.
static bool check_link(struct table *t, const struct stream *stream)
{
    int pass = stream->to_rank == stream->rank + 1 ? FORWARD : BACKWARD,
        boundary = pass == FORWARD ? stream->rank : stream->to_rank;
    if (boundary < 0 || boundary >= t->r->stage_count - 1 || stream->to_rank + stream->rank != 2 * boundary + 1 ||
        stream->count != t->r->micro_batches)
        return FAULT(t, stream->rank, "link stream with %d operations, expected %d", stream->count,
                     t->r->micro_batches);
    for (int i = 0; i < stream->count; i++)
        if (stream->operations[i] != *message_at(t, pass, boundary, i, PART_LINK))
            return FAULT(t, stream->rank, "link stream, place %d: not the message of micro-batch %d", i, i);
    return true;
}

static bool check_streams(struct table *t)
{
    int *found = filled(t->arena, t->stages, 0);
    for (int i = 0; i < t->s->stream_count; i++) {
        const struct stream *stream = &t->s->streams[i];
        if (stream->rank < 0 || stream->rank >= t->r->stage_count)
            return FAULT(t, -1, "stream %d belongs to rank %d", i, stream->rank);
        if (stream->kind == STREAM_LINK && !check_link(t, stream)) return false;
        if (stream->kind == STREAM_COMPUTE && (found[stream->rank]++ || !check_compute(t, stream))) return false;
        for (int k = 0; stream->kind == STREAM_SYNC && k < stream->count; k++) {
            int kind = t->s->operations[stream->operations[k]].symbol / t->r->stage_count;
            if (kind != SYMBOL_SYNC && kind != SYMBOL_EMBEDDING_SYNC)
                return FAULT(t, stream->rank, "sync stream holds operation %d, no sync", stream->operations[k]);
        }
    }
    // Each turn stands in one stream and each compute stream is complete; a stage without one is found by its turns.
    for (int s = 0; s < t->r->stage_count; s++)
        if (found[s] != 1) return FAULT(t, s, "%d compute streams", found[s]);
    return true;
}

// ---- dependences

static void need(struct table *t, int before, int after)
{
    t->needed[t->needed_count++] = (struct dependence){before, after};
}

static void need_messages(struct table *t, int pass, int boundary, int micro_batch)
{
    int sender = pass == FORWARD ? boundary : boundary + 1, receiver = pass == FORWARD ? boundary + 1 : boundary;
    int before = *turn_at(t, pass, sender, micro_batch);
    for (int part = 0; part < PART_COUNT; part++) {
        int o = *message_at(t, pass, boundary, micro_batch, part);
        if (o < 0) continue;
        need(t, before, o);
        before = o;
    }
    need(t, before, *turn_at(t, pass, receiver, micro_batch));
}

static void need_all(struct table *t)
{
    int stages = t->r->stage_count, last = stages - 1, m = t->r->micro_batches;
    for (int s = 0; s < stages; s++) {
        for (int i = 0; i < m; i++) {
            need(t, *turn_at(t, FORWARD, s, i), *turn_at(t, BACKWARD, s, i));
            if (s == last) continue;
            need_messages(t, FORWARD, s, i);
            need_messages(t, BACKWARD, s, i);
        }
        int before = *turn_at(t, BACKWARD, s, m - 1);
        if (t->r->sync) {
            need(t, before, t->sync[s]);
            before = t->sync[s];
        }
        if (t->r->embedding_sync && (s == 0 || s == last)) {
            need(t, before, t->embedding_sync);
            before = t->embedding_sync;
        }
        if (t->r->optimizer) need(t, before, t->optimizer[s]);
    }
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
            if (t->stream[i][before] == t->stream[k][after] && t->place[i][before] < t->place[k][after]) return true;
    return false;
}

static bool check_dependences(struct table *t)
{
    size_t given_count = (size_t)t->s->dependence_count, pairs = t->stages * t->micro_batches;
    struct dependence *given = arena_grow(t->arena, t->s->dependences, given_count, given_count, sizeof *given);
    t->needed = TAKE(t->arena, pairs * (1 + 2 * (PART_COUNT + 1)) + 3 * t->stages, struct dependence);
    need_all(t);
    qsort(given, given_count, sizeof *given, compare_dependences);
    qsort(t->needed, t->needed_count, sizeof *t->needed, compare_dependences);
    for (size_t i = 0; i < t->needed_count; i++) {
        const struct dependence *d = &t->needed[i];
        if (!ordered_by_stream(t, d->before, d->after) &&
            !bsearch(d, given, given_count, sizeof *given, compare_dependences))
            return FAULT(t, t->s->operations[d->after].stage, "operation %d does not wait for operation %d", d->after,
                         d->before);
    }
    for (size_t i = 0; i < given_count; i++)
        if (!bsearch(&given[i], t->needed, t->needed_count, sizeof *given, compare_dependences))
            return FAULT(t, -1, "operation %d waits for operation %d without need", given[i].after, given[i].before);
    return true;
}

// ---- all of it

static bool same_request(struct table *t)
{
    const struct schedule_request *x = &t->s->request, *y = t->r;
    bool same = x->kind == y->kind && x->stage_count == y->stage_count && x->micro_batches == y->micro_batches &&
                x->epilogue == y->epilogue && x->sync == y->sync && x->optimizer == y->optimizer &&
                x->embedding_sync == y->embedding_sync;
    for (int k = 0; k < PART_COUNT; k++) same = same && x->parts[k] == y->parts[k];
    return same || FAULT(t, -1, "the table was written for another request");
}

void hear_schedule(struct verdict *v, const struct schedule *s, const struct schedule_request *request,
                   struct arena *arena)
{
    struct table t = {.s = s,
                      .r = request,
                      .v = v,
                      .arena = arena,
                      .stages = (size_t)request->stage_count,
                      .micro_batches = (size_t)request->micro_batches};
    struct arena_mark mark = arena_set_mark(arena);
    size_t turns = PASSES * t.stages * t.micro_batches, operations = (size_t)s->operation_count;
    t.turn = filled(arena, turns, -1);
    t.message = filled(arena, turns * PART_COUNT, -1);
    t.sync = filled(arena, t.stages, -1);
    t.optimizer = filled(arena, t.stages, -1);
    t.embedding_sync = -1;
    t.seen = filled(arena, operations, 0);
    for (int i = 0; i < 2; i++) {
        t.stream[i] = filled(arena, operations, -1);
        t.place[i] = filled(arena, operations, -1);
    }
    if (same_request(&t) && note_operations(&t) && note_streams(&t) && check_streams(&t) && check_dependences(&t))
        arena_reset(arena, mark);
}
