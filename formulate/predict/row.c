// Rows of runs: one table of columns states what each cell must hold and where it is stored.
#include "data/kinds/schedules.h"
#include "formulate/predict/row.h"

#include <math.h>
#include <string.h>

#include "data/inputs/model/model.h"

#define METRIC_NAME(constant, name) name,
const char *const run_metric_names[] = {RUN_METRICS(METRIC_NAME) NULL};
#undef METRIC_NAME

static const char *const memory_of_names[] = {"fullest", "ends", "last", "allocator", NULL};

enum field_type {
    FIELD_TEXT,
    FIELD_WHOLE,
    FIELD_FLASH,
    FIELD_UNFUSED,
    FIELD_RECOMPUTE,
    FIELD_LIST,
    FIELD_PRECISION,
    FIELD_RATIO,
    FIELD_METRIC,
    FIELD_VALUE,
    FIELD_UNIT
};

struct field {
    const char *name;
    enum field_type type;
    size_t offset;
    int64_t low, high;
    const char *const *names;
};

#define AT(member) offsetof(struct run_row, member)
#define WHOLE(name, low, high)                                                                     \
    {                                                                                              \
#name, FIELD_WHOLE, AT(name), low, high, NULL                                              \
    }
#define TEXT(name)                                                                                 \
    {                                                                                              \
#name, FIELD_TEXT, AT(name), 0, 0, NULL                                                    \
    }

