// plumbline-measure memory.
#ifndef PLUMBLINE_MEASURE_MEMORY_H
#define PLUMBLINE_MEASURE_MEMORY_H

#include "data/base/options.h"

command_function measure_memory;

#endif
