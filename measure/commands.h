// The commands of this folder: plumbline's, and those of plumbline-measure, each in the file of its
// name (compress: compute.c).
#pragma once

#include "data/base/command.h"

extern const struct command command_measure;
extern const struct command measure_compute, measure_compress, measure_memory, measure_merge;
