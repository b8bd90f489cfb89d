// Operators of a profiler's trace whose work follows from what the trace states about their inputs
// (record_shapes): products, attention, memory-bound parts; also copies, and collectives according
// to what NCCL's kernels state. docs/FORMATS.md lists them.
#pragma once

#include "data/text/json_stream.h"
#include "data/numbers/samples.h"
#include "data/inputs/model/model.h"

enum { TRACE_INPUTS = 16, TRACE_DIMENSIONS = 5, TRACE_WORD = 24, TRACE_OPS_MAX = 1 << 21 };

struct trace_input {
    int64_t dimensions[TRACE_DIMENSIONS];
    int dimension_count; // 0: not an array; TRACE_DIMENSIONS + 1: more dimensions
    char type[TRACE_WORD], value[TRACE_WORD];
};

// The "args" of one event.
struct trace_arguments {
    int64_t external, bytes, elements_in, elements_out, group_size;
    struct trace_input inputs[TRACE_INPUTS];
    char collective[TRACE_WORD], type[TRACE_WORD], ranks[STREAM_TEXT_MAX];
};

struct trace_op {
    int64_t external; // joins it with the device's work; 0: it has its own time
    enum sample_kind kind;
    const char *operation;
    int64_t dimensions[4];
    enum precision precision;
    double flop, bytes, host_s, seconds;
    int rank, stride; // collective: its first member, and the distance between members
};

enum trace_category { TRACE_OPERATOR, TRACE_KERNEL, TRACE_COPY };

struct trace_ops {
    bool wanted;
    struct trace_op *items;
    int count, room;
    int64_t unknown; // collectives that are skipped
    char device[64]; // of the trace's first device
    int64_t device_bytes;
};

// Keeps an event that is such an operator, a copy or a collective. false: there are too many.
bool trace_ops_take(struct trace_ops *ops, const char *name, enum trace_category category,
                    const struct trace_arguments *a, double seconds, struct arena *arena);

// ---- arguments.c: "args" of a trace's events.

// Resets everything to 0 and empty, before each event.
void trace_arguments_clear(struct trace_arguments *a, bool whole_lists);
// Reads from after the bracket to the end of the object. Absent values stay unchanged; of more
// inputs than TRACE_INPUTS, the first are kept. whole_lists: also sizes, types and values of
// inputs.
enum status trace_arguments_read(struct json_stream *s, int64_t *correlation, bool whole_lists,
                                 struct trace_arguments *a, struct error *err);

// ---- sizes.c: what a trace's operators say of the run they are from: with a model's shape, the
// micro-batch, the sequence, the tensor degree, the precision and whether attention is fused.

struct trace_sizes {
    int64_t micro_batch, sequence, tensor; // 0: not known
    int precision;                         // -1: not known
    bool fused;
};
struct trace_sizes trace_sizes_of(const struct trace_ops *ops, const struct shape *shape);
