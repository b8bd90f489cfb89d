// What all operations of a round have in common: other programs that take a share of a core,
// clocks.
#ifndef PLUMBLINE_CALIBRATE_FIT_ROUNDS_H
#define PLUMBLINE_CALIBRATE_FIT_ROUNDS_H

#include "data/numbers/samples.h"

// Sets even_s of the document's samples: medians of repetitions divided by what their rounds have
// in common (docs/FORMULAS.md section 12). Requires, for one device, launches with at least 20
// operations and three rounds that include all of them; otherwise, and for imported samples,
// even_s stays 0.
void rounds_even(struct samples *document, struct arena *arena);

#endif
