// What the files that audit certificates about placements share.
#ifndef PLUMBLINE_SOLVE_CHECKER_PLACES_INTERNAL_H
#define PLUMBLINE_SOLVE_CHECKER_PLACES_INTERNAL_H

#include <stdio.h>

#include "solve/checker/proof.h"
#include "solve/checker/places/places.h"

// ---- tree_audit.c: a certificate by a tree
enum status check_audit_tree(struct check_result *result, const struct reader *r,
                             const struct value *places, const struct check_places *x,
                             uint64_t *work, struct arena *arena);

#endif
