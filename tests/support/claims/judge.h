// Compares claims about a space's layouts with the truth: what the planner states, and the largest
// claim that the checker can be made to accept, for each kind of argument by itself.
#pragma once

#include "tests/support/claims/truth.h"

enum claim_kind {
    // The planner's: from prices alone; that nothing fits; that a layout is no better than another.
    CLAIM_AVERAGE,
    CLAIM_FILLING,
    CLAIM_MISSING,
    CLAIM_SAME,
    // The checker's: a layout is refused, has no room, is bounded, dominated.
    CLAIM_REFUSED,
    CLAIM_ROOM,
    CLAIM_BOUND,
    CLAIM_DOMINATED,
    CLAIM_QUICK,
    // Rounds of random mixtures; the solver's proof; that proof changed; the solver's proof with
    // memory just below the need of the best plan, on ranks with several stages.
    CLAIM_MIXTURE = CLAIM_QUICK,
    CLAIM_PROOF,
    CLAIM_CHANGED,
    CLAIM_TIGHT,
    // Of a search: what the layouts document states of a layout, what the plan states of all;
    // likewise if it is interrupted or has a gap.
    CLAIM_LAYOUTS,
    CLAIM_PLAN,
    CLAIM_ROUGH_LAYOUTS,
    CLAIM_ROUGH_PLAN,
    // Certificates of the whole space: the writer's, and one assembled for the largest claim.
    CLAIM_WRITTEN,
    CLAIM_FORGED,
    // Of one layout by itself: a quick bound, a solve that was stopped early.
    CLAIM_ONE_BOX,
    CLAIM_STOPPED,
    // On places: a solve to the end, one that was stopped or had little effort, the program over
    // groups, the largest certificate, spaces.
    CLAIM_PLACED,
    CLAIM_PLACED_ROUGH,
    CLAIM_PLACED_GROUPS,
    CLAIM_PLACED_PROOF,
    CLAIM_PLACED_SPACE,
    // By the commands: bounds in the log, in the plan, in the layouts; check's output, and its
    // statement.
    CLAIM_LOGGED,
    CLAIM_SAVED,
    CLAIM_SAID,
    CLAIM_KINDS,
};
extern const char *const claim_names[CLAIM_KINDS];

// truth INT64_MAX: there is no plan; claim INT64_MAX: that there is none.
struct violation {
    enum claim_kind kind;
    int64_t layout, other, claim_ns, truth_ns;
}; // other: it was compared with, -1

struct claims_seen {
    int64_t tried, held, bounds,
        violations; // held: claims made; bounds: those that are a number, for layouts with a plan
    double ratio_sum, ratio_most; // claim / truth
};

struct claims {
    struct claims_seen seen[CLAIM_KINDS];
    void (*found)(void *argument, const struct violation *v);
    void *argument;
};

// Every quick argument for every layout. Returns how tight the bounds of layouts with several ranks
// are: more is tighter.
double claims_judge(struct claims *c, const struct space_truth *t);
int64_t claims_violations(const struct claims *c);
// Adds a claim from elsewhere. No claim is negative.
void claims_note(struct claims *c, enum claim_kind kind, int64_t layout, int64_t other,
                 int64_t claim_ns, int64_t truth_ns);
