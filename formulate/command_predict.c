// plumbline predict: time and memory of given configurations. A table of thousands is answered row
// by row, as a table or as JSON; a single configuration is given on the command line or as a
// problem.
#include <string.h>

#include "formulate/commands.h"
#include "data/inputs/cost_keys.h"
#include "formulate/predict/predict.h"

struct output {
    char text[1 << 16];
    size_t length;
    FILE *to, *notes;
    bool json, first, read_notes, refused; // refused: all rows
    struct arena *arena;
};

static void flush(struct output *o)
{
    fwrite(o->text, 1, o->length, o->to);
    o->length = 0;
}

static char *room(struct output *o, size_t bytes)
{
    if (o->length + bytes > sizeof o->text) flush(o);
    return o->text + o->length;
}

static void put_text(struct output *o, const char *text, size_t length)
{
    for (; length > 4096; text += 4096, length -= 4096, o->length += 4096)
        memcpy(room(o, 4096), text, 4096);
    memcpy(room(o, length), text, length);
    o->length += length;
}

static void put(struct output *o, const char *text) { put_text(o, text, strlen(text)); }

// Formats integers without printf: a table of a hundred thousand rows has millions of them.
static void put_whole(struct output *o, int64_t value)
{
    char digits[24], *at = digits + sizeof digits, *end = at;
    do *--at = (char)('0' + value % 10);
    while (value /= 10);
    put_text(o, at, (size_t)(end - at));
}

// Nanoseconds as seconds, with all nine places.
static void put_seconds(struct output *o, int64_t ns)
{
    char places[11] = ".000000000";
    int64_t rest = ns % 1000000000;
    for (int i = 9; i > 0; i--, rest /= 10) places[i] = (char)('0' + rest % 10);
    put_whole(o, ns / 1000000000);
    put_text(o, places, 10);
}

// A text of JSON; texts that are read have no control characters.
static void put_quoted(struct output *o, const char *text, size_t length)
{
    put(o, "\"");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\') put(o, "\\");
        put_text(o, &text[i], 1);
    }
    put(o, "\"");
}

static void put_cell(struct output *o, const char *text, size_t length)
{
    struct arena_mark mark = arena_set_mark(o->arena);
    put(o, csv_cell(cell_copy((struct cell){text, (int)length}, o->arena), o->arena));
    arena_reset(o->arena, mark);
}

// ---- tables

// How a member of a prediction is written: a whole number of nanoseconds, or an int64_t, int, bool
// or double as it is, or as 1e-12 of it. Times and shares of 0 are not known.
enum shown { SECONDS, WHOLE, RANK, FLAG, RATE, SHARE, TERA };

#define AT(member) offsetof(struct prediction, member)
static const struct column {
    const char *name;
    enum shown shown;
    size_t at;
} columns[] = {
    {"iteration_s", SECONDS, AT(iteration_ns)},
    {"iteration_low_s", SECONDS, AT(low_ns)},
    {"iteration_high_s", SECONDS, AT(high_ns)},
    {"memory_bytes", WHOLE, AT(device_bytes)},
    {"memory_limit_bytes", WHOLE, AT(limit_bytes)},
    {"fits", FLAG, AT(fits)},
    {"fullest_rank", RANK, AT(fullest_rank)},
    {"weight_bytes", WHOLE, AT(memory.weight_bytes)},
    {"gradient_bytes", WHOLE, AT(memory.gradient_bytes)},
    {"optimizer_bytes", WHOLE, AT(memory.optimizer_bytes)},
    {"activation_bytes", WHOLE, AT(memory.activation_bytes)},
    {"working_bytes", WHOLE, AT(memory.working_bytes)},
    {"buffer_bytes", WHOLE, AT(memory.buffer_bytes)},
    {"constant_bytes", WHOLE, AT(memory.constant_bytes)},
    {"tokens_per_s", RATE, AT(tokens_per_s)},
    {"model_tflops_per_gpu", TERA, AT(model_flop_per_gpu_s)},
    {"mfu", SHARE, AT(mfu)},
    {"causal_tflops_per_gpu", TERA, AT(causal_flop_per_gpu_s)},
    {"causal_mfu", SHARE, AT(causal_mfu)},
    {"price_per_hour", SHARE, AT(price_per_hour)},
    {"price_per_million_tokens", SHARE, AT(price_per_million_tokens)},
};

