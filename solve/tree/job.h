// One job of the tree: a box is explored depth first, the lighter half of every split first, up to
// a number of relaxations; what is left is returned as open boxes. A job depends only on its
// request and on the program with the paths known at the start of the round, so the answer does not
// depend on which process does it, or when.
#ifndef PLUMBLINE_SOLVE_TREE_JOB_H
#define PLUMBLINE_SOLVE_TREE_JOB_H

#include "solve/tree/box.h"

struct task {
    int64_t target_ns; // of the best plan known: only better ones are reported
    int attempt;       // 0; later attempts are more careful and do less
    int box_limit;
    bool by_glpk;     // glp_intopt chooses boxes and branches (branch.c)
    bool keep_target; // alternatives are wanted: a plan found does not lower the target
    double gap; // boxes are closed at bounds within this gap of the target, or at bounds that reach
                // the cut-off
    int64_t cutoff_ns;
    struct box box;
    const struct watch *watch; // ends the job early; NULL: never
};

struct found_plan {
    int *chosen;
    int64_t time_ns;
};

enum {
    LOCAL_NUMBERS = 1 << 30
}; // boxes created by the job are numbered from here; the master renumbers them

struct job_result {
    int box_count; // boxes created
    int64_t explored, relaxations, iterations, failures;
    int path_count; // new ones
    int *paths;
    struct found_plan *plans;
    int plan_count, plan_capacity;
    struct record_list records;
    struct box *open;
    int open_count;
};

void job_run(struct job_result *r, const struct task *job, struct program *p, struct arena *arena);

void job_put(struct message *m, const struct task *job, const struct program *p);
void job_get(struct task *job, struct message *m, const struct program *p, struct arena *arena);
void job_result_put(struct message *m, const struct job_result *r, const struct program *p);
void job_result_get(struct job_result *r, struct message *m, const struct program *p,
                    struct arena *arena);

#endif
