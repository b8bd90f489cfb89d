// Certificates for plans whose ranks stand on nodes: docs/PROOFS.md 11. The proof is about one
// replica on a problem whose prices are the least that any nodes allow; the checker finds those by
// itself. What a link between two nodes costs is told to it by a pricer, in integers: that is what
// it assumes.
#ifndef PLUMBLINE_SOLVE_CHECKER_PLACES_PLACES_H
#define PLUMBLINE_SOLVE_CHECKER_PLACES_PLACES_H

#include "solve/checker/space/space.h"

// A rank of one replica stands on a device group, of which a node holds as many as it has slots.
struct check_node {
    const char *name;
    int group, slots;
};

// Over an ordered pair of nodes, or of device groups of one node, that are joined both ways.
struct check_pair {
    int64_t *forward;  // [(cut * slices + slice) * PARTS + part]
    int64_t *backward; // [((cut * boundary options + option) * slices + slice) * PARTS + part]
    int64_t embedding; // where it is not fused: with the first stage on the first node and the last
                       // one on the second
};

// A stage's sync if all links of its ring were like this one, and no other ring left their nodes.
struct check_ring_link {
    int64_t *constant; // [gradient option]
    int64_t *layer;    // [run * gradient options + option]
};

struct check_places {
    // One replica: bytes and passes on each group, options and rules. Slots, transfers, syncs and
    // micro-batches are none.
    const struct check_problem *problem;
    const struct check_node *nodes;
    int node_count, replicas;
    int kinds; // of network card that rings go over, "none in common" among them
    const unsigned char *
        kind_of; // [set of groups, a bit each]: the kind, of a ring over nodes of just these groups
    const bool *may_ring;  // [group * groups + group]: nodes of the two may be neighbours in a ring
    int64_t micro_batches; // of each replica
    int64_t together;      // where each may take a number of its own: of all replicas; else 0
    int unit;              // of which such a number is a multiple
    // Both fill in the prices where the nodes are joined. false: a price is beyond what can be
    // counted.
    bool (*pair)(void *context, int from, int to, bool *joined, struct check_pair *prices);
    bool (*link)(void *context, int kind, int from, int to, bool *joined,
                 struct check_ring_link *prices);
    // Of the fused embedding sync, were all links of its ring like this one; NULL: it is not fused.
    bool (*embedding)(void *context, int from, int to, bool *joined, int64_t *ns);
    void *context;
    const int64_t *doubtful_prices,
        *doubtful_sizes; // so far, as of a check_pricer; of a doubtful price the lower is told
};

// The problem of one replica that bounds all placements: each node a group of its own, or the least
// over each group's nodes. shared: the group of which the replica has no more than its share; -1:
// none is. chained: by groups, with what the transfers take together beyond the least of each
// (solve/checker/boxes/chain.h).
struct check_relaxation {
    bool by_nodes;
    int shared;
    bool chained;
};
enum status check_relax_places(struct check_problem *to, const struct check_places *x,
                               const struct check_relaxation *how, const struct reader *r,
                               uint64_t *work, struct arena *arena);

// Every ring of `size` device groups has a link that counts of at least this weight; INT64_MAX:
// there is no ring. weights[from * count + to], -1: no link; of a node with itself: of a ring that
// is all there, -1 where it has no room for one. slots[node].
int64_t check_least_bottleneck(const int64_t *weights, const int *slots, int count, int size,
                               struct arena *arena);

// sources: as of check_space_certificate.
enum status check_places_certificate(struct check_result *result,
                                     const struct check_text *certificate,
                                     const struct check_input *sources, int source_count,
                                     const struct check_places *places, uint64_t work_limit,
                                     struct arena *arena, struct error *err);

// Of an accepted certificate: a page in words. "-": standard output.
struct check_places_audit {
    const struct check_result *result;
    const struct check_text *certificate;
    const struct check_input *sources;
    int source_count;
    int64_t microseconds;
};
enum status check_places_write_statement(const struct check_places_audit *h, const char *path,
                                         struct arena *arena, struct error *err);

#endif
