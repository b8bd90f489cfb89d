// From a problem to a similar one with a larger claim: changes, one after the other, that keep the
// bounds as tight as they were or make them tighter. And from a problem that shows a violation to
// the smallest one that still does.
#pragma once

#include "tests/support/claims/judge.h"
#include "tests/support/claims/mutate.h"

// p becomes the last problem, and *t its truth. Each is judged; returns how many were, including
// the first one. Ends at a violation.
int claims_climb(struct claims *c, struct problem *p, struct space_truth *t, int steps,
                 int64_t plans_most, struct random *rng, struct arena *arena);

// The same problem with less and less memory, down to the least with which it has a plan (to within
// 1/128): arguments from memory are tightest there. Each is judged; returns how many were. If one
// shows a violation, p and *t become that one.
int claims_squeeze(struct claims *c, struct problem *p, struct space_truth *t, int64_t plans_most,
                   struct arena *arena);

// For a violation that claims_judge found. *t becomes the truth of the smaller problem, *v the
// violation there.
void claims_reduce(struct problem *p, struct space_truth *t, struct violation *v,
                   int64_t plans_most, struct arena *arena);

// One line, and the documents in a folder that need not exist. false: they could not be written.
const char *violation_text(const struct violation *v, const struct space_truth *t,
                           struct arena *arena);
bool claims_save(const struct problem *p, const char *folder, struct arena *arena);
