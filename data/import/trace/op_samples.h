// Operators of one trace as samples.
#pragma once

#include "data/import/trace/ranges.h"

// Sets samples and endpoints of *s: the ranks of collectives are on nodes with gpus_per_node each,
// in order. Returns the number of operators that took no time on the device and are left out.
// Changes the order of t->ops.
int trace_op_samples(struct samples *s, struct trace *t, int gpus_per_node, struct arena *arena);
