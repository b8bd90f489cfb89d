// The ranks of a layout's sketch and what fits on each, for its bounds (bound.c).
#pragma once

#include "solve/layouts/bound.h"

bool sketch_folds(const struct layout_sketch *s); // second stages: ranks in reverse order
int sketch_boundaries(const struct layout_sketch *s, int rank); // ends of transfers at the rank
// Whether the first (last) layer is no main one and is on the rank.
bool sketch_holds_first(const struct layout_sketch *s, int rank);
bool sketch_holds_last(const struct layout_sketch *s, int rank);

// The least recomputation that may make k fit, in ns of one micro-batch; -1: none does.
int64_t sketch_recomputation_ns(const struct layout_sketch *s, const struct group_terms *g,
                                int rank, struct layer_share k);
// Main layers that fit on the best ranks of the groups' seats, with most[group] on a rank.
int64_t sketch_together(const struct layout_sketch *s, const int64_t *most);
