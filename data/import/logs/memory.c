// What a log says of memory, in its own definitions, and its reports of having run out of it.
#include <string.h>

#include "data/import/logs/internal.h"

static const double mib = 1048576, gib = 1073741824;

static void keep(struct log *l, int64_t *to, double bytes, int rank)
{
    if (!(bytes > *to) || !(bytes < 1e15)) return;
    *to = (int64_t)bytes;
    l->memory.line = (int)l->lines;
    if (to == &l->memory.allocated_bytes) l->memory.rank = rank;
}

// "[Rank 51] (after 20 iterations) memory (MB) | allocated: 1 | max allocated: 2 | reserved: ...",
// perhaps several in a line. Megatron's MB are 2^20 bytes.
static void read_ranks(struct log *l, const char *line)
{
    for (const char *at = line; (at = strstr(at, "memory (MB) |")); at++) {
        const char *next = strstr(at + 1, "memory (MB) |"), *found = strstr(at, "max allocated:"),
                   *held = strstr(at, "max reserved:");
        double value, rank = -1;
        const char *named = NULL;
        for (const char *s = line; (s = strstr(s, "[Rank ")) && s < at; s++) named = s;
        if (named) number_at(named + 6, &rank, NULL);
        if (found && (!next || found < next) && number_at(found + 14, &value, NULL))
            keep(l, &l->memory.allocated_bytes, value * mib, (int)rank);
        if (held && (!next || held < next) && number_at(held + 13, &value, NULL))
            keep(l, &l->memory.reserved_bytes, value * mib, (int)rank);
    }
}

// ROCm's iteration lines: "mem usages: 0.4430", and "hip mem usage/free/total/usage_ratio:
// 75.16GB/116.83GB/191.98GB/39.15%".
static void read_hip(struct log *l, const char *line)
{
    double used, other, total;
    const char *after;
    if (number_after(line, "usage_ratio:", &used, &after) && !strncmp(after, "GB/", 3) &&
        number_at(after + 3, &other, &after) &&
        number_at(strchr(after, '/') ? strchr(after, '/') + 1 : "", &total, NULL)) {
        keep(l, &l->memory.device_bytes, used * gib, -1);
        keep(l, &l->memory.card_bytes, total * gib, -1);
    }
}

// "[0] NVIDIA B200 | 67 C, 100 % | 124906 / 183359 MB"; "78423MiB / 81559MiB"
static void read_device(struct log *l, const char *line)
{
    double used, total;
    const char *slash = strstr(line, " / "), *from = slash, *after;
    if (!slash || !number_at(slash + 3, &total, &after)) return;
    if (strncmp(after, " MB", 3) != 0 && strncmp(after, "MiB", 3) != 0) return;
    while (from > line && strchr("MiB", from[-1])) from--;
    while (from > line && strchr("0123456789", from[-1])) from--;
    if (!number_at(from, &used, NULL) || total < 2000) return;
    keep(l, &l->memory.device_bytes, used * mib, -1);
    keep(l, &l->memory.card_bytes, total * mib, -1);
}

// MindSpeed's iteration lines, with PyTorch's own functions over 2^30.
static void read_gb(struct log *l, const char *line)
{
    double value;
    if (number_after(line, "max_memory_allocated(GB):", &value, NULL))
        keep(l, &l->memory.allocated_bytes, value * gib, -1);
    if (number_after(line, "max_memory_reserved(GB):", &value, NULL))
        keep(l, &l->memory.reserved_bytes, value * gib, -1);
}

// Megatron-Bridge's report, of 10^9 bytes.
static void read_gigabytes(struct log *l, const char *line)
{
    double value;
    if (number_after(line, "mem-max-allocated-gigabytes:", &value, NULL))
        keep(l, &l->memory.allocated_bytes, value * 1e9, -1);
    if (number_after(line, "mem-max-reserved-gigabytes:", &value, NULL))
        keep(l, &l->memory.reserved_bytes, value * 1e9, -1);
}

// ---- out of memory

static double unit_of(const char *s)
{
    s += strspn(s, " ");
    return !strncmp(s, "GiB", 3) ? gib : !strncmp(s, "MiB", 3) ? mib : 1;
}

static void amount(const char *line, const char *before, int64_t *to)
{
    double value;
    const char *after;
    if (!*to && number_after(line, before, &value, &after)) *to = (int64_t)(value * unit_of(after));
}

// "28.28 GiB already allocated": the number is before the words.
static void amount_before(const char *line, const char *words, int64_t *to)
{
    const char *at = strstr(line, words);
    double value;
    const char *after;
    if (!at || *to) return;
    while (at > line && strchr("GMKiB ", at[-1])) at--;
    while (at > line && strchr("0123456789.", at[-1])) at--;
    if (number_at(at, &value, &after)) *to = (int64_t)(value * unit_of(after));
}

