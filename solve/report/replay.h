// The reports' own walk of a plan's schedule: when every operation starts and ends, and the
// critical path.
#ifndef PLUMBLINE_SOLVE_REPORT_REPLAY_H
#define PLUMBLINE_SOLVE_REPORT_REPLAY_H

#include <stdint.h>

#include "data/results/plan.h"
#include "data/schedule/schedule.h"

struct report_replay {
    struct schedule schedule;
    int64_t *durations;         // [symbol]
    const int64_t *each_ns;     // [operation]: its own duration, as measured; NULL: its symbol's
    int64_t *start_ns, *end_ns; // [operation]
    int *path;                  // the critical path in order of time
    int path_length;
    int64_t iteration_ns; // with a barrier the last end, without one the period
    int64_t span_ns;      // from the first start to the last end
};

// Without a barrier: an iteration after enough others that it no longer changes, with its first
// start at 0. The path is then the longest one to its last end, from where the previous iteration
// lets a rank begin.
enum status report_replay(struct report_replay *r, const struct plan *plan, struct arena *arena,
                          struct error *err);
// The same walk once more, with other durations of operations.
enum status report_replay_again(struct report_replay *r, const struct plan *plan,
                                const int64_t *each_ns, struct arena *arena, struct error *err);

static inline int report_kind_of(const struct report_replay *r, int operation)
{
    return r->schedule.operations[operation].symbol / r->schedule.request.stage_count;
}

// The stage, or for a transfer the boundary, that the operation's symbol names.
static inline int report_place_of(const struct report_replay *r, int operation)
{
    return r->schedule.operations[operation].symbol % r->schedule.request.stage_count;
}

// Whether the operation is a sync that the rank takes part in. path.c
bool report_syncs_rank(const struct report_replay *r, int operation, int rank);

static inline int64_t report_duration_of(const struct report_replay *r, int operation)
{
    return r->each_ns ? r->each_ns[operation]
                      : r->durations[r->schedule.operations[operation].symbol];
}

#endif
