// Costs from samples: what was measured is fitted, with intervals; the rest is taken from other
// costs or left open.
#ifndef PLUMBLINE_CALIBRATE_CALIBRATE_H
#define PLUMBLINE_CALIBRATE_CALIBRATE_H

#include <stdio.h>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/inputs.h"
#include "calibrate/fit/kernels.h"
#include "calibrate/fit/links.h"
#include "data/inputs/costs.h"

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

#endif
