// See ops.h. Work is counted as in measured samples: a product of m x k and k x n has 2 m n k FLOP,
// attention four per score and element of a head (half of the scores if it is causal), backward 2.5
// times as much; memory-bound parts read their inputs and write one array as large as the largest.
#include "data/import/trace/ops.h"

#include <string.h>

#include "data/base/grow.h"

#define SIZE_MOST 1e12 // of a dimension; more is not an array

static const struct {
    const char *name;
    int bytes;
    enum precision precision;
} types[] = {{"float", 4, FP32},
             {"c10::BFloat16", 2, BF16},
             {"c10::Half", 2, FP16},
             {"c10::Float8_e4m3fn", 1, FP8},
             {"c10::Float8_e5m2", 1, FP8},
             {"c10::Float8_e4m3fnuz", 1, FP8},
             // of collectives
             {"Float", 4, FP32},
             {"BFloat16", 2, BF16},
             {"Half", 2, FP16},
             {"Float8_e4m3fn", 1, FP8},
             {"Float8_e5m2", 1, FP8}};

static int find_type(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
        if (!strcmp(types[i].name, name)) return (int)i;
    return -1;
}

static double values_of(const struct trace_input *x)
{
    double values = 1;
    for (int i = 0; i < x->dimension_count; i++) values *= (double)x->dimensions[i];
    return values;
}

// ---- products

static const struct {
    const char *name;
    int first; // index of the first of the two matrices among the inputs
} products[] = {{"aten::mm", 0},
                {"aten::addmm", 1},
                {"aten::addmm_", 1},
                {"aten::_addmm_activation", 1},
                {"aten::_scaled_mm", 0}};

static bool take_product(struct trace_op *op, const char *name, const struct trace_arguments *a)
{
    size_t i = 0;
    while (i < ARRAY_LENGTH(products) && strcmp(products[i].name, name)) i++;
    if (i == ARRAY_LENGTH(products)) return false;
    const struct trace_input *x = &a->inputs[products[i].first], *y = x + 1;
    int type = find_type(x->type);
    double m = (double)x->dimensions[0], k = (double)x->dimensions[1], n = (double)y->dimensions[1];
    if (type < 0 || x->dimension_count != 2 || y->dimension_count != 2 ||
        x->dimensions[1] != y->dimensions[0] || m * n * k < 1)
        return false;
    *op = (struct trace_op){.kind = SAMPLE_GEMM,
                            .operation = products[i].name,
                            .dimensions = {x->dimensions[0], y->dimensions[1], x->dimensions[1]},
                            .precision = types[type].precision,
                            .flop = 2 * m * n * k,
                            .bytes = types[type].bytes * (m * k + k * n + m * n)};
    return true;
}

// ---- attention

