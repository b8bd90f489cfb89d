// Output of the reports: readable quantities, tables with aligned columns.
#ifndef PLUMBLINE_SOLVE_REPORT_OUT_H
#define PLUMBLINE_SOLVE_REPORT_OUT_H

#include <stdint.h>

#include "data/text/pieces.h"

// "1.234567 s", "12.346 ms", "3.200 us".
const char *report_time(int64_t ns, struct arena *arena);
struct plan;
const char *report_value(const struct plan *plan, int64_t value_ns,
                         struct arena *arena);                     // or bound
const char *report_milliseconds(int64_t ns, struct arena *arena);  // "12.346"
const char *report_gigabytes(int64_t bytes, struct arena *arena);  // "12.35", of 1e9 bytes
int64_t report_gap_millionths(int64_t value_ns, int64_t bound_ns); // rounded up
const char *report_escape_tex(const char *text, struct arena *arena);
void report_csv_text(struct text *out, const char *text); // csv_cell
struct layout;
// "7 5 3 1", of each stage; "-": as the schedule has them.
const char *report_in_flight(const struct layout *l, struct arena *arena);
// Of a script that starts a trainer: a comment that the plan's list is not in it.
void report_put_in_flight(struct text *out, const struct layout *l);
// `width` characters, filled in proportion to share (0..1).
const char *report_bar(double share, int width, struct arena *arena);

// A table, its cells row by row. A column whose cells are all "-" is left out; one without a
// heading holds bars.
struct report_table {
    const char **headings;
    const char *align; // one letter per column: 'l' or 'r'
    int column_count;
    const char **cells;
    int cell_count, cell_capacity;
    struct arena *arena;
};

void report_table_begin(struct report_table *t, const char *const *headings, const char *align,
                        struct arena *arena);
void report_cell(struct report_table *t, const char *text);
int report_column_width(const struct report_table *t,
                        int column); // 0 if all its cells are "-"
void report_table_print(struct text *out, const struct report_table *t);

#endif
