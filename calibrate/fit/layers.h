// Whole layers as they were measured, against the sum of their kernels: a check of everything that
// was fitted, and what a layer's pass takes beside its kernels.
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

// One sample whose shape is known.
struct layer_check {
    const struct sample *sample;
    const struct model *model; // of that shape
    bool own;                  // the shape is that of the model asked for
    enum layer_kind kind;
    enum layer_pass pass;
    struct fit_point
        point;      // work: seconds of its kernels by the fitted rates, without what is recomputed
    double again_s; // kernels of a forward pass, or of its attention, that backward runs again
    double predicted_s; // with factor and overhead
};

// What a layer's pass takes: factor x kernels + overhead.
struct pass_fit {
    struct interval factor, overhead_s;
    bool has_overhead; // fitted with it, of blocks
    int count, shapes;
    double residual, held_out;
    double apart; // what another shape's factor is off by with 95 %, as a share; 0: it is the
                  // model's own that was measured
};

enum { LAYER_KINDS_MEASURED = LAYER_HEAD + 1 }; // embedding, block, head

struct layer_fits {
    struct layer_check *checks;
    int check_count, other_count; // other: layers of shapes that are not known, or another than
                                  // the model's where that was measured; started as graphs beside
                                  // those that were not
    struct pass_fit passes[LAYER_KINDS_MEASURED][2]; // forward, backward; count 0: not measured
};

// Compares, fits, and puts factors and overheads into the costs of the calibration. A sample's
// shape is what it states, or that of `model` (may be NULL) if its FLOP are the model's. Of a kind
// of layer, the model's own count alone where there are any. No layers: nothing happens. Formulas:
// docs/FORMULAS.md section 12.
enum status layers_fit(struct layer_fits *f, struct calibration *c, const struct model *model,
                       struct arena *arena, struct error *err);
void layers_show(const struct layer_fits *f, FILE *to);

#endif
