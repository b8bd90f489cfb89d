// Small problems of every kind, each with the documents that commands make of it.
#pragma once

#include <stdbool.h>

#include "data/results/plan.h"
#include "tests/support/problems.h"

struct sweep_kind {
    const char *name;
    void (*draw)(struct problem *p, struct random *rng, struct arena *arena);
    // Whether the problem and its plan have what the kind is named for.
    bool (*shows)(const struct problem *p, const struct plan *plan);
    uint64_t first_seed; // tried first, then those after it
};
extern const struct sweep_kind sweep_kinds[];
extern const int sweep_kind_count;

// Writes problem.json with its documents, plan.json, priced.json, verdict.json; where they exist
// certificate.json, checked.json, layouts.json.
void sweep_prepare(const struct sweep_kind *kind, const char *folder, struct arena *arena);
bool sweep_has(const char *folder, const char *name);
