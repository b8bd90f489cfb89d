// transformers' Trainer and what is built on it: its summary of a run, its last line, its bar.
#include <math.h>

#include "data/import/logs/internal.h"

// A bar's description, "Loading weights:": of something else than training.
static bool is_other_bar(const char *line, const char *bar)
{
    static const char *const words[] = {"train", "epoch", "step", "iter"};
    const char *percent = strchr(line, '%');
    if (!percent || percent > bar) return false;
    while (percent > line && strchr("0123456789 ", percent[-1])) percent--;
    if (percent == line || percent[-1] != ':') return false;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        const char *word = find_in_any_case(line, words[i]);
        if (word && word < percent) return false;
    }
    return true;
}

// Bars of evaluations and of data have other totals; before the training's is stated, the longest
// bar is its.
static bool is_training(struct log *l, double total)
{
    struct log_reader *r = l->reader;
    if (total == r->bar_total) return true;
    if (r->bar_stated || total < r->bar_total) return false;
    r->bar_total = total;
    l->series[MEASURED_ITERATION_S].count = 0, l->series[MEASURED_ITERATION_S].seen = 0;
    return true;
}

// "12/1218 [01:03<1:42:08,  5.08s/it]"
static bool read_bar(struct log *l, const char *line)
{
    double value, step, total;
    const char *end = strstr(line, "s/it"), *rate = strstr(line, "it/s"), *at = end ? end : rate;
    if (!at || (at[4] != ']' && at[4] != ',') || l->seen[LOG_NEMO]) return false;
    while (at > line && strchr("0123456789.", at[-1])) at--;
    if (!number_at(at, &value, NULL) || !(value > 0)) return false;
    while (at > line && *at != '[') at--;
    while (at > line && at[-1] == ' ') at--;
    while (at > line && strchr("0123456789/", at[-1])) at--;
    if (!number_at(at, &step, &at) || *at != '/' || !number_at(at + 1, &total, NULL)) return false;
    if (step < 1 || is_other_bar(line, at) || !is_training(l, total)) return false;
    measure(l, MEASURED_ITERATION_S, (int64_t)step, end ? value : 1 / value);
    return true;
}

// ms-swift's lines of JSON: means since the beginning.
static void read_json(struct log *l, const char *line)
{
    double step = 0, value, gib = 1073741824;
    if (!strstr(line, "global_step/max_steps")) return;
    number_after(line, "global_step/max_steps", &step, NULL);
    const char *word = strstr(line, "train_speed(");
    const char *close = word ? strchr(word, ')') : NULL;
    if (close && number_at(close + 1, &value, NULL) && value > 0)
        measure(l, MEASURED_ITERATION_S, (int64_t)step,
                !strncmp(word, "train_speed(s/it)", 17) ? value : 1 / value);
    if (number_after(line, "memory(GiB)", &value, NULL) &&
        value * gib > (double)l->memory.reserved_bytes)
        l->memory.reserved_bytes = (int64_t)(value * gib);
    l->seen[LOG_TRANSFORMERS]++;
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
    if (number_after(line, "Total optimization steps =", &value, NULL)) {
        l->reader->bar_stated = false, (void)is_training(l, value);
        l->reader->bar_total = value, l->reader->bar_stated = true;
    }
    if (number_after(line, "Number of trainable parameters =", &value, NULL))
        l->parameters = (int64_t)value, l->seen[LOG_TRANSFORMERS] += 2;
    if (number_after(line, "total_flos", &value, NULL)) l->total_flop = value;
    if (number_after(line, "train_runtime", &value, NULL)) l->runtime_s = value;
    // "TrainOutput(global_step=500, ... 'train_runtime': 485.375": surer than a rate of few digits.
    double steps;
    if (strstr(line, "TrainOutput(global_step") && l->runtime_s > 0 &&
        number_after(line, "global_step", &steps, NULL) && steps >= 1 &&
        !l->series[MEASURED_ITERATION_S].seen)
        l->average_s = l->runtime_s / steps;
    double samples, steps_per_s; // rounded
    if (number_after(line, "train_samples_per_second", &samples, NULL) &&
        number_after(line, "train_steps_per_second", &steps_per_s, NULL) && steps_per_s >= 0.1) {
        double batch = floor(samples / steps_per_s + 0.5);
        if (batch >= 1 && fabs(samples / steps_per_s / batch - 1) < 0.01)
            tell_count(l, TOLD_GLOBAL_BATCH, BY_WORDS, "samples/s over steps/s", (int64_t)batch);
    }
    if (number_after(line, "train_samples_per_second", &value, NULL) ||
        (!strncmp(line, "Samples per second:", 19) && number_at(line + 19, &value, NULL))) {
        measure(l, MEASURED_SAMPLES, 100, value);
        l->seen[LOG_TRANSFORMERS] += 2;
    }
}