// What the program did when it failed, by the lines of its traceback.
static void read_where(struct log *l, const char *line)
{
    static const struct {
        const char *words, *where;
    } places[] = {{".backward(", "backward"},
                  {"exp_avg", "optimizer step"},
                  {"optimizer.step", "optimizer step"},
                  {"cross_entropy", "loss"},
                  {"logits.float()", "loss"},
                  {"allreduce_gradients", "gradient sync"},
                  {"model.to(", "placing the model"},
                  {"initialize_optimizer_states", "optimizer states"},
                  {"in forward", "forward"}};
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
        const char *at = strstr(line, places[i].words), *end = at;
        while (end && (islower((unsigned char)*end) || *end == '_')) end++;
        bool setting = at && end > at + 5 &&
                       (!strncmp(end - 5, "dtype", 5) || !strncmp(end - 6, "fusion", 6));
        if (at && !setting)
            snprintf(l->failure.where, sizeof l->failure.where, "%s", places[i].where);
    }
}

// PyTorch's words for any kind of device ("CUDA", "HIP", "NPU", "XPU"), the drivers' and NCCL's.
static bool says_failed(const char *line)
{
    static const char *const words[] = {"CUDA out of memory",
                                        "HIP out of memory",
                                        "NPU out of memory",
                                        "XPU out of memory",
                                        " out of memory. Tried to allocate",
                                        "OutOfMemoryError",
                                        "CUDA error: out of memory",
                                        "HIP error: out of memory",
                                        "CUDA_ERROR_OUT_OF_MEMORY",
                                        "hipErrorOutOfMemory",
                                        "failure 'out of memory'",
                                        "failure 2 'out of memory'",
                                        NULL};
    return has_one_of(line, words);
}

// A report that a post has broken into lines.
static bool goes_on(const struct log_failure *f, const char *line)
{
    static const char *const words[] = {"total capacity", "already allocated", "is free",
                                        "allocated by PyTorch", NULL};
    return f->out_of_memory && has_one_of(line, words);
}

// "Process 7 has 30.51 GiB memory in use. Process 9 has ...": its own is the least that holds what
// its allocator has; the others' are what the card lacks.
static void read_processes(struct log_failure *f, const char *line, int64_t reserved)
{
    int64_t own = 0, all = 0;
    for (const char *s = line; (s = strstr(s, "Process ")); s++) {
        int64_t held = 0;
        const char *has = s + 8 + strspn(s + 8, "0123456789");
        if (has == s + 8 || strncmp(has, " has ", 5) != 0) continue;
        amount(has, " has ", &held);
        all += held;
        if (held >= reserved && (!own || held < own)) own = held;
    }
    if (all && !f->other_bytes) f->other_bytes = f->process_bytes ? all : all - own;
}

void log_memory(struct log *l, const char *line)
{
    struct log_failure *f = &l->failure;
    if (strstr(line, "memory (MB)")) read_ranks(l, line);
    if (strstr(line, "usage_ratio:")) read_hip(l, line);
    if (strstr(line, "max_memory_allocated(GB):")) read_gb(l, line);
    if (strstr(line, "-gigabytes:")) read_gigabytes(l, line);
    if (strstr(line, " / ")) read_device(l, line);
    if (!f->out_of_memory) read_where(l, line);
    if (!says_failed(line) && !goes_on(f, line)) return;
    static const char *const raised[] = {"torch.", "RuntimeError", "OutOfMemoryError"};
    for (size_t i = 0; i < ARRAY_LENGTH(raised); i++)
        f->raised |= !strncmp(line, raised[i], strlen(raised[i]));
    if (!f->out_of_memory) f->line = (int)l->lines;
    f->out_of_memory = true;
    amount(line, "Tried to allocate", &f->tried_bytes);
    amount(line, "total capacity of", &f->card_bytes);
    amount_before(line, "is free", &f->free_bytes);
    amount_before(line, "free;", &f->free_bytes);
    amount(line, "non-PyTorch memory, this process has", &f->process_bytes);
    amount(line, "Of the allocated memory", &f->allocated_bytes);
    amount_before(line, "is allocated by PyTorch", &f->allocated_bytes);
    int64_t idle = 0;
    amount(line, "allocated by PyTorch, and", &idle);
    if (idle && !f->reserved_bytes) f->reserved_bytes = f->allocated_bytes + idle;
    read_processes(f, line, f->reserved_bytes);
    amount_before(line, "total capacity;", &f->card_bytes);
    amount_before(line, "already allocated", &f->allocated_bytes);
    amount_before(line, "reserved in total", &f->reserved_bytes);
    if (f->card_bytes && !l->memory.card_bytes) l->memory.card_bytes = f->card_bytes;
}
