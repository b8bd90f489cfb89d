// Runs a schedule's compute streams in rounds: the oracle of schedules.
#include "data/kinds/schedules.h"
#include "tests/support/oracle/pipeline.h"

#include <string.h>

enum { ITERATIONS = 240, LAPS_MAX = 40 };

// Forward is direction 0, backward 1. Times are -1 while unknown.
struct pipeline {
    const struct schedule *s;
    const struct schedule_request *r;
    const int64_t *durations;
    int64_t *made, *blocked, *linked,
        *arrived; // [direction, stage of the receiver, micro-batch, slice]; made: and given away
    int64_t *weighed; // [stage, micro-batch]
    int *received;    // [stage]: backward messages, the first slice's
    bool *drains;     // [stage, micro-batch]: that message is of the drain
    int64_t *rank_free, *link_free, *sync_free; // [rank], [from, to], [rank]
    int *next;                                  // [rank]: place in its compute stream
    int *sent; // [from, to, ...]: places of the link's messages, in the producer's order
    int *sent_count, *sent_done;          // [from, to]
    int64_t *gradient_end, *sync_end;     // [stage]
    int *gradient_order, *gradients_left; // [stage]
    int gradients_seen;
    int64_t embedding_end;
    const struct stream **compute; // [rank]
    size_t places;
};

