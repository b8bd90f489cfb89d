// A drawing of each fit with its samples: medians with their intervals, the line, and each class
// next to its links.
#ifndef PLUMBLINE_CALIBRATE_DRAW_H
#define PLUMBLINE_CALIBRATE_DRAW_H

#include "calibrate/calibrate.h"
#include "calibrate/layers.h"

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

#endif
