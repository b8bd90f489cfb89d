// One line per estimate of data/inputs/costs.h: its name in documents, where it stands, whether
// more of it means faster.
#include "data/inputs/cost_keys.h"

#include <string.h>

#define OF_ALL(name, field, sense, low, high)                                                      \
    {                                                                                              \
        name, COST_OF_ALL, sense, offsetof(struct costs, field), low, high                         \
    }
#define OF_GPU(name, field, sense, low, high)                                                      \
    {                                                                                              \
        name, COST_OF_GPU, sense, offsetof(struct gpu_costs, field), low, high                     \
    }
#define OF_PRECISION(name, field, sense, low, high)                                                \
    {                                                                                              \
        name, COST_OF_PRECISION, sense, offsetof(struct precision_costs, field), low, high         \
    }

const struct cost_key cost_keys[] = {
    OF_PRECISION("gemm_flop_per_s", gemm_flop_per_s, COST_RATE, 1, 1e21),
    OF_PRECISION("attention_flop_per_s", attention_flop_per_s, COST_RATE, 1, 1e21),
    OF_PRECISION("low_rank_flop_per_s", low_rank_flop_per_s, COST_RATE, 1, 1e21),
    OF_GPU("memory_bytes_per_s", memory_bytes_per_s, COST_RATE, 1, 1e21),
    OF_GPU("layer_overhead_s", layer_overhead_s, COST_TIME, 0, 1e6),
    OF_GPU("compression_overhead_s", compression_overhead_s, COST_TIME, 0, 1e6),
    OF_PRECISION("misaligned_gemm_share", misaligned_gemm_share, COST_RATE, 0, 1),
    OF_PRECISION("data_gradient_flop_per_s", data_gradient_flop_per_s, COST_RATE, 0, 1e21),
    OF_PRECISION("weight_gradient_flop_per_s", weight_gradient_flop_per_s, COST_RATE, 0, 1e21),
    OF_PRECISION("operand_bytes_per_s", operand_bytes_per_s, COST_RATE, 0, 1e21),
    OF_PRECISION("low_rank_bytes_per_s", low_rank_bytes_per_s, COST_RATE, 0, 1e21),
    OF_PRECISION("backward_attention_flop_per_s", backward_attention_flop_per_s, COST_RATE, 0,
                 1e21),
    OF_PRECISION("product_flop_per_s", product_flop_per_s, COST_RATE, 0, 1e21),
    OF_PRECISION("product_tile_flop_per_s", product_tile_flop_per_s, COST_RATE, 0, 1e21),
    OF_PRECISION("product_bytes_per_s", product_bytes_per_s, COST_RATE, 0, 1e21),
    OF_GPU("processors", processors, COST_RATE, 0, 1e6),
    OF_GPU("product_launch_s", product_launch_s, COST_TIME, 0, 1e6),
    OF_GPU("elementwise_launch_s", elementwise_launch_s, COST_TIME, 0, 1e6),
    OF_GPU("score_cells_per_s", score_cells_per_s, COST_RATE, 0, 1e21),
    OF_GPU("open_attention_share", open_attention_share, COST_RATE, 0, 1),
    OF_GPU("megatron_step_factor", megatron_step_factor, COST_TIME, 0, 100),
    OF_GPU("deepspeed_step_factor", deepspeed_step_factor, COST_TIME, 0, 100),
    OF_GPU("sharded_step_factor", sharded_step_factor, COST_TIME, 0, 100),
    OF_GPU("backward_memory_bytes_per_s", backward_memory_bytes_per_s, COST_RATE, 0, 1e21),
    OF_GPU("backward_overhead_s", backward_overhead_s, COST_TIME, 0, 1e6),
    OF_GPU("forward_factor", forward_factor, COST_TIME, 0, 100),
    OF_GPU("backward_factor", backward_factor, COST_TIME, 0, 100),
    OF_GPU("constant_bytes", constant_bytes, COST_BYTES, 0, 1125899906842624.0),
    OF_GPU("layer_launch_s", layer_launch_s, COST_TIME, 0, 1e6),
    OF_GPU("embedding_launch_share", embedding_launch_share, COST_TIME, 0, 100),
    OF_GPU("collective_launch_s", collective_launch_s, COST_TIME, 0, 1e6),
    OF_GPU("step_bytes_per_value", step_bytes_per_value, COST_TIME, 0, 1e6),
    OF_GPU("host_memory_bytes_per_s", host_memory_bytes_per_s, COST_RATE, 0, 1e21),
    OF_GPU("host_link_bytes_per_s", host_link_bytes_per_s, COST_RATE, 0, 1e21),
    OF_GPU("communicator_bytes", communicator_bytes, COST_BYTES, 0, 1125899906842624.0),
    OF_GPU("library_bytes", library_bytes, COST_BYTES, 0, 1125899906842624.0),
    OF_GPU("copy_bytes_per_s", copy_bytes_per_s, COST_RATE, 0, 1e21),
    OF_GPU("top_k_values_per_s", top_k_values_per_s, COST_RATE, 0, 1e21),
    OF_GPU("top_k_back_values_per_s", top_k_back_values_per_s, COST_RATE, 0, 1e21),
    OF_GPU("quantise_values_per_s", quantise_values_per_s, COST_RATE, 0, 1e21),
    OF_GPU("quantise_back_values_per_s", quantise_back_values_per_s, COST_RATE, 0, 1e21),
    OF_ALL("intra_efficiency", intra_efficiency, COST_RATE, 1e-6, 1),
    OF_ALL("network_efficiency.infiniband", network_efficiency[NIC_INFINIBAND], COST_RATE, 1e-6, 1),
    OF_ALL("network_efficiency.roce", network_efficiency[NIC_ROCE], COST_RATE, 1e-6, 1),
    OF_ALL("network_efficiency.ethernet", network_efficiency[NIC_ETHERNET], COST_RATE, 1e-6, 1),
    OF_ALL("transfer_efficiency.intra", transfer_intra_efficiency, COST_RATE, 0, 1),
    OF_ALL("transfer_efficiency.infiniband", transfer_network_efficiency[NIC_INFINIBAND], COST_RATE,
           0, 1),
    OF_ALL("transfer_efficiency.roce", transfer_network_efficiency[NIC_ROCE], COST_RATE, 0, 1),
    OF_ALL("transfer_efficiency.ethernet", transfer_network_efficiency[NIC_ETHERNET], COST_RATE, 0,
           1),
    OF_ALL("transfer_launch_s", transfer_launch_s, COST_TIME, 0, 1e6),
    OF_ALL("overlap_slowdown", overlap_slowdown, COST_TIME, 0, 1),
    OF_ALL("tensor_overlap", tensor_overlap, COST_RATE, 0, 1),
    OF_ALL("context_overlap", context_overlap, COST_RATE, 0, 1),
    OF_ALL("allocator_factor", allocator_factor, COST_BYTES, 1, 10),
};
const int cost_key_count = ARRAY_LENGTH(cost_keys);

