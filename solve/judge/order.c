// The compute streams of a table: turns in the schedule's written order (numbered by
// solve/judge/kinds/orders.c), what lies between turns, what a link carries, and what is held at
// the fullest moments.
#include <string.h>

#include "solve/judge/table.h"

// ---- a compute stream

static int turn_of_stage(const struct schedule_request *r, int stage)
{
    return stage / r->rank_count;
}

// The sender's overhead comes right after the turn that made the message, the receiver's right
// before the turn that needs it; overhead of no time is in no compute stream.
static bool check_overhead(struct table *t, const struct stream *stream, int at, int turn)
{
    struct identity m = identity_of(t, stream->operations[at]);
    int beside = m.piece == PART_OVERHEAD ? at - 1 : m.piece == RECEIVED ? at + 1 : -1;
    return (beside >= 0 && beside < stream->count && stream->operations[beside] == turn) ||
           FAULT(t, m.place,
                 "compute stream of rank %d, place %d: operation %d is no overhead of the turn "
                 "next to it",
                 stream->rank, at, stream->operations[at]);
}

// A blocking transfer follows the turn that made its message, with only such transfers between. It
// comes before the turn that needs it, and right before it where the schedule neither loops nor
// splits the backward, and no list says what is in flight. Elsewhere a rank may have to take it
// earlier. The order of transfers between two turns is free: a wrong one is a cycle.
static bool check_blocking(struct table *t, const struct stream *stream, int at, int before,
                           int after)
{
    struct identity m = identity_of(t, stream->operations[at]);
    int sender = m.direction == FORWARD ? m.place : m.place + 1,
        receiver = 2 * m.place + 1 - sender,
        made = *turn_at(t, m.direction, sender, m.micro_batch, m.slice),
        needed = *turn_at(t, m.direction, receiver, m.micro_batch, m.slice);
    if (m.piece != PART_BLOCKING)
        return check_overhead(t, stream, at, m.piece == RECEIVED ? needed : made);
    if (schedule_rank_of(t->r, sender) == stream->rank)
        return before == made ||
               FAULT(t, sender,
                     "operation %d, which blocks, does not follow the turn that made its message",
                     stream->operations[at]);
    if (schedule_rank_of(t->r, receiver) != stream->rank)
        return FAULT(t, receiver, "operation %d blocks rank %d, which is neither of its ends",
                     stream->operations[at], stream->rank);
    bool simple = t->r->virtual_stages == 1 && t->passes == 2 && !t->r->in_flight[0],
         right = simple ? after == needed : t->place[0][needed] > at;
    return right ||
           FAULT(t, receiver,
                 "operation %d, which blocks, does not precede the turn that needs its message",
                 stream->operations[at]);
}

// Turns with strictly rising numbers; transfers between them; optimizer steps at the end.
static bool check_turns(struct table *t, const struct stream *stream, int *turn_count)
{
    int64_t last = -1;
    int before = -1;
    for (int at = 0; at < stream->count; at++) {
        struct identity x = identity_of(t, stream->operations[at]);
        if (x.direction >= 0) {
            int next = at;
            while (next < stream->count && identity_of(t, stream->operations[next]).direction >= 0)
                next++;
            if (!check_blocking(t, stream, at, before,
                                next < stream->count ? stream->operations[next] : -1))
                return false;
            continue;
        }
        if (x.pass < 0) continue; // an optimizer step: the end is checked separately
        if (schedule_rank_of(t->r, x.place) != stream->rank)
            return FAULT(t, x.place, "compute stream of rank %d: operation %d is another rank's",
                         stream->rank, stream->operations[at]);
        struct place own_place = {x.pass, turn_of_stage(t->r, x.place), x.micro_batch, x.slice};
        int64_t own = judged_places[t->r->kind](t->r, stream->rank, &own_place);
        if (own <= last)
            return FAULT(
                t, x.place,
                "compute stream, place %d: operation %d comes too late for the schedule's order",
                at, stream->operations[at]);
        last = own;
        before = stream->operations[at];
        ++*turn_count;
    }
    return true;
}

static bool check_optimizers(struct table *t, const struct stream *stream)
{
    const struct schedule_request *r = t->r;
    int at = stream->count - r->virtual_stages, last = -1;
    for (int k = 0; k < stream->count; k++) {
        bool is_step = t->s->operations[stream->operations[k]].symbol / r->stage_count ==
                       SYMBOL_OPTIMIZER;
        if (is_step != (r->optimizer && k >= at))
            return FAULT(t, stream->rank,
                         "compute stream, place %d: operation %d where the optimizer steps %s", k,
                         stream->operations[k], is_step ? "do not stand" : "stand");
        if (!is_step) continue;
        int stage = t->s->operations[stream->operations[k]].symbol % r->stage_count,
            gradient = t->last_gradient[stage];
        if (schedule_rank_of(r, stage) != stream->rank)
            return FAULT(t, stage, "rank %d has the optimizer step of another", stream->rank);
        if (gradient < last)
            return FAULT(t, stream->rank,
                         "optimizer steps are not in the order of the last gradients");
        last = gradient;
    }
    return true;
}

