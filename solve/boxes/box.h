// Closing a box of plans without a linear program. A box says of every stage which choices it still
// allows. Mixtures of paths give exact lower bounds on it by dynamic programming
// (solve/boxes/dynamic.h); a choice whose own bound reaches the target leaves the box, which raises
// the bounds of what remains; a box without plans below the target is closed. What stays open comes
// back with the split to make: by load level, the highest that the mixture of least plans holds in
// part, else by a single choice; where a rank has several stages by the layers that it holds, or by
// its group. Splitting again and again ends: a box of one plan is evaluated by replay.
#ifndef PLUMBLINE_SOLVE_BOXES_BOX_H
#define PLUMBLINE_SOLVE_BOXES_BOX_H

#include "solve/boxes/dynamic.h"
#include "formulate/graph/longest.h"

// allowed[stage][choice]; spans[rank], where the closer goes by ranks (NULL there: any number of
// layers), else NULL.
struct choice_box {
    bool *const *allowed;
    struct layer_span *spans;
};

struct box_closer; // the tables, and all paths met so far

// One use of weights on a box: an exact statement that anybody can repeat. ids name paths of the
// closer.
struct box_step {
    int path_count;
    const int *ids;
    const int64_t *weights; // multiples of 2^-40; weight x laps sums to one at most
    const int64_t *prices; // of resources that the table does not count (solve/boxes/dynamic.h), as
                           // they were used; NULL: none
    const struct memory_price *memory; // those of memory; NULL: none
    int memory_count;
    bool relaxed; // on the small table, which counts nothing
    bool removes; // took something out of the box; else it only raised the bound
};

struct box_answer {
    int64_t bound_ns;   // proven for the box as it was given; INT64_MAX: it holds no plan at all
    int64_t removed_ns; // the least bound of what the steps took out of it; INT64_MAX: nothing. So
                        // what is proven for a closed box is the lesser of the two: both may be
                        // above the target
    int *found; // [stage_count], a plan of the box that was met; meaningless unless found_ns <
                // INT64_MAX
    int64_t found_ns;
    int branch_stage;       // of an open box
    int branch_choice;      // -1: split by load, else this choice against all others of the stage
    int branch_group;       // else -1, or: the choices on this group against the others
    int64_t branch_load_ns; // load >= this against load < this; both halves are non-empty
    int branch_rank; // -1, or: so many layers or more on this rank against fewer; branch_stage is
                     // -1
    int branch_layers;
    bool single;            // what the steps left is one decision, whose time the bound is
    struct box_step *steps; // what proves it: removed something, raised the bound or closed the
                            // box, in order; in the closer's arena
    int step_count;
};

// should_stop (may be NULL) is asked while paths to begin with are looked for and between the steps
// of a box: true leaves the box open with what is proven so far.
struct box_closer *box_closer_open(const struct choices *c, struct graph *g,
                                   bool (*should_stop)(void *argument), void *argument,
                                   struct arena *arena);
// By ranks even where a rank has one stage: quicker to a first bound, without a known plan.
struct box_closer *box_closer_open_by_ranks(const struct choices *c, struct graph *g,
                                            bool (*should_stop)(void *argument), void *argument,
                                            struct arena *arena);
bool box_closer_is_by_ranks(const struct box_closer *b);
// By ranks, or with prices of memory: weights are worth handing on to the boxes within.
bool box_closer_is_balanced(const struct box_closer *b);
// All choices, any number of layers.
struct choice_box choice_box_whole(const struct box_closer *b, struct arena *arena);
struct choice_box choice_box_copy(const struct box_closer *b, const struct choice_box *box,
                                  struct arena *arena);
int box_closer_path_count(const struct box_closer *b);
const int *box_closer_path(const struct box_closer *b, int id); // counts[symbol_count], laps

// These paths instead of those it has met: for steps that come from elsewhere (box_repeat).
void box_closer_take_paths(struct box_closer *b, const int *counts, int count);

// Whether the steps that are not relaxed follow the use of this resource exactly
// (solve/boxes/dynamic.h).
int box_closer_resource_count(const struct box_closer *b);
bool box_closer_counts(const struct box_closer *b, int resource);

// Weights from elsewhere (path multipliers of a relaxation) to be tried first on the next box;
// weights may be NULL: one path on its own.
void box_closer_suggest(struct box_closer *b, const int *paths, const int64_t *weights,
                        int path_count);

// Balanced: weights and prices that gave the bound of a box around the next one: where its own
// search for weights begins, so that its bound is no less. NULL: none.
void box_closer_begin_with(struct box_closer *b, const struct box_step *step);

// By ranks: a plan near the balance of the whole problem. false: none was met.
bool box_closer_meet_plan(struct box_closer *b, int *chosen);

// Tightens the box in place: what goes takes target_ns at least. true: closed, no plan of the box
// takes less than target_ns, or it held a single decision, which takes found_ns. A plan below the
// target that is met on the way is found_ns: lower the target for the boxes that follow. rounds:
// how many weights are tried at most (0: a sensible number).
bool box_close(struct box_closer *b, const struct choice_box *box, int64_t target_ns, int rounds,
               struct box_answer *answer);

// The same statement again from the stored numbers alone: whether the steps close the box as it was
// given, or leave of it nothing but what is in `left` (NULL: no choice may be left but those of a
// single decision that takes target_ns or more).
bool box_repeat(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                const struct box_step *steps, int step_count, const struct choice_box *left);

#endif
