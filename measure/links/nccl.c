// NCCL, with ranks from MPI: the only file that includes nccl.h. Each device's stream gets, behind
// a gate that the host opens once all is queued (as in session.c): a tiny exchange that ends when
// all ends are ready, an event, the operation, an event. So the time includes neither launches nor
// waiting for the last to arrive.
#include <nccl.h>
#include <stdio.h>
#include <string.h>

#include "data/base/grow.h"
#include "measure/cuda/kernels.h"
#include "measure/links/devices.h"

enum { GATE_LIMIT_NS = 20000000 };

struct gate {
    int opened, expired;
};

struct devices {
    struct ranks *ranks;
    ncclComm_t world;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    struct gate *gate;
    char *out, *in;        // [largest], on the device
    float *token, *answer; // of the tiny exchange
    ncclComm_t *groups;    // to be released
    int group_count, group_capacity;
    struct arena *arena;
};

struct device_group {
    struct devices *d;
    ncclComm_t members;
    int self, count;
};

#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t cuda_code = (call);                                                            \
        if (cuda_code != cudaSuccess)                                                              \
            return fail(err, SYSTEM, "cuda: %.*s: %s", (int)strcspn(#call, "("), #call,            \
                        cudaGetErrorString(cuda_code));                                            \
    } while (0)
#define NCCL_TRY(call)                                                                             \
    do {                                                                                           \
        ncclResult_t nccl_code = (call);                                                           \
        if (nccl_code != ncclSuccess)                                                              \
            return fail(err, SYSTEM, "nccl: %.*s: %s; %s", (int)strcspn(#call, "("), #call,        \
                        ncclGetErrorString(nccl_code), ncclGetLastError(NULL));                    \
    } while (0)

static void devices_close(void *of_devices)
{
    struct devices *d = of_devices;
    for (int i = 0; i < d->group_count; i++) ncclCommDestroy(d->groups[i]);
    if (d->world) ncclCommDestroy(d->world);
    if (d->begin) cudaEventDestroy(d->begin);
    if (d->end) cudaEventDestroy(d->end);
    cudaFree(d->out), cudaFree(d->in), cudaFree(d->token), cudaFree(d->answer);
    if (d->gate) cudaFreeHost(d->gate);
    if (d->stream) cudaStreamDestroy(d->stream);
}

// The ranks of a host get its devices in turn, one each.
static enum status choose_device(int *device, const struct roster *roster, int self,
                                 struct error *err)
{
    int count = 0, before = 0, on_host = 0;
    for (int i = 0; i < roster->count; i++) {
        bool same = !strcmp(roster->endpoints[i].host, roster->endpoints[self].host);
        on_host += same;
        before += same && i < self;
    }
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0)
        return fail(err, UNAVAILABLE, "%s: no CUDA device (%s)", roster->endpoints[self].host,
                    code == cudaSuccess ? "none is visible" : cudaGetErrorString(code));
    // Launchers that bind ranks to devices make one device visible to each.
    if (count == 1 && on_host > 1) before = 0;
    else if (on_host > count)
        return fail(err, UNAVAILABLE, "%s: %d ranks and %d CUDA devices; one each is needed",
                    roster->endpoints[self].host, on_host, count);
    *device = before;
    return OK;
}

enum { NAME_BYTES = 128 };

