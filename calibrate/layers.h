// Measured whole layers compared with the sum of their kernels: a check of all fits, and the time
// of a layer's pass beyond its kernels.
#ifndef PLUMBLINE_CALIBRATE_LAYERS_H
#define PLUMBLINE_CALIBRATE_LAYERS_H

#include "calibrate/calibrate.h"
#include "data/inputs/model/model.h"

enum layer_pass {
    LAYER_FORWARD,
    LAYER_BACKWARD,
    LAYER_BACKWARD_SELECTIVE,
    LAYER_BACKWARD_FULL,
    LAYER_PASS_COUNT
};

// One sample whose shape is known.
struct layer_check {
    const struct sample *sample;
    const struct model *model; // of that shape
    bool own;                  // the shape is that of the requested model
    enum layer_kind kind;
    enum layer_pass pass;
    struct fit_point
        point;          // work: seconds of its kernels by the fitted rates, without recomputation
    double again_s;     // kernels of a forward pass, or of its attention, that the backward repeats
    double predicted_s; // with factor and overhead
};

// The time of a layer's pass: factor x kernels + overhead.
struct pass_fit {
    struct interval factor, overhead_s;
    bool has_overhead; // fitted together, for blocks
    int count, shapes;
    double residual, held_out;
    double apart; // 95 % error of another shape's factor, as a share; 0: the model's own shape was
                  // measured
};

// Blocks' passes without a rest over those after one, at the same sizes.
struct load_fit {
    struct interval factor; // 1 where there are none
    int count, busy_devices;
};

enum { LAYER_KINDS_MEASURED = LAYER_HEAD + 1 }; // embedding, block, head

struct layer_fits {
    struct layer_check *checks;
    int check_count, other_count; // other: layers of unknown shapes, or of other shapes than the
                                  // model's where that was measured; or started as graphs, where
                                  // others were not
    struct pass_fit passes[LAYER_KINDS_MEASURED][2]; // forward, backward; count 0: not measured
    struct layer_check *loads;                       // without a rest
    int load_count;
    struct load_fit sustained[2]; // of blocks, forward and backward
};

// Compares, fits, and puts factors and overheads into the calibration's costs. A sample's shape is
// the one it states, or that of `model` (may be NULL) if the FLOP agree. For each kind of layer,
// only the model's own samples count if there are any. Without layers nothing happens. Formulas:
// docs/FORMULAS.md section 12.
enum status layers_fit(struct layer_fits *f, struct calibration *c, const struct model *model,
                       struct arena *arena, struct error *err);
// calibrate/sustained.c: fills `sustained`; and a factor of a pass after a rest as one without.
void sustained_fit(struct layer_fits *f, struct arena *arena);
struct interval sustained_factor(const struct load_fit *load, struct interval rested);

void layers_show(const struct layer_fits *f, FILE *to);

#endif
