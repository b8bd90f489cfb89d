// The order of passes on each rank, by the checker's own table of schedules (read/problem.h has
// their properties).
#pragma once

#include "solve/checker/read/problem.h"

enum check_pass { PASS_F, PASS_B, PASS_W };
struct check_turn {
    enum check_pass pass;
    int micro_batch, turn, slice;
}; // turn: which of the rank's stages

// The order of one rank's passes: turns[check_turn_count].
int check_turn_count(const struct check_problem *p);
enum status check_order_turns(const struct check_problem *p, int rank, struct check_turn *turns);
