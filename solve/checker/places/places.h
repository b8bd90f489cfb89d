// Certificates for plans whose ranks stand on nodes: docs/PROOFS.md 11. The proof is about one
// replica of a problem whose prices are the least that any nodes allow; the checker finds these
// prices itself. The cost of a link between two nodes comes from a pricer, in integers, and is
// assumed.
#pragma once

#include "solve/checker/space/space.h"

// A rank of one replica stands on a device group. A node has as many device groups as it has
// slots.
struct check_node {
    const char *name;
    int group, slots;
};

// Over an ordered pair of nodes, or of device groups of one node, that are joined in both
// directions.
struct check_pair {
    int64_t *forward;  // [(cut * slices + slice) * PARTS + part]
    int64_t *backward; // [((cut * boundary options + option) * slices + slice) * PARTS + part]
    int64_t embedding; // where it is not fused, with the first stage on the first node and the
                       // last on the second
};

// A stage's sync if all links of its ring were like this one.
struct check_ring_link {
    int64_t *constant; // [gradient option]
    int64_t *layer;    // [run * gradient options + option]
};

// For Pipette's objective (docs/FORMULAS.md 16): prices between nodes, -1: not joined.
struct check_rows {
    int each;                      // replicas that fill a node and are in one row
    int first_block, stage_blocks; // the model's first block, and how many each stage has
    int64_t *hop_ns;               // [from * nodes + to]: of a micro-batch, there and back
    int64_t *ring_ns;              // [from * nodes + to]: if all links of the ring were like this
    int64_t *inner_ns;             // [node]
};

struct check_places {
    // One replica: bytes and passes on each group, options and rules. It has no slots, transfers,
    // syncs or micro-batches.
    const struct check_problem *problem;
    const struct check_node *nodes;
    int node_count, replicas;
    int kinds; // kinds of network card that rings use, including "none in common"
    const unsigned char *kind_of; // [set of groups, a bit each]: the kind used by a ring over nodes
                                  // of exactly these groups
    const bool *may_ring;  // [group * groups + group]: nodes of both may be neighbours in a ring
    int64_t micro_batches; // of each replica
    int64_t together;      // where each replica may take its own number: of all replicas; else 0
    int unit;              // such a number is a multiple of this
    // Both fill in the prices where the nodes are joined. false: a price exceeds the countable
    // range.
    bool (*pair)(void *context, int from, int to, bool *joined, struct check_pair *prices);
    // rings: those that leave each end, of which this one is one.
    bool (*link)(void *context, int kind, int from, int to, const int64_t rings[2], bool *joined,
                 struct check_ring_link *prices);
    // The fused embedding sync, if all links of its ring were like this one; NULL: it is not
    // fused.
    bool (*embedding)(void *context, int from, int to, bool *joined, int64_t *ns);
    void *context;
    const int64_t *doubtful_prices,
        *doubtful_sizes; // so far, as in a check_pricer; doubtful prices take the lower value
    const struct check_rows *rows;   // NULL: another objective
    const struct check_named *named; // stages have widths of their own (named.h); NULL: one width.
                                     // problem and replicas are then those of the first seat
};

// The problem of one replica that bounds all placements: each node is a group of its own, or each
// group has the least over its nodes, or each group is there once for every reach of a ring, the
// set of groups that the ring is on. shared: not by nodes, the group of which the replica has at
// most its share; -1: none. chained: by groups, with what the transfers take together beyond the
// least of each (solve/checker/boxes/chain.h).
// ranks, crossing: by reaches, how many ranks have rings of each reach, and whether replicas cross
// from one group to another (a case). cases: 2 or more, so many together, whose ranks follow each
// other.
// halves: what a part of a case says beside.
enum check_crossing { CROSS_ANY, CROSS_NONE, CROSS_SOME };
enum check_relaxed_by { RELAX_BY_GROUPS, RELAX_BY_NODES, RELAX_BY_REACHES };
// A stage has from `least` to `most` layers, or, if reach is not 0, its rank's rings are on just
// these groups or, if `other`, are not.
enum { HALVES_MOST = 64 };
struct check_half {
    int stage, least, most;
    unsigned reach;
    bool other;
};
struct check_relaxation {
    enum check_relaxed_by by;
    int shared;
    bool chained;
    const int (*ranks)[MOST_GROUPS];
    int cases;
    enum check_crossing crossing;
    const struct check_half *halves;
    int half_count;
};
// The fewest ranks with rings on the group alone in any of the cases.
int check_fewest_alone(const struct check_relaxation *how, int group);
enum status check_relax_places(struct check_problem *to, const struct check_places *x,
                               const struct check_relaxation *how, const struct reader *r,
                               uint64_t *work, struct arena *arena);

// Every plan is in one of the cases: so many of its ranks have rings of each reach, in this order:
// on one group alone; then on several, by the number that has a bit for each. Where all ranks have
// one reach of several groups: first the plans in which no replica crosses, if there is room for
// that, then the others. NOT_PROVEN: there are too many cases, or only one group or replica.
enum { CASES_MOST = 256 };
struct check_cases {
    int reach_count, count;
    unsigned reaches[MOST_GROUPS];
    int ranks[CASES_MOST][MOST_GROUPS];
    enum check_crossing crossing[CASES_MOST];
};
enum status check_list_cases(struct check_cases *cases, const struct check_places *x,
                             const struct reader *r, uint64_t *work);

// Every ring of `size` device groups has a link of at least this weight that counts; INT64_MAX:
// there is no ring. weights[from * count + to], -1: no link; from a node to itself: for a ring
// entirely on that node, -1 where the node has no room for one. slots[node].
int64_t check_least_bottleneck(const int64_t *weights, const int *slots, int count, int size,
                               struct arena *arena);

// The object "places" of a file, about these placements.
enum status check_audit_places(struct check_result *result, const struct reader *r,
                               const cJSON *places, const struct check_places *x, uint64_t *work,
                               struct arena *arena);

// sources: as in check_space_certificate.
enum status check_places_certificate(struct check_result *result,
                                     const struct check_text *certificate,
                                     const struct check_input *sources, int source_count,
                                     const struct check_places *places, uint64_t work_limit,
                                     struct arena *arena, struct error *err);

// rows.c: the claim of a file about Pipette's objective; also called by its writer.
enum status check_audit_rows(struct check_result *result, const struct reader *r,
                             const cJSON *places, const struct check_places *x, uint64_t *work,
                             struct arena *arena);

// A page in words about an accepted certificate. "-": standard output.
struct check_places_audit {
    const struct check_result *result;
    const struct check_text *certificate;
    const struct check_input *sources;
    int source_count;
    int64_t microseconds;
};
enum status check_places_write_statement(const struct check_places_audit *h, const char *path,
                                         struct arena *arena, struct error *err);
