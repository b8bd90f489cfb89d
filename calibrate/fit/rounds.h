// What all operations of a round have in common: neighbours that take a share of a core, clocks.
#ifndef PLUMBLINE_CALIBRATE_FIT_ROUNDS_H
#define PLUMBLINE_CALIBRATE_FIT_ROUNDS_H

#include "data/inputs/samples.h"

// Sets even_s of the document's samples: medians of repetitions over what their rounds have in
// common (docs/FORMULAS.md section 12). Operations of one device, of launches with at least 20 of
// them and three rounds that all took part in; of others, and of what is imported, even_s stays 0.
void rounds_even(struct samples *document, struct arena *arena);

#endif
