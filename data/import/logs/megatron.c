// Megatron-LM's log, and those of what is built on it: arguments, iteration lines, parameters.
#include <math.h>

#include "data/import/logs/internal.h"

// ---- "  hidden_size ..................................... 9216"

enum { ARGUMENTS_MOST = 1 << 18 };

static void begin_dump(struct log *l)
{
    l->reader->in_dump = l->reader->began_dump = true;
    l->reader->argument_count = 0;
    text_begin(&l->reader->arguments, l->arena);
    for (int i = 0; i < MEASURED_COUNT; i++) l->series[i].count = 0, l->series[i].seen = 0;
}

// Whoever quotes some of the arguments leaves out more than these; no version has so few as WHOLE.
enum { QUOTED_LEAST = 24, WHOLE_LEAST = 80 };

static void end_dump(struct log *l)
{
    const struct log_reader *r = l->reader;
    l->dumped = r->began_dump && !r->cut_dump && r->argument_count >= QUOTED_LEAST;
    l->dumped_whole = l->dumped && r->argument_count >= WHOLE_LEAST;
    l->reader->in_dump = l->reader->began_dump = false;
    l->arguments = l->reader->arguments.text;
}

// GPT-NeoX says behind each value where it is from: "12..........................updated". The
// length without that; 0: it says nothing of the kind.
static size_t without_origin(const char *value, size_t length)
{
    static const char *const origins[] = {"updated", "default"};
    for (size_t i = 0; i < ARRAY_LENGTH(origins); i++) {
        size_t own = strlen(origins[i]);
        if (length <= own || strncmp(value + length - own, origins[i], own) != 0) continue;
        for (length -= own; length > 1 && value[length - 1] == '.';) length--;
        return length;
    }
    return 0;
}

// Its names (neox_args.py) of what Megatron-LM's arguments say otherwise.
static void read_neox(struct log *l, const char *key, size_t length, const char *value,
                      size_t value_length)
{
    static const struct {
        const char *neox, *value, *key, *means; // value: which alone it means; NULL: any, as it is
    } names[] = {{"no_weight_tying", NULL, "untie_embeddings_and_output_weights", NULL},
                 {"moe_num_experts", NULL, "num_experts", NULL},
                 {"moe_top_k", NULL, "moe_router_topk", NULL},
                 {"norm", NULL, "normalization", NULL},
                 {"pos_emb", NULL, "position_embedding_type", NULL},
                 {"attention_config", NULL, "attn_implementation", NULL},
                 {"activation", "swiglu", "swiglu", "true"},
                 {"activation", "geglu", "swiglu", "true"},
                 {"mlp_type", "llama", "swiglu", "true"}};
    bool dense = !strncmp(key, "moe_num_experts ", 16) && value_length == 1 && *value == '1',
         backend = !strncmp(key, "deepspeed_activation_checkpointing ", 35); // of what recomputes
    if (dense || backend) return;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        bool own = strlen(names[i].neox) == length && !strncmp(key, names[i].neox, length),
             means = !names[i].value || (strlen(names[i].value) == value_length &&
                                         !strncmp(value, names[i].value, value_length));
        if (!own || !means) continue;
        if (names[i].means) value = names[i].means, value_length = strlen(value);
        key = names[i].key, length = strlen(key);
        break;
    }
    log_setting(l, BY_PROGRAM, key, length, value, value_length);
}

// A key, at least three dots (or what is left of them behind a long key), a value.
static bool read_argument(struct log *l, const char *line)
{
    const char *key = line + strspn(line, " |"), *dots = key, *value;
    while (isalnum((unsigned char)*dots) || *dots == '_') dots++;
    size_t length = (size_t)(dots - key);
    if (!length || length >= TOLD_KEY + 16 || *dots != ' ') return false;
    dots += strspn(dots, " ");
    size_t dotted = strspn(dots, ".");
    if (dotted < 2 && !l->reader->in_dump) return false;
    value = dots + (dotted > 1 ? dotted : 0);
    value += strspn(value, " ");
    size_t value_length = strlen(value);
    while (value_length && isspace((unsigned char)value[value_length - 1])) value_length--;
    if (!strncmp(key, "batch_size ", 11)) key = "micro_batch_size", length = 16; // of 2020
    size_t own = l->reader->in_dump ? without_origin(value, value_length) : 0;
    if (own) read_neox(l, key, length, value, value_length = own);
    else log_setting(l, BY_PROGRAM, key, length, value, value_length);
    l->reader->argument_count++;
    if (l->reader->in_dump && l->reader->arguments.length < ARGUMENTS_MOST)
        text_put(&l->reader->arguments, "  %.*s ... %.*s\n", (int)length, key, (int)value_length,
                 value);
    return true;
}

