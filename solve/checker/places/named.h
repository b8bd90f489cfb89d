// Stages with widths of their own on nodes that have names (docs/PROOFS.md 12.1): a tree whose
// parts state the seats and the nodes of the first stages, from the first on. What is open under a
// part is a problem in which each stage that stands is a group of its own, beside the seats for the
// others.
#pragma once

#include "solve/checker/places/places.h"

enum { NAMED_REPLICAS_MOST = 4, NAMED_STAGES_MOST = 32, NAMED_WAYS_MOST = 4096 };

// A node group with one width. The group is that of its places, which are those of the uniform
// layout with this width.
struct check_named_seat {
    const char *name;
    int group;
    const struct check_places *at;
};

struct check_named {
    const struct check_named_seat *seats;
    int seat_count;
    // A message between a replica of one seat and one of another, from node to node: at
    // check_places' pair.
    bool (*pair)(void *context, const int seats[2], const int nodes[2], bool *joined,
                 struct check_pair *prices);
    void *context;
};

// Where a stage stands: replica i on node[i].
struct check_stand {
    int seat, node[NAMED_REPLICAS_MOST];
};
struct check_named_part {
    int stands; // stages that stand
    struct check_stand at[NAMED_STAGES_MOST];
};

struct check_named_tree; // holds what does not depend on a part

// NOT_PROVEN: too many seats, stages, nodes or prices.
enum status check_open_named(struct check_named_tree **tree, const struct check_places *x,
                             const struct reader *r, uint64_t *work, struct arena *arena);
const struct check_problem *check_named_problem(const struct check_named_tree *t); // by seats

// Where the next stage can stand: every seat, and every list of nodes with room. Of unused nodes
// that no price tells apart only the first. NOT_PROVEN: more than NAMED_WAYS_MOST.
enum status check_named_ways(struct check_stand **ways, int *count,
                             const struct check_named_tree *t, const struct check_named_part *part,
                             const struct reader *r, uint64_t *work, struct arena *arena);

// The problem that bounds every plan whose first stages stand like this.
enum status check_named_part_problem(struct check_problem *to, const struct check_named_tree *t,
                                     const struct check_named_part *part, const struct reader *r,
                                     uint64_t *work, struct arena *arena);

enum status check_audit_named(struct check_result *result, const struct reader *r,
                              const cJSON *places, const struct check_places *x, uint64_t *work,
                              struct arena *arena);
