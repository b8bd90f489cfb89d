// Shared by the files that choose cells.
#ifndef PLUMBLINE_MEASURE_SAMPLING_CELLS_TAKE_H
#define PLUMBLINE_MEASURE_SAMPLING_CELLS_TAKE_H

#include "data/base/least.h"
#include "measure/sampling/cells.h"

enum { MATRIX_VALUES_MAX = 1 << 28, SIZES = 3 };

struct chooser {
    const struct cells_request *request;
    const struct shape *shape; // the current one, like the tensor and context degrees
    int64_t tensor, context;
    struct cell *cells;
    int count, capacity;
    struct arena *arena;
};

// With as many dimensions as are above 0.
struct cell *cells_add(struct chooser *c, enum work work, enum sample_kind kind,
                       const char *operation, double flop, double bytes,
                       const int64_t dimensions[4]);
#define SIZE(...) ((const int64_t[4]){__VA_ARGS__})

// The smallest of three sizes; the largest, four times this, takes about the requested time and is
// at most `limit`.
int64_t cells_quarter(double seconds_per_unit, double largest_s, int64_t limit);
// The number of sizes in a ladder, and the factor between them: a quarter, a half, the whole; or a
// quarter and the whole.
int cells_sizes(const struct cells_request *request);
int64_t cells_step(const struct cells_request *request);

int64_t cells_largest(const struct cells_list *list);
int64_t cells_smallest(const struct cells_list *list);

// The three products of a linear layer, at the same sizes. experts: of so many layers together,
// each with its share of the rows; 0: of one.
void cells_add_products(struct chooser *c, const char *operation, int64_t columns, int64_t inner,
                        int64_t experts);

void cells_add_experts(struct chooser *c);
void cells_add_elementwise(struct chooser *c);
// Of the shape: rows of `width` values, once more as many of the gate where it is gated.
struct cell *cells_add_activation(struct chooser *c, int64_t rows, int64_t width, bool backward);
void cells_add_low_rank(struct chooser *c, int64_t rank);
// One pass of the chooser's shape and degrees; of `what` the kind, the pass, the gradients and
// whether it is a graph.
struct cell *cells_add_pass(struct chooser *c, const struct layer_cell *what, int64_t micro_batch,
                            int64_t sequence);
void cells_add_layers(struct chooser *c);
// A small layer of fixed sizes, forward and backward, which tells how fast the machine is now.
struct cell *cells_add_yardstick(struct chooser *c);
void cells_add_optimizer(struct chooser *c);

// In units of request->largest_s.
double cells_layers_work(const struct cells_request *request);

#endif
