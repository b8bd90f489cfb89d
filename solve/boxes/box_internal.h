// Internals of closing boxes, shared by the files of solve/boxes.
#pragma once

#include "formulate/graph/pool.h"
#include "solve/boxes/box.h"

// The matrix game behind the Lagrangian bound: one side mixes paths, the other mixes plans; the
// pay-off is the length per lap of the path with the plan's durations. The value of the game over
// all paths and plans is the best bound that any path weights can give. It is solved here for the
// few paths and plans found so far; each solution gives the next of both. Weights are found in
// floating point and only their rounding down to 2^-40 counts: any weights give a valid bound.

struct game;

struct game *game_open(int symbols, int paths_max, int plans_max, struct arena *arena);
// When the room is used up, the path or plan of least weight is replaced. Paths that are already
// there are not added again.
void game_add_path(struct game *g, int id, const int *counts);
int game_add_plan(struct game *g, const int64_t *durations); // its place
void game_move_plan(struct game *g, int from, int to);
void game_truncate_plans(struct game *g, int count);
// Improves both mixtures by this many steps of regret matching.
void game_solve(struct game *g, int steps);
// Solves for both mixtures exactly, up to floating point; costs as much as a few hundred such
// steps.
void game_solve_exactly(struct game *g);
// The mixture of paths: those of positive weight, rounded down to 2^-40 so that weight x laps sums
// to at most one. Returns how many.
int game_weights(const struct game *g, int *ids, int64_t *weights);
// The mean durations of the mixture of plans, rounded: their longest path is the path to add next.
void game_mean_durations(const struct game *g, int64_t *durations);
// The length per lap of the game's longest path at these durations.
double game_longest(const struct game *g, const int64_t *durations);
int game_plan_count(const struct game *g);
double game_plan_share(const struct game *g, int plan);

enum { WEIGHTS_MAX = 480 }; // paths in one mixture

// A mixture of paths.
struct box_weights {
    int *ids, count;
    int64_t *weights;
};

// By labels: weights and prices with which an earlier box ended.
enum { REMEMBERED = 16 };
struct box_remembered {
    struct box_weights weights;
    int64_t *prices;
};

// Where ranks have several stages and the dynamic programme works stage by stage (memory.c); else 0
// rows.
struct box_memory {
    struct memory_price *rows; // prices of the current step
    int count, *counts;        // counts: a path with the rows behind it
    int64_t limit, scale_ns, *best;
};

// Scratch of a step.
struct box_work {
    int64_t *coefficients, *durations, *prices;
    int *counts, *chosen, *fitting,
        *plans; // plans[place * stages + stage], parallel to the game's; -1: no plan
    int64_t **through, **spans_ns;
};

// Where some kinds of layers are counted apart (kinds.c).
enum { KINDS_MAX = 4 };
struct box_kinds {
    int count, runs[KINDS_MAX], layers[KINDS_MAX]; // a run of each kind; layers of the model
    int **held;                                    // [stage][choice * count + kind]
    // Wherever a stage may end, least and most: how far the layers of a kind so far, as a part of
    // all of its kind, are ahead of those of the first kind, in layers of the latter.
    double ahead[KINDS_MAX][2];
    int64_t *prices;       // [kind * ranks + rank]: see layer_price
    wide **added, granted; // see dynamic_box
    bool charging;         // some price is not 0
    // [2 * (stage * (count + 1) + kind)]: what a layer adds to the stage's resident bytes, then to
    // its stash; of kind `count`, the stage without layers of kinds.
    double *bytes;
};

// Of the box that is being closed.
struct box_current {
    const struct box_step *beginning; // of the next box; NULL: none
    int step_capacity;
    int64_t removed_ns;    // the least bound of what was removed from it
    bool last_only_raised; // of the last recorded step
    bool on_small_table;   // the current step
    bool labelled;         // likewise
    bool in_shares;        // it is a box for shares.c
};

struct box_closer {
    const struct choices *c;
    struct graph *g;
    int stages, symbols;
    struct box_settings settings;
    struct dynamic *counted, *priced; // tables with and without slots counted exactly
    struct game *game;
    struct path_pool paths;
    int starting_count;           // this many paths, the first ones, are the starting paths
    bool started;                 // they have been used one by one
    struct box_weights now, best; // best: those that gave the box its best bound so far (by ranks)
    struct box_memory memory;
    struct box_work work;
    bool labels;           // boxes but the first go by labels (levels.c)
    int64_t *label_prices; // [group]: of the box before
    struct box_remembered remembered[REMEMBERED];
    int remembered_count; // all that ever were
    struct box_current current;
    struct box_kinds *kinds;   // NULL: one kind, or they are not counted
    struct box_shares *shares; // shares.c; NULL: not begun
    bool shares_lag;           // behind the mixtures of the first box: not used again
    struct arena *arena;
};

bool box_is_stopped(const struct box_closer *b);
// Keeps the plan whose durations are in b->durations if it fits together and is the best found; its
// path is then in b->counts.
void box_meet_plan(struct box_closer *b, const int *chosen, struct box_answer *a);
// The least value of the box under the current weights and prices; removes from it what reaches the
// target: *removed choices and ends of spans (NULL: nothing).
int64_t box_solve(struct box_closer *b, bool on_small_table, const struct choice_box *box,
                  int64_t target_ns, int *removed);
