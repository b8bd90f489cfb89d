// The sub-commands of plumbline-measure.
#ifndef PLUMBLINE_MEASURE_COMPUTE_H
#define PLUMBLINE_MEASURE_COMPUTE_H

#include "data/base/command.h"

extern const struct command measure_compute;

#endif
