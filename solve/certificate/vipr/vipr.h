// What a certificate proves about one layout, in the format of VIPR (docs/PROOFS.md 9): the
// integer program of `plumbline formulate` with the path rows that the proof needs, the plan as
// its solution, and the tree over its relaxations as derivations. The tree is built anew, with the
// certificate's bound as its target, because the format requires boxes to close by rows of the
// program. Floating point only guides the search: multipliers are whole numbers and checked in
// integers.
#pragma once

#include "data/results/plan.h"

struct vipr_request {
    const struct priced *priced;
    const struct plan *plan; // the incumbent; NULL: none
    bool infeasible;         // proven: there is no plan
    int64_t bound_ns;        // otherwise: no plan takes less
    const char *comment;     // one line
    double time_limit_s;     // 0: none
    int threads;
};

struct vipr_result {
    const char *text;
    size_t size;
    int columns, rows, path_rows, lines;
    int64_t boxes;
};

// BAD_INPUT: the plan does not fit this document. SOLVER: the bound could not be proven this way
// within the time.
enum status vipr_make(struct vipr_result *result, const struct vipr_request *request,
                      struct arena *arena, struct error *err);
