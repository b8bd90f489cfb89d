// A plan carried out by the kernels of a back end and messages between ranks: what the files of
// this folder share. Tensor rank t of rank r of replica d is process (d x ranks + r) x tensor + t.
// Context ranks are counted among the replicas, those of one after the other: all have the stage's
// weights, and sum their gradients.
//
// What a rank does is a list of actions: kernels, and rings over its tensor ranks or over the
// replicas of its stage.
//
// The virtual clock: a rank's compute advances by the processor time of its passes. A message
// carries the time at which it was ready; it occupies its lane for as long as it took alone, after
// the messages before it, and what waits for it goes on no earlier than it arrives. So the times do
// not depend on how many processes share a processor. Where other programs use the machine, too,
// an iteration is walked twice: once for its work, and once on the virtual clock, with the lower
// tenth of what each kernel took in it and in those before.
#pragma once

#include "data/results/plan_run.h"
#include "measure/links/wire.h"
#include "measure/sampling/backend.h"

enum { LANE_REPETITIONS = 48 };

// Messages of one size from one process to another, each time alone.
struct lane {
    int from, to;
    int64_t bytes;
    double seconds[LANE_REPETITIONS], empty_s[LANE_REPETITIONS]; // an empty one's
    int64_t occupied_ns, latency_ns;                             // together the fastest
    int64_t free_ns, free_before_ns; // on the virtual clock: when the next one may start; as the
                                     // iteration found it
};

struct lanes {
    struct lane *items;
    int count, capacity;
};

// How often a ring is gone around: an all-reduce, or one of its halves; or once, each member
// passing on what it got; or every member sends every other one its part.
enum ring_rounds { RING_SUM, RING_SCATTER, RING_GATHER, RING_STEPS, RING_EXCHANGE };
// Whose ranks are its members. Of a mixture: those that hold parts of one expert, those that hold
// all experts once, those with the same ones.
enum ring_of {
    RING_OF_TENSOR,
    RING_OF_DATA,
    RING_OF_CONTEXT,
    RING_OF_PARTS,
    RING_OF_EXPERTS,
    RING_OF_COPIES
};

// A kernel, or a ring of so many bytes. beside: the ring runs beside the pass, whose next kernel
// waits for what is gathered, and whose end waits for all.
struct action {
    int cell; // of the catalogue; -1: a ring
    enum ring_of of;
    bool beside;   // overlapped gradient sync
    bool by_stage; // once an iteration: a gather in the first micro-batch, a scatter in the last
    bool in_sync;  // of an overlapped sync: once an iteration, on the clock of syncs
    enum ring_rounds rounds;
    int64_t bytes;
    int hides; // cell + 1 of which a repetition passes in every step, as the action before has
               // them; 0: none
};

struct actions {
    struct action *items;
    int count, capacity;
};

// Over the boundary after a stage. Backward it may be packed, in the drain only.
struct message_work {
    int64_t bytes[SLICES_MAX], packed_bytes; // packed_bytes 0: not packed
    int pack, unpack;                        // cells
    bool drain_only, *drains;                // [micro-batch]
};

struct stage_work {
    struct actions *passes[EVENT_WEIGHT + 1]; // forward, backward, weight: [slice]
    struct actions sync, embedding_sync;      // count 0: none
    int optimizer;                            // cell; -1: no step
    struct message_work message;
    int64_t kept_bytes[SLICES_MAX]; // of a slice of a micro-batch; 0: not known
    int64_t working_bytes;          // while a pass runs
    int64_t state_bytes;            // weights, gradients, the optimizer's state, feedback
    int64_t feedback_bytes;         // of what the stage sends backward
    struct turn_of_stage {
        int micro_batch, slice;
    } first[EVENT_WEIGHT + 1], last[EVENT_WEIGHT + 1]; // in the order of its rank
};

// What a message says of itself, before its content.
struct stamp {
    int64_t ready_ns, wall_ns, packing_ns; // packing_ns: before it was ready
    int64_t begun_ns;                      // of a ring: when the last member so far began
    int kind, stage, micro_batch, slice, from, unused;
};

// What a kernel took since the warm-up.
struct cell_times {
    double *seconds, lower_s; // lower_s: their lower tenth
    int count, capacity;
};

struct outgoing {
    int send; // number at ranks_send_begin; -1: free
    int64_t capacity;
    unsigned char *data;
};

