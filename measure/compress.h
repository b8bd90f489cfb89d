// plumbline-measure compress.
#ifndef PLUMBLINE_MEASURE_COMPRESS_H
#define PLUMBLINE_MEASURE_COMPRESS_H

#include "data/base/options.h"

command_function measure_compress;

#endif