static const struct field fields[] = {
    TEXT(id),
    TEXT(source),
    TEXT(model),
    TEXT(gpu),
    TEXT(notes),
    TEXT(split),
    TEXT(framework),
    TEXT(version),
    WHOLE(num_gpus, 1, 1 << 24),
    WHOLE(layers, 1, 4000),
    WHOLE(hidden, 1, 1 << 20),
    WHOLE(ffn, 1, 1 << 22),
    WHOLE(heads, 1, 65536),
    WHOLE(kv_heads, 1, 65536),
    WHOLE(head_width, 1, 1 << 20),
    WHOLE(document_tokens, 1, 1 << 24),
    WHOLE(lora_rank, 0, 65536),
    WHOLE(lora_dropout, 0, 1),
    WHOLE(frozen_bits, 1, 16),
    TEXT(lora_modules),
    WHOLE(query_rank, 0, 1 << 20),
    WHOLE(kv_rank, 0, 1 << 20),
    WHOLE(rotary_width, 0, 1 << 20),
    WHOLE(value_width, 0, 1 << 20),
    WHOLE(experts, 1, EXPERTS_MAX),
    WHOLE(top_k, 1, EXPERTS_MAX),
    WHOLE(expert_ffn, 1, 1 << 22),
    WHOLE(shared_ffn, 0, 1 << 22),
    WHOLE(dense_layers, 0, 4000),
    {"imbalance", FIELD_RATIO, AT(imbalance), 1, 0, NULL},
    {"expert_padding", FIELD_RATIO, AT(expert_padding), 0, 0, NULL},
    WHOLE(vocab, 1, 1 << 26),
    WHOLE(positions, 0, 1 << 24),
    WHOLE(seq, 1, 1 << 24),
    WHOLE(tp, 1, 65536),
    WHOLE(pp, 1, STAGES_MAX),
    WHOLE(cp, 1, 65536),
    WHOLE(dp, 1, 65536),
    WHOLE(dp_shard, 1, 65536),
    WHOLE(ep, 1, 65536),
    WHOLE(etp, 1, 65536),
    WHOLE(vpp, 1, STAGES_MAX),
    WHOLE(micro_batch, 1, 1 << 20),
    WHOLE(global_batch, 1, 1 << 30),
    WHOLE(sp, 0, 1),
    WHOLE(zero, 0, 3),
    WHOLE(gpus_per_node, 1, 1024),
    WHOLE(gated, 0, 1),
    WHOLE(rms_norm, 0, 1),
    WHOLE(tied, 0, 1),
    WHOLE(dropout, 0, 1),
    WHOLE(bias, 0, 1),
    WHOLE(gradient_bytes, 2, 4),
    WHOLE(adam, 0, 1),
    WHOLE(state_bytes, 1, STATE_BYTES_MAX),
    WHOLE(overlap, 0, 1),
    WHOLE(overlap_messages, 0, 1),
    WHOLE(overlap_tensor, 0, 1),
    WHOLE(overlap_input_gradients, 0, 1),
    WHOLE(overlap_dispatch, 0, 1),
    WHOLE(fixed_capacity, 0, 1),
    WHOLE(boundary_rank, 0, 1 << 20),
    WHOLE(boundary_drain, 0, 1),
    WHOLE(gradient_rank, 0, 1 << 20),
    WHOLE(fused_loss, 0, 1),
    WHOLE(compiled, 0, 1),
    WHOLE(stopped_recompute, 0, 1),
    WHOLE(gathered_logits, 0, 1),
    WHOLE(gathered_inputs, 0, 1),
    WHOLE(kept_logits, 0, 1),
    WHOLE(loss_in_place, 0, 1),
    WHOLE(fp8_activation_input, 0, 1),
    WHOLE(chunked_loss, 0, 1),
    WHOLE(whole_gradient_sums, 0, 1),
    WHOLE(owner_broadcasts, 0, 1),
    WHOLE(split_gate, 0, 1),
    WHOLE(scattered_messages, 0, 1),
    WHOLE(barrier, 0, 1),
    {"flash", FIELD_FLASH, AT(fused), 0, 0, NULL},
    {"unfused", FIELD_UNFUSED, AT(unfused), 0, 0, NULL},
    {"recompute", FIELD_RECOMPUTE, AT(recompute), 0, 0, NULL},
    {"precision", FIELD_PRECISION, AT(precision), 0, 0, NULL},
    {"schedule", FIELD_LIST, AT(schedule), 0, 0, schedule_names},
    {"trainer", FIELD_LIST, AT(trainer), 0, 0, trainer_names},
    {"dispatcher", FIELD_LIST, AT(dispatcher), 0, 0, dispatcher_names},
    {"expert_products", FIELD_LIST, AT(expert_products), 0, 0, expert_products_names},
    {"graphs", FIELD_LIST, AT(graphs), 0, 0, graphs_names},
    {"context_kind", FIELD_LIST, AT(context_kind), 0, 0, context_kind_names},
    {"checkpoints", FIELD_LIST, AT(checkpoints), 0, 0, checkpoints_names},
    {"memory_of", FIELD_LIST, AT(memory_of), 0, 0, memory_of_names},
    {"metric", FIELD_METRIC, AT(metric), 0, 0, NULL},
    {"value", FIELD_VALUE, AT(value), 0, 0, NULL},
    {"unit", FIELD_UNIT, AT(unit), 0, 0, NULL}, // after value, which it scales
};
enum { FIELD_COUNT = ARRAY_LENGTH(fields) };

// ---- cells

static enum status read_flash(const struct table *t, int column, int *fused, struct error *err)
{
    static const char *const names[] = {"0",    "unfused", "1",       "flash", "te",
                                        "auto", "triton",  "te-2024", NULL};
    static const int kinds[] = {UNFUSED_ATTENTION, UNFUSED_ATTENTION, FUSED_OPEN,   FUSED_OPEN,
                                FUSED_FASTEST,     FUSED_FASTEST,     FUSED_TRITON, FUSED_EARLIER};
    int found = NOT_STATED;
    TRY(table_name(t, column, names, &found, err));
    if (found != NOT_STATED) *fused = kinds[found];
    return OK;
}

// Names separated by blanks.
static enum status read_unfused(const struct table *t, int column, int *unfused, struct error *err)
{
    struct cell cell = t->cells[column];
    int found = 0;
    for (int from = 0, to; from < cell.length; from = to + 1) {
        for (to = from; to < cell.length && cell.text[to] != ' ';) to++;
        struct cell word = {cell.text + from, to - from};
        int name = 0;
        if (cell_is(word, "none")) continue;
        while (unfused_names[name] && !cell_is(word, unfused_names[name])) name++;
        if (!unfused_names[name])
            return table_refuse(t, column, err, "expected norms, rotary, activation, loss or none");
        found |= 1 << name;
    }
    if (cell.length) *unfused = found;
    return OK;
}

