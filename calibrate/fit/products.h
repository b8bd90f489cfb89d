// Times of one GPU's products by shape, fitted to measured products: the numbers of
// docs/FORMULAS.md section 3 with intervals, and their errors on shapes that they were not fitted
// to.
#ifndef PLUMBLINE_CALIBRATE_FIT_PRODUCTS_H
#define PLUMBLINE_CALIBRATE_FIT_PRODUCTS_H

#include "data/inputs/costs.h"

struct product_sample {
    double rows, columns, depth, seconds;
    bool zeros; // all inputs were zeros, which draws less power
};

// The last two describe the measurement and are not in the costs (docs/FORMULAS.md section 10).
// PRODUCT_LONG: the factor by which a FLOP of a long product takes longer than one of a short
// product, which ends before power lowers the clock (not fitted where its interval contains 1).
// PRODUCT_ZEROS: the factor by which a product of zeros is faster.
enum product_number {
    PRODUCT_TILES,
    PRODUCT_SQUARE, // where the costs state it
    PRODUCT_FLOP,
    PRODUCT_BYTES,
    PRODUCT_LAUNCH,
    PRODUCT_LONG,
    PRODUCT_ZEROS,
    PRODUCT_NUMBERS
};

// Measuring conditions of the samples: 1 each where neither applies.
struct product_conditions {
    double long_factor, zeros_factor;
};

// Mean errors |predicted / measured - 1|: of all samples, and of those with at least 1,024 rows.
struct product_errors {
    double all, long_ones;
};

struct product_fit {
    struct estimate numbers[PRODUCT_NUMBERS]; // rounded to four digits; 95 % intervals over shapes;
                                              // value 0: not fitted
    struct product_errors fitted, kept_back;  // kept back: each shape by a fit without it
    int sample_count, shape_count;            // shapes: columns and depth
};

// Enough shapes, and starting values for the search.
bool products_can_fit(const struct product_sample *samples, int count, const struct gpu_costs *gpu,
                      const struct precision_costs *rates, struct arena *arena);
// gpu, rates: starting values, and the number of processors; alone: samples were measured one by
// one, with rests between them. BAD_INPUT: fewer than eight shapes, or a starting value is not
// stated.
enum status products_fit(struct product_fit *fit, const struct product_sample *samples, int count,
                         bool alone, const struct gpu_costs *gpu,
                         const struct precision_costs *rates, struct arena *arena,
                         struct error *err);
struct product_conditions products_conditions(const struct product_fit *fit);

// Errors of a GPU's numbers on these samples.
struct product_errors products_errors(const struct product_sample *samples, int count,
                                      const struct product_conditions *conditions,
                                      const struct gpu_costs *gpu,
                                      const struct precision_costs *rates);

// Puts the fitted numbers into the costs of a GPU: its launch, and the rates of a precision.
void products_put(const struct product_fit *fit, struct gpu_costs *gpu,
                  struct precision_costs *rates, const char *source);

#endif
