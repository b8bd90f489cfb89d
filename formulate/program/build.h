// Shared by the files of the choices formulation while they build it.
#ifndef PLUMBLINE_FORMULATE_PROGRAM_BUILD_H
#define PLUMBLINE_FORMULATE_PROGRAM_BUILD_H

#include "formulate/program/formulate.h"

// What the neighbours of a stage see of its choice: to them, all choices of one state are alike.
struct state {
    int group, boundary_option, cut;
    int column; // sum of its choices; -1: the stage's only state, the sum is 1
};

struct stage_states {
    struct state *items;
    int count;
    int *of_choice; // [choice]
};

struct builder {
    struct formulation *f;
    const struct choices *c;
    const struct priced *p;
    struct arena *arena;
    bool *used;                  // [symbol]: an operation of the schedule has it
    struct stage_states *states; // [stage]
};

// Adds entries for coefficient x (choices of the stage on this group); returns the constant part.
int64_t put_group(struct builder *b, int stage, int group, int64_t coefficient);
// Couples the stages of one rank: one group, and memory.
void add_rank_rows(struct builder *b);

bool *symbols_used(const struct choices *c, struct arena *arena); // by the paths of the objective
// A symbol's column with its range; none if it is always 0.
int add_symbol_column(struct formulation *f, int symbol, int64_t least, int64_t greatest);
// The symbols whose duration two stages determine together: transfers over boundaries, the
// embedding sync.
void add_joints(struct builder *b);

#endif