// "64.101 samples/sec", "18 sequences per second", in words: the line's last.
static void read_words(struct log *l, const char *line)
{
    static const char *const words[] = {"samples/s", "samples per sec", "sequences per sec"};
    const char *at = NULL, *next;
    for (size_t i = 0; i < ARRAY_LENGTH(words) && (!i || strstr(line, "s per sec")); i++)
        for (next = line; (next = strstr(next, words[i]));) at = next++;
    if (!at || l->seen[LOG_MEGATRON] || l->series[MEASURED_SAMPLES].seen > 8) return;
    if (at[strcspn(at, ": ")] == ':') return; // the number is behind it
    while (at > line && at[-1] == ' ') at--;
    while (at > line && strchr("0123456789.", at[-1])) at--;
    double value;
    if (number_at(at, &value, NULL)) measure(l, MEASURED_SAMPLES, 100 + (int64_t)l->lines, value);
}

static bool is_first_person(const char *line)
{
    static const char *const words[] = {"I ", "I'm ", "we ", "We ", "my ", "My ", "me."};
    if (log_is_of_others(line)) return false;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        for (const char *at = line; (at = strstr(at, words[i])); at++)
            if (at == line || at[-1] == ' ') return true;
    return false;
}

// "Avg Iteration Time: 8.01s": where a page has several runs, with as many times, of none of them.
static void read_time_words(struct log *l, const char *line)
{
    static const char *const words[] = {
        "iteration time:", "iter time:",     "step time:",       "step takes",  "iteration takes",
        "step took",       "iteration took", "iteration time ~", "step time ~", "iteration time is",
        "step time is",    "step time of",   "iteration time of"};
    const double apart = 1.5;
    struct prose_rate *to = &l->reader->prose[MEASURED_ITERATION_S];
    double value;
    const char *after;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        const char *at = find_in_any_case(line, words[i]),
                   *number = at ? at + strlen(words[i]) : "";
        number += strspn(number, " ~");
        if (!at || !number_at(number, &value, &after) || !(value > 0)) continue;
        after += *after == ' ';
        if (!strncmp(after, "ms", 2)) value /= 1000;
        else if (*after != 's') continue;
        bool differs = to->value > 0 && (value > apart * to->value || to->value > apart * value);
        if (differs) to->value = -1;
        else if (!(to->value > 0) && !(to->value < 0)) *to = (struct prose_rate){value, true};
        return;
    }
}

