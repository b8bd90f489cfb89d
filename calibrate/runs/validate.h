// Predictions against measurements: which constants predict which rows, and the scores by source
// and metric. A row is never scored with constants that were fitted on it.
#ifndef PLUMBLINE_CALIBRATE_RUNS_VALIDATE_H
#define PLUMBLINE_CALIBRATE_RUNS_VALIDATE_H

#include <stdio.h>

#include "calibrate/runs/cell_table.h"
#include "calibrate/runs/iterations.h"

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
    int fitted_rows;                // VALIDATE_STATED: not scored
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

#endif