// What a rank holds, in pages that the system has given it.
struct held {
    bool off;                             // not observed
    int64_t bytes, peak_bytes, own_bytes; // own_bytes: of the process before its kernels' operands
    struct held_piece {
        int stage, micro_batch, slice;
        char *at;
        int64_t bytes;
    } * pieces;
    int count, capacity;
};

struct carried {
    struct run_event *events;
    int count, capacity, at; // at: the event of this iteration whose times are noted next
};

// Times of additions in rings, in order.
struct additions {
    int64_t *ns;
    int count, capacity, at;
};

// What a kind of ring took on the virtual clock, from when its last member had come.
struct ring_times {
    enum ring_of of;
    enum ring_rounds rounds;
    int member_count, *members, count, capacity;
    int64_t bytes;
    double *seconds;
};

struct running {
    struct arena *arena;
    const struct plan *plan;
    const struct problem *problem;
    struct schedule schedule;
    struct ranks *ranks;
    struct roster roster;
    struct wire wire;
    const struct backend *backend;
    void *session;

    bool patient; // how the ranks wait, but for the timing of lanes
    bool stated;  // what links take, sums on their way included; else it is measured
    int self, replica, rank, tensor, replicas, rank_count, tensor_count;
    int *members;              // of the ring that is gone around
    struct stage_work *stages; // [stage]
    struct cell *cells;        // the catalogue, the same on every rank
    int cell_count, yardstick; // yardstick: the cell taken after every pass; -1: none
    struct cell_times *times;  // [cell]: on this rank
    bool shared;               // with other programs
    struct lanes lanes;

    // the iteration that is being carried out
    int iteration;                      // -1: a warm-up
    bool replays;                       // its work is done: only the clock is walked
    int64_t now_ns, sync_ns, beside_ns; // beside_ns: of rings beside the pass
    int64_t ring_begun_ns;              // when the last member of the last ring had come
    double wall_zero_s;
    int64_t wall_end_ns;              // of the iteration
    int64_t *gradient_ns, *synced_ns; // [stage]: its last gradient; its syncs
    int64_t *beside_synced_ns;        // [stage]: those beside its passes
    int *own, own_count;              // this rank's stages in the order of their last gradients
    struct outgoing *outgoing;
    int outgoing_count, outgoing_capacity;
    struct stamp *early; // messages that came before they were needed
    int early_count, early_capacity;
    unsigned char *in; // [largest message]
    int64_t largest_bytes;
    struct held held;
    struct carried carried;
    struct additions additions;
    struct ring_times *ring_times;
    int ring_times_count, ring_times_capacity;
};

// work.c: BAD_INPUT names what of the plan these kernels cannot run.
enum status run_make_work(struct running *r, struct arena *arena, struct error *err);
struct catalogue;
int run_cell(struct catalogue *c, enum work work, enum sample_kind kind, const char *operation,
             const int64_t dimensions[4], double flop, double bytes);
void run_add_cell(struct running *r, struct actions *to, int cell);
void run_add_ring(struct running *r, struct actions *to, struct action ring); // bytes 0: none

// values.c: of a layer, on one tensor rank, without its experts; and of these.
int64_t run_values(const struct running *r, const struct layer_run *layers);
int64_t run_expert_values(const struct running *r, const struct layer_run *layers);
int64_t run_vocabulary(const struct running *r); // padded, of one tensor rank
// Of a block: rows and columns of its matrices. Returns their number.
enum { BLOCK_MATRICES_MAX = 5 };
int run_matrices(const struct running *r, const struct layer_run *layers,
                 int64_t matrices[BLOCK_MATRICES_MAX][2]);

// experts.c: what a mixture's layer does besides attention and shared experts, of so many tokens.
enum status run_check_experts(const struct running *r, struct error *err);
void run_add_experts(struct running *r, struct catalogue *c, const struct layer_run *layers,
                     int64_t tokens, enum pass pass, enum gradients gradients, struct actions *to);
// What it keeps for its backward pass, and needs while that runs, in bytes.
int64_t run_experts_keep(const struct running *r, const struct layer_run *layers, int64_t tokens,
                         enum pass backward, int64_t *working);
