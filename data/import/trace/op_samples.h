// Operators of one trace as samples.
#ifndef PLUMBLINE_DATA_IMPORT_TRACE_OP_SAMPLES_H
#define PLUMBLINE_DATA_IMPORT_TRACE_OP_SAMPLES_H

#include "data/import/trace/ranges.h"

// Sets samples and endpoints of *s: ranks of collectives stand on nodes of so many, in their order.
// Returns how many operators took no time on the device and are left out. t->ops is put into
// another order.
int trace_op_samples(struct samples *s, struct trace *t, int gpus_per_node, struct arena *arena);

#endif
