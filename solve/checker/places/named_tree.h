// Shared by the files about stages that stand on nodes: what holds for all parts.
#pragma once

#include "solve/checker/places/named.h"

struct check_named_tree {
    const struct check_named *x;
    const struct check_node *nodes; // slots: of any seat of the node's group
    int node_count;
    struct check_problem p; // by seats, with the least that any nodes allow
    int numbers;            // of a message: of each cut, there and back
    int64_t *messages;      // [message * numbers + number]; [..0] -1: not joined
    bool blocks;            // every message between nodes that are joined has a part that blocks
    bool *alike;            // [node * nodes + node]
    struct arena *arena;
};

static inline int named_replicas(const struct check_named_tree *t, int seat)
{
    return t->p.groups[seat].data;
}
static inline bool named_is_of(const struct check_named_tree *t, int seat, int node)
{
    return t->nodes[node].group == t->x->seats[seat].group && !t->p.groups[seat].excluded;
}
static inline int64_t *named_message(const struct check_named_tree *t, const int seats[2],
                                     const int nodes[2])
{
    int n = t->node_count, pair = seats[0] * t->p.group_count + seats[1];
    return t->messages +
           ((size_t)(pair * n + nodes[0]) * (size_t)n + (size_t)nodes[1]) * (size_t)t->numbers;
}

static inline bool named_blocks(const struct check_named_tree *t, const int64_t *message)
{
    for (int i = PART_BLOCKS; i < t->numbers; i += PARTS)
        if (message[0] >= 0 && message[i] > 0) return true;
    return false;
}

// named_rings.c: the least syncs of each seat, over all nodes of its group.
enum status named_least_rings(struct check_named_tree *t, const struct reader *r, uint64_t *work);
// Of a stage that stands, into group `stage` of the problem.
enum status named_put_ring(struct check_problem *to, const struct check_named_tree *t,
                           const struct check_named_part *part, int stage, const struct reader *r,
                           struct arena *arena);
// Whether exchanging two nodes changes no price of any ring.
enum status named_same_rings(bool *same, const struct check_named_tree *t, int a, int b,
                             const struct reader *r, uint64_t *work, struct arena *arena);

// named_parts.c
enum status named_find_alike(struct check_named_tree *t, const struct reader *r, uint64_t *work);