static void put_table_header(struct output *o)
{
    put(o, "id");
    for (size_t i = 0; i < ARRAY_LENGTH(columns); i++) put(o, ","), put(o, columns[i].name);
    put(o, ",reason\n");
}

// Of what is not known a table has an empty cell, and JSON no key.
static void put_column(struct output *o, const struct column *c, const struct prediction *x)
{
    static const char *const flags[2][2] = {{"0", "1"}, {"false", "true"}};
    const void *at = (const char *)x + c->at;
    double share = c->shown < SHARE ? 1 : *(const double *)at / (c->shown == TERA ? 1e12 : 1);
    bool known = c->shown == SECONDS ? *(const int64_t *)at != 0 : share > 0 && share < 9e9;
    if (o->json && !known) return;
    put(o, o->json ? ", \"" : ",");
    if (o->json) put(o, c->name), put(o, "\": ");
    if (!known) return;
    switch (c->shown) {
    case SECONDS: put_seconds(o, *(const int64_t *)at); break;
    case WHOLE: put_whole(o, *(const int64_t *)at); break;
    case RANK: put_whole(o, *(const int *)at); break;
    case FLAG: put(o, flags[o->json][*(const bool *)at]); break;
    case RATE: put_whole(o, (int64_t) * (const double *)at); break;
    case SHARE:
    case TERA: put_seconds(o, (int64_t)(share * 1e9)); break;
    }
}

static void put_row_text(struct output *o, const char *id, size_t id_length,
                         const struct prediction *x)
{
    put_cell(o, id, id_length);
    for (size_t i = 0; i < ARRAY_LENGTH(columns); i++)
        if (*x->reason) put(o, ",");
        else put_column(o, &columns[i], x);
    put(o, ",");
    if (*x->reason) put_cell(o, x->reason, strlen(x->reason));
    put(o, "\n");
}

static void put_row_json(struct output *o, const char *id, size_t id_length,
                         const struct prediction *x)
{
    put(o, o->first ? "[\n  {\"id\": " : ",\n  {\"id\": ");
    o->first = false;
    put_quoted(o, id, id_length);
    if (*x->reason) put(o, ", \"reason\": "), put_quoted(o, x->reason, strlen(x->reason));
    for (size_t i = 0; i < ARRAY_LENGTH(columns) && !*x->reason; i++) put_column(o, &columns[i], x);
    put(o, "}");
}

// `text`: of the table; NULL: the file is read.
static enum status predict_table(struct predictor *p, const char *path, const char *text,
                                 const char *defaults, struct output *o, struct arena *arena,
                                 struct error *err)
{
    struct row_reader rows;
    struct run_row row;
    struct prediction prediction;
    bool more, told = false;
    int predicted = 0, refused = 0;
    if (text) TRY(rows_open_text(&rows, path, text, strlen(text), defaults, arena, err));
    else TRY(rows_open(&rows, path, defaults, arena, err));
    if (!o->json) put_table_header(o);
    for (;;) {
        TRY(rows_next(&rows, &row, &more, err));
        if (!more) break;
        if (!o->read_notes) row_drop_notes(&row, o->notes, &told);
        predict_row(p, &row, &prediction);
        (o->json ? put_row_json : put_row_text)(o, row.id.length ? row.id.text : "",
                                                (size_t)row.id.length, &prediction);
        *(*prediction.reason ? &refused : &predicted) += 1;
    }
    if (o->json) put(o, o->first ? "[]\n" : "\n]\n");
    flush(o);
    fprintf(o->notes, "%s: %d rows predicted, %d not (reasons in the rows)%s%s\n", path, predicted,
            refused, *rows.ignored ? "; columns not read: " : "", rows.ignored);
    o->refused = refused && !predicted;
    return OK;
}

// ---- one configuration

