// torchtitan's log: step lines, and what it says about model, device and mesh.
#include <math.h>

#include "data/import/logs/internal.h"

static bool read_step(struct log *l, const char *line)
{
    double step, value, share;
    const char *after;
    if (!strstr(line, "loss:") || !number_after(line, "step:", &step, &after)) return false;
    bool tps = number_after(after, "tps:", &value, NULL) ||
               number_after(after, "wps:", &value, NULL);
    if (!tps) return false;
    measure(l, MEASURED_TOKENS, (int64_t)step, value);
    measure_clock(l, line, step);
    if (number_after(after, "tflops:", &value, NULL))
        measure(l, MEASURED_TFLOPS, (int64_t)step, value);
    if (number_after(after, "mfu:", &value, NULL)) measure(l, MEASURED_MFU, (int64_t)step, value);
    if (number_after(after, "memory:", &value, &after) && !strncmp(after, "GiB(", 4)) {
        int64_t bytes = (int64_t)(value * 1073741824);
        if (bytes > l->memory.reserved_bytes) l->memory.reserved_bytes = bytes;
        if (number_at(after + 4, &share, NULL) && share > 1 && !l->memory.card_bytes)
            l->memory.card_bytes = (int64_t)((double)bytes / share * 100);
    }
    l->seen[LOG_TORCHTITAN] += 3;
    return true;
}

// "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]"
static void read_mesh(struct log *l, const char *line)
{
    static const struct {
        const char *name;
        enum told told;
    } axes[] = {{"'tp'", TOLD_TP}, {"'pp'", TOLD_PP}, {"'cp'", TOLD_CP}, {"'ep'", TOLD_EP}};
    const char *names = strstr(line, "mesh with [") + 10, *end = names ? strchr(names, ']') : NULL;
    const char *sizes = end ? strchr(end, '[') : NULL;
    int64_t all = 1;
    double size;
    if (!sizes) return;
    for (const char *name = names + 1, *at = sizes + 1; name < end && number_at(at, &size, &at);) {
        for (size_t i = 0; i < ARRAY_LENGTH(axes); i++)
            if (!strncmp(name, axes[i].name, strlen(axes[i].name)))
                tell_count(l, axes[i].told, BY_PROGRAM, "device mesh", (int64_t)size);
        if (size >= 1 && size < 1e6 && all < 1000000) all *= (int64_t)size;
        name = memchr(name, ',', (size_t)(end - name));
        if (!name) break;
        name += 1 + strspn(name + 1, " ");
        at += strspn(at, ", ");
    }
    tell_count(l, TOLD_NUM_GPUS, BY_PROGRAM, "device mesh", all);
}

static void read_start(struct log *l, const char *line)
{
    static const struct count_words counts[] = {{"local batch size", TOLD_MICRO_BATCH},
                                                {"global batch size", TOLD_GLOBAL_BATCH},
                                                {"sequence length", TOLD_SEQ}};
    tell_counts(l, line, BY_PROGRAM, "the line of the start", counts, ARRAY_LENGTH(counts));
}

// "ModelArgs(dim=4096, n_layers=32, ...)": a name that means nothing elsewhere.
static void read_model(struct log *l, const char *line)
{
    static const struct count_words counts[] = {{"(dim=", TOLD_HIDDEN}, {" dim=", TOLD_HIDDEN}};
    double dim, multiple, factor;
    tell_counts(l, line, BY_PROGRAM, "ModelArgs", counts, ARRAY_LENGTH(counts));
    if (!number_after(line, "dim=", &dim, NULL) || !(dim > 0) || !(dim < 1e6) ||
        !number_after(line, "multiple_of=", &multiple, NULL) || !(multiple >= 1))
        return;
    // Two thirds of four times the width, times a factor, up to the next multiple.
    if (!number_after(line, "ffn_dim_multiplier=", &factor, NULL)) factor = 1;
    l->reader->ffn = (int64_t)(ceil(floor(factor * floor(8 * dim / 3)) / multiple) * multiple);
}

// "Using pipeline schedule 1F1B with 8 microbatches and 4 stages."
static void read_schedule(struct log *l, const char *line)
{
    double pieces, stages;
    const char *after;
    if (!number_after(line, " with ", &pieces, &after) ||
        !number_after(after, "microbatches and ", &stages, NULL))
        return;
    l->reader->pieces = (int64_t)pieces, l->reader->stages = (int64_t)stages;
}

// "[activation_checkpoint]", and "mode = "none"" in it.
static void read_section(struct log *l, const char *line)
{
    struct log_reader *r = l->reader;
    if (*line == '[') r->in_checkpoint = !strncmp(line, "[activation_checkpoint]", 23);
    else if (r->in_checkpoint && !strncmp(line, "mode =", 6) && (line = strchr(line, '"')))
        log_setting(l, BY_SETTING, "checkpoint_mode", 15, line, 2 + strcspn(line + 1, "\""));
}

void log_titan(struct log *l, const char *line)
{
    double value;
    const char *after;
    if (read_step(l, line)) return;
    read_section(l, line);
    if (strstr(line, "device mesh with [")) read_mesh(l, line);
    else if (strstr(line, "Training starts at step") || strstr(line, "Trainer is initialized"))
        read_start(l, line);
    else if (strstr(line, "ModelArgs(")) read_model(l, line);
    else if (!l->reader->part_measured && strstr(line, "Using pipeline schedule"))
        read_schedule(l, line);
    else if (strstr(line, "memory allocation retries")) {
        const char *at = strstr(line, "WARNING - ");
        if (at && number_at(at + 10, &value, NULL) && (int64_t)value > l->retries)
            l->retries = (int64_t)value;
    } else if (number_after(line, "Peak FLOPS used for computing MFU:", &value, NULL)) {
        l->peak_flop = value;
    } else if (strstr(line, "activation checkpointing to the model")) {
        bool full = strstr(line, "full activation") != NULL, selective = strstr(line, "selective");
        if (full || selective)
            tell(l, TOLD_GRANULARITY, BY_PROGRAM, "activation checkpointing",
                 full ? "full" : "selective", full ? 4 : 9);
    } else if (strstr(line, "Compiling each") && strstr(line, "torch.compile")) {
        tell(l, TOLD_COMPILED, BY_PROGRAM, "torch.compile", "1", 1);
    } else if (strstr(line, "Float8") && strstr(line, "active")) {
        tell(l, TOLD_FP8, BY_PROGRAM, "Float8 training", "hybrid", 6);
    } else if (strstr(line, "total parameters") && number_after(line, "size:", &value, &after)) {
        l->parameters = (int64_t)value;
    } else if ((after = strstr(line, " capacity: ")) != NULL) {
        log_gpu_of_program(l, after + 11); // "CUDA capacity: NVIDIA H200 with 139.83GiB memory"
    }
    if (strstr(line, "torchtitan") || strstr(line, "[titan]")) l->seen[LOG_TORCHTITAN]++;
}