// Notes the step if it raised the bound or removed something.
void box_take_bound(struct box_closer *b, struct box_answer *a, int64_t bound_ns, int path_count,
                    bool removed);
void box_mix_one(struct box_closer *b, int id); // one path on its own

// ---- levels.c
// As box_solve on the small table, with slots counted by labels and nothing removed. *found:
// b->work.chosen is a plan of that value.
int64_t box_solve_labels(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                         bool *found);
// Closes the box by labels. *suited: false: they would be too many, and other weights may help.
bool box_use_labels(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                    int rounds, struct box_answer *a, bool *suited);
// Sets b->ids, weights and coefficients from the game; returns how many.
int box_mix_game(struct box_closer *b);
// By ranks and by labels the game's weights swing from one extreme to the other. A better bound
// comes from moving from the best weights so far half way towards them (less, the longer it
// stalls).
int box_mix_towards(struct box_closer *b, int stalled);
// Takes the weights of the enclosing box; returns the number of paths.
int box_mix_beginning(struct box_closer *b);
// Those of now are the best so far; without weights that count for little, so that mixtures stay
// small.
void box_keep_best(struct box_closer *b, int count);
// By ranks: weights to start the box with, and plans found on the way.
void box_balance(struct box_closer *b, const struct choice_box *box, struct box_answer *a);

// By ranks, where a stage's choices differ in their layers alone: sets b->now to weights whose
// bound is the least time of the box, up to rounding, if stages may hold fractions of layers; where
// no fractions keep what the box states of kinds, and memory, prices alone that say so (*count 0).
// false: this is no such box.
bool box_share_weights(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                       int *count);
// The layers of a kind (0 if none are counted) on a stage that the last ones are for; and a layer's
// time, as a part of that of the kind that takes most.
double box_share_of(const struct box_closer *b, int stage, int kind);
// Tries a plan whose stages hold about as many layers of each kind.
void box_meet_near_shares(struct box_closer *b, const struct choice_box *box, struct box_answer *a);
double box_share_worth(const struct box_closer *b, int kind);
// What the mixture of paths counts of a layer of each kind on the stage, summed.
double box_share_weight(const struct box_closer *b, int stage);

// Memory rows in addition to the game's paths; prices 0.
void box_memory_open(struct box_closer *b);
int64_t box_resident_bytes(const struct choice *x);
void box_memory_begin(struct box_closer *b, int64_t target_ns);            // of a box
void box_memory_repeat(struct box_closer *b, const struct box_step *step); // its prices
void box_game_add_path(struct box_closer *b, int id, const int *counts);
// The rows' pay-off for this decision, after the symbols of b->durations.
void box_memory_measure(struct box_closer *b, const int *chosen);
// Removes the rows from b->ids and b->weights; their weights become prices. Returns how many are
// left.
int box_memory_split(struct box_closer *b, int count);
// Changes choices, within the box and with the same layers, until every rank fits. false:
// impossible.
bool box_memory_refit(struct box_closer *b, bool *const *allowed, int *chosen);

// ---- kinds.c
void box_kinds_open(struct box_closer *b);
void box_kinds_clear(struct box_closer *b);              // all prices
double box_kinds_price_most(const struct box_closer *b); // either way, in ns
void box_kinds_put(struct box_closer *b, int kind, int rank, double price_ns);
void box_kinds_charge(struct box_closer *b, const struct choice_box *box);
void box_kinds_note(const struct box_closer *b, struct box_step *step);
void box_kinds_repeat(struct box_closer *b, const struct box_step *step);
// Whether a stage's layers make up this symbol, and not messages.
bool box_is_own(const struct box_closer *b, int symbol);
// Of all choices, whatever a box allows: what a layer of a kind adds to a stage's durations,
// rise[kind
// * symbols + symbol], and what is left without such layers.
void box_kinds_rises(struct box_closer *b, double *rise, double *none);
// Removes what is in no plan of the box, by the numbers of layers of each kind.
void box_narrow(const struct box_closer *b, const struct choice_box *box);
bool box_within_spans(const struct box_closer *b, const struct choice_box *box, const int *chosen);

// ---- plans.c
// Removes from the game the plans that are no longer in the box, and with `real` also those that
// balance.c made up.
void box_drop_plans(struct box_closer *b, bool *const *allowed, bool real);
bool box_drop_made_up(struct box_closer *b, bool *const *allowed); // false: there is none
// Replays the least plan; adds its path and the mean plan's to the game.
void box_learn_from_plan(struct box_closer *b, const struct choice_box *box, struct box_answer *a);

// The split of an open box; by nothing: it has a single decision.
struct box_split box_choose_split(struct box_closer *b, const struct choice_box *box);

// Applies what couples the stages of one rank where the dynamic programme does not know it: removes
// choices on groups that another stage of the rank cannot be on, and choices whose memory, with the
// least of the others, exceeds the limit.
void box_couple_ranks(const struct choices *c, bool *const *allowed);
// Starting paths where a rank has several stages: those that are critical when a rank is heavy, or
// slightly heavier than the others; the first one is for no heavy rank. paths[count * path_size];
// returns count.
int box_rank_paths(struct box_closer *b, const int **paths);
