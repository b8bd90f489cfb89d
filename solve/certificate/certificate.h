// Writing certificates: what a solve proves, as a file that `plumbline check` accepts
// (docs/PROOFS.md). The search by boxes left records; they are followed with the checker's own
// functions, so that a box is written as closed only when the checker will find it closed. What the
// records leave open is closed here, by more mixtures and more splits. A bound that resists is
// lowered to what the records prove, never claimed.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_CERTIFICATE_H
#define PLUMBLINE_SOLVE_CERTIFICATE_CERTIFICATE_H

#include "data/text/json.h"
#include "solve/checker/check.h"
#include "solve/checker/read/problem.h"
#include "solve/layout/solve.h"

struct certificate_request {
    const struct priced *priced;
    struct check_text
        priced_text; // the bytes of the priced document; file: as the certificate is to name it
    const struct plan *plan; // its outcome, plan and bound
    const struct solve_evidence *evidence;
    bool shrink;        // leave out what the proof can do without: costs time
    int64_t boxes_most; // 0: a sensible number
    // For a layout of a space: the checker's tables, instead of the priced document's; where the
    // proof goes, under "proof".
    const struct check_problem *problem;
    struct json_writer *into;
    bool anew; // not by the search's records
};

struct certificate_result {
    const char *text; // NULL: nothing could be proven; "" where the request says into what it goes
    size_t size;
    int64_t bound_ns; // what it proves; -1: that there is no plan
    int64_t boxes, rounds, weights, paths;
    int64_t mended; // boxes that the records left open
};

enum status certificate_make(struct certificate_result *r,
                             const struct certificate_request *request, struct arena *arena,
                             struct error *err);

#endif
