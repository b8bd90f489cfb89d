// What comes up in the problems drawn, so that a feature that is never drawn shows.
#ifndef PLUMBLINE_TESTS_SUPPORT_CLAIMS_FEATURES_H
#define PLUMBLINE_TESTS_SUPPORT_CLAIMS_FEATURES_H

#include "tests/support/claims/truth.h"

enum { FEATURES_MAX = 64 };
struct features {
    int64_t problems, layouts, feasible, infeasible, refused, unknown, enumerated;
    int64_t counts[FEATURES_MAX]; // layouts with a plan
};

void features_count(struct features *f, const struct space_truth *t);
// "gpipe 214, 1f1b 310 ...", of all features.
const char *features_text(const struct features *f, struct arena *arena);
// The one that came up the least.
const char *features_rarest(const struct features *f, int64_t *count);

#endif
