// Reads /proc, and maps /dev/zero: anonymous memory in POSIX, which has no MAP_ANONYMOUS.
#include "measure/sampling/host.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The number behind a name at the beginning of a line; 0: there is no such line.
static int64_t kibibytes_of(const char *name, const char *path)
{
    char line[256];
    int64_t kibibytes = 0;
    size_t length = strlen(name);
    FILE *file = fopen(path, "r");
    while (file && !kibibytes && fgets(line, sizeof line, file))
        if (!strncmp(line, name, length)) kibibytes = strtoll(line + length, NULL, 10);
    if (file) fclose(file);
    return kibibytes;
}

int64_t pages_resident_bytes(void)
{
    return 1024 * kibibytes_of("Rss:", "/proc/self/smaps_rollup");
}

int64_t pages_available_bytes(void)
{
    int64_t kibibytes = kibibytes_of("MemAvailable:", "/proc/meminfo");
    return kibibytes ? 1024 * kibibytes : INT64_MAX;
}

char *pages_take(size_t bytes)
{
    int zero = open("/dev/zero", O_RDWR);
    if (zero < 0) return NULL;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    close(zero);
    return at == MAP_FAILED ? NULL : at;
}
