// Within a cell an iteration without a pipeline takes m (L x + y) + L z + w + sync. For one
// micro-batch, x is a block's time, y that of embedding and head. z and w are the optimizer's
// step, equal for all micro-batches of one shape and tensor degree. The four are linear: weighted
// least squares over the shape's rows, two unknowns for each cell and two for all. The sync
// follows from the formula. x and y become layer times of the costs, which are then used as usual.
#include "calibrate/runs/runs.h"

#include <string.h>

#include "calibrate/fit/fit.h"

enum { CELLS_MAX = 64, LAYER_RUNS = 3 };

// Rows of one shape and tensor degree.
struct family {
    struct run **rows; // with pp = 1, to be fitted
    double *rest;      // [row]: what is not layer time
    int count;
    int64_t micro_batches[CELLS_MAX];
    double embedding[CELLS_MAX]; // forward and backward by formula
    int cell_count;
    double x[CELLS_MAX], y[CELLS_MAX], z, w;
};

static bool same_family(const struct run *a, const struct run *b)
{
    const struct run_row *x = &a->row, *y = &b->row;
    return a->file == b->file && x->tp == y->tp && x->hidden == y->hidden && x->ffn == y->ffn &&
           x->heads == y->heads && x->kv_heads == y->kv_heads && x->vocab == y->vocab &&
           x->seq == y->seq && x->recompute == y->recompute && x->fused == y->fused &&
           x->sp == y->sp && x->cp == y->cp && x->zero == y->zero;
}

static int cell_of(const struct family *f, int64_t micro_batch)
{
    for (int c = 0; c < f->cell_count; c++)
        if (f->micro_batches[c] == micro_batch) return c;
    return -1;
}

// ---- layer times

static void put_times(struct layer_time *to, const char *run, const char *gpu,
                      const struct run_row *row, double seconds, double optimizer_s)
{
    bool full = row->recompute == RECOMPUTE_FULL && !strcmp(run, "block");
    double forward = seconds / (full ? 4 : 3);
    *to = (struct layer_time){.run = run,
                              .gpu = gpu,
                              .tensor = row->tp > 0 ? row->tp : 1,
                              .micro_batch = row->micro_batch > 0 ? row->micro_batch : 1,
                              .forward_s = forward,
                              .backward_s = 2 * forward,
                              .full_s = forward,
                              .optimizer_s = optimizer_s};
}

static void use_times(struct predictor *p, struct layer_time *times)
{
    struct costs *costs = predictor_costs(p);
    costs->layer_times = times;
    costs->layer_time_count = LAYER_RUNS;
}

static void use_nothing(struct predictor *p, struct layer_time *times, const char *gpu,
                        const struct run_row *row)
{
    put_times(&times[0], "embedding", gpu, row, 0, 0);
    put_times(&times[1], "block", gpu, row, 0, 0);
    put_times(&times[2], "head", gpu, row, 0, 0);
    use_times(p, times);
}

static void use_cell(struct predictor *p, struct layer_time *times, const struct family *f, int c,
                     const char *gpu, const struct run_row *row)
{
    double embedding = fmin(f->embedding[c], fmax(f->y[c], 0));
    put_times(&times[0], "embedding", gpu, row, embedding, fmax(f->w, 0));
    put_times(&times[1], "block", gpu, row, fmax(f->x[c], 0), fmax(f->z, 0));
    put_times(&times[2], "head", gpu, row, fmax(f->y[c], 0) - embedding, 0);
    use_times(p, times);
}

// ---- one family

// By formula first: whether it can be predicted, on which GPU, what an embedding takes.
static bool add_row(struct family *f, struct run *run, struct predictor *p,
                    struct layer_time *times, const struct costs *original)
{
    struct prediction x;
    *predictor_costs(p) = *original;
    predict_row(p, &run->row, &x);
    if (*x.reason) return false;
    int cell = cell_of(f, run->row.micro_batch);
    if (cell < 0) {
        if (f->cell_count == CELLS_MAX) return false;
        cell = f->cell_count++;
        f->micro_batches[cell] = run->row.micro_batch;
        f->embedding[cell] = (double)x.embedding_ns * 1e-9;
    }
    use_nothing(p, times, x.gpu, &run->row);
    predict_row(p, &run->row, &x);
    f->rest[f->count] = (double)x.iteration_ns * 1e-9;
    f->rows[f->count++] = run;
    return true;
}

