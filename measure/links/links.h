// The sub-commands of plumbline-measure that need several processes.
#ifndef PLUMBLINE_MEASURE_LINKS_LINKS_H
#define PLUMBLINE_MEASURE_LINKS_LINKS_H

#include "data/base/options.h"

command_function measure_links, measure_collectives;

#endif
