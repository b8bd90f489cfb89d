// What a certificate proves about a problem, for commands other than `plumbline check`. It is
// audited as that command does: by the judge's prices, with the hash of every source compared.
#pragma once

#include <stdint.h>

#include "data/base/arena.h"

enum { CHECK_CLAIM_SOURCES = 5 };

// A file as read when the certificate was audited.
struct check_audited {
    const char *role, *path;
    char sha256[65];
};

struct check_claim {
    bool accepted;
    const char *reason; // why it was not accepted; "" if it was
    bool infeasible;    // proven: there is no plan
    int64_t bound_ns;   // proven: no plan takes less; -1 where infeasible
    struct check_audited certificate;
    struct check_audited sources[CHECK_CLAIM_SOURCES]; // the problem and what it names
};

// BAD_INPUT: a file cannot be read, or the two are not about the same kind of problem.
enum status check_claim_of(struct check_claim *claim, const char *certificate_path,
                           const char *problem_path, struct arena *arena, struct error *err);
