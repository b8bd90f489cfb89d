// The results of a batch as rows of values: filtered, sorted, grouped, written, drawn.
#pragma once

#include "data/text/pieces.h"
#include "solve/batch/batch.h"

// Where a column is shown by default.
enum show { SHOW_NEVER, SHOW_ALWAYS, SHOW_KNOWN, SHOW_NOT_ONE, SHOW_VARYING };

struct batch_column {
    const char *key, *heading; // in files; for people
    int places;                // -1: a text
    enum show show;
};

// COLUMN(constant after COLUMN_, the members of struct batch_column ...)
#define BATCH_COLUMNS(COLUMN)                                                                      \
    COLUMN(NAME, "name", "Instance", -1, SHOW_ALWAYS)                                              \
    COLUMN(ID, "id", "Id", -1, SHOW_NEVER)                                                         \
    COLUMN(OUTCOME, "outcome", "Outcome", -1, SHOW_VARYING)                                        \
    COLUMN(SEQUENCE, "sequence", "Sequence", 0, SHOW_KNOWN)                                        \
    COLUMN(PRECISION, "precision", "Precision", -1, SHOW_KNOWN)                                    \
    COLUMN(GPUS, "gpus", "GPUs", 0, SHOW_KNOWN)                                                    \
    COLUMN(TENSOR, "tensor", "Tensor", 0, SHOW_NOT_ONE)                                            \
    COLUMN(CONTEXT, "context", "Context", 0, SHOW_NOT_ONE)                                         \
    COLUMN(DATA, "data", "Data", 0, SHOW_NOT_ONE)                                                  \
    COLUMN(EXPERT_TENSOR, "expert_tensor", "Expert tensor", 0, SHOW_VARYING)                       \
    COLUMN(EXPERT, "expert", "Expert", 0, SHOW_NOT_ONE)                                            \
    COLUMN(PIPELINE, "pipeline", "Pipeline", 0, SHOW_NOT_ONE)                                      \
    COLUMN(VIRTUAL_STAGES, "virtual_stages", "Virtual stages", 0, SHOW_NOT_ONE)                    \
    COLUMN(MICRO_BATCH, "micro_batch", "Micro-batch", 0, SHOW_NOT_ONE)                             \
    COLUMN(SCHEDULE, "schedule", "Schedule", -1, SHOW_VARYING)                                     \
    COLUMN(ZERO, "zero", "ZeRO", 0, SHOW_VARYING)                                                  \
    COLUMN(ITERATION_S, "iteration_s", "Time (s)", 9, SHOW_ALWAYS)                                 \
    COLUMN(OBJECTIVE, "objective", "Objective", -1, SHOW_VARYING)                                  \
    COLUMN(VALUE_S, "objective_s", "Objective (s)", 9, SHOW_NEVER)                                 \
    COLUMN(BOUND_S, "bound_s", "Bound (s)", 9, SHOW_ALWAYS)                                        \
    COLUMN(GAP, "gap_percent", "Gap (%)", 4, SHOW_ALWAYS)                                          \
    COLUMN(GAP_ASKED, "gap_asked_percent", "Requested gap (%)", 4, SHOW_KNOWN)                     \
    COLUMN(CLAIM, "claim", "Claim", -1, SHOW_VARYING)                                              \
    COLUMN(TOKENS, "tokens_per_s", "Tokens/s", 0, SHOW_KNOWN)                                      \
    COLUMN(TFLOPS, "tflops_per_gpu", "TFLOP/s per GPU", 1, SHOW_NEVER)                             \
    COLUMN(MFU, "mfu_percent", "MFU (%)", 2, SHOW_KNOWN)                                           \
    COLUMN(PRICE_HOUR, "price_per_hour", "Price per hour", 2, SHOW_NEVER)                          \
    COLUMN(PRICE_TOKENS, "price_per_million_tokens", "Price per million tokens", 4, SHOW_KNOWN)    \
    COLUMN(RUN_HOURS, "run_hours", "Run (hours)", 1, SHOW_KNOWN)                                   \
    COLUMN(RUN_PRICE, "run_price", "Price of the run", 0, SHOW_KNOWN)                              \
    COLUMN(NODES, "search_nodes", "Search nodes", 0, SHOW_KNOWN)                                   \
    COLUMN(SOLVE_S, "solve_s", "Solve (s)", 2, SHOW_KNOWN)                                         \
    COLUMN(CERTIFICATE, "certificate_kb", "Certificate (kB)", 1, SHOW_KNOWN)                       \
    COLUMN(CHECK_S, "check_s", "Check (s)", 3, SHOW_KNOWN)                                         \
    COLUMN(MEMORY, "solver_memory_mb", "Solver's memory (MB)", 0, SHOW_NEVER)                      \
    COLUMN(HASH, "certificate_sha256", "Certificate", -1, SHOW_NEVER)                              \
    COLUMN(REASON, "reason", "Reason", -1, SHOW_KNOWN)                                             \
    COLUMN(SEARCHED, "searched", "Searched", -1, SHOW_VARYING)                                     \
    COLUMN(LAYOUTS, "layouts", "Layouts", -1, SHOW_NEVER)
#define COLUMN_CONSTANT(constant, ...) COLUMN_##constant,
// Followed by the manifest's keys.
enum column { BATCH_COLUMNS(COLUMN_CONSTANT) COLUMN_COUNT };
#undef COLUMN_CONSTANT

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
