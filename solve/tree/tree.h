// The tree: boxes, best bound first, in rounds of a fixed number of jobs. A round's jobs know what
// was known at its start, and their results are merged in a fixed order: the answer does not depend
// on how many processes work.
#ifndef PLUMBLINE_SOLVE_TREE_TREE_H
#define PLUMBLINE_SOLVE_TREE_TREE_H

#include "solve/boxes/frontier.h"
#include "solve/tree/job.h"

struct tree_progress {
    int64_t incumbent_ns, bound_ns, boxes;
    int path_rows, open;
};

struct tree_settings {
    int threads;
    int plan_count;             // how many of the best distinct plans are wanted, >= 1
    double gap;                 // asked; used to close boxes where one plan is wanted
    int64_t cutoff_ns;          // plans at or above it are of no interest; 0: all are
    int64_t ended_ns;           // the least bound of choices that were removed before; 0: none were
    int64_t memory_limit_bytes; // of one worker
    int64_t boxes_max;          // more are not begun; 0: no limit
    bool (*stop_asked)(void *argument);
    const struct watch *watch; // when that is, for what runs between two questions; NULL: nothing
    // Asked now and then in a tree that grows, at box counts that depend on nothing but the tree: a
    // better plan than target_ns, or false. step counts the questions. May be NULL.
    bool (*improve)(void *argument, int step, int64_t target_ns, struct found_plan *plan);
    void (*report)(void *argument, const struct tree_progress *progress);
    void *argument;
};

struct tree {
    struct found_plan *plans; // ascending time, distinct, at most plan_count
    int plan_count;
    int64_t bound_ns; // proven for all plans of the program; hopeless_ns if there is none
    bool finished;    // nothing is open, or the asked gap is reached; else it was stopped
    int64_t boxes, relaxations, iterations;
    const char *sidelined; // what was recovered from, or NULL
    struct record_list records;
    struct frontier
        frontier; // of struct box; its gap is 0 until the plans that are wanted are known
    int64_t next_number;
};

// plans: known ones to begin with (may be none). root_bound_ns: proven already, 0 if nothing is.
enum status tree_run(struct tree *tree, struct program *p, const struct tree_settings *settings,
                     const struct found_plan *plans, int plan_count, int64_t root_bound_ns,
                     struct arena *arena, struct error *err);

// Every record evaluated again from its stored numbers, and that the records cover the whole box.
// SOLVER names the first that does not hold.
enum status tree_recheck(const struct tree *tree, struct program *p, int64_t root_bound_ns,
                         struct arena *arena, struct error *err);

#endif
