// Certificates for small problems, made in a simple way: a few mixtures of critical paths for each
// box, then a split, down to single decisions. They need not be short; their claim is chosen by the
// test and may be false. The boxes are followed with the checker's own functions, so that a proof
// is as detailed as the checker requires; enumeration tells whether a claim is true.
#pragma once

#include "data/results/plan.h"
#include "solve/checker/check.h"

struct certify_claim {
    bool infeasible;
    int64_t iteration_ns;               // -1: no plan in the file
    int64_t bound_ns;                   // where not infeasible
    const struct plan_stage *incumbent; // [stage_count]
    bool counts; // slots and budget are counted exactly, else priced or left alone
    int boxes_most;
};

// The certificate's text, or NULL where it would need more boxes. priced: text of the document and
// the path to write of it.
const char *certify(const struct certify_claim *claim, const struct check_text *priced,
                    size_t *size, struct arena *arena);