// Names of Megatron's modules, joined by '+' in any order; false: it is something else.
static bool read_modules(struct cell cell, int *recompute)
{
    bool asked[MODULE_COUNT] = {false};
    for (int from = 0, to; from < cell.length; from = to + 1) {
        for (to = from; to < cell.length && cell.text[to] != '+';) to++;
        struct cell word = {cell.text + from, to - from};
        int m = 0;
        while (m < MODULE_COUNT && !cell_is(word, recompute_module_names[m])) m++;
        if (m == MODULE_COUNT) return false;
        asked[m] = true;
    }
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++) {
        bool same = true;
        for (int m = 0; m < MODULE_COUNT; m++)
            same = same &&
                   asked[m] == recompute_repeats((enum recompute)mode, (enum recompute_module)m);
        if (!same) continue;
        *recompute = mode;
        return true;
    }
    return false;
}

// full:uniform1 keeps each layer's input, as full does; full:blockN recomputes the first N layers
// of a stage; names of Megatron's modules, joined by '+'.
static enum status read_recompute(const struct table *t, int column, struct run_row *row,
                                  struct error *err)
{
    static const char *const names[] = {"none", "selective", "full", "full:uniform1", NULL};
    static const char block[] = "full:block";
    struct cell cell = t->cells[column];
    int length = (int)strlen(block), found = NOT_STATED;
    if (cell.length > length && cell.length < length + 5 &&
        !memcmp(cell.text, block, (size_t)length)) {
        int layers = 0;
        for (int i = length; i < cell.length && layers >= 0; i++)
            layers = cell.text[i] >= '0' && cell.text[i] <= '9' ? 10 * layers + cell.text[i] - '0'
                                                                : -1;
        if (layers > 0) {
            row->recompute = RECOMPUTE_FIRST_LAYERS;
            row->recomputed_layers = layers;
            return OK;
        }
    }
    if (read_modules(cell, &row->recompute)) return OK;
    TRY(table_name(t, column, names, &found, err));
    if (found != NOT_STATED) row->recompute = found > RECOMPUTE_FULL ? RECOMPUTE_FULL : found;
    return OK;
}

// An unknown metric is no error: the row is listed as one that is not predicted.
static void read_metric(const struct table *t, int column, int *metric)
{
    if (!t->cells[column].length) return;
    *metric = 0;
    while (*metric < METRIC_COUNT && !cell_is(t->cells[column], run_metric_names[*metric]))
        ++*metric;
}

// Scales the value to the unit's base.
static enum status read_unit(const struct table *t, int column, struct run_row *row,
                             struct error *err)
{
    double factor = 1;
    bool share = row->unit == UNIT_SHARE; // 47% with a unit of % is 0.47
    TRY(run_unit_read(t, column, &factor, &row->unit, err));
    if (share && row->unit != UNIT_SHARE)
        return table_refuse(t, column, err, "expected %% or a blank cell beside a percentage");
    row->value *= share ? 1 : factor;
    return OK;
}

// Numbers may have separators of thousands.
static void drop_separators(const struct table *t, int column, enum field_type type,
                            char buffer[NUMBER_MAX])
{
    if (type == FIELD_WHOLE || type == FIELD_VALUE)
        t->cells[column] = cell_without_separators(t->cells[column], buffer);
}

static enum status read_cell(const struct row_reader *r, int field, int column, struct run_row *row,
                             struct error *err)
{
    const struct field *f = &fields[field];
    const struct table *t = &r->table;
    void *to = (char *)row + f->offset;
    char buffer[NUMBER_MAX];
    drop_separators(t, column, f->type, buffer);
    switch (f->type) {
    case FIELD_TEXT:
        if (t->cells[column].length) *(struct cell *)to = t->cells[column];
        return OK;
    case FIELD_WHOLE: return table_whole(t, column, f->low, f->high, to, err);
    case FIELD_FLASH: return read_flash(t, column, to, err);
    case FIELD_UNFUSED: return read_unfused(t, column, to, err);
    case FIELD_RECOMPUTE: return read_recompute(t, column, row, err);
    case FIELD_LIST: return table_name(t, column, f->names, to, err);
    case FIELD_PRECISION: return precision_read(t, column, to, err);
    case FIELD_RATIO: return table_number(t, column, f->low ? 1 : 1e-6, 1e6, to, err);
    case FIELD_VALUE: return value_read(t, column, to, &row->unit, err);
    case FIELD_METRIC: return read_metric(t, column, to), OK;
    case FIELD_UNIT: return read_unit(t, column, row, err);
    }
    return OK;
}

