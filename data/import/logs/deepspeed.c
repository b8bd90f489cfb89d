// DeepSpeed's log: its timer's lines, and the configuration that it prints. There `world_size` is
// the data degree.

#include "data/import/logs/internal.h"

// "[config.py:1000:print]   zero_optimization_stage ...... 3"
static bool read_printed(struct log *l, const char *line)
{
    const char *at = strstr(line, "[config.py:"), *key = at ? strstr(at, "print]") : NULL;
    if (!key) return false;
    l->seen[LOG_DEEPSPEED]++;
    key += 6, key += strspn(key, " ");
    size_t length = 0;
    while (isalnum((unsigned char)key[length]) || key[length] == '_') length++;
    const char *value = key + length;
    value += strspn(value, " "), value += strspn(value, "."), value += strspn(value, " ");
    size_t value_length = strlen(value);
    while (value_length && isspace((unsigned char)value[value_length - 1])) value_length--;
    if (length == 10 && !strncmp(key, "world_size", 10)) {
        double degree;
        if (number_at(value, &degree, NULL) && degree >= 1)
            tell_count(l, TOLD_DP, BY_PROGRAM, "DeepSpeed's world_size", (int64_t)degree);
    } else if (length) {
        log_setting(l, BY_PROGRAM, key, length, value, value_length);
    }
    return true;
}

static void keep_gib(int64_t *to, double gib)
{
    int64_t bytes = (int64_t)(gib * 1073741824);
    if (bytes > *to) *to = bytes;
}

static bool read_timer(struct log *l, const char *line)
{
    double rate, step = 0, memory;
    if (!number_after(line, "CurrSamplesPerSec=", &rate, NULL) && // of 2021 only the mean
        !number_after(line, " SamplesPerSec=", &rate, NULL))
        return false;
    if (!number_after(line, "global_step=", &step, NULL))
        number_after(line, "stop] 0/", &step, NULL); // of 2022
    measure_clock(l, line, step);
    measure(l, MEASURED_TIMER, (int64_t)step, rate);
    if (number_after(line, "MaxMemAllocated=", &memory, NULL))
        keep_gib(&l->memory.allocated_bytes, memory);
    l->seen[LOG_DEEPSPEED] += 2;
    return true;
}

// Optimizers and switches that send fewer bits than a value has.
void log_compression(struct log *l, const char *line)
{
    static const struct {
        const char *word, *name;
        bool is_switch;
    } kinds[] = {
        {"onebitadam", "1-bit Adam", false},          {"onebitlamb", "1-bit LAMB", false},
        {"zerooneadam", "0/1 Adam", false},           {"powersgd", "PowerSGD", false},
        {"zero_quantized_gradients", "ZeRO++", true}, {"zero_quantized_weights", "ZeRO++", true}};
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
        const char *at = find_in_any_case(line, kinds[i].word);
        if (at) at += strlen(kinds[i].word);
        bool on = at && (!kinds[i].is_switch || // its own value, behind signs alone
                         !strncasecmp(at + strspn(at, "\"'=:. "), "true", 4));
        if (on)
            tell(l, TOLD_COMPRESSION, BY_SETTING, kinds[i].word, kinds[i].name,
                 strlen(kinds[i].name));
    }
}

// "steps: 2 loss: 12.6157 iter time (s): 2.673 samples/sec: 95.775", of its pipelines.
static bool read_pipeline(struct log *l, const char *line)
{
    double step, time, rate;
    if (!number_after(line, "iter time (s):", &time, NULL) ||
        !number_after(line, "steps:", &step, NULL))
        return false;
    measure(l, MEASURED_ITERATION_S, (int64_t)step, time);
    if (number_after(line, "samples/sec:", &rate, NULL))
        measure(l, MEASURED_SAMPLES, (int64_t)step, rate);
    l->seen[LOG_DEEPSPEED] += 2;
    return true;
}

// DeepSpeed-Chat's, of a micro-batch: "Model Parameters: 1.429 B, Latency: 0.73s, TFLOPs: 63.8,
// Samples/sec: 21.96, Time/seq 0.05s, Batch Size: 16, Sequence Length: 512". Those between updates
// are shorter or longer: samples of all are by their mean.
static bool read_chat(struct log *l, const char *line)
{
    double latency, batch, seq;
    if (!strstr(line, "Model Parameters:") || !number_after(line, "Latency:", &latency, NULL) ||
        !number_after(line, "Batch Size:", &batch, NULL) ||
        !number_after(line, "Sequence Length:", &seq, NULL) || !(latency > 0))
        return false;
    measure(l, MEASURED_SAMPLES, 100 + (int64_t)l->lines, batch / latency);
    if (batch >= 1 && batch < 1e6)
        tell_count(l, TOLD_MICRO_BATCH, BY_PROGRAM, "Batch Size", (int64_t)batch);
    if (seq >= 1 && seq < 1e7) tell_count(l, TOLD_SEQ, BY_PROGRAM, "Sequence Length", (int64_t)seq);
    l->seen[LOG_DEEPSPEED] += 2;
    return true;
}

void log_deepspeed(struct log *l, const char *line)
{
    if (read_chat(l, line)) return;
    double value;
    if (read_printed(l, line) || read_timer(l, line) || read_pipeline(l, line)) return;
    if (strstr(line, "see_memory_usage") || strstr(line, "MA ")) {
        if (number_after(line, "Max_MA ", &value, NULL) ||
            number_after(line, "Max_MA", &value, NULL))
            keep_gib(&l->memory.allocated_bytes, value);
        if (number_after(line, "Max_CA ", &value, NULL)) keep_gib(&l->memory.reserved_bytes, value);
    }
    if (strstr(line, "contiguous Memory Checkpointing") &&
        number_after(line, " with ", &value, NULL) && strstr(line, " total layers"))
        tell_count(l, TOLD_LAYERS, BY_PROGRAM, "a line of the program", (int64_t)value);
    if (strstr(line, "deepspeed")) l->seen[LOG_DEEPSPEED]++;
}
