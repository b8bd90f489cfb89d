// What one GPU's products take by their shapes, fitted to measured products: the numbers of
// docs/FORMULAS.md section 3 with intervals, and how far they are from shapes that they have not
// seen.
#ifndef PLUMBLINE_CALIBRATE_FIT_PRODUCTS_H
#define PLUMBLINE_CALIBRATE_FIT_PRODUCTS_H

#include "data/inputs/costs.h"

struct product_sample {
    double rows, columns, depth, seconds;
    bool zeros; // inputs that were nothing but zeros: its multipliers draw less power
};

// The last two are of the measurement and stand in no costs (docs/FORMULAS.md section 10): the FLOP
// of a long product take so many times those of a short one, which ends before power brings the
// clock down (not fitted where its interval holds 1); and a product of zeros reaches so many times
// the rate.
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

// How the samples came about: 1 each where there is nothing to tell.
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
    struct product_errors fitted, kept_back;  // kept back: each shape of weights by a fit that has
                                              // not seen it
    int sample_count, shape_count;            // shapes: columns and depth
};

// Enough shapes, and numbers where the search can begin.
bool products_can_fit(const struct product_sample *samples, int count, const struct gpu_costs *gpu,
                      const struct precision_costs *rates, struct arena *arena);
// gpu, rates: where the search begins, and the number of processors; alone: samples were measured
// one by one, with rests between them. BAD_INPUT: fewer than eight shapes, or a number that the
// search begins at is not stated.
enum status products_fit(struct product_fit *fit, const struct product_sample *samples, int count,
                         bool alone, const struct gpu_costs *gpu,
                         const struct precision_costs *rates, struct arena *arena,
                         struct error *err);
struct product_conditions products_conditions(const struct product_fit *fit);

// How far a GPU's numbers are from these samples.
struct product_errors products_errors(const struct product_sample *samples, int count,
                                      const struct product_conditions *conditions,
                                      const struct gpu_costs *gpu,
                                      const struct precision_costs *rates);

// The fitted numbers in the costs of a GPU: its launch, and the rates of a precision.
void products_put(const struct product_fit *fit, struct gpu_costs *gpu,
                  struct precision_costs *rates, const char *source);

#endif
