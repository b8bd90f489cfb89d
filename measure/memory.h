// plumbline-measure memory.
#ifndef PLUMBLINE_MEASURE_MEMORY_H
#define PLUMBLINE_MEASURE_MEMORY_H

#include "data/base/command.h"

extern const struct command measure_memory;

#endif
