// Costs: what calibration determined about GPUs and links; every number has its interval and its
// origin.
#pragma once

#include "data/places/cluster.h"
#include "data/inputs/job.h"

enum { SCHEDULES_MAX = 16 }; // room for the table of schedules (data/kinds/schedules.h)

enum origin { ORIGIN_MEASURED, ORIGIN_FITTED, ORIGIN_PUBLISHED, ORIGIN_ASSUMED };
extern const char *const origin_names[]; // "measured", "fitted", "published", "assumed"

struct estimate {
    double value, low, high; // low <= value <= high; all three are equal for a number without an
                             // interval
    enum origin origin;
    const char *source; // what was measured, where it was published; NULL if not stated
    double valid_low,
        valid_high; // range of the argument (FLOP, bytes) of the fit; both 0: not stated
    bool stated;    // by a document or an option, so that a value of 0 is one
};

// Of a rate or a factor, which are never 0: not stated.
static inline long double estimate_or(const struct estimate *e, long double otherwise)
{
    return e->value > 0 ? (long double)e->value : otherwise;
}
// Of a time or a share, of which 0 is a value like others.
static inline bool estimate_is_stated(const struct estimate *e)
{
    return e->stated || e->value > 0 || e->high > 0;
}
static inline long double stated_or(const struct estimate *e, long double otherwise)
{
    return estimate_is_stated(e) ? (long double)e->value : otherwise;
}
static inline struct estimate estimate_assumed(double value, const char *source)
{
    return (struct estimate){value, value, value, ORIGIN_ASSUMED, source, 0, 0, false};
}
static inline struct estimate estimate_fitted(double value, double low, double high,
                                              const char *source)
{
    return (struct estimate){value, low, high, ORIGIN_FITTED, source, 0, 0, false};
}

struct precision_costs {
    enum precision precision;
    struct estimate gemm_flop_per_s;       // reached in the linear layers
    struct estimate attention_flop_per_s;  // reached in scores and context
    struct estimate low_rank_flop_per_s;   // reached by low-rank compression
    struct estimate misaligned_gemm_share; // of the GEMM rate, where a shard of the vocabulary is
                                           // not a multiple of 8; 0: all of it
    // Optional; 0 if not stated.
    struct estimate data_gradient_flop_per_s; // reached by the products for gradients of inputs; 0:
                                              // as gemm_flop_per_s
    struct estimate weight_gradient_flop_per_s; // and by those for gradients of weights
    struct estimate operand_bytes_per_s; // in addition to the FLOP, for every product's three
                                         // matrices; 0: they take no time
    struct estimate weight_operand_bytes_per_s; // for the products for gradients of weights; 0: as
                                                // operand_bytes_per_s
    struct estimate low_rank_bytes_per_s; // in addition to the FLOP, for what low-rank compression
                                          // reads and writes; 0: no time
    // The same two of decompression; low_rank_back_flop_per_s 0: both as those of compression.
    struct estimate low_rank_back_flop_per_s, low_rank_back_bytes_per_s;
    struct estimate backward_attention_flop_per_s; // 0: as attention_flop_per_s
    // Products of experts together, and both their gradients; attention in a step of a ring of
    // context ranks; casts to 8 bits; 0: as others, as attention, as memory_bytes_per_s.
    struct estimate grouped_flop_per_s, backward_grouped_flop_per_s;
    struct estimate ring_attention_flop_per_s, backward_ring_attention_flop_per_s;
    struct estimate expert_start_s;  // of each expert's product, where they start one by one
    struct estimate expert_launch_s; // the host's for each expert on a device, forward
    struct estimate cast_bytes_per_s;
    struct estimate product_flop_per_s; // products by shape: the sustained rate, however they are
                                        // split into tiles; 0: not by shape
    struct estimate product_tile_flop_per_s;   // of all processors together on whole tiles
    struct estimate product_square_tile_share; // the share of it on tiles of 128 x 128 values
                                               // instead of 128 x 256; 0: 1
    struct estimate product_bytes_per_s;       // each of a product's matrices counts once
    struct estimate peak_flop_per_s;           // from the data sheet; no price uses it
                                               // (data/inputs/figures.h)
};

// What a GPU's maker states, for GPUs whose costs follow from another's
// (data/inputs/data_sheets.c).
struct data_sheet {
    const char *gpu;
    const char *like;             // its costs are those of this GPU, scaled; NULL: it has its own
    double peak[PRECISION_COUNT]; // FLOP/s without sparsity; 0: not available
    double memory_bytes_per_s, processors, clock_hz;
    double exponentials_per_clock; // of one processor; 0: 16
    double power_w; // of chips of one design, what they sustain depends on it; 0: on the peaks
    double best_product_flop_per_s; // measured, of 16 bits; where the other has it too, it comes
                                    // before power and peaks; 0: not known
    double host_link_bytes_per_s, host_memory_bytes_per_s; // 0: as the other's
    const char *source;
};

