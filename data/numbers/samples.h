// Samples: raw repetitions measured on a machine, never only summaries.
#pragma once

#include "data/text/document.h"
#include "data/base/units.h"

enum sample_kind {    // dimensions
    SAMPLE_GEMM,      // m, n, k
    SAMPLE_ATTENTION, // batch x heads, sequence, head width
    SAMPLE_MEMORY,    // bytes, and what they are derived from
    SAMPLE_LOW_RANK,  // rows, columns, rank: "compress", "decompress"
    SAMPLE_OVERHEAD,  // calls
    SAMPLE_LAYER,     // micro-batch, sequence, tensor, context: a whole layer in one pass, "block
                  // forward", "block backward", "block backward selective", "block backward full",
                  // "head forward" ...
    SAMPLE_OPTIMIZER,  // values of one step
    SAMPLE_TRANSFER,   // bytes, between device and host: "host to device, pinned" ...
    SAMPLE_LINK,       // bytes, from one endpoint to another
    SAMPLE_COLLECTIVE, // bytes of the whole array, ranks: "all_reduce", "reduce_scatter",
                       // "all_gather", "all_to_all", "send_recv"
    SAMPLE_TOP_K,      // values, kept: "compress", "decompress"
    SAMPLE_QUANTISE,   // values, bits: "compress", "decompress"
    SAMPLE_GROUPED,    // m of each, n, k, products: of experts, together
    SAMPLE_CONTEXT,    // batch x heads, queries, keys, head width: attention in one step of a ring
    SAMPLE_ROTARY,     // tokens, heads, head width
    SAMPLE_DROPOUT,    // values
    SAMPLE_CAST,       // rows, columns: to 8 bits, in both orders
    SAMPLE_KIND_COUNT
};
extern const char *const
    sample_kind_names[]; // "gemm", "attention", "memory", "low_rank", "overhead", "layer", ...

// The state of the device during repetitions, from repetition `first` on. 0: the device does not
// report it.
struct condition {
    int first;
    double clock_hz, memory_clock_hz, temperature_c, power_w;
    int64_t slowdown; // reasons why the clock was reduced, the bit mask of NVML
};

// Reasons for a reduced clock other than our own setting: power cap, heat, brakes (NVML's bits 0x4,
// 0x8, 0x20, 0x40, 0x80).
enum { SLOWDOWN_FLAGGED = 0xec };

struct shape; // data/inputs/model/model.h

// What the device did directly before a timed operation.
enum before {
    BEFORE_UNKNOWN, // not stated
    BEFORE_REST,    // it waited for the host
    BEFORE_SAME,    // the same operation, once, untimed
    BEFORE_LOAD,    // the same work without a rest, for a second and more
};
extern const char *const before_names[]; // "unknown", "rest", "same", "load"

// Which of a library's proposals for a product ran.
enum algorithm { ALGORITHM_UNKNOWN, ALGORITHM_FIRST, ALGORITHM_BEST };
extern const char *const algorithm_names[]; // "unknown", "first", "best"

// How products in 8 bits get their scales.
enum recipe {
    RECIPE_NONE,   // all are 1
    RECIPE_TENSOR, // one for each matrix, and its largest magnitude found for the next time
    RECIPE_BLOCK,  // one for 128 values of activations, for 128 x 128 of weights
    RECIPE_MX,     // a power of two for 32 values
    RECIPE_COUNT
};
extern const char *const recipe_names[]; // "none", "tensor", "block", "mx"

