// NeMo's lines of steps (1: a progress bar, 2: "Training epoch 0, iteration 49/99 | ..."), and
// Megatron-Bridge's, with its cards of averages.

#include "data/import/logs/internal.h"

static void keep(int64_t *to, double bytes)
{
    if (!(bytes > 1e6) || !(bytes < 1e15) || (int64_t)bytes <= *to) return;
    *to = (int64_t)bytes;
}

static bool read_step(struct log *l, const char *line)
{
    enum { LATER = 100 }; // a line that is quoted without its number is hardly the first one
    double time, value, step = 0;
    if (!number_after(line, "train_step_timing in s", &time, NULL)) return false;
    if (!number_after(line, "global_step", &step, NULL) &&
        !number_after(line, "iteration", &step, NULL))
        step = (double)LATER + (double)l->series[MEASURED_ITERATION_S].seen;
    measure(l, MEASURED_ITERATION_S, (int64_t)step + 1, time);
    if (number_after(line, "TFLOPS_per_GPU", &value, NULL))
        measure(l, MEASURED_TFLOPS, (int64_t)step + 1, value);
    if (number_after(line, "tokens_per_sec_per_gpu", &value, NULL))
        measure(l, MEASURED_TOKENS, (int64_t)step + 1, value);
    if (number_after(line, "max_memory_reserved", &value, NULL))
        keep(&l->memory.reserved_bytes, value);
    if (number_after(line, "max_memory_allocated", &value, NULL) ||
        number_after(line, "peak_memory_usage", &value, NULL))
        keep(&l->memory.allocated_bytes, value);
    if (number_after(line, "global_batch_size", &value, NULL) && value >= 1)
        tell_count(l, TOLD_GLOBAL_BATCH, BY_PROGRAM, "global_batch_size", (int64_t)value);
    l->seen[LOG_NEMO] += 3;
    return true;
}

// "Step Time : 25.07s GPU utilization: 512.7MODEL_TFLOP/s/GPU"
static bool read_bridge(struct log *l, const char *line)
{
    double time, value;
    if (!number_after(line, "Step Time :", &time, NULL)) return false;
    int64_t step = l->series[MEASURED_ITERATION_S].seen + 1;
    if (!strstr(line, "elapsed time")) measure(l, MEASURED_ITERATION_S, step, time);
    if (number_after(line, "GPU utilization:", &value, NULL))
        measure(l, MEASURED_TFLOPS, step, value);
    l->seen[LOG_BRIDGE] += 3;
    return true;
}

static bool read_card(struct log *l, const char *line)
{
    double value;
    if (!strstr(line, "last_") || !strstr(line, "_avg:")) return false;
    if (number_after(line, "step_time_ms_avg:", &value, NULL))
        l->average_s = value / 1000, l->reader->part_measured = true;
    else if (number_after(line, "tflops_per_gpu_avg:", &value, NULL))
        measure(l, MEASURED_TFLOPS, 100, value);
    else if (number_after(line, "tokens_per_second_per_gpu_avg:", &value, NULL))
        measure(l, MEASURED_TOKENS, 100, value);
    l->seen[LOG_BRIDGE] += 3;
    return true;
}

void log_nemo(struct log *l, const char *line)
{
    if (read_step(l, line) || read_bridge(l, line) || read_card(l, line)) return;
    if (!l->reader->part_measured && strstr(line, "--mode lora"))
        tell(l, TOLD_ADAPTERS, BY_SETTING, "--mode", "1", 1);
    if (strstr(line, "bridge_commit") || strstr(line, "megatron.bridge") ||
        strstr(line, "megatron-bridge") || strstr(line, "Megatron Bridge commit") ||
        strstr(line, "Megatron-Bridge v") || strstr(line, "MODEL_TFLOP/s/GPU") ||
        strstr(line, "model verification card") || strstr(line, "/nemo-ci/"))
        l->seen[LOG_BRIDGE]++;
    else if (strstr(line, "scripts.performance.llm") || strstr(line, "nemo.collections") ||
             strstr(line, "[NeMo ") || strstr(line, "/megatron_llama_pretraining.py") ||
             strstr(line, "/megatron_gpt_pretraining.py"))
        l->seen[LOG_NEMO]++;
}