// Arrays of multipliers, which keep a product's weights while its rows stream by, instead of
// processors with tiles (docs/FORMULAS.md 3, Arrays). All 0: the device has none.
struct matrix_arrays {
    double units, rows, columns, clock_hz; // rows: of the depth; columns: of the output
    double buffer_bytes;                   // on the chip; 0: each matrix is read or written once
};

struct gpu_costs {
    const char *gpu;
    const char *like; // follows from this GPU's costs by data sheets, and is not written; NULL: not
    struct precision_costs *precisions; // a precision that is not listed is not available on the
                                        // GPU
    int precision_count;
    struct estimate memory_bytes_per_s;     // reached by norms, activations, optimizer
    struct estimate layer_overhead_s;       // fixed, per layer and pass (forward, backward)
    struct estimate compression_overhead_s; // fixed, per compression or decompression
    struct estimate constant_bytes;         // context and libraries on each GPU
    // Optional; 0 if not stated.
    struct estimate backward_memory_bytes_per_s; // reached by the gradients of norms and
                                                 // activations; 0: as memory_bytes_per_s
    struct estimate backward_overhead_s; // fixed, per layer backward; 0: as layer_overhead_s
    struct estimate forward_factor,
        backward_factor; // of a whole block over the sum of its kernels; 0: 1
    struct estimate head_forward_factor, head_backward_factor; // of a head, in the same way
    struct estimate embedding_forward_factor, embedding_backward_factor;
    struct estimate
        layer_launch_s; // the host's minimum to launch a layer's kernels, forward; backward twice
    struct estimate mixture_launch_s;     // more for a mixture's router and dispatch
    struct estimate paired_launch_factor; // of a mixture's launches, where another micro-batch's
                                          // pass is launched in turn (overlapped dispatch); 0: 1
    struct estimate dispatch_wait_s, // the device's, until the host knows how many tokens came, by
        all_to_all_wait_s;           // fused kernels; by an all-to-all; 0: as the former
    struct estimate embedding_launch_share; // of it, for a pass of an embedding
    struct estimate collective_launch_s;    // added to each collective of tensor ranks
    struct estimate split_overhead_s;     // of a layer's weight gradients, where they are a pass of
                                          // their own: the program's, which walks its graph again
    struct estimate torch_yardstick_s;    // of run --with torch's reference product, when the
                                          // trainer's factor was measured; in no price
    struct estimate kernels_yardstick_s;  // of our own kernels' small layer beside the samples or
                                          // the run that these rates are from; in no price
    struct estimate step_bytes_per_value; // memory traffic of the optimizer step besides
                                          // states, gradients and weights
    struct estimate step_bytes_per_s;     // reached by optimizer steps; 0: as memory_bytes_per_s
    struct estimate host_memory_bytes_per_s;  // one GPU's share of its host's memory, reached by an
                                              // offloaded update
    struct estimate host_link_bytes_per_s;    // between the GPU and its host, one direction
    struct estimate host_update_values_per_s; // Adam updates on one GPU's share of its host's
                                              // processors; 0: bound only by memory
    struct estimate communicator_bytes;       // for each parallel dimension above 1
    struct estimate library_bytes;            // workspaces inside the allocator
    struct estimate processors;               // that work on a product's tiles
    struct matrix_arrays arrays;              // instead of them
    struct estimate product_launch_s; // of a product or attention kernel, in addition to its work
    struct estimate elementwise_launch_s; // of any other kernel
    struct estimate context_tensor_loss;  // share of what tensor collectives hide under products
                                          // that is lost with context ranks; 0: nothing
    struct estimate score_cells_per_s;    // exponentials of fused attention
    struct estimate
        open_attention_share,    // the shares of the attention rates that FlashAttention-2,
        triton_attention_share,  // FlashAttention in Triton and the GPU maker's library of
        earlier_attention_share; // 2024 reach; 0: 1
    struct estimate megatron_step_factor,
        deepspeed_step_factor; // of a step's kernels over the same kernels alone, by trainer; 0: 1
    struct estimate other_step_factor;   // for an unknown trainer; 0: Megatron's
    struct estimate sharded_step_factor; // instead of these with ZeRO 3 and with torchtitan; 0: the
                                         // trainer's
    struct estimate copy_bytes_per_s;    // of a copy on the device; no price uses it yet
    struct estimate rotary_bytes_per_s, dropout_bytes_per_s, // nor these
        backward_dropout_bytes_per_s;
    // For compression (docs/FORMULAS.md 6 and 7): values per second.
    struct estimate top_k_values_per_s, top_k_back_values_per_s, quantise_values_per_s,
        quantise_back_values_per_s;
};

