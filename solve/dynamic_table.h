// The inside of the dynamic programme, for solve/dynamic*.c alone.
#ifndef PLUMBLINE_SOLVE_DYNAMIC_TABLE_H
#define PLUMBLINE_SOLVE_DYNAMIC_TABLE_H

#include "data/cluster.h"
#include "solve/dynamic.h"

#define NOT_REACHED (INT64_MAX / 4)

// What a boundary depends on: the sender's group and message class, the receiver's group and compression.
struct state { int group, cut, option, choice; };       // choice: one that has this state

struct stage_table {
    struct state *states;
    int state_count;
    int *state_of;              // [choice]
    int64_t *cost;              // [choice], of the box at hand; NOT_REACHED: not allowed
    int64_t *boundary;          // [state of the stage before * state_count + state]
    int64_t *forward;           // [state][slots][layers]: least cost up to this stage
    int64_t *backward;          // the same: least cost of the stages behind it
    int least, most;            // layers that can be covered behind this stage
};

struct dynamic {
    const struct choices *c;
    int stage_count, layers, group_count, symbols_stage_count;
    int slot_states, row;               // rows per state; cells per row
    int stride[GROUPS_MAX];             // of a counted group in the slots' index; 0: not counted
    int implied;                        // group whose count follows from the others', or -1
    int *slots_used;                    // [slots' index], in counted groups
    bool *can_take[GROUPS_MAX];         // [group][slots' index]
    struct stage_table *stages;
    int64_t *entry;                     // scratch: least cost before the stage at hand, by its state
    int fraction_bits;                  // of the costs of the box at hand
};

// Costs of all choices and boundaries for the box at hand; what the prices take off the sum, in the same unit.
void dynamic_price_box(struct dynamic *d, const struct dynamic_box *box, wide *priced_limits);

#endif