// ---- rows

static struct run_row nothing_stated(void)
{
    struct run_row row = {.fused = NOT_STATED,
                          .unfused = NOT_STATED,
                          .precision = NOT_STATED,
                          .schedule = NOT_STATED,
                          .trainer = NOT_STATED,
                          .dispatcher = NOT_STATED,
                          .expert_products = NOT_STATED,
                          .context_kind = NOT_STATED,
                          .checkpoints = NOT_STATED,
                          .graphs = NOT_STATED,
                          .recompute = NOT_STATED,
                          .memory_of = NOT_STATED,
                          .metric = NOT_STATED,
                          .imbalance = NAN,
                          .expert_padding = NAN,
                          .value = NAN};
    for (int i = 0; i < FIELD_COUNT; i++)
        if (fields[i].type == FIELD_WHOLE)
            *(int64_t *)((char *)&row + fields[i].offset) = NOT_STATED;
    return row;
}

static const char *from_column(const struct error *err)
{
    const char *column = strstr(err->text, "column ");
    return column ? column : err->text;
}

// Keeps "column C: expected ..." from an error about a cell.
enum { MISREAD_MAX = sizeof((struct run_row){0}.misread) };

static void note_misread(char misread[MISREAD_MAX], const struct error *err)
{
    if (!*misread) snprintf(misread, MISREAD_MAX, "%.*s", MISREAD_MAX - 1, from_column(err));
}

static bool is_unread(const struct row_reader *r, int column)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (r->column_of[i] == column) return false;
    return true;
}

// `close`: NULL unless the name is likely meant.
static const char *nearest_field(struct cell name, bool close, struct arena *arena)
{
    const char *names[FIELD_COUNT];
    for (int i = 0; i < FIELD_COUNT; i++) names[i] = fields[i].name;
    return column_nearest(cell_copy(name, arena), names, FIELD_COUNT, close, arena);
}

static const char *list_ignored(const struct row_reader *r, struct arena *arena)
{
    const char *list = "", *meant;
    for (int k = 0; k < r->table.column_count; k++) {
        struct cell name = r->table.columns[k];
        if (!is_unread(r, k)) continue;
        list = arena_print(arena, "%s%s%.*s", list, *list ? ", " : "", name.length, name.text);
        if (!column_is_foreign(name, &meant) || !meant) meant = nearest_field(name, true, arena);
        if (meant && table_column(&r->table, meant) < 0)
            list = arena_print(arena, "%s (the nearest is %s)", list, meant);
    }
    return list;
}

static void find_columns(struct row_reader *r, struct arena *arena)
{
    r->column_of = TAKE(arena, FIELD_COUNT, int);
    for (int i = 0; i < FIELD_COUNT; i++) r->column_of[i] = table_column(&r->table, fields[i].name);
    r->ignored = list_ignored(r, arena);
    r->foreign = TAKE(arena, r->table.column_count, int);
    const char *known;
    for (int k = 0; k < r->table.column_count; k++)
        if (is_unread(r, k) && column_is_foreign(r->table.columns[k], &known))
            r->foreign[r->foreign_count++] = k;
}

// A stated cell of a column that is not read and changes what runs.
static void refuse_foreign(const struct row_reader *r, struct run_row *row, struct error *err)
{
    for (int i = 0; i < r->foreign_count; i++) {
        const char *known;
        int k = r->foreign[i];
        if (!r->table.cells[k].length) continue;
        column_is_foreign(r->table.columns[k], &known);
        table_refuse(&r->table, k, err, known ? "expected under the name %s" : "%s",
                     known ? known : "no column states this, and the model would be another one");
        note_misread(row->misread, err);
        err->status = OK;
    }
}

