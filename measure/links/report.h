// A summary for people of the links just measured; for costs, the samples go to plumbline
// calibrate.
#ifndef PLUMBLINE_MEASURE_LINKS_REPORT_H
#define PLUMBLINE_MEASURE_LINKS_REPORT_H

#include <stdio.h>

#include "data/numbers/samples.h"

// A matrix of rates and one of delays (up to 16 endpoints); then by name: links that differ in
// their two directions, links slower than most, links that slow down when others are busy.
void links_report(FILE *to, const struct samples *samples, struct arena *arena);

#endif
