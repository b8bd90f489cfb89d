// The memory of the process itself is read before anything is measured. Every other observation is
// made by a process forked for it, which reads its resident set between the steps and reports it
// through a pipe. (A fork drops the pages of its libraries until it uses them, so its own total
// would lack them.)
#include "measure/cpu/internal.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/sampling/host.h"

enum { OBSERVATIONS = 5, FRESH_BYTES = 1 << 26, PRODUCT_SIZE = 256 };

struct observation {
    double library, granularity;
};

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
    float *operands = (float *)(void *)pages_take(floats * sizeof *operands);
    volatile char *fresh = pages_take(FRESH_BYTES);
    if (!operands || !fresh) return false;
    memset(operands, 0, floats * sizeof *operands);
    double before = (double)pages_resident_bytes();
    if (team_open(&team, threads, &arena, &err) != OK) return false;
    part_run(team, &product, operands, operands + size.in);
    o->library = (double)pages_resident_bytes() - before;
    before = (double)pages_resident_bytes();
    fresh[FRESH_BYTES / 2] = 1;
    o->granularity = (double)pages_resident_bytes() - before;
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
    return audited ? OK
                   : fail(err, UNAVAILABLE,
                          "cpu: what a process takes cannot be observed: /proc/self/smaps_rollup "
                          "or fork is missing");
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
    context[0] = (double)pages_resident_bytes();
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
