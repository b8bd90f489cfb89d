// The most frequent attention has the sequence, and heads x micro-batch; the most frequent product
// of the model's hidden width has the tokens. What does not divide is not known.
#include "data/import/trace/ops.h"

// The operator of this kind that occurs most often, of those that `takes` says; NULL: none.
static const struct trace_op *most_frequent(const struct trace_ops *ops, enum sample_kind kind,
                                            int64_t depth)
{
    const struct trace_op *best = NULL;
    int most = 0;
    for (int i = 0; i < ops->count && i < 4096; i++) {
        const struct trace_op *x = &ops->items[i];
        int count = 0;
        if (x->kind != kind || (depth && x->dimensions[2] != depth)) continue;
        for (int k = i; k < ops->count && k < i + 65536; k++) {
            const struct trace_op *y = &ops->items[k];
            count += y->kind == kind && y->dimensions[0] == x->dimensions[0] &&
                     y->dimensions[2] == x->dimensions[2] &&
                     (kind != SAMPLE_ATTENTION || y->dimensions[1] == x->dimensions[1]);
        }
        if (count > most) best = x, most = count;
    }
    return best;
}

struct trace_sizes trace_sizes_of(const struct trace_ops *ops, const struct shape *shape)
{
    struct trace_sizes z = {.precision = -1};
    const struct trace_op *attention = most_frequent(ops, SAMPLE_ATTENTION, 0),
                          *product = most_frequent(ops, SAMPLE_GEMM, shape->hidden);
    if (product) z.precision = (int)product->precision;
    if (!attention || attention->dimensions[2] != shape->head_width) return z;
    z.fused = true;
    z.precision = (int)attention->precision;
    z.sequence = attention->dimensions[1];
    if (!product || product->dimensions[0] % z.sequence) return z;
    int64_t micro_batch = product->dimensions[0] / z.sequence;
    if (!micro_batch || attention->dimensions[0] % micro_batch) return z;
    int64_t heads = attention->dimensions[0] / micro_batch;
    if (!heads || shape->heads % heads) return z;
    z.micro_batch = micro_batch, z.tensor = shape->heads / heads;
    return z;
}