static void show(FILE *to, const struct prediction *x, struct arena *arena)
{
    const char *assumed = prediction_assumed(x, arena);
    static const double gb = 1e9;
    const struct memory_parts *m = &x->memory;
    fprintf(to, "iteration_s       %.9f\n", (double)x->iteration_ns * 1e-9);
    if (x->high_ns)
        fprintf(to,
                "iteration_low_s   %.9f\niteration_high_s  %.9f\nwidest            %s: alone to "
                "%.4g s\n",
                (double)x->low_ns * 1e-9, (double)x->high_ns * 1e-9, x->widest,
                (double)x->widest_ns * 1e-9);
    fprintf(to, "memory_bytes      %lld on rank %d: %s the limit %lld (capacity %lld)\n",
            (long long)x->device_bytes, x->fullest_rank, x->fits ? "within" : "over",
            (long long)x->limit_bytes, (long long)x->capacity_bytes);
    fprintf(to,
            "  GB: weights %.3f, gradients %.3f, optimizer %.3f, activations %.3f, working %.3f, "
            "buffers %.3f, feedback %.3f, constant %.3f\n",
            (double)m->weight_bytes / gb, (double)m->gradient_bytes / gb,
            (double)m->optimizer_bytes / gb, (double)m->activation_bytes / gb,
            (double)m->working_bytes / gb, (double)m->buffer_bytes / gb,
            (double)m->feedback_bytes / gb, (double)m->constant_bytes / gb);
    fprintf(to, "tokens_per_s      %.6g, %.0f a GPU-hour\n", x->tokens_per_s,
            x->tokens_per_s * 3600 / x->gpus);
    if (x->model_flop_per_gpu_s > 0)
        fprintf(to, "TFLOP/s per GPU   %.4g of the model (%.4g with causal attention)",
                x->model_flop_per_gpu_s / 1e12, x->causal_flop_per_gpu_s / 1e12);
    if (x->mfu > 0)
        fprintf(to, ", MFU %.2f %% (causal %.2f %%)", 100 * x->mfu, 100 * x->causal_mfu);
    if (x->model_flop_per_gpu_s > 0) fprintf(to, "\n");
    if (x->price_per_hour > 0)
        fprintf(to, "price             %.6g an hour, %.4g a million tokens\n", x->price_per_hour,
                x->price_per_million_tokens);
    // 7.42 s of 32 micro-batches and 36 layers on H100: Megatron-Bridge 067f987,
    // examples/model_verification_cards/qwen3-8b (SFT, tensor 4).
    if (prediction_launches_share(x) > 0)
        fprintf(to,
                "host              its launches decide: +%.0f %% at the slow end of what is known; "
                "of a layer and micro-batch, forward and backward, hosts are known that take 6.4 "
                "ms, and graphs=step leaves none (--set layer_launch_s=S)\n",
                100 * prediction_launches_share(x));
    if (*assumed)
        fprintf(to, "assumed           %s, as %s%s of %d-%02d\n", assumed,
                program_names[x->origin.program],
                x->origin.program == PROGRAM_UNKNOWN ? " program" : "", x->origin.date / 100,
                x->origin.date % 100);
}

static enum status answer_one(const struct prediction *x, const struct costs *costs,
                              const char *name, struct output *o, struct error *err)
{
    if (*x->reason) return refuse(err, "%s: cannot be predicted: %s", name, x->reason);
    if (!o->json) {
        show(o->to, x, o->arena);
        fprintf(o->to, "costs             %s\n",
                costs_origins(costs, x->gpu, x->value_bytes, o->arena));
        return OK;
    }
    put_row_json(o, name, strlen(name), x);
    put(o, "\n]\n");
    flush(o);
    return OK;
}

static enum status predict_file(struct predictor *p, const char *path, int mode, struct output *o,
                                struct arena *arena, struct error *err)
{
    struct problem problem;
    struct placement placement;
    struct prediction prediction;
    TRY(problem_load(&problem, path, arena, err));
    if (problem.job.space.given && !space_is_of_settings(&problem.job.space))
        return refuse(err, "%s: expected one layout, found a space of them; solve searches it",
                      path);
    if (job_mixing_key(&problem.job))
        return refuse(err, "%s: %s: expected none; solve finds each stage's", path,
                      job_mixing_key(&problem.job));
    if (job_has_widths(&problem.job))
        return refuse(err, "%s: stage_degrees: expected uniform; solve finds each stage's own",
                      path);
    TRY(placement_equal(&placement, &problem, (enum recompute)mode, err));
    predict_problem(p, &problem, &placement, &prediction);
    return answer_one(&prediction, &problem.costs, path, o, err);
}

