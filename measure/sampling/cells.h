// Which operations are measured, at which sizes: the kernels and the layers of a model, at token
// counts that fit the budget. cells.c: kernels; cells_layers.c: whole layers and the optimizer;
// cells_compress.c: compression.
#ifndef PLUMBLINE_MEASURE_SAMPLING_CELLS_H
#define PLUMBLINE_MEASURE_SAMPLING_CELLS_H

#include "measure/sampling/cell.h"

enum { CELLS_LIST_MAX = 16, REPETITIONS_MIN = 8 };

// What a user asks for as a list: "1,2,4".
struct cells_list {
    int64_t values[CELLS_LIST_MAX];
    int count;
};

struct cells_request {
    const struct shape *shapes;
    int shape_count;
    struct cells_list tensors, contexts, micro_batches, ranks;
    bool recompute[PASS_COUNT]; // by enum pass: PASS_BACKWARD_SELECTIVE, PASS_BACKWARD_FULL
    bool fused;                 // attention is the fused one
    bool graphs;                // whole layers once more as a graph
    bool quick; // two sizes of a kernel instead of three, and none that no cost needs
    int64_t sequence;
    enum precision precision;
    int threads;
    double largest_s; // a repetition at a kernel's largest size should take about this long
    double gemm_flop_per_s, copy_bytes_per_s; // a first guess, for choosing sizes only
};

// What the first guess is made from: one product and one copy.
void cells_probe(struct cell cells[2]);

// Kernels, layers, the optimizer's step, low-rank compression: what costs are made from. Every cell
// undone and without repetitions. Layers that take far too long even at their least sequence are
// left out.
void cells_choose(struct cell **cells, int *cell_count, const struct cells_request *request,
                  struct arena *arena);

// Compression alone: low rank at request->ranks, a hundredth and a tenth kept, 8, 4 and 1 bits,
// over a ladder of sizes of messages of the shapes, up to sequence x micro-batch rows of the hidden
// width.
void cells_choose_compression(struct cell **cells, int *cell_count,
                              const struct cells_request *request, struct arena *arena);

// Repetitions that a run cannot avoid, in units of request->largest_s: for dividing a budget.
double cells_least_work(const struct cells_request *request);
double cells_least_work_of_compression(const struct cells_request *request);

#endif
