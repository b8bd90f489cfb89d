// Operators of a profiler's trace whose work follows from what the trace says of their inputs
// (record_shapes): products, attention, memory-bound parts; copies, and collectives by what NCCL's
// kernels say of themselves. docs/FORMATS.md lists them.
#ifndef PLUMBLINE_DATA_IMPORT_TRACE_OPS_H
#define PLUMBLINE_DATA_IMPORT_TRACE_OPS_H

#include "data/base/arena.h"
#include "data/import/json_stream.h"
#include "data/inputs/samples.h"

enum { TRACE_INPUTS = 16, TRACE_DIMENSIONS = 5, TRACE_WORD = 24, TRACE_OPS_MAX = 1 << 21 };

struct trace_input {
    int64_t dimensions[TRACE_DIMENSIONS];
    int dimension_count; // 0: no array; TRACE_DIMENSIONS + 1: of more
    char type[TRACE_WORD], value[TRACE_WORD];
};

// What "args" of an event says; of one event at a time.
struct trace_arguments {
    int64_t external, bytes, elements_in, elements_out, group_size;
    struct trace_input inputs[TRACE_INPUTS];
    char collective[TRACE_WORD], type[TRACE_WORD], ranks[STREAM_TEXT_MAX];
};

struct trace_op {
    int64_t external; // joins it with the device's work; 0: the time is its own
    enum sample_kind kind;
    const char *operation;
    int64_t dimensions[4];
    enum precision precision;
    double flop, bytes, host_s, seconds;
    int rank, stride; // collective: its first member, and from one to the next
};

enum trace_category { TRACE_OPERATOR, TRACE_KERNEL, TRACE_COPY };

struct trace_ops {
    bool wanted;
    struct trace_op *items;
    int count, room;
    int64_t unknown; // collectives that are passed over
    char device[64]; // of the trace's first device
    int64_t device_bytes;
};

// Keeps an event where it is such an operator, a copy or a collective. false: there are too many.
bool trace_ops_take(struct trace_ops *ops, const char *name, enum trace_category category,
                    const struct trace_arguments *a, double seconds, struct arena *arena);

#endif
