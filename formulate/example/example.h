// Complete problems: the benchmark family `chain`, transformers on shipped clusters, a mixed
// cluster, four machines like the measured one, and a published planner's setting on a measured
// matrix. They are built as structs and written as the five documents that a user would write.
#pragma once

#include "data/base/command.h"
#include "data/base/shipped.h"
#include "data/inputs/problem.h"
#include "data/import/matrix.h"

// Blocks like GPT-2's between an embedding and a head.
struct model gpt_model(const char *name, int layers, int64_t hidden, int64_t heads,
                       int64_t vocabulary, int64_t positions, struct arena *arena);

// L identical measured blocks between an embedding and a head on S single-GPU nodes of K types;
// docs/FORMULAS.md section 11.
struct chain_request {
    int layers, stages, types, micro_batches;
};
enum { CHAIN_TYPES_MAX = 4 };
enum status example_chain(struct problem *problem, const struct chain_request *request,
                          struct arena *arena, struct error *err);

// What the user states of a layout: UNSTATED where that is -1, else 0 or false; the usual value
// then, or what a solve chooses. A key that is stated stays as it is in a space.
struct stated_layout {
    struct layout layout;        // data 0: as many replicas as the GPUs allow
    bool whole_activations;      // not sequence parallel
    int context_kind;            // UNSTATED: the ring, or what the framework has for the model; a
                                 // space's choice
    int dispatcher, graphs;      // of the job; UNSTATED: all_to_all, none
    bool loss_in_place;          // of the job
    bool uneven_stages;          // of the space
    struct option_texts without; // excluded from the space: layout_exclude
};
enum { UNSTATED = -1 };
#define LAYOUT_UNSTATED                                                                            \
    .layout = {.schedule = UNSTATED,                                                               \
               .zero = UNSTATED,                                                                   \
               .gradient_sync = (enum gradient_sync)UNSTATED},                                     \
    .context_kind = UNSTATED, .dispatcher = UNSTATED, .graphs = UNSTATED
extern const struct option_table stated_layout_options; // in a struct stated_layout

// Sets *layout, which has the usual values, to what is stated; the space's axes of these keys are
// then fixed.
void layout_state(struct layout *layout, struct space *space, const struct stated_layout *stated);

// Takes what is named (`layout_exclude_names`: "offload", "interleaved", "zero-3") out of space and
// modes of recomputation: the axis then has the other values. BAD_INPUT: an unknown name, answered
// with the nearest, or with the nearest node; something that is stated; nothing would be left.
enum status layout_exclude(struct layout *layout, struct space *space, bool *recompute,
                           const struct stated_layout *stated, const struct cluster *cluster,
                           struct arena *arena, struct error *err);

// A GPU that no shipped document has, by one that is known: in its nodes and with its costs, but
// for its memory and its link within a node, where these are stated (above 0).
struct gpu_likeness {
    const char *known;
    double memory_gb, intra_gb_per_s; // of one direction
};
void gpu_likeness_apply(struct node_group *group, const struct gpu_likeness *likeness);
// What a command's options say of it; offset: of the likeness in the command's options.
#define LIKENESS_ROWS(offset)                                                                      \
    {"--memory-gb",                                                                                \
     OPTION_NUMBER,                                                                                \
     (offset) + offsetof(struct gpu_likeness, memory_gb),                                          \
     "its memory in GB of 1e9 bytes, if it is another",                                            \
     0,                                                                                            \
     1e6,                                                                                          \
     .needs = "--gpu-like"},                                                                       \
    {                                                                                              \
        "--intra", OPTION_NUMBER, (offset) + offsetof(struct gpu_likeness, intra_gb_per_s),        \
            "its link within a node in GB/s, one direction, if it is another", 0, 1e6,             \
            .needs = "--gpu-like"                                                                  \
    }

// A transformer on a cluster. Names are shipped documents ("gpt3-175b") or files (with a '/' or
// ending in ".json").
struct transformer_request {
    const char *name, *model, *cluster, *costs;
    const char *gpu; // instead of a cluster: the shipped cluster whose nodes have this GPU
    struct gpu_likeness likeness;
    int gpus, nodes;       // of the first group; one follows from the other; 0: as in the cluster
    double gpu_hour_price; // of every GPU; 0: as in the cluster
    int64_t sequence, global_batch; // 0: 2048 tokens, or fewer if the model has fewer positions; 64
                                    // micro-batches per replica
    enum precision precision;
    int gradient_bytes; // of a value; 0: as the framework does by default
    enum objective objective;
    int trainer;                 // UNSTATED: the framework's
    struct layout layout;        // data 0: as many replicas as the GPUs allow
    struct space space;          // if given: which parts of the layout a solve may choose
    struct stated_layout stated; // what of both the user has stated
    double memory_fraction;
    // Low-rank compression that a stage may choose, epilogue only on boundaries; rank 0: none is
    // offered. Each compressed boundary and stage costs 1 of the quality budget; -1: no limit.
    int boundary_rank, gradient_rank;
    int64_t quality_budget;
};
enum status example_transformer(struct problem *problem, const struct transformer_request *request,
                                struct arena *arena, struct error *err);

// A GPT on two clusters, one with InfiniBand and one with RoCE, with Ethernet between them; their
// nodes have places.
struct clusters_request {
    const char *costs; // costs of "a100-80gb", the first cluster's GPU
    double share; // the first cluster's share of the two clusters' speed: 0.55 and the rest, 0.45
    int layers, hidden, heads, nodes, gpus_per_node, tensor, pipeline, micro_batch, micro_batches,
        sequence;
    bool homogeneous_groups;
};
enum status example_clusters(struct problem *problem, const struct clusters_request *request,
                             struct arena *arena, struct error *err);

// GPT-2 XL in four stages on four machines of the kind on which the costs were calibrated, joined
// by 10 Gb/s Ethernet.
enum status example_four(struct problem *problem, const char *costs, double memory_gb,
                         struct arena *arena, struct error *err);

// The published setting of Pipette on a measured matrix: a GPT, as many replicas as the nodes
// allow, everything else as stated in the request.
struct pipette_request {
    const char *matrix, *costs; // the matrix: a file that `import matrix` reads
    struct matrix_request nodes;
    enum objective objective;
    enum precision precision;
    int64_t stages, tensor, layers, hidden, heads, vocabulary, sequence, micro_batch, global_batch;
};
enum status example_pipette(struct problem *problem, const struct pipette_request *request,
                            struct arena *arena, struct error *err);

// Writes problem.json, model.json, cluster.json, costs.json and job.json into the folder, which is
// created if missing. BAD_INPUT, with nothing changed: one of them exists with other content and
// force is false.
enum status example_write(struct problem *problem, const char *folder, bool force,
                          struct arena *arena, struct error *err);
