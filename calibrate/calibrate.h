// Costs from samples: what was measured is fitted, with intervals; the rest is taken from other
// costs or left open.
#pragma once

#include "calibrate/fit/fit.h"
#include "calibrate/message_ends.h"
#include "data/base/command.h"

struct calibrate_settings {
    const char *name;         // of the device in the costs; NULL: as in the samples
    const struct costs *base; // for what was not measured; NULL: nothing is known
    int64_t constant_bytes; // assumed where neither samples nor base state what the process itself
                            // takes
    const char *output;     // the costs' own path, to which the samples' paths are relative
};

struct precision_fits {
    enum precision precision;
    struct fit *kernels[KERNELS_OF_PRECISION]; // NULL: not measured
    bool softmax_apart,
        backward_apart; // the attention's memory traffic was subtracted at the memory rate
};

struct calibration {
    const char *gpu;
    const struct inputs *inputs;
    struct precision_fits precisions[PRECISION_COUNT];
    int precision_count;
    struct fit *kernels[KERNEL_COUNT]; // those common to all precisions; NULL: not measured
    struct link_fits links;
    struct costs costs;
    const char *lacking; // why the costs have no entry for the device; NULL: they have
};

// BAD_INPUT: no cost follows from what was measured, or the samples of a kind do not form a line.
enum status calibrate(struct calibration *c, const struct inputs *inputs,
                      const struct calibrate_settings *settings, struct arena *arena,
                      struct error *err);
// The costs that follow from the fits of calibrate(): calibrate/costs_made.c.
void calibration_costs(struct calibration *c, const struct calibrate_settings *settings,
                       struct arena *arena);

// A 32-bit Adam step of so many values a second: it reads and writes both moments, reads the
// gradient and writes the weights. Its time beyond these at the memory rate is traffic per value;
// where it takes less, it has a rate of its own.
void step_costs_put(struct gpu_costs *g, struct interval rate, const char *source);

// The numbers of products by shape, where the costs already have them. With fewer than eight
// shapes the measured line replaces them (calibrate/costs_products.c).
enum status calibration_products(struct calibration *c, struct arena *arena, struct error *err);
// trainer.c: whether the samples are a processor's, whose memory the process shares.
bool calibration_of_processor(const struct calibration *c);
// The factor of a trainer that is not known, for costs that state none, unless the
// samples are of training steps. Returns whether.
bool calibration_assume_trainer(struct calibration *c);

// In a line: how far the fits are from their samples, and from those that they were not fitted to.
void calibration_quality(const struct calibration *c, FILE *to);
// Every fit against its samples, for people.
void calibration_show(const struct calibration *c, FILE *to, struct arena *arena);

// Measured whole layers compared with the sum of their kernels: a check of all fits, and the time
// of a layer's pass beyond its kernels.

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

// A drawing of each fit with its samples: medians with their intervals, the line, and each class
// next to its links.

enum status calibration_draw(const struct calibration *c, const char *path, struct arena *arena,
                             struct error *err);
// residuals.c: how far each sample is from its fit, as SVG, or a page where the file is .html.
enum status residuals_draw(const struct calibration *c, const struct layer_fits *layers,
                           const char *path, struct arena *arena, struct error *err);

// The fits that there are, in order.
enum { DRAWN_MOST = PRECISION_COUNT * KERNELS_OF_PRECISION + KERNEL_COUNT };
struct drawn {
    const char *title, *unit;
    const struct fit *fit;
};
int drawn_collect(struct drawn *to, const struct calibration *c, struct arena *arena);

// Costs from plans that were carried out (plumbline run): the layers as they ran, the trainer's
// factor over them, its step and its memory. What no run shows stays as in the costs that the plans
// were made with.

struct carried {
    struct plan_run run;
    struct plan plan;
    struct problem problem; // with the plan's layout, and the costs that are calibrated
};

struct carried_fits {
    struct carried *runs; // [run_count]
    int run_count;
    struct calibration calibration; // its costs are the result
    struct layer_fits layers;
    double factor, low, high; // of the trainer, over its layers: by all iterations
    double apart;             // 95 % error of another plan
    const char *factor_key;   // its name in the costs
    double step_values_per_s; // of an optimizer step; 0: not shown
    double split_s;           // of a block's two backward passes over one; -1: not shown
    int64_t constant_bytes;   // of a process; -1: no run observed its memory
    struct message_ends ends; // of messages, between passes
};

// base NULL: the costs of the first plan's problem. BAD_INPUT: a run whose plan or problem is not
// where it says, or of another GPU or trainer than the first.
enum status carried_fit(struct carried_fits *f, const struct option_texts *paths,
                        const struct costs *base, const char *name, const char *output,
                        struct arena *arena, struct error *err);
void carried_show(const struct carried_fits *f, FILE *to);
