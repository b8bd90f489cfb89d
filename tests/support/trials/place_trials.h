// A random placed problem, the least time of all placements by enumeration, and certificates about
// it; all in memory.
#pragma once

#include "solve/certificate/certificate.h"
#include "solve/checker/places/places.h"
#include "tests/support/oracle/placements.h"

enum { PLACE_SOURCES = 5 };

struct place_trial {
    unsigned long long seed;
    struct problem problem;
    struct priced priced;
    int64_t best_ns; // INT64_MAX: there is no plan
    struct check_places places;
    struct check_input sources[PLACE_SOURCES]; // texts in place of the documents
    struct arena *arena;
};

// best_ns is -1 where enumeration would go over too many placements; false: the problem has no
// prices.
bool place_trial_open(struct place_trial *t, uint64_t seed, int asked, struct arena *arena);
// The same for another objective of its plans; best_ns is then its least value.
bool place_trial_open_for(struct place_trial *t, enum objective objective, uint64_t seed, int asked,
                          struct arena *arena);
// With evidence. priced: the trial's own, or one over groups.
void place_trial_solve(struct solve_result *r, const struct place_trial *t,
                       const struct priced *priced, double gap);
void place_trial_write(struct certificate_places_result *made, const struct place_trial *t,
                       const struct solve_result *solved);
// A tree for the bound, whatever else would prove it; no text where it does not.
void place_trial_write_tree(struct certificate_places_result *made, const struct place_trial *t,
                            int64_t bound_ns);
// A certificate's text with all its bounds, of the whole and of its parts, as this one.
const char *place_trial_with_bounds(const struct place_trial *t, const char *text,
                                    int64_t bound_ns);
// *why: why it is not accepted.
enum status place_trial_audit(struct check_result *audited, const struct place_trial *t,
                              const char *text, size_t size, const char **why);
