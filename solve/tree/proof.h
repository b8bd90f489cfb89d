// The tree's proof in the form of a search by boxes: its path rows' multipliers are weights of
// paths, those of rows that limit slots and budgets are prices.
#ifndef PLUMBLINE_SOLVE_TREE_PROOF_H
#define PLUMBLINE_SOLVE_TREE_PROOF_H

#include "solve/boxes/proof.h"
#include "solve/tree/tree.h"

// root: what eliminated choices before, or NULL. bound_ns: what is claimed in the end. The
// checker's programme over stages keeps every row but those of paths, slots and budgets, so that
// with the same multipliers its least value is no less than the relaxation's bound, but for
// rounding. The proof is sure where that has ample room, and the programme knows all rows: one
// stage a rank, no embedding sync.
void tree_proof(struct box_proof *proof, const struct tree *tree, const struct program *p,
                const struct box_proof *root, int64_t bound_ns, struct arena *arena);

#endif
