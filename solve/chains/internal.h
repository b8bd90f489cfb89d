// Internals shared by the files of chains.
#pragma once

#include "solve/chains/chains.h"

static inline bool chains_have_ring(const struct chains *c)
{
    return c->ring && c->chain_count > 1;
}
int64_t chains_hop(const struct chains *c, int position, int from, int to);
int64_t chain_value(const struct chains *c, const int *chain);

// search.c: sets the best order found, and its value.
void chains_search(struct chains_result *result, const struct chains *c,
                   const struct chains_settings *settings, struct arena *arena);

// exact.c: sets result->order and value to the best there is, and bound to the value; stopped
// early, to the best found, and to a bound below it.
void chains_prove(struct chains_result *result, const struct chains *c,
                  const struct chains_settings *settings, struct arena *arena);

// bound.c: sets bound such that no order whose value is below result->value is below it.
void chains_bound(struct chains_result *result, const struct chains *c,
                  const struct chains_settings *settings, struct arena *arena);

// paths.c. Prices are in units of 2^-paths_shift; if nodes may be left over they are at most 0.
struct paths;
struct paths *paths_open(const struct chains *c, int64_t hop_max, struct arena *arena);
int paths_shift(const struct paths *p);
int64_t paths_walk(struct paths *p,
                   const int64_t *price); // cheapest chain from every node; returns the steps
// Finds the chain_count first nodes with the cheapest chains among those allowed; returns less than
// chain_count if there are no more.
int paths_firsts(const struct paths *p, const bool *allowed, int *firsts);
int64_t paths_sum(const struct paths *p, const int *firsts, const int64_t *price);
void paths_follow(const struct paths *p, int first, const int64_t *price, int *visits);

// ring.c: for every set of `size` nodes the least slowest link of a ring through all of them;
// least[1 << nodes], sets of other sizes CHAIN_NONE.
void rings_of_sets(int64_t *least, const int64_t *link, int node_count, int size,
                   struct arena *arena);

// close.c: keeps in in[] only nodes that may be on a ring of `size` nodes of in[] with links below
// `limit`, and sets the part of each: nodes of one ring are in one part. Returns the number of
// parts.
int rings_within(const int64_t *link, int node_count, int size, int64_t limit, bool *in, int *part,
                 struct arena *arena);