// ---- iteration lines

// By what was consumed since the line before, or since the beginning; 0: not stated, or raised.
static double consumed_batch(struct log *l, const char *line)
{
    struct log_reader *r = l->reader;
    double step, samples, from_step = r->step, from_samples = r->samples;
    if (!number_after(line, "consumed samples:", &samples, NULL) ||
        !number_after(line, "iteration", &step, NULL) || step < 1)
        return 0;
    r->step = step, r->samples = samples;
    if (!(step > from_step)) from_step = from_samples = 0;
    double batch = (samples - from_samples) / (step - from_step);
    return batch == floor(batch) ? batch : 0;
}

static void read_batch(struct log *l, const char *line)
{
    double batch;
    if (!number_after(line, "global batch size:", &batch, NULL) &&
        !number_after(line, "global_batch_size=", &batch, NULL))
        batch = consumed_batch(l, line);
    if (!(batch >= 1) || batch > 1e9) return;
    if (l->batch &&
        l->batch != (int64_t)batch) // it is being raised: what was before is another run's
        for (int i = 0; i < MEASURED_COUNT; i++) l->series[i].count = 0, l->series[i].seen = 0;
    l->batch = (int64_t)batch;
    tell_count(l, TOLD_GLOBAL_BATCH, BY_PROGRAM, "global batch size", l->batch);
}

// "consumed tokens: 1.258B": with the samples, the length of a sequence.
static void read_consumed_tokens(struct log *l, const char *line)
{
    double tokens;
    const char *after;
    if (!number_after(line, "consumed tokens:", &tokens, &after)) return;
    l->reader->tokens = tokens * (*after == 'B' ? 1e9 : *after == 'M' ? 1e6 : 1);
}

static void read_rates(struct log *l, const char *line, int64_t step)
{
    static const struct {
        const char *before;
        enum measured what;
    } rates[] = {{"throughput per GPU (TFLOP/s/GPU):", MEASURED_TFLOPS},
                 {"throughput (TFLOP/s/GPU):", MEASURED_TFLOPS},
                 {"TFLOPs:", MEASURED_TFLOPS},
                 {"TFLOPs=", MEASURED_TFLOPS},
                 {"tokens_per_gpu_per_second_tgs=", MEASURED_TOKENS},
                 {"samples_per_second=", MEASURED_SAMPLES},
                 {"approx flops per GPU:", MEASURED_TFLOPS},
                 {"tokens per gpu per second (tgs):", MEASURED_TOKENS},
                 {"tokens per gpu per second(tgs):", MEASURED_TOKENS},
                 {"tokens per GPU (tokens/s/GPU):", MEASURED_TOKENS},
                 {"tokens/sec/gpu:", MEASURED_TOKENS},
                 {"tokens/sec/GPU:", MEASURED_TOKENS},
                 {"samples per second:", MEASURED_SAMPLES},
                 {"samples/sec:", MEASURED_SAMPLES}}; // GPT-NeoX's
    double value;
    for (size_t i = 0; i < ARRAY_LENGTH(rates); i++)
        if (number_after(line, rates[i].before, &value, NULL))
            measure(l, rates[i].what, step, value);
    if (number_after(line, "actual seqlen:", &value, NULL) ||
        number_after(line, "actual_seqlen=", &value, NULL))
        tell_count(l, TOLD_SEQ, BY_PROGRAM, "actual seqlen", (int64_t)value);
}

