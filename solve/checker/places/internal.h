// Shared by the files that audit certificates about placements.
#pragma once

#include <stdio.h>

#include "solve/checker/proof.h"
#include "solve/checker/places/places.h"

// ---- embedding.c
// least[first * nodes + last]: the least time of the fused embedding sync where a replica's first
// and last stage stand on these nodes, from its time over each link, links[from * nodes + to]; -1:
// none.
void check_least_embeddings(int64_t *least, const struct check_places *x, const int64_t *links,
                            struct arena *arena);

// ---- parts.c: of certificates in several parts
// What all of them prove together, and their list. Refused: neither or both of infeasible and
// bound_ns.
enum status check_read_parts(struct check_result *result, const cJSON **parts, const cJSON *places,
                             const struct reader *r);
// Adds a proof's to those of all; operations are those of the last one.
void check_add_counts(struct check_result *to, const struct check_result *from);

// ---- reaches_audit.c: a certificate by reaches
enum status check_audit_reaches(struct check_result *result, const struct reader *r,
                                const cJSON *places, const struct check_places *x, uint64_t *work,
                                struct arena *arena);

// ---- tree_audit.c: a certificate by a tree
enum status check_audit_tree(struct check_result *result, const struct reader *r,
                             const cJSON *places, const struct check_places *x, uint64_t *work,
                             struct arena *arena);
