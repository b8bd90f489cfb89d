// Spaces around the layout of a random problem, small enough to enumerate.
#ifndef PLUMBLINE_TESTS_SUPPORT_CLAIMS_DRAW_SPACE_H
#define PLUMBLINE_TESTS_SUPPORT_CLAIMS_DRAW_SPACE_H

#include "tests/support/problems.h"

// Of some of the models with a shape: a pool that memory layers share, layers that share weights,
// frozen blocks in few bits. From numbers of its own, so that the others are as without.
void claims_draw_kind(struct problem *p, uint64_t seed, struct arena *arena);

struct space_draw {
    struct problem *p;
    struct random *rng;
    struct arena *arena;
    const struct layout *layout;
    bool themed; // the problem is about something: fewer keys are opened, the schedule mostly
    int spare;   // devices of the cluster over those of the layout
};
// false: none of a dozen drawn holds the layout, and few enough.
bool claims_draw_space(const struct space_draw *d);

#endif
