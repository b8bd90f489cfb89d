// cpufreq's scaling_cur_freq (kHz), the x86 driver's thermal_throttle/core_throttle_count, and the
// thermal zone named after the processor package (thousandths of a degree). Most virtual machines
// have none of them.
#include "measure/sampling/host.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_LOOKED_AT = 4096, ZONES_LOOKED_AT = 64, HARDWARE_THERMAL = 0x40 };

static int64_t read_number(const char *path)
{
    char line[64] = "";
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    char *end = line;
    long long value = fgets(line, sizeof line, file) ? strtoll(line, &end, 10) : -1;
    fclose(file);
    return end == line || value < 0 ? -1 : value;
}

static int64_t read_throttles(const struct host_condition *c)
{
    int64_t sum = 0;
    for (int i = 0; i < c->throttle_count; i++) {
        int64_t events = read_number(c->throttles[i]);
        if (events > 0) sum += events;
    }
    return sum;
}

static int find_files(const char **files, const char *root, int cpus, const char *name,
                      struct arena *arena)
{
    int count = 0, step = cpus > CONDITION_CPUS_MAX ? cpus / CONDITION_CPUS_MAX : 1;
    for (int cpu = 0; cpu < cpus && count < CONDITION_CPUS_MAX; cpu += step) {
        const char *path = arena_print(arena, "%s/devices/system/cpu/cpu%d/%s", root, cpu, name);
        if (read_number(path) >= 0) files[count++] = path;
    }
    return count;
}

static bool is_package(const char *path)
{
    char line[64] = "";
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return read && (strstr(line, "pkg") || strstr(line, "cpu") || strstr(line, "CPU"));
}

void host_condition_open(struct host_condition *c, const char *root, struct arena *arena)
{
    int cpus = 0;
    *c = (struct host_condition){.heat = NULL};
    while (cpus < CPUS_LOOKED_AT &&
           !access(arena_print(arena, "%s/devices/system/cpu/cpu%d", root, cpus), F_OK))
        cpus++;
    c->clock_count = find_files(c->clocks, root, cpus, "cpufreq/scaling_cur_freq", arena);
    c->throttle_count =
        find_files(c->throttles, root, cpus, "thermal_throttle/core_throttle_count", arena);
    for (int zone = 0; zone < ZONES_LOOKED_AT && !c->heat; zone++) {
        const char *heat = arena_print(arena, "%s/class/thermal/thermal_zone%d/temp", root, zone);
        if (is_package(arena_print(arena, "%s/class/thermal/thermal_zone%d/type", root, zone)) &&
            read_number(heat) >= 0)
            c->heat = heat;
    }
    c->throttled = read_throttles(c);
}

bool host_condition_read(struct host_condition *c, struct condition *now)
{
    double khz = 0;
    int count = 0;
    for (int i = 0; i < c->clock_count; i++) {
        int64_t value = read_number(c->clocks[i]);
        if (value >= 0) khz += (double)value, count++;
    }
    if (count) now->clock_hz = 1e3 * khz / count;
    if (c->heat) {
        int64_t heat = read_number(c->heat);
        if (heat >= 0) now->temperature_c = 1e-3 * (double)heat;
    }
    int64_t throttled = read_throttles(c);
    if (throttled > c->throttled) now->slowdown |= HARDWARE_THERMAL;
    c->throttled = throttled;
    return c->clock_count || c->throttle_count || c->heat;
}
