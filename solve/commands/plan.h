// plumbline plan: its options, one plan, and plans for several frameworks.
#ifndef PLUMBLINE_SOLVE_COMMANDS_PLAN_H
#define PLUMBLINE_SOLVE_COMMANDS_PLAN_H

#include "data/results/plan.h"
#include "formulate/example/example.h"

// --for: a framework, or all of them, each in a folder of its own.
enum { PLAN_FOR_ALL = FRAMEWORK_AXONN + 1 };

struct plan_options {
    const char *model, *cluster, *gpu, *costs, *folder;
    struct gpu_likeness likeness;
    int64_t nodes, gpus, sequence, global_batch, gradient_bytes;
    int framework, precision, trainer; // trainer: of the space of any framework; UNSTATED
    double gpu_hour_price, memory_fraction, gap, time_limit_s; // 0: as by default
    bool force;
    struct stated_layout stated;
    struct option_texts known; // for the search of any layout with the plans for frameworks
};

// The problem, its plan, report and launch files in one folder; prints the answer. *exit_code: as
// of solve.
enum status plan_one(const struct plan_options *options, int *exit_code, struct arena *arena,
                     struct error *err);

// ---- plan_assumed.c

// Prints one line: what the options leave unstated and the launch files do not set.
void plan_tell_assumed(const struct plan_options *options, const struct problem *problem,
                       const struct plan *plan, struct arena *arena);

// ---- frameworks.c

// A plan for each framework in a folder FOLDER/FRAMEWORK, its answer in plan.txt there; prints one
// table. With framework any a search over all layouts follows, which begins with these plans and
// has the prices of the fastest one's trainer. *exit_code: as of solve, over all of them: 0 only if
// each has a plan to the gap or none; 10 if some search was not finished; 11 if none has a plan,
// proven or refused; 12 if none was found. BAD_INPUT: all of them refuse.
enum status plan_all(const struct plan_options *options, int *exit_code, struct arena *arena,
                     struct error *err);

#endif
