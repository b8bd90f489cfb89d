// transformers' Trainer and what is built on it: its summary of a run, its last line, its bar.
#include <string.h>

#include "data/import/logs/internal.h"

// "12/1218 [01:03<1:42:08,  5.08s/it]"
static bool read_bar(struct log *l, const char *line)
{
    double value, step = 0;
    const char *end = strstr(line, "s/it]"), *rate = strstr(line, "it/s]"), *at = end ? end : rate;
    if (!at) return false;
    while (at > line && strchr("0123456789.", at[-1])) at--;
    if (!number_at(at, &value, NULL) || !(value > 0)) return false;
    const char *slash = strchr(line, '/');
    const char *from = slash;
    while (from && from > line && strchr("0123456789", from[-1])) from--;
    if (from) number_at(from, &step, NULL);
    measure(l, MEASURED_ITERATION_S, (int64_t)step, end ? value : 1 / value);
    return true;
}

static void read_summary(struct log *l, const char *line)
{
    static const struct count_words counts[] = {
        {"Instantaneous batch size per device =", TOLD_MICRO_BATCH},
        {"accumulation) =", TOLD_GLOBAL_BATCH},
        {"Gradient Accumulation steps =", TOLD_ACCUMULATION}};
    double value;
    l->seen[LOG_TRANSFORMERS] +=
        2 * tell_counts(l, line, BY_PROGRAM, "the trainer's summary", counts, ARRAY_LENGTH(counts));
    if (number_after(line, "Number of trainable parameters =", &value, NULL))
        l->parameters = (int64_t)value, l->seen[LOG_TRANSFORMERS] += 2;
    if (number_after(line, "train_samples_per_second", &value, NULL)) {
        measure(l, MEASURED_SAMPLES, 100, value);
        l->seen[LOG_TRANSFORMERS] += 2;
    }
}

// "64.101 samples/sec", in words.
static void read_words(struct log *l, const char *line)
{
    const char *at = NULL, *next = line;
    while ((next = strstr(next, "samples/s"))) at = next++;
    if (!at || l->seen[LOG_MEGATRON] || l->series[MEASURED_SAMPLES].seen > 8) return;
    while (at > line && at[-1] == ' ') at--;
    while (at > line && strchr("0123456789.", at[-1])) at--;
    double value;
    if (number_at(at, &value, NULL)) measure(l, MEASURED_SAMPLES, 100 + (int64_t)l->lines, value);
}

void log_trainer(struct log *l, const char *line)
{
    read_bar(l, line);
    read_summary(l, line);
    read_words(l, line);
    if (strstr(line, "TrainingArguments") || strstr(line, "transformers/trainer") ||
        strstr(line, "transformers.Trainer") || strstr(line, "trainer.py"))
        l->seen[LOG_TRANSFORMERS]++;
    if (strstr(line, "llamafactory") || strstr(line, "LLaMA-Factory") ||
        strstr(line, "finetuning_type") || strstr(line, "cutoff_len"))
        l->seen[LOG_LLAMA_FACTORY] += 3;
    if (strstr(line, "Fine-tuning method: LoRA"))
        tell(l, TOLD_ADAPTERS, BY_PROGRAM, "Fine-tuning method", "1", 1);
}
