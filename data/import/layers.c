// plumbline import layers FILE.json: costs from a table of measured layers, {"unit": "seconds",
// "profiles": {model: {GPU: {micro-batch: {tensor: {layer: [forward, backward, optimizer]}}}}}}
// (the profiles of Sailor; the object of models may also be the root). Layer 0 is the embedding,
// the last --head-layers are the head (their sum), and those between are the blocks: their mean, so
// that a stage's sum is preserved. Middle layers that are not alike are refused rather than
// averaged: a final norm may be among them, or the table may be that of another model.
#include <stdlib.h>
#include <string.h>

#include "data/base/shipped.h"
#include "data/import/import.h"
#include "data/import/text.h"

enum { LAYERS_MAX_IMPORTED = 4096, TIMES_MAX = 65536, PASSES = 3 };
static const char *const unit_names[] = {"seconds", "s", "milliseconds", "ms", NULL};
static const double unit_seconds[] = {1, 1, 1e-3, 1e-3};

struct layers_request {
    const char *model, *gpu, *as, *into;
    int64_t tensor, micro_batch, head_layers;
};

// The tables read so far: three entries of layer_times for each.
struct layers_import {
    const struct layers_request *request;
    double unit;
    struct layer_time *times;
    int count;
    int layers;            // of the first table; 0: none read
    const char *layers_of; // where the first table was
    const char **gpus;     // as named in the costs
    int gpu_count;
};

static enum status read_degree(const struct json *at, const char *key, const char *what,
                               int64_t *value, struct error *err)
{
    char *end;
    long long x = strtoll(key, &end, 10);
    if (!*key || *key < '0' || *key > '9' || *end || x < 0 || x > 1 << 20)
        return json_refuse(at, err, "expected a %s as key, found \"%.60s\"", what, key);
    *value = x;
    return OK;
}

// ---- one table: all layers at one micro-batch and tensor degree

static enum status read_layers(const struct json *table, double (*layers)[PASSES], int *count,
                               struct arena *arena, struct error *err)
{
    const char *const *keys;
    struct json *values;
    TRY(json_members(table, &keys, &values, count, arena, err));
    if (*count > LAYERS_MAX_IMPORTED)
        return json_refuse(table, err, "expected at most %d layers, found %d", LAYERS_MAX_IMPORTED,
                           *count);
    bool *seen = TAKE(arena, *count, bool);
    for (int i = 0; i < *count; i++) {
        int64_t layer;
        double *seconds;
        int length;
        TRY(read_degree(&values[i], keys[i], "layer's number", &layer, err));
        if (layer >= *count || seen[layer])
            return json_refuse(table, err, "expected layers 0 to %d, each once, found \"%.60s\"",
                               *count - 1, keys[i]);
        seen[layer] = true;
        TRY(json_expect(&values[i], JSON_ARRAY, err));
        TRY(json_numbers(&values[i], 0, 1e6, &seconds, &length, arena, err));
        if (length != PASSES && length != PASSES - 1)
            return json_refuse(&values[i], err,
                               "expected [forward, backward, optimizer], found %d numbers", length);
        for (int k = 0; k < length; k++) layers[layer][k] = seconds[k];
    }
    return OK;
}

static void set_time(struct layer_time *t, const char *run, double (*layers)[PASSES], int first,
                     int count, double scale)
{
    double sum[PASSES] = {0};
    for (int i = first; i < first + count; i++)
        for (int k = 0; k < PASSES; k++) sum[k] += layers[i][k];
    t->run = run;
    t->forward_s = t->selective_s = t->full_s = sum[0] * scale;
    t->backward_s = sum[1] * scale;
    t->optimizer_s = sum[2] * scale;
}

static enum status expect_alike(const struct json *table, double (*layers)[PASSES], int last,
                                struct error *err)
{
    double mean = 0;
    for (int i = 1; i <= last; i++) mean += layers[i][0] / last;
    for (int i = 1; i <= last; i++)
        if (!(layers[i][0] >= mean / 2 && layers[i][0] <= mean * 2))
            return json_refuse(
                table, err,
                "layer %d takes %g forward, the mean from 1 to %d %g: these are not "
                "all blocks (--head-layers gives the number at the end that are not)",
                i, layers[i][0], last, mean);
    return OK;
}

