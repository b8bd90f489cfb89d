// Solves the program of placements (tests/support/placed_program/program.h) by glp_intopt, with
// path rows from replays of each replica: a second way to the best placement, which shares neither
// the search nor the bounds of the first. Floating point: it proves nothing.
#pragma once

#include "solve/places/placed.h"

struct placed_milp_settings {
    bool here;                   // not in a process of its own
    double time_limit_s;         // 0: none
    int64_t cut_off_ns;          // only plans below it are wanted; 0: none
    int64_t memory_limit_bytes;  // of its process; 0: none
    bool (*should_stop)(void *); // may be NULL
    void *argument;
};

struct placed_milp_result {
    bool finished;         // GLPK reports an optimum, or that there is none
    bool found;            // *plan was filled, and timed by replay
    int columns, rows;     // of the program, with the starting path rows
    const char *sidelined; // NULL, or what went wrong
};

enum status placed_milp(struct placed_milp_result *r, struct placed_plan *plan, struct placed *p,
                        const struct placed_milp_settings *settings, struct arena *arena,
                        struct error *err);
