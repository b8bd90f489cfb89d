// The tree's proof in the form of a search by boxes: the multipliers of its path rows are path
// weights, those of rows that limit slots and budgets are prices.
#pragma once

#include "solve/boxes/proof.h"
#include "solve/tree/tree.h"

// root: the proof that eliminated choices before, or NULL. bound_ns: the bound claimed in the end.
// The checker's dynamic programme over stages keeps every row except those of paths, slots and
// budgets, so with the same multipliers its least value is no less than the relaxation's bound,
// apart from rounding. The proof is sure where there is ample room for that and the dynamic
// programme knows all rows: one stage per rank, no embedding sync.
void tree_proof(struct box_proof *proof, const struct tree *tree, const struct program *p,
                const struct box_proof *root, int64_t bound_ns, struct arena *arena);
