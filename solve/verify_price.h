// The judge's own prices: what one layer, message or sync of a problem takes, worked out from docs/FORMULAS.md alone and
// without the solver's code. Nothing is tabulated: each function gives one priced term, rounded once, halves up, to whole
// nanoseconds or bytes. Evaluated in long double; where it sits at a half the other side may round the other way, so two
// correct prices of one term differ by at most 1.
#ifndef PLUMBLINE_SOLVE_VERIFY_PRICE_H
#define PLUMBLINE_SOLVE_VERIFY_PRICE_H

#include "data/problem.h"
#include "data/schedule.h"

// The problem and what section 1 of the formulas derives from it.
struct assay {
    const struct problem *problem;
    int stage_count, pipeline, micro_batches;       // pipeline: ranks
    int64_t ranks;                  // of a gradient sync: data x context
    int64_t collective;             // tensor x context
    int64_t devices;                // of a stage
    long double tokens;             // of a micro-batch on one GPU
    long double share;              // of the unsharded activations on one GPU
    long double value_bytes;
    bool embedding_sync;            // tied embeddings on more than one stage
};
struct assay assay_of(const struct problem *problem);

// ---- links (section 2)
struct joint { bool joined; long double bytes_per_s, latency_s; };
struct joint judged_tensor_link(const struct assay *a, int group);      // all-reduces of a layer
struct joint judged_ring_link(const struct assay *a, int group);        // keys and values between context ranks
struct joint judged_gradient_link(const struct assay *a, int group);
struct joint judged_stage_link(const struct assay *a, int from, int to);
long double judged_all_reduce_s(struct joint link, long double bytes, int64_t ranks);

// ---- node groups
const char *exclusion_of(const struct assay *a, int group);      // NULL: the group can hold a stage
int64_t slots_of(const struct assay *a, int group);
int64_t memory_limit_of(const struct assay *a, int group);
int64_t constant_bytes_of(const struct assay *a, int group);

// ---- a layer of a run (sections 3 to 5)
struct layer_duration { int64_t forward_ns, backward_ns, weight_ns, selective_ns, full_ns, optimizer_ns; };
struct layer_duration layer_duration_of(const struct assay *a, int run, int group, int slice);     // group: not excluded
struct layer_weight {
    long double sharded, whole;
};    // values on one GPU; shapes only
struct layer_weight layer_weight_of(const struct assay *a, int run);
struct layer_bytes {
    int64_t weight, gradient, optimizer;
    int64_t stash[3], working[3];       // by enum recompute: none, selective, full
    int64_t message;                    // behind the layer
};
struct layer_bytes layer_bytes_of(const struct assay *a, int run);

// ---- transfers and syncs (sections 6 and 7). rank 0: not compressed
struct sending { int run, sender, receiver, rank, slice; bool backward; };
bool transfer_price(const struct assay *a, struct sending m, int64_t parts[PART_COUNT]);
int64_t boundary_feedback_of(const struct assay *a, int run, int rank);
int64_t layer_sync_ns(const struct assay *a, int run, int group, int rank);
int64_t sync_constant_ns(const struct assay *a, int group);
int64_t gradient_feedback_of(const struct assay *a, int run, int rank);
bool embedding_sync_price(const struct assay *a, int first, int last, int64_t *ns);

// ---- the same before rounding, in nanoseconds
long double optimizer_unrounded_ns(const struct assay *a, int run, int group);
bool transfer_unrounded_ns(const struct assay *a, struct sending m, long double parts[PART_COUNT]);
long double layer_sync_unrounded_ns(const struct assay *a, int run, int group, int rank);
long double sync_constant_unrounded_ns(const struct assay *a, int group);

// The largest price of its kind anywhere in the problem, before rounding: what never comes to half a nanosecond is not in
// the schedule's graph.
struct largest_prices { long double parts_ns[PART_COUNT], sync_ns, optimizer_ns; };
struct largest_prices largest_prices_of(const struct assay *a);
bool offers_epilogue(const struct assay *a);        // an option that compresses in the drain alone

int64_t judged_whole(long double x);           // to the nearest integer, halves up
int64_t judged_nanoseconds(long double seconds);

#endif
