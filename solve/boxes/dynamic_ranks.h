// Internals of the dynamic programme by ranks, for solve/boxes/dynamic_ranks*.c alone.
//
// A rank's least cost for N layers is a chain of convolutions over its stages. Its memory limit
// enters by prices per byte: for each price, cost + price x (bytes - limit) is a lower bound, and
// the greatest of these counts, for each N separately. Bytes are taken at one moment of the
// schedule, with the working memory of one stage: never more than the rank's memory, and linear in
// the choices. Where the box leaves a rank few decisions, those that fit are listed instead
// (dynamic_decisions.c): no price is as strong.
#ifndef PLUMBLINE_SOLVE_BOXES_DYNAMIC_RANKS_H
#define PLUMBLINE_SOLVE_BOXES_DYNAMIC_RANKS_H

#include "solve/boxes/dynamic_table.h"

enum { TRIES_MAX = 7, BYTE_PRICE_BITS = 30 };
enum { DECISIONS_MAX = 1 << 12 }; // of a rank in a box, fitting or not, to go by them

// A price tried on a rank, and its result. Indexed [turn * row + layers].
struct rank_try {
    int64_t price;           // of a byte, multiples of 2^-30 of the costs' unit
    double charge;           // price x limit, rounded up
    double *least;           // of the choices with that many layers
    int *best;               // the choice
    double *before, *behind; // of all stages before turn [0 .. turns]; from this turn on
};

struct rank_table {
    int *stages;                      // by turn
    struct rank_try *tries;           // [TRIES_MAX]; the first has price 0
    int try_count;                    // of the current box
    double *bytes_least;              // [layers]: least bytes of all stages together
    double *cost;                     // [layers]
    int *by;                          // [layers]: the try that gives cost
    double *ahead, *after;            // [layers]: least cost of the ranks before this one; after it
    int least, most;                  // layers, of the current box
    int *turn_least, *turn_most;      // [turn]
    int64_t limit;                    // bytes
    const int *in_flight;             // the current moment, by turn
    int working_turn;                 // the stage whose working memory is counted
    int *chosen;                      // scratch of dynamic_ranks_memory.c: [stage_count]
    struct rank_decisions *decisions; // NULL: not listed yet
    bool by_decisions;                // the current box: cost, and by: a decision
};

// All decisions of a rank that fit into its memory: the choice of each turn.
struct rank_decisions {
    int count;             // -1: too many to be listed
    int *choices, *layers; // [decision * turns + turn]; [decision]
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

#endif
