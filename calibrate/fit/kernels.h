// Kinds of kernels: the samples of each, the definition of their work, and the forms that their
// fits may take.
#ifndef PLUMBLINE_CALIBRATE_FIT_KERNELS_H
#define PLUMBLINE_CALIBRATE_FIT_KERNELS_H

#include "calibrate/fit/fit.h"
#include "calibrate/fit/inputs.h"

enum kernel {
    // one for each precision
    KERNEL_GEMM,
    KERNEL_GEMM_DATA,
    KERNEL_GEMM_WEIGHT,
    KERNEL_ATTENTION,
    KERNEL_ATTENTION_BACKWARD,
    KERNEL_GROUPED,
    KERNEL_GROUPED_BACKWARD,
    KERNEL_RING,
    KERNEL_RING_BACKWARD,
    KERNEL_CAST,
    KERNEL_LOW_RANK,
    KERNEL_LOW_RANK_BACK,
    // common to all precisions
    KERNEL_ELEMENTWISE,
    KERNEL_ELEMENTWISE_BACKWARD,
    KERNEL_NORM, // by itself: the lines above have whole layers' parts
    KERNEL_NORM_BACKWARD,
    KERNEL_ACTIVATION,
    KERNEL_ACTIVATION_BACKWARD,
    KERNEL_COPY,
    KERNEL_ROTARY,
    KERNEL_DROPOUT,
    KERNEL_DROPOUT_BACKWARD,
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
enum { KERNELS_OF_PRECISION = KERNEL_LOW_RANK_BACK + 1 };

struct kernel_kind {
    const char *title; // for people
    enum sample_kind kind;
    const char *with, *without; // what an operation's name contains and what not; NULL: any
    enum { UNIT_FLOP, UNIT_BYTES, UNIT_VALUES, UNIT_CALLS } unit;
    enum line forms[3]; // tried by held-out error, those with fewest terms first
    int form_count;
    bool may_own; // may have a traffic rate of its own, where the other fit's rate predicts worse
};
extern const struct kernel_kind kernel_kinds[KERNEL_COUNT];

bool kernel_has(enum kernel kernel, const struct sample *s);

// precision PRECISION_COUNT means all. *count 0: there are none, which is no error.
enum status kernel_points(struct fit_point **points, int *count, const struct inputs *in,
                          enum kernel kernel, enum precision precision, struct arena *arena,
                          struct error *err);
// NULL if there are no samples. traffic_bytes_per_s: rate of the operands from another fit; 0:
// unknown.
enum status kernel_fit(struct fit **f, const struct inputs *in, enum kernel kernel,
                       enum precision precision, double traffic_bytes_per_s, struct arena *arena,
                       struct error *err);

#endif
