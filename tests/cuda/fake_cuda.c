// The runtime: memory, streams, events, graphs. See fake_cuda.h.
#include "tests/cuda/fake_cuda.h"

#include <assert.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/cuda/kernels/kernels.h"
#include "tests/cuda/fake_queue.h"

struct fake_settings fake;
struct fake_counts fake_counts;

enum { OPERATIONS_MAX = 1 << 14, ALLOCATIONS_MAX = 256, POISONED_MAX = 1 << 22 };

struct cudaGraph {
    struct operation *operations;
    int count;
};

static struct operation queue[OPERATIONS_MAX];
static int queued;
static bool capturing;
static int capture_from;
static struct {
    char *at;
    size_t bytes;
} allocations[ALLOCATIONS_MAX];
static int64_t allocated_bytes;
static unsigned long long clock_ns, late_ns;

struct event {
    unsigned long long at_ns;
    bool recorded;
};

void fake_run_kernel(const void *kernel, dim3 grid, dim3 block,
                     const struct kernel_arguments *arguments);

unsigned long long fake_clock_ns(void);
unsigned long long fake_clock_ns(void) { return clock_ns += 100; }

void fake_reset(void)
{
    fake = (struct fake_settings){.devices = 1,
                                  .capability = 90,
                                  .memory_bytes = (int64_t)1 << 30,
                                  .proposals = 3,
                                  .refused = -1};
    fake_counts = (struct fake_counts){0};
    memset(fake_algorithm_uses, 0, 16 * sizeof *fake_algorithm_uses);
}

bool fake_may(void)
{
    fake_counts.calls++;
    return !fake.fail_at || --fake.fail_at > 0 || (fake.fail_at = 1, false);
}

#define CALL(code)                                                                                 \
    do {                                                                                           \
        if (!fake_may()) return (code);                                                            \
    } while (0)

bool fake_holds(const void *at, int64_t bytes)
{
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (allocations[i].at && (const char *)at >= allocations[i].at &&
            (const char *)at + bytes <= allocations[i].at + allocations[i].bytes)
            return true;
    return false;
}

// ---- the stream

struct operation *fake_queue(enum operation_kind kind)
{
    assert(queued < OPERATIONS_MAX);
    queue[queued] = (struct operation){.kind = kind};
    return &queue[queued++];
}

// Of the kernels of one thread, only the gate reads.
static void run_late(const struct operation *o)
{
    const struct kernel_arguments *a = &o->arguments;
    if (!fake.late || o->block.x != 1 || !a->in[0] || --fake.late) return;
    *(int *)a->out[0] = 1;
    late_ns = 1000000000;
}

static void perform(const struct operation *o)
{
    switch (o->kind) {
    case OPERATION_KERNEL:
        clock_ns += 5000;
        fake_counts.kernels++;
        fake_run_kernel(o->function, o->grid, o->block, &o->arguments);
        run_late(o);
        break;
    case OPERATION_GEMM:
        clock_ns += 10000 + 1000 * (unsigned long long)o->algorithm;
        fake_counts.products++;
        fake_multiply(o);
        break;
    case OPERATION_COPY:
        clock_ns += 2000 + o->bytes / 1000;
        fake_counts.copies++;
        memmove(o->to, o->from, o->bytes);
        break;
    case OPERATION_CLEAR:
        clock_ns += 1000;
        fake_counts.clears++;
        memset(o->to, 0, o->bytes);
        break;
    case OPERATION_EVENT:
        o->event->at_ns = clock_ns;
        o->event->recorded = true;
        clock_ns += late_ns, late_ns = 0;
        break;
    case OPERATION_CALL:
        clock_ns += 3000;
        o->call(o);
        break;
    case OPERATION_GRAPH:
        fake_counts.graphs++;
        for (int i = 0; i < o->graph->count; i++) perform(&o->graph->operations[i]);
        break;
    }
}

static void drain(void)
{
    assert(!capturing || !"waiting for a stream that is being captured");
    for (int i = 0; i < queued; i++) perform(&queue[i]);
    queued = 0;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    CALL(cudaErrorUnknown);
    *stream = (cudaStream_t)&queue;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return stream ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    CALL(cudaErrorUnknown);
    (void)stream;
    drain();
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) { return cudaStreamSynchronize(NULL); }

// ---- memory

static cudaError_t take(void **at, size_t bytes, cudaError_t failure)
{
    CALL(failure);
    if (allocated_bytes + (int64_t)bytes > fake.memory_bytes) return cudaErrorMemoryAllocation;
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (!allocations[i].at) {
            allocations[i].at = aligned_alloc(256, (bytes + 255) / 256 * 256);
            assert(allocations[i].at);
            memset(allocations[i].at, 0xff,
                   bytes < POISONED_MAX
                       ? bytes
                       : POISONED_MAX); // NaN in any type: a read of unwritten memory shows
            allocations[i].bytes = bytes;
            allocated_bytes += (int64_t)bytes;
            fake_counts.allocations++;
            *at = allocations[i].at;
            return cudaSuccess;
        }
    return cudaErrorMemoryAllocation;
}

