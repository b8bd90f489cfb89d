// NCCL between processes of one host, for running measure/links/nccl.c without devices: operations
// are queued on the fake device's stream until it is waited for; their data goes through a pipe for
// each ordered pair of a communicator's ranks, so an operation's data must be below a pipe's 64
// KiB. FAKE_DEVICES: how many each host has (4). FAKE_CORRUPT: the n-th receive of more than a
// float changes a byte, in every process. FAKE_LATE: in the first process of a communicator the
// n-th gate gives up. FAKE_NCCL: where pipes are made (/tmp).
#include <assert.h>
#include <fcntl.h>
#include <nccl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cuda/fake_cuda.h"
#include "tests/cuda/fake_queue.h"

enum { RANKS_MAX = 16, PATH_BYTES = 256 };

struct ncclComm {
    int count, self, divisions;
    char folder[PATH_BYTES];
    int to[RANKS_MAX], from[RANKS_MAX];
};

static int communicators, receives, corrupted;

__attribute__((constructor)) static void begin(void)
{
    fake_reset();
    const char *devices = getenv("FAKE_DEVICES"), *corrupt = getenv("FAKE_CORRUPT");
    fake.devices = devices ? atoi(devices) : 4;
    corrupted = corrupt ? atoi(corrupt) : 0;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    const char *folder = getenv("FAKE_NCCL");
    int length = snprintf(id->internal, sizeof id->internal, "%s/fake_nccl.%ld.%d",
                          folder ? folder : "/tmp", (long)getpid(), communicators++);
    assert(length < (int)sizeof id->internal);
    return ncclSuccess;
}

static int open_pipe(const struct ncclComm *c, int from, int to)
{
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%d.%d", c->folder, from, to);
    mkfifo(path, 0600); // there already, if the other end came first
    int file = open(path, O_RDWR);
    assert(file >= 0);
    return file;
}

ncclResult_t ncclCommInitRank(ncclComm_t *communicator, int count, ncclUniqueId id, int self)
{
    struct ncclComm *c = *communicator = calloc(1, sizeof *c);
    assert(c && count <= RANKS_MAX && self < count && memchr(id.internal, 0, sizeof id.internal));
    c->count = count, c->self = self;
    if (self == 0 && getenv("FAKE_LATE")) fake.late = atoi(getenv("FAKE_LATE"));
    snprintf(c->folder, sizeof c->folder, "%s", id.internal);
    mkdir(c->folder, 0700);
    for (int i = 0; i < count; i++)
        c->to[i] = open_pipe(c, self, i), c->from[i] = open_pipe(c, i, self);
    return ncclSuccess;
}

static void put(int file, const void *data, size_t bytes);
static void take(int file, void *data, size_t bytes);

// Colours and keys go through the parent's pipes; the divided ones are in folders of the parent's.
ncclResult_t ncclCommSplit(ncclComm_t c, int color, int key, ncclComm_t *part, ncclConfig_t *config)
{
    int own[2] = {color, key}, of[RANKS_MAX][2], count = 0, self = 0;
    ncclUniqueId id;
    assert(!config);
    c->divisions++;
    *part = NULL;
    for (int i = 0; i < c->count; i++) put(c->to[i], own, sizeof own);
    for (int i = 0; i < c->count; i++) take(c->from[i], of[i], sizeof of[i]);
    for (int i = 0; i < c->count; i++) {
        if (color < 0 || of[i][0] != color) continue;
        count++;
        self += of[i][1] < key;
    }
    if (!count) return ncclSuccess;
    memset(&id, 0, sizeof id);
    int length =
        snprintf(id.internal, sizeof id.internal, "%.100s.%d.%d", c->folder, c->divisions, color);
    assert(length < (int)sizeof id.internal);
    return ncclCommInitRank(part, count, id, self);
}

ncclResult_t ncclCommDestroy(ncclComm_t c)
{
    char path[PATH_BYTES + 32];
    for (int i = 0; i < c->count; i++) {
        close(c->to[i]), close(c->from[i]);
        snprintf(path, sizeof path, "%s/%d.%d", c->folder, c->self, i);
        unlink(path);
    }
    rmdir(c->folder); // the last one out
    free(c);
    return ncclSuccess;
}

ncclResult_t ncclGetVersion(int *version) { return *version = 22809, ncclSuccess; }
const char *ncclGetErrorString(ncclResult_t code) { return code ? "an error" : "no error"; }
const char *ncclGetLastError(ncclComm_t c) { return c ? "of this communicator" : ""; }
// The header declares these two without their arguments.
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclGroupStart(void) { return ncclSuccess; }
ncclResult_t ncclGroupEnd(void) { return ncclSuccess; }

