// plumbline import trace FILE.json: the time of every annotated range of a PyTorch profiler's
// trace, as a table, CSV, or samples of whole layers (one repetition for each time a range was
// entered); or its operators as samples of kernels. The file is read once, as a stream, so it may
// be standard input and larger than memory.
#include <stdlib.h>
#include <string.h>

#include "data/text/table.h"
#include "data/numbers/intervals.h"
#include "data/import/import.h"
#include "data/import/trace/ranges.h"
#include "data/inputs/model/layer_load.h"

enum { FORMAT_TABLE, FORMAT_CSV, FORMAT_SAMPLES, FORMAT_OPERATORS };
static const char *const format_names[] = {"table", "csv", "samples", "operators", NULL};
static const char *const rule_texts[] = {
    "device time of what each range's calls launched",
    "device time by the profiler's device ranges: the trace has no launches",
    "host time: the trace has no work on a device",
    "device time as Nsight Systems projects each range onto it",
};
#define SECONDS_MOST 1e6
enum { REPETITIONS_MOST = 1000000 };

struct trace_request {
    const char *range, *operation, *gpu, *model;
    struct option_texts layers;
    bool unfused;
    int64_t micro_batch, sequence, tensor, context, gpus_per_node;
    int format, precision;
};

// All entries with one name.
struct row {
    const char *name;
    int calls;
    int64_t work;
    double seconds, median, host_s;
    double *each;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds > y->seconds ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Rows in order of their time, longest first.
static struct row *make_rows(const struct trace *t, const char *prefix, int *count,
                             struct arena *arena)
{
    struct row *rows = TAKE(arena, t->names.count, struct row);
    *count = 0;
    for (int i = 0; i < t->used_count; i++) rows[t->used[i].name].calls++;
    for (int n = 0; n < t->names.count; n++) {
        char *name = arena_copy_text(arena, t->names.texts[n]);
        plain_make(name);
        rows[n].name = name;
        rows[n].seconds = t->name_seconds[n];
        rows[n].each = TAKE(arena, rows[n].calls, double);
        rows[n].calls = 0;
    }
    for (int i = 0; i < t->used_count; i++) {
        const struct trace_range *r = &t->used[i];
        struct row *row = &rows[r->name];
        row->each[row->calls++] = r->seconds;
        row->work += r->work;
        row->host_s += 1e-9 * (double)(r->end_ns - r->start_ns);
    }
    for (int n = 0; n < t->names.count; n++) {
        struct row *row = &rows[n];
        if (!row->calls || (prefix && strncmp(row->name, prefix, strlen(prefix)))) continue;
        row->median = median_of(TAKE_COPY(arena, row->each, row->calls), row->calls);
        rows[(*count)++] = *row;
    }
    qsort(rows, (size_t)*count, sizeof *rows, compare_rows);
    return rows;
}

// ---- table and CSV

static enum status write_rows(const struct trace *t, const struct row *rows, int count, bool csv,
                              const char *output, struct arena *arena, struct error *err)
{
    size_t size = 200, length = 0;
    for (int i = 0; i < count; i++) size += 2 * strlen(rows[i].name) + 164;
    char *text = arena_take(arena, size, 1);
    length += (size_t)snprintf(text, size,
                               csv ? "range,calls,device_operations,seconds,median_s,host_s\n"
                                   : "%9s %11s %12s %12s %12s  %s\n",
                               "calls", "device ops", "seconds", "median s", "host s", "range");
    for (int i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        length +=
            (size_t)(csv ? snprintf(text + length, size - length, "%s,%d,%lld,%.9g,%.9g,%.9g\n",
                                    csv_cell(r->name, arena), r->calls, (long long)r->work,
                                    r->seconds, r->median, r->host_s)
                         : snprintf(text + length, size - length,
                                    "%9d %11lld %12.9f %12.9f %12.9f  %s\n", r->calls,
                                    (long long)r->work, r->seconds, r->median, r->host_s, r->name));
    }
    if (!csv && t->outside) {
        text = arena_print(arena, "%s%9s %11lld %12.9f %12s %12s  (in no range)\n", text, "",
                           (long long)t->outside, t->outside_s, "", "");
        length = strlen(text);
    }
    return file_write(output, text, length, err);
}

// ---- samples

// "RANGE=block forward": what a range is.
static const char *operation_of(const struct trace_request *r, const char *range)
{
    for (int i = 0; i < r->layers.count; i++) {
        const char *text = r->layers.items[i], *equals = strrchr(text, '=');
        if (equals && strlen(range) == (size_t)(equals - text) &&
            !strncmp(range, text, (size_t)(equals - text)))
            return equals + 1;
    }
    return r->operation ? r->operation : range;
}

// With the model's shape, and the work by which costs are fitted. false: no layer's pass.
static bool put_work(struct sample *s, const struct trace_request *r, const struct model *model)
{
    struct layer_at at = {.micro_batch = r->micro_batch,
                          .sequence = r->sequence,
                          .tensor = r->tensor,
                          .context = r->context,
                          .precision = (enum precision)r->precision,
                          .fused = !r->unfused};
    enum load_pass pass;
    if (!layer_operation_read(s->operation, &at.kind, &pass)) return false;
    struct layer_load load = layer_load_of(&model->shape, &at);
    layer_load_of_pass(&load, pass, at.fused, &s->flop, &s->bytes);
    s->shape = &model->shape;
    return true;
}

static enum status expect_operation(const struct trace_request *r, int count, struct error *err)
{
    for (int i = 0; i < r->layers.count; i++) {
        const char *equals = strrchr(r->layers.items[i], '=');
        enum layer_kind kind;
        enum load_pass pass;
        if (!equals || !layer_operation_read(equals + 1, &kind, &pass))
            return refuse(
                err,
                "--layer: expected RANGE=OPERATION with an operation such as block forward "
                "or head backward, found '%.60s'",
                r->layers.items[i]);
    }
    return r->operation && count > 1
               ? refuse(err, "--operation names one range, but %d remain; --range chooses", count)
               : OK;
}

static void tell_samples(const struct trace_request *r, const struct samples *s, int left_out)
{
    if (!r->model)
        fprintf(stderr, "without --model these samples have neither shape nor FLOP, and calibrate "
                        "leaves them out\n");
    if (left_out)
        fprintf(stderr,
                "%d ranges are no layer's pass and are left out; --layer says what one is\n",
                left_out);
    if (r->model)
        fprintf(stderr, "%d passes of micro-batch %lld, sequence %lld, tensor %lld, %s, %s\n",
                s->sample_count, (long long)r->micro_batch, (long long)r->sequence,
                (long long)r->tensor, precision_names[r->precision],
                r->unfused ? "unfused attention" : "fused attention");
}

static enum status write_samples(const struct trace_request *r, const struct model *model,
                                 const struct row *rows, int count, const char *output,
                                 struct arena *arena, struct error *err)
{
    struct samples s = {.machine = {.gpu = r->gpu, .threads = 1, .library = "PyTorch profiler"},
                        .samples = TAKE(arena, count, struct sample)};
    int left_out = 0;
    for (int i = 0; i < count; i++) {
        if (!(rows[i].seconds > 0)) continue;
        if (!(rows[i].seconds <= SECONDS_MOST))
            return refuse(err, "range \"%.60s\": expected at most %g s, found %g", rows[i].name,
                          SECONDS_MOST, rows[i].seconds);
        if (rows[i].calls > REPETITIONS_MOST)
            return refuse(err, "range \"%.60s\": expected at most %d calls, found %d", rows[i].name,
                          REPETITIONS_MOST, rows[i].calls);
        struct sample x = {.kind = SAMPLE_LAYER,
                           .operation = operation_of(r, rows[i].name),
                           .dimensions = {r->micro_batch, r->sequence, r->tensor, r->context},
                           .dimension_count = 4,
                           .precision = (enum precision)r->precision,
                           .from = -1,
                           .to = -1,
                           .seconds = rows[i].each,
                           .repetitions = rows[i].calls,
                           .stopped_by = "imported"};
        if (!model || put_work(&x, r, model)) s.samples[s.sample_count++] = x;
        else left_out++;
    }
    if (!s.sample_count && left_out)
        return refuse(
            err, "no range is a layer's pass: --layer \"%.60s=block forward\" says what one is",
            rows[0].name);
    if (!s.sample_count) return refuse(err, "no range took any time");
    TRY(expect_operation(r, s.sample_count, err));
    TRY(samples_save(&s, output, arena, err));
    tell_samples(r, &s, left_out);
    return OK;
}

// What the trace's operators say, where no option does.
static void take_sizes(struct trace_request *r, const struct trace *t, const struct model *model)
{
    struct trace_sizes z = trace_sizes_of(&t->ops, &model->shape);
    if (!r->micro_batch) r->micro_batch = z.micro_batch;
    if (!r->sequence) r->sequence = z.sequence;
    if (!r->tensor) r->tensor = z.tensor;
    if (r->precision < 0) r->precision = z.precision;
    if (!r->gpu && t->ops.device[0]) r->gpu = t->ops.device;
}

// Writes the operators, with messages on what each of them covers.
static enum status write_operators(const struct trace_request *r, struct trace *t, const char *path,
                                   const char *output, struct arena *arena, struct error *err)
{
    struct samples s = {.machine = {.gpu = r->gpu,
                                    .processor = t->ops.device[0] ? t->ops.device : NULL,
                                    .memory_bytes = t->ops.device_bytes,
                                    .threads = 1,
                                    .library = "PyTorch profiler"}};
    int counts[SAMPLE_KIND_COUNT] = {0};
    int idle = trace_op_samples(&s, t, (int)r->gpus_per_node, arena);
    if (!s.sample_count)
        return refuse(err,
                      "%s: no operator's size is known: profile with record_shapes=True, and with "
                      "CUDA among the activities",
                      path);
    if (!s.machine.gpu) s.machine.gpu = t->ops.device[0] ? t->ops.device : "unknown";
    TRY(samples_save(&s, output, arena, err));
    for (int i = 0; i < s.sample_count; i++) counts[s.samples[i].kind]++;
    for (int k = 0; k < SAMPLE_KIND_COUNT; k++)
        if (counts[k]) fprintf(stderr, "%d sizes of kind %s\n", counts[k], sample_kind_names[k]);
    if (!t->work_count && t->rule != TRACE_BY_NSIGHT)
        fprintf(stderr, "host time: the trace has no work on a device\n");
    if (idle && t->work_count)
        fprintf(stderr, "%d operators launched nothing and are left out\n", idle);
    if (t->ops.unknown)
        fprintf(stderr, "%lld collectives of other kinds or types are left out\n",
                (long long)t->ops.unknown);
    if (counts[SAMPLE_COLLECTIVE])
        fprintf(stderr, "a collective's time includes the wait for the last of its ranks\n");
    return OK;
}

static enum status expect_options(const struct trace_request *r, struct error *err)
{
    const char *missing = !r->gpu            ? "--gpu"
                          : !r->micro_batch  ? "--micro-batch"
                          : !r->sequence     ? "--sequence"
                          : r->precision < 0 ? "--precision"
                                             : NULL;
    return r->format == FORMAT_SAMPLES && missing
               ? refuse(err,
                        "%s is missing: samples need it, and the trace does not say it (with "
                        "--model, operators with record_shapes=True do)",
                        missing)
               : OK;
}

static enum status read_trace(struct trace *t, const char *path, const struct trace_request *r,
                              struct arena *arena, struct error *err)
{
    const char *name = strcmp(path, "-") ? arena_copy_text(arena, path) : "standard input";
    bool operators = r->format == FORMAT_OPERATORS, medians;
    FILE *from = stdin;
    if (nsight_is(path, arena)) return nsight_read(t, path, r->precision, &medians, arena, err);
    if (strcmp(path, "-")) TRY(file_open(&from, path, arena, err));
    TRY(trace_read(t, name, from, operators || r->model, arena, err));
    if (operators) return OK;
    TRY(trace_attribute(t, name, arena, err));
    return t->used_count
               ? OK
               : refuse(err,
                        "%s: has no annotated ranges (record_function) to sum by; --format "
                        "operators takes products, attention and collectives of it",
                        name);
}

struct options {
    struct reading import;
    struct trace_request asked;
};
static const struct option_row option_rows[] = {
    {"--format", OPTION_NAME, OPT(asked.format),
     "table of ranges (default), the same as CSV, samples of ranges as layers, or samples of "
     "operators",
     .names = format_names},
    {"--range", OPTION_TEXT, OPT(asked.range), "use only ranges whose name begins with TEXT"},
    {"--gpu", OPTION_TEXT, OPT(asked.gpu), "samples: name of the GPU in the costs"},
    {"--precision", OPTION_NAME, OPT(asked.precision), "samples: precision of the layers",
     .names = precision_names},
    {"--micro-batch", OPTION_INT, OPT(asked.micro_batch),
     "samples: sequences per micro-batch of the profiled run", 1, 1 << 20},
    {"--sequence", OPTION_INT, OPT(asked.sequence), "samples: tokens per sequence", 1, 1 << 26},
    {"--tensor", OPTION_INT, OPT(asked.tensor),
     "samples: tensor degree (default: as the operators say, or 1)", 1, 1 << 20},
    {"--context", OPTION_INT, OPT(asked.context), "samples: context degree (default: 1)", 1,
     1 << 20},
    {"--gpus-per-node", OPTION_INT, OPT(asked.gpus_per_node),
     "operators: consecutive ranks that share a node (default: 8)", 1, 1024},
    {"--operation", OPTION_TEXT, OPT(asked.operation),
     "samples: operation that the one selected range is, such as \"block forward\" (default: its "
     "name)"},
    {"--layer", OPTION_TEXT, OPT(asked.layers),
     "samples: RANGE=OPERATION, what a range is, such as \"layer_fwd=block forward\"; may be "
     "repeated",
     .many = 64},
    {"--model", OPTION_PATH, OPT(asked.model),
     "samples: the model that ran: its shape and FLOP go with the times, so that calibrate takes "
     "them"},
    {"--unfused", OPTION_FLAG, OPT(asked.unfused),
     "samples: attention writes its scores (default: a fused kernel)"},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct trace_request *r = &o->asked;
    struct model *model = NULL;
    const char *path = o->import.path, *output = o->import.output;
    struct arena *arena = o->import.arena;
    struct trace *t = TAKE(arena, 1, struct trace);
    int count;
    if (r->model) {
        model = TAKE(arena, 1, struct model);
        TRY(model_load(model, r->model, arena, err));
        if (!model->has_shape) return refuse(err, "%s: expected a model with a shape", r->model);
    }
    TRY(read_trace(t, path, r, arena, err));
    if (model) take_sizes(r, t, model);
    if (!r->tensor) r->tensor = 1;
    TRY(expect_options(r, err));
    if (r->format == FORMAT_OPERATORS) return write_operators(r, t, path, output, arena, err);
    const struct row *rows = make_rows(t, r->range, &count, arena);
    if (!count) return refuse(err, "%s: no range's name begins with '%.60s'", path, r->range);
    if (r->format == FORMAT_SAMPLES) TRY(write_samples(r, model, rows, count, output, arena, err));
    else TRY(write_rows(t, rows, count, r->format == FORMAT_CSV, output, arena, err));
    fprintf(stderr, "%s%s\n", rule_texts[t->rule],
            t->outside && t->rule != TRACE_BY_HOST ? "; some work is in no range" : "");
    return OK;
}

static const struct reader reader = {.opens = true, .read = read_file};
static const struct options defaults = {
    .import = {.reader = &reader, .output = "-"},
    .asked = {.context = 1, .precision = -1, .gpus_per_node = 8}};
const struct command import_trace = {
    .name = "trace",
    .text = "PyTorch profiler trace, or ranges of Nsight Systems -> time by range, or samples",
    .usage = "plumbline import trace FILE.json|FILE.csv|- [-o FILE] [options]",
    READER(option_rows, struct options, defaults),
};
