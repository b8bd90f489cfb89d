// A run: a plan carried out, every pass, message and sync with its start and end. The passes' times
// are those of the plan's own operations, so a run can be laid beside its plan.
#pragma once

#include "data/numbers/samples.h"
#include "data/results/plan.h"

enum runner { RUNNER_OWN, RUNNER_TORCH };
extern const char *const runner_names[]; // "own", "torch"

// Of the starts and ends: processor time, with stamps inside messages; or the wall clock.
enum run_clock { CLOCK_VIRTUAL, CLOCK_WALL };
extern const char *const run_clock_names[]; // "virtual", "wall"

enum run_end { RUN_FINISHED, RUN_INTERRUPTED };

// In the order of an iteration; a message belongs to the boundary after a stage.
enum run_event_kind {
    EVENT_FORWARD,
    EVENT_BACKWARD, // only the inputs' gradients where the schedule splits it
    EVENT_WEIGHT,
    EVENT_SEND_FORWARD,
    EVENT_SEND_BACKWARD,
    EVENT_SYNC,
    EVENT_EMBEDDING_SYNC,
    EVENT_OPTIMIZER,
    EVENT_KIND_COUNT
};
extern const char *const run_event_names[];

// Times from the start of its iteration. A message's rank is its receiver.
struct run_event {
    enum run_event_kind kind;
    int iteration, replica, rank, stage;
    int micro_batch;   // -1: of the whole iteration
    int slice, tensor; // of a sliced sequence; of the tensor ranks
    int64_t start_ns, end_ns, wall_start_ns, wall_end_ns;
};

// yardstick_ns: what a reference layer took beside its passes, the lower tenth of the processor
// times of all ranks; 0: none was timed.
struct run_iteration {
    int64_t ns, wall_ns, yardstick_ns;
};

struct run_rank {
    int replica, rank, tensor;
    const char *host;
    int64_t peak_bytes; // that it held at once; 0: not observed
};

struct plan_run {
    struct document document;
    const char *name; // of the plan
    enum runner with;
    enum run_clock clock;
    enum run_end end;
    struct run_iteration *iterations; // [iteration_count], warm-ups not included
    int iteration_count;
    struct run_rank *ranks; // [rank_count]: of one replica after the other
    int rank_count;
    struct run_event *events; // [event_count]
    int event_count;
    int64_t yardstick_ns;   // the same of all iterations
    double speed;           // by which plan_run_at_speed multiplied its times; 0: it did not
    struct samples samples; // layers, optimizer steps and messages that were timed on the way
};

extern const struct members plan_run_members; // its keys (data/text/members.h)
enum status plan_run_load(struct plan_run *r, const char *path, struct arena *arena,
                          struct error *err);
enum status plan_run_save(const struct plan_run *r, const char *path, struct arena *arena,
                          struct error *err);
int64_t plan_run_median_ns(const struct plan_run *r, struct arena *arena); // of its iterations
// Of its iterations the one whose time is the median: its number.
int plan_run_typical(const struct plan_run *r, struct arena *arena);

// Brings a run on the virtual clock to the speed of a machine on which the reference product takes
// so long: iterations, passes, messages, layers. 0, or a run without yardstick: as it is.
void plan_run_at_speed(struct plan_run *r, double yardstick_s);

// BAD_INPUT: the run is of another plan.
enum status plan_run_check(const struct plan_run *r, const struct plan *plan, struct error *err);
