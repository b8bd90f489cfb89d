// Rows of measured runs: reading, grouping, dealing into folds; and the prediction of each metric.
#include "calibrate/runs/runs.h"

#include "data/base/grow.h"

#include <string.h>

const char *const fold_by_names[] = {"row", "cell", "model", NULL};

bool metric_is_memory(int metric)
{
    return metric == METRIC_PEAK_MEMORY || metric == METRIC_STATIC_MEMORY;
}
bool metric_is_share(int metric) { return metric == METRIC_MFU || metric == METRIC_CAUSAL_MFU; }
bool metric_is_rate(int metric)
{
    return metric == METRIC_TFLOPS_PER_GPU || metric == METRIC_MODEL_TFLOPS_PER_GPU ||
           metric == METRIC_CAUSAL_TFLOPS_PER_GPU || metric == METRIC_THROUGHPUT ||
           metric_is_share(metric);
}
bool metric_is_time(int metric)
{
    return metric == METRIC_ITERATION_TIME || metric == METRIC_LAYER_FORWARD_TIME ||
           metric == METRIC_LAYER_BACKWARD_TIME || metric_is_rate(metric);
}

// ---- reading

static const char *label_of(const char *path, struct arena *arena)
{
    const char *name = path_name(path);
    size_t length = strlen(name);
    if (length > 4 && !strcmp(name + length - 4, ".csv")) length -= 4;
    return arena_print(arena, "%.*s", (int)length, name);
}

static struct run *next_place(struct run_set *set)
{
    GROW(set->arena, set->runs, set->count, set->capacity, 256);
    return &set->runs[set->count++];
}

static bool is_listed(const char *list, struct cell id)
{
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ",");
        if (id.length > 0 && length == (size_t)id.length && !memcmp(at, id.text, length))
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}

static bool same_model(const struct run_row *a, const struct run_row *b)
{
    return a->layers == b->layers && a->hidden == b->hidden && a->ffn == b->ffn &&
           a->heads == b->heads && a->kv_heads == b->kv_heads && a->vocab == b->vocab &&
           a->seq == b->seq;
}

static bool same_cell(const struct run_row *a, const struct run_row *b)
{
    return a->hidden == b->hidden && a->tp == b->tp && a->micro_batch == b->micro_batch;
}

// Groups are searched from the end, since tables tend to be sorted.
static int group_of(const struct run_set *set, const struct run *run)
{
    for (int i = set->count - 2; i >= 0; i--) {
        const struct run *other = &set->runs[i];
        if (other->file == run->file && other->row.metric == run->row.metric &&
            other->row.num_gpus == run->row.num_gpus &&
            other->row.global_batch == run->row.global_batch && same_model(&other->row, &run->row))
            return other->group;
    }
    return -1;
}

static const char *why_excluded(const struct run_row *row, const struct run_choice *choice)
{
    if (is_listed(choice->exclude, row->id)) return "by --exclude";
    if (*row->misread) return NULL; // the prediction says why there is none
    if (row->metric == METRIC_COUNT)
        return "an unknown metric or unit (iteration_time in s, ms or us; more in "
               "FORMATS, "
               "runs)";
    if (row->metric == NOT_STATED && !isnan(row->value))
        return "no metric or value: of this value none (column metric, or --default metric=NAME: "
               "iteration_time, throughput, model_tflops_per_gpu; more in FORMATS, runs)";
    if (row->metric == NOT_STATED || isnan(row->value)) return "no metric or value";
    if (row->metric == METRIC_OOM || row->metric == METRIC_FAILED_OR_OOM) return NULL;
    if (row->unit == UNIT_SHARE && !metric_is_share(row->metric))
        return "a percentage (metric mfu)";
    if (metric_is_share(row->metric) && row->value > 1)
        return "a share of the peak above 1 (47 % is 47% or 0.47)";
    return row->value > 0 ? NULL : "a value of 0";
}

static enum status add_row(struct run_set *set, const struct row_reader *reader,
                           const struct run_row *row, const struct run_choice *choice,
                           struct error *err)
{
    bool taken = true, fitted_on = false;
    TRY(filter_holds(&choice->rows, &reader->table, &taken, err));
    if (!taken) return OK;
    if (choice->fits) TRY(filter_holds(&choice->fit_rows, &reader->table, &fitted_on, err));
    struct run *run = next_place(set);
    struct run_row plain = *row;
    if (!choice->read_notes) row_drop_notes(&plain, stderr, &set->warned_of_notes);
    row = &plain;
    // nvidia-smi prints MiB, and rounded figures call GiB GB.
    bool binary = metric_is_memory(row->metric) && row->unit == UNIT_GB &&
                  cell_contains(row->notes, "nvidia-smi");
    *run = (struct run){.row = *row,
                        .file = set->file_count - 1,
                        .fitted_on = fitted_on,
                        .excluded = why_excluded(row, choice)};
    if (*run->row.unmeasured) run->excluded = run->row.unmeasured;
    if (binary) run->row.value *= 1.073741824;
    int group = group_of(set, run);
    run->group = group >= 0 ? group : set->group_count++;
    return OK;
}

