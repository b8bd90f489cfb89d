// The written order of every schedule, as the judge has it: a number for each turn of a rank,
// larger where it comes later. A stream whose turns have rising numbers, each turn once, is the
// schedule's. From the published schedules:
//   GPipe (1811.06965), 1F1B (2104.04473), interleaved (Megatron-LM), ZB-H1 and ZB-H2 (2401.10241),
//   ZB-V (its README), looped (2211.05953), token-sliced (2102.07988).
// Then what stands between the turns, what a link carries, and what is held at the fullest moments.
#include <string.h>

#include "solve/judge/table.h"

// Forward i, then backward i - ahead, then weight gradient i - ahead - behind: three places a
// round.
static int64_t alternating(int64_t ahead, int64_t behind, int pass, int64_t n)
{
    return 3 * (n + (pass >= BACKWARD ? ahead : 0) + (pass == WEIGHT ? behind : 0)) + pass;
}

// A group of p micro-batches goes through one stage of the rank after the other, on the way back in
// the reverse order.
static int64_t interleaved_place(const struct schedule_request *r, int rank, int pass, int turn,
                                 int micro_batch)
{
    int64_t p = r->rank_count, stages = r->virtual_stages,
            way = pass == FORWARD ? turn : stages - 1 - turn,
            n = micro_batch / p * p * stages + way * p + micro_batch % p;
    return alternating(2 * (p - 1 - rank) + (stages - 1) * p, 0, pass, n);
}

// ZB-V in slots: `fill` forwards down; `rank` pairs up, down; p - rank rounds up, back, weight;
// rounds of six; `rank` pairs of backwards; p - rank pairs backward down, weight down; then weights
// up, then weights down.
struct fold {
    int64_t p, rank, rounds, fill, turning, steady, pairs, drain, rest;
};

static struct fold fold_of(const struct schedule_request *r, int rank)
{
    struct fold f = {.p = r->rank_count, .rank = rank};
    int64_t m = r->micro_batches > 2 * f.p - 1 ? r->micro_batches : 2 * f.p - 1;
    f.rounds = m - f.p;
    f.fill = 2 * (f.p - rank) - 1;
    f.turning = f.fill + 2 * rank;
    f.steady = f.turning + 3 * (f.p - rank);
    f.pairs = f.steady + 6 * f.rounds;
    f.drain = f.pairs + 2 * rank;
    f.rest = f.drain + 2 * (f.p - rank);
    return f;
}

static int64_t down_place(const struct fold *f, int pass, int64_t n)
{
    int64_t late = n - f->rounds; // of those behind the rounds of six
    if (pass == FORWARD && n < f->fill) return n;
    if (pass == FORWARD && n < f->fill + f->rank) return f->fill + 2 * (n - f->fill) + 1;
    if (pass == FORWARD) return f->steady + 6 * (n - f->fill - f->rank);
    if (late < 0) return f->steady + 6 * n + (pass == BACKWARD ? 1 : 2);
    if (pass == BACKWARD) return f->pairs + 2 * late;
    return late < f->p - f->rank ? f->drain + 2 * late + 1 : f->rest + 2 * (f->rounds + f->p) + n;
}

static int64_t up_place(const struct fold *f, int pass, int64_t n)
{
    if (pass == FORWARD && n < f->rank) return f->fill + 2 * n;
    if (pass == FORWARD)
        return n < f->p ? f->turning + 3 * (n - f->rank) : f->steady + 6 * (n - f->p) + 3;
    int64_t turned = f->p - f->rank, round = n - turned;
    if (round < 0) return f->turning + 3 * n + pass;
    if (round < f->rounds) return f->steady + 6 * round + 3 + pass;
    return pass == BACKWARD ? f->pairs + 2 * (round - f->rounds) + 1 : f->rest + n;
}

int64_t written_place(const struct schedule_request *r, int rank, int pass, int turn,
                      int micro_batch, int slice)
{
    int64_t p = r->rank_count, m = r->micro_batches, slices = r->slice_count,
            stages = r->virtual_stages;
    switch (r->kind) {
    case SCHEDULE_GPIPE: return pass * m + micro_batch;
    case SCHEDULE_1F1B: return alternating(p - 1 - rank, 0, pass, micro_batch);
    case SCHEDULE_INTERLEAVED: return interleaved_place(r, rank, pass, turn, micro_batch);
    case SCHEDULE_ZB_H1: return alternating(p - 1 - rank, rank, pass, micro_batch);
    case SCHEDULE_ZB_H2:
        return alternating(2 * (p - 1 - rank), 2 * (int64_t)rank, pass, micro_batch);
    case SCHEDULE_ZB_V: {
        struct fold f = fold_of(r, rank);
        return turn == 0 ? down_place(&f, pass, micro_batch) : up_place(&f, pass, micro_batch);
    }
    case SCHEDULE_LOOPED_BFS:
        return (pass * stages + (pass == FORWARD ? turn : stages - 1 - turn)) * m + micro_batch;
    case SCHEDULE_TOKEN_SLICED:
        return (pass * m + micro_batch) * slices + (pass == FORWARD ? slice : slices - 1 - slice);
    case SCHEDULE_KIND_COUNT: break;
    }
    return -1;
}

// ---- a compute stream

static int turn_of_stage(const struct schedule_request *r, int stage)
{
    return stage / r->rank_count;
}

// The sender's overhead stands right behind the turn that made the message, the receiver's right
// before the turn that needs it; what has no overhead stands in no compute stream.
static bool check_overhead(struct table *t, const struct stream *stream, int at, int turn)
{
    struct identity m = identity_of(t, stream->operations[at]);
    int beside = m.piece == PART_OVERHEAD ? at - 1 : m.piece == RECEIVED ? at + 1 : -1;
    return (beside >= 0 && beside < stream->count && stream->operations[beside] == turn) ||
           FAULT(t, m.place,
                 "compute stream of rank %d, place %d: operation %d is no overhead of the turn "
                 "beside it",
                 stream->rank, at, stream->operations[at]);
}

// A transfer that blocks follows the turn that made its message, with nothing but such transfers
// between; it comes before the turn that needs it, right before where the schedule neither loops
// nor splits the backward. Else a rank may have to take it earlier, and in which order those
// between two turns go is the table's choice anyway: a wrong one is a cycle.
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
    bool simple = t->r->virtual_stages == 1 && t->passes == 2,
         right = simple ? after == needed : t->place[0][needed] > at;
    return right ||
           FAULT(
               t, receiver,
               "operation %d, which blocks, does not stand before the turn that needs its message",
               stream->operations[at]);
}

// The turns by their numbers, one rising above the other; transfers between them; optimizer steps
// behind.
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
        if (x.pass < 0) continue; // an optimizer step: the end is looked at by itself
        if (schedule_rank_of(t->r, x.place) != stream->rank)
            return FAULT(t, x.place, "compute stream of rank %d: operation %d is another rank's",
                         stream->rank, stream->operations[at]);
        int64_t own = written_place(t->r, stream->rank, x.pass, turn_of_stage(t->r, x.place),
                                    x.micro_batch, x.slice);
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

// It carries its messages in the order of the turns that made them.
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

// held[]: at one moment of a rank. Marks the peaks that it reaches; false if it is under none.
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
