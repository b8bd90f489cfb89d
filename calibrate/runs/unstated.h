// What the rows of tables do not state: what was taken, which runs that ran are predicted not to
// fit, and which few columns would explain them.
#ifndef PLUMBLINE_CALIBRATE_RUNS_UNSTATED_H
#define PLUMBLINE_CALIBRATE_RUNS_UNSTATED_H

#include <stdio.h>

#include "calibrate/runs/runs.h"

// Runs of all files that ran and are predicted not to fit, with the unstated values with which they
// would. Nothing if there are none.
void unstated_show_overfull(const struct run_set *set, struct predictor *p, FILE *to);
// One line: what was taken in the file's rows, and what that leaves open.
void unstated_show_assumed(const struct run_set *set, int file, FILE *to);
// The few columns that, stated where they are blank, bring predictions and measurements together,
// as --default takes them, with the scores before and after.
void unstated_suggest(const struct run_set *set, int file, struct predictor *p, struct arena *arena,
                      FILE *to);

#endif
