// Linux's own tables where available; elsewhere what POSIX provides.
#include "measure/sampling/host.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 256 };

// Its name as the system reports it
static const char *host_processor(struct arena *arena)
{
    char line[LINE_MAX_BYTES];
    const char *name = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        if (*colon) name = arena_copy_text(arena, colon);
    }
    if (file) fclose(file);
    struct utsname system;
    if (!name && uname(&system) >= 0) name = arena_copy_text(arena, system.machine);
    return name ? name : "unknown processor";
}

void host_describe(struct machine *machine, struct arena *arena)
{
    struct utsname system;
    machine->host = uname(&system) < 0 ? "unknown" : arena_copy_text(arena, system.nodename);
    machine->processor = host_processor(arena);
    machine->gpu = machine->processor;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    machine->memory_bytes = pages > 0 && page_bytes > 0 ? (int64_t)pages * page_bytes : 0;
    machine->threads = 1;
}

const double busy_load = 0.5;

double host_load(void)
{
    double load = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%lf", &load) != 1) load = 0;
    if (file) fclose(file);
    return load;
}

// The monotonic clock starts with the kernel, and a time namespace may shift it.
const char *host_clock(struct arena *arena)
{
    char boot[64] = "", space[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && !fgets(boot, sizeof boot, file)) boot[0] = '\0';
    if (file) fclose(file);
    boot[strcspn(boot, "\n")] = '\0';
    ssize_t length = readlink("/proc/self/ns/time", space, sizeof space - 1);
    space[length > 0 ? length : 0] = '\0';
    return *boot ? arena_print(arena, "%s %s", boot, space) : "";
}
