// Field-by-field comparison of two documents; each difference is a failed cmocka assertion. The
// envelope is not compared.
#pragma once

#include "data/inputs/problem.h"

void same_model(const struct model *a, const struct model *b);
void same_cluster(const struct cluster *a, const struct cluster *b);
void same_costs(const struct costs *a, const struct costs *b);
void same_job(const struct job *a, const struct job *b);
