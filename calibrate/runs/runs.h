// Measured runs: the rows of one or several tables, which of them are fitted on and scored, their
// groups, and the prediction for each.
#ifndef PLUMBLINE_CALIBRATE_RUNS_RUNS_H
#define PLUMBLINE_CALIBRATE_RUNS_RUNS_H

#include "calibrate/runs/filter.h"
#include "calibrate/runs/scores.h"
#include "formulate/predict/predict.h"

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
bool metric_is_rate(int metric); // more is better

// The prediction of the row's metric, in the unit of row.value; NAN: not available.
double run_prediction(const struct run_row *row, const struct prediction *x);

#endif
