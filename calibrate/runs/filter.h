// Selects rows of a table by conditions on its cells, all of which must hold.
// "pp>1,hidden=1024,notes~fp16,row%5=0"
#ifndef PLUMBLINE_CALIBRATE_RUNS_FILTER_H
#define PLUMBLINE_CALIBRATE_RUNS_FILTER_H

#include "data/text/table.h"

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

#endif