static enum status name_endpoints(struct devices *d, struct roster *roster, int device,
                                  struct error *err)
{
    struct cudaDeviceProp properties;
    int version = 0;
    char(*names)[NAME_BYTES] = arena_take(d->arena, (size_t)roster->count, sizeof *names);
    char own[NAME_BYTES] = "", bus[32] = "";
    CUDA_TRY(cudaGetDeviceProperties(&properties, device));
    CUDA_TRY(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    snprintf(own, sizeof own, "%.80s:%s", roster->endpoints[ranks_self(d->ranks)].host, bus);
    ranks_tell_all(d->ranks, own, NAME_BYTES, names);
    int *numbers = TAKE(d->arena, roster->count, int);
    ranks_tell_all(d->ranks, &device, (int)sizeof device, numbers);
    for (int i = 0; i < roster->count; i++) {
        for (int j = 0; j < i; j++)
            if (!strcmp(names[i], names[j]))
                return fail(err, UNAVAILABLE,
                            "ranks %d and %d have the same device, %s; one each is needed", j, i,
                            names[i]);
        roster->endpoints[i].name = arena_copy_text(d->arena, names[i]);
        roster->endpoints[i].device = numbers[i];
    }
    ncclGetVersion(&version);
    roster->gpu = arena_copy_text(d->arena, properties.name);
    roster->library = arena_print(d->arena, "NCCL %d.%d.%d over %s", version / 10000,
                                  version % 10000 / 100, version % 100, ranks_library(d->arena));
    return OK;
}

static enum status open_communicator(ncclComm_t *communicator, struct ranks *ranks,
                                     const int *members, int count, int self, struct error *err)
{
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    if (self == 0) NCCL_TRY(ncclGetUniqueId(&id));
    for (int i = 1; i < count && self == 0; i++) ranks_send(ranks, &id, (int)sizeof id, members[i]);
    if (self > 0) ranks_receive(ranks, &id, (int)sizeof id, members[0]);
    NCCL_TRY(ncclCommInitRank(communicator, count, id, self));
    return OK;
}

enum status devices_open(struct devices **devices, struct ranks *ranks, struct roster *roster,
                         int64_t largest_bytes, struct arena *arena, struct error *err)
{
    int device = 0, count = ranks_count(ranks), *everybody = TAKE(arena, count, int);
    struct devices *d = *devices = TAKE(arena, 1, struct devices);
    d->ranks = ranks;
    d->arena = arena;
    TRY(choose_device(&device, roster, ranks_self(ranks), err));
    CUDA_TRY(cudaSetDevice(device));
    arena_defer(arena, devices_close, d);
    TRY(name_endpoints(d, roster, device, err));
    CUDA_TRY(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreate(&d->begin));
    CUDA_TRY(cudaEventCreate(&d->end));
    CUDA_TRY(cudaHostAlloc((void **)&d->gate, sizeof *d->gate,
                           cudaHostAllocMapped | cudaHostAllocPortable));
    CUDA_TRY(cudaMalloc((void **)&d->out, (size_t)largest_bytes));
    CUDA_TRY(cudaMalloc((void **)&d->in, (size_t)largest_bytes));
    CUDA_TRY(cudaMalloc((void **)&d->token, sizeof(float)));
    CUDA_TRY(cudaMalloc((void **)&d->answer, sizeof(float)));
    CUDA_TRY(cudaMemset(d->token, 0, sizeof(float)));
    for (int i = 0; i < count; i++) everybody[i] = i;
    return open_communicator(&d->world, ranks, everybody, count, ranks_self(ranks), err);
}

// ---- time

static enum status enqueue_gate(struct devices *d, struct error *err)
{
    void *gate = NULL;
    d->gate->opened = d->gate->expired = 0;
    CUDA_TRY(cudaHostGetDevicePointer(&gate, d->gate, 0));
    struct kernel_arguments a = {.in = {(char *)gate + offsetof(struct gate, opened)},
                                 .out = {(char *)gate + offsetof(struct gate, expired)},
                                 .size = {GATE_LIMIT_NS}};
    CUDA_TRY(kernel_launch(KERNEL_GATE, ELEMENT_FLOAT, &a, 1, d->stream));
    return OK;
}

struct operation {
    ncclComm_t communicator;
    enum collective what; // of a group; a message has a partner
    int partner;          // of the world; -1: none
    bool sends;
    int64_t bytes;
    int self, count;
};

static enum status exchange_tokens(struct devices *d, const struct operation *o, struct error *err)
{
    if (o->partner < 0) {
        NCCL_TRY(
            ncclAllReduce(d->token, d->answer, 1, ncclFloat, ncclSum, o->communicator, d->stream));
        return OK;
    }
    NCCL_TRY(ncclGroupStart());
    NCCL_TRY(ncclSend(d->token, 1, ncclFloat, o->partner, o->communicator, d->stream));
    NCCL_TRY(ncclRecv(d->answer, 1, ncclFloat, o->partner, o->communicator, d->stream));
    NCCL_TRY(ncclGroupEnd());
    return OK;
}

static enum status exchange_all(struct devices *d, const struct operation *o, int64_t share,
                                struct error *err)
{
    NCCL_TRY(ncclGroupStart());
    for (int i = 0; i < o->count; i++) {
        NCCL_TRY(ncclSend((const float *)(void *)d->out + i * share, (size_t)share, ncclFloat, i,
                          o->communicator, d->stream));
        NCCL_TRY(ncclRecv((float *)(void *)d->in + i * share, (size_t)share, ncclFloat, i,
                          o->communicator, d->stream));
    }
    NCCL_TRY(ncclGroupEnd());
    return OK;
}

static enum status operate(struct devices *d, const struct operation *o, struct error *err)
{
    size_t count = (size_t)o->bytes / sizeof(float), share = count / (size_t)o->count;
    if (o->partner >= 0) {
        if (o->sends)
            NCCL_TRY(ncclSend(d->out, (size_t)o->bytes, ncclChar, o->partner, o->communicator,
                              d->stream));
        else
            NCCL_TRY(ncclRecv(d->in, (size_t)o->bytes, ncclChar, o->partner, o->communicator,
                              d->stream));
        return OK;
    }
    switch (o->what) {
    case ALL_REDUCE:
        NCCL_TRY(
            ncclAllReduce(d->out, d->in, count, ncclFloat, ncclSum, o->communicator, d->stream));
        break;
    case REDUCE_SCATTER:
        NCCL_TRY(ncclReduceScatter(d->out, d->in, share, ncclFloat, ncclSum, o->communicator,
                                   d->stream));
        break;
    case ALL_GATHER:
        NCCL_TRY(ncclAllGather(d->out, d->in, share, ncclFloat, o->communicator, d->stream));
        break;
    case ALL_TO_ALL: return exchange_all(d, o, (int64_t)share, err);
    default:
        NCCL_TRY(ncclGroupStart());
        NCCL_TRY(ncclSend(d->out, count, ncclFloat, (o->self + 1) % o->count, o->communicator,
                          d->stream));
        NCCL_TRY(ncclRecv(d->in, count, ncclFloat, (o->self + o->count - 1) % o->count,
                          o->communicator, d->stream));
        NCCL_TRY(ncclGroupEnd());
    }
    return OK;
}

static enum status enqueue(struct devices *d, const struct operation *o, struct error *err)
{
    TRY(exchange_tokens(d, o, err));
    CUDA_TRY(cudaEventRecord(d->begin, d->stream));
    TRY(operate(d, o, err));
    CUDA_TRY(cudaEventRecord(d->end, d->stream));
    return OK;
}

// The gate is opened even if something fails after it.
static enum status time_operation(struct devices *d, const struct operation *o, double *seconds,
                                  struct error *err)
{
    volatile struct gate *gate = d->gate;
    float milliseconds = 0;
    TRY(enqueue_gate(d, err));
    enum status status = enqueue(d, o, err);
    __sync_synchronize();
    gate->opened = 1;
    cudaError_t done = cudaStreamSynchronize(d->stream);
    TRY(status);
    if (done != cudaSuccess)
        return fail(err, SYSTEM, "cuda: cudaStreamSynchronize: %s", cudaGetErrorString(done));
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, d->begin, d->end));
    *seconds = 1e-3 * (double)milliseconds;
    return OK;
}

