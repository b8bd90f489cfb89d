// What the files of chains share; for them alone.
#ifndef PLUMBLINE_SOLVE_CHAINS_PARTS_H
#define PLUMBLINE_SOLVE_CHAINS_PARTS_H

#include "solve/chains.h"

static inline bool chains_have_ring(const struct chains *c) { return c->ring && c->chain_count > 1; }
int64_t chains_hop(const struct chains *c, int position, int from, int to);

// chains_exact.c: result->order and value become the best there is, and bound the value.
void chains_prove(struct chains_result *result, const struct chains *c, struct arena *arena);

// chains_ring.c: of every set of `size` nodes the least dearest link of a ring through them all; least[1 << nodes], sets of
// other sizes CHAIN_NONE.
void rings_of_sets(int64_t *least, const int64_t *link, int node_count, int size, struct arena *arena);

#endif
