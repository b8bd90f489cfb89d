// Chains: nodes put in rows, chain_count chains of `length` nodes each, every node at most once.
// The value is the sum of hops of the most expensive chain, plus, where a ring joins the chains'
// first nodes, the slowest link of the best ring through them. It is the placement problem of a
// published planner (docs/FORMULAS.md section 16).
#pragma once

#include <stdint.h>

#include "data/base/arena.h"

enum {
    CHAINS_EXACT_MAX = 20
}; // nodes up to which chains_solve proves its answer: tables have 2^nodes rows
#define CHAIN_NONE INT64_C(0x1fffffffffffff) // 2^53 - 1: no link connects the two

struct chains {
    int node_count, chain_count, length; // chain_count x length <= node_count
    // [(position * node_count + from) * node_count + to], position < length - 1; each 0 ..
    // CHAIN_NONE.
    const int64_t *hop;
    const int64_t
        *ring; // [from * node_count + to] between first nodes; NULL, or one chain: there is none
};

struct chains_result {
    int64_t value,
        bound;  // bound <= the least value; CHAIN_NONE and more: no chains are joined throughout
    int *order; // [chain * length + position], in the ring's order
};

// Value of an order of nodes; the ring goes in the order of the chains.
int64_t chains_value(const struct chains *c, const int *order);

// Random search from `starts` orders (seeded), each of `moves` moves. Then, up to CHAINS_EXACT_MAX
// nodes, the proof: every set of first nodes, cheapest ring first, with all ways to distribute the
// other nodes. Beyond: a bound within bound_steps steps (0: CHAINS_BOUND_STEPS). should_stop (NULL:
// never) ends the search, the proof and the work on the bound early: the bound is then what was
// proven until then.
#define CHAINS_BOUND_STEPS INT64_C(2000000000)
struct chains_settings {
    int starts, moves;
    uint64_t seed;
    int64_t bound_steps;
    bool (*should_stop)(void *);
    void *stop_argument;
};
// Settings that find good orders of this many nodes: well below a second up to 20 of them, seconds
// for 64, about ten for 256.
struct chains_settings chains_settings_for(const struct chains *c, uint64_t seed);
void chains_solve(struct chains_result *result, const struct chains *c,
                  const struct chains_settings *settings, struct arena *arena);

// The ring through these nodes whose slowest link[from * node_count + to] is least, in order (their
// own order if no ring joins them); `size` up to CHAINS_EXACT_MAX.
void ring_through(int *ring, const int64_t *link, int node_count, const int *nodes, int size,
                  struct arena *arena);

// A bound on the slowest link of every ring of `size` >= 2 of these nodes (among: NULL: all);
// CHAIN_NONE: there is none. Exact where a short search decides.
int64_t ring_bound(const int64_t *link, int node_count, int size, const bool *among,
                   struct arena *arena);
