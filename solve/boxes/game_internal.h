// Internals of the game, for solve/boxes/game*.c alone.
#ifndef PLUMBLINE_SOLVE_BOXES_GAME_INTERNAL_H
#define PLUMBLINE_SOLVE_BOXES_GAME_INTERNAL_H

#include "solve/boxes/game.h"

struct game {
    int symbols, path_size, paths_max, plans_max, path_count, plan_count;
    int *ids;                   // [path], the caller's
    int *counts;                // [path * path_size + symbol]
    int *passed, *passed_count; // [path * symbols + i]: the symbols on a path; their number
    int64_t *durations;         // [plan * symbols + symbol]
    double *length;             // [path * plans_max + plan]
    double *path_regret, *plan_regret, *path_share, *plan_share, *path_play, *plan_play, *path_gain,
        *plan_gain;
    double *tableau; // of the exact solution
    int *row_is, *column_is;
};

#endif