// ---- messages

enum status devices_send(struct devices *d, const void *data, int64_t bytes, int to,
                         struct error *err)
{
    double unused;
    const struct operation o = {
        .communicator = d->world, .partner = to, .sends = true, .bytes = bytes, .count = 1};
    CUDA_TRY(cudaMemcpy(d->out, data, (size_t)bytes, cudaMemcpyHostToDevice));
    return time_operation(d, &o, &unused, err);
}

enum status devices_receive(struct devices *d, void *data, int64_t bytes, int from, double *seconds,
                            struct error *err)
{
    const struct operation o = {
        .communicator = d->world, .partner = from, .bytes = bytes, .count = 1};
    CUDA_TRY(cudaMemset(d->in, 0xff, (size_t)bytes));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(time_operation(d, &o, seconds, err));
    CUDA_TRY(cudaMemcpy(data, d->in, (size_t)bytes, cudaMemcpyDeviceToHost));
    return OK;
}

// ---- collectives

enum status devices_group(struct device_group **group, struct devices *d, const int *members,
                          int count, struct arena *arena, struct error *err)
{
    struct device_group *g = *group = TAKE(arena, 1, struct device_group);
    g->d = d;
    g->count = count;
    while (members[g->self] != ranks_self(d->ranks)) g->self++;
    TRY(open_communicator(&g->members, d->ranks, members, count, g->self, err));
    GROW(d->arena, d->groups, d->group_count, d->group_capacity, 16);
    d->groups[d->group_count++] = g->members;
    return OK;
}

enum status devices_run(struct device_group *g, enum collective what, const float *in, float *out,
                        int64_t count, double *seconds, struct error *err)
{
    struct devices *d = g->d;
    size_t bytes = (size_t)count * sizeof(float),
           results = what == REDUCE_SCATTER ? bytes / (size_t)g->count : bytes;
    const struct operation o = {.communicator = g->members,
                                .what = what,
                                .partner = -1,
                                .bytes = (int64_t)bytes,
                                .self = g->self,
                                .count = g->count};
    CUDA_TRY(cudaMemcpy(d->out, in, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemset(d->in, 0xff, bytes));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(time_operation(d, &o, seconds, err));
    CUDA_TRY(cudaMemcpy(out, d->in, results, cudaMemcpyDeviceToHost));
    return OK;
}
