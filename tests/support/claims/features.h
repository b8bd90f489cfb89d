// Counts the features of the drawn problems, to detect a feature that is never drawn.
#pragma once

#include "tests/support/claims/truth.h"

enum { FEATURES_MAX = 64 };
struct features {
    int64_t problems, layouts, feasible, infeasible, refused, unknown, enumerated;
    int64_t counts[FEATURES_MAX]; // layouts with a plan
};

void features_count(struct features *f, const struct space_truth *t);
// "gpipe 214, 1f1b 310 ...", of all features.
const char *features_text(const struct features *f, struct arena *arena);
// The least frequent feature.
const char *features_rarest(const struct features *f, int64_t *count);
