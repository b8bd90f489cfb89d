// Which operations are measured, at which sizes: the kernels and the layers of a model, at token
// counts that fit the budget. cells.c: kernels; cells_layers.c: whole layers and the optimizer;
// cells_compress.c: compression. cells_parts.c: parts that only some models have.
#ifndef PLUMBLINE_MEASURE_SAMPLING_CELLS_H
#define PLUMBLINE_MEASURE_SAMPLING_CELLS_H

#include "measure/sampling/cell.h"

enum { CELLS_LIST_MAX = 16, REPETITIONS_MIN = 8 };

// A list as given by the user: "1,2,4".
struct cells_list {
    int64_t values[CELLS_LIST_MAX];
    int count;
};

struct cells_request {
    const struct shape *shapes;
    int shape_count;
    struct cells_list tensors, contexts, micro_batches, ranks, experts;
    bool recompute[PASS_COUNT]; // by enum pass: PASS_BACKWARD_SELECTIVE, PASS_BACKWARD_FULL
    bool fused;                 // attention is the fused one
    bool graphs;                // whole layers once more as a graph
    enum recipe recipe;         // of products in 8 bits
    bool yardstick;             // a small layer of fixed sizes follows the cells
    bool cut_layers;            // whole layers of context degrees above 1, too
    bool fp32_gradients;        // of weights are added to fp32 numbers, where those are wider
    bool quick; // two sizes of a kernel instead of three, and only those that costs need
    int64_t sequence;
    enum precision precision;
    int threads;
    double largest_s; // approximate time of a repetition at a kernel's largest size
    double gemm_flop_per_s, copy_bytes_per_s; // a first guess, used only to choose sizes
};

// The basis of the first guess: one product and one copy.
void cells_probe(struct cell cells[2]);

// Kernels, layers, the optimizer's step, low-rank compression: everything that costs are derived
// from. All cells are still without repetitions. Layers that take far too long even at their
// shortest sequence are left out.
void cells_choose(struct cell **cells, int *cell_count, const struct cells_request *request,
                  struct arena *arena);

// Forward and backward of a block, at the largest micro-batch, for turns without a rest; the number
// of cells is even.
void cells_choose_sustained(struct cell **cells, int *cell_count,
                            const struct cells_request *request, struct arena *arena);

// Compression only: low rank at request->ranks, a hundredth and a tenth kept, 8, 4 and 1 bits.
// Sizes range up to messages of sequence x micro-batch rows of the shapes' hidden width.
void cells_choose_compression(struct cell **cells, int *cell_count,
                              const struct cells_request *request, struct arena *arena);

// The unavoidable repetitions of a run, in units of request->largest_s: for dividing a budget.
double cells_least_work(const struct cells_request *request);
double cells_least_work_of_compression(const struct cells_request *request);

#endif
