// Samples: raw repetitions out of a machine, never only summaries.
#ifndef PLUMBLINE_DATA_SAMPLES_H
#define PLUMBLINE_DATA_SAMPLES_H

#include <stdint.h>

#include "data/document.h"
#include "data/units.h"

enum sample_kind { SAMPLE_GEMM, SAMPLE_ATTENTION, SAMPLE_MEMORY, SAMPLE_LOW_RANK, SAMPLE_OVERHEAD, SAMPLE_KIND_COUNT };
extern const char *const sample_kind_names[];   // "gemm", "attention", "memory", "low_rank", "overhead"

// One operation at one size, repeated.
struct sample {
    enum sample_kind kind;
    const char *operation;          // "qkv projection", "scores and context", "copy" ...
    int64_t dimensions[4];          // gemm: m, n, k; attention: batch x heads, sequence, head width; memory: bytes
    int dimension_count;
    enum precision precision;
    double flop, bytes;             // of one repetition
    double *seconds;                // [repetitions], in the order taken
    int repetitions;
    int warm_ups;
    const char *stopped_by;         // "width": the interval is narrow enough; "budget": the time was spent
};

struct machine {
    const char *host, *processor, *gpu;     // gpu: the name the costs get
    int64_t memory_bytes;
    int threads;
    const char *library;            // "OpenBLAS 0.3.21"
    const char *taken_at;           // UTC, ISO 8601
};

struct samples {
    struct document document;
    struct machine machine;
    struct sample *samples;
    int sample_count;
};

enum status samples_load(struct samples *s, const char *path, struct arena *arena, struct error *err);
enum status samples_save(const struct samples *s, const char *path, struct arena *arena, struct error *err);

// Exact rank interval of the median (binomial, no distribution assumed). sorted[count] ascending. Returns the coverage
// reached, at least `coverage`, or the full range's when count is too small (source: order statistics of the median).
double median_interval(const double *sorted, int count, double coverage, double *median, double *low, double *high);

#endif
