// A plan beside a run of it: what was predicted and what was measured, and what the difference is
// made of.
#pragma once

#include "data/results/plan_run.h"
#include "solve/report/report.h"

// Of one kind, stage and slice: the plan's time, and the median of all events of all iterations
// with its 95 % interval.
struct against_row {
    enum run_event_kind kind;
    int stage, slice, rank, count;
    int64_t predicted_ns;
    double measured_ns, low_ns, high_ns;
};

// Steps from the predicted to the measured time: the plan's graph replayed with measured durations
// of one kind after another. What the last replay leaves is the schedule model's: waits that the
// graph does not have, and work outside the plan's operations.
enum against_step {
    AGAINST_FORWARD,
    AGAINST_BACKWARD,
    AGAINST_WEIGHT,
    AGAINST_OPTIMIZER,
    AGAINST_SYNC,
    AGAINST_TRANSFER,
    AGAINST_MODEL,
    AGAINST_STEPS
};
extern const char *const against_step_names[]; // [AGAINST_STEPS]

// The plan's memory if no stage recomputed anything: of the rank that comes nearest to its limit,
// or exceeds it most.
struct against_kept {
    bool known, fits;
    int rank;
    int64_t bytes, limit_bytes;
};

struct against {
    const struct plan *plan;
    const struct plan_run *run;
    struct against_row *rows; // [row_count]
    int row_count;
    struct report_replay predicted, measured; // measured: the typical iteration, as it was
    int64_t measured_ns, low_ns, high_ns;     // its time; the fastest and the slowest iteration
    int64_t steps_ns[AGAINST_STEPS];          // their sum is measured - predicted
    int replica;                              // that ended last in it
    int64_t *each_ns;                         // [operation] as measured in it
    struct against_kept kept;
    // What the plan's costs say of the machine of its first node group; NULL: they are not there.
    const struct gpu_costs *gpu;
    const struct node_group *group;
    enum precision precision;
    double intra_efficiency;
};

enum status against_find(struct against *a, const struct plan *plan, const struct plan_run *run,
                         struct arena *arena, struct error *err);
void against_take_costs(struct against *a, const struct problem *problem); // NULL: none
// Every kernel and ring of the run, and how it differs from its price; false: it has none.
bool against_kernels_table(struct report_table *t, const struct against *a, struct arena *arena);
void against_text(struct text *out, const struct against *a);
void against_summary(struct text *out, const struct against *a); // without passes and charts
// For a page: the same as text, in tables, and the charts.
void against_page(struct text *out, const struct against *a);

// What of a run costs most time: a slow rank, a slow link, recomputation, an unbalanced split.

enum against_fault_kind {
    AGAINST_SLOW_RANK,
    AGAINST_SLOW_LINK,
    AGAINST_SLOW_SYNC,
    AGAINST_RECOMPUTES,
    AGAINST_UNBALANCED
};

struct against_fault {
    enum against_fault_kind kind;
    int replica, rank, stage; // stage: the boundary after it, for a link; -1: none
    double factor;            // over the usual time; moved layers
    bool backward, planned;   // of a link's messages; of recomputation
    int64_t gain_ns;          // of the iteration, without it
    double gain;              // the same as a share
};

enum { AGAINST_FAULTS_MOST = 64 };
struct against_faults {
    struct against_fault items[AGAINST_FAULTS_MOST]; // [count], the greatest gain first
    int count;
};

static const double against_fault_least = 0.03; // of the iteration: below it nothing is named

enum status against_find_faults(struct against_faults *f, struct against *a, struct arena *arena,
                                struct error *err);
void against_faults_text(struct text *out, const struct against_faults *f, const struct against *a);