static enum status refuse_name(struct cell name, const char *what, struct arena *arena,
                               struct error *err)
{
    const char *known = NULL;
    bool foreign = column_is_foreign(name, &known);
    if (foreign && !known)
        return refuse(err, "%s: no column states %.*s, and the model would be another one", what,
                      name.length, name.text);
    if (!known) known = nearest_field(name, false, arena);
    return refuse(err, "%s: there is no column %.*s; %s is %s", what, name.length, name.text,
                  foreign ? "here it" : "the nearest", known);
}

// Reads "a=1,b=2" as a table with one row, whose other cells are those of *row.
enum status row_set_columns(struct run_row *row, const char *what, const char *text,
                            struct arena *arena, struct error *err)
{
    struct row_reader r = {.defaults = *row, .strict = true};
    const char *names = "", *values = "";
    bool more;
    for (const char *at = text, *next; *at; at = *next ? next + 1 : next) {
        const char *equals = strchr(at, '=');
        next = at + strcspn(at, ",");
        if (!equals || equals > next || equals == at)
            return refuse(err, "%s: expected column=value, found '%.*s'", what, (int)(next - at),
                          at);
        names = arena_print(arena, "%s%s%.*s", names, *names ? "," : "", (int)(equals - at), at);
        values = arena_print(arena, "%s%s%.*s", values, *names && at != text ? "," : "",
                             (int)(next - equals - 1), equals + 1);
    }
    if (!*names) return OK;
    const char *table = arena_print(arena, "%s\n%s\n", names, values);
    TRY(table_open_text(&r.table, what, table, strlen(table), arena, err));
    find_columns(&r, arena);
    for (int k = 0; k < r.table.column_count; k++)
        if (is_unread(&r, k)) return refuse_name(r.table.columns[k], what, arena, err);
    return rows_next(&r, row, &more, err);
}

static enum status defaults_of(struct run_row *row, const char *what, const char *text,
                               struct arena *arena, struct error *err)
{
    *row = nothing_stated();
    return row_set_columns(row, what, text, arena, err);
}

enum status rows_open(struct row_reader *r, const char *path, const char *defaults,
                      struct arena *arena, struct error *err)
{
    const char *text;
    size_t size;
    TRY(file_read(path, &text, &size, arena, err));
    return rows_open_text(r, path, text, size, defaults, arena, err);
}

enum status rows_open_text(struct row_reader *r, const char *path, const char *text, size_t size,
                           const char *defaults, struct arena *arena, struct error *err)
{
    *r = (struct row_reader){.defaults = nothing_stated()};
    if (defaults) TRY(defaults_of(&r->defaults, "--default", defaults, arena, err));
    TRY(table_open_text(&r->table, path, text, size, arena, err));
    find_columns(r, arena);
    return OK;
}

enum status rows_next(struct row_reader *r, struct run_row *row, bool *more, struct error *err)
{
    TRY(table_next(&r->table, more, err));
    if (!*more && r->table.row < 0)
        return refuse(err, "%s: expected rows after the header, found none", r->table.path);
    if (!*more) return OK;
    *row = r->defaults;
    row->line = r->table.line;
    row->row = r->table.row;
    struct error cell; // a large text: not cleared for each cell
    cell.status = OK;
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (r->column_of[i] < 0 || read_cell(r, i, r->column_of[i], row, &cell) == OK) continue;
        if (r->strict) return refuse(err, "%s: %s", r->table.path, from_column(&cell));
        bool measured = fields[i].type == FIELD_VALUE || fields[i].type == FIELD_UNIT;
        note_misread(measured ? row->unmeasured : row->misread, &cell);
        cell.status = OK;
    }
    refuse_foreign(r, row, &cell);
    row->origin = row->source;
    return OK;
}

enum status row_of_words(struct run_row *row, const char *const *words, int count,
                         struct arena *arena, struct error *err)
{
    const char *text = "";
    for (int i = 0; i < count; i++)
        text = arena_print(arena, "%s%s%s", text, *text ? "," : "", words[i]);
    return defaults_of(row, "configuration", text, arena, err);
}
