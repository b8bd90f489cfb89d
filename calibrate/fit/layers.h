// Whole layers as they were measured, against the sum of their kernels: a check of everything that
// was fitted, and what a block's pass takes beside its kernels.
#ifndef PLUMBLINE_CALIBRATE_FIT_LAYERS_H
#define PLUMBLINE_CALIBRATE_FIT_LAYERS_H

#include "calibrate/calibrate.h"
#include "data/inputs/model/model.h"

enum layer_pass {
    LAYER_FORWARD,
    LAYER_BACKWARD,
    LAYER_BACKWARD_SELECTIVE,
    LAYER_BACKWARD_FULL,
    LAYER_PASS_COUNT
};

// One sample of the model's own shape.
struct layer_check {
    const struct sample *sample;
    enum layer_kind kind;
    enum layer_pass pass;
    struct fit_point
        point;      // work: seconds of its kernels by the fitted rates, without what is recomputed
    double again_s; // kernels of a forward pass, or of its attention, that backward runs again
    double predicted_s; // with factor and overhead
};

// What a block's pass takes: factor x kernels + overhead.
struct pass_fit {
    struct interval factor, overhead_s;
    bool has_overhead;
    int count;
    double residual, held_out;
};

struct layer_fits {
    struct layer_check *checks;
    int check_count, other_count; // other: layers of another shape, or started as graphs beside
                                  // those that were not
    struct pass_fit passes[2];    // of blocks, forward and backward; count 0: not measured
};

// Compares, fits, and puts factors and overheads into the costs of the calibration. The samples
// that belong to `model` are known by their FLOP. No layers: nothing happens.
enum status layers_fit(struct layer_fits *f, struct calibration *c, const struct model *model,
                       struct arena *arena, struct error *err);
void layers_show(const struct layer_fits *f, FILE *to);

#endif