static size_t place_of(const struct pipeline *p, int direction, int stage, int micro_batch,
                       int slice)
{
    const struct schedule_request *r = p->r;
    return ((((size_t)direction * (size_t)r->stage_count + (size_t)stage) *
                 (size_t)r->micro_batches +
             (size_t)micro_batch) *
            (size_t)r->slice_count) +
           (size_t)slice;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t duration(const struct pipeline *p, int kind, int stage)
{
    return p->durations[symbol_index(p->r->stage_count, kind, stage)];
}

// What a message to `stage` takes, part by part.
static int64_t part_duration(const struct pipeline *p, int direction, int stage, int micro_batch,
                             int slice, int part)
{
    int boundary = direction ? stage : stage - 1,
        kind = direction ? SYMBOL_SEND_BACKWARD : SYMBOL_SEND_FORWARD;
    if (direction && p->drains[stage * p->r->micro_batches + micro_batch] && !slice)
        kind = SYMBOL_SEND_EPILOGUE;
    return duration(p, symbol_of_slice(slice, kind + part), boundary);
}

static bool is_sent(const struct pipeline *p, int direction, int stage)
{
    int boundary = direction ? stage : stage - 1;
    if (boundary < 0 || boundary >= p->r->stage_count - 1 || schedule_is_inner(p->r, boundary))
        return false;
    return !schedule_is_local(p->r, boundary) || (!direction && !p->r->stored_inputs);
}

// The time that each end of a message to `stage` spends on it besides its pass.
static int64_t overhead(const struct pipeline *p, int direction, int stage, int micro_batch,
                        int slice)
{
    if (!p->r->parts[PART_OVERHEAD] || !is_sent(p, direction, stage)) return 0;
    return part_duration(p, direction, stage, micro_batch, slice, PART_OVERHEAD);
}

static int rank_of(const struct pipeline *p, int stage) { return schedule_rank_of(p->r, stage); }

// Advances a message as far as possible, once its contents have been computed.
static void move_message(struct pipeline *p, int direction, int stage, int micro_batch, int slice)
{
    size_t at = place_of(p, direction, stage, micro_batch, slice);
    int64_t now = p->r->parts[PART_BLOCKING] ? p->blocked[at] : p->made[at];
    if (now < 0 || p->arrived[at] >= 0) return;
    if (p->r->parts[PART_LINK]) {
        int link = rank_of(p, direction ? stage + 1 : stage - 1) * p->r->rank_count +
                   rank_of(p, stage);
        if (p->linked[at] < 0) {
            if (p->sent[(size_t)link * p->places + (size_t)p->sent_done[link]] != (int)at) return;
            p->linked[at] = p->link_free[link] =
                later(now, p->link_free[link]) +
                part_duration(p, direction, stage, micro_batch, slice, PART_LINK);
            p->sent_done[link]++;
        }
        now = p->linked[at];
    }
    p->arrived[at] = now + (p->r->parts[PART_DELAY]
                                ? part_duration(p, direction, stage, micro_batch, slice, PART_DELAY)
                                : 0);
}

static void produce(struct pipeline *p, int direction, int stage, int micro_batch, int slice,
                    int64_t end)
{
    int to = direction ? stage - 1 : stage + 1;
    if (to < 0 || to >= p->r->stage_count) return;
    size_t at = place_of(p, direction, to, micro_batch, slice);
    p->made[at] = end;
    if (!is_sent(p, direction, to)) {
        p->arrived[at] = end;
        return;
    }
    int link = rank_of(p, stage) * p->r->rank_count + rank_of(p, to);
    p->sent[(size_t)link * p->places + (size_t)p->sent_count[link]++] = (int)at;
}

// One rank's next pass. false: its inputs are not available yet.
static bool do_pass(struct pipeline *p, int rank, int base, int stage, int micro_batch, int slice,
                    int kind)
{
    int64_t start = p->rank_free[rank];
    bool forward = base == SYMBOL_FORWARD,
         has_source = forward ? stage > 0 : stage < p->r->stage_count - 1;
    if (base == SYMBOL_BACKWARD && has_source && schedule_is_local(p->r, stage)) has_source = false;
    if (forward && has_source && p->r->stored_inputs && schedule_is_local(p->r, stage - 1))
        has_source = false;
    if (base != SYMBOL_WEIGHT && has_source) {
        size_t at = place_of(p, !forward, stage, micro_batch, slice);
        if (is_sent(p, !forward, stage)) move_message(p, !forward, stage, micro_batch, slice);
        if (p->arrived[at] < 0) return false;
        start = later(start, p->arrived[at]) + overhead(p, !forward, stage, micro_batch, slice);
    }
    int64_t end = p->rank_free[rank] = start + duration(p, kind, stage);
    if (base != SYMBOL_WEIGHT) {
        int to = forward ? stage + 1 : stage - 1;
        if (to >= 0 && to < p->r->stage_count)
            p->rank_free[rank] += overhead(p, !forward, to, micro_batch, slice);
        produce(p, !forward, stage, micro_batch, slice, p->rank_free[rank]);
    }
    if (!forward) {
        p->gradient_end[stage] = end;
        p->gradient_order[stage] = ++p->gradients_seen;
        p->gradients_left[stage]--;
    }
    return true;
}

// A blocking transfer occupies both its ranks when both have reached it.
static bool do_blocking(struct pipeline *p, int rank, int operation, int direction, int boundary,
                        int micro_batch, int slice)
{
    int stage = direction ? boundary : boundary + 1,
        from = rank_of(p, direction ? boundary + 1 : boundary), to = rank_of(p, stage),
        other = rank == from ? to : from;
    size_t at = place_of(p, direction, stage, micro_batch, slice);
    const struct stream *theirs = p->compute[other];
    if (p->made[at] < 0 || p->next[other] >= theirs->count ||
        theirs->operations[p->next[other]] != operation)
        return false;
    int64_t start = later(later(p->rank_free[rank], p->rank_free[other]), p->made[at]);
    p->blocked[at] = p->rank_free[rank] = p->rank_free[other] =
        start + part_duration(p, direction, stage, micro_batch, slice, PART_BLOCKING);
    p->next[other]++;
    return true;
}

static bool rank_has_gradients(const struct pipeline *p, int rank)
{
    for (int k = 0; k < p->r->virtual_stages; k++)
        if (p->gradients_left[schedule_stage_of(p->r, rank, k)]) return false;
    return true;
}

// When the gradients that a stage's ending waits for are there.
static int64_t gradients_there(const struct pipeline *p, int stage)
{
    int64_t end = p->gradient_end[stage];
    for (int k = 0; k < p->r->virtual_stages && !p->r->sync_overlapped; k++)
        end = later(end, p->gradient_end[schedule_stage_of(p->r, rank_of(p, stage), k)]);
    return end;
}

// An overlapped sync that another one holds up starts late enough for all its gradients.
static void do_sync(struct pipeline *p, int rank, int stage, bool behind)
{
    int64_t gradients = p->sync_end[stage], end, free = behind ? p->sync_free[rank] : 0;
    if (p->r->sync_overlapped) {
        end = gradients + duration(p, SYMBOL_SYNC, stage);
        if (behind) end = later(end, free + duration(p, SYMBOL_QUEUED_SYNC, stage));
    } else {
        end = later(gradients, free) + duration(p, SYMBOL_SYNC, stage);
    }
    p->sync_end[stage] = p->sync_free[rank] = end;
}

// Syncs of a rank once all its gradients are there, in the order of the stages' last ones; then the
// embedding's.
static void do_syncs(struct pipeline *p)
{
    const struct schedule_request *r = p->r;
    for (int rank = 0; rank < r->rank_count; rank++) {
        if (!rank_has_gradients(p, rank) || p->sync_end[schedule_stage_of(r, rank, 0)] >= 0)
            continue;
        for (int done = 0, before = 0; done < r->virtual_stages; done++) {
            int first = -1;
            for (int k = 0; k < r->virtual_stages; k++) {
                int stage = schedule_stage_of(r, rank, k);
                if (p->gradient_order[stage] > before &&
                    (first < 0 || p->gradient_order[stage] < p->gradient_order[first]))
                    first = stage;
            }
            before = p->gradient_order[first];
            p->sync_end[first] = gradients_there(p, first);
            if (r->sync) do_sync(p, rank, first, done > 0);
        }
    }
    int64_t one = p->sync_end[0], two = p->sync_end[r->stage_count - 1];
    if (r->embedding_sync && p->embedding_end < 0 && one >= 0 && two >= 0)
        p->embedding_end = later(one, two) + duration(p, SYMBOL_EMBEDDING_SYNC, 0);
}

// When a stage's own ending lets its optimizer step begin; -1: not known yet.
static int64_t ending_of(const struct pipeline *p, int stage)
{
    bool ends = p->r->embedding_sync && (stage == 0 || stage == p->r->stage_count - 1);
    return ends ? p->embedding_end : p->sync_end[stage];
}

static bool do_next(struct pipeline *p, int rank)
{
    const struct stream *c = p->compute[rank];
    if (p->next[rank] >= c->count) return false;
    int operation = c->operations[p->next[rank]];
    const struct operation *o = &p->s->operations[operation];
    int kind = o->symbol / p->r->stage_count, place = o->symbol % p->r->stage_count,
        base = symbol_base_kind(kind), slice = symbol_slice(kind);
    bool done;
    if (base == SYMBOL_OPTIMIZER) {
        done = ending_of(p, place) >= 0;
        if (done)
            p->rank_free[rank] = later(p->rank_free[rank], ending_of(p, place)) +
                                 duration(p, kind, place);
    } else if (base <= SYMBOL_WEIGHT) {
        done = do_pass(p, rank, base, place, o->micro_batch, slice, kind);
    } else if ((base - SYMBOL_SEND_FORWARD) % PART_COUNT == PART_OVERHEAD) {
        done = true; // spent with the adjacent pass
    } else {
        done = do_blocking(p, rank, operation, base >= SYMBOL_SEND_BACKWARD, place, o->micro_batch,
                           slice);
    }
    p->next[rank] += done;
    return done;
}

static void reset(struct pipeline *p)
{
    const struct schedule_request *r = p->r;
    size_t links = (size_t)r->rank_count * (size_t)r->rank_count;
    for (size_t i = 0; i < p->places; i++)
        p->made[i] = p->blocked[i] = p->linked[i] = p->arrived[i] = -1;
    memset(p->sent_count, 0, links * sizeof *p->sent_count);
    memset(p->sent_done, 0, links * sizeof *p->sent_done);
    memset(p->next, 0, (size_t)r->rank_count * sizeof *p->next);
    for (int i = 0; i < r->stage_count; i++) {
        p->sync_end[i] = -1;
        p->gradients_left[i] = r->micro_batches * r->slice_count *
                               (schedule_splits_backward(r->kind) ? 2 : 1);
    }
    p->embedding_end = -1;
    p->gradients_seen = 0;
}

// Which backward messages are of the drain: of those that a stage receives, the last ones.
static void find_drain(struct pipeline *p)
{
    for (int rank = 0; rank < p->r->rank_count; rank++)
        for (int k = 0; k < p->compute[rank]->count; k++) {
            const struct operation *o = &p->s->operations[p->compute[rank]->operations[k]];
            int stage = o->symbol % p->r->stage_count, p_ranks = p->r->rank_count;
            if (o->symbol / p->r->stage_count != SYMBOL_BACKWARD || stage == p->r->stage_count - 1)
                continue;
            int from_end = p->r->micro_batches - 1 - p->received[stage]++;
            p->drains[stage * p->r->micro_batches + o->micro_batch] =
                p->r->epilogue && from_end < p_ranks - stage % p_ranks;
        }
}

static void open_pipeline(struct pipeline *p, const struct schedule *s, const int64_t *durations,
                          struct arena *arena)
{
    const struct schedule_request *r = &s->request;
    size_t ranks = (size_t)r->rank_count, stages = (size_t)r->stage_count,
           places = 2 * stages * (size_t)r->micro_batches * (size_t)r->slice_count;
    *p = (struct pipeline){.s = s, .r = r, .durations = durations, .places = places};
    p->made = TAKE(arena, places, int64_t);
    p->blocked = TAKE(arena, places, int64_t);
    p->linked = TAKE(arena, places, int64_t);
    p->arrived = TAKE(arena, places, int64_t);
    p->received = TAKE(arena, stages, int);
    p->drains = TAKE(arena, stages * (size_t)r->micro_batches, bool);
    p->rank_free = TAKE(arena, ranks, int64_t);
    p->link_free = TAKE(arena, ranks * ranks, int64_t);
    p->sync_free = TAKE(arena, ranks, int64_t);
    p->next = TAKE(arena, ranks, int);
    p->sent = TAKE(arena, ranks * ranks * places, int);
    p->sent_count = TAKE(arena, ranks * ranks, int);
    p->sent_done = TAKE(arena, ranks * ranks, int);
    p->gradient_end = TAKE(arena, stages, int64_t);
    p->sync_end = TAKE(arena, stages, int64_t);
    p->gradient_order = TAKE(arena, stages, int);
    p->gradients_left = TAKE(arena, stages, int);
    p->compute = TAKE(arena, ranks, const struct stream *);
    for (int i = 0; i < s->stream_count; i++)
        if (s->streams[i].kind == STREAM_COMPUTE) p->compute[s->streams[i].rank] = &s->streams[i];
    find_drain(p);
}

static bool run_once(struct pipeline *p)
{
    const struct schedule_request *r = p->r;
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < r->rank_count; rank++)
            while (do_next(p, rank)) moved = true;
        // Messages that the links carry while no rank waits for them.
        for (int link = 0; link < r->rank_count * r->rank_count; link++)
            for (int before = -1; p->sent_done[link] < p->sent_count[link] &&
                                  before != p->sent_done[link] && r->parts[PART_LINK];) {
                before = p->sent_done[link];
                int at = p->sent[(size_t)link * p->places + (size_t)before],
                    slice = at % r->slice_count,
                    micro_batch = at / r->slice_count % r->micro_batches,
                    stage = at / r->slice_count / r->micro_batches % r->stage_count,
                    direction = at / r->slice_count / r->micro_batches / r->stage_count;
                move_message(p, direction, stage, micro_batch, slice);
                if (before != p->sent_done[link]) moved = true;
            }
        do_syncs(p);
    }
    for (int rank = 0; rank < r->rank_count; rank++)
        if (p->next[rank] < p->compute[rank]->count) return false;
    return true;
}

