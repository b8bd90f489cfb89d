// What a log says of memory, in its own definitions.

#include "data/import/logs/internal.h"

static const double mib = 1048576, gib = 1073741824;

static void keep(struct log *l, int64_t *to, double bytes, int rank)
{
    if (!(bytes > *to) || !(bytes < 1e15)) return;
    *to = (int64_t)bytes;
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

void log_memory(struct log *l, const char *line)
{
    if (strstr(line, "memory (MB)")) read_ranks(l, line);
    if (strstr(line, "usage_ratio:")) read_hip(l, line);
    if (strstr(line, "max_memory_allocated(GB):")) read_gb(l, line);
    if (strstr(line, "-gigabytes:")) read_gigabytes(l, line);
    if (strstr(line, " / ")) read_device(l, line);
    log_failed(l, line);
}
