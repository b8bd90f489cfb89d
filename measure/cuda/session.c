// Opening, memory, timing. The gate: a kernel that waits for a word of the host's memory precedes
// the first event, so that everything is queued when the clock starts and a short kernel's time
// does not include its launch. After a while it gives up; the host notices, and repeats the
// repetition with more patience.
#include "measure/cuda/session.h"

#include "measure/cuda/identity.h"
#include "measure/cuda/nvml.h"

enum { L2_BYTES_UNKNOWN = 64 << 20, ROTATION = 4, GATE_TRIES = 4 };
static const int64_t gate_limit_ns = 20000000, gate_limit_most_ns = 2000000000;

enum status cuda_fail(struct error *err, cudaError_t code, const char *call)
{
    int length = (int)strcspn(call, "(");
    (void)cudaGetLastError(); // otherwise the next call that checks it fails for the same reason
    if (code == cudaErrorMemoryAllocation)
        return fail(err, UNAVAILABLE,
                    "cuda: %.*s: the device's memory does not hold it; ask for fewer tokens",
                    length, call);
    return fail(err, SYSTEM, "cuda: %.*s: %s (%s)", length, call, cudaGetErrorString(code),
                cudaGetErrorName(code));
}

enum status cublas_fail(struct error *err, cublasStatus_t code, const char *call)
{
    return fail(err, SYSTEM, "cuda: %.*s: %s", (int)strcspn(call, "("), call,
                cublasLtGetStatusString(code));
}

void session_forget(struct cuda_session *s)
{
    for (int i = 0; i < s->prepared_count; i++)
        for (int j = 0; j < s->prepared[i].graph_count; j++) {
            if (s->prepared[i].graphs[j].run) cudaGraphExecDestroy(s->prepared[i].graphs[j].run);
            if (s->prepared[i].graphs[j].graph) cudaGraphDestroy(s->prepared[i].graphs[j].graph);
        }
    s->prepared_count = 0;
}

static void session_close(void *of_session)
{
    struct cuda_session *s = of_session;
    cudaSetDevice(s->device);
    if (s->stream) cudaStreamSynchronize(s->stream);
    session_forget(s);
    for (int i = 0; i < s->gemm_count; i++) gemm_close(&s->gemms[i]);
    for (int i = 0; i < AREA_KINDS; i++) cudaFree(s->pools[i].base);
    cudaFree(s->workspace);
    cudaFree(s->fused_workspace);
    if (s->pinned) cudaFreeHost(s->pinned);
    if (s->gate) cudaFreeHost(s->gate);
    if (s->cublas) cublasLtDestroy(s->cublas);
    if (s->begin) cudaEventDestroy(s->begin);
    if (s->end) cudaEventDestroy(s->end);
    for (int i = 0; i < s->mark_count; i++) cudaEventDestroy(s->marks[i]);
    if (s->stream) cudaStreamDestroy(s->stream);
}

// Anything but success means that there is nothing to measure: no driver, an old one, no device, a
// hidden one.
static enum status find_device(int device, struct error *err)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0)
        return fail(err, UNAVAILABLE, "no CUDA device (%s)",
                    code == cudaSuccess ? "none is visible" : cudaGetErrorString(code));
    if (device >= count)
        return fail(err, UNAVAILABLE, "no CUDA device %d: there %s %d", device,
                    count == 1 ? "is" : "are", count);
    return OK;
}

static enum status read_device(struct cuda_session *s, struct error *err)
{
    struct cudaDeviceProp properties;
    size_t unused = 0, total = 0;
    CUDA_TRY(cudaGetDeviceProperties(&properties, s->device));
    snprintf(s->name, sizeof s->name, "%s", properties.name);
    s->processors = properties.multiProcessorCount;
    s->capability = 10 * properties.major + properties.minor;
    s->l2_bytes = properties.l2CacheSize > 0 ? properties.l2CacheSize : L2_BYTES_UNKNOWN;
    CUDA_TRY(cudaMemGetInfo(&unused, &total));
    s->memory_bytes = (int64_t)total;
    s->memory_free_bytes = (int64_t)unused;
    if (s->context_bytes <= 0) s->context_bytes = (int64_t)total - (int64_t)unused;
    return OK;
}

