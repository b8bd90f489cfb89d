// The nearest plan that a framework can run: for the same problem, with what the framework cannot
// express forbidden and everything else as in the plan.
#pragma once

#include "solve/report/against/against.h"
#include "formulate/example/example.h"

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

// A plan as PyTorch's runner takes it.

struct torch_task {
    const char *output; // the run; the task and the schedule are written next to it
    const char *backend, *name;
    int64_t iterations, warm_ups, threads;
    bool quiet;
};

// Writes the task, and names the two files and the program that carries it out. BAD_INPUT names
// what of the plan that cannot run.
struct torch_files {
    const char *program, *task, *schedule;
};
enum status torch_write_task(struct torch_files *files, const struct torch_task *t,
                             const struct plan *plan, struct arena *arena, struct error *err);

// A plan as its kernels alone would take it, without what a trainer's step adds to them.

// The plan that a run is compared with: for own kernels the decision at the costs of its problem
// without their step factors, else the plan itself; also where its problem is not available.
enum status plan_for_run(struct plan *to, const struct plan *plan, const struct plan_run *run,
                         struct arena *arena, struct error *err);
// Brings the run to the speed of the machine at which its plan's costs were measured, if both have
// a yardstick.
void plan_bring_run(struct plan_run *run, const struct plan *plan, struct arena *arena);
// Whether the plan's stages would fit if none recomputed anything: *kept; known false where its
// problem is not available.
void plan_find_kept(struct against_kept *kept, const struct plan *plan, struct arena *arena);

// plumbline plan: its options, one plan, and plans for several frameworks.

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