enum status runs_add(struct run_set *set, const char *path, const struct run_choice *choice,
                     struct error *err)
{
    struct row_reader reader;
    struct run_row row;
    bool more;
    TRY(rows_open(&reader, path, choice->defaults, set->arena, err));
    set->files = arena_grow(set->arena, set->files, (size_t)set->file_count,
                            (size_t)set->file_count + 1, sizeof *set->files);
    struct run_file *file = &set->files[set->file_count++];
    *file = (struct run_file){
        .path = path, .label = label_of(path, set->arena), .ignored = reader.ignored};
    sha256_text(reader.table.text, reader.table.size, file->sha256);
    for (;;) {
        TRY(rows_next(&reader, &row, &more, err));
        if (!more) return OK;
        TRY(add_row(set, &reader, &row, choice, err));
    }
}

// ---- folds

int runs_deal(struct run_set *set, enum fold_by by, int folds)
{
    int kinds = 0, *kind = TAKE(set->arena, set->count, int);
    for (int i = 0; i < set->count; i++) {
        kind[i] = by == FOLD_BY_ROW ? set->runs[i].row.row : -1;
        for (int k = 0; k < i && kind[i] < 0; k++)
            if ((by == FOLD_BY_CELL ? same_cell : same_model)(&set->runs[k].row, &set->runs[i].row))
                kind[i] = kind[k];
        if (kind[i] < 0) kind[i] = kinds;
        if (kind[i] >= kinds) kinds = kind[i] + 1;
    }
    for (int i = 0; i < set->count; i++) set->runs[i].fold = folds ? kind[i] % folds : kind[i];
    return folds && folds < kinds ? folds : kinds;
}

// ---- metrics

// FLOP of an iteration including recomputation, by the formula used for the rates in arXiv
// 2104.04473.
static double hardware_flop(const struct run_row *row, const struct prediction *x)
{
    double h = (double)row->hidden, l = (double)row->layers, s = (double)row->seq,
           v = row->vocab == NOT_STATED ? 51200 : (double)row->vocab, batch = (double)x->sequences;
    return 96 * batch * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
}

// nvidia-smi's figures are of the fullest among whole nodes, the first and the last; torch's are
// of the logging rank, the last, and only count what was requested from the allocator. Which one a
// row means is in memory_of, or in its notes.
static double memory_of(const struct run_row *row, const struct prediction *x)
{
    const struct memory_parts *last = &x->last_memory;
    if (row->metric == METRIC_STATIC_MEMORY)
        return (double)(last->weight_bytes + last->gradient_bytes + last->optimizer_bytes +
                        x->library_bytes);
    bool of_last = cell_contains(row->notes, "last rank"),
         of_ends = cell_contains(row->notes, "first/last nodes");
    if (row->memory_of != NOT_STATED)
        of_last = row->memory_of == MEMORY_OF_LAST, of_ends = row->memory_of == MEMORY_OF_ENDS;
    if (of_last) return (double)(memory_total(last) - x->outside_bytes);
    if (of_ends) return (double)x->ends_bytes;
    if (row->memory_of == MEMORY_OF_ALLOCATOR) return (double)x->held_bytes;
    return (double)x->device_bytes;
}

// Per iteration; a prediction's figures belong to its stated time.
static double tokens_of(const struct run_row *row, const struct prediction *x)
{
    return (double)x->sequences * (double)row->seq;
}

static double throughput(const struct run_row *row, const struct prediction *x, double seconds)
{
    bool tokens = row->unit == UNIT_TOKENS || row->unit == UNIT_TOKENS_PER_GPU;
    bool each = row->unit == UNIT_SAMPLES_PER_GPU || row->unit == UNIT_TOKENS_PER_GPU;
    return (double)x->sequences * (tokens ? (double)row->seq : 1) / seconds / (each ? x->gpus : 1);
}

double run_prediction(const struct run_row *row, const struct prediction *x)
{
    double seconds = (double)x->iteration_ns * 1e-9;
    switch (row->metric) {
    case METRIC_ITERATION_TIME: return seconds;
    case METRIC_LAYER_FORWARD_TIME: return (double)x->block_forward_ns * 1e-9;
    case METRIC_LAYER_BACKWARD_TIME: return (double)x->block_backward_ns * 1e-9;
    case METRIC_TFLOPS_PER_GPU: return hardware_flop(row, x) / seconds / x->gpus;
    case METRIC_MODEL_TFLOPS_PER_GPU:
        return x->model_flop_per_gpu_s / x->tokens_per_s * tokens_of(row, x) / seconds;
    case METRIC_CAUSAL_TFLOPS_PER_GPU:
        return x->causal_flop_per_gpu_s / x->tokens_per_s * tokens_of(row, x) / seconds;
    case METRIC_MFU: return x->mfu / x->tokens_per_s * tokens_of(row, x) / seconds;
    case METRIC_CAUSAL_MFU: return x->causal_mfu / x->tokens_per_s * tokens_of(row, x) / seconds;
    case METRIC_THROUGHPUT: return throughput(row, x, seconds);
    case METRIC_PEAK_MEMORY:
    case METRIC_STATIC_MEMORY: return memory_of(row, x);
    default: return NAN;
    }
}