static cudaError_t give(void *at)
{
    if (!at) return cudaSuccess;
    drain();
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (allocations[i].at == at) {
            free(at);
            allocated_bytes -= (int64_t)allocations[i].bytes;
            allocations[i].at = NULL;
            fake_counts.allocations--;
            return cudaSuccess;
        }
    assert(!"freeing what was not allocated");
    return cudaErrorInvalidValue;
}

cudaError_t cudaMalloc(void **at, size_t bytes)
{
    return take(at, bytes, cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void *at) { return give(at); }
cudaError_t cudaFreeHost(void *at) { return give(at); }
cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned flags)
{
    (void)flags;
    return take(at, bytes, cudaErrorMemoryAllocation);
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    CALL(cudaErrorUnknown);
    (void)flags;
    *device = host;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    CALL(cudaErrorUnknown);
    *unused = (size_t)(fake.memory_bytes - allocated_bytes);
    *total = (size_t)fake.memory_bytes;
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    CALL(cudaErrorUnknown);
    (void)stream;
    assert(fake_holds(to, (int64_t)bytes) || kind == cudaMemcpyDeviceToHost);
    assert(fake_holds(from, (int64_t)bytes) || kind == cudaMemcpyHostToDevice);
    struct operation *o = fake_queue(OPERATION_COPY);
    o->to = to, o->from = from, o->bytes = bytes;
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CALL(cudaErrorUnknown);
    assert(kind == cudaMemcpyHostToDevice ? fake_holds(to, (int64_t)bytes)
                                          : fake_holds(from, (int64_t)bytes));
    drain();
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
    CALL(cudaErrorUnknown);
    assert(fake_holds(at, (int64_t)bytes));
    drain();
    memset(at, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    CALL(cudaErrorUnknown);
    (void)stream;
    assert(value == 0 && fake_holds(at, (int64_t)bytes));
    struct operation *o = fake_queue(OPERATION_CLEAR);
    o->to = at, o->bytes = bytes;
    return cudaSuccess;
}

// ---- kernels, events, graphs

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **parameters,
                             size_t shared, cudaStream_t stream)
{
    CALL(cudaErrorLaunchFailure);
    (void)stream;
    assert(shared == 0 && function);
    assert(grid.x >= 1 && grid.y >= 1 && grid.y <= 65535 && grid.z == 1 && block.x >= 1 &&
           block.x <= 1024);
    struct operation *o = fake_queue(OPERATION_KERNEL);
    o->function = function, o->grid = grid, o->block = block;
    memcpy(&o->arguments, parameters[0], sizeof o->arguments);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    CALL(cudaErrorUnknown);
    *event = (cudaEvent_t)calloc(1, sizeof(struct event));
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    CALL(cudaErrorUnknown);
    (void)stream;
    assert(!capturing);
    ((struct event *)(void *)event)->recorded = false;
    fake_queue(OPERATION_EVENT)->event = (struct event *)(void *)event;
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaStreamSynchronize(NULL);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    CALL(cudaErrorUnknown);
    const struct event *b = (const struct event *)(void *)begin,
                       *e = (const struct event *)(void *)end;
    if (!b->recorded || !e->recorded) return cudaErrorNotReady;
    *milliseconds = (float)((double)(e->at_ns - b->at_ns) * 1e-6);
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    (void)stream, (void)mode;
    CALL(cudaErrorUnknown);
    drain();
    capturing = true;
    capture_from = queued;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    (void)stream;
    struct cudaGraph *g = calloc(1, sizeof *g);
    int count = queued - capture_from;
    assert(g && capturing);
    g->count = count;
    g->operations = calloc((size_t)count + 1, sizeof *g->operations);
    memcpy(g->operations, queue + capture_from, (size_t)count * sizeof *queue);
    queued = capture_from;
    capturing = false;
    *graph = (cudaGraph_t)(void *)g;
    CALL(cudaErrorStreamCaptureInvalidated);
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long flags)
{
    CALL(cudaErrorUnknown);
    (void)flags;
    *run = (cudaGraphExec_t)(void *)graph;
    return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t run, cudaStream_t stream)
{
    CALL(cudaErrorUnknown);
    (void)stream;
    return run ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream)
{
    CALL(cudaErrorUnknown);
    (void)stream;
    fake_queue(OPERATION_GRAPH)->graph = (struct cudaGraph *)(void *)run;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run)
{
    return run ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    struct cudaGraph *g = (struct cudaGraph *)(void *)graph;
    free(g->operations);
    free(g);
    return cudaSuccess;
}

// ---- the device

cudaError_t cudaGetDeviceCount(int *count)
{
    CALL(cudaErrorInsufficientDriver);
    *count = fake.devices;
    return fake.devices ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int device)
{
    CALL(cudaErrorUnknown);
    return device < fake.devices ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    CALL(cudaErrorUnknown);
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "a device out of memory");
    properties->major = fake.capability / 10, properties->minor = fake.capability % 10;
    properties->multiProcessorCount = 1;
    properties->l2CacheSize = 1 << 14;
    return device < fake.devices ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    CALL(cudaErrorUnknown);
    assert(length > 13);
    snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)device);
    return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    (void)symbol, (void)function, (void)version, (void)flags;
    *found = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaSuccess ? "no error" : "a planted fault";
}
const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaSuccess ? "cudaSuccess" : "cudaErrorPlanted";
}
