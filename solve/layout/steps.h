// Shared by the files that solve one layout.
#pragma once

#include "solve/incumbent/incumbent.h"
#include "solve/layout/solve.h"
#include "solve/tree/tree.h"

struct solving {
    const struct priced *priced;
    const struct solve_settings *settings;
    struct watch watch;
    double shown_s;
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    struct formulation formulation;
    struct incumbent incumbent;
    struct plan *incumbent_plan; // with its claims, because elimination renumbers choices
    struct solve_result *result;
    struct plan *plans; // ascending iteration time
    int plan_count, plan_capacity;
    int64_t shown_bound_ns; // the best bound reported so far
    int64_t kept_ns;        // the time of the plan handed to settings->keep; 0: none
    int64_t bound_ns;       // proven for every plan; at least a plan's time if all is closed
    bool finished;          // solved to the requested gap, or proven that there is no plan
    struct plan_effort effort;
    struct arena *arena;
};

// widths.c: sets s->incumbent to the best plan of a search with each combination of one width for
// each node group, if that is better.
enum status solving_try_widths(struct solving *s, int64_t effort, struct error *err);
// The same file, where all stages on a node group have one width: every such combination is
// searched, as a problem of its own, for what is better than the best so far.
enum status solving_by_group(struct solving *s, struct error *err);

// turns.c: the whole search where replicas take whole micro-batches in turn.
enum status solving_in_turn(struct solving *s);

bool solving_should_stop(void *solving);
void solving_report(void *solving, const struct tree_progress *progress);
int64_t solving_greatest_ns(const struct formulation *f, struct graph *g, struct arena *arena);
struct plan *solving_add_plan(struct solving *s);
// A longer search for plans, number `step`, with a seed of its own. false: none was found.
bool solving_improve(struct solving *s, int step, struct incumbent *best);
// Hands a plan of the present choices to settings->keep.
void solving_found(void *solving, const int *chosen, int64_t time_ns);
// The proof of this bound is going to be evaluated again.
void solving_rechecks(void *solving, int64_t bound_ns);
// Keeps the incumbent as a plan while its choices still have their numbers.
void solving_keep_incumbent(struct solving *s);
// The search by boxes alone (solve/boxes/search.h), before the tree: it finishes, or gives a better
// incumbent and a bound.
enum status solving_run_boxes(struct solving *s, struct error *err);
// Called before anything else: whether the first box reaches the cut-off.
bool solving_is_cut_off(struct solving *s);
// The bound that closes a box: the incumbent's time less the requested gap, or the cut-off.
int64_t solving_closing_ns(const struct solving *s);
// Removes choices that no plan better than the target contains, and returns a proven bound.
// removed_ns as in solve/layout/internal.h. *proof (may be NULL; for evidence) gets the steps.
int64_t solving_eliminate(struct solving *s, int64_t target_ns, struct box_proof *proof,
                          int64_t *removed_ns);
// Builds the program of the remaining choices, with its starting paths.
enum status solving_formulate(struct solving *s, struct program *program, struct error *err);
enum status solving_write_program(struct solving *s, const struct program *program,
                                  struct error *err);
// As solve_run, but may leave out the reason why a problem is infeasible.
enum status solve_without_reason(struct solve_result *r, const struct priced *priced,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err);
// Which limit makes the problem infeasible: each family of limits is dropped in turn.
enum status solving_find_reason(struct solving *s, const char **why, struct error *err);
// Puts outcome, bounds and effort into the result.
void solving_finish(struct solving *s, const char *why);
