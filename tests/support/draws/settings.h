// Draws layouts that recompute in all stages alike.
#pragma once

#include "data/inputs/job.h"

// One setting for all stages now and then, of the modes that are offered, from numbers of its own,
// so that nothing else that is drawn changes.
void settings_draw(struct layout *l, const bool *offered, uint64_t state);
