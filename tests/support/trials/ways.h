// Ways of solving one layout. All of them must agree with enumeration.
#pragma once

#include "solve/layout/solve.h"
#include "tests/support/oracle/oracle.h"

// WAY_BOXES: as the default without a search for plans; WAY_TEXTBOOK: another formulation of the
// problem, whose bound is no solver's of ours.
enum way { WAY_DEFAULT, WAY_BOXES, WAY_TREE_ALONE, WAY_GLPK, WAY_TEXTBOOK, WAY_COUNT };

// Solves to the optimum, with a recheck of the proof. Fails the test with the schedule, the seed
// and the way.
struct solve_result way_solve(const struct priced *p, enum way way, uint64_t seed, int threads,
                              struct arena *arena);
// Fails the test unless the answer is enumeration's: the least value, proven, or that there is no
// plan.
void way_expect(const struct solve_result *r, const struct priced *p, const struct oracle *e,
                enum way way, uint64_t seed);
// As one line: "1f1b, seed 7, GLPK".
const char *way_name(const struct priced *p, enum way way, uint64_t seed, struct arena *arena);
