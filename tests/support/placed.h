// Problems on named nodes, with spare nodes, and changes of their clusters.
#pragma once

#include "data/places/cluster_change.h"
#include "solve/layout/solve.h"
#include "solve/places/placed.h"
#include "tests/support/problems.h"

enum { NODES = 7, PLACES = 6 };

// `words` separated by blanks: "-x" removes x, the others degrade.
struct cluster_change cluster_change_of(const char *words, struct arena *arena);

// On NODES nodes, at most PLACES of them in use.
void placed_problem_random(struct problem *p, struct random *rng, struct arena *arena);

// false: there is no plan. stopped: as by a signal, before the search.
bool placed_solve_within(struct solve_result *r, const struct priced *priced,
                         struct placed_start *start, double gap, bool stopped, struct arena *arena);
bool placed_solve_from(struct solve_result *r, const struct priced *priced,
                       struct placed_start *start, bool stopped, struct arena *arena);

void assert_accepted(const struct plan *plan, const struct problem *problem, struct arena *arena);
bool placed_stands_on(const struct plan_placement *x, const char *name);
