// Writes the certificate of a bound on placements (docs/PROOFS.md 11): the checker's own problem
// of one replica, at the checker's prices, and a proof about it. A bound that cannot be proven is
// lowered to what can.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_PLACES_H
#define PLUMBLINE_SOLVE_CERTIFICATE_PLACES_H

#include "data/inputs/problem.h"
#include "solve/layout/solve.h"

struct certificate_places_request {
    const struct problem *problem; // its job has one layout, its cluster places
    const struct priced *priced;
    const struct solve_result *solved; // by placed_solve, with evidence
    const struct solve_settings *settings;
    const struct source *sources; // problem, model, cluster, costs, job
    int source_count;
};

struct certificate_places_result {
    const char *text; // NULL: nothing could be proven
    size_t size;
    int64_t bound_ns; // what it proves; -1: there is no plan
    // The problem of one replica that was used: "nodes", "groups", "groups, chained"; or "a tree
    // over placements".
    const char *how;
    int64_t boxes, weights;
};

// The checker's problem as a priced document, for the planner's search; everything but prices is
// taken from base.
struct check_problem;
void certificate_places_priced(struct priced *to, const struct priced *base,
                               const struct check_problem *p, struct arena *arena);

enum status certificate_places_make(struct certificate_places_result *r,
                                    const struct certificate_places_request *request,
                                    struct arena *arena, struct error *err);

#endif
