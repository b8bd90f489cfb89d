// What the files that audit certificates about placements share.
#ifndef PLUMBLINE_SOLVE_CHECKER_PLACES_INTERNAL_H
#define PLUMBLINE_SOLVE_CHECKER_PLACES_INTERNAL_H

#include <stdio.h>

#include "solve/checker/proof.h"
#include "solve/checker/places/places.h"

// ---- embedding.c
// least[first * nodes + last]: what the fused embedding sync takes at least where a replica's first
// and last stage stand on these nodes, from what it takes over each link, links[from * nodes + to];
// -1: none.
void check_least_embeddings(int64_t *least, const struct check_places *x, const int64_t *links,
                            struct arena *arena);

// ---- tree_audit.c: a certificate by a tree
enum status check_audit_tree(struct check_result *result, const struct reader *r,
                             const struct value *places, const struct check_places *x,
                             uint64_t *work, struct arena *arena);

#endif
