// Costs given as a table: the times of one pipeline stage are derived from the runs without a
// pipeline, cell by cell (one model's shape, tensor degree and micro-batch), and used to predict
// the runs with one. This shows how good schedule, transfers and syncs are when the layers' times
// are known.
#ifndef PLUMBLINE_CALIBRATE_RUNS_CELL_TABLE_H
#define PLUMBLINE_CALIBRATE_RUNS_CELL_TABLE_H

#include "calibrate/runs/runs.h"

struct cell_table_report {
    int cells, rows_fitted, constants;
};

// Predicts every run with pp > 1 whose cell has runs with pp = 1; the others are excluded, each
// with its reason. The predictor's costs are restored afterwards.
enum status predict_by_cells(struct cell_table_report *report, struct predictor *p,
                             struct run_set *set, struct arena *arena, struct error *err);

#endif
