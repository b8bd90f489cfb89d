// The memory of the process itself is read before anything is measured. Every other observation is
// made by a process forked for it, which reads its resident set between the steps and reports it
// through a pipe. (A fork drops the pages of its libraries until it uses them, so its own total
// would lack them.)
#include "measure/cpu/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/cpu/internal.h"

enum { OBSERVATIONS = 5, FRESH_BYTES = 1 << 26, PRODUCT_SIZE = 256 };

struct observation {
    double library, granularity;
};

// From the sums over the process's mappings, which are exact (statm lags behind); 0: not
// available.
static double resident_bytes(void)
{
    char line[256];
    long long kibibytes = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Rss: %lld", &kibibytes) == 1) break;
    if (file) fclose(file);
    return 1024.0 * (double)kibibytes;
}

// Memory that the system has not handed out before; malloc could return a used piece. A private
// mapping of /dev/zero is anonymous memory in POSIX, which has no MAP_ANONYMOUS.
static char *take_fresh(size_t bytes)
{
    int zero = open("/dev/zero", O_RDWR);
    if (zero < 0) return NULL;
    char *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    close(zero);
    return fresh == MAP_FAILED ? NULL : fresh;
}

static bool observe(struct observation *o, int threads)
{
    struct arena arena;
    struct error err = {OK, ""};
    struct team *team;
    struct cell product = {
        .work = WORK_GEMM,
        .sample = {.dimensions = {PRODUCT_SIZE, PRODUCT_SIZE * threads, PRODUCT_SIZE}}};
    struct part_size size = part_size(&product, threads);
    size_t floats = (size_t)(size.in + size.out);
    arena_open(&arena, NULL);
    float *operands = (float *)(void *)take_fresh(floats * sizeof *operands);
    volatile char *fresh = take_fresh(FRESH_BYTES);
    if (!operands || !fresh) return false;
    memset(operands, 0, floats * sizeof *operands);
    double before = resident_bytes();
    if (team_open(&team, threads, &arena, &err) != OK) return false;
    part_run(team, &product, operands, operands + size.in);
    o->library = resident_bytes() - before;
    before = resident_bytes();
    fresh[FRESH_BYTES / 2] = 1;
    o->granularity = resident_bytes() - before;
    return before > 0;
}

static enum status observe_apart(struct observation *o, int threads, struct error *err)
{
    int ends[2], state = 0;
    if (pipe(ends)) return fail(err, SYSTEM, "a pipe cannot be made: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool told = observe(o, threads) && write(ends[1], o, sizeof *o) == (ssize_t)sizeof *o;
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    bool audited = child > 0 && read(ends[0], o, sizeof *o) == (ssize_t)sizeof *o;
    close(ends[0]);
    if (child > 0) waitpid(child, &state, 0);
    return audited
               ? OK
               : fail(err, UNAVAILABLE,
                      "cpu: what a process takes cannot be observed: /proc/self/smaps_rollup or "
                      "fork is missing");
}

static struct quantity quantity_of(const char *name, const double *values, int count)
{
    return (struct quantity){.name = name, .values = (double *)values, .value_count = count};
}

enum status cpu_observe(int threads, struct quantity **quantities, int *quantity_count,
                        struct arena *arena, struct error *err)
{
    double *library = TAKE(arena, OBSERVATIONS, double),
           *granularity = TAKE(arena, OBSERVATIONS, double);
    double *memory = TAKE(arena, 1, double), *context = TAKE(arena, 1, double);
    context[0] = resident_bytes();
    memory[0] = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < OBSERVATIONS; i++) {
        struct observation o;
        TRY(observe_apart(&o, threads, err));
        library[i] = o.library > 0 ? o.library : 0,
        granularity[i] = o.granularity > 0 ? o.granularity : 0;
    }
    struct quantity *q = *quantities = TAKE(arena, 4, struct quantity);
    q[0] = quantity_of("memory_bytes", memory, 1);
    q[1] = quantity_of("context_bytes", context, 1);
    q[2] = quantity_of("library_bytes", library, OBSERVATIONS);
    q[3] = quantity_of("allocator_granularity_bytes", granularity, OBSERVATIONS);
    *quantity_count = 4;
    return OK;
}
