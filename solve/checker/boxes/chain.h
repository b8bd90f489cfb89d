// A lower bound on what the transfers of a pipeline take together, beyond the least that each
// boundary can take by itself (docs/PROOFS.md 11). Ranks stand on device groups, each of which is
// used once, so not every boundary can have the best link.
#pragma once

#include "solve/checker/layout/choices.h"

// Device groups for chains that visit none twice, their nodes, and the prices of all messages
// between them.
enum { CHAIN_PLACES_MOST = 16, CHAIN_NODES_MOST = 64, CHAIN_PRICES_MOST = 1 << 21 };

struct check_chain {
    int node_count, hops, places; // hops: one less than there are ranks; places: device groups
    const int *slots, *group_of;  // [node]; group_of: among the problem's groups
    const int *node_of;           // [place], where they are CHAIN_PLACES_MOST at most
    const bool *joined;           // [from * nodes + to]
    // For a check_cut, by nodes: [cut][((slice * nodes + from) * nodes + to) * PARTS + part].
    int64_t **forward, ***backward; // backward: [cut][boundary option]
    int64_t *beyond;                // scratch of one mixture: [hop][from * nodes + to]
    int64_t *links;                 // the same by places, where there are few
    int64_t *value;
    unsigned char *before;
    int *least; // [hops + 1]: nodes of the cheapest chain of the last call
};

// Whether a chain is computed for a problem with this many nodes: one stage a rank, several ranks.
static inline bool check_chain_suits(const struct check_problem *p, int node_count)
{
    int64_t messages = (int64_t)p->cut_count * (1 + p->boundary_count) * p->slices * PARTS;
    return p->turns == 1 && p->ranks > 1 && node_count <= CHAIN_NODES_MOST &&
           messages * node_count * node_count <= CHAIN_PRICES_MOST;
}

// *excess: in 2^-40 ns, for the mixture with these coefficients; at most the excess of any
// placement.
enum status check_chain_excess(const struct check_problem *p, const int64_t *coefficients,
                               uint64_t *work, wide *excess);
