// Costs out of samples: what was measured is fitted, with intervals; what was not stays as other
// costs have it, or open.
#ifndef PLUMBLINE_CALIBRATE_CALIBRATE_H
#define PLUMBLINE_CALIBRATE_CALIBRATE_H

#include <stdio.h>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/inputs.h"
#include "calibrate/fit/kernels.h"
#include "calibrate/fit/links.h"
#include "data/inputs/costs.h"

struct calibrate_settings {
    const char *name;         // of the device in the costs; NULL: the samples'
    const struct costs *base; // what was not measured is as here; NULL: nothing is known
    int64_t
        constant_bytes; // assumed where neither samples nor base tell what the process itself takes
    const char *output; // the costs' own path, for naming the samples relative to it
};

struct precision_fits {
    enum precision precision;
    struct fit *kernels[KERNELS_OF_PRECISION]; // NULL: not measured
    bool softmax_apart,
        backward_apart; // the attention's memory traffic was taken off at the memory rate
};

struct calibration {
    const char *gpu;
    const struct inputs *inputs;
    struct precision_fits precisions[PRECISION_COUNT];
    int precision_count;
    struct fit *kernels[KERNEL_COUNT]; // those of all precisions together; NULL: not measured
    struct link_fits links;
    struct costs costs;
    const char *lacking; // why the costs have no entry of the device; NULL: they have
};

// BAD_INPUT: nothing was measured that a cost follows from, or the samples of a kind do not make a
// line.
enum status calibrate(struct calibration *c, const struct inputs *inputs,
                      const struct calibrate_settings *settings, struct arena *arena,
                      struct error *err);
// What calibrate() makes of its fits: calibrate/costs_made.c.
void calibration_costs(struct calibration *c, const struct calibrate_settings *settings,
                       struct arena *arena);

// The numbers of products by their shapes, where the costs have them already; fewer than eight
// shapes: the measured line takes their place (calibrate/costs_products.c).
enum status calibration_products(struct calibration *c, struct arena *arena, struct error *err);

// Every fit against its samples, for people.
void calibration_show(const struct calibration *c, FILE *to, struct arena *arena);

#endif
