// A plan: the decision, its claimed time and memory, and its maximum distance from the optimum.
// Integers in ns and bytes decide; the *_s keys in the file are for people.
#pragma once

#include "data/inputs/job_fields.h"
#include "data/priced/priced.h"
#include "data/results/claim.h"
#include "data/schedule/schedule.h"

// The decisions of a stage, besides which layers it has and where it stands: one row each. What a
// choice decides, a plan states, documents name and certificates record follows these rows. A new
// decision is a member and a row here, and its price; the judge (solve/judge/decision.c) and the
// checker (solve/checker/layout/choices.h) have rows of their own.

// The members of a decision; ints and enums only.
#define DECISION_MEMBERS                                                                           \
    int first_layer; /* of a choice also -1: anywhere among like layers */                         \
    int layer_count;                                                                               \
    int group; /* the stage's seat: index in the priced document's groups */                       \
    enum recompute recompute;                                                                      \
    int recomputed_layers; /* of the recomputable layers the first ones, RECOMPUTE_FIRST_LAYERS;   \
                            */                                                                     \
                           /* RECOMPUTE_SWAP: the first ones after the swapped ones; */            \
                           /* RECOMPUTE_FULL: any set of so many (struct plan_stage); 0: all */    \
    int swapped_layers;    /* of the recomputable layers the first ones, RECOMPUTE_SWAP */         \
    int sharded_layers;    /* of the recomputable layers the first ones (struct priced) */         \
    int vocabulary_tensor; /* degree of its embedding and head; 0: the layout's */                 \
    int gradient_option;   /* index in gradient_options: compression, and share on the host */     \
    int boundary_option;   /* of what the stage sends backward, over boundary stage - 1; 0 for */  \
                           /* stage 0 */

struct decision {
    DECISION_MEMBERS
};
// For a structure that adds something to a decision: the members, and all of them as `decision`.
#define DECISION                                                                                   \
    union {                                                                                        \
        struct decision decision;                                                                  \
        struct {                                                                                   \
            DECISION_MEMBERS                                                                       \
        };                                                                                         \
    }

// The rows, as keys of the structure s: those that are not required are written only if set.
#define DECISION_KEYS(s)                                                                           \
    KEY_NAME(s, recompute, REQUIRED, ALWAYS_WRITTEN, recompute_names),                             \
        KEY_INT(s, recomputed_layers, REQUIRED, ALWAYS_WRITTEN, 0, LAYERS_MAX),                    \
        KEY_INT(s, swapped_layers, OPTIONAL, IF_SET, 0, LAYERS_MAX),                               \
        KEY_INT(s, sharded_layers, OPTIONAL, IF_SET, 0, LAYERS_MAX),                               \
        KEY_INT(s, vocabulary_tensor, OPTIONAL, IF_SET, 0, DEGREE_MAX),                            \
        KEY_INT(s, gradient_option, REQUIRED, ALWAYS_WRITTEN, 0, OPTIONS_MAX),                     \
        KEY_INT(s, boundary_option, REQUIRED, ALWAYS_WRITTEN, 0, OPTIONS_MAX)

enum { DECISION_ROWS_MAX = 16 };
extern const struct member decision_rows[]; // of struct decision
extern const int decision_row_count;
static inline int decision_value(const struct decision *d, const struct member *row)
{
    return *(const int *)((const char *)d + row->at);
}

// The decision with 0 for counts of layers that its mode of recomputation does not use.
struct decision decision_tidy(const struct decision *d);
// The rows as keys of an object that is open; zeros: also counts of layers that are 0.
void decision_put(struct json_writer *w, const struct decision *d, bool zeros);
// Reads the rows of an object that has other keys as well; counts of layers may be missing.
// BAD_INPUT: a value is out of range; options are indices below these counts.
enum status decision_get(struct decision *d, const struct json *object, int gradient_options,
                         int boundary_options, struct arena *arena, struct error *err);
// The recomputation in words: "none", "full", "first 3 layers", "swap 2, full 1".
const char *decision_recompute_text(const struct decision *d, struct arena *arena);

// Bytes of one device of a stage.
struct memory_parts {
    int64_t weight_bytes, gradient_bytes, optimizer_bytes;
    int64_t activation_bytes; // stash x micro-batches in flight
    int64_t working_bytes;    // the maximum over the stage's layers
    int64_t buffer_bytes;     // two messages per boundary, one in each direction
    int64_t feedback_bytes;   // error feedback of compression
    int64_t constant_bytes;
};
int64_t memory_total(const struct memory_parts *m);

