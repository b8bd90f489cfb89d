// NCCL, with ranks from MPI: the only file that includes nccl.h. Each device's stream gets, behind
// a gate that the host opens once all is queued (as in session.c): the operation, untimed (unless
// cold), a tiny exchange that ends when all ends are ready, an event, the operation once or several
// times, an event. So the time includes neither launches nor waiting for the last to arrive. A gate
// gives up after a while; if that happened to any rank of the operation, all of them repeat it.
#include <nccl.h>

#include "data/base/grow.h"
#include "measure/cuda/identity.h"
#include "measure/cuda/kernels/kernels.h"
#include "measure/links/devices.h"

enum { GATE_TRIES = 4 };
static const int64_t gate_limit_ns = 20000000, gate_limit_most_ns = 2000000000;

struct gate {
    int opened, expired;
};

struct devices {
    struct ranks *ranks;
    ncclComm_t world;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    struct gate *gate;
    int64_t gate_limit_ns;
    struct devices_manner manner;
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

enum { NAME_BYTES = 192 };

static enum status name_endpoints(struct devices *d, struct roster *roster, int device,
                                  struct error *err)
{
    struct cudaDeviceProp properties;
    int version = 0;
    char(*names)[NAME_BYTES] = arena_take(d->arena, (size_t)roster->count, sizeof *names);
    char own[NAME_BYTES] = "", bus[32] = "", slice[IDENTITY_BYTES + 1] = "";
    CUDA_TRY(cudaGetDeviceProperties(&properties, device));
    CUDA_TRY(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    if (is_slice(&properties)) { // several have the same address on the bus
        *slice = ':';
        identity_of(&properties, slice + 1);
    }
    snprintf(own, sizeof own, "%.80s:%s%s", roster->endpoints[ranks_self(d->ranks)].host, bus,
             slice);
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

static enum status open_world(struct devices *d, struct error *err)
{
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    if (ranks_self(d->ranks) == 0) NCCL_TRY(ncclGetUniqueId(&id));
    ranks_share(d->ranks, &id, (int)sizeof id);
    NCCL_TRY(ncclCommInitRank(&d->world, ranks_count(d->ranks), id, ranks_self(d->ranks)));
    return OK;
}

static enum status check_built_for(int device, struct error *err)
{
    struct cudaDeviceProp properties;
    CUDA_TRY(cudaGetDeviceProperties(&properties, device));
    return capability_check(&properties, err);
}

enum status devices_open(struct devices **devices, struct ranks *ranks, struct roster *roster,
                         int64_t largest_bytes, const struct devices_manner *manner,
                         struct arena *arena, struct error *err)
{
    int device = 0;
    struct devices *d = *devices = TAKE(arena, 1, struct devices);
    d->ranks = ranks;
    d->arena = arena;
    d->manner = *manner;
    d->gate_limit_ns = gate_limit_ns;
    TRY(choose_device(&device, roster, ranks_self(ranks), err));
    TRY(check_built_for(device, err));
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
    return open_world(d, err);
}

// ---- time

static enum status enqueue_gate(struct devices *d, struct error *err)
{
    void *gate = NULL;
    d->gate->opened = d->gate->expired = 0;
    CUDA_TRY(cudaHostGetDevicePointer(&gate, d->gate, 0));
    struct kernel_arguments a = {.in = {(char *)gate + offsetof(struct gate, opened)},
                                 .out = {(char *)gate + offsetof(struct gate, expired)},
                                 .size = {d->gate_limit_ns}};
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
    if (!d->manner.cold) TRY(operate(d, o, err));
    TRY(exchange_tokens(d, o, err));
    CUDA_TRY(cudaEventRecord(d->begin, d->stream));
    for (int i = 0; i < d->manner.in_a_row; i++) TRY(operate(d, o, err));
    CUDA_TRY(cudaEventRecord(d->end, d->stream));
    return OK;
}

// The gate is opened even if something fails after it.
static enum status time_once(struct devices *d, const struct operation *o, double *seconds,
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
    *seconds = 1e-3 * (double)milliseconds / d->manner.in_a_row;
    return OK;
}

// Whether the gate of any rank of the operation gave up; all of them get the same answer.
static enum status any_expired(struct devices *d, const struct operation *o, bool *any,
                               struct error *err)
{
    float own = d->gate->expired ? 1 : 0, all = 0;
    CUDA_TRY(cudaMemcpy(d->token, &own, sizeof own, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(exchange_tokens(d, o, err));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    CUDA_TRY(cudaMemcpy(&all, d->answer, sizeof all, cudaMemcpyDeviceToHost));
    *any = own > 0 || all > 0;
    return OK;
}

static enum status time_operation(struct devices *d, const struct operation *o, double *seconds,
                                  struct error *err)
{
    bool again = true;
    for (int i = 0; again && i < GATE_TRIES; i++) {
        TRY(time_once(d, o, seconds, err));
        TRY(any_expired(d, o, &again, err));
        if (again && d->gate_limit_ns < gate_limit_most_ns) d->gate_limit_ns *= 4;
    }
    return OK; // more than the queue holds: the launches are then part of the work
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

// Groups from `first` on that have no rank in common, so that one division makes all of them.
static int apart_from(const struct devices *d, const struct groups *all, int first)
{
    struct arena_mark mark = arena_set_mark(d->arena);
    bool *taken = TAKE(d->arena, ranks_count(d->ranks), bool), free = true;
    int next = first;
    while (free && next < all->count) {
        const struct member_list *list = &all->lists[next];
        for (int i = 0; i < list->count; i++) free = free && !taken[list->members[i]];
        for (int i = 0; i < list->count; i++) taken[list->members[i]] = true;
        next += free;
    }
    arena_reset(d->arena, mark);
    return next;
}

// The communicator of groups first .. next - 1, divided off the world's; of all ranks, the world's.
static enum status divide(struct device_group **groups, struct devices *d, const struct groups *all,
                          int first, int next, struct error *err)
{
    int own = first, self = 0;
    ncclComm_t members = d->world;
    while (own < next && !group_has(&all->lists[own], ranks_self(d->ranks))) own++;
    const struct member_list *list = own < next ? &all->lists[own] : NULL;
    while (list && list->members[self] != ranks_self(d->ranks)) self++;
    if (all->lists[first].count < ranks_count(d->ranks)) {
        members = NULL;
        NCCL_TRY(
            ncclCommSplit(d->world, list ? own - first : NCCL_SPLIT_NOCOLOR, self, &members, NULL));
        GROW(d->arena, d->groups, d->group_count, d->group_capacity, 16);
        if (members) d->groups[d->group_count++] = members;
    }
    if (list) *groups[own] = (struct device_group){d, members, self, list->count};
    return OK;
}

enum status devices_groups(struct device_group **groups, struct devices *d,
                           const struct groups *all, struct arena *arena, struct error *err)
{
    for (int g = 0; g < all->count; g++) groups[g] = TAKE(arena, 1, struct device_group);
    for (int first = 0, next; first < all->count; first = next) {
        next = apart_from(d, all, first);
        TRY(divide(groups, d, all, first, next, err));
    }
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
