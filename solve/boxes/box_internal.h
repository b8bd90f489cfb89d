// The inside of closing boxes, for solve/boxes/box.c, split.c and ranks.c
// alone.
#ifndef PLUMBLINE_SOLVE_BOXES_BOX_INTERNAL_H
#define PLUMBLINE_SOLVE_BOXES_BOX_INTERNAL_H

#include "data/places/cluster.h"
#include "formulate/graph/pool.h"
#include "solve/boxes/dynamic.h"
#include "solve/boxes/box.h"
#include "solve/boxes/game.h"

enum { WEIGHTS_MAX = 480 }; // paths in one mixture

struct box_closer {
    const struct choices *c;
    struct graph *g;
    struct arena *arena;
    int stages, symbols;
    struct dynamic *counted, *priced; // tables with and without slots counted exactly
    struct game *game;
    struct path_pool paths;
    int starting_count; // the first so many are the starting paths
    bool (*should_stop)(void *argument);
    void *stop_argument;
    bool started; // the starting paths have been used one by one
    int64_t *coefficients, *durations, *prices;
    int *counts, *chosen, *fitting,
        *plans; // plans[place * stages + stage], beside the game's; -1: no plan
    int64_t **through, **spans_ns;
    int *ids; // scratch of a step
    int64_t *weights;
    int *best_ids, best_count; // weights that gave the box its best bound so far (by ranks)
    int64_t *best_weights;
    // Where ranks have several stages and the programme goes stage by stage (memory.c); else 0
    // rows.
    struct memory_price *memory; // prices of the step at hand
    int memory_count, *wide_counts;
    int64_t memory_limit, memory_scale_ns, *best_memory;
    const struct box_step *beginning; // of the next box; NULL: none
    int step_capacity;
    int64_t removed_ns;    // the least bound of what left the box at hand
    bool last_only_raised; // the last step noted
    bool on_small_table;   // the step at hand
};

bool box_is_stopped(const struct box_closer *b);
// Keeps the plan whose durations stand in b->durations if it fits together and is the best met; its
// path is in b->counts.
void box_meet_plan(struct box_closer *b, const int *chosen, struct box_answer *a);
// b->ids, weights and coefficients as the game has them; how many.
int box_mix_game(struct box_closer *b);
// By ranks: weights to begin the box with, and plans met on the way.
void box_balance(struct box_closer *b, const struct choice_box *box, struct box_answer *a);

// Rows of memory beside the paths of the game; prices 0.
void box_memory_open(struct box_closer *b);
void box_memory_begin(struct box_closer *b, int64_t target_ns);            // of a box
void box_memory_repeat(struct box_closer *b, const struct box_step *step); // its prices
void box_game_add_path(struct box_closer *b, int id, const int *counts);
// What the rows pay for this decision, behind the symbols of b->durations.
void box_memory_measure(struct box_closer *b, const int *chosen);
// b->ids and b->weights without the rows, whose weights become prices; how many are left.
int box_memory_split(struct box_closer *b, int count);
// Changes choices, within the box and on the same layers, until every rank fits. false: it does
// not.
bool box_memory_refit(struct box_closer *b, bool *const *allowed, int *chosen);

// ---- plans.c
// Plans that the box has lost leave the game, and those that balance made up where `real` is asked.
void box_drop_plans(struct box_closer *b, bool *const *allowed, bool real);
bool box_drop_made_up(struct box_closer *b, bool *const *allowed); // false: there is none
// Replays the least plan; its path and the mean plan's join the game.
void box_learn_from_plan(struct box_closer *b, const struct choice_box *box, struct box_answer *a);

// The split of an open box. 0: it holds one decision.
int box_choose_split(struct box_closer *b, const struct choice_box *box, struct box_answer *a);

// What couples the stages of one rank, where the dynamic programme does not know it: takes away
// choices on groups that another stage of the rank cannot stand on, and choices whose memory with
// the least of the others exceeds the limit.
void box_couple_ranks(const struct choices *c, bool *const *allowed);
// Paths to begin with where a rank has several stages: critical ones when a rank is heavy, or a
// little heavier than the others; the first when none is. paths[count * path_size], count
int box_rank_paths(struct box_closer *b, int **paths);

#endif
