// plumbline solve --certificate: writes it, and lowers the plan to what it proves.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_CERTIFY_H
#define PLUMBLINE_SOLVE_CERTIFICATE_CERTIFY_H

#include "solve/certificate/space.h"
#include "solve/commands/solve_request.h"
#include "solve/commands/verbs.h"

struct certify_request {
    const struct solve_request *asked; // with a certificate_path
    struct solved *solved;
    const struct part_text *parts; // of --join
};
// Writes the certificate. Afterwards the results state what it proves: bound, outcome, claim.
// SOLVER: nothing can be proven; they then state that nothing shows their bound.
enum status solve_certify(const struct certify_request *c, struct arena *arena, struct error *err);

#endif
