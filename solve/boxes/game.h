// The matrix game behind the Lagrangian bound: one side mixes paths, the other mixes plans; the
// pay-off is the length per lap of the path with the plan's durations. The value of the game over
// all paths and plans is the best bound that any path weights can give. It is solved here for the
// few paths and plans found so far; each solution gives the next of both. Weights are found in
// floating point and only their rounding down to 2^-40 counts: any weights give a valid bound.
#ifndef PLUMBLINE_SOLVE_BOXES_GAME_H
#define PLUMBLINE_SOLVE_BOXES_GAME_H

#include <stdint.h>

#include "data/base/arena.h"

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

#endif
