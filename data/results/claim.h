// What stands behind a bound, or behind the statement that there is no plan: the words for it, each
// with one meaning, and which claims a certificate can be about. The one home of both: whatever
// prints a claim asks here.
#pragma once

#include "data/inputs/problem.h"

enum bound_claim {
    CLAIM_STATED,     // the solver's, and no certificate shows it, or none is known to
    CLAIM_PROVEN,     // the solver's; a certificate can be written, or was
    CLAIM_TAKEN_OVER, // it rests on what a file says that an earlier search left (--resume)
    CLAIM_CERTIFIED,  // a certificate of it was audited; no document says so of itself
};
// As in documents: "stated by solve, not audited", "proven, not yet audited", "taken over". Every
// report uses these words.
extern const char *const bound_claim_names[];

// A file that a claim rests on, and its bytes.
struct taken_over {
    const char *path, *sha256;
};
enum { TAKEN_OVER_MAX = 4096 };
extern const struct members taken_over_members; // its keys

// The claim in words; "certified", or "taken over from FILE, not audited".
const char *claim_words(enum bound_claim claim, const struct taken_over *files, int count,
                        struct arena *arena);
// BAD_INPUT, at the object: files are named exactly where the claim is CLAIM_TAKEN_OVER.
enum status claim_check(const struct json *object, enum bound_claim claim, int count,
                        struct error *err);

// Why no certificate can be written of this problem's bound, as a clause about its job; NULL: one
// can. A kind of problem that gets certificates is removed here, and everything else follows.
const char *claim_has_no_certificate(const struct problem *p);

// What a search that took nothing over may say before a certificate is written. On a cluster with
// places only the certificate shows whether there is one as strong as the bound.
enum bound_claim claim_of_search(const struct problem *p);
