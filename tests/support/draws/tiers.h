// Tiers besides the GPU's own memory, and options that keep parts of a stage there.
#pragma once

#include "tests/support/problems.h"

// Adds them to a random problem, from its own random numbers: tiers of about the speed of its
// layers that have not always room for all, options for weights and states, or a host that is too
// small for all that is swapped or offloaded. Returns whether.
bool random_tiers(struct problem *p, uint64_t seed, struct arena *arena);

// Energies of the memories, and a limit of energy between the least and the most that layers can
// take; from numbers of its own.
bool random_energy(struct problem *p, uint64_t seed, struct arena *arena);
