// Spaces around the layout of a random problem, small enough to enumerate.
#pragma once

#include "tests/support/problems.h"

// For some of the models with a shape: a pool that memory layers share, layers that share weights,
// frozen blocks in few bits. Uses its own random numbers, so that the other problems do not change.
void claims_draw_kind(struct problem *p, uint64_t seed, struct arena *arena);

// For many of the problems with shares or swaps: energies of memories and a budget of them; from
// numbers of its own, too.
void claims_draw_energy(struct problem *p, uint64_t seed, struct arena *arena);

struct space_draw {
    struct problem *p;
    struct random *rng;
    struct arena *arena;
    const struct layout *layout;
    bool themed; // the problem has a theme: fewer keys are opened, mostly the schedule
    int spare;   // devices of the cluster over those of the layout
};
// false: none of a dozen drawn spaces contains the layout and is small enough.
bool claims_draw_space(const struct space_draw *d);
// A problem whose layers are of a few kinds, with such a space; false likewise.
bool claims_draw_kinds(struct problem *p, struct random *rng, struct arena *arena);
