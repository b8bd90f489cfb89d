// What other programs' turns cost a repetition that they interrupt: caches that are filled again,
// in its own processor time.
#ifndef PLUMBLINE_MEASURE_CPU_SWITCHES_H
#define PLUMBLINE_MEASURE_CPU_SWITCHES_H

#include "data/base/arena.h"

// Sums over repetitions of the same cell: of both about their means.
struct switches {
    struct cell_switches {
        double count, seconds, switches; // the number of repetitions, and means
    } * cells;
    double squares, products;
};

void switches_begin(struct switches *s, int cell_count, struct arena *arena);
long switches_now(void); // of this process, against its will
// The seconds of one more repetition of a cell, without what the switches in it cost.
double switches_take_out(struct switches *s, int cell, double seconds, double switches);

#endif
