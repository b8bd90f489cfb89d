// Constants from whole iterations: a few of the costs' numbers, chosen by name, fitted so that
// predictions are as close as possible to the measurements of stated rows. Levenberg-Marquardt on
// the logarithm of predicted / measured (D).
#ifndef PLUMBLINE_CALIBRATE_RUNS_ITERATIONS_H
#define PLUMBLINE_CALIBRATE_RUNS_ITERATIONS_H

#include "calibrate/runs/runs.h"
#include "data/inputs/cost_keys.h"

enum { FIT_KEYS_MAX = 16, FIT_TIED_MAX = 4 };

// One constant: a number of the costs, or several that keep their ratio.
struct fit_key {
    int keys[FIT_TIED_MAX], count;
    const char *name;
}; // of cost_keys

struct fit_keys {
    bool by_likelihood; // from runs that failed, ran, or have peaks: only allocator_factor
    int count;
    struct fit_key items[FIT_KEYS_MAX];
};

// "gemm_flop_per_s,layer_overhead_s"; "a+b" is one constant for both. One name covers all GPUs and
// precisions among the rows: they are scaled together. BAD_INPUT: no such constant, twice, or too
// many.
enum status fit_keys_read(struct fit_keys *k, const char *text, struct arena *arena,
                          struct error *err);

struct fitted {
    double value, low, high;
}; // 95 % by the fit's own covariance, normal residuals assumed

#define LIKELIHOOD_ROW(offset)                                                                     \
    {                                                                                              \
        "--likelihood", OPTION_FLAG, offset,                                                       \
            "with --fit allocator_factor: fit to failed (metric oom) and completed runs as well "  \
            "as to peaks"                                                                          \
    }
// BAD_INPUT: constants other than allocator_factor were requested.
enum status fit_keys_by_likelihood(struct fit_keys *k, bool asked, struct error *err);

struct iterations_fit {
    struct fit_keys keys;
    struct fitted constants[FIT_KEYS_MAX];
    int rows;              // that it was fitted on
    double mean_abs_error; // of these
    double error_bound;    // 90 % bound for one more row: the rank after nine tenths of the rows'
                           // errors, the greatest if there are too few; 0: not of times
    int steps;
    const char **gpus; // on which these rows ran, and to which the constants apply
    int gpu_count;
    int value_bytes; // of their precisions; 0: several
    int failed, ran; // by likelihood: the rows without a peak
    double spread;   // and the standard deviation of ln(truth / prediction)
};

// Fits on the runs with take[i]; excluded or unpredictable rows are left out, and rows whose
// metric the keys do not affect. The predictor's costs are the starting point and hold the result
// afterwards, for every GPU among the rows. BAD_INPUT: fewer rows than constants, or a constant
// that no row depends on.
enum status fit_iterations(struct iterations_fit *fit, const struct fit_keys *keys,
                           struct predictor *p, const struct run_set *set, const bool *take,
                           struct arena *arena, struct error *err);

// Marks the constants that the fit left in the costs as fitted, with interval and source in words;
// the error bound becomes the costs' iteration_spread.
void iterations_put(const struct iterations_fit *fit, struct costs *costs, const char *source);

#endif
