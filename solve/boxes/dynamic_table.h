// Internals of the dynamic programme, for solve/boxes/dynamic*.c alone. Costs are doubles that hold
// integers below 2^53, so every sum and comparison is exact and rows are processed quickly.
#pragma once

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

// Internals of the dynamic programme by ranks, for solve/boxes/dynamic_ranks*.c alone.
//
// A rank's least cost for N layers is a chain of convolutions over its stages. Its memory limit
// enters by prices per byte: for each price, cost + price x (bytes - limit) is a lower bound, and
// the greatest of these counts, for each N separately. Bytes are taken at one moment of the
// schedule, with the working memory of one stage: never more than the rank's memory, and linear in
// the choices. Where the box leaves a rank few decisions, those that fit are listed instead
// (dynamic_ranks_memory.c): no price is as strong.

enum { TRIES_MAX = 7, BYTE_PRICE_BITS = 30 };
// Of a rank, to go by its decisions: those that fit; beginnings of decisions that are looked at.
enum { DECISIONS_MAX = 1 << 12, VISITS_MAX = 1 << 16 };

// All decisions of a rank that fit into its memory: the choice of each turn.
struct rank_decisions {
    int most, count;       // those with at most so many layers
    int *choices, *layers; // [decision * turns + turn]; [decision]
};

// A price tried on a rank, and its result. Indexed [turn * row + layers].
struct rank_try {
    int64_t price;           // of a byte, multiples of 2^-30 of the costs' unit
    double charge;           // price x limit, rounded up
    double *least;           // of the choices with that many layers
    int *best;               // the choice
    double *before, *behind; // of all stages before turn [0 .. turns]; from this turn on
};

struct rank_table {
    int *stages;                     // by turn
    struct rank_try *tries;          // [TRIES_MAX]; the first has price 0
    int try_count;                   // of the current box
    double *bytes_least;             // [layers]: least bytes of all stages together
    double *cost;                    // [layers]
    int *by;                         // [layers]: the try that gives cost
    double *ahead, *after;           // [layers]: least cost of the ranks before this one; after it
    int least, most;                 // layers, of the current box
    int *turn_least, *turn_most;     // [turn]
    int64_t limit;                   // bytes
    const int *in_flight;            // the current moment, by turn
    int working_turn;                // the stage whose working memory is counted
    int *chosen;                     // scratch of dynamic_ranks_memory.c: [stage_count]
    struct rank_decisions decisions; // most 0: not listed yet
    int too_many;                    // with this many layers or more they cannot be listed
    bool by_decisions;               // the current box: cost, and by: a decision
};

// price x bytes, rounded down.
double rank_priced_bytes(const struct dynamic *d, const struct rank_table *k, int64_t price,
                         int turn, int choice);
// Whether all stages together can exceed the limit in this box. Chooses the moment and the working
// stage.
bool rank_can_overflow(const struct dynamic *d, int rank);
// Prices worth trying if the rank is to hold about this many layers: fills tries[1 ..].price,
// try_count.
void rank_choose_prices(const struct dynamic *d, int rank, int layers);
void rank_fill_bytes(const struct dynamic *d, int rank);
void rank_fill_try(const struct dynamic *d, int rank, int try);
// The decision of the rank that gave cell `layers` of a try.
void rank_trace(const struct dynamic *d, int rank, int try, int layers, int *chosen);
// Where the box leaves few decisions: cost[] and by[] of those that fit. false: there are too many.
bool rank_use_decisions(struct dynamic *d, int rank);
// The bound through each choice of a rank that goes by its decisions.
void rank_bound_decisions(const struct dynamic *d, int rank, const double *others,
                          wide priced_limits, int64_t *const *through_ns);
// Replaces cost[] by the cost of the cheapest decisions found that fit into the rank's memory; by[]
// is their try.
void rank_fit(const struct dynamic *d, int rank);
// As rank_trace, repaired as in rank_fit.
void rank_trace_fitting(const struct dynamic *d, int rank, int try, int layers, int *chosen);
