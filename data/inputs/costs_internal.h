// Shared by the files data/inputs/cost*.c: the estimates of a costs document, in its order and each
// defined once, both as rows of data/text/members.h and as keys of data/inputs/cost_keys.h.
#pragma once

#include "data/inputs/costs.h"
#include "data/text/members.h"

// X(member, group, sense, need, low, high). group, sense: as in struct cost_key, without the
// prefixes COSTS_OF_ and COST_. need: NEEDED; DEFAULT, which has its own value if it is missing,
// and is always written; STATED, which is 0 if it is missing (its formula defines what 0 means,
// docs/FORMULAS.md), and is not written then. A document may hold values from low to high: 0 where
// it is one of the number's own, as of a time, not where it would only stand for another.
#define PRECISION_ESTIMATES(X)                                                                     \
    X(gemm_flop_per_s, PRODUCTS, RATE, NEEDED, 1, 1e21)                                            \
    X(attention_flop_per_s, ATTENTION, RATE, NEEDED, 1, 1e21)                                      \
    X(low_rank_flop_per_s, PRODUCTS, RATE, DEFAULT, 1, 1e21)                                       \
    X(misaligned_gemm_share, PRODUCTS, RATE, STATED, 1e-6, 1)                                      \
    X(data_gradient_flop_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                   \
    X(weight_gradient_flop_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                 \
    X(operand_bytes_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                        \
    X(weight_operand_bytes_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                 \
    X(low_rank_bytes_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                       \
    X(low_rank_back_flop_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                   \
    X(low_rank_back_bytes_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                  \
    X(backward_attention_flop_per_s, ATTENTION, RATE, STATED, 1, 1e21)                             \
    X(grouped_flop_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                         \
    X(backward_grouped_flop_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                \
    X(ring_attention_flop_per_s, ATTENTION, RATE, STATED, 1, 1e21)                                 \
    X(backward_ring_attention_flop_per_s, ATTENTION, RATE, STATED, 1, 1e21)                        \
    X(expert_start_s, LAUNCHES, TIME, STATED, 0, 1e6)                                              \
    X(expert_launch_s, LAUNCHES, TIME, STATED, 0, 1e6)                                             \
    X(cast_bytes_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                           \
    X(product_flop_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                         \
    X(product_tile_flop_per_s, PRODUCTS, RATE, STATED, 1, 1e21)                                    \
    X(product_square_tile_share, PRODUCTS, RATE, STATED, 1e-6, 1)                                  \
    X(product_bytes_per_s, PRODUCTS, RATE, STATED, 1, 1e21)

#define GPU_ESTIMATES(X)                                                                           \
    X(memory_bytes_per_s, MEMORY, RATE, NEEDED, 1, 1e21)                                           \
    X(layer_overhead_s, LAUNCHES, TIME, DEFAULT, 0, 1e6)                                           \
    X(compression_overhead_s, LAUNCHES, TIME, DEFAULT, 0, 1e6)                                     \
    X(constant_bytes, MEMORY, BYTES, NEEDED, 0, 1125899906842624.0)                                \
    X(backward_memory_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                  \
    X(backward_overhead_s, LAUNCHES, TIME, STATED, 0, 1e6)                                         \
    X(forward_factor, TRAINER, TIME, STATED, 1e-6, 100)                                            \
    X(backward_factor, TRAINER, TIME, STATED, 1e-6, 100)                                           \
    X(head_forward_factor, TRAINER, TIME, STATED, 1e-6, 100)                                       \
    X(head_backward_factor, TRAINER, TIME, STATED, 1e-6, 100)                                      \
    X(embedding_forward_factor, TRAINER, TIME, STATED, 1e-6, 100)                                  \
    X(embedding_backward_factor, TRAINER, TIME, STATED, 1e-6, 100)                                 \
    X(layer_launch_s, LAUNCHES, TIME, STATED, 0, 1e6)                                              \
    X(mixture_launch_s, LAUNCHES, TIME, STATED, 0, 1e6)                                            \
    X(paired_launch_factor, LAUNCHES, TIME, STATED, 1e-6, 100)                                     \
    X(dispatch_wait_s, LAUNCHES, TIME, STATED, 0, 1e6)                                             \
    X(all_to_all_wait_s, LAUNCHES, TIME, STATED, 0, 1e6)                                           \
    X(embedding_launch_share, LAUNCHES, TIME, STATED, 0, 100)                                      \
    X(collective_launch_s, LAUNCHES, TIME, STATED, 0, 1e6)                                         \
    X(split_overhead_s, LAUNCHES, TIME, STATED, 0, 1e6)                                            \
    X(torch_yardstick_s, TRAINER, TIME, STATED, 0, 1e6)                                            \
    X(kernels_yardstick_s, MEMORY, TIME, STATED, 0, 1e6)                                           \
    X(step_bytes_per_value, MEMORY, TIME, STATED, 0, 1e6)                                          \
    X(step_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                             \
    X(host_memory_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                      \
    X(host_link_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                        \
    X(host_update_values_per_s, MEMORY, RATE, STATED, 1, 1e21)                                     \
    X(communicator_bytes, MEMORY, BYTES, STATED, 0, 1125899906842624.0)                            \
    X(library_bytes, MEMORY, BYTES, STATED, 0, 1125899906842624.0)                                 \
    X(processors, PRODUCTS, RATE, STATED, 1, 1e6)                                                  \
    X(product_launch_s, LAUNCHES, TIME, STATED, 0, 1e6)                                            \
    X(elementwise_launch_s, LAUNCHES, TIME, STATED, 0, 1e6)                                        \
    X(score_cells_per_s, ATTENTION, RATE, STATED, 1, 1e21)                                         \
    X(open_attention_share, ATTENTION, RATE, STATED, 1e-6, 1)                                      \
    X(triton_attention_share, ATTENTION, RATE, STATED, 1e-6, 1)                                    \
    X(earlier_attention_share, ATTENTION, RATE, STATED, 1e-6, 1)                                   \
    X(context_tensor_loss, OVERLAP, TIME, STATED, 0, 1)                                            \
    X(megatron_step_factor, TRAINER, TIME, STATED, 1e-6, 100)                                      \
    X(deepspeed_step_factor, TRAINER, TIME, STATED, 1e-6, 100)                                     \
    X(other_step_factor, TRAINER, TIME, STATED, 1e-6, 100)                                         \
    X(sharded_step_factor, TRAINER, TIME, STATED, 1e-6, 100)                                       \
    X(copy_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                             \
    X(rotary_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                           \
    X(dropout_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                          \
    X(backward_dropout_bytes_per_s, MEMORY, RATE, STATED, 1, 1e21)                                 \
    X(top_k_values_per_s, MEMORY, RATE, STATED, 1, 1e21)                                           \
    X(top_k_back_values_per_s, MEMORY, RATE, STATED, 1, 1e21)                                      \
    X(quantise_values_per_s, MEMORY, RATE, STATED, 1, 1e21)                                        \
    X(quantise_back_values_per_s, MEMORY, RATE, STATED, 1, 1e21)

#define INTRA_ESTIMATES(X) X(intra_efficiency, NODE, RATE, DEFAULT, 1e-6, 1)

// For objects: X(object, key, member, group, sense, need, low, high).
#define NETWORK_ESTIMATES(X)                                                                       \
    X(network_efficiency, infiniband, network_efficiency[NIC_INFINIBAND], NETWORK, RATE, DEFAULT,  \
      1e-6, 1)                                                                                     \
    X(network_efficiency, roce, network_efficiency[NIC_ROCE], NETWORK, RATE, DEFAULT, 1e-6, 1)     \
    X(network_efficiency, ethernet, network_efficiency[NIC_ETHERNET], NETWORK, RATE, DEFAULT,      \
      1e-6, 1)

#define TRANSFER_ESTIMATES(X)                                                                      \
    X(transfer_efficiency, intra, transfer_intra_efficiency, NODE, RATE, STATED, 1e-6, 1)          \
    X(transfer_efficiency, infiniband, transfer_network_efficiency[NIC_INFINIBAND], NETWORK, RATE, \
      STATED, 1e-6, 1)                                                                             \
    X(transfer_efficiency, roce, transfer_network_efficiency[NIC_ROCE], NETWORK, RATE, STATED,     \
      1e-6, 1)                                                                                     \
    X(transfer_efficiency, ethernet, transfer_network_efficiency[NIC_ETHERNET], NETWORK, RATE,     \
      STATED, 1e-6, 1)

#define COSTS_ESTIMATES(X)                                                                         \
    X(transfer_launch_s, LAUNCHES, TIME, STATED, 0, 1e6)                                           \
    X(overlap_slowdown, OVERLAP, TIME, STATED, 0, 1)                                               \
    X(dispatch_overlap, OVERLAP, RATE, STATED, 0, 1)                                               \
    X(all_to_all_overlap, OVERLAP, RATE, STATED, 0, 1)                                             \
    X(tensor_overlap, OVERLAP, RATE, STATED, 0, 1)                                                 \
    X(context_overlap, OVERLAP, RATE, STATED, 0, 1)                                                \
    X(tree_bandwidth_share, NETWORK, RATE, STATED, 0, 1)                                           \
    X(node_doubling_share, FABRIC, RATE, STATED, 1e-6, 1)                                          \
    X(allocator_factor, MEMORY, BYTES, STATED, 1, 10)

extern const struct members estimate_members; // ESTIMATE_STATED: only for costs.c
#define ESTIMATE_ROW(s, key, member, need, low, high, put)                                         \
    KEY_ROW(key, JSON_OBJECT, need, ALWAYS_WRITTEN, offsetof(struct s, member), low, high, NULL,   \
            &estimate_members, 0, 0, JSON_SKIP, NULL, put)
#define ESTIMATE_NEEDED(s, key, member, low, high)                                                 \
    ESTIMATE_ROW(s, key, member, REQUIRED, low, high, NULL)
#define ESTIMATE_DEFAULT(s, key, member, low, high)                                                \
    ESTIMATE_ROW(s, key, member, OPTIONAL, low, high, NULL)
#define ESTIMATE_STATED(s, key, member, low, high)                                                 \
    ESTIMATE_ROW(s, key, member, OPTIONAL, low, high, put_stated)

// Checks every estimate among the members of `of`. file: starts the message.
enum status estimates_check(const struct members *m, const void *of, const char *where,
                            struct error *err);

// Adds the GPUs whose costs follow from another's.
extern const struct members data_sheet_members;
enum status data_sheets_apply(struct costs *c, struct arena *arena, struct error *err);

extern const struct members collective_members;
enum { COLLECTIVES_MAX = 4096 };
enum status collectives_check(const struct costs *c, struct error *err);

static inline const char *name_of(const struct costs *c)
{
    return document_name(&c->document, "costs");
}
