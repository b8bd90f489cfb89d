// A random problem with a space, its truth, and the writer's certificate of its search; all in
// memory.
#pragma once

#include "solve/certificate/certificate.h"
#include "solve/checker/space/space.h"
#include "tests/support/spaces.h"

enum { SPACE_SOURCES = 5 };

struct space_trial {
    struct problem problem;
    struct spaces_alone alone;
    struct layouts_result found;
    struct check_space space;
    struct check_pricer pricers[2];
    struct check_input sources[SPACE_SOURCES]; // texts in place of the documents
    struct certificate_space_result made;
    struct check_text certificate;
};

// The writer must find a certificate.
void space_trial_open(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
void space_trial_of_slices(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
void space_trial_of_grids(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
void space_trial_of_experts(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
void space_trial_of_pools(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
void space_trial_of_segments(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
void space_trial_of_in_flight(struct space_trial *t, uint64_t seed, double gap,
                              struct arena *arena);
// Of t->problem, as it stands.
void space_trial_of_problem(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
// What its documents are known by.
void space_trial_sources(const struct space_trial *t, struct source sources[SPACE_SOURCES],
                         struct arena *arena);
// The certificate, or another text, audited. false: it cannot be audited at all; *why says why it
// is not accepted.
bool space_trial_audit(const struct space_trial *t, const struct check_text *text,
                       struct check_space_result *audited, const char **why, struct arena *arena);
// The search found the best of all layouts solved alone, or none where none has a plan, and its
// certificate proves just that; fails naming the seed. The best time, 0: none.
int64_t space_trial_best(const struct space_trial *t, uint64_t seed,
                         struct check_space_result *audited, struct arena *arena);
