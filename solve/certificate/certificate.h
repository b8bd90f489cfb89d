// Writes what a solve proves as a file that `plumbline check` accepts (docs/PROOFS.md). The search
// by boxes left records. They are followed with the checker's own functions, so a box is written
// as closed only if the checker will close it. Boxes that the records leave open are closed here,
// by more mixtures and splits. A bound that cannot be proven is lowered to what the records prove,
// never claimed.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_CERTIFICATE_H
#define PLUMBLINE_SOLVE_CERTIFICATE_CERTIFICATE_H

#include "data/text/json.h"
#include "solve/checker/boxes/mix.h"
#include "solve/checker/check.h"
#include "solve/checker/read/problem.h"
#include "solve/layout/solve.h"

struct certificate_request {
    const struct priced *priced;
    struct check_text
        priced_text;         // the bytes of the priced document; file: its name in the certificate
    const struct plan *plan; // its outcome, plan and bound
    const struct solve_evidence *evidence;
    bool shrink;        // leave out what the proof does not need; takes time
    int64_t boxes_most; // 0: a default
    // For a layout of a space: the checker's tables to use instead of the priced document's, and
    // the writer that gets the proof, under "proof".
    const struct check_problem *problem;
    struct json_writer *into;
    bool anew; // without the search's records
    // Of the objective energy: the plan whose energy and bound are claimed, while the rest of the
    // request is about times with less of it. NULL: another objective.
    const struct plan *of_energy;
};

struct certificate_result {
    const char *text; // NULL: nothing could be proven; "" if the request names a writer
    size_t size;
    int64_t bound_ns; // what it proves; -1: there is no plan
    int64_t boxes, rounds, weights, paths;
    int64_t mended; // boxes that the records left open and that were closed here
};

enum status certificate_make(struct certificate_result *r,
                             const struct certificate_request *request, struct arena *arena,
                             struct error *err);
// The same for the objective energy, whose evidence is of energy_below: the bound or nothing.
enum status certificate_of_energy(struct certificate_result *r,
                                  const struct certificate_request *request, struct arena *arena,
                                  struct error *err);

// memory.c: prices of memory for rounds by ranks, as stated in certificates and verified by the
// checker. For a box with one group and the mixture with these coefficients: a few prices for each
// rank that the largest choices of the box would overflow, at the moment at which they need most. A
// proof is valid with any prices; these are slopes between a stage's choices. Returns their number.
int memory_price(struct check_memory_price **prices, const struct check_choices *choices,
                 const struct check_box *box, const struct check_round *round, struct arena *arena);

#endif
