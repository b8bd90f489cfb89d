// MLPerf's results: ":::MLLOG {...}" lines, and the exports of its config_*.sh.
#include <math.h>
#include <time.h>

#include "data/import/logs/internal.h"

// ---- "export TENSOR_MODEL_PARALLEL=8"; "# config_DGXH100_64x8x288xtp8pp8cp2.sh"

// Some configurations have short names, which mean nothing elsewhere.
static const char *full_name(const char *key, size_t length)
{
    static const struct {
        const char *key, *full;
    } names[] = {{"TP", "tensor_model_parallel_size"}, {"PP", "pipeline_model_parallel_size"},
                 {"CP", "context_parallel_size"},      {"SP", "sequence_parallel"},
                 {"EP", "expert_model_parallel_size"}, {"VP", "interleaved_pipeline"},
                 {"MBS", "micro_batch_size"}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (strlen(names[i].key) == length && !strncmp(key, names[i].key, length))
            return names[i].full;
    return NULL;
}

// What a shell has from its launcher, with another value for none.
static bool is_of_launch(const char *key, size_t length)
{
    return name_is_listed("NNODES NUM_NODES WORLD_SIZE NPROC_PER_NODE", key, length);
}

static void count_branches(struct log_reader *r, const char *line)
{
    if (!strncmp(line, "if [", 4)) r->branches++;
    else if (r->branches && !strncmp(line, "fi", 2) && !isalnum((unsigned char)line[2]))
        r->branches--;
}

static bool read_export(struct log *l, const char *line)
{
    const char *key = strstr(line, "export ");
    if (!key || (key != line && key[-1] != ' ' && key[-1] != ':')) return false;
    key += 7;
    size_t length = strcspn(key, "= ");
    if (key[length] != '=') return true;
    const char *value = key + length + 1, *end, *inside;
    bool launch = is_of_launch(key, length);
    size_t value_length = strcspn(value, "#");
    while (value_length && isspace((unsigned char)value[value_length - 1])) value_length--;
    end = value + value_length;
    inside = memchr(value, '{', value_length);
    if (launch && (inside || l->reader->branches)) return true;
    if (inside) { // "${MINIBS:=128}"
        const char *from = strstr(inside, ":=");
        if (!from) from = strstr(inside, ":-");
        if (!from || from > end) return true;
        value = from + 2;
        value_length = strcspn(value, "}\"");
    }
    if (*value == '$') return true;
    const char *full = full_name(key, length);
    log_setting(l, l->reader->common ? BY_COMMON : BY_SETTING, full ? full : key,
                full ? strlen(full) : length, value, value_length);
    return true;
}

// "config_MI355X_1x8x1.sh": nodes, and GPUs of each.
static void read_config_size(struct log *l, const char *name)
{
    double nodes, gpus;
    const char *after, *size = strncmp(name, "config_", 7) ? NULL : strchr(name + 7, '_');
    if (size && number_at(size + 1, &nodes, &after) && *after == 'x' &&
        number_at(after + 1, &gpus, NULL) && nodes >= 1 && gpus >= 1 && gpus <= 72) {
        tell_count(l, TOLD_NODES, BY_WORDS, "the configuration's name", (int64_t)nodes);
        tell_count(l, TOLD_GPUS_PER_NODE, BY_WORDS, "the configuration's name", (int64_t)gpus);
    }
}

// "config_DGXH100_1x8x4xtp4pp1cp1.sh": degrees behind the last x.
static void read_config_degrees(struct log *l, const char *name)
{
    static const struct count_words degrees[] = {{"tp", TOLD_TP}, {"pp", TOLD_PP}, {"cp", TOLD_CP}};
    const char *at = strstr(name, "xtp"), *end = strstr(name, ".sh");
    if (at && end && at < end)
        tell_counts(l, at, BY_WORDS, "the configuration's name", degrees, ARRAY_LENGTH(degrees));
}

static bool read_config_name(struct log *l, const char *line)
{
    const char *at = strstr(line, "config_");
    if (at && strstr(at, ".sh")) read_config_degrees(l, at), read_config_size(l, at);
    if (!at || line[0] != '#') return false;
    l->reader->common = strstr(at, "config_common") != NULL;
    log_names(l, at);
    read_config_size(l, at);
    return true;
}

// ---- the log

// The value of a key of one line of JSON, without its quotes; false: it has none.
static bool value_of(const char *line, const char *key, const char **value, size_t *length)
{
    char quoted[TOLD_KEY + 8];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    if (!at) return false;
    at += strlen(quoted), at += strspn(at, " ");
    *length = *at == '"' ? strcspn(at + 1, "\"") : strcspn(at, ",}");
    *value = at + (*at == '"');
    return true;
}

static void read_told(struct log *l, const char *key, size_t key_length, const char *value,
                      size_t length)
{
    static const struct {
        const char *key, *setting;
    } known[] = {{"global_batch_size", "global_batch_size"},
                 {"micro_batch_size", "micro_batch_size"},
                 {"tensor_parallelism", "tensor_model_parallel_size"},
                 {"pipeline_parallelism", "pipeline_model_parallel_size"},
                 {"context_parallelism", "context_parallel_size"},
                 {"expert_parallelism", "expert_model_parallel_size"},
                 {"max_sequence_length", "seq_length"},
                 {"gradient_accumulation_steps", "gradient_accumulation_steps"},
                 {"lora_rank", "lora_rank"}};
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (strlen(known[i].key) == key_length && !strncmp(key, known[i].key, key_length))
            log_setting(l, BY_PROGRAM, known[i].setting, strlen(known[i].setting), value, length);
    // AMD's, from v6.0 on; of 8 bits the configuration says which.
    bool four = length >= 3 && !strncmp(value + length - 3, "fp4", 3);
    if (key_length == 33 && !strncmp(key, "lowest_numerical_precision_linear", 33) && four)
        tell(l, TOLD_FP4, BY_PROGRAM, "lowest_numerical_precision", "e2m1", 4);
    if (key_length == 15 && !strncmp(key, "config_filename", 15)) read_config_size(l, value);
    if (key_length == 19 && !strncmp(key, "submission_platform", 19)) {
        double nodes;
        if (number_at(value, &nodes, NULL) && nodes >= 1 && nodes < 1e5)
            tell_count(l, TOLD_NODES, BY_PROGRAM, "submission_platform", (int64_t)nodes);
    }
}

// Training between evaluations. Its amount is stated at the start (of tokens), or follows from the
// counts at the next start.
static void read_block(struct log *l, const char *line, bool begins)
{
    struct log_reader *r = l->reader;
    double ms, count, epochs;
    if (!number_after(line, "\"time_ms\":", &ms, NULL)) return;
    bool samples = number_after(line, "\"samples_count\":", &count, NULL),
         tokens = number_after(line, "\"epoch_count\":", &epochs, NULL) && epochs > 1;
    if (!begins) {
        r->block_ms = r->block_from_ms > 0 ? ms - r->block_from_ms : 0;
        r->block_samples = samples ? count : 0;
        if (tokens && r->block_ms > 0) l->block_s += r->block_ms / 1000, l->block_samples += epochs;
        return;
    }
    if (r->block_samples > 0) count = r->block_samples, samples = true; // some starts count steps
    if (samples && r->block_ms > 0 && count > r->block_from_samples)
        l->block_s += r->block_ms / 1000, l->block_samples += count - r->block_from_samples;
    r->block_from_ms = ms, r->block_ms = 0;
    if (samples) r->block_from_samples = count;
}

// Milliseconds since 1970, as the month that they are in.
static void read_date(struct log *l, const char *line)
{
    double ms;
    if (!number_after(line, "\"time_ms\":", &ms, NULL)) return;
    time_t seconds = (time_t)(ms / 1000);
    struct tm date;
    char text[16];
    if (!gmtime_r(&seconds, &date) || !strftime(text, sizeof text, "%Y-%m", &date)) return;
    if (date.tm_year >= 115) tell(l, TOLD_VERSION, BY_PROGRAM, "time_ms", text, strlen(text));
}

static void read_mllog(struct log *l, const char *line)
{
    const char *key, *value;
    size_t key_length, length;
    double number, step = 0;
    l->seen[LOG_MLPERF] += 5;
    if (!value_of(line, "key", &key, &key_length) || !value_of(line, "value", &value, &length))
        return;
    read_told(l, key, key_length, value, length);
    if (!told(l, TOLD_VERSION)) read_date(l, line);
    if (!strncmp(key, "block_start", key_length)) read_block(l, line, true);
    if (!strncmp(key, "block_stop", key_length)) read_block(l, line, false);
    number_after(line, "\"step\":", &step, NULL);
    if (number_after(line, "\"train_step_time\":", &number, NULL) ||
        number_after(line, "\"train_step_timing\":", &number, NULL))
        measure(l, MEASURED_ITERATION_S, l->series[MEASURED_ITERATION_S].seen + 1, number);
    enum { OF_TOKENS = 100000 }; // GPT-3 of rounds up to 3.1 counts tokens
    if (number_after(line, "\"throughput\":", &number, NULL) && number < OF_TOKENS)
        measure(l, MEASURED_SAMPLES,
                (int64_t)fmax(step, (double)l->series[MEASURED_SAMPLES].seen + 1), number);
    if (key_length == 18 && !strncmp(key, "overall_throughput", 18) &&
        number_at(value, &number, NULL))
        measure(l, MEASURED_SAMPLES, (int64_t)l->series[MEASURED_SAMPLES].seen + 100, number);
    if (!strncmp(key, "submission_", 11)) log_names(l, line);
}

void log_mlperf(struct log *l, const char *line)
{
    count_branches(l->reader, line);
    if (strstr(line, ":::MLLOG")) read_mllog(l, line);
    else if (!read_export(l, line)) read_config_name(l, line);
}
