// Random small problems with a space of layouts, and every layout of one solved by itself.
#pragma once

#include "solve/layouts/layouts.h"
#include "solve/layout/solve.h"
#include "tests/support/problems.h"

int64_t spaces_count(const struct problem *p); // layouts; more than a few thousand are not counted
void spaces_draw(struct problem *p, struct random *rng, struct arena *arena);
// The same with sequences in slices of any lengths, and few other choices.
void spaces_draw_slices(struct problem *p, struct random *rng, struct arena *arena);

// The same with tensor degrees and all their grids.
void spaces_draw_grids(struct problem *p, struct random *rng, struct arena *arena);
// The same of a model with mixtures, with expert degrees among the choices.
void spaces_draw_experts(struct problem *p, struct random *rng, struct arena *arena);
void spaces_draw_pools(struct problem *p, struct random *rng, struct arena *arena);
// The same with segments of stages that have losses, and mostly heads, of their own, and whose
// inputs may be stored.
void spaces_draw_segments(struct problem *p, struct random *rng, struct arena *arena);
// The same of 1f1b with every list of micro-batches in flight up to a number.
void spaces_draw_in_flight(struct problem *p, struct random *rng, struct arena *arena);

// Of a plan: what layouts are compared by, its iteration time or m x its greatest load.
int64_t spaces_value(const struct plan *plan);
// [layout]: 0 for what has no plan; best_ns INT64_MAX: none has.
struct spaces_alone {
    const struct problem *problem;
    int64_t *optimum_ns;
    int64_t best_ns;
    bool *refused;
    struct arena *arena;
};
void spaces_solve(struct spaces_alone *a, const struct problem *p, struct arena *arena);
// Fails the test with the error's text.
void spaces_search(struct layouts_result *r, const struct problem *p, int threads, double gap,
                   double limit_s, const volatile int *stop, struct arena *arena);