// Runs `iterations` iterations, one after the other: ends[iteration * rank_count + rank] is when
// each ended on each rank. With a barrier it is one iteration. false: it does not terminate.
static bool pipeline_run(const struct schedule *s, const int64_t *durations, int iterations,
                         int64_t *ends, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    const struct schedule_request *r = &s->request;
    struct pipeline p;
    bool good = true;
    open_pipeline(&p, s, durations, arena);
    for (int i = 0; i < iterations && good; i++) {
        reset(&p);
        good = run_once(&p);
        for (int stage = 0; stage < r->stage_count && good; stage++) {
            int64_t *end = &p.rank_free[rank_of(&p, stage)];
            if (!r->optimizer && (r->sync || r->embedding_sync))
                *end = later(*end, ending_of(&p, stage));
        }
        for (int rank = 0; rank < r->rank_count; rank++)
            ends[i * r->rank_count + rank] = p.rank_free[rank];
    }
    arena_reset(arena, mark);
    return good;
}

// The growth of one rank's ends per iteration, rounded up, once it repeats.
static int64_t growth_of(const int64_t *ends, int ranks, int rank)
{
    for (int laps = 1; laps <= LAPS_MAX; laps++) {
        bool repeats = true;
        int64_t gained = 0;
        for (int i = 0; i < LAPS_MAX + laps && repeats; i++) {
            int64_t now = ends[(ITERATIONS - 1 - i) * ranks + rank] -
                          ends[(ITERATIONS - 1 - i - laps) * ranks + rank];
            if (i == 0) gained = now;
            repeats = now == gained;
        }
        if (repeats) return (gained + laps - 1) / laps;
    }
    return -2;
}

int64_t pipeline_time(const struct schedule *s, const int64_t *durations, struct arena *arena)
{
    int ranks = s->request.rank_count;
    int64_t *ends = TAKE(arena, ITERATIONS * ranks, int64_t), time = 0;
    bool barrier = s->request.barrier;
    if (!pipeline_run(s, durations, barrier ? 1 : ITERATIONS, ends, arena)) return -1;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t own = barrier ? ends[rank] : growth_of(ends, ranks, rank);
        if (own == -2) return -2;
        time = later(time, own);
    }
    return time;
}