// Rates of posts, "8,784 tokens/s/GPU", "17,905.340 ms/step": where no line of a log has any. What
// its author measured counts more than what others did.
void log_prose(struct log *l, const char *line)
{
    static const struct {
        const char *unit;
        enum measured of;
        double scale;
    } units[] = {{"tokens/s/gpu", MEASURED_TOKENS, 1},
                 {"tokens/sec/gpu", MEASURED_TOKENS, 1},
                 {"token/sec/gpu", MEASURED_TOKENS, 1},
                 {"ms/step", MEASURED_ITERATION_S, 0.001},
                 {"ms per iteration", MEASURED_ITERATION_S, 0.001},
                 {"ms per step", MEASURED_ITERATION_S, 0.001},
                 {"s per iteration", MEASURED_ITERATION_S, 1},
                 {"s per step", MEASURED_ITERATION_S, 1},
                 {" ms,", MEASURED_ITERATION_S, 0.001},
                 {"seconds per step", MEASURED_ITERATION_S, 1},
                 {"seconds per iteration", MEASURED_ITERATION_S, 1},
                 {"sec/step", MEASURED_ITERATION_S, 1},
                 {"s/iter", MEASURED_ITERATION_S, 1},
                 {"tps/gpu", MEASURED_TOKENS, 1},
                 {"s/step", MEASURED_ITERATION_S, 1},
                 {"s/it", MEASURED_ITERATION_S, 1},
                 {"iter/s", MEASURED_ITERATION_S, 0}, // 0: its inverse
                 {"steps/s", MEASURED_ITERATION_S, 0},
                 {"tflop/s/gpu", MEASURED_TFLOPS, 1},
                 {"tflops/s/gpu", MEASURED_TFLOPS, 1},
                 {"tflops/sec/gpu", MEASURED_TFLOPS, 1},
                 {"tflops/gpu", MEASURED_TFLOPS, 1},
                 {"tokens/gpu/s", MEASURED_TOKENS, 1},
                 {"tokens/second/gpu", MEASURED_TOKENS, 1},
                 {"tokens per second per gpu", MEASURED_TOKENS, 1},
                 {"tok/s/gpu", MEASURED_TOKENS, 1},
                 {"toks/s/gpu", MEASURED_TOKENS, 1},
                 {"tflops/device", MEASURED_TFLOPS, 1},
                 {"tflops per gpu", MEASURED_TFLOPS, 1},
                 {"tflops/s per gpu", MEASURED_TFLOPS, 1},
                 {"% mfu", MEASURED_MFU, 1}};
    static const char *const times[] = {"ime:",  "ime ~",  "ime is ", "ime of ",
                                        " took", " takes", NULL};
    if (has_one_of(line, times)) read_time_words(l, line);
    bool steps = strstr(line, "s/it") && !strpbrk(line, "|[");
    bool per = strstr(line, "s per "), seconds = per && strstr(line, "seconds per"),
         each = seconds || (per && (strstr(line, "s per iteration") || strstr(line, "s per step")));
    static const char *const rated[] = {"/s", "/S", "/GPU", "/gpu", "per GPU", "% MFU", NULL};
    if (!steps && !each && !has_one_of(line, rated)) return;
    bool own = is_first_person(line);
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        const char *at = find_in_any_case(line, units[i].unit), *from = at;
        struct prose_rate *to = &l->reader->prose[units[i].of];
        double value;
        bool rates = *units[i].unit != ' ' || find_in_any_case(line, "/s/gpu"); // of a step
        rates &= steps || strcmp(units[i].unit, "s/it") != 0;
        bool step = units[i].of == MEASURED_ITERATION_S;
        rates &= own || seconds || !step || !strstr(units[i].unit, "s per "); // not a plan's
        if (!at || !rates || to->value < 0 || (to->value > 0 && (!own || to->own))) continue;
        while (from > line && from[-1] == ' ') from--;
        bool thousands = from > line + 1 && (from[-1] | 32) == 'k' && // "70K TPS/GPU"
                         isdigit((unsigned char)from[-2]);
        if (thousands) from--;
        while (from > line && strchr("0123456789.,", from[-1])) from--;
        if (from == at || !number_at(from, &value, NULL) || !(value > 0)) continue;
        if (thousands) value *= 1000;
        *to = (struct prose_rate){units[i].scale > 0 ? value * units[i].scale : 1 / value, own};
    }
}

void log_take_prose(struct log *l)
{
    static const enum measured rates[] = {MEASURED_ITERATION_S, MEASURED_TOKENS, MEASURED_SAMPLES,
                                          MEASURED_TIMER, MEASURED_TFLOPS};
    for (size_t i = 0; i < ARRAY_LENGTH(rates) && l->run; i++) // its table has them
        l->series[rates[i]] = (struct log_series){.count = 0};
    for (size_t i = 0; i < ARRAY_LENGTH(rates); i++)
        if (l->series[rates[i]].count) return;
    for (int i = 0; i < MEASURED_COUNT && !(l->average_s > 0) && !(l->block_s > 0); i++)
        measure(l, (enum measured)i, 100, l->reader->prose[i].value);
}

void log_trainer(struct log *l, const char *line)
{
    log_script(l, line);
    if (strstr(line, "Max memory: ") && strstr(line, "Platform")) // unsloth's first lines
        log_gpu_of_program(l, line);
    if (!read_bar(l, line)) read_json(l, line);
    read_summary(l, line);
    read_words(l, line);
    if (strstr(line, "TrainingArguments") || strstr(line, "transformers/trainer") ||
        strstr(line, "transformers.Trainer") || strstr(line, "trainer.py"))
        l->seen[LOG_TRANSFORMERS]++;
    if (strstr(line, "llamafactory") || strstr(line, "LLaMA-Factory") ||
        strstr(line, "finetuning_type") || strstr(line, "cutoff_len") || strstr(line, "llmtuner") ||
        strstr(line, "train_bash.py"))
        l->seen[LOG_LLAMA_FACTORY] += 3;
    if (strstr(line, "gradient_checkpointing_enable("))
        tell(l, TOLD_GRANULARITY, BY_SETTING, "gradient_checkpointing_enable", "full", 4);
    if (strstr(line, "Fine-tuning method: LoRA"))
        tell(l, TOLD_ADAPTERS, BY_PROGRAM, "Fine-tuning method", "1", 1);
}
