// Sampling where several ranks take part: the rules of rounds.h, with rank 0 deciding and everybody
// following. Cells that run at the same time form a step, steps between the same ranks a turn. Each
// round takes every turn that is still open, in an order shuffled alike everywhere; all ranks meet
// before a turn, and within it a step follows the other without meeting. After a round rank 0 gets
// the times, and says which steps go on: a step goes on while one of its cells is not known well
// enough, so that those running beside it stay the same.
#ifndef PLUMBLINE_MEASURE_LINKS_TOGETHER_H
#define PLUMBLINE_MEASURE_LINKS_TOGETHER_H

#include "data/inputs/samples.h"
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

// One repetition of a cell by this rank. *seconds: what the cell took, where this rank knows it;
// negative where not (the largest of all ranks counts). `number` differs for every repetition of
// every cell and is the same at all ranks.
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
    bool interrupted; // a signal came: whole rounds are kept, no more are taken
    double elapsed_s;
};

enum status joint_run(struct joint_result *result, struct ranks *ranks, struct joint *joint,
                      const struct joint_settings *settings, joint_function *repeat, void *context,
                      struct arena *arena, struct error *err);

#endif
