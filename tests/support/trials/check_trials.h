// A random priced problem of any schedule as a document, with the result of its enumeration and a
// certificate of that.
#pragma once

#include "data/priced/priced.h"
#include "data/schedule/schedule.h"
#include "formulate/choices/choices.h"
#include "tests/support/trials/certify.h"

struct check_trial {
    uint64_t seed;
    struct priced priced;
    struct schedule schedule;
    struct check_text text; // of the priced document
    // by check_trial_enumerate
    struct choices choices;
    int64_t best_ns; // INT64_MAX: there is no plan
    const struct plan_stage *best;
    // by check_trial_certify
    struct check_text certificate;
};

// false: the draw is no valid document (more stages than layers, a schedule that does not fit).
bool check_trial_draw(struct check_trial *t, uint64_t seed, struct arena *arena);
// The same draw for an objective of one layout; best_ns is then its value.
bool check_trial_draw_for(struct check_trial *t, enum objective objective, uint64_t seed,
                          struct arena *arena);
// false: too many decisions to enumerate.
bool check_trial_enumerate(struct check_trial *t, struct arena *arena);
// The true claim. false: it would take too many boxes.
bool check_trial_certify(struct check_trial *t, struct arena *arena);
// All three.
bool check_trial_open(struct check_trial *t, uint64_t seed, struct arena *arena);

// A claim about the trial that need not be true, and its certificate; no text: too many boxes.
struct check_text check_trial_claim(const struct check_trial *t, bool infeasible,
                                    int64_t iteration_ns, int64_t bound_ns, struct arena *arena);

// Fails unless the checker refuses the certificate and says `reason`: as not proven (is_audited),
// or as a file that cannot be read.
void check_trial_refused(const char *name, const struct check_text *certificate,
                         const struct check_text *priced, const char *reason, bool is_audited,
                         struct arena *arena);

// Any document: its bytes as a text of that name.
struct check_text check_trial_save(const struct priced *p, const char *file, struct arena *arena);
