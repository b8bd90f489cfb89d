// What the files of the program of placements share; for them alone.
#ifndef PLUMBLINE_FORMULATE_PLACED_INTERNAL_H
#define PLUMBLINE_FORMULATE_PLACED_INTERNAL_H

#include "formulate/placed/program.h"

struct placing {
    struct placed_program *f;
    const struct choices *c;
    const struct priced *p;
    const struct priced_places *places;
    struct arena *arena;
    bool *used;   // [symbol]: an operation of the schedule has it
    bool crowded; // some node has room for several device groups
    int *leaves;  // [stage * nodes + node]: the column that says that its ring leaves it
    int *shared;  // [node * (rings_most + 1) + count]: that so many rings do, from 2 on; -1: never
};

static inline int placing_stage(const struct placing *x, int replica, int stage)
{
    return replica * x->f->ranks + stage;
}
static inline int placing_node_column(const struct placing *x, int replica, int rank, int node)
{
    return x->f->node_column[(replica * x->f->ranks + rank) * x->f->nodes + node];
}

// A symbol's column with its range for one replica, none if it is 0 throughout; replica -1: for
// all.
int placing_symbol(struct placing *x, int replica, int symbol, int64_t least, int64_t greatest);

// Transfers over the boundary behind `rank`, and the embedding sync, of one replica.
void placing_add_hops(struct placing *x, int replica, int rank);
void placing_add_embedding(struct placing *x, int replica);
// What says how many rings leave each node, where they share its cards.
void placing_add_sharing(struct placing *x);
// The stage's ring, and the syncs of its replicas.
enum status placing_add_ring(struct placing *x, int stage, struct error *err);
// Replicas, and nodes that do not differ, in one order of all that mean the same.
void placing_add_order(struct placing *x);

#endif
