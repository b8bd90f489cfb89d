// Kinds of kernels: which samples belong to each, what their work is, which forms a fit of them may
// take.
#ifndef PLUMBLINE_CALIBRATE_FIT_KERNELS_H
#define PLUMBLINE_CALIBRATE_FIT_KERNELS_H

#include "calibrate/fit/fit.h"
#include "calibrate/fit/inputs.h"

enum kernel {
    // of one precision each
    KERNEL_GEMM,
    KERNEL_GEMM_DATA,
    KERNEL_GEMM_WEIGHT,
    KERNEL_ATTENTION,
    KERNEL_ATTENTION_BACKWARD,
    KERNEL_LOW_RANK,
    // of all together
    KERNEL_ELEMENTWISE,
    KERNEL_ELEMENTWISE_BACKWARD,
    KERNEL_COPY,
    KERNEL_EMPTY,
    KERNEL_OPTIMIZER,
    KERNEL_TO_DEVICE,
    KERNEL_TO_HOST,
    KERNEL_TOP_K_COMPRESS,
    KERNEL_TOP_K_DECOMPRESS,
    KERNEL_QUANTISE_COMPRESS,
    KERNEL_QUANTISE_DECOMPRESS,
    KERNEL_COUNT
};
enum { KERNELS_OF_PRECISION = KERNEL_LOW_RANK + 1 };

struct kernel_kind {
    const char *title; // for people
    enum sample_kind kind;
    const char *with, *without; // what an operation's name holds, and what it does not; NULL: any
    enum { UNIT_FLOP, UNIT_BYTES, UNIT_VALUES, UNIT_CALLS } unit;
    enum line forms[3]; // tried by held-out error, those with few terms first
    int form_count;
    bool may_own; // traffic of its own, where the other fit's rate predicts worse
};
extern const struct kernel_kind kernel_kinds[KERNEL_COUNT];

bool kernel_has(enum kernel kernel, const struct sample *s);

// precision PRECISION_COUNT takes every one. *count 0: there are none, no error.
enum status kernel_points(struct fit_point **points, int *count, const struct inputs *in,
                          enum kernel kernel, enum precision precision, struct arena *arena,
                          struct error *err);
// NULL where there are no samples. traffic_bytes_per_s: what another fit found the operands to
// take; 0: nothing is known of it.
enum status kernel_fit(struct fit **f, const struct inputs *in, enum kernel kernel,
                       enum precision precision, double traffic_bytes_per_s, struct arena *arena,
                       struct error *err);

#endif
