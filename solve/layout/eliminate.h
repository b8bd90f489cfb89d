// Elimination by bound of the choices that no plan better than the incumbent can contain.
#ifndef PLUMBLINE_SOLVE_LAYOUT_ELIMINATE_H
#define PLUMBLINE_SOLVE_LAYOUT_ELIMINATE_H

#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"
#include "solve/boxes/proof.h"

// Removes every choice whose own bound shows that any plan containing it takes at least `target_ns`
// (the incumbent's time). The bounds come from a path of the graph that the choice is on, and from
// a forward-backward dynamic programme over the stages with path weights (a Lagrangian bound, in
// exact integer arithmetic). weights: path_count rows of counts[symbol_count] with multipliers >= 0
// that sum to at most one (multiples of 2^-40); path_count 0: the dynamic programme chooses its
// own. Returns a proven lower bound on every plan of the remaining choices and of those removed, as
// long as it is below target_ns; or target_ns when nothing better can exist; then with removed_ns,
// not NULL, the proven bound itself, which may be more. *removed_ns: the least bound of what was
// removed, at least target_ns; INT64_MAX: nothing was. should_stop (may be NULL) is called between
// its steps; true ends it with what is proven so far.
int64_t eliminate(struct choices *c, struct graph *g, int64_t target_ns, const int *paths,
                  const int64_t *weights, int path_count, bool (*should_stop)(void *argument),
                  void *argument, int64_t *removed_ns, struct arena *arena);

// The same with weights of its own; *proof gets one record of all steps.
int64_t eliminate_recorded(struct choices *c, struct graph *g, int64_t target_ns,
                           bool (*should_stop)(void *argument), void *argument,
                           struct box_proof *proof, int64_t *removed_ns, struct arena *arena);

#endif
