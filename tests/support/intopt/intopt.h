// glp_intopt on a whole program, path rows found by replay: the solver of the tests' own programs.
// Floating point throughout: it proves nothing.
#pragma once

#include "data/program/milp.h"
#include "formulate/choices/choices.h"

struct intopt_request {
    const struct milp *milp;
    int unit_log2;       // a time of 2^unit_log2 ns is 1
    double time_limit_s; // 0: none
    double cut_off_ns;   // only plans below it are wanted; 0: none
    // Adds the violated path row to the milp for these column values (times in ns); its index, or
    // -1.
    int (*separate)(void *argument, const double *values);
    void *argument;
    const double *branch_key; // [column_count]: the fractional column with the highest key first;
                              // 0: left to GLPK
};
enum intopt_status { INTOPT_OPTIMAL, INTOPT_FEASIBLE, INTOPT_INFEASIBLE, INTOPT_UNKNOWN };
enum intopt_status intopt_solve(const struct intopt_request *request, double *values,
                                struct arena *arena);

// A power of two in nanoseconds, as a unit in which the heaviest stage is a number near 16.
int intopt_unit_log2(const struct choices *c);
