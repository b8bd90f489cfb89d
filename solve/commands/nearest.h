// The nearest plan that a framework can run: for the same problem, with what the framework cannot
// express forbidden and everything else as in the plan.
#ifndef PLUMBLINE_SOLVE_COMMANDS_NEAREST_H
#define PLUMBLINE_SOLVE_COMMANDS_NEAREST_H

#include "data/inputs/problem.h"
#include "data/results/plan.h"

struct nearest_request {
    enum framework framework;
    const char *folder;  // job.json, problem.json and plan.json go there; created if missing
    double time_limit_s; // of each solve; 0: none
};

// *plan becomes the nearest one, or stays if the framework can express it; *problem becomes its
// problem. Reports on stderr what it costs and what has changed. *exit_code: as for solve; with
// EXIT_INFEASIBLE or EXIT_NO_PLAN *plan is unchanged. The following are opened in turn, until there
// is a plan: the keys of the layout that the framework refuses; every key but the degrees; every
// key. Where the framework has one setting of recomputation, each is a layout of its own.
// BAD_INPUT: the folder has another job.
enum status nearest_plan(struct plan *plan, struct problem *problem,
                         const struct nearest_request *request, int *exit_code, struct arena *arena,
                         struct error *err);

#endif