struct options {
    struct option_texts words;
    const char *defaults, *set;
    struct predict_settings settings;
    int mode;
    bool json, read_notes, no_ranges;
};

static const char *const modes[] = {"none", "selective", "full", NULL};
static const struct option_row rows[] = {
    {"ROWS.csv", OPTION_PATH, OPT(words), .low = 1, .many = OPTION_ANY_NUMBER},
    {"--json", OPTION_FLAG, OPT(json), "print a JSON array instead of a table"},
    {"--cluster", OPTION_CLUSTER, OPT(settings.cluster),
     "shipped name or file (default: the shipped cluster with the row's GPU)"},
    {"--costs", OPTION_COSTS, OPT(settings.costs), "shipped name or file (default: kernels)"},
    {"--gpu-like", OPTION_GPU, OPT(settings.likeness.known),
     "shipped GPU in whose nodes and with whose costs a GPU that no cluster has is taken, as an "
     "assumption"},
    LIKENESS_ROWS(OPT(settings.likeness)),
    {"--set", OPTION_TEXT, OPT(set), "override numbers of the costs: name=value,..."},
    {"--default", OPTION_TEXT, OPT(defaults), "values of blank cells: column=value,..."},
    {"--margin", OPTION_NUMBER, OPT(settings.margin),
     "usable share of a GPU's memory (default: 0.9)", 0.01, 1},
    {"--margin-bytes", OPTION_INT, OPT(settings.margin_bytes),
     "bytes to keep free within that share (default: 0); a problem's job sets both", 0, 1LL << 50},
    {"--no-ranges", OPTION_FLAG, OPT(no_ranges),
     "do not compute ranges of cost uncertainty (several times faster)"},
    {"--read-notes", OPTION_FLAG, OPT(read_notes),
     "read missing columns from words in notes and source"},
    {"--recompute", OPTION_NAME, OPT(mode),
     "recomputation on all stages of a problem (default: none)", .names = modes},
};

static enum status answer(const struct options *o, const char *table, struct output *out,
                          struct arena *arena, struct error *err)
{
    const char *first = o->words.items[0];
    struct predictor *p;
    struct run_row row;
    struct prediction prediction;
    struct predict_settings settings = o->settings;
    bool told = false;
    settings.ranges = !o->no_ranges;
    out->arena = arena;
    out->json = o->json, out->first = true, out->read_notes = o->read_notes;
    TRY(predictor_open(&p, &settings, arena, err));
    if (o->set) TRY(predictor_set(p, o->set, err));
    if (table) return predict_table(p, first, table, o->defaults, out, arena, err);
    if (o->words.count == 1 &&
        path_ends_with(path_of_document(first, "problem.json", arena), ".json"))
        return predict_file(p, first, o->mode, out, arena, err);
    if (o->words.count == 1 && !strchr(first, '='))
        return predict_table(p, first, NULL, o->defaults, out, arena, err);
    TRY(row_of_words(&row, o->words.items, o->words.count, arena, err));
    if (!o->read_notes) row_drop_notes(&row, out->notes, &told);
    predict_row(p, &row, &prediction);
    return answer_one(&prediction, predictor_costs(p), "configuration", out, err);
}

COMMAND_RUN(run)
{
    struct output *out = TAKE(arena, 1, struct output);
    out->to = stdout, out->notes = stderr;
    TRY(answer(options, NULL, out, arena, err));
    if (out->refused) *exit_code = 2;
    return OK;
}

const struct command command_predict = {
    .name = "predict",
    .text = "time and memory of one given configuration, or a table of thousands",
    .about = "Predicts a training run of each configuration, without a search. The operands are a "
             "CSV file, or name=value words for one configuration.",
    .usage = "plumbline predict ROWS.csv | problem.json | column=value ... [OPTION ...]",
    READS(struct options, rows,
          {.settings.margin = MEMORY_FRACTION_DEFAULT, .mode = RECOMPUTE_NONE}),
    .run = run,
};

enum status predict_words(FILE *to, FILE *notes, const char *table, int argc, char **argv,
                          struct arena *arena, struct error *err)
{
    struct options o;
    struct output *out = TAKE(arena, 1, struct output);
    out->to = to, out->notes = notes;
    TRY(command_read_options(&command_predict, &o, argc, argv, arena, err));
    return answer(&o, table, out, arena, err);
}
