// The numbers of a costs document by name: for settings on a command line, for fitting, and for the
// two ends of their intervals. A new estimate in data/inputs/costs.h needs a line in
// data/inputs/costs_internal.h.
#pragma once

#include "data/inputs/costs.h"

enum cost_scope { COST_OF_ALL, COST_OF_GPU, COST_OF_PRECISION };
enum cost_sense {
    COST_RATE,
    COST_TIME,
    COST_BYTES
}; // larger is faster; larger is slower; does not affect times

// The costs of one group have a common cause of error, so the whole group is at one end at the same
// time. Different groups err independently of each other (docs/FORMULAS.md 19).
enum cost_group {
    COSTS_OF_PRODUCTS,
    COSTS_OF_ATTENTION,
    COSTS_OF_MEMORY, // on the device and the host
    COSTS_OF_LAUNCHES,
    COSTS_OF_TRAINER,
    COSTS_OF_NODE, // links within nodes
    COSTS_OF_NETWORK,
    COSTS_OF_FABRIC, // what is left of the network's rates over many nodes
    COSTS_OF_OVERLAP,
    COST_GROUPS
};
extern const char *const cost_group_names[]; // for people

struct cost_key {
    const char *name; // as in the document: "gemm_flop_per_s", "network_efficiency.infiniband"
    enum cost_group group;
    enum cost_scope scope;
    enum cost_sense sense;
    size_t offset;    // of the estimate in struct costs, gpu_costs or precision_costs
    double low, high; // what a document may hold
};

extern const struct cost_key cost_keys[];
extern const int cost_key_count;
int cost_key_find(const char *name); // -1: none. A prefix is enough if it is unambiguous
const char *cost_key_nearest(const char *name);

// Visits every estimate of the key: of one GPU (NULL: all), of its precisions with values of
// value_bytes bytes (0: all).
typedef void cost_visitor(struct estimate *e, const struct cost_key *key, void *context);
void costs_visit(struct costs *c, int key, const char *gpu, int value_bytes, cost_visitor *visit,
                 void *context);

// Where the numbers that times depend on come from, for one GPU at a precision: "measured or
// fitted: products, ...; published: ...; assumed: ...", each group by its least certain numbers.
const char *costs_origins(const struct costs *c, const char *gpu, int value_bytes,
                          struct arena *arena);

// A copy whose estimates can be changed without touching the original's.
struct costs costs_copy(const struct costs *c, struct arena *arena);

// Adds an entry for a GPU that the costs lack, with the numbers of GPU `like` and every origin
// "assumed". BAD_INPUT: the costs lack `like`, or already have the GPU.
enum status costs_add_like(struct costs *c, const char *gpu, const char *like, struct arena *arena,
                           struct error *err);

// Moves a group's estimates to the end of their intervals that makes everything slow, or fast.
// false: none of them has an interval that times depend on.
enum cost_end { COSTS_SLOW, COSTS_FAST, COST_ENDS };
bool costs_move_to(struct costs *c, enum cost_group group, enum cost_end end);
