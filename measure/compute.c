// plumbline-measure compute: the parts of one transformer block on one device.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data/file.h"
#include "measure/cells.h"
#include "measure/compute.h"
#include "measure/parts.h"
#include "measure/rounds.h"

// Of the budget, for the repetitions that have to be; the rest goes where the intervals are still wide.
static const double share_for_least_work = 0.35;
enum { PROBE_REPETITIONS = 5, THREADS_MAX = 1024, REPETITIONS_MAX = 2000, SIZE_MAX_PER_AXIS = 1 << 24 };

struct settings {
    const char *model, *shape, *backend, *output, *name;
    int64_t tensor, micro_batch, sequence, rank, threads, seed;
    int precision;
    double budget_s, width;
    bool quiet;
};

// GPT-2 XL's, where neither a model nor a shape is given.
static const struct shape default_shape = {
    .hidden = 1600, .ffn = 6400, .heads = 25, .kv_heads = 25, .head_width = 64, .vocabulary = 50257, .positions = 1024,
    .qkv_bias = true, .linear_bias = true, .dropout = true, .tied_embeddings = true,
};

// "hidden=4096,ffn=14336,heads=32,kv_heads=8,vocabulary=128256,gated=1"; what is not named follows from the rest.
static enum status read_shape(struct shape *s, const char *text, struct arena *arena, struct error *err)
{
    int64_t gated = 0;
    *s = (struct shape){0};
    const struct { const char *key; int64_t *to; } keys[] = {
        {"hidden", &s->hidden}, {"ffn", &s->ffn}, {"heads", &s->heads}, {"kv_heads", &s->kv_heads},
        {"head_width", &s->head_width}, {"vocabulary", &s->vocabulary}, {"gated", &gated},
    };
    char *rest = arena_copy_text(arena, text), *word;
    while ((word = strtok_r(rest, ",", &rest))) {
        char *equals = strchr(word, '='), *end = NULL;
        size_t i = 0;
        if (equals) *equals++ = '\0';
        while (i < ARRAY_LENGTH(keys) && strcmp(keys[i].key, word)) i++;
        long long value = equals ? strtoll(equals, &end, 10) : -1;
        if (i == ARRAY_LENGTH(keys) || !equals || end == equals || *end || value < 0 || value > SIZE_MAX_PER_AXIS)
            return fail(err, BAD_INPUT,
                        "--shape: expected hidden=N,heads=N and any of ffn, kv_heads, head_width, vocabulary, gated (0 "
                        "or 1), each a "
                        "whole number up to %d, found '%s%s%s'",
                        SIZE_MAX_PER_AXIS, word, equals ? "=" : "", equals ? equals : "");
        *keys[i].to = value;
    }
    if (!s->hidden || !s->heads || (!s->head_width && s->hidden % s->heads))
        return fail(err, BAD_INPUT,
                    "--shape: hidden and heads are needed, and heads must divide hidden where head_width is not given");
    if (!s->ffn) s->ffn = 4 * s->hidden;
    if (!s->kv_heads) s->kv_heads = s->heads;
    if (!s->head_width) s->head_width = s->hidden / s->heads;
    if (!s->vocabulary) s->vocabulary = default_shape.vocabulary;
    s->gated_ffn = gated != 0;
    return OK;
}

static enum status find_shape(struct shape *shape, const struct settings *s, struct model *model, struct arena *arena,
                              struct error *err)
{
    if (s->model && s->shape) return fail(err, BAD_INPUT, "--model and --shape: one of them, not both");
    *shape = default_shape;
    if (s->shape) TRY(read_shape(shape, s->shape, arena, err));
    if (s->model) {
        TRY(model_load(model, s->model, arena, err));
        if (!model->has_shape)
            return fail(err, BAD_INPUT, "%s: the model has no shape, only measured layers: there is nothing to time",
                        s->model);
        *shape = model->shape;
    }
    if (shape->head_width > HEAD_WIDTH_MAX)
        return fail(err, BAD_INPUT, "%s: a head may be at most %d wide, found %lld", s->model ? s->model : "--shape",
                    HEAD_WIDTH_MAX, (long long)shape->head_width);
    return OK;
}

// The fastest of a few repetitions each; good enough for choosing sizes.
static enum status guess_rates(struct cells_request *request, const struct backend *backend, void *session,
                               struct arena *arena, struct error *err)
{
    struct cell probes[2];
    double fastest[2] = {1e9, 1e9};
    cells_probe(probes);
    TRY(backend->prepare(session, probes, 2, arena, err));
    for (int i = 0; i < 2 * PROBE_REPETITIONS; i++) {
        double seconds = backend->repeat(session, &probes[i % 2]);
        fastest[i % 2] = seconds < fastest[i % 2] ? seconds : fastest[i % 2];
    }
    request->gemm_flop_per_s = probes[0].sample.flop / fastest[0];
    request->copy_bytes_per_s = probes[1].sample.bytes / fastest[1];
    return OK;
}

static const char *time_now(struct arena *arena)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return arena_copy_text(arena, text);
}

