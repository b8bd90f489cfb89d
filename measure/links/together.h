// Sampling with several ranks: the rules of rounds.h, where rank 0 decides and all others follow.
// Cells that run at the same time form a step, steps between the same ranks a turn. Each round
// takes every open turn, in the same shuffled order everywhere; all ranks synchronise before a
// turn, but not between its steps. After a round rank 0 gets the times and decides which steps
// continue. A step continues while any of its cells is not known well enough, so that the cells
// running together stay the same.
#ifndef PLUMBLINE_MEASURE_LINKS_TOGETHER_H
#define PLUMBLINE_MEASURE_LINKS_TOGETHER_H

#include "data/numbers/samples.h"
#include "measure/links/ranks.h"

struct joint_cell {
    struct sample sample; // seconds and what follows from them: at rank 0 only
    int capacity;
    bool done;
};

struct step {
    int first, count;
}; // of the cells; count >= 1
struct turn {
    int first, count;
}; // of the steps

struct joint {
    struct joint_cell *cells;
    int cell_count;
    struct step *steps; // cover the cells in order
    int step_count;
    struct turn *turns; // cover the steps in order
    int turn_count;
};

// One repetition of a cell by this rank. *seconds: the cell's time if this rank knows it,
// otherwise negative (the largest over all ranks counts). `number` differs for every repetition of
// every cell and is the same on all ranks.
typedef enum status joint_function(void *context, const struct sample *sample, uint64_t number,
                                   double *seconds, struct error *err);

enum progress { PROGRESS_NONE, PROGRESS_LINES, PROGRESS_TERMINAL };

struct joint_settings {
    double budget_s, width; // as in struct rounds_settings
    int repetitions_min, repetitions_max, warm_ups;
    uint64_t seed;
    enum progress progress; // at rank 0, on stderr
};

struct joint_result {
    int rounds, repetitions, done, outliers;
    bool interrupted; // by a signal: whole rounds are kept, no more are taken
    double elapsed_s;
};

enum status joint_run(struct joint_result *result, struct ranks *ranks, struct joint *joint,
                      const struct joint_settings *settings, joint_function *repeat, void *context,
                      struct arena *arena, struct error *err);

#endif
