// Costs against samples that they were not made from: whole layers as the planner prices them, kernels at the costs' rates.
#ifndef PLUMBLINE_TESTS_SUPPORT_HELDBACK_H
#define PLUMBLINE_TESTS_SUPPORT_HELDBACK_H

#include <stdio.h>

#include "data/costs.h"
#include "data/model.h"
#include "data/samples.h"

struct heldback_point {
    const struct sample *sample;
    double measured_s, low_s, high_s;       // the median and its interval
    double predicted_s;
    bool layer;
};

// Predicts every sample of the document that the costs have an answer to. The document names the model it was measured with
// (made_from, beside it); layers of other shapes than that one's cannot be told apart in it.
enum status heldback_predict(struct heldback_point **points, int *count, const struct costs *costs, const struct samples *samples,
                             struct arena *arena, struct error *err);

// Medians of |predicted / measured - 1|.
struct heldback_errors { double layers, kernels, all; int layer_count, kernel_count; };
struct heldback_errors heldback_errors(const struct heldback_point *points, int count, struct arena *arena);
void heldback_show(const struct heldback_point *points, int count, FILE *to);

#endif