int cost_key_find(const char *name)
{
    int found = -1, count = 0;
    size_t length = strlen(name);
    for (int i = 0; i < cost_key_count; i++) {
        if (!strcmp(cost_keys[i].name, name)) return i;
        if (length && !strncmp(cost_keys[i].name, name, length)) found = i, count++;
    }
    return count == 1 ? found : -1;
}

static void visit_gpu(struct gpu_costs *g, int key, int value_bytes, cost_visitor *visit,
                      void *context)
{
    const struct cost_key *k = &cost_keys[key];
    if (k->scope == COST_OF_GPU) {
        visit((struct estimate *)((char *)g + k->offset), k, context);
        return;
    }
    for (int i = 0; i < g->precision_count; i++)
        if (!value_bytes || precision_bytes(g->precisions[i].precision) == value_bytes)
            visit((struct estimate *)((char *)&g->precisions[i] + k->offset), k, context);
}

void costs_visit(struct costs *c, int key, const char *gpu, int value_bytes, cost_visitor *visit,
                 void *context)
{
    const struct cost_key *k = &cost_keys[key];
    if (k->scope == COST_OF_ALL) {
        visit((struct estimate *)((char *)c + k->offset), k, context);
        return;
    }
    for (int i = 0; i < c->gpu_count; i++)
        if (!gpu || !strcmp(c->gpus[i].gpu, gpu))
            visit_gpu(&c->gpus[i], key, value_bytes, visit, context);
}

struct costs costs_copy(const struct costs *c, struct arena *arena)
{
    struct costs copy = *c;
    copy.gpus = TAKE(arena, c->gpu_count, struct gpu_costs);
    for (int i = 0; i < c->gpu_count; i++) {
        struct gpu_costs *g = &copy.gpus[i];
        *g = c->gpus[i];
        g->precisions = TAKE(arena, g->precision_count, struct precision_costs);
        for (int k = 0; k < g->precision_count; k++) g->precisions[k] = c->gpus[i].precisions[k];
    }
    copy.collectives = TAKE(arena, c->collective_count, struct collective_times);
    for (int i = 0; i < c->collective_count; i++) {
        struct collective_times *t = &copy.collectives[i];
        *t = c->collectives[i];
        t->segments = TAKE(arena, t->segment_count, struct segment);
        for (int k = 0; k < t->segment_count; k++) t->segments[k] = c->collectives[i].segments[k];
    }
    return copy;
}

static void move(struct estimate *e, const struct cost_key *key, void *context)
{
    bool up = (*(const enum cost_end *)context == COSTS_FAST) == (key->sense == COST_RATE);
    if (key->sense != COST_BYTES) e->value = up ? e->high : e->low;
}

void costs_move_to(struct costs *c, enum cost_end end)
{
    for (int key = 0; key < cost_key_count; key++) costs_visit(c, key, NULL, 0, move, &end);
    for (int i = 0; i < c->collective_count; i++)
        for (int k = 0; k < c->collectives[i].segment_count; k++) {
            struct segment *segment = &c->collectives[i].segments[k];
            segment->seconds.value = end == COSTS_FAST ? segment->seconds.low
                                                       : segment->seconds.high;
            segment->bytes_per_s.value = end == COSTS_FAST ? segment->bytes_per_s.high
                                                           : segment->bytes_per_s.low;
        }
}