// ---- what happens when the stream gets there

static void put(int file, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t now = write(file, (const char *)data + done, bytes - done);
        assert(now > 0);
        done += (size_t)now;
    }
}

static void take(int file, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t now = read(file, (char *)data + done, bytes - done);
        assert(now > 0);
        done += (size_t)now;
    }
    if (bytes > sizeof(float) && ++receives == corrupted) ((char *)data)[bytes / 2] ^= 1;
}

static void send_now(const struct operation *o)
{
    const struct ncclComm *c = o->context;
    put(c->to[o->algorithm], o->from, o->bytes);
}

static void receive_now(const struct operation *o)
{
    const struct ncclComm *c = o->context;
    take(c->from[o->algorithm], o->to, o->bytes);
}

// algorithm: which part of the sums is wanted, -1: all. Everybody sends everything to everybody.
static void reduce_now(const struct operation *o)
{
    const struct ncclComm *c = o->context;
    size_t values = o->bytes / sizeof(float), share = values / (size_t)c->count;
    float *sum = calloc(values, sizeof *sum), *other = malloc(o->bytes);
    for (int i = 0; i < c->count; i++) put(c->to[i], o->from, o->bytes);
    for (int i = 0; i < c->count; i++) {
        take(c->from[i], other, o->bytes);
        for (size_t j = 0; j < values; j++) sum[j] += other[j];
    }
    if (o->algorithm < 0) memcpy(o->to, sum, o->bytes);
    else memcpy(o->to, sum + (size_t)o->algorithm * share, share * sizeof *sum);
    free(sum);
    free(other);
}

static void gather_now(const struct operation *o)
{
    const struct ncclComm *c = o->context;
    for (int i = 0; i < c->count; i++) put(c->to[i], o->from, o->bytes);
    for (int i = 0; i < c->count; i++)
        take(c->from[i], (char *)o->to + (size_t)i * o->bytes, o->bytes);
}

static ncclResult_t queue(void (*call)(const struct operation *), ncclComm_t c, const void *from,
                          void *to, size_t bytes, int which)
{
    assert(bytes <= 1 << 16);
    struct operation *o = fake_queue(OPERATION_CALL);
    o->call = call, o->context = c, o->from = from, o->to = to, o->bytes = bytes,
    o->algorithm = which;
    return ncclSuccess;
}

static size_t size_of(ncclDataType_t type)
{
    assert(type == ncclChar || type == ncclFloat);
    return type == ncclFloat ? sizeof(float) : 1;
}

ncclResult_t ncclSend(const void *data, size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                      cudaStream_t stream)
{
    (void)stream;
    assert(fake_holds(data, (int64_t)(count * size_of(type))) && peer >= 0 && peer < c->count);
    return queue(send_now, c, data, NULL, count * size_of(type), peer);
}

ncclResult_t ncclRecv(void *data, size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                      cudaStream_t stream)
{
    (void)stream;
    assert(fake_holds(data, (int64_t)(count * size_of(type))) && peer >= 0 && peer < c->count);
    return queue(receive_now, c, NULL, data, count * size_of(type), peer);
}

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t type,
                           ncclRedOp_t what, ncclComm_t c, cudaStream_t stream)
{
    (void)stream;
    assert(type == ncclFloat && what == ncclSum && fake_holds(in, (int64_t)(4 * count)) &&
           fake_holds(out, (int64_t)(4 * count)));
    return queue(reduce_now, c, in, out, count * sizeof(float), -1);
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t share, ncclDataType_t type,
                               ncclRedOp_t what, ncclComm_t c, cudaStream_t stream)
{
    (void)stream;
    size_t all = share * (size_t)c->count;
    assert(type == ncclFloat && what == ncclSum && fake_holds(in, (int64_t)(4 * all)) &&
           fake_holds(out, (int64_t)(4 * share)));
    return queue(reduce_now, c, in, out, all * sizeof(float), c->self);
}

ncclResult_t ncclAllGather(const void *in, void *out, size_t share, ncclDataType_t type,
                           ncclComm_t c, cudaStream_t stream)
{
    (void)stream;
    assert(type == ncclFloat && fake_holds(in, (int64_t)(4 * share)) &&
           fake_holds(out, (int64_t)(4 * share * (size_t)c->count)));
    return queue(gather_now, c, in, out, share * sizeof(float), 0);
}
