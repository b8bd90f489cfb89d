// The order and number of repetitions: rounds over all cells in random order, so that drift of the
// machine affects all cells equally, until each median is known well enough or the time is spent.
// The data are examined only at a few counts (data/numbers/intervals.h), so that the intervals
// hold although they decide when to stop.
#pragma once

#include "measure/sampling/backend.h"

struct rounds_settings {
    double budget_s; // from `begin_s` on; the first repetition of every cell is always taken
    double begin_s;  // on the back end's clock
    double width;    // (high - low) / median of a 95 % interval that is narrow enough
    int repetitions_min, repetitions_max, warm_ups; // the least is raised to the next look; below
                                                    // the first look, the most is how many are
                                                    // taken, whatever the width
    uint64_t seed;
    bool progress;             // a line on stderr that is overwritten
    bool (*interrupted)(void); // called before every repetition; if true, what is there is kept
                               // and no more is taken; NULL: never
    struct cell *yardstick;    // repeated after whole layers of its size and more; NULL: none
};

struct rounds_result {
    int done, repetitions;   // cells that are narrow enough; repetitions of all cells
    int outliers, throttled; // repetitions marked so
    bool interrupted;
    double elapsed_s;
};

// Fills every cell's sample: seconds, repetitions, outliers, conditions, warm_ups and stopped_by.
// Only an interrupted run leaves cells without repetitions; if the machine is too slow for the
// budget, they have fewer than the first look needs.
void rounds_run(struct rounds_result *result, const struct backend *backend, void *session,
                struct cell *cells, int cell_count, const struct rounds_settings *settings,
                struct arena *arena);

// What every sub-command writes with its samples: when, where and how they were taken.

const char *record_time(struct arena *arena); // now, UTC, ISO 8601
const char *record_command(int argc, char **argv,
                           struct arena *arena); // "plumbline measure compute --quick"

// One launch: host and time as in s->machine.
void record_launch(struct samples *s, int64_t seed, const char *command, struct arena *arena);

// Adds the cells' samples; those without a repetition are left out.
void record_cells(struct samples *s, const struct cell *cells, int cell_count, struct arena *arena);

// A block's forward and backward pass in turn, without a rest, as in a training step: what power
// and heat leave of the clocks. Each turn is a repetition of both.

// pairs[2 * pair_count]: forward and backward of a block each, prepared. For each pair `least_s`
// untimed, then as long again, at most TURNS_MOST turns; fewer after a signal. Fills the samples.
enum { TURNS_MOST = 512 };
enum status sustained_run(const struct backend *backend, void *session, struct cell *pairs,
                          int pair_count, double least_s, struct arena *arena, struct error *err);
