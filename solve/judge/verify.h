// The judge: recomputes everything about a plan from the problem's documents, with code of its own.
// Includes neither formulate nor GLPK; shares with the solver only the documents and the schedule's
// tables, which it checks by itself.
#ifndef PLUMBLINE_SOLVE_JUDGE_VERIFY_H
#define PLUMBLINE_SOLVE_JUDGE_VERIFY_H

#include "data/results/plan.h"
#include "data/inputs/problem.h"
#include "data/results/verdict.h"

// Every violated rule goes into the verdict with its amount. Fails only on what prevents judging at
// all.
enum status verify_plan(struct verdict *v, const struct plan *plan, const struct problem *problem,
                        struct arena *arena, struct error *err);

// That the documents at hand are those that the plan says it was made from (rule "hash"): what
// verify_plan begins with, and all there is to judge of a plan without stages.
void verify_sources(struct verdict *v, const struct plan *plan, const struct problem *problem,
                    struct arena *arena);

#endif
