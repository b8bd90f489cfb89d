// Internals of the dynamic programme, for solve/boxes/dynamic*.c alone. Costs are doubles that hold
// integers below 2^53, so every sum and comparison is exact and rows are processed quickly.
#ifndef PLUMBLINE_SOLVE_BOXES_DYNAMIC_TABLE_H
#define PLUMBLINE_SOLVE_BOXES_DYNAMIC_TABLE_H

#include "data/places/cluster.h"
#include "solve/boxes/dynamic.h"

enum { COST_BITS = 50, RESOURCES_MAX = SEATS_MAX + BUDGET_COUNT };
#define NOT_REACHED 0x1p60

// What a boundary depends on: the sender's group and message class, the receiver's group and
// compression.
struct state {
    int group, cut, option, choice;
}; // choice: one that has this state

// Choices of one stage that use the same counted resources, and the uses from which they can be
// taken.
struct use_class {
    int64_t uses[RESOURCES_MAX];
    int shift;            // of the index of uses
    int *rows, row_count; // indices of uses before the stage
};

struct stage_table {
    struct state *states;
    int state_count;
    int *state_of, *class_of; // [choice]
    struct use_class *classes;
    int class_count;
    int *rows, row_count; // indices of uses before this stage that can be reached and completed
    double *cost;         // [choice], of the current box; NOT_REACHED: not allowed
    wide *value;          // [choice], of the current box, in 2^-40 ns, without prices
    int64_t *resident;    // [choice], bytes besides activations and working memory
    int *active, active_count; // choices considered: by ranks those allowed in the current box,
                               // else all of them
    int64_t *parts;   // [(state of the stage before * state_count + state) * boundary_kind_count],
                      // PRICE_NONE: not joined
    double *boundary; // [state of the stage before * state_count + state]
    // States with which every boundary costs the same: the first of them, for the boundary before
    // this stage and for the one after it.
    int *same_before, *same_after; // [state]
    // [state * use_count + index of uses]: some choice of the state can be taken from there; leads
    // there. NULL: one index.
    bool *enters, *leaves;
    double *forward;  // [state][uses][layers]: least cost up to this stage
    double *backward; // the same: least cost of the stages after it
    int least, most;  // layers that can be covered after this stage
};

struct rank_table; // solve/boxes/dynamic_ranks.c
// Of a row: the first and the last number of layers that are reached; none: last < first.
struct reached {
    int first, last;
};

struct dynamic {
    const struct choices *c;
    int *boundary_kinds,
        boundary_kind_count;  // of the symbols of a boundary, in the order of `parts`
    struct rank_table *ranks; // [rank]; NULL: stage by stage
    struct arena *arena;
    int stage_count, layers, group_count;
    int use_count, row;           // rows per state, one for each index of uses; cells per row
    int64_t limit[RESOURCES_MAX]; // INT64_MAX: none
    int stride[RESOURCES_MAX];    // of a counted resource in the index of uses; 0: not counted
    int implied;                  // the group whose count follows from the others', or -1
    struct stage_table *stages;
    int *last_rows, last_row_count; // indices of uses after the last stage
    double *entry;                  // scratch: least cost before the current stage, by its state
    double *merged;                 // scratch: of one state
    double *blank;                  // a row of NOT_REACHED
    struct reached *reached;        // scratch: [index of a row before the current stage]
    bool *wanted;                   // scratch: [state * use_count + index of a row]
    int fraction_bits;              // of the costs of the current box, below the nanosecond
};

// Decides which resources are counted, within the number of cells; fills the use classes and rows
// of every stage.
void dynamic_count_uses(struct dynamic *d, int64_t cells_max, int64_t cells_per_use,
                        struct arena *arena);
// Sets the costs of all choices and boundaries for the current box; *priced_limits is what the
// prices subtract from the sum, in the same unit.
void dynamic_price_box(struct dynamic *d, const struct dynamic_box *box, wide *priced_limits);
// Each cell of `to` becomes the lesser of itself and the cell of `from` plus a cost.
void dynamic_lower_row(double *restrict to, const double *restrict from, double cost, int count);
// The numbers of layers covered before stage s from which choice i can be completed: [*first,
// *last]. false: from none.
bool dynamic_span_of(const struct dynamic *d, int s, int i, int *first, int *last);
// A cost in whole nanoseconds: an iteration time is an integer, so a bound may be rounded up.
int64_t dynamic_cost_to_ns(const struct dynamic *d, double cost, wide priced_limits);

// ---- by ranks: whether the choices allow it, the tables, and the answer once the box is priced
bool dynamic_ranks_possible(const struct dynamic *d);
void dynamic_ranks_open(struct dynamic *d, struct arena *arena);
void dynamic_ranks_solve(struct dynamic *d, const struct dynamic_box *box, wide priced_limits,
                         struct dynamic_answer *answer);

#endif
