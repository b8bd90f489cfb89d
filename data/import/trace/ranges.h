// The annotated ranges and the device's work in a profiler's trace, and which work belongs to which
// range.
#pragma once

#include "data/import/trace/ops.h"

enum { TRACE_WORK_MAX = 1 << 22, TRACE_RANGES_MAX = 1 << 20, TRACE_NAMES_MAX = 1 << 16 };

// Distinct texts, by number.
struct trace_names {
    const char **texts;
    int *slots;
    int count, room;
};

struct trace_range {
    int64_t start_ns, end_ns;
    int name, thread, process;
    double seconds;
    int64_t work;
};
struct trace_work {
    int64_t correlation, external, start_ns; // external: number of its operator; 0: not stated
    double seconds;
    int thread;
}; // a kernel or a copy on the device
struct trace_launch {
    int64_t correlation, start_ns;
    int thread, process;
}; // of the work, by the host

// How work was assigned to ranges.
enum trace_rule {
    TRACE_BY_LAUNCH, // the ranges open on the thread that launched it, else on any of its process
    TRACE_BY_DEVICE, // the profiler's device ranges on the same stream when it began
    TRACE_BY_HOST,   // there was no device work: ranges take the host's time
    TRACE_BY_NSIGHT, // as Nsight Systems projected them
};

struct trace {
    struct trace_names names, threads, processes;
    struct trace_range *ranges[2]; // [range_count]: the host's, the device's
    int range_count[2], range_room[2];
    struct trace_work *work;
    int work_count, work_room;
    struct trace_launch *launches;
    int launch_count, launch_room;
    struct trace_ops ops; // kept if requested
    // Found by trace_attribute:
    enum trace_rule rule;
    struct trace_range *used; // [used_count] by start; their seconds and work
    int used_count, used_room;
    double outside_s; // of work outside every range
    int64_t outside;
    double
        *name_seconds; // [names.count] each work counts once, even if ranges of one name are nested
};

void trace_begin(struct trace *t);
// The number of a text; -1: there are too many.
int trace_name(struct trace_names *names, const char *text, struct arena *arena);

// Reads "traceEvents" (or a bare array of events) from `from`, token by token; little is kept: see
// the limits of the counts. ops: operators are kept too.
enum status trace_read(struct trace *t, const char *name, FILE *from, bool ops, struct arena *arena,
                       struct error *err);

// file: for messages.
enum status trace_attribute(struct trace *t, const char *file, struct arena *arena,
                            struct error *err);

// ---- nsight.c: Ranges as Nsight Systems projects them onto the device: nsys stats --report
// nvtx_gpu_proj_trace or nvtx_gpu_proj_sum, --format csv.

// Whether a file begins as such a table.
bool nsight_is(const char *path, struct arena *arena);
// precision: of operators that PyTorch's emit_nvtx names with their sizes; negative: not known,
// and they are ranges like others. *medians: of a sum, where each range has its median alone.
enum status nsight_read(struct trace *t, const char *path, int precision, bool *medians,
                        struct arena *arena, struct error *err);

// ---- op_samples.c: Operators of one trace as samples.

// Sets samples and endpoints of *s: the ranks of collectives are on nodes with gpus_per_node each,
// in order. Returns the number of operators that took no time on the device and are left out.
// Changes the order of t->ops.
int trace_op_samples(struct samples *s, struct trace *t, int gpus_per_node, struct arena *arena);
