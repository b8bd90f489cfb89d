// A batch as arrays of Slurm.
#ifndef PLUMBLINE_SOLVE_BATCH_SLURM_H
#define PLUMBLINE_SOLVE_BATCH_SLURM_H

#include "data/base/command.h"
#include "solve/batch/batch.h"

struct slurm_request {
    struct option_texts sbatch; // words for sbatch
    int jobs;                   // maximum number of running tasks
    int submissions;            // of one instance, at most
    int before_limit_s;         // a task is stopped this long before the job's time limit
    bool resume, quiet;
};

// Submits what has no result and is in no queue, waits for it, and submits again what was killed.
// If stopped, it leaves the jobs, and the next run finds them. UNAVAILABLE: sbatch refuses.
enum status batch_slurm(int *exit_code, const struct batch *b, const struct slurm_request *request,
                        struct arena *arena, struct error *err);

#endif
