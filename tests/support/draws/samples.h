// Samples as a measurement gives them, for fits of planted rates.
#pragma once

#include "data/numbers/samples.h"

enum { SAMPLE_REPETITIONS = 9 };

// Adds one to those there, for which there is room: repeated, within 0.4 % of the seconds.
struct sample *sample_add(struct samples *samples, enum precision precision, enum sample_kind kind,
                          const char *operation, double seconds, struct arena *arena);
