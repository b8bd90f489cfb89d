// plumbline-measure compress.
#ifndef PLUMBLINE_MEASURE_COMPRESS_H
#define PLUMBLINE_MEASURE_COMPRESS_H

#include "data/base/command.h"

extern const struct command measure_compress;

#endif
