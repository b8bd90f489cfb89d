// plumbline calibrate --products: a table of products measured by shape in, costs with the numbers
// of their form out. Everything else in the costs stays.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "calibrate/commands.h"
#include "calibrate/fit/fit.h"
#include "calibrate/runs/runs.h"
#include "data/base/grow.h"

enum { COLUMN_GPU, COLUMN_ROWS, COLUMN_COLUMNS, COLUMN_DEPTH, COLUMN_SECONDS, COLUMN_COUNT };
static const char *const column_names[COLUMN_COUNT] = {"gpu", "m", "n", "k", "median_us"};

// For one name in the table.
struct measured_gpu {
    const char *name;
    struct product_sample *samples;
    int count, capacity;
    struct product_fit fit;
};

struct products_table {
    struct measured_gpu *gpus;
    int count, capacity;
    char sha256[SHA256_TEXT];
};

static struct measured_gpu *find_gpu(struct products_table *t, struct cell name,
                                     struct arena *arena)
{
    for (int i = 0; i < t->count; i++)
        if (cell_is(name, t->gpus[i].name)) return &t->gpus[i];
    GROW(arena, t->gpus, t->count, t->capacity, 4);
    t->gpus[t->count] = (struct measured_gpu){.name = cell_copy(name, arena)};
    return &t->gpus[t->count++];
}

static enum status read_row(const struct table *table, const int *columns, struct products_table *t,
                            struct arena *arena, struct error *err)
{
    double numbers[COLUMN_COUNT] = {0};
    if (!table->cells[columns[COLUMN_GPU]].length)
        return table_refuse(table, columns[COLUMN_GPU], err, "expected a name, found nothing");
    for (int i = COLUMN_ROWS; i < COLUMN_COUNT; i++) {
        TRY(table_number(table, columns[i], 1e-6, 1e12, &numbers[i], err));
        if (!(numbers[i] > 0))
            return table_refuse(table, columns[i], err, "expected a number above 0, found nothing");
    }
    struct measured_gpu *gpu = find_gpu(t, table->cells[columns[COLUMN_GPU]], arena);
    GROW(arena, gpu->samples, gpu->count, gpu->capacity, 256);
    gpu->samples[gpu->count++] = (struct product_sample){.rows = numbers[COLUMN_ROWS],
                                                         .columns = numbers[COLUMN_COLUMNS],
                                                         .depth = numbers[COLUMN_DEPTH],
                                                         .seconds = numbers[COLUMN_SECONDS] * 1e-6};
    return OK;
}

// Depths separated by commas: of the products whose inputs were zeros.
static enum status mark_zeros(struct products_table *t, const char *depths, struct arena *arena,
                              struct error *err)
{
    char *rest = arena_copy_text(arena, depths), *word, *end;
    while ((word = strtok_r(rest, ",", &rest))) {
        double depth = strtod(word, &end);
        if (*end || !(depth > 0))
            return refuse(err, "--zeros: expected depths above 0 with commas between, found '%s'",
                          word);
        for (int g = 0; g < t->count; g++)
            for (int i = 0; i < t->gpus[g].count; i++)
                t->gpus[g].samples[i].zeros |= t->gpus[g].samples[i].depth == depth;
    }
    return OK;
}

static enum status read_table(struct products_table *t, const char *path, const char *zeros,
                              struct arena *arena, struct error *err)
{
    struct table table;
    int columns[COLUMN_COUNT];
    bool more;
    TRY(table_open(&table, path, arena, err));
    for (int i = 0; i < COLUMN_COUNT; i++)
        if ((columns[i] = table_column(&table, column_names[i])) < 0)
            return refuse(err,
                          "%s: line 1: expected the columns gpu, m, n, k, median_us, found no %s",
                          path, column_names[i]);
    for (;;) {
        TRY(table_next(&table, &more, err));
        if (!more) break;
        TRY(read_row(&table, columns, t, arena, err));
    }
    sha256_text(table.text, table.size, t->sha256);
    if (!t->count) return refuse(err, "%s: expected rows, found none", path);
    return zeros ? mark_zeros(t, zeros, arena, err) : OK;
}

// The table's a100 is a100-80gb: the first name in the costs that begins with it.
static bool is_meant(const char *row, const char *gpu)
{
    size_t length = strlen(row);
    return !strncasecmp(row, gpu, length) && !isalnum((unsigned char)gpu[length]);
}

// The rates of other two-byte precisions are the same; those of one byte keep their ratio.
static void put_rates(const struct product_fit *fit, struct gpu_costs *gpu,
                      const struct precision_costs *from, const char *source)
{
    struct precision_costs before = *from;
    for (int i = 0; i < gpu->precision_count; i++) {
        struct precision_costs *p = &gpu->precisions[i];
        if (!(p->product_flop_per_s.value > 0)) continue;
        if (p->precision == FP16 || p->precision == BF16) products_put(fit, gpu, p, source);
        if (p->precision != FP8) continue;
        for (int k = 0; k < 2; k++) {
            struct estimate *e = k ? &p->product_tile_flop_per_s : &p->product_flop_per_s;
            const struct estimate *began = k ? &before.product_tile_flop_per_s
                                             : &before.product_flop_per_s,
                                  *found = &fit->numbers[k ? PRODUCT_TILES : PRODUCT_FLOP];
            double ratio = e->value / began->value;
            *e = (struct estimate){
                .value = found->value * ratio,
                .low = found->low * ratio * 0.8,
                .high = found->high * ratio * 1.1,
                .origin = ORIGIN_ASSUMED,
                .source = "the fitted rate in 16 bits, by the ratio that the costs had"};
        }
        if (fit->numbers[PRODUCT_SQUARE].value > 0)
            p->product_square_tile_share = fit->numbers[PRODUCT_SQUARE],
            p->product_square_tile_share.source = source;
        p->product_bytes_per_s = fit->numbers[PRODUCT_BYTES];
        p->product_bytes_per_s.source = source;
    }
}