// NVML is read before and after the context is made.
static enum status open_context(struct cuda_session *s, struct error *err)
{
    char bus[32] = "", identity[IDENTITY_BYTES];
    struct cudaDeviceProp properties;
    CUDA_TRY(cudaGetDeviceProperties(&properties, s->device));
    TRY(capability_check(&properties, err));
    CUDA_TRY(cudaDeviceGetPCIBusId(bus, sizeof bus, s->device));
    identity_of(&properties, identity);
    s->nvml = nvml_open(bus, is_slice(&properties) ? identity : NULL, s->arena);
    int64_t before = nvml_used_bytes(s->nvml);
    CUDA_TRY(cudaSetDevice(s->device));
    CUDA_TRY(cudaFree(NULL)); // makes the context, if that has not been done
    s->context_bytes = nvml_used_bytes(s->nvml) - before;
    return OK;
}

static enum status check_precision(const struct cuda_session *s, struct error *err)
{
    if (s->precision == BF16 && s->capability < 80)
        return fail(err, UNAVAILABLE, "cuda: %s has no bf16 (compute capability %d.%d)", s->name,
                    s->capability / 10, s->capability % 10);
    if (s->precision == FP8 && s->capability < 89)
        return fail(err, UNAVAILABLE, "cuda: %s has no fp8 (compute capability %d.%d)", s->name,
                    s->capability / 10, s->capability % 10);
    return OK;
}

enum status session_open(struct cuda_session **session, const struct backend_settings *settings,
                         enum precision precision, struct arena *arena, struct error *err)
{
    TRY(find_device(settings->device, err));
    struct cuda_session *s = *session = TAKE(arena, 1, struct cuda_session);
    s->arena = arena;
    s->device = settings->device;
    s->seed = settings->seed;
    s->best = settings->best;
    s->precision = precision;
    s->gate_limit_ns = gate_limit_ns;
    TRY(open_context(s, err));
    arena_defer(arena, session_close, s);
    TRY(read_device(s, err));
    TRY(check_precision(s, err));
    CUDA_TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreate(&s->begin));
    CUDA_TRY(cudaEventCreate(&s->end));
    CUDA_TRY(cudaHostAlloc((void **)&s->gate, sizeof *s->gate,
                           cudaHostAllocMapped | cudaHostAllocPortable));
    CUBLAS_TRY(cublasLtCreate(&s->cublas));
    CUDA_TRY(cudaMalloc(&s->workspace, WORKSPACE_BYTES));
    if (fused_open(&s->fused, s->stream, arena, &s->no_fused) != OK) s->fused = NULL;
    return OK;
}

// ---- memory

static enum status fill(struct cuda_session *s, enum area_kind kind, int64_t tokens_bound,
                        struct error *err)
{
    static const struct {
        enum fill fill;
        float size;
    } fills[] = {
        [AREA_VALUES] = {FILL_SIGNED, 1},       [AREA_WEIGHTS] = {FILL_SIGNED, 1 / 32.0f},
        [AREA_FLOATS] = {FILL_SIGNED, 1},       [AREA_POSITIVE] = {FILL_POSITIVE, 1},
        [AREA_TOKENS] = {FILL_TOKENS, 0},       [AREA_BYTES] = {FILL_BYTES, 0},
        [AREA_EXPONENTS] = {FILL_EXPONENTS, 0}, [AREA_SCRATCH] = {FILL_SIGNED, 1},
    };
    bool own_type = kind == AREA_VALUES || kind == AREA_WEIGHTS || kind == AREA_SCRATCH;
    enum element type = own_type ? element_of(s->precision) : ELEMENT_FLOAT;
    bool bytes = kind == AREA_BYTES || kind == AREA_EXPONENTS;
    int64_t size = bytes ? 1 : element_bytes(type);
    struct kernel_arguments a = {.out = {s->pools[kind].base},
                                 .size = {s->pools[kind].bytes / size, fills[kind].fill,
                                          tokens_bound,
                                          (int64_t)(s->seed % (1u << 30)) * AREA_KINDS + kind},
                                 .scalar = {fills[kind].size}};
    CUDA_TRY(kernel_launch(KERNEL_FILL, type, &a, s->processors, s->stream));
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    return OK;
}

