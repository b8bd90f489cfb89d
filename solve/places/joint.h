// A joint bound on the transfers of a replica's ranks that have no node yet: each takes a device
// group of its own.
#pragma once

#include "solve/places/view.h"

// For a view with one stage per rank whose boundary_cuts are made. NULL: every boundary has its
// nodes.
const struct joint_transfers *placed_joint_make(const struct placed *p,
                                                const struct choices *of_view, const int *node,
                                                const int *left, struct arena *arena);
