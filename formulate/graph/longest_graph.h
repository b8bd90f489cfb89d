// The inside of a compiled graph: what the walks over it share.
#pragma once

#include "formulate/graph/longest.h"

// Ends at durations[symbol] + max(end of plain, end of weighted + durations[weight]).
struct node {
    int32_t plain, weighted, symbol, weight;
};

struct carried {
    int node, input;
}; // input 0 .. input_count-1

struct noted_paths {
    const int64_t *durations;
    const int *paths;
    int count;
};

struct graph {
    struct schedule_request request;
    int symbol_count;   // durations[symbol_count] is 0, for joins and unweighted edges
    struct node *nodes; // node 0 is the start of the iteration; predecessors come first
    int node_count;
    int *last; // nodes that nothing follows
    int last_count;
    bool is_chains; // no operation follows two others: a path is determined by its last node
    // Without a barrier: nodes 1 .. input_count hold the times when the previous iteration lets its
    // followers start.
    int input_count;
    struct carried *carried; // when this node has ended, that input of the next iteration waits for
                             // one node less
    int carried_count;
    int *operation,
        *edge_operation; // [node]: its operation, and that of its weighted edge; -1: none
    int64_t *end, *durations;
    int *counts;
    struct period *period;      // scratch of graph_period, NULL with a barrier
    struct path_memory *memory; // NULL: paths are not kept
    int *noted; // of the current path, backwards: 2 x node, plus 1 if its weighted edge was taken
    int noted_count, noted_capacity;
    struct noted_paths known; // graph_note_paths
    struct arena *own;        // what outlasts its users' allocations
};

int graph_node_count(const struct graph *g); // of the walk
const struct schedule_request *graph_request(const struct graph *g);

// graph_longest without a barrier.
int64_t graph_period(struct graph *g, const int64_t *durations, int *counts);
// Notes one backward step of a path, from a node over its plain or its weighted edge, if paths are
// kept.
void path_memory_grow(struct graph *g);
static inline void path_memory_note(struct graph *g, int node, bool weighted)
{
    if (!g->memory) return;
    if (g->noted_count == g->noted_capacity) path_memory_grow(g);
    g->noted[g->noted_count++] = 2 * node + weighted;
}
static inline void path_memory_begin(struct graph *g) { g->noted_count = 0; }
void path_memory_end(struct graph *g, const int *counts); // including the laps

struct period *period_open(const struct graph *g, struct arena *arena);
