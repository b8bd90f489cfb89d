// Shared by the files of the program of placements, and internal to them.
#pragma once

#include "tests/support/placed_program/program.h"

struct placing {
    struct placed_program *f;
    const struct choices *c;
    const struct priced *p;
    const struct priced_places *places;
    struct arena *arena;
    bool *used;   // [symbol]: an operation of the schedule has it
    bool crowded; // some node has room for several device groups
    int *leaves;  // [stage * nodes + node]: the column that is 1 if its ring leaves the node
    int *shared;  // [node * (rings_most + 1) + count]: that `count` rings do, from 2 on; -1: never
};

static inline int placing_stage(const struct placing *x, int replica, int stage)
{
    return replica * x->f->ranks + stage;
}
static inline int placing_node_column(const struct placing *x, int replica, int rank, int node)
{
    return x->f->node_column[(replica * x->f->ranks + rank) * x->f->nodes + node];
}

// A symbol's column with its range for one replica, none if it is always 0; replica -1: for all.
int placing_symbol(struct placing *x, int replica, int symbol, int64_t least, int64_t greatest);

// Transfers over the boundary after `rank`, and the embedding sync, of one replica.
void placing_add_hops(struct placing *x, int replica, int rank);
void placing_add_embedding(struct placing *x, int replica);
// Counts the rings that leave each node, if they share its cards.
void placing_add_sharing(struct placing *x);
// The stage's ring, and the syncs of its replicas.
enum status placing_add_ring(struct placing *x, int stage, struct error *err);
// Orders replicas, and nodes that do not differ, so that one of all equivalent plans remains.
void placing_add_order(struct placing *x);