// The index of the queries among the inputs, whether heads come before tokens, and what states that
// attention is causal.
static const struct {
    const char *name;
    int query, causal;
    bool heads_first, backward;
} attentions[] = {{"aten::_flash_attention_forward", 0, 8, false, false},
                  {"aten::_flash_attention_backward", 1, 11, false, true},
                  {"aten::_efficient_attention_forward", 0, 9, false, false},
                  {"aten::_efficient_attention_backward", 1, 14, false, true},
                  {"aten::_scaled_dot_product_cudnn_attention", 0, 6, true, false},
                  {"aten::_cudnn_attention_forward", 0, 10, true, false},
                  {"aten::_scaled_dot_product_cudnn_attention_backward", 1, 14, true, true},
                  {"aten::_cudnn_attention_backward", 1, 14, true, true},
                  {"aten::_scaled_dot_product_flash_attention_for_cpu", 0, 4, true, false},
                  {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", 1, 7, true, true},
                  {"flash_attn::_flash_attn_forward", 0, 5, false, false}};

static bool take_attention(struct trace_op *op, const char *name, const struct trace_arguments *a)
{
    size_t i = 0;
    while (i < ARRAY_LENGTH(attentions) && strcmp(attentions[i].name, name)) i++;
    if (i == ARRAY_LENGTH(attentions)) return false;
    const struct trace_input *q = &a->inputs[attentions[i].query];
    const char *causal = a->inputs[attentions[i].causal].value;
    int type = find_type(q->type), tokens = attentions[i].heads_first ? 2 : 1;
    if (type < 0 || q->dimension_count != 4 || (q + 1)->dimension_count != 4) return false;
    int64_t batch = q->dimensions[0], heads = q->dimensions[3 - tokens],
            sequence = q->dimensions[tokens], width = q->dimensions[3];
    // Queries and keys of different lengths do not occur in training.
    if ((q + 1)->dimensions[tokens] != sequence || values_of(q) < 1) return false;
    double half = !strcmp(causal, "True") || !strcmp(causal, "1") ? 0.5 : 1,
           scores = (double)batch * (double)heads * (double)sequence * (double)sequence;
    *op = (struct trace_op){
        .kind = SAMPLE_ATTENTION,
        .operation = attentions[i].backward ? "fused attention backward" : "fused attention",
        .dimensions = {batch * heads, sequence, width},
        .precision = types[type].precision,
        .flop = 4 * scores * (double)width * half * (attentions[i].backward ? 2.5 : 1)};
    return true;
}

// ---- memory-bound parts

static const struct {
    const char *name, *operation;
    int inputs; // read in full; one more array is written
} parts[] = {{"aten::add", "add", 2},
             {"aten::add_", "add", 2},
             {"aten::sub", "sub", 2},
             {"aten::mul", "mul", 2},
             {"aten::mul_", "mul", 2},
             {"aten::div", "div", 2},
             {"aten::div_", "div", 2},
             {"aten::gelu", "gelu", 1},
             {"aten::silu", "silu", 1},
             {"aten::relu", "relu", 1},
             {"aten::sigmoid", "sigmoid", 1},
             {"aten::tanh", "tanh", 1},
             {"aten::gelu_backward", "gelu backward", 2},
             {"aten::silu_backward", "silu backward", 2},
             {"aten::threshold_backward", "relu backward", 2},
             {"aten::native_layer_norm", "norm", 1},
             {"aten::_fused_rms_norm", "norm", 1},
             {"aten::native_layer_norm_backward", "norm backward", 2},
             {"aten::_fused_rms_norm_backward", "norm backward", 2}};

static bool take_part(struct trace_op *op, const char *name, const struct trace_arguments *a)
{
    size_t i = 0;
    double read = 0, written = 0;
    while (i < ARRAY_LENGTH(parts) && strcmp(parts[i].name, name)) i++;
    if (i == ARRAY_LENGTH(parts)) return false;
    int first = find_type(a->inputs[0].type);
    for (int k = 0; k < parts[i].inputs; k++) {
        const struct trace_input *x = &a->inputs[k];
        int type = find_type(x->type);
        if (x->dimension_count > TRACE_DIMENSIONS) return false;
        if (type < 0 || !x->dimension_count) continue; // a number, or an array of other values
        double bytes = types[type].bytes * values_of(x);
        read += bytes;
        if (bytes > written) written = bytes;
    }
    if (first < 0 || read < 1) return false;
    *op = (struct trace_op){.kind = SAMPLE_MEMORY,
                            .operation = parts[i].operation,
                            .dimensions = {(int64_t)(read + written)},
                            .precision = types[first].precision,
                            .bytes = read + written};
    return true;
}

// ---- copies and collectives

static bool take_copy(struct trace_op *op, const char *name, const struct trace_arguments *a)
{
    static const struct {
        const char *name, *operation;
        enum sample_kind kind;
        int times;
    } copies[] = {
        {"Memcpy DtoD", "copy", SAMPLE_MEMORY, 2},
        {"Memcpy HtoD (Pinned", "host to device, pinned", SAMPLE_TRANSFER, 1},
        {"Memcpy DtoH (Device -> Pinned", "device to host, pinned", SAMPLE_TRANSFER, 1},
        {"Memcpy HtoD (Pageable", "host to device, pageable", SAMPLE_TRANSFER, 1},
        {"Memcpy DtoH (Device -> Pageable", "device to host, pageable", SAMPLE_TRANSFER, 1}};
    for (size_t i = 0; i < ARRAY_LENGTH(copies); i++) {
        if (strncmp(name, copies[i].name, strlen(copies[i].name)) || a->bytes < 1) continue;
        *op = (struct trace_op){.kind = copies[i].kind,
                                .operation = copies[i].operation,
                                .dimensions = {copies[i].times * a->bytes},
                                .precision = FP32,
                                .bytes = (double)(copies[i].times * a->bytes)};
        return true;
    }
    return false;
}

// "[0, 8, 16, 24]", which may be cut short: its first member, and the distance between members.
static bool read_ranks(struct trace_op *op, const char *ranks)
{
    int read = sscanf(ranks, "[%d, %d", &op->rank, &op->stride);
    op->stride = read == 2 ? op->stride - op->rank : 1;
    return read >= 1 && op->rank >= 0 && op->stride > 0 && op->stride < 1 << 20;
}

static bool take_collective(struct trace_op *op, const struct trace_arguments *a)
{
    static const struct {
        const char *name, *operation;
        bool out; // the whole array is the output
    } names[] = {{"allreduce", "all_reduce", false},
                 {"allreduce_coalesced", "all_reduce", false},
                 {"reduce_scatter", "reduce_scatter", false},
                 {"_reduce_scatter_base", "reduce_scatter", false},
                 {"reduce_scatter_tensor_coalesced", "reduce_scatter", false},
                 {"allgather", "all_gather", true},
                 {"_allgather_base", "all_gather", true},
                 {"allgather_into_tensor_coalesced", "all_gather", true},
                 {"all_to_all", "all_to_all", false},
                 {"all_to_allv", "all_to_all", false}};
    size_t i = 0;
    int type = find_type(a->type);
    while (i < ARRAY_LENGTH(names) && strcmp(names[i].name, a->collective)) i++;
    if (i == ARRAY_LENGTH(names) || type < 0) return false;
    int64_t elements = names[i].out ? a->elements_out : a->elements_in;
    if (elements < 1 || a->group_size < 2 || a->group_size > 8192) return false;
    int64_t bytes = elements * types[type].bytes;
    *op = (struct trace_op){.kind = SAMPLE_COLLECTIVE,
                            .operation = names[i].operation,
                            .dimensions = {bytes, a->group_size},
                            .precision = types[type].precision,
                            .bytes = (double)bytes};
    return read_ranks(op, a->ranks);
}

bool trace_ops_take(struct trace_ops *ops, const char *name, enum trace_category category,
                    const struct trace_arguments *a, double seconds, struct arena *arena)
{
    struct trace_op op;
    bool collective = category == TRACE_KERNEL && *a->collective, taken;
    for (int i = 0; i < TRACE_INPUTS; i++)
        for (int k = 0; k < TRACE_DIMENSIONS; k++)
            if ((double)a->inputs[i].dimensions[k] > SIZE_MOST) return true;
    taken = category == TRACE_OPERATOR ? take_product(&op, name, a) ||
                                             take_attention(&op, name, a) || take_part(&op, name, a)
            : category == TRACE_COPY ? take_copy(&op, name, a)
                                     : collective && take_collective(&op, a);
    if (collective && !taken) ops->unknown++;
    if (!taken) return true;
    if (ops->count == TRACE_OPS_MAX) return false;
    op.external = category == TRACE_OPERATOR ? a->external : 0;
    op.host_s = category == TRACE_OPERATOR ? seconds : 0;
    op.seconds = category == TRACE_OPERATOR ? 0 : seconds;
    *GROWN(arena, ops->items, ops->count, ops->room, 1024) = op;
    return true;
}
