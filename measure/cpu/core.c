// Which of its kernels OpenBLAS takes: decided as it is loaded, by the processor's model or by
// OPENBLAS_CORETYPE.
#include "measure/cpu/core.h"

#include <cblas.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAGS_MOST = 8192 };

static bool has(const char *flags, const char *flag)
{
    size_t length = strlen(flag);
    for (const char *at = flags; (at = strstr(at, flag)); at += length)
        if ((at == flags || at[-1] == ' ') && strchr(" \n", at[length])) return true;
    return false;
}

const char *core_better(const char *core, const char *flags)
{
    bool avx512 = has(flags, "avx512f") && has(flags, "avx512cd") && has(flags, "avx512bw") &&
                  has(flags, "avx512dq") && has(flags, "avx512vl");
    if (strcmp(core, "Prescott") != 0) return NULL;
    if (avx512) return "SkylakeX";
    return has(flags, "avx2") && has(flags, "fma") ? "Haswell" : NULL;
}

static bool read_flags(char line[FLAGS_MOST])
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool found = false;
    while (file && !found && fgets(line, FLAGS_MOST, file))
        found = !strncmp(line, "flags", 5) && strchr(line, ':');
    if (file) fclose(file);
    return found;
}

void core_choose(char **argv)
{
    char line[FLAGS_MOST];
    const char *better;
    if (getenv("OPENBLAS_CORETYPE") || !read_flags(line)) return;
    better = core_better(openblas_get_corename(), strchr(line, ':') + 1);
    if (!better || setenv("OPENBLAS_CORETYPE", better, 1)) return;
    execv("/proc/self/exe", argv); // where that cannot be, with the kernels as they are
}
