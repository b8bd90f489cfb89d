// A plan from another solver's solution of a program that formulate, or solve --program, wrote: the
// map next to the program says what its columns mean.
#pragma once

#include "data/program/solution.h"
#include "data/results/plan.h"

struct solution_request {
    const char *solution_path, *map_path;
    const char *problem_path; // NULL: the one that the map was made from
};

struct solution_plan {
    struct plan plan; // with its claims; it says that it was made from what the map was made from
    struct problem problem;
    struct solution solution;
    double stated_ns; // the solver's objective value; valid if solution.has_objective
};

// BAD_INPUT: a file that is none of these, a column that the map does not have (with the nearest
// name), one that is missing or listed twice, a binary that is neither 0 nor 1, or a stage without
// exactly one decision. The plan is not judged yet.
enum status solution_plan_make(struct solution_plan *p, const struct solution_request *r,
                               struct arena *arena, struct error *err);
// How the solver's own value compares with the judged plan's.
void solution_print(FILE *to, const struct solution_plan *p);