// Times of one slice of a micro-batch; messages over the boundary after the stage.
struct plan_slice {
    int64_t forward_ns, backward_ns, send_forward_ns[PART_COUNT], send_backward_ns[PART_COUNT];
};

struct plan_stage {
    DECISION;
    int *recomputed; // [recomputed_layers]: layers of the model, ascending, that RECOMPUTE_FULL is
    int recomputed_count; // of; 0: of all
    // On a cluster with places, where stages have widths of their own: the node of each replica,
    // in the order of the samples that they take and of their ring. NULL, 0: not stated.
    const char **nodes; // [node_count]
    int node_count;
    // claims
    struct plan_slice *slices; // [slice_count]
    int64_t sync_ns, optimizer_ns;
    int64_t queued_sync_ns;   // the whole sync, if the one before it on its rank is what it waits
                              // for; 0 where none can be before it, or syncs are not overlapped
    int64_t weight_ns;        // weight gradient, if the schedule splits it off backward
    int64_t away_ns, back_ns; // SYMBOL_AWAY, SYMBOL_BACK; 0 where its passes wait for all transfers
    int64_t send_epilogue_ns[PART_COUNT]; // the first slice's messages backward, in the drain
    // With several stages on a rank: the stage's own share. Activations are those at its own peak;
    // the constant belongs to the rank's first stage.
    struct memory_parts memory;
    int64_t memory_limit_bytes; // of a device of its rank
};

// A pipeline rank with several stages, at peak memory. Activations are the maximum over the
// schedule's peaks, working memory is the maximum over its stages, and the rest are sums.
struct plan_rank {
    struct memory_parts memory;
};

enum outcome { OUTCOME_OPTIMAL, OUTCOME_OPEN, OUTCOME_INFEASIBLE, OUTCOME_NO_PLAN };
extern const char
    *const outcome_names[]; // "optimal" (solved to the given gap), "open", "infeasible", "no_plan"

// Which operations the schedule's graph has besides the passes. A layout's graph does not depend on
// the choices made: an operation that takes no time with any chosen option is still in it, and so
// are its dependences.
struct plan_graph {
    bool parts[PART_COUNT]; // of every transfer
    bool epilogue;          // the drain's backward transfers have their own times
    bool sync, optimizer, embedding_sync, across_passes;
};
struct plan_graph plan_graph_of(const struct schedule_request *request);

// If the cluster has places: the node of each rank of each replica of the pipeline, and the order
// in which a stage's replicas form their ring. The stages' claims and the plan's number of
// micro-batches are then those of the slowest replica; each replica takes its own iteration_ns,
// with the syncs of its rings.
struct plan_placement {
    int replica_count, rank_count;
    int *micro_batches; // [replica], if the job lets them differ; NULL: each has the plan's
    const char **nodes; // [replica * rank_count + rank]
    int *recompute, *recomputed_layers; // [replica * stage_count + stage]: as in struct plan_stage;
                                        // may differ with the GPU
    // The same indices: a message of the first slice over the boundary after the stage, from end to
    // end; -1: not stated.
    int64_t *send_forward_ns, *send_backward_ns;
    int64_t *iteration_ns; // [replica]
    int *rings;            // [stage * replica_count + at]: replicas; each sends to the next
    // [2 * replica_count] for a fused embedding sync, otherwise NULL: r is replica r's first stage,
    // replica_count + r its last one; each sends to the next.
    int *embedding_ring;
    int slowest;                  // replica
    struct plan_pipette *pipette; // NULL: another objective
};

// The terms of the objective pipette: the hops of the slowest pipeline, the ring through the first
// stages' nodes, and the ring within a node.
struct plan_pipette {
    int64_t hops_ns, ring_ns, inner_ns;
};

// A number of the costs that the plan's prices used outside the range of its fit: with an argument
// from `least` to `greatest` (FLOP, bytes), where the samples ranged from valid_low to valid_high.
struct plan_extrapolation {
    const char *cost; // its key in the costs
    const char *gpu;
    const char
        *of; // what was priced furthest outside: "run block: ffn", "messages behind block" ...
    double least, greatest, valid_low, valid_high;
};
double plan_extrapolation_times(
    const struct plan_extrapolation
        *e); // by which factor it exceeds the nearer end at most; above 1