static bool read_iteration(struct log *l, const char *line)
{
    double step, time;
    const char *after = NULL, *ms = strstr(line, "elapsed time per iteration (ms)"),
               *s = strstr(line, "elapsed time per iteration (s)");
    if (!ms && (ms = strstr(line, "elapsed_time_per_iteration_ms="))) ms--; // a letter shorter
    if ((!ms && !s) || !number_after(line, "iteration", &step, &after)) return false;
    if (!number_at((ms ? ms + 31 : s + 30), &time, NULL)) return true;
    read_batch(l, line);
    if (!number_after(line, "consumed samples:", &l->reader->all_samples, NULL))
        number_after(line, "consumed_samples=", &l->reader->all_samples, NULL);
    read_consumed_tokens(l, line);
    measure(l, MEASURED_ITERATION_S, (int64_t)step, ms ? time / 1000 : time);
    read_rates(l, line, (int64_t)step);
    log_memory(l, line);
    l->seen[strstr(line, "samples per second:") || strstr(line, "approx flops") ||
                    strstr(line, "samples/sec:") || strstr(line, "samples_per_second=")
                ? LOG_MEGATRON_DEEPSPEED
                : LOG_MEGATRON]++;
    return true;
}

// ---- the rest

static void read_world(struct log *l, const char *line)
{
    static const struct count_words degrees[] = {
        {"using world size:", TOLD_NUM_GPUS},     {"context-parallel size:", TOLD_CP},
        {"tensor-model-parallel size:", TOLD_TP}, {" pipeline-model-parallel size:", TOLD_PP},
        {"data-parallel size:", TOLD_DP},         {"data-parallel-size:", TOLD_DP},
        {" model-parallel size:", TOLD_TP}};
    tell_counts(l, line, BY_PROGRAM, "the line of the world size", degrees, ARRAY_LENGTH(degrees));
    l->seen[LOG_MEGATRON]++;
}

// "> initialized tensor model parallel with size 8": of older programs.
static void read_initialized(struct log *l, const char *line)
{
    static const struct count_words counts[] = {
        {"initialized tensor model parallel with size", TOLD_TP},
        {"initialized pipeline model parallel with size", TOLD_PP},
        {"number of micro-batches to constant", TOLD_ACCUMULATION},
        {"number of microbatches to constant", TOLD_ACCUMULATION}};
    tell_counts(l, line, BY_PROGRAM, "a line of the program", counts, ARRAY_LENGTH(counts));
}

static void read_parameters(struct log *l, const char *line)
{
    double count;
    const char *at = strstr(line, "model parallel rank");
    if (at && (at = strchr(at, ':')) && number_at(at + 1, &count, NULL) && count >= 1e3)
        l->rank_parameters = (int64_t)count > l->rank_parameters ? (int64_t)count
                                                                 : l->rank_parameters;
    if (number_after(line, "Total number of parameters in billions:", &count, NULL))
        l->parameters = (int64_t)(count * 1e9);
}

void log_megatron(struct log *l, const char *line)
{
    double from, to;
    const char *after;
    if (read_iteration(l, line)) return;
    if (strstr(line, "pretrain_gpt.py")) l->seen[LOG_MEGATRON]++;
    if (strstr(line, "- arguments -") || strstr(line, " arguments ---")) {
        if (!strstr(line, "end of")) begin_dump(l);
        else end_dump(l);
        l->seen[LOG_MEGATRON] += 5;
        return;
    }
    if (strstr(line, "end of arguments")) end_dump(l);
    if (l->reader->in_dump && !strcmp(line + strspn(line, " "), "...")) l->reader->cut_dump = true;
    const char *using = strstr(line, "using torch.");
    if (using && strstr(using, "for parameters"))
        log_setting(l, BY_PROGRAM, "params_dtype", 12, using + 6, strcspn(using + 6, " "));
    if (strstr(line, "initialized ") || strstr(line, "to constant")) read_initialized(l, line);
    if (strstr(line, "using world size:")) read_world(l, line);
    else if (strstr(line, "parameters")) read_parameters(l, line);
    else if (strstr(line, "padded vocab (size:")) {
        if (number_after(line, "padded vocab (size:", &from, &after) &&
            number_after(after, "new size:", &to, NULL))
            tell_count(l, TOLD_PADDED, BY_PROGRAM, "padded vocab", (int64_t)to);
    } else if (read_argument(l, line)) return;
    else if (l->reader->in_dump && *line && line[0] != ' ') l->reader->in_dump = false;
}