static inline int64_t run_tokens(const struct running *r, int slice) // of a context rank
{
    const struct layout *l = &r->plan->layout;
    return l->micro_batch *
           (l->slice_count > 1 ? l->slices[slice] : r->problem->job.sequence / l->context);
}

// endings.c: what follows the passes, and messages.
void run_add_ending(struct running *r, struct catalogue *c, int stage);
// Of an overlapped sync: a layer's part.
void run_add_layer_sync(struct running *r, struct catalogue *c, int stage,
                        const struct layer_run *layers, struct actions *to);
void run_add_message(struct running *r, struct catalogue *c, int stage);

// lanes.c
enum status run_time_lanes(struct running *r, struct error *err); // all ranks
void run_add_lane(struct running *r, int from, int to, int64_t bytes);
struct lane *run_lane(struct running *r, int from, int to, int64_t bytes);
static inline int run_process(const struct running *r, int replica, int rank, int tensor)
{
    return (replica * r->rank_count + rank) * r->tensor_count + tensor;
}
static inline int run_expert_parts(const struct running *r)
{
    return layout_expert_tensor(&r->plan->layout);
}
static inline int run_expert_degree(const struct running *r)
{
    return r->plan->layout.expert > 1 ? r->plan->layout.expert : 1;
}
static inline int run_process_count(const struct running *r)
{
    return r->replicas * r->rank_count * r->tensor_count;
}

// rings.c
int run_ring_size(const struct running *r, enum ring_of of);
void run_add_ring_lanes(struct running *r); // of every ring of the plan
// All members: a ring that begins at start_ns. Returns its end.
int64_t run_ring(struct running *r, int stage, const struct action *ring, int64_t start_ns);
// Between the end stages, which share a matrix.
int64_t run_embedding_ring(struct running *r, const struct action *ring, int64_t start_ns);
bool run_in_embedding_ring(const struct running *r);

// ring_times.c
void run_note_ring(struct running *r, const struct action *ring, int members, int64_t end_ns);
void run_gather_rings(struct running *r, struct samples *to); // all ranks: to the first one

// held.c. The slice of a piece that is only working memory; stage -1: held until the end.
enum { WORKING_PIECE = SLICES_MAX };
void run_hold(struct running *r, int stage, int micro_batch, int slice, int64_t bytes);
void run_release(struct running *r, int stage, int micro_batch, int slice);
void run_hold_stage(struct running *r, int stage); // its states and buffers of messages
int64_t run_peak_bytes(const struct running *r);   // 0: not observed

// messages.c
int64_t run_wall_ns(const struct running *r);
void run_note(struct running *r, struct run_event event);
void run_send(struct running *r, struct stamp stamp, int to, int64_t bytes);
// Waits for a message, which does not start before wanted->ready_ns, and returns when it is there
// on the virtual clock. unpack: the cell that unpacks it; -1: it is not packed.
int64_t run_receive(struct running *r, const struct stamp *wanted, int from, int64_t bytes,
                    int unpack);
// Waits for an empty answer, and returns the time that it states.
int64_t run_answer(struct running *r, const struct stamp *wanted, int from);
// The same of any message: its stamp.
struct stamp run_await(struct running *r, const struct stamp *wanted, int from);
void run_settle(struct running *r); // until all sent messages are taken

// actions.c: in their order, from r->now_ns on.
double run_repeat(struct running *r, int cell);
void run_actions(struct running *r, const struct actions *a, struct run_event of);
// From r->sync_ns on. *begun_ns grows by what the other members came later than this one.
void run_sync(struct running *r, const struct actions *a, int stage, int64_t *begun_ns);

// walk.c: one iteration. *end_ns: the last end of this rank's operations.
void run_iterate(struct running *r, int64_t *end_ns);

// The kernels of a plan while they are put together.

struct catalogue {
    struct chooser chooser;
    int zero;                    // of the passes and syncs
    const struct shape **shapes; // [run of the model]: what its layers' kernels run
};

// The document of a run.

struct run_words {
    const char *output, *name, *command;
    int64_t seed;
    bool interrupted;
};

// All ranks, with the iterations that all of them have finished; the first one writes.
enum status run_save(struct running *r, const struct run_iteration *iterations, int count,
                     const struct run_words *words, struct error *err);
// A process's items at the first one, in rank order; there *count becomes their number. The
// process itself gets NULL, and so do the others.
void *run_gather(struct running *r, int from, const void *own, int *count, size_t each);
