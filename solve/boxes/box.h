// Closing a box of plans. A box states which choices each stage still allows. Mixtures of paths
// give exact lower bounds on it by dynamic programming (solve/boxes/dynamic.h). A choice whose own
// bound reaches the target is removed from the box, which raises the bound of what remains; a box
// that has no plan below the target is closed. An open box is returned with the split to make:
// - by load level: the highest one that the mixture of least plans has only in part;
// - else by a single choice;
// - by ranks, where choices state places: first by where a stage starts;
// - where a rank has several stages: by the number of layers it holds, or by its group.
// Repeated splitting terminates: a box with a single plan is evaluated by replay.
#pragma once

#include "solve/boxes/dynamic.h"
#include "formulate/graph/longest.h"

// allowed[stage][choice]. spans[rank] where the closer works by ranks (NULL there: any number of
// layers); where it counts kinds of layers, spans[kind * ranks + rank] (kinds.c); else NULL.
struct choice_box {
    bool *const *allowed;
    struct layer_span *spans;
};

struct box_closer; // the tables, and all paths found so far

// The price of a layer on a rank, of those like the layers of a run: charged above the most that
// the rank may have in the box, or if negative below the least. Multiples of 2^-20 ns.
struct layer_price {
    int rank, run;
    int64_t price;
};

// One use of weights on a box: an exact statement that anybody can repeat. ids refer to paths of
// the closer.
struct box_step {
    int path_count;
    const int *ids;
    const int64_t *weights;            // multiples of 2^-40; weight x laps sums to one at most
    const int64_t *prices;             // of the resources that the table does not count
                                       // (solve/boxes/dynamic.h), as used; NULL: none
    const struct memory_price *memory; // those of memory; NULL: none
    int memory_count;
    const struct layer_price *layers; // likewise
    int layer_price_count;
    bool relaxed;  // on the small table, which counts no resource
    bool labelled; // by labels over the small table (dynamic_solve_labels)
    bool removes;  // removed something from the box; else it only raised the bound
};

// A split into the plans with a property and the others; neither part is empty.
enum box_split_kind {
    SPLIT_NONE,
    SPLIT_LOAD,
    SPLIT_CHOICE,
    SPLIT_GROUP,
    SPLIT_PLACE,
    SPLIT_LAYERS
};
struct box_split {
    enum box_split_kind by;
    int at;        // the stage; by layers: the rank
    int64_t value; // this load in ns or more; this choice; this group; from this layer on; this
                   // many layers or more
    int like;      // by layers: one more than the run whose kind is counted; 0: all layers
};
// The part with the property is the one that the certificate states, not the other way round.
static inline bool box_split_states(const struct box_split *s)
{
    return s->by == SPLIT_CHOICE || s->by == SPLIT_GROUP || s->by == SPLIT_PLACE;
}
// Of a stage's split: whether its choice number `index` is in the part with the property.
static inline bool box_split_has(const struct box_split *s, const struct choice *c, int index)
{
    return s->by == SPLIT_CHOICE  ? index == s->value
           : s->by == SPLIT_GROUP ? c->group == s->value
           : s->by == SPLIT_PLACE ? c->first_layer == s->value
                                  : c->load_ns >= s->value;
}

struct box_answer {
    int64_t bound_ns;   // proven for the box as given; INT64_MAX: it has no plan at all
    int64_t removed_ns; // the least bound of what the steps removed from it; INT64_MAX: nothing.
                        // What is proven for a closed box is the lesser of the two; both may be
                        // above the target
    int *found; // [stage_count], a plan found in the box; valid only if found_ns < INT64_MAX
    int64_t found_ns;
    struct box_split split; // of an open box
    bool single;            // what the steps left is one decision; the bound is its time
    struct box_step *steps; // the proof: steps that removed something, raised the bound or closed
                            // the box, in order; in the closer's arena
    int step_count;
};

struct box_settings {
    bool by_ranks; // even where a rank has one stage: a first bound sooner, without a known plan
    // Called while starting paths are searched for and between the steps of a box; true leaves the
    // box open with what is proven so far. NULL: never.
    bool (*should_stop)(void *argument);
    void *argument;
    bool labels;    // slots that the table leaves to prices are counted by labels
    bool uncounted; // the table leaves all of them to prices (for tests)
};
struct box_closer *box_closer_open(const struct choices *c, struct graph *g,
                                   struct box_settings settings, struct arena *arena);
bool box_closer_is_by_ranks(const struct box_closer *b);
int box_closer_span_count(const struct box_closer *b); // of a box; 0: boxes have none
// The span that a split by layers is of; -1: boxes have none for it.
int box_closer_span_at(const struct box_closer *b, const struct box_split *s);
// By ranks, or with memory prices: weights are worth passing on to the boxes inside.
bool box_closer_is_balanced(const struct box_closer *b);
// All choices, any number of layers.
struct choice_box choice_box_whole(const struct box_closer *b, struct arena *arena);
struct choice_box choice_box_copy(const struct box_closer *b, const struct choice_box *box,
                                  struct arena *arena);
int box_closer_path_count(const struct box_closer *b);
const int *box_closer_path(const struct box_closer *b, int id); // counts[symbol_count], laps

// Replaces the paths it has found: for steps that come from elsewhere (box_repeat).
void box_closer_take_paths(struct box_closer *b, const int *counts, int count);

// Whether the steps that are not relaxed follow the use of this resource exactly
// (solve/boxes/dynamic.h).
int box_closer_resource_count(const struct box_closer *b);
bool box_closer_counts(const struct box_closer *b, int resource);

// Weights from elsewhere (path multipliers of a relaxation) to try first on the next box. weights
// may be NULL: one path on its own.
void box_closer_suggest(struct box_closer *b, const int *paths, const int64_t *weights,
                        int path_count);

// If balanced: weights and prices that gave the bound of a box around the next one. The next box's
// search for weights starts from them, so its bound is no less. NULL: none.
void box_closer_begin_with(struct box_closer *b, const struct box_step *step);

// Whether boxes go by labels; then splits by level help.
bool box_closer_has_labels(const struct box_closer *b);
// A level is a stage's load times its weight: what it adds to the longest path if it is the
// heaviest stage. Returns the greatest level in the box; *least: some stage has at least this one.
double box_levels(const struct box_closer *b, const struct choice_box *box, double *weights,
                  double *least);

// By ranks: a plan near the balance of the whole problem. false: none was found.
bool box_closer_meet_plan(struct box_closer *b, int *chosen);

// Tightens the box in place: whatever is removed takes at least target_ns. true: closed, so no plan
// of the box takes less than target_ns, or it held a single decision, which takes found_ns.
// found_ns is the time of a plan below the target found on the way; lower the target for the boxes
// that follow. rounds: the most weights to try (0: a default).
bool box_close(struct box_closer *b, const struct choice_box *box, int64_t target_ns, int rounds,
               struct box_answer *answer);

// A proof from stored numbers: what its steps removed from a box reaches target_ns, as in
// box_close. Prices that a step takes from what is left of the box (of a rank's memory) are then
// the same.
struct box_argument {
    const struct box_step *steps;
    int step_count;
    int64_t target_ns;
};
// Repeats it on the box: whether all that the steps remove takes claim_ns or more, and so does what
// is left, or nothing of that is outside `left` (NULL: it may also be a single decision, whose time
// counts).
bool box_repeat(struct box_closer *b, const struct choice_box *box, int64_t claim_ns,
                const struct box_argument *argument, const struct choice_box *left);
