// The sub-commands of plumbline-measure.
#ifndef PLUMBLINE_MEASURE_COMPUTE_H
#define PLUMBLINE_MEASURE_COMPUTE_H

#include "data/base/options.h"

command_function measure_compute;

#endif
