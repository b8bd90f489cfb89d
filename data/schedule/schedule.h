// A schedule as plain tables: the symbolic graph of one iteration of one layout. An operation's
// duration is a symbol; the graph depends on the layout alone, never on a choice. Generators live
// in data/schedule/, one file each; the solver and the judge read the tables, each with a walk of
// its own.
//
// A *stage* is a run of layers; stages follow each other along the model. A *rank* is what
// computes: it holds one stage, or several where the schedule is interleaved, and has one compute
// stream, one sync stream, and a link to each rank it talks to.
#ifndef PLUMBLINE_DATA_SCHEDULE_SCHEDULE_H
#define PLUMBLINE_DATA_SCHEDULE_SCHEDULE_H

#include <stdbool.h>

#include "data/base/arena.h"
#include "data/inputs/job.h"
#include "data/base/status.h"
#include "data/base/units.h"

// Symbols come in kinds, of each slice of a micro-batch; one of each kind per stage, or per
// boundary s between stages s and s+1. Forward, backward and their messages are every slice's; all
// else, the drain too, is the first one's alone.
enum symbol_kind {
    SYMBOL_FORWARD,  // of stage s, one slice of a micro-batch
    SYMBOL_BACKWARD, // likewise; only the input gradient where the schedule splits it
    SYMBOL_WEIGHT,   // the weight gradient, where the schedule splits it off backward
    SYMBOL_SYNC,
    SYMBOL_OPTIMIZER,                                        // of stage s, once
    SYMBOL_SEND_FORWARD,                                     // + part: activation over boundary s
    SYMBOL_SEND_BACKWARD = SYMBOL_SEND_FORWARD + PART_COUNT, // + part: gradient over boundary s
    SYMBOL_SEND_EPILOGUE =
        SYMBOL_SEND_BACKWARD +
        PART_COUNT, // + part: the same in the drain, where options tell them apart
    SYMBOL_EMBEDDING_SYNC = SYMBOL_SEND_EPILOGUE + PART_COUNT, // stage 0 only
    SYMBOL_KIND_COUNT,
};

// A slice's kind, and what it is made of.
static inline int symbol_of_slice(int slice, int kind) { return slice * SYMBOL_KIND_COUNT + kind; }
static inline int symbol_slice(int kind) { return kind / SYMBOL_KIND_COUNT; }
static inline int symbol_base_kind(int kind) { return kind % SYMBOL_KIND_COUNT; }

// Durations and counts are arrays [symbol_count], indexed by this.
static inline int symbol_index(int stage_count, int kind, int stage)
{
    return kind * stage_count + stage;
}
static inline int symbol_count(int stage_count, int slice_count)
{
    return slice_count * SYMBOL_KIND_COUNT * stage_count;
}
const char *symbol_kind_name(
    int kind); // "forward", "send_backward.link", "forward.slice 2" ... of up to SLICES_MAX

struct operation {
    int symbol; // its duration
    int stage; // of the sender, for a transfer (of the receiver, for its half of the overhead): the
               // boundary is in the symbol
    int micro_batch; // -1 for sync, optimizer, embedding sync
};

// An ordered list of operations that exclude one another. A blocking transfer stands in both ends'
// compute streams. An overhead is two operations of one symbol: one right behind the turn that
// sends, in its compute stream, one right before the turn that uses the message, in its. A link is
// one direction between two ranks; all messages of that direction share it, in the order in which
// their producer makes them.
enum stream_kind { STREAM_COMPUTE, STREAM_LINK, STREAM_SYNC };
struct stream {
    enum stream_kind kind;
    int rank;    // of a link: the sender
    int to_rank; // of a link: the receiver; else the rank
    int *operations;
    int count;
};

struct dependence {
    int before, after;
}; // operations; beside the streams' orders

// What a layout fixes of the graph.
struct schedule_request {
    enum schedule_kind kind;
    int stage_count, rank_count, virtual_stages; // stage_count = rank_count x virtual_stages
    int slice_count, micro_batches;
    int local_loss_every; // struct layout
    bool barrier;
    bool sync_overlapped; // a stage's sync waits for its own last gradient only, not for the rank's
    bool parts[PART_COUNT]; // which parts a transfer has; a part without any price is left out
    bool epilogue;          // the drain's backward transfers have symbols of their own
    bool sync, optimizer, embedding_sync;
};

// Initialises a request: one stage a rank, whole sequences, a barrier.
#define SCHEDULE_PLAIN(stages)                                                                     \
    .stage_count = (stages), .rank_count = (stages), .virtual_stages = 1, .slice_count = 1,        \
    .barrier = true

struct schedule {
    struct schedule_request request;
    struct operation *operations;
    int operation_count;
    struct stream *streams;
    int stream_count;
    struct dependence *dependences;
    int dependence_count;
    // Without a barrier: `before` in one iteration ends before `after` in the next begins. T is
    // then the period of the graph repeated for ever: the greatest of length / laps over its
    // cycles, laps = how many of these a cycle takes.
    struct dependence *carried;
    int carried_count;
    // Activations: micro-batches started forward and not yet released (by backward, by the weight
    // gradient where it is split).
    int *in_flight; // [stage]: the most
    // The fullest moments of each rank, rank after rank: in_flight[virtual_stages] by turn of the
    // rank's stages. No moment exceeds one of them; none is below another in all its numbers.
    struct peak {
        int rank;
        int *in_flight;
    } * peaks;
    int peak_count;
};

// ---- where stages stand
int schedule_rank_of(const struct schedule_request *r, int stage);
int schedule_stage_of(const struct schedule_request *r, int rank,
                      int turn); // the rank's turn-th stage, 0 .. virtual_stages-1
bool schedule_is_inner(const struct schedule_request *r,
                       int boundary); // both its stages stand on one rank: nothing is sent
bool schedule_is_local(const struct schedule_request *r,
                       int boundary); // no gradient goes back over it

// Builds the tables and checks them: every micro-batch and pass once, no cycle (a cycle is a
// deadlock: BAD_INPUT).
enum status schedule_build(struct schedule *s, const struct schedule_request *request,
                           struct arena *arena, struct error *err);

// The streams of one micro-batch, each on its own: nothing waits for anything, no ending, no
// memory. A transfer that blocks is two operations here, one at each end. The greatest sum of
// durations over a stream is what objective "max_load" makes least.
enum status schedule_build_load(struct schedule *s, const struct schedule_request *request,
                                struct arena *arena, struct error *err);

// Any order that respects streams and dependences: operation indices, [operation_count]. BAD_INPUT
// names a deadlock.
enum status schedule_order(const struct schedule *s, int *order, struct arena *arena,
                           struct error *err);

struct priced;
struct schedule_request schedule_request_of(const struct priced *p);

#endif
