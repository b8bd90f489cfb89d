// The results of a batch as rows of values: filtered, sorted, grouped, written, drawn.
#pragma once

#include "data/base/command.h"
#include "data/text/pieces.h"
#include "solve/batch/batch.h"

enum column {
    COLUMN_NAME,
    COLUMN_ID,
    COLUMN_OUTCOME,
    COLUMN_SEQUENCE,
    COLUMN_PRECISION,
    COLUMN_GPUS,
    COLUMN_TENSOR,
    COLUMN_CONTEXT,
    COLUMN_DATA,
    COLUMN_EXPERT_TENSOR,
    COLUMN_EXPERT,
    COLUMN_PIPELINE,
    COLUMN_VIRTUAL_STAGES,
    COLUMN_MICRO_BATCH,
    COLUMN_SCHEDULE,
    COLUMN_ZERO,
    COLUMN_ITERATION_S,
    COLUMN_OBJECTIVE,
    COLUMN_VALUE_S,
    COLUMN_BOUND_S,
    COLUMN_GAP,
    COLUMN_GAP_ASKED,
    COLUMN_CLAIM,
    COLUMN_TOKENS,
    COLUMN_TFLOPS,
    COLUMN_MFU,
    COLUMN_PRICE_HOUR,
    COLUMN_PRICE_TOKENS,
    COLUMN_RUN_HOURS,
    COLUMN_RUN_PRICE,
    COLUMN_NODES,
    COLUMN_SOLVE_S,
    COLUMN_CERTIFICATE,
    COLUMN_CHECK_S,
    COLUMN_MEMORY,
    COLUMN_HASH,
    COLUMN_REASON,
    COLUMN_SEARCHED,
    COLUMN_LAYOUTS,
    COLUMN_COUNT // followed by the manifest's keys
};

// Where a column is shown by default.
enum show { SHOW_NEVER, SHOW_ALWAYS, SHOW_KNOWN, SHOW_NOT_ONE, SHOW_VARYING };

struct batch_column {
    const char *key, *heading; // in files; for people
    int places;                // -1: a text
    enum show show;
};

struct value {
    const char *text; // NULL: unknown
    double number;    // NAN: a text
};

struct batch_row {
    const struct instance *instance;
    struct value *values; // [column_count]
    int place, group;     // index in the manifest; group by --group
    const struct sorting *sorting;
};

struct sorting {
    int columns[8], count;
    bool falling[8];
};

struct batch_table {
    const struct batch *batch;
    const char *to; // output path, for links; "-": standard output
    struct batch_column *columns;
    int column_count;
    struct batch_row *rows;
    int row_count;
    struct sorting sorting;
    int group;           // its column; -1: none
    const char **groups; // [group_count], in order of appearance
    int group_count;
    struct arena *arena;
};

// rows.c: one for every instance, whatever its state.
enum status table_fill(struct batch_table *t, const struct batch *b, struct arena *arena,
                       struct error *err);

// select.c. BAD_INPUT: no such column, with the nearest name; or no such expression.
enum status table_where(struct batch_table *t, const char *expression, struct error *err);
enum status table_sort(struct batch_table *t, const char *keys, struct error *err);
enum status table_group(struct batch_table *t, const char *key, struct error *err);
// The columns to show: those named, in their order; NULL: those with content.
enum status table_columns(const struct batch_table *t, const char *keys, int **columns, int *count,
                          struct error *err);
const char *value_shown(const struct batch_table *t, const struct batch_row *row, int column);

// write.c, page.c
enum batch_format { BATCH_CSV, BATCH_TEX, BATCH_HTML };
void table_csv(struct text *out, const struct batch_table *t, const int *columns, int count);
void table_tex(struct text *out, const struct batch_table *t, const int *columns, int count);
void table_page(struct text *out, const struct batch_table *t, const int *columns, int count);

// plot.c
enum plot { PLOT_TIME, PLOT_PARETO, PLOT_GAP, PLOT_SCALING, PLOT_COUNT };
extern const char *const plot_names[]; // "time", "pareto", "gap", "scaling"
// false: too little data to draw it; *lacking says what is missing
bool table_plot(struct text *svg, const struct batch_table *t, enum plot plot,
                const char **lacking);

// collect.c
extern const struct command batch_collect, batch_plot;
