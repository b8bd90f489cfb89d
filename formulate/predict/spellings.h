// How tables spell what they hold.
#pragma once

#include "formulate/predict/row.h"

enum { NUMBER_MAX = 64 };
// "1,602" -> "1602", in the buffer; other cells as they are.
struct cell cell_without_separators(struct cell cell, char buffer[NUMBER_MAX]);
// A measured value, perhaps with k (thousands), M (millions) or % at its end. A blank one is left.
// *unit: UNIT_SHARE where it ends with %, else left, too.
enum status value_read(const struct table *t, int column, double *value, enum run_unit *unit,
                       struct error *err);

// A unit in any usual spelling ("tok/s/GPU", "tokens per second"); BAD_INPUT names all.
enum status run_unit_read(const struct table *t, int column, double *factor, enum run_unit *unit,
                          struct error *err);

// A precision by its name or by that of its recipe ("FP8-MX", "mxfp8", "tensorwise").
enum status precision_read(const struct table *t, int column, int *precision, struct error *err);

// Whether a column that is not read changes what runs; *known: the column that it is here, NULL:
// none.
bool column_is_foreign(struct cell name, const char **known);

// Of own columns the nearest to a name, by its own name or by one that others have for it. `close`:
// NULL unless it is likely the one that is meant.
const char *column_nearest(const char *name, const char *const *own, int count, bool close,
                           struct arena *arena);