static enum status read_table(struct layers_import *in, const struct json *table, const char *gpu,
                              int64_t micro_batch, int64_t tensor, struct arena *arena,
                              struct error *err)
{
    double(*layers)[PASSES] = arena_take(arena, LAYERS_MAX_IMPORTED, sizeof *layers);
    int count, head = (int)in->request->head_layers;
    TRY(read_layers(table, layers, &count, arena, err));
    if (count < head + 2)
        return json_refuse(
            table, err, "expected an embedding, blocks and %d layers of the head, found %d layers",
            head, count);
    if (in->layers && in->layers != count)
        return json_refuse(table, err,
                           "%d layers, but %d in %s: not the same model (--gpu chooses)", count,
                           in->layers, in->layers_of);
    if (!in->layers) in->layers_of = table->path;
    in->layers = count;
    int blocks = count - 1 - head;
    TRY(expect_alike(table, layers, blocks, err));
    if (in->count + 3 > TIMES_MAX)
        return json_refuse(table, err, "more than %d tables", TIMES_MAX / 3);
    struct layer_time *t = in->times + in->count;
    for (int i = 0; i < 3; i++)
        t[i] = (struct layer_time){.gpu = gpu, .tensor = tensor, .micro_batch = micro_batch};
    set_time(&t[0], "embedding", layers, 0, 1, in->unit);
    set_time(&t[1], "block", layers, 1, blocks, in->unit / blocks);
    set_time(&t[2], "head", layers, count - head, head, in->unit);
    in->count += 3;
    return OK;
}

// ---- selection of tables

static enum status read_gpu(struct layers_import *in, const struct json *object, const char *gpu,
                            struct arena *arena, struct error *err)
{
    const struct layers_request *r = in->request;
    const char *const *batches, *const *tensors;
    struct json *batch_values, *tensor_values;
    int batch_count, tensor_count;
    TRY(json_members(object, &batches, &batch_values, &batch_count, arena, err));
    for (int i = 0; i < batch_count; i++) {
        int64_t micro_batch, tensor;
        TRY(read_degree(object, batches[i], "micro-batch", &micro_batch, err));
        if (!micro_batch)
            return json_refuse(object, err, "expected a micro-batch of at least 1, found 0");
        TRY(json_members(&batch_values[i], &tensors, &tensor_values, &tensor_count, arena, err));
        for (int k = 0; k < tensor_count; k++) {
            TRY(read_degree(&batch_values[i], tensors[k], "tensor degree", &tensor, err));
            if (!tensor)
                return json_refuse(&batch_values[i], err,
                                   "expected a tensor degree of at least 1, found 0");
            if ((r->micro_batch && r->micro_batch != micro_batch) ||
                (r->tensor && r->tensor != tensor))
                continue;
            struct arena_mark mark = arena_set_mark(arena);
            bool first = !in->layers;
            TRY(read_table(in, &tensor_values[k], gpu, micro_batch, tensor, arena, err));
            if (!first) arena_reset(arena, mark); // the path of the first one is kept for messages
        }
    }
    return OK;
}

// The member called `name`, or the only one.
static enum status choose(const struct json *object, const char *name, const char *option,
                          const char **key, struct json *value, struct arena *arena,
                          struct error *err)
{
    const char *const *keys;
    struct json *values;
    int count;
    char known[300] = "";
    TRY(json_members(object, &keys, &values, &count, arena, err));
    for (int i = 0; i < count; i++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%.40s", i ? ", " : "", keys[i]);
        if (name ? strcmp(keys[i], name) : count > 1) continue;
        *key = keys[i];
        *value = values[i];
        return OK;
    }
    if (!name)
        return json_refuse(object, err, "expected %s, one of %s", option, count ? known : "none");
    return json_refuse(object, err, "%s: expected one of %s, found '%.60s'", option,
                       count ? known : "none", name);
}