enum status session_reserve(struct cuda_session *s, const struct program *programs, int count,
                            struct error *err)
{
    int64_t bound = INT32_MAX;
    for (int i = 0; i < count; i++)
        if (programs[i].tokens_bound > 1 && programs[i].tokens_bound < bound)
            bound = programs[i].tokens_bound;
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    for (int kind = 0; kind < AREA_KINDS; kind++) {
        int64_t need = 0;
        struct pool *pool = &s->pools[kind];
        for (int i = 0; i < count; i++)
            need = programs[i].bytes[kind] > need ? programs[i].bytes[kind] : need;
        pool->place = 0;
        if (need == 0) continue;
        int64_t bytes = need + ROTATION * s->l2_bytes;
        bytes = (bytes + AREA_ALIGNMENT - 1) / AREA_ALIGNMENT * AREA_ALIGNMENT;
        if (bytes > pool->bytes) {
            cudaFree(pool->base);
            *pool = (struct pool){NULL, 0, 0};
            CUDA_TRY(cudaMalloc((void **)&pool->base, (size_t)bytes));
            pool->bytes = bytes;
        } else if (kind != AREA_TOKENS) {
            continue; // tokens: another vocabulary may be smaller
        }
        TRY(fill(s, (enum area_kind)kind, bound, err));
    }
    return OK;
}

void session_rotate(struct cuda_session *s, const struct program *program)
{
    for (int kind = 0; kind < AREA_KINDS; kind++) {
        struct pool *pool = &s->pools[kind];
        pool->place += program->bytes[kind];
        if (pool->place + program->bytes[kind] > pool->bytes) pool->place = 0;
    }
}

void *session_pointer(const struct cuda_session *s, const struct program *program,
                      struct place place)
{
    if (place.area == NO_AREA) return NULL;
    const struct area *area = &program->areas[place.area];
    const struct pool *pool = &s->pools[area->kind];
    return pool->base + pool->place + area->offset + place.offset;
}

// ---- time

static enum status enqueue_gate(struct cuda_session *s, struct error *err)
{
    void *gate = NULL;
    CUDA_TRY(cudaHostGetDevicePointer(&gate, s->gate, 0));
    struct kernel_arguments a = {.in = {(char *)gate + offsetof(struct gate, opened)},
                                 .out = {(char *)gate + offsetof(struct gate, expired)},
                                 .size = {s->gate_limit_ns}};
    CUDA_TRY(kernel_launch(KERNEL_GATE, ELEMENT_FLOAT, &a, s->processors, s->stream));
    return OK;
}

// A queue that waits behind the gate must be released before anything else, even if queueing
// failed.
static enum status time_once(struct cuda_session *s, enqueue_function *before,
                             enqueue_function *timed, void *argument, double *seconds,
                             struct error *err)
{
    volatile struct gate *gate = s->gate;
    gate->opened = gate->expired = 0;
    if (before) TRY(before(s, argument, err));
    TRY(enqueue_gate(s, err));
    cudaError_t begin = cudaEventRecord(s->begin, s->stream);
    enum status status = timed(s, argument, err);
    cudaError_t end = cudaEventRecord(s->end, s->stream);
    __sync_synchronize();
    gate->opened = 1;
    cudaError_t done = cudaEventSynchronize(s->end);
    if (status != OK) return status;
    float milliseconds = 0;
    if (begin != cudaSuccess) return cuda_fail(err, begin, "cudaEventRecord");
    if (end != cudaSuccess) return cuda_fail(err, end, "cudaEventRecord");
    if (done != cudaSuccess) return cuda_fail(err, done, "cudaEventSynchronize");
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, s->begin, s->end));
    *seconds = 1e-3 * (double)milliseconds;
    return OK;
}

enum status session_time(struct cuda_session *s, enqueue_function *before, enqueue_function *timed,
                         void *argument, double *seconds, struct error *err)
{
    volatile struct gate *gate = s->gate;
    for (int i = 0; i < GATE_TRIES; i++) {
        TRY(time_once(s, before, timed, argument, seconds, err));
        if (!gate->expired) return OK;
        s->gates_expired++;
        if (s->gate_limit_ns < gate_limit_most_ns) s->gate_limit_ns *= 4;
    }
    return OK; // more than the queue holds: the launches are then part of the work
}
