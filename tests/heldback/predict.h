// Costs against samples that they were not made from: each shape of a document with several shapes
// is in turn left out of the calibration and then predicted, whole layers as the planner prices
// them, kernels by the fits of their kinds.
#pragma once

#include <stdio.h>

#include "data/inputs/costs.h"
#include "data/inputs/model/model.h"
#include "data/numbers/samples.h"

// Which shape each sample of the document was measured with: the shapes that its command names, one
// after the other; -1: none in particular. BAD_INPUT: the document does not state it (one tensor
// degree, and --shape, are needed).
struct heldback_shapes {
    struct shape *shapes;
    int count;
    int *of_sample;
};
enum status heldback_shapes(struct heldback_shapes *h, const struct samples *samples,
                            struct arena *arena, struct error *err);

struct heldback_point {
    const struct sample *sample;
    double measured_s, low_s, high_s; // the median and its interval
    double predicted_s;
    bool layer;
};

// Calibrates from all shapes but one, and predicts that one's samples; whatever no cost speaks of
// is left out.
enum status heldback_predict(struct heldback_point **points, int *count,
                             const struct samples *samples, const struct heldback_shapes *h,
                             int held, struct arena *arena, struct error *err);

// Medians of |predicted / measured - 1|.
struct heldback_errors {
    double layers, kernels, all;
    int layer_count, kernel_count;
};
struct heldback_errors heldback_errors(const struct heldback_point *points, int count,
                                       struct arena *arena);

// Of all samples of whole layers of this name: the median of predicted / measured - 1, with its
// sign. 0: there are none.
extern const char *const heldback_passes[]; // "embedding forward" ..., NULL after the last
double heldback_bias(const struct heldback_point *points, int count, const char *pass,
                     struct arena *arena);
void heldback_show(const struct heldback_point *points, int count, FILE *to);
