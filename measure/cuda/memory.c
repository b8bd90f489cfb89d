// Bytes that a process takes on a device before any tensor. The context: NVML's use before and
// after it was made (other programs' use cancels out), or what is not free in a fresh context. The
// libraries: the drop in free memory after handles, workspace and one product of each exist. The
// allocator's granularity: the drop in free memory when single bytes are allocated.
#include <cuda.h>
#include <string.h>

#include "measure/cuda/session.h"

enum { BYTES_TAKEN = 64, QUANTITIES = 6, GRANULARITY_SINCE = 10020 };

static enum status free_bytes(int64_t *bytes, struct error *err)
{
    size_t unused = 0, total = 0;
    CUDA_TRY(cudaMemGetInfo(&unused, &total));
    *bytes = (int64_t)unused;
    return OK;
}

static void add(struct quantity *quantities, int *count, const char *name, double value,
                struct arena *arena)
{
    double *values = TAKE(arena, 1, double);
    values[0] = value;
    quantities[(*count)++] = (struct quantity){.name = name, .values = values, .value_count = 1};
}

// Allocates single bytes until the device hands out another piece at each drop in free memory. All
// are freed again.
static enum status observe_granularity(struct quantity *q, struct arena *arena, struct error *err)
{
    void *taken[BYTES_TAKEN] = {NULL};
    double *values = TAKE(arena, BYTES_TAKEN, double);
    int64_t before = 0, after = 0;
    enum status status = free_bytes(&before, err);
    *q = (struct quantity){.name = "allocator_granularity_bytes", .values = values};
    for (int i = 0; i < BYTES_TAKEN && status == OK; i++) {
        cudaError_t code = cudaMalloc(&taken[i], 1);
        status = code == cudaSuccess ? free_bytes(&after, err) : cuda_fail(err, code, "cudaMalloc");
        if (status == OK && before > after) values[q->value_count++] = (double)(before - after);
        before = after;
    }
    for (int i = 0; i < BYTES_TAKEN; i++) cudaFree(taken[i]);
    return status;
}

// The driver's granularity for memory that a program maps itself; 0: unknown.
static double driver_granularity(int device)
{
    CUresult (*ask)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags) = NULL;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *address = NULL;
    size_t bytes = 0;
    CUmemAllocationProp wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = device;
    cudaError_t code = cudaGetDriverEntryPointByVersion(
        "cuMemGetAllocationGranularity", &address, GRANULARITY_SINCE, cudaEnableDefault, &found);
    if (code != cudaSuccess || found != cudaDriverEntryPointSuccess || !address) return 0;
    memcpy(&ask, &address, sizeof ask);
    return ask(&bytes, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS ? (double)bytes
                                                                                  : 0;
}

// A product and, where there is one, a fused attention: kernels are loaded when they are first
// used.
static enum status use_libraries(struct cuda_session *s, struct arena *arena, struct error *err)
{
    struct cell cell = {.work = WORK_GEMM, .sample.dimensions = {128, 128, 128}};
    return backend_cuda.prepare(s, &cell, 1, arena, err);
}

static int64_t pool_bytes(const struct cuda_session *s)
{
    int64_t bytes = 0;
    for (int kind = 0; kind < AREA_KINDS; kind++) bytes += s->pools[kind].bytes;
    return bytes;
}

enum status cuda_observe(void *session, struct quantity **quantities, int *quantity_count,
                         struct arena *arena, struct error *err)
{
    struct cuda_session *s = session;
    struct quantity *q = *quantities = TAKE(arena, QUANTITIES, struct quantity);
    int64_t after = 0;
    *quantity_count = 0;
    TRY(use_libraries(s, arena, err));
    TRY(free_bytes(&after, err));
    int64_t libraries = s->memory_free_bytes - after - pool_bytes(s);
    add(q, quantity_count, "memory_bytes", (double)s->memory_bytes, arena);
    add(q, quantity_count, "context_bytes", (double)s->context_bytes, arena);
    add(q, quantity_count, "library_bytes", (double)(libraries > 0 ? libraries : 0), arena);
    add(q, quantity_count, "workspace_bytes", (double)WORKSPACE_BYTES, arena);
    struct quantity observed;
    TRY(observe_granularity(&observed, arena, err));
    if (observed.value_count) q[(*quantity_count)++] = observed;
    double granularity = driver_granularity(s->device);
    if (granularity > 0) add(q, quantity_count, "driver_granularity_bytes", granularity, arena);
    return OK;
}