bool check_compute(struct table *t, const struct stream *stream)
{
    const struct schedule_request *r = t->r;
    int turns = 0, wanted = t->passes * r->virtual_stages * r->micro_batches * r->slice_count;
    if (!check_turns(t, stream, &turns)) return false;
    if (turns != wanted)
        return FAULT(t, stream->rank, "compute stream with %d turns, expected %d", turns, wanted);
    return check_optimizers(t, stream);
}

// ---- a link

// A link carries its messages in the order of the turns that made them.
bool check_link(struct table *t, const struct stream *stream)
{
    int last = -1, p = t->r->rank_count;
    if (stream->to_rank < 0 || stream->to_rank >= p || stream->to_rank == stream->rank ||
        !stream->count)
        return FAULT(t, stream->rank, "a link to rank %d with %d operations", stream->to_rank,
                     stream->count);
    for (int at = 0; at < stream->count; at++) {
        struct identity m = identity_of(t, stream->operations[at]);
        if (m.direction < 0 || m.piece != PART_LINK)
            return FAULT(t, stream->rank, "link stream, place %d: operation %d is no message", at,
                         stream->operations[at]);
        int sender = m.direction == FORWARD ? m.place : m.place + 1,
            receiver = 2 * m.place + 1 - sender,
            made = t->place[0][*turn_at(t, m.direction, sender, m.micro_batch, m.slice)];
        if (schedule_rank_of(t->r, sender) != stream->rank ||
            schedule_rank_of(t->r, receiver) != stream->to_rank)
            return FAULT(t, stream->rank,
                         "link stream to rank %d, place %d: operation %d goes elsewhere",
                         stream->to_rank, at, stream->operations[at]);
        if (made <= last)
            return FAULT(t, stream->rank,
                         "link stream, place %d: operation %d was made before the one before it",
                         at, stream->operations[at]);
        last = made;
    }
    return true;
}

// ---- what is held

static bool is_below(const int *one, const int *other, int count)
{
    for (int i = 0; i < count; i++)
        if (one[i] > other[i]) return false;
    return true;
}

// held[]: at one moment of a rank. Marks the peaks that equal it; false if no peak covers it.
static bool is_covered(const struct table *t, int rank, const int *held, bool *reached)
{
    bool covered = false;
    for (int i = 0; i < t->s->peak_count; i++) {
        const struct peak *peak = &t->s->peaks[i];
        if (peak->rank != rank || !is_below(held, peak->in_flight, t->r->virtual_stages)) continue;
        covered = true;
        if (is_below(peak->in_flight, held, t->r->virtual_stages)) reached[i] = true;
    }
    return covered;
}

static bool check_moments(struct table *t, int rank, int *held, int *most, bool *reached)
{
    const struct stream *stream = &t->s->streams[t->compute[rank]];
    int stages = t->r->virtual_stages;
    memset(held, 0, (size_t)stages * sizeof *held);
    for (int at = 0; at < stream->count; at++) {
        struct identity x = identity_of(t, stream->operations[at]);
        if (x.pass < 0 || x.slice > 0) continue;
        int turn = turn_of_stage(t->r, x.place);
        if (x.pass == t->passes - 1) held[turn]--;
        if (x.pass != FORWARD) continue;
        if (++held[turn] > most[x.place]) most[x.place] = held[turn];
        if (!is_covered(t, rank, held, reached))
            return FAULT(t, x.place, "rank %d holds more at place %d than the table's peaks say",
                         rank, at);
    }
    return true;
}

bool check_peaks(struct table *t)
{
    const struct schedule_request *r = t->r;
    int *held = TAKE(t->arena, r->virtual_stages, int), *most = TAKE(t->arena, r->stage_count, int);
    bool *reached = TAKE(t->arena, t->s->peak_count, bool);
    for (int rank = 0; rank < r->rank_count; rank++)
        if (!check_moments(t, rank, held, most, reached)) return false;
    for (int stage = 0; stage < r->stage_count; stage++)
        if (t->s->in_flight[stage] != most[stage])
            return FAULT(t, stage, "%d micro-batches in flight by the table, %d by its order",
                         t->s->in_flight[stage], most[stage]);
    for (int i = 0; i < t->s->peak_count; i++) {
        const struct peak *peak = &t->s->peaks[i];
        if (!reached[i]) return FAULT(t, -1, "peak %d is never reached", i);
        for (int k = 0; k < t->s->peak_count; k++)
            if (k != i && t->s->peaks[k].rank == peak->rank &&
                is_below(peak->in_flight, t->s->peaks[k].in_flight, r->virtual_stages))
                return FAULT(t, -1, "peak %d is below peak %d", i, k);
    }
    return true;
}
