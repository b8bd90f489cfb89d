// A schedule as plain tables: the symbolic graph of one iteration of one layout. An operation's
// duration is a symbol; the graph depends only on the layout, never on a choice. Generators are in
// data/schedule/, one file each. The solver and the judge both read the tables, each with its own
// walk.
//
// A *stage* is a run of layers; stages follow each other along the model. A *rank* is what
// computes: it holds one stage, or several if the schedule is interleaved, and has one compute
// stream, one sync stream, and a link to each rank with which it communicates.
#pragma once

#include <assert.h>

#include "data/inputs/job.h"

// Symbols have kinds, separate for each slice of a micro-batch; there is one of each kind per
// stage, or per boundary s between stages s and s+1. Every slice has forward, backward and their
// messages; everything else, including the drain, belongs to the first slice only.
enum symbol_kind {
    SYMBOL_FORWARD,      // of stage s, one slice of a micro-batch
    SYMBOL_BACKWARD,     // the same; only the input gradient if the schedule splits it
    SYMBOL_WEIGHT,       // the weight gradient, if the schedule splits it off backward
    SYMBOL_SYNC,         // of stage s, once its own last gradient (or the rank's) is there
    SYMBOL_OPTIMIZER,    // of stage s, once
    SYMBOL_SEND_FORWARD, // + part: activation over boundary s
    SYMBOL_SEND_BACKWARD = SYMBOL_SEND_FORWARD + PART_COUNT, // + part: gradient over boundary s
    SYMBOL_SEND_EPILOGUE =
        SYMBOL_SEND_BACKWARD +
        PART_COUNT, // + part: the same in the drain, where options distinguish them
    SYMBOL_EMBEDDING_SYNC = SYMBOL_SEND_EPILOGUE + PART_COUNT, // stage 0 only
    SYMBOL_QUEUED_SYNC, // the same sync as SYMBOL_SYNC, in full, once the rank's sync before it is
                        // done; where syncs are overlapped and the rank has several stages
    // Where transfers of swapped layers may run under other passes: what is left of them when the
    // stage's forward pass ends, and what of them must be done before its backward pass begins.
    SYMBOL_AWAY,
    SYMBOL_BACK,
    SYMBOL_KIND_COUNT,
};

// The kind of a slice's symbol, and its components.
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
    int stage; // of the sender, for a transfer (of the receiver, for its half of the overhead); the
               // boundary is in the symbol
    int micro_batch; // -1 for syncs and optimizer
};

// An ordered list of operations that exclude each other. A blocking transfer is in both ends'
// compute streams. An overhead is two operations of one symbol: one right after the turn that
// sends, in the sender's compute stream, and one right before the turn that uses the message, in
// the receiver's. A link is one direction between two ranks; all messages of that direction share
// it, in the order in which they are produced.
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
}; // operations; in addition to the order of streams

// What a layout determines of the graph.
struct schedule_request {
    int kind;
    int stage_count, rank_count, virtual_stages; // stage_count = rank_count x virtual_stages
    int slice_count, micro_batches;
    int local_loss_every; // struct layout
    bool stored_inputs;   // the same
    bool barrier;
    // A stage's sync waits only for its own last gradient, not for the rank's. What is left of it
    // then (SYMBOL_SYNC) and all of it after the sync before it (SYMBOL_QUEUED_SYNC, in the sync
    // stream) are two operations side by side; the first of a rank has no second one.
    bool sync_overlapped;
    bool parts[PART_COUNT]; // which parts a transfer has; a part without any price is left out
    bool epilogue;          // the drain's backward transfers have their own symbols
    bool sync, optimizer, embedding_sync;
    bool across_passes; // some stages' swapped layers may be in transfer under other passes
    unsigned char in_flight[LISTED_STAGES_MAX]; // struct layout
};

// Initialises a request: one stage per rank, whole sequences, a barrier.
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
    // then the period of the graph repeated for ever: the maximum of length / laps over its cycles,
    // where laps is the number of these edges in the cycle.
    struct dependence *carried;
    int carried_count;
    // Activations: micro-batches started forward and not yet released (by backward, or by the
    // weight gradient if that is split off).
    int *in_flight; // [stage]: the maximum
    // The peak moments of each rank, rank after rank: in_flight[virtual_stages], by turn of the
    // rank's stages. Every moment is bounded by one of them; none is below another in all its
    // numbers.
    struct peak {
        int rank;
        int *in_flight;
    } * peaks;
    int peak_count;
};

// ---- the ranks of stages
int schedule_rank_of(const struct schedule_request *r, int stage);
int schedule_stage_of(const struct schedule_request *r, int rank,
                      int turn); // the rank's turn-th stage, 0 .. virtual_stages-1
// Both the boundary's stages are on one rank: nothing is sent.
static inline bool schedule_is_inner(const struct schedule_request *r, int boundary)
{
    assert(boundary >= 0 && boundary + 1 < r->stage_count);
    return r->virtual_stages > 1 &&
           schedule_rank_of(r, boundary) == schedule_rank_of(r, boundary + 1);
}
// No gradient goes back over it.
static inline bool schedule_is_local(const struct schedule_request *r, int boundary)
{
    return r->local_loss_every > 0 && (boundary + 1) % r->local_loss_every == 0;
}
// Activations go over it.
static inline bool schedule_sends(const struct schedule_request *r, int boundary)
{
    return !schedule_is_inner(r, boundary) && !(r->stored_inputs && schedule_is_local(r, boundary));
}
int schedule_segment_end(const struct schedule_request *r,
                         int rank); // the last rank that waits for its messages, or itself

// Builds the tables and checks them: every micro-batch and pass occurs once, and there is no cycle
// (a cycle is a deadlock: BAD_INPUT).
enum status schedule_build(struct schedule *s, const struct schedule_request *request,
                           struct arena *arena, struct error *err);

// The streams of one micro-batch, each on its own: nothing waits for anything, and there is no
// ending and no memory. Here a blocking transfer is two operations, one at each end. The maximum
// sum of durations over a stream is what objective "max_load" minimises.
enum status schedule_build_load(struct schedule *s, const struct schedule_request *request,
                                struct arena *arena, struct error *err);

// An order that respects streams and dependences: operation indices, [operation_count]. BAD_INPUT
// names a deadlock.
enum status schedule_order(const struct schedule *s, int *order, struct arena *arena,
                           struct error *err);

struct priced;
struct schedule_request schedule_request_of(const struct priced *p);
enum status schedule_build_priced(struct schedule *s, const struct priced *p, struct arena *arena,
                                  struct error *err); // schedule_build of that request
