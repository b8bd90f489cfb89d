// The ranks of a layout's sketch and what fits on each, for its bounds (bound.c).
#ifndef PLUMBLINE_SOLVE_LAYOUTS_ROOM_H
#define PLUMBLINE_SOLVE_LAYOUTS_ROOM_H

#include "solve/layouts/bound.h"

bool sketch_folds(const struct layout_sketch *s); // its second stages stand on the way back
int sketch_boundaries(const struct layout_sketch *s, int rank); // ends of transfers at the rank
// Whether the first, the last layer is no main one and stands on the rank.
bool sketch_holds_first(const struct layout_sketch *s, int rank);
bool sketch_holds_last(const struct layout_sketch *s, int rank);
int64_t sketch_kept(const struct layout_sketch *s, int rank); // micro-batches, at the least

// What is left of a device for main layers' bytes.
int64_t sketch_room(const struct layout_sketch *s, const struct group_terms *g, int rank);
// Of k main layers on the rank: the sum over j of them of the micro-batches kept. Every stage holds
// one at least; the others, at best, stand where the fewest are kept, and so do those missing where
// the first or the last layer has a stage alone. Of the j that keep the most where j < k.
int64_t sketch_kept_by(const struct layout_sketch *s, int rank, int64_t k, int64_t j);
// Bytes of k main layers, all in one recomputation mode.
int64_t sketch_bytes(const struct layout_sketch *s, int rank, int64_t k, int mode);
// Least recomputation that may make k fit, in ns of one micro-batch; -1: nothing does.
int64_t sketch_recomputation_ns(const struct layout_sketch *s, const struct group_terms *g,
                                int rank, struct layer_share k);
// Main layers on the best ranks of the groups' slots, a rank holding most[group].
int64_t sketch_together(const struct layout_sketch *s, const int64_t *most);

#endif
