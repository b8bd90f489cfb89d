// What a trace's operators say of the run they are from: with a model's shape, the micro-batch, the
// sequence, the tensor degree, the precision and whether attention is fused.
#pragma once

#include "data/import/trace/ops.h"
#include "data/inputs/model/model.h"

struct trace_sizes {
    int64_t micro_batch, sequence, tensor; // 0: not known
    int precision;                         // -1: not known
    bool fused;
};
struct trace_sizes trace_sizes_of(const struct trace_ops *ops, const struct shape *shape);