// One operation at one size, repeated.
struct sample {
    enum sample_kind kind;
    const char *operation; // "qkv projection", "scores and context", "copy" ...
    int64_t dimensions[4];
    int dimension_count;
    const struct shape *shape; // layer: its widths and heads, before division by degrees; NULL: not
                               // stated
    enum precision precision;
    double flop, bytes; // of one repetition
    int from, to;       // link: endpoints; else -1
    int *members;       // [member_count] collective: the endpoints that take part
    int member_count;
    bool alone; // link, collective: there was no other traffic
    enum before before;
    int in_a_row;             // so many are timed together; seconds are those of one
    int busy_devices;         // of the node, which did the same at the same time; 1: this one alone
    enum algorithm algorithm; // of its products
    bool sequence_parallel;   // layer: its norms and residual sums have a tensor rank's own tokens
    bool fp32_gradients;      // gradients of weights are added to fp32 numbers
    enum recipe recipe;       // of its products in 8 bits
    bool shared; // other programs used the machine, which can only lengthen a time: what counts is
                 // the lower tenth of the repetitions, in processor time where that can be told
    double *seconds; // [repetitions], in the order taken
    int repetitions;
    double even_s; // median over what rounds have in common (calibrate/fit/fit.h); 0: not known.
                   // Not in the document
    int *launch_repetitions; // [the document's launch_count], their sum is `repetitions`; NULL: one
                             // launch
    int *outliers; // [outlier_count] indices, ascending: flagged, never dropped (the rule of
                   // sampling, FORMULAS 12)
    int outlier_count;
    struct condition *conditions; // [condition_count], `first` ascending; throttled: while slowdown
                                  // & SLOWDOWN_FLAGGED
    int condition_count;
    int warm_ups;
    const char *stopped_by; // "width": the interval is narrow enough; "budget": the time is used
                            // up; "count": the requested number is reached; "interrupted": by a
                            // signal; "imported": by someone else's rule
};

struct machine {
    const char *host, *processor, *gpu; // gpu: its name in the costs
    int64_t memory_bytes;
    int threads;
    const char *library;  // "OpenBLAS 0.3.21"
    const char *driver;   // of the device; NULL: there is none
    const char *taken_at; // UTC, ISO 8601
};

// One run of the measuring program; several runs may be merged into one document.
struct launch {
    const char *host, *taken_at;
    int64_t seed;
    const char *command; // the options it was run with
};

// One end of a link: a device, or a host.
struct endpoint {
    const char *name, *host;
    int device; // -1: a host
    int clock; // ends with the same number read the same clock: seconds between them are one way's.
               // Otherwise, and with -1, delays there and back cannot be separated: half of both
};

// A number of bytes that the machine was observed to have or to use: "context_bytes",
// "library_bytes", "allocator_granularity_bytes", "memory_bytes" ...; every observation.
struct quantity {
    const char *name;
    double *values; // [value_count]
    int value_count;
};

struct samples {
    struct document document;
    struct machine machine;
    struct launch *launches; // [launch_count]; none: one launch, not described
    int launch_count;
    struct endpoint *endpoints;
    int endpoint_count;
    struct quantity *quantities;
    int quantity_count;
    struct sample *samples;
    int sample_count;
};

// Orders samples by how they were run: `before` and what follows it. 0: equal.
int sample_compare_manner(const struct sample *a, const struct sample *b);

// Orders shapes by what a layer's time depends on; a shape that is not stated comes first. 0:
// equal.
int sample_compare_shapes(const struct shape *a, const struct shape *b);

bool sample_is_throttled(const struct sample *s, int repetition);

extern const struct members samples_members;        // its keys (data/text/members.h)
extern const struct members samples_within_members; // the same, within another document
enum status samples_load(struct samples *s, const char *path, struct arena *arena,
                         struct error *err);
enum status samples_save(const struct samples *s, const char *path, struct arena *arena,
                         struct error *err);

// Exact rank interval of the median (binomial, with no assumption about the distribution).
// sorted[count] ascending. Returns the coverage reached: at least `coverage`, or that of the full
// range if count is too small (source: order statistics of the median).
double median_interval(const double *sorted, int count, double coverage, double *median,
                       double *low, double *high);
// The value with a tenth of all below it, x(ceil(count / 10)), with the same kind of interval; its
// lower end is x(1) where there are too few.
double lower_tenth(const double *sorted, int count, double coverage, double *low, double *high);
