// Predictions against measurements: who is predicted with which constants, and the scores by source
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
    VALIDATE_TABLE,    // rows with a pipeline, layers' times read off those without one
};

struct validate_settings {
    enum validate_mode mode;
    struct fit_keys keys;
    enum fold_by by;
    int folds;
    double margins[OOM_MARGINS]; // of capacity, for running out of memory; 0: no more
    int64_t margin_bytes;        // kept free besides, of a margin below 1
    double ran_below; // share of capacity: a run measured below it and said not to fit is a false
                      // alarm
};

// Running out of memory, by margin. A run that ran counts where its peak was measured below
// ran_below x capacity, or not at all.
struct oom_scores {
    double margin;
    int caught, total, false_alarms, ran_total, ran_over, ran_all;
};

struct source_scores {
    int file, metric;
    struct scores scores;
    struct oom_scores oom[OOM_MARGINS]; // of the file
    struct oom_scores best; // at the greatest margin that foresees 9 of 10; 0: nothing failed
};

struct validation {
    struct source_scores *sources; // in the order of files, then metrics
    int source_count;
    struct iterations_fit *fits; // [fit_count]: one, or one for each fold
    int fit_count;
    int fitted_rows;                // VALIDATE_STATED: not scored
    struct cell_table_report table; // VALIDATE_TABLE
};

// Fills the runs' predictions, too.
enum status validate(struct validation *v, struct run_set *set, struct predictor *p,
                     const struct validate_settings *settings, struct arena *arena,
                     struct error *err);

void validation_show(const struct validation *v, const struct run_set *set,
                     const struct validate_settings *settings, FILE *to);
void validation_show_json(const struct validation *v, const struct run_set *set,
                          struct arena *arena, FILE *to);
// Every row with what was measured and predicted, for people and programs: comma-separated.
void validation_show_rows(const struct run_set *set, FILE *to);

#endif
