// The tree: boxes, best bound first, in rounds of a fixed number of jobs. A round's jobs know what
// was known at its start, and their results are merged in a fixed order, so the answer does not
// depend on the number of processes.
#pragma once

#include "solve/boxes/frontier.h"
#include "solve/tree/job.h"

struct tree_progress {
    int64_t incumbent_ns, bound_ns, boxes;
    int path_rows, open;
};

struct tree_settings {
    int threads;
    int plan_count;             // how many of the best distinct plans are wanted, >= 1
    double gap;                 // requested; used to close boxes if one plan is wanted
    int64_t cutoff_ns;          // plans at or above it are of no interest; 0: all are
    int64_t ended_ns;           // the least bound of choices that were removed before; 0: none were
    int64_t memory_limit_bytes; // of one worker
    int64_t boxes_max;          // no more are started; 0: no limit
    bool by_glpk;               // glp_intopt chooses boxes and branches
    bool (*stop_asked)(void *argument);
    const struct watch *watch; // the same limit, between two calls of stop_asked; NULL: none
    // Called now and then in a growing tree, at box counts that depend only on the tree: gives a
    // better plan than target_ns, or false. step counts the calls. May be NULL.
    bool (*improve)(void *argument, int step, int64_t target_ns, struct found_plan *plan);
    void (*report)(void *argument, const struct tree_progress *progress);
    void (*found)(void *argument, const int *chosen, int64_t time_ns); // each best plan, or NULL
    void *argument;
};

struct tree {
    struct found_plan *plans; // ascending time, distinct, at most plan_count of the settings
    int plan_count;
    int64_t bound_ns; // proven for all plans of the program; hopeless_ns if there is none
    bool finished;    // nothing is open, or the requested gap is reached; else it was stopped
    int64_t boxes, relaxations;
    const char *sidelined; // what it recovered from, or NULL
    struct record_list records;
    struct frontier frontier; // of struct box; its gap is 0 until the wanted plans are known
    int64_t next_number;
};

// plans: known ones to start with (may be none). root_bound_ns: already proven, 0 if nothing is.
enum status tree_run(struct tree *tree, struct program *p, const struct tree_settings *settings,
                     const struct found_plan *plans, int plan_count, int64_t root_bound_ns,
                     struct arena *arena, struct error *err);

// Evaluates every record again from its stored numbers, and checks that the records cover the whole
// box. SOLVER names the first that does not hold.
enum status tree_recheck(const struct tree *tree, struct program *p, int64_t root_bound_ns,
                         struct arena *arena, struct error *err);
