// A plan carried out by the kernels of a back end and messages between ranks: what the files of
// this folder share. Rank r of replica d is process d x ranks + r.
//
// The virtual clock: a rank's compute advances by the processor time of its passes. A message
// carries the time at which it was ready; it occupies its lane for as long as it took alone, after
// the messages before it, and what waits for it goes on no earlier than it arrives. So the times do
// not depend on how many processes share a processor. Where other programs use the machine, too,
// an iteration is walked twice: once for its work, and once on the virtual clock, with the lower
// tenth of what each kernel took in it.
#ifndef PLUMBLINE_MEASURE_RUN_RUNNING_H
#define PLUMBLINE_MEASURE_RUN_RUNNING_H

#include "data/inputs/problem.h"
#include "data/results/plan_run.h"
#include "data/schedule/schedule.h"
#include "measure/links/wire.h"
#include "measure/sampling/backend.h"

enum { LANE_REPETITIONS = 48, LAYER_KINDS = 3, GRADIENTS = 3 };

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

// Layers of a pass, in order: cells of the catalogue.
struct pass_work {
    int *cells; // [count]
    int count;
};

struct stage_work {
    struct pass_work passes[EVENT_WEIGHT + 1]; // forward, backward, weight
    int optimizer;                             // cell; -1: no step
    int64_t message_bytes;                     // over the boundary after it
    int64_t gradient_bytes;
};

// What a message says of itself, before its content.
struct stamp {
    int64_t ready_ns, wall_ns;
    int kind, stage, micro_batch, unused;
};

// What a kernel took: all repetitions, of which those from `first` on are this iteration's.
struct cell_times {
    double *seconds, lower_s; // lower_s: their lower tenth
    int count, capacity, first;
};

struct outgoing {
    int send; // number at ranks_send_begin; -1: free
    int64_t capacity;
    unsigned char *data;
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
    int self, replica, rank, replicas, rank_count;
    struct stage_work *stages; // [stage]
    struct cell *cells;        // the catalogue, the same on every rank
    int cell_count;
    struct cell_times *times; // [cell]: on this rank
    bool shared;              // with other programs
    struct lanes lanes;

    // the iteration that is being carried out
    int iteration; // -1: a warm-up
    bool replays;  // its work is done: only the clock is walked
    int64_t now_ns, sync_ns, begin_ns;
    double wall_zero_s;
    int64_t wall_end_ns;              // of the iteration
    int64_t *gradient_ns, *synced_ns; // [stage]: its last gradient; its syncs
    int *own, own_count;              // this rank's stages in the order of their last gradients
    struct outgoing *outgoing;
    int outgoing_count, outgoing_capacity;
    struct stamp *early; // messages that came before they were needed
    int early_count, early_capacity;
    unsigned char *in; // [largest message]
    int64_t largest_bytes;
    struct carried carried;
    struct additions additions;
};

// work.c: BAD_INPUT names what of the plan these kernels cannot run.
enum status run_make_work(struct running *r, struct arena *arena, struct error *err);

// lanes.c
enum status run_time_lanes(struct running *r, struct error *err); // all ranks
struct lane *run_lane(struct running *r, int from, int to, int64_t bytes);
static inline int run_process(const struct running *r, int replica, int rank)
{
    return replica * r->rank_count + rank;
}
int64_t run_ring_chunk(int64_t bytes, int members);

// messages.c
int64_t run_wall_ns(const struct running *r);
void run_note(struct running *r, struct run_event event);
void run_send(struct running *r, struct stamp stamp, int to, int64_t bytes);
// Waits for a message, which does not start before wanted->ready_ns, and returns when it is there
// on the virtual clock.
int64_t run_receive(struct running *r, const struct stamp *wanted, int from, int64_t bytes);
// Waits for an empty answer, and returns the time that it states.
int64_t run_answer(struct running *r, const struct stamp *wanted, int from);
void run_settle(struct running *r); // until all sent messages are taken
// All members: an all-reduce around their ring, which begins at start_ns. Returns its end.
int64_t run_ring(struct running *r, const int *members, int count, int stage, int64_t bytes,
                 int64_t start_ns);

// walk.c: one iteration. *end_ns: the last end of this rank's operations.
void run_iterate(struct running *r, int64_t *end_ns);

#endif
