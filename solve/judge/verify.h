// The judge: recomputes everything about a plan from the problem's documents, with code of its own.
// Includes neither formulate nor GLPK; shares with the solver only the documents and the schedule's
// tables, which it checks by itself.
#ifndef PLUMBLINE_SOLVE_JUDGE_VERIFY_H
#define PLUMBLINE_SOLVE_JUDGE_VERIFY_H

#include "data/results/plan.h"
#include "data/inputs/problem.h"
#include "data/results/verdict.h"

// Every violated rule goes into the verdict with its amount. Fails only where judging is
// impossible.
enum status verify_plan(struct verdict *v, const struct plan *plan, const struct problem *problem,
                        struct arena *arena, struct error *err);

// Rule "hash": the documents at hand are those that the plan states it was made from. verify_plan
// begins with it; for a plan without stages nothing else is judged.
void verify_sources(struct verdict *v, const struct plan *plan, const struct problem *problem,
                    struct arena *arena);

#endif
