// What a person wants to know of the links just measured; whoever wants costs gives the samples to
// plumbline calibrate.
#ifndef PLUMBLINE_MEASURE_LINKS_REPORT_H
#define PLUMBLINE_MEASURE_LINKS_REPORT_H

#include <stdio.h>

#include "data/inputs/samples.h"

// A matrix of rates and one of delays (up to 16 endpoints), then by name: links unlike in their two
// directions, links slower than most, links that slow down when others are busy.
void links_report(FILE *to, const struct samples *samples, struct arena *arena);

#endif