static int compare_times(const void *a, const void *b)
{
    const struct layer_time *x = a, *y = b;
    if (x->tensor != y->tensor) return x->tensor < y->tensor ? -1 : 1;
    return (x->micro_batch > y->micro_batch) - (x->micro_batch < y->micro_batch);
}

static enum status read_profiles(struct layers_import *in, const struct json *root,
                                 const char **model, struct arena *arena, struct error *err)
{
    const struct layers_request *r = in->request;
    struct json profiles = {0}, gpus = {0}, *values;
    const char *const *names, *only = NULL;
    int unit = 0, count;
    struct json_field fields[] = {
        FIELD_NAME("unit", OPTIONAL, &unit, unit_names),
        FIELD_OBJECT("profiles", OPTIONAL, &profiles),
    };
    TRY(json_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    in->unit = unit_seconds[unit];
    in->times = TAKE(arena, TIMES_MAX, struct layer_time);
    TRY(choose(json_is_present(&profiles) ? &profiles : root, r->model, "--model", model, &gpus,
               arena, err));
    if (r->gpu) {
        struct json one = {0};
        TRY(choose(&gpus, r->gpu, "--gpu", &only, &one, arena, err));
    }
    TRY(json_members(&gpus, &names, &values, &count, arena, err));
    in->gpus = TAKE(arena, count, const char *);
    for (int i = 0; i < count; i++) {
        if (only && strcmp(only, names[i])) continue;
        const char *gpu = r->as ? r->as : names[i];
        int before = in->count;
        TRY(read_gpu(in, &values[i], gpu, arena, err));
        if (in->count == before) continue;
        in->gpus[in->gpu_count++] = gpu;
        // The three entries of one table stay together, in their order.
        struct layer_time(*tables)[3] = (struct layer_time(*)[3])(in->times + before);
        qsort(tables, (size_t)(in->count - before) / 3, sizeof *tables, compare_times);
    }
    if (!in->count)
        return json_refuse(&gpus, err, "no table has this --gpu, --tensor and --micro-batch");
    return OK;
}

// ---- the costs

// Costs of GPUs for which only the layers are known.
static void assume_costs(struct costs *c, const struct layers_import *in, struct arena *arena)
{
    static const char why[] = "not in the table of layers: a placeholder";
    *c = (struct costs){.intra_efficiency = estimate_assumed(1, NULL),
                        .gpu_count = in->gpu_count,
                        .gpus = TAKE(arena, in->gpu_count, struct gpu_costs)};
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        c->network_efficiency[kind] = estimate_assumed(1, NULL);
    c->transfer_share[PART_DELAY] = 1;
    for (int i = 0; i < in->gpu_count; i++) {
        struct gpu_costs *g = &c->gpus[i];
        *g = (struct gpu_costs){.gpu = in->gpus[i],
                                .precision_count = PRECISION_COUNT,
                                .precisions = TAKE(arena, PRECISION_COUNT, struct precision_costs)};
        for (int p = 0; p < PRECISION_COUNT; p++)
            g->precisions[p] =
                (struct precision_costs){.precision = (enum precision)p,
                                         .gemm_flop_per_s = estimate_assumed(1e14, why),
                                         .attention_flop_per_s = estimate_assumed(1e14, why),
                                         .low_rank_flop_per_s = estimate_assumed(1e14, why)};
        g->memory_bytes_per_s = estimate_assumed(1e12, why);
        g->layer_overhead_s = g->compression_overhead_s = estimate_assumed(0, why);
        g->constant_bytes = estimate_assumed(1e9, why);
    }
}

static enum status make_costs(struct costs *c, const struct layers_import *in,
                              const struct document **into, const char *file, struct arena *arena,
                              struct error *err)
{
    if (in->request->into) {
        const char *path;
        TRY(shipped_find(&path, "costs", in->request->into, arena, err));
        TRY(costs_load(c, path, arena, err));
        for (int i = 0; i < in->gpu_count; i++)
            if (!costs_find_gpu(c, in->gpus[i]))
                return refuse(err,
                              "%s: has no GPU \"%.60s\"; --gpu chooses one of the table's, --as "
                              "gives its name in the costs",
                              path, in->gpus[i]);
        *into = memcpy(TAKE(arena, 1, struct document), &c->document, sizeof c->document);
    } else assume_costs(c, in, arena);
    // The first entry that matches counts, so new ones come before existing ones.
    int old = c->layer_time_count;
    if (in->count + old > TIMES_MAX)
        return refuse(err, "%s: %d entries of layer_times, expected at most %d", file,
                      in->count + old, TIMES_MAX);
    struct layer_time *times =
        arena_grow(arena, in->times, (size_t)in->count, (size_t)(in->count + old), sizeof *times);
    if (old) memcpy(times + in->count, c->layer_times, (size_t)old * sizeof *times);
    c->layer_times = times;
    c->layer_time_count = in->count + old;
    return OK;
}

// Less work that takes longer is an error of the measurement, not of the importer.
static void say_doubts(const struct layers_import *in)
{
    for (int i = 1; i + 3 < in->count; i += 3) {
        const struct layer_time *a = &in->times[i], *b = &in->times[i + 3];
        if (strcmp(a->gpu, b->gpu) || a->tensor != b->tensor ||
            !(a->forward_s + a->backward_s > b->forward_s + b->backward_s))
            continue;
        fprintf(
            stderr,
            "doubtful: %s, tensor %lld: a %s takes %.4g s at micro-batch %lld, %.4g s at %lld\n",
            a->gpu, (long long)a->tensor, a->run, a->forward_s + a->backward_s,
            (long long)a->micro_batch, b->forward_s + b->backward_s, (long long)b->micro_batch);
    }
}

struct options {
    struct reading import;
    struct layers_request asked;
    struct layers_import in;
};
static const struct option_row rows[] = {
    {"--model", OPTION_TEXT, OPT(asked.model), "model in the table, if there are several"},
    {"--gpu", OPTION_TEXT, OPT(asked.gpu), "GPU in the table (default: all)"},
    {"--as", OPTION_TEXT, OPT(asked.as),
     "name of that GPU in the costs and the cluster (default: as in the table)", .needs = "--gpu"},
    {"--tensor", OPTION_INT, OPT(asked.tensor), "read only this tensor degree", 1, 1 << 20},
    {"--micro-batch", OPTION_INT, OPT(asked.micro_batch), "read only this micro-batch", 1, 1 << 20},
    {"--head-layers", OPTION_INT, OPT(asked.head_layers),
     "number of layers at the end that form the head (default: 1; 2: with a separate norm)", 1,
     1024},
    {"--into", OPTION_COSTS, OPT(asked.into),
     "costs to add these layers to: shipped name or file (default: placeholders for everything "
     "else)"},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct json root;
    const char *model;
    o->in.request = &o->asked;
    TRY(text_json(&root, r->file.path, r->text, r->size, r->arena, err));
    TRY(read_profiles(&o->in, &root, &model, r->arena, err));
    TRY(make_costs(&r->costs, &o->in, &r->into, r->file.path, r->arena, err));
    r->costs.name = model;
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    if (!o->asked.into)
        fprintf(stderr, "the table has only layers: rates, memory and constant bytes are "
                        "placeholders (--into COSTS takes them from costs)\n");
    say_doubts(&o->in);
}

static const struct reader reader = {"layers", MAKES_COSTS, false, read_file, tell};
static const struct options defaults = {.import = {.reader = &reader, .output = "-"},
                                        .asked = {.head_layers = 1}};
const struct command import_layers = {
    .name = "layers",
    .text = "table of measured layers (Sailor) -> costs with layer times",
    .usage = "plumbline import layers FILE.json [-o costs.json] [options]",
    READER(rows, struct options, defaults),
};
