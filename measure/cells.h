// Which operations are measured, at which sizes: the parts of one block of a model, at token counts that fit the
// budget.
#ifndef PLUMBLINE_MEASURE_CELLS_H
#define PLUMBLINE_MEASURE_CELLS_H

#include "measure/cell.h"

struct cells_request {
    struct shape shape;
    int64_t tensor, micro_batch, sequence, rank;
    enum precision precision;
    int threads;
    double largest_s;           // a repetition at the largest size should take about this long
    double gemm_flop_per_s, copy_bytes_per_s;   // a first guess, for choosing sizes only
};

// What the first guess is made from: one product and one copy.
void cells_probe(struct cell cells[2]);

// Three sizes (a quarter, a half, the whole) of every operation; every cell undone and without repetitions.
void cells_choose(struct cell **cells, int *cell_count, const struct cells_request *request, struct arena *arena);

enum { REPETITIONS_MIN = 8 };

// Repetitions that a run cannot avoid, in units of the largest size's time: for dividing a budget.
double cells_least_work(void);

#endif
