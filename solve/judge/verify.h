// The judge: recomputes everything about a plan from the problem's documents, with code of its own.
// Includes neither formulate nor GLPK; shares with the solver only the documents and the schedule's
// tables, which it checks by itself.
#pragma once

#include "data/results/plan.h"
#include "data/results/verdict.h"

// Every violated rule goes into the verdict with its amount. Fails only where judging is
// impossible.
enum status verify_plan(struct verdict *v, const struct plan *plan, const struct problem *problem,
                        struct arena *arena, struct error *err);

// What the plan states besides its decision, prices and time, with which verify_plan begins; for a
// plan without stages nothing else is judged. Rules "hash" (the documents at hand are those that
// the plan says it was made from), "claim" (it says nothing stronger of its bound than its kind of
// problem allows), "name", "outcome", "groups", "options".
void verify_stated(struct verdict *v, const struct plan *plan, const struct problem *problem,
                   struct arena *arena);

// Rule "copy": what the document of a loaded plan repeats for people is what it is a copy of. Fails
// where a copy is not of its type.
enum status verify_copies(struct verdict *v, const struct plan *plan, struct arena *arena,
                          struct error *err);
