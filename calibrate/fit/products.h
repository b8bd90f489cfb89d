// What one GPU's products take by their shapes, fitted to products that were measured alone: the
// four numbers of docs/FORMULAS.md section 3 with intervals, and how far they are from shapes that
// they have not seen.
#ifndef PLUMBLINE_CALIBRATE_FIT_PRODUCTS_H
#define PLUMBLINE_CALIBRATE_FIT_PRODUCTS_H

#include "data/inputs/costs.h"

struct product_sample {
    double rows, columns, depth, seconds;
};

enum product_number { PRODUCT_TILES, PRODUCT_FLOP, PRODUCT_BYTES, PRODUCT_LAUNCH, PRODUCT_NUMBERS };

// Mean errors |predicted / measured - 1|: of all samples, and of those with at least 1,024 rows.
struct product_errors {
    double all, long_ones;
};

struct product_fit {
    struct estimate numbers[PRODUCT_NUMBERS]; // rounded to four digits; 95 % intervals over shapes
    struct product_errors fitted, kept_back;  // kept back: each shape of weights by a fit that has
                                              // not seen it
    int sample_count, shape_count;            // shapes: columns and depth
};

// Enough shapes, and numbers where the search can begin.
bool products_can_fit(const struct product_sample *samples, int count, const struct gpu_costs *gpu,
                      const struct precision_costs *rates, struct arena *arena);
// gpu, rates: where the search begins, and the number of processors. BAD_INPUT: fewer than eight
// shapes, or a number that the search begins at is not stated.
enum status products_fit(struct product_fit *fit, const struct product_sample *samples, int count,
                         const struct gpu_costs *gpu, const struct precision_costs *rates,
                         struct arena *arena, struct error *err);

// How far a GPU's numbers are from these samples.
struct product_errors products_errors(const struct product_sample *samples, int count,
                                      const struct gpu_costs *gpu,
                                      const struct precision_costs *rates);

// The fitted numbers in the costs of a GPU: its launch, and the rates of a precision.
void products_put(const struct product_fit *fit, struct gpu_costs *gpu,
                  struct precision_costs *rates, const char *source);

#endif