static void tell(const char *what, const struct estimate *e)
{
    if (e->value > 0) fprintf(stderr, ", %s %.3f (%.3f to %.3f)", what, e->value, e->low, e->high);
}

static enum status fit_gpu(struct measured_gpu *measured, struct gpu_costs *gpu, const char *path,
                           struct arena *arena, struct error *err)
{
    const struct precision_costs *rates = costs_find_precision(gpu, BF16);
    struct product_fit *fit = &measured->fit;
    if (!rates) rates = costs_find_precision(gpu, FP16);
    if (!rates)
        return refuse(err, "%s: expected rates of bf16 or fp16 in the costs, found none", gpu->gpu);
    TRY(products_fit(fit, measured->samples, measured->count, true, gpu, rates, arena, err));
    fprintf(stderr,
            "%s: %d products of %d shapes, mean error %.2f %% (from 1,024 rows on %.2f %%), of "
            "shapes kept back %.2f %% (%.2f %%)",
            gpu->gpu, fit->sample_count, fit->shape_count, 100 * fit->fitted.all,
            100 * fit->fitted.long_ones, 100 * fit->kept_back.all, 100 * fit->kept_back.long_ones);
    tell("long ones over short ones", &fit->numbers[PRODUCT_LONG]);
    tell("zeros' rate", &fit->numbers[PRODUCT_ZEROS]);
    fprintf(stderr, "\n");
    put_rates(fit, gpu, rates,
              arena_print(
                  arena, "%d products of %d shapes in %s; mean error of shapes kept back %.1f %%",
                  fit->sample_count, fit->shape_count, path_name(path), 100 * fit->kept_back.all));
    return OK;
}

// The GPU of the costs that a name in a table stands for; -1: none.
static int find_costs(const struct costs *costs, const char *name)
{
    for (int g = 0; g < costs->gpu_count; g++)
        if (is_meant(name, costs->gpus[g].gpu)) return g;
    return -1;
}

// Under the conditions found by the fit to the same GPU's products.
static enum status score(const char *path, const char *zeros, struct products_table *fitted,
                         const struct costs *costs, struct arena *arena, struct error *err)
{
    struct products_table table = {0};
    TRY(read_table(&table, path, zeros, arena, err));
    for (int i = 0; i < table.count; i++) {
        const struct measured_gpu *m = &table.gpus[i];
        int g = find_costs(costs, m->name);
        const struct precision_costs *rates = g < 0 ? NULL
                                                    : costs_find_precision(&costs->gpus[g], FP16);
        if (!rates || !(rates->product_flop_per_s.value > 0))
            return refuse(err, "%s: the costs price no products of '%s' by their shapes", path,
                          m->name);
        struct product_conditions c = {1, 1};
        for (int k = 0; k < fitted->count; k++)
            if (find_costs(costs, fitted->gpus[k].name) == g)
                c = products_conditions(&fitted->gpus[k].fit);
        struct product_errors e = products_errors(m->samples, m->count, &c, &costs->gpus[g], rates);
        fprintf(stderr, "%s: %d products of %s, mean error %.2f %% (from 1,024 rows on %.2f %%)\n",
                costs->gpus[g].gpu, m->count, path, 100 * e.all, 100 * e.long_ones);
    }
    return OK;
}

struct options {
    const char *path, *out, *name, *other, *zeros;
    struct predict_settings settings;
    bool products;
};

static const struct option_row rows[] = {
    {"SHAPES.csv", OPTION_PATH, OPT(path), .low = 1},
    {"--products", OPTION_FLAG, OPT(products),
     "fit to matrix products measured by shape: columns gpu, m, n, k, median_us"},
    {"--costs", OPTION_COSTS, OPT(settings.costs),
     "start values, and all numbers that are not fitted (default: kernels-datasheet)"},
    {"--score", OPTION_PATH, OPT(other), "another such table: report the error of the fit on it"},
    {"--zeros", OPTION_TEXT, OPT(zeros),
     "K,K,...: depths of products, in both tables, whose inputs were zeros"},
    {"--name", OPTION_TEXT, OPT(name), "name of the costs"},
    {"-o", OPTION_PATH, OPT(out), "output file for the costs (default: standard output)"},
};

COMMAND_RUN(run)
{
    const struct options *o = options;
    struct products_table table = {0};
    struct predictor *p;
    struct costs *costs;
    TRY(read_table(&table, o->path, o->zeros, arena, err));
    TRY(predictor_open(&p, &o->settings, arena, err));
    costs = predictor_costs(p);
    for (int i = 0; i < table.count; i++) {
        int g = find_costs(costs, table.gpus[i].name);
        if (g < 0)
            return refuse(err, "%s: the costs list no GPU like '%s'", o->path, table.gpus[i].name);
        TRY(fit_gpu(&table.gpus[i], &costs->gpus[g], o->path, arena, err));
    }
    if (o->other) TRY(score(o->other, o->zeros, &table, costs, arena, err));
    if (o->name) costs->name = o->name;
    name_sources(costs, "products", o->path, table.sha256, o->out, arena);
    return costs_save(costs, o->out, arena, err);
}

const struct command calibrate_products = {
    .name = "--products",
    .text = "table of matrix products -> costs",
    .usage = "plumbline calibrate --products SHAPES.csv [OPTION ...]",
    READS(struct options, rows,
          {.out = "-", .settings = {.margin = 0.8, .costs = "kernels-datasheet"}}),
    .run = run,
};
