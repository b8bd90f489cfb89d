// A drawing of each fit with its samples: medians with their intervals, the line, and each class
// next to its links.
#ifndef PLUMBLINE_CALIBRATE_DRAW_H
#define PLUMBLINE_CALIBRATE_DRAW_H

#include "calibrate/calibrate.h"

enum status calibration_draw(const struct calibration *c, const char *path, struct arena *arena,
                             struct error *err);

#endif
