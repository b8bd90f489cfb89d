// Each fit against its samples, drawn: medians with their intervals, the line, the links of a class
// beside its own.
#ifndef PLUMBLINE_CALIBRATE_DRAW_H
#define PLUMBLINE_CALIBRATE_DRAW_H

#include "calibrate/calibrate.h"

enum status calibration_draw(const struct calibration *c, const char *path, struct arena *arena,
                             struct error *err);

#endif
