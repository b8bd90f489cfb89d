// A tree over placements: its parts state on which nodes the first places are, and the ranges of
// stages' layers. What is open under a part is a problem of one replica in which each node is a
// group of its own (docs/PROOFS.md 11).
#pragma once

#include "solve/checker/places/places.h"

enum { TREE_PLACES_MOST = 256, TREE_RANGES_MOST = 64 };

struct check_tree; // holds the prices of all links between nodes

struct check_layer_range {
    int stage, least, most;
};

// Place k is rank k / replicas of replica k % replicas.
struct check_part {
    int depth;                  // places that have a node
    int node[TREE_PLACES_MOST]; // [place]
    int range_count;
    struct check_layer_range ranges[TREE_RANGES_MOST];
};

// NOT_PROVEN: more nodes than a problem may have groups, replicas with their own numbers of
// micro-batches, or too many places.
enum status check_open_tree(struct check_tree **tree, const struct check_places *x,
                            const struct reader *r, uint64_t *work, struct arena *arena);
int check_tree_places(const struct check_tree *t);
const struct check_problem *check_tree_problem(
    const struct check_tree *t); // by nodes, for any replica

// The nodes that the next place can be on, and their number: nodes with a free device group.
// Replicas that so far stand on the same nodes are taken in one order only, and of equal, empty
// nodes only the first.
int check_list_children(const struct check_tree *t, const struct check_part *part,
                        int children[MOST_GROUPS]);

// The problem that bounds the replica on every placement of the part. Its errors are reported
// through the reader, too.
enum status check_part_problem(struct check_problem *to, const struct check_tree *t,
                               const struct check_part *part, int replica, const struct reader *r,
                               uint64_t *work, struct arena *arena);
