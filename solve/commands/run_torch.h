// A plan as PyTorch's runner takes it.
#ifndef PLUMBLINE_SOLVE_COMMANDS_RUN_TORCH_H
#define PLUMBLINE_SOLVE_COMMANDS_RUN_TORCH_H

#include "data/results/plan.h"

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

#endif
