// Holds what is stated of a space's layouts against what is true of them: what the planner states, and the largest claim that
// the checker can be made to accept, for each kind of argument by itself.
#ifndef PLUMBLINE_TESTS_SUPPORT_CLAIMS_JUDGE_H
#define PLUMBLINE_TESTS_SUPPORT_CLAIMS_JUDGE_H

#include "tests/support/claims_truth.h"

enum claim_kind {
    // The planner's: from prices alone; that nothing fits; that a layout is no better than another.
    CLAIM_AVERAGE, CLAIM_FILLING, CLAIM_MISSING, CLAIM_SAME,
    // The checker's: a layout is refused, has no room, is bounded, dominated.
    CLAIM_REFUSED, CLAIM_ROOM, CLAIM_BOUND, CLAIM_DOMINATED,
    CLAIM_KINDS,
};
extern const char *const claim_names[CLAIM_KINDS];

// truth INT64_MAX: there is no plan; claim INT64_MAX: that there is none.
struct violation { enum claim_kind kind; int64_t layout, other, claim_ns, truth_ns; };      // other: it was compared with, -1

struct claims_seen {
    int64_t tried, held, violations;        // held: said something, of a layout with a plan for those that bound
    double ratio_sum, ratio_most;           // claim / truth
};

struct claims {
    struct claims_seen seen[CLAIM_KINDS];
    void (*found)(void *argument, const struct violation *v);
    void *argument;
};

// Every argument for every layout.
void claims_judge(struct claims *c, const struct space_truth *t);
// One argument for one layout (and another): what is claimed at most. INT64_MAX: that there is no plan; -1: nothing.
int64_t claim_largest(const struct space_truth *t, enum claim_kind kind, int64_t layout, int64_t other);

#endif
