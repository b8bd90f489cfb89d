// Mixtures of paths over a box. A box states for every stage which choices it still allows. A path
// of the graph is a lower bound on every plan, and so is a mixture of paths. Its least value over
// the decisions of a box that cover all layers once, in order, is found by a dynamic programme
// over stages, covered layers and what the boundaries depend on (docs/PROOFS.md 5). All in
// integers, rounded down.
#pragma once

#include "solve/checker/layout/box.h"

enum { WEIGHT_SHIFT = 40, PRICE_SHIFT = 20, RESOURCES_MOST = MOST_SEATS + BUDGETS };

// Price of a byte of a rank at one of its fullest moments (check_peaks), including the working
// memory of the stage of one turn.
struct check_memory_price {
    int rank, moment, turn;
    int64_t price; // in 2^-40 ns; 0: bytes are only compared with the limit
};

// Price of a layer of a kind on a rank: charged for each above the most that the rank may have in
// the box, or if it is negative for each below the least.
struct check_layer_price {
    int rank, kind;
    int64_t price; // in 2^-20 ns
};

struct check_round {
    int64_t *coefficients; // [symbol], in 2^-40: sum over paths of weight x count
    bool has_weights;
    int64_t prices[RESOURCES_MOST]; // in 2^-20 ns; 0: none
    bool counts;                    // counted resources are counted in this round
    wide excess;    // in 2^-40 ns, of every plan, in addition to the tables (chain.h)
    bool by_ranks;  // see mix_ranks.c: one group in the box, nothing counted
    bool decisions; // by ranks: a rank with few goes through them (mix_decisions.c)
    const struct check_memory_price *memory; // where ranks have several stages
    int memory_count;
    const struct check_layer_price *layers; // not by ranks
    int layer_price_count;
};

struct check_mixer;

// counted: resources whose use is tracked exactly in the rounds that require it.
enum status check_open_mixer(struct check_mixer **m, const struct check_choices *c,
                             const bool *counted, struct arena *arena);

// Removes from the box what a plan below bound_ns cannot contain (bound_ns < 0: what no plan can
// contain; weights are then absent). *closed: nothing is left.
enum status check_use_round(struct check_mixer *m, struct check_box *box,
                            const struct check_round *round, int64_t bound_ns, bool *closed);
