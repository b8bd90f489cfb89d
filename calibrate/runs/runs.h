// Measured runs: the rows of one or several tables, which of them are fitted on and scored, their
// groups, and the prediction for each.
#pragma once

#include "formulate/predict/predict.h"
#include "data/inputs/cost_keys.h"

// Selects rows of a table by conditions on its cells, all of which must hold.
// "pp>1,hidden=1024,notes~fp16,row%5=0"

struct condition;

struct filter {
    const char *text; // as given
    const struct condition *conditions;
    int count;
};

// column OP value, OP one of = != < <= > >= ~ (contains) !~, or row%N=K with rows counted from 0.
// The empty text holds for all rows. `what` is the option's name, for messages.
enum status filter_read(struct filter *f, const char *what, const char *text, struct arena *arena,
                        struct error *err);
// For the current row. BAD_INPUT: the table has no such column.
enum status filter_holds(const struct filter *f, const struct table *t, bool *holds,
                         struct error *err);

// How far predictions are from measurements: errors as fractions of the measured value, rank
// correlations, regret, and how well running out of memory was predicted. No averages over
// sources.

enum { GROUP_ROWS_MIN = 4 }; // for a rank correlation and a regret in a group

// One row that was predicted. group: equal for rows of one model, GPU count and global batch; >= 0.
struct scored {
    double measured, predicted;
    double low, high; // range left open by the prediction; NAN: unknown
    int group;
};

// A score for which there are too few rows is NAN.
struct scores {
    int rows;
    double median_abs_error, mean_abs_error, p90_abs_error, mean_error; // mean_error is signed
    double kendall_tau;                                                 // tau-b, mean over groups
    double spearman;                                                    // over all rows
    double regret_median,
        regret_mean; // measured time of the predicted best over the best measured - 1, over groups
    int groups;
    double inside,
        width; // share of rows measured from low to high; mean of (high - low) / predicted
};

// lower_is_better false (rates): the best is the greatest. Scratch is taken from the arena and
// released.
struct scores score_rows(const struct scored *rows, int count, bool lower_is_better,
                         struct arena *arena);

double kendall_tau_b(const double *x, const double *y, int count); // NAN: all of one are equal
double spearman_rho(const double *x, const double *y, int count, struct arena *arena);
double quantile(const double *sorted, int count,
                double share); // linear between the order statistics

struct run {
    struct run_row row;
    int file;  // index in the set's files
    int group; // rows of one file with the same model, GPU count and global batch
    int fold;
    bool fitted_on;       // chosen by the user
    const char *excluded; // why not scored: excluded by the user, not predictable; NULL: scored
    struct prediction prediction;
    double predicted; // in the unit of row.value
    double low, high; // range left open by the costs; NAN: unknown for this metric
};

struct run_file {
    const char *path;
    const char *label; // without folder and extension: the source's name in the scores
    char sha256[SHA256_TEXT];
    const char *ignored;
};

struct run_set {
    struct run *runs;
    int count, capacity;
    struct run_file *files;
    int file_count;
    int group_count;
    bool warned_of_notes; // the user was told that notes are not read
    struct arena *arena;
};

enum fold_by { FOLD_BY_ROW, FOLD_BY_CELL, FOLD_BY_MODEL };
extern const char *const fold_by_names[]; // "row", "cell" (hidden, tp, micro-batch), "model"

struct run_choice {
    struct filter rows;     // those used at all
    struct filter fit_rows; // which are fitted on
    bool fits;              // fit_rows is given
    const char *exclude;    // ids, "a,b"; NULL: none
    const char *defaults;   // for blank cells
    bool read_notes;        // interpret words in notes and source
};
#define READ_NOTES_ROW(offset)                                                                     \
    {                                                                                              \
        "--read-notes", OPTION_FLAG, offset, "read missing columns from words in notes and source" \
    }

// Appends the file's rows. Rows without a value are excluded, with that reason.
enum status runs_add(struct run_set *set, const char *path, const struct run_choice *choice,
                     struct error *err);

// Deals rows into folds: by row number, or keeping all rows of a cell or a model together. folds
// 0: one for each. Returns the number of folds.
int runs_deal(struct run_set *set, enum fold_by by, int folds);

bool metric_is_time(int metric); // iteration, layers, rates
bool metric_is_memory(int metric);
bool metric_is_share(int metric); // of a peak
bool metric_is_rate(int metric);  // more is better