static enum status run(const struct settings *s, struct arena *arena, struct error *err)
{
    TRY(file_check_place(s->output, err));
    double begin_s = clock_seconds();
    const struct backend *backend = backend_find(s->backend);
    if (!backend) return fail(err, BAD_INPUT, "--backend: unknown back end '%s'", s->backend);
    struct model model = {0};
    struct cells_request request = {
        .tensor = s->tensor, .micro_batch = s->micro_batch, .sequence = s->sequence, .rank = s->rank,
        .precision = (enum precision)s->precision, .threads = (int)s->threads,
        .largest_s = s->budget_s * share_for_least_work / cells_least_work(),
    };
    TRY(find_shape(&request.shape, s, &model, arena, err));
    void *session;
    struct backend_settings settings = {(int)s->threads, (uint64_t)s->seed};
    TRY(backend->open(&session, &settings, request.precision, arena, err));
    TRY(guess_rates(&request, backend, session, arena, err));
    struct cell *cells;
    int cell_count;
    cells_choose(&cells, &cell_count, &request, arena);
    TRY(backend->prepare(session, cells, cell_count, arena, err));

    struct samples samples = {.samples = TAKE(arena, cell_count, struct sample), .sample_count = cell_count};
    backend->describe(session, &samples.machine, arena);
    if (s->name) samples.machine.gpu = s->name;
    samples.machine.taken_at = time_now(arena);
    struct rounds_settings rounds = {
        .budget_s = s->budget_s,
        .begin_s = begin_s,
        .width = s->width,
        .repetitions_min = REPETITIONS_MIN,
        .repetitions_max = REPETITIONS_MAX,
        .warm_ups = 1,
        .seed = (uint64_t)s->seed,
        .progress = !s->quiet && isatty(STDERR_FILENO),
    };
    struct rounds_result result;
    rounds_run(&result, backend, session, cells, cell_count, &rounds, arena);
    for (int i = 0; i < cell_count; i++) samples.samples[i] = cells[i].sample;
    struct source source;
    if (s->model) {
        source = source_of("model", &model.document, s->output, arena);
        samples.document.sources = &source;
        samples.document.source_count = 1;
    }
    TRY(samples_save(&samples, s->output, arena, err));
    if (!s->quiet)
        fprintf(stderr,
                "measured %d operations on %s, %d thread%s: %d repetitions in %.1f s; %d narrower than %g %%, %d "
                "stopped by the budget\n",
                cell_count, samples.machine.processor, samples.machine.threads, samples.machine.threads == 1 ? "" : "s",
                result.repetitions, result.elapsed_s, result.done, 100 * s->width, cell_count - result.done);
    return OK;
}

enum status measure_compute(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    (void)exit_code;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct settings s = {
        .backend = "cpu", .output = "-", .tensor = 1, .micro_batch = 1, .sequence = 1024, .rank = 16,
        .threads = processors > 0 ? processors : 1, .seed = 1, .precision = FP32, .budget_s = 20, .width = 0.05,
    };
    const struct option options[] = {
        {"--model", OPTION_TEXT, &s.model, 0, 0, NULL, "the model whose block is timed; without it GPT-2 XL's shape"},
        {"--shape", OPTION_TEXT, &s.shape, 0, 0, NULL,
         "the same in words: hidden=N,heads=N[,ffn=N,kv_heads=N,head_width=N,vocabulary=N,gated=1]"},
        {"--tensor", OPTION_INT, &s.tensor, 1, 1024, NULL,
         "degree of tensor parallelism that the matrices are cut by (1)"},
        {"--micro-batch", OPTION_INT, &s.micro_batch, 1, 65536, NULL,
         "sequences: with --sequence the most tokens of a repetition (1)"},
        {"--sequence", OPTION_INT, &s.sequence, 1, 1 << 22, NULL, "tokens of a sequence (1024)"},
        {"--rank", OPTION_INT, &s.rank, 1, 4096, NULL, "rank of the low-rank compression (16)"},
        {"--precision", OPTION_NAME, &s.precision, 0, 0, precision_names, "(fp32)"},
        {"--threads", OPTION_INT, &s.threads, 1, THREADS_MAX, NULL, "(all processors)"},
        {"--budget-s", OPTION_NUMBER, &s.budget_s, 0.01, 1e6, NULL,
         "seconds to spend; at least 8 repetitions are taken in any case (20)"},
        {"--width", OPTION_NUMBER, &s.width, 1e-6, 10, NULL,
         "an interval this narrow, relative to its median, is enough (0.05)"},
        {"--seed", OPTION_INT, &s.seed, 0, 1e15, NULL, "for the operands' values and the order of the repetitions (1)"},
        {"--name", OPTION_TEXT, &s.name, 0, 0, NULL, "what the costs call the device (the processor's name)"},
        {"--backend", OPTION_TEXT, &s.backend, 0, 0, NULL, "the device: cpu (cpu)"},
        {"--quiet", OPTION_FLAG, &s.quiet, 0, 0, NULL, "nothing on stderr but errors"},
        {"-o", OPTION_TEXT, &s.output, 0, 0, NULL, "the samples file (standard output)"},
    };
    bool helped;
    TRY(options_read(argc, argv, "plumbline measure compute [OPTION ...]", options, ARRAY_LENGTH(options), NULL, 0, 0,
                     NULL, &helped, err));
    return helped ? OK : run(&s, arena, err);
}
