// The nearest plan that a framework can run: of the same problem, what it cannot express forbidden,
// all else as in the plan.
#ifndef PLUMBLINE_SOLVE_COMMANDS_NEAREST_H
#define PLUMBLINE_SOLVE_COMMANDS_NEAREST_H

#include "data/inputs/problem.h"
#include "data/results/plan.h"

struct nearest_request {
    enum framework framework;
    bool alike;          // its configuration is one for all ranks, as NeMo's is
    const char *folder;  // job.json, problem.json and plan.json go there; created if missing
    double time_limit_s; // of each solve; 0: none
};

// *plan becomes the nearest one, or stays where the framework expresses it; *problem the one it is
// of. Tells on stderr what it costs and what has changed. *exit_code: as solve's; EXIT_INFEASIBLE
// or EXIT_NO_PLAN leave *plan as it is. Tried in turn, until one has a plan: the keys of the layout
// that the framework refuses; every key but the degrees; every key. Where a choice of recomputation
// by stage cannot be told, each mode for all stages, and the first so many layers of each on the
// layers that were chosen. BAD_INPUT: the folder holds another job.
enum status nearest_plan(struct plan *plan, struct problem *problem,
                         const struct nearest_request *request, int *exit_code, struct arena *arena,
                         struct error *err);

// Whether each rank of the pipeline has flags of its own.
bool nearest_by_rank(const struct nearest_request *request);

// Whether its flags or configuration say each stage's recomputation.
bool nearest_tells_recompute(const struct plan *plan, const struct problem *problem,
                             const struct nearest_request *request, struct arena *arena);

#endif