// The prediction of the row's metric, in the unit of row.value; NAN: not available.
double run_prediction(const struct run_row *row, const struct prediction *x);

// Costs given as a table: the times of one pipeline stage are derived from the runs without a
// pipeline, cell by cell (one model's shape, tensor degree and micro-batch), and used to predict
// the runs with one. This shows how good schedule, transfers and syncs are when the layers' times
// are known.

struct cell_table_report {
    int cells, rows_fitted, constants;
};

// Predicts every run with pp > 1 whose cell has runs with pp = 1; the others are excluded, each
// with its reason. The predictor's costs are restored afterwards.
enum status predict_by_cells(struct cell_table_report *report, struct predictor *p,
                             struct run_set *set, struct arena *arena, struct error *err);

// Constants from whole iterations: a few of the costs' numbers, chosen by name, fitted so that
// predictions are as close as possible to the measurements of stated rows. Levenberg-Marquardt on
// the logarithm of predicted / measured (D).

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

// The allocator's factor by likelihood, from the runs of a set (calibrate/fit/fit.h).

// Uses rows of metric oom, measured peaks and, if a file has none of these, its timed rows, which
// ran. Leaves the factor in the predictor's costs. BAD_INPUT as factor_fit.
enum status fit_memory(struct iterations_fit *fit, struct predictor *p, const struct run_set *set,
                       const bool *take, struct arena *arena, struct error *err);

// Whether a run proves that it ran: in a file with measured peaks, those runs do; otherwise all
// timed ones.
bool file_has_peaks(const struct run_set *set, int file);
bool run_ran(const struct run *run, bool file_has_peaks);

// What the rows of tables do not state: what was taken, which runs that ran are predicted not to
// fit, and which few columns would explain them.

// Runs of all files that ran and are predicted not to fit, with the unstated values with which they
// would. Nothing if there are none.
void unstated_show_overfull(const struct run_set *set, struct predictor *p, FILE *to);
// One line: what was taken in the file's rows, and what that leaves open.
void unstated_show_assumed(const struct run_set *set, int file, FILE *to);
// The few columns that, stated where they are blank, bring predictions and measurements together,
// as --default takes them, with the scores before and after.
void unstated_suggest(const struct run_set *set, int file, struct predictor *p, FILE *to);

// Predictions against measurements: which constants predict which rows, and the scores by source
// and metric. A row is never scored with constants that were fitted on it.

enum { OOM_MARGINS = 5 };

enum validate_mode {
    VALIDATE_AS_GIVEN, // with the costs as they are
    VALIDATE_FOLDS,    // each fold with constants fitted on the others
    VALIDATE_STATED,   // all rows but the stated ones, with constants fitted on those
    VALIDATE_TABLE,    // rows with a pipeline, with layer times derived from those without
};

struct validate_settings {
    enum validate_mode mode;
    struct fit_keys keys;
    enum fold_by by;
    int folds;
    double margins[OOM_MARGINS]; // of capacity, for running out of memory; 0: end of list
    int64_t margin_bytes;        // kept free in addition, if a margin is below 1
    double ran_below; // share of capacity: a run measured below it but predicted not to fit is a
                      // false alarm
};

// Running out of memory, by margin. A run that succeeded counts if its measured peak was below
// ran_below x capacity, or was not measured.
struct oom_scores {
    double margin;
    int caught, total, false_alarms, ran_total, ran_over, ran_all;
};

struct source_scores {
    int file, metric;
    struct scores scores;
    struct oom_scores oom[OOM_MARGINS]; // of the file
    struct oom_scores best; // at the greatest margin that predicts 9 of 10; 0: nothing failed
};

struct validation {
    struct source_scores *sources; // in the order of files, then metrics
    int source_count;
    struct iterations_fit *fits; // [fit_count]: one, or one for each fold
    int fit_count;
    struct cell_table_report table; // VALIDATE_TABLE
};

// Also fills in the runs' predictions.
enum status validate(struct validation *v, struct run_set *set, struct predictor *p,
                     const struct validate_settings *settings, struct arena *arena,
                     struct error *err);

void validation_show(const struct validation *v, const struct run_set *set,
                     const struct validate_settings *settings, FILE *to);
void validation_show_json(const struct validation *v, const struct run_set *set,
                          struct arena *arena, FILE *to);
// Every row with measurement and prediction, for people and programs: comma-separated.
void validation_show_rows(const struct run_set *set, struct arena *arena, FILE *to);
