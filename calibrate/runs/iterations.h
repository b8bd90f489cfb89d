// Constants out of whole iterations: a handful of the costs' numbers, chosen by name, so that
// predictions come as near as they can to what was measured on stated rows. Levenberg-Marquardt on
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
    bool by_likelihood; // of runs that failed, that ran, that were measured: allocator_factor alone
    int count;
    struct fit_key items[FIT_KEYS_MAX];
};

// "gemm_flop_per_s,layer_overhead_s"; "a+b" is one constant for both, as is one name for all GPUs
// and precisions among the rows: they are scaled together. BAD_INPUT: none such, twice, too many.
enum status fit_keys_read(struct fit_keys *k, const char *text, struct arena *arena,
                          struct error *err);

struct fitted {
    double value, low, high;
}; // 95 % by the fit's own covariance, normal residuals assumed

#define OPTION_LIKELIHOOD(to)                                                                      \
    {                                                                                              \
        "--likelihood", OPTION_FLAG, (to), 0, 0, NULL,                                             \
            "with --fit allocator_factor: fit to failed (metric oom) and completed runs as well "  \
            "as to peaks"                                                                          \
    }
// BAD_INPUT: asked for other constants than allocator_factor.
enum status fit_keys_by_likelihood(struct fit_keys *k, bool asked, struct error *err);

struct iterations_fit {
    struct fit_keys keys;
    struct fitted constants[FIT_KEYS_MAX];
    int rows;              // that it was fitted on
    double mean_abs_error; // of these
    double error_bound; // of one more row with 90 %: the rank after nine tenths of the rows', the
                        // greatest where they are too few; 0: not of times
    int steps;
    const char **gpus; // that these rows ran on: the constants are theirs
    int gpu_count;
    int value_bytes; // of their precisions; 0: several
    int failed, ran; // by likelihood: of the rows those without a peak
    double spread;   // and the deviation of ln(truth / prediction)
};

// Fits on the runs with take[i]; rows that are excluded, not predictable or of a metric that the
// keys say nothing about are left out. The predictor's costs start the search and hold the answer
// afterwards, for every GPU among the rows. BAD_INPUT: fewer rows than constants, or a constant
// that no row depends on.
enum status fit_iterations(struct iterations_fit *fit, const struct fit_keys *keys,
                           struct predictor *p, const struct run_set *set, const bool *take,
                           struct arena *arena, struct error *err);

// Marks the constants in the costs that the fit left behind as fitted: interval, and a source in
// words; the error bound becomes the costs' iteration_spread.
void iterations_put(const struct iterations_fit *fit, struct costs *costs, const char *source);

#endif
