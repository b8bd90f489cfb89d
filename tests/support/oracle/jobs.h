// Clusters of two groups and jobs of real size, with everything that a job may say.
#pragma once

#include "tests/support/problems.h"

void random_cluster(struct cluster *c, struct random *rng, struct arena *arena);
void random_job(struct job *j, const struct model *m, struct random *rng, struct arena *arena);
int divisor_of(struct random *rng, int64_t n); // one of at most 8
// As many KV heads as there are tensor ranks, or a part of them, now and then.
void share_keys(struct problem *p, uint64_t seed);