// A layer of the model as measured on a GPU: one micro-batch, one pass.
struct layer_time {
    const char *run, *gpu;
    // Conditions of the measurement; 0: not stated, used for any.
    int64_t tensor, micro_batch, context, data, zero;
    double forward_s, backward_s;
    double selective_s, full_s; // added to backward by selective and by full recomputation
    double optimizer_s;
    double weight_s; // the weight gradient's part of backward_s; 0: not stated, half of it
};

// From `from_bytes` on (0 in the first segment) up to the next segment's: seconds + (bytes -
// from_bytes) / bytes_per_s. The protocol changes where one segment ends and the next begins, and
// the time may jump there.
struct segment {
    double from_bytes;
    struct estimate seconds, bytes_per_s;
};

// Measured all-reduces between `ranks` ranks of one node or of several, or messages between two:
// points, or straight lines fitted to them.
struct collective_times {
    const char *gpu;
    bool between_nodes, send;
    int64_t ranks;   // >= 2
    int64_t nodes;   // that they fill: then the times apply to any ranks over as many or other
                     // numbers of nodes (docs/FORMULAS.md 2); 0: to exactly so many ranks
    int point_count; // >= 1, or
    double *bytes, *seconds;  // bytes ascending
    int segment_count;        // >= 1
    struct segment *segments; // from_bytes ascending
};

enum { ITERATION_SPREAD_MAX = 100 };

struct costs {
    struct document document;
    const char *name;
    struct gpu_costs *gpus; // those of data sheets last
    int gpu_count;
    struct data_sheet *data_sheets;
    int data_sheet_count;
    struct layer_time *layer_times;
    int layer_time_count;
    struct collective_times *collectives;
    int collective_count;
    struct estimate intra_efficiency; // share of a link's nominal bandwidth that is reached
    struct estimate network_efficiency[NIC_KIND_COUNT];
    double transfer_share[PART_COUNT]; // of a transfer's size-dependent time, with overhead counted
                                       // twice; sum 1. Latency is delay
    // Optional; 0 if not stated.
    struct estimate
        transfer_intra_efficiency; // for transfers between stages, if these reach another share
    struct estimate transfer_network_efficiency[NIC_KIND_COUNT];
    struct estimate
        transfer_launch_s; // added to the size-dependent time of a transfer between stages
    struct estimate overlap_slowdown; // of two activities that overlap, the share of the shorter
                                      // one that is exposed
    struct estimate dispatch_overlap, // share of dispatch that another micro-batch's passes hide;
        all_to_all_overlap;           // of an all-to-all; 0: as the former
    struct estimate tensor_overlap;   // share of tensor collectives that is hidden by GEMMs
    struct estimate context_overlap; // share of attention that can hide the ring of keys and values
    struct estimate tree_bandwidth_share; // the share of a ring's bandwidth that trees reach in an
                                          // all-reduce over nodes; 0: no trees
    struct estimate node_doubling_share;  // what is left of a ring's bandwidth whenever its nodes
                                          // double, from two on; 0: all of it
    struct estimate allocator_factor;     // memory used per byte requested from the allocator; 0: 1
    struct estimate iteration_spread;     // what the formulas leave open besides these numbers: the
                                          // time divided, or multiplied, by 1 + it; 0: nothing
    bool schedule_share_stated[SCHEDULES_MAX]; // transfers have their own shares in programs of
                                               // this schedule
    double schedule_share[SCHEDULES_MAX][PART_COUNT];
};

extern const struct members costs_members; // its keys (data/text/members.h)
enum status costs_load(struct costs *c, const char *path, struct arena *arena, struct error *err);
enum status costs_check(const struct costs *c, struct error *err);
enum status costs_save(const struct costs *c, const char *path, struct arena *arena,
                       struct error *err);
const double *costs_transfer_share(const struct costs *c,
                                   int schedule);                               // [PART_COUNT]
const struct gpu_costs *costs_find_gpu(const struct costs *c, const char *gpu); // NULL: none
const struct precision_costs *costs_find_precision(const struct gpu_costs *g,
                                                   enum precision precision); // NULL: lacks it
// Whether a GPU with costs can compute nothing in the precision; measured layers need no such
// costs.
bool costs_lack_precision(const struct costs *c, const char *gpu, enum precision precision);
const char *costs_precisions(const struct gpu_costs *g, struct arena *arena); // "fp16, fp32"