static enum status solve_family(struct family *f, struct arena *arena, struct error *err)
{
    int columns = 2 * f->cell_count + 2;
    if (f->count < columns)
        return refuse(err, "%d runs without a pipeline are too few for %d cells", f->count,
                      f->cell_count);
    double *design = TAKE(arena, f->count * columns, double),
           *observed = TAKE(arena, f->count, double), *deviation = TAKE(arena, f->count, double);
    for (int i = 0; i < f->count; i++) {
        const struct run_row *row = &f->rows[i]->row;
        int cell = cell_of(f, row->micro_batch);
        double layers = (double)row->layers, m = f->rows[i]->prediction.micro_batches;
        design[i * columns + 2 * cell] = m * layers;
        design[i * columns + 2 * cell + 1] = m;
        design[i * columns + columns - 2] = layers;
        design[i * columns + columns - 1] = 1;
        observed[i] = row->value - f->rest[i];
        deviation[i] = row->value;
    }
    struct solution s;
    TRY(least_squares(&s, f->count, columns, design, observed, deviation, arena, err));
    for (int c = 0; c < f->cell_count; c++) f->x[c] = s.x[2 * c], f->y[c] = s.x[2 * c + 1];
    f->z = s.x[columns - 2];
    f->w = s.x[columns - 1];
    return OK;
}

static void predict_with(struct family *f, struct run *run, struct predictor *p,
                         struct layer_time *times, const struct costs *original)
{
    int cell = cell_of(f, run->row.micro_batch);
    if (cell < 0) {
        run->excluded = "its cell has no run without a pipeline";
        return;
    }
    *predictor_costs(p) = *original;
    predict_row(p, &run->row, &run->prediction);
    if (!*run->prediction.reason) {
        use_cell(p, times, f, cell, run->prediction.gpu, &run->row);
        predict_row(p, &run->row, &run->prediction);
    }
    run->predicted = run_prediction(&run->row, &run->prediction);
}

// All rows of the first run's family; they are marked done.
static void answer_family(struct cell_table_report *report, struct predictor *p,
                          struct run_set *set, int first, bool *done, struct arena *arena)
{
    struct costs original = *predictor_costs(p);
    struct layer_time *times = TAKE(arena, LAYER_RUNS, struct layer_time);
    struct family f = {.rows = TAKE(arena, set->count, struct run *),
                       .rest = TAKE(arena, set->count, double)};
    struct error err = {OK, ""};
    for (int i = first; i < set->count; i++) {
        struct run *run = &set->runs[i];
        if (done[i] || run->excluded || !same_family(run, &set->runs[first]) || run->row.pp != 1)
            continue;
        if (add_row(&f, run, p, times, &original)) predict_row(p, &run->row, &run->prediction);
    }
    enum status solved = solve_family(&f, arena, &err);
    for (int i = first; i < set->count; i++) {
        struct run *run = &set->runs[i];
        if (done[i] || run->excluded || !same_family(run, &set->runs[first])) continue;
        done[i] = true;
        if (run->row.pp == 1) run->excluded = "fitted on";
        else if (solved != OK) run->excluded = arena_copy_text(arena, err.text);
        else predict_with(&f, run, p, times, &original);
        if (!run->excluded && *run->prediction.reason)
            run->excluded = arena_copy_text(arena, run->prediction.reason);
    }
    *predictor_costs(p) = original;
    if (solved != OK) return;
    report->cells += f.cell_count;
    report->rows_fitted += f.count;
    report->constants += 2 * f.cell_count + 2;
}

enum status predict_by_cells(struct cell_table_report *report, struct predictor *p,
                             struct run_set *set, struct arena *arena, struct error *err)
{
    bool *done = TAKE(arena, set->count, bool);
    *report = (struct cell_table_report){0};
    for (int i = 0; i < set->count; i++) {
        struct run *run = &set->runs[i];
        if (run->excluded || done[i]) continue;
        if (run->row.metric != METRIC_ITERATION_TIME) run->excluded = "not an iteration's time";
        else answer_family(report, p, set, i, done, arena);
    }
    return report->cells ? OK
                         : refuse(err, "--table: expected runs without a pipeline, found none");
}