struct plan_effort {
    int64_t boxes, relaxations, path_rows;
    double seconds;
};

void plan_effort_add(struct plan_effort *sum, const struct plan_effort *e);

struct plan {
    struct document document;
    const char *name;
    enum outcome outcome;
    const char *reason;             // infeasible: the limit that makes it so
    int64_t iteration_ns, bound_ns; // bound_ns is for the objective, as stated by the plan's
                                    // author; iteration_ns is 0 without a plan
    enum bound_claim claim;         // what stands behind bound_ns, or behind `infeasible`
    struct taken_over *taken_over;  // [taken_over_count]: the files, for CLAIM_TAKEN_OVER
    int taken_over_count;
    enum objective objective; // what was minimised
    int64_t objective_ns;     // its value, if it is not the iteration time
    double gap_asked;
    // The range that the costs leave open for the decision's time (docs/FORMULAS.md 19); both 0:
    // not computed.
    int64_t iteration_low_ns, iteration_high_ns;
    struct plan_extrapolation *extrapolated; // [extrapolated_count]
    int extrapolated_count;
    int64_t runner_up_ns;  // best time found with another layout; 0: none
    bool runner_up_inside; // within low to high: the costs cannot distinguish the two
    int64_t embedding_sync_ns;
    struct layout layout;
    int micro_batches;
    int64_t devices_per_stage;
    bool in_turn; // replicas take whole micro-batches in turn: iteration_ns is so many loads
    struct plan_graph graph;
    // [group_count], where stages have widths of their own: a group is a node group with one; else
    // NULL.
    struct plan_width {
        const char *node_group;
        int tensor, context, data;
    } * widths;
    const char **group_names; // [group_count], as in the priced document, with their GPUs
    const char **group_gpus;
    int group_count;
    struct plan_stage *stages; // stage_count 0 without a plan
    int stage_count;
    struct plan_placement *placement; // NULL: ranks are on groups
    struct plan_rank *ranks;          // [layout.pipeline] if layout.virtual_stages > 1, else NULL
    struct compression_option *boundary_options; // copied, so that a plan can be read on its own
    int boundary_option_count;
    struct compression_option *gradient_options;
    int gradient_option_count;
    int64_t seed;
    struct plan_effort effort;
};

int64_t plan_micro_batches_together(const struct plan *p); // of all replicas
int64_t plan_value_ns(
    const struct plan *p); // of the minimised quantity: iteration_ns, or objective_ns
const char *plan_unit(
    const struct plan *p);             // of it: "ns", or "microjoules" of the objective energy
double plan_gap(const struct plan *p); // (value - bound) / value
enum outcome plan_outcome(const struct plan *p); // of a plan with stages, by the requested gap
const char *plan_claim_words(const struct plan *p, struct arena *arena); // data/results/claim.h
// The outcome in words, with what stands behind it: "optimal (certified)", "infeasible (...)", ...
const char *plan_outcome_words(const struct plan *p, struct arena *arena);
// Sets the end of a search: the requested gap and the outcome. none_is_left: without stages, there
// is no plan at all; false: a limit or a signal ended the search.
void plan_end(struct plan *p, double gap_asked, bool none_is_left);
int64_t plan_bound_ns(const struct plan *p); // for publication, as in data/results/bound.h
struct schedule_request plan_request(
    const struct plan *p); // for the schedule that the plan was timed on

extern const struct members plan_members; // its keys (data/text/members.h)
enum status plan_load(struct plan *p, const char *path, struct arena *arena, struct error *err);
enum status plan_save(const struct plan *p, const char *path, struct arena *arena,
                      struct error *err);
const char *plan_text(const struct plan *p, size_t *length, struct arena *arena); // what plan_save
                                                                                  // writes
// The devices of a rank, if ranks have several stages, or of a stage: how many there are; their
// memory, and its limit.
int plan_memory_count(const struct plan *p);
const struct memory_parts *plan_memory(const struct plan *p, int at, int64_t *limit_bytes);

// GPUs of a stage, and of all pipeline ranks.
int64_t plan_stage_devices(const struct plan *p, int stage);
// Stages of which some layers have another layout than the plan's: sharded further, or with the
// vocabulary at a degree of their own.
int plan_mixing_stages(const struct plan *p);
int64_t plan_devices(const struct plan *p);
