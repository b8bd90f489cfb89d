// For LD_PRELOAD under mpirun: records when each message of a link's measurement was really sent
// and received, by MPI's own profiling interface (PMPI_). Each rank writes, when it finishes,
// $PLUMBLINE_WITNESS.RANK: lines "EVENT NS PEER BYTES" in the order they happened, on a clock that
// all processes of the machine share whatever their namespace (boottime):
//   send, receive, call        the call began (call: a barrier or reduction of all, PEER -1)
//   sent, received, returned   the call that reported its end returned
// What a program times by itself is between two of them: tests/links/judge.awk says which.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PENDING_MAX = 64 };

struct event {
    const char *name;
    int64_t ns;
    int peer, bytes;
};
struct pending {
    MPI_Request request;
    const char *end;
    int peer, bytes;
};

static struct event *events;
static size_t event_count, event_room;
static struct pending pending[PENDING_MAX];
static int pending_count;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void note(const char *name, int64_t ns, int peer, int bytes)
{
    if (event_count == event_room) {
        event_room = event_room ? 2 * event_room : 65536;
        events = realloc(events, event_room * sizeof *events);
        if (!events) abort();
    }
    events[event_count++] = (struct event){name, ns, peer, bytes};
}

static void wait_for(MPI_Request request, const char *end, int peer, int bytes)
{
    if (pending_count == PENDING_MAX) abort();
    pending[pending_count++] = (struct pending){request, end, peer, bytes};
}

static void note_end(MPI_Request request, int64_t ns)
{
    for (int i = pending_count - 1; i >= 0; i--) {
        if (pending[i].request != request) continue;
        note(pending[i].end, ns, pending[i].peer, pending[i].bytes);
        pending[i] = pending[--pending_count];
        return;
    }
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    note("send", now_ns(), to, count);
    int status = PMPI_Isend(data, count, type, to, tag, comm, request);
    wait_for(*request, "sent", to, count);
    return status;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    note("receive", now_ns(), from, count);
    int status = PMPI_Irecv(data, count, type, from, tag, comm, request);
    wait_for(*request, "received", from, count);
    return status;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    note("call", now_ns(), -1, 0);
    int status = PMPI_Ibarrier(comm, request);
    wait_for(*request, "returned", -1, 0);
    return status;
}

int MPI_Ireduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op what, int root,
                MPI_Comm comm, MPI_Request *request)
{
    note("call", now_ns(), -1, 0);
    int status = PMPI_Ireduce(in, out, count, type, what, root, comm, request);
    wait_for(*request, "returned", -1, 0);
    return status;
}

int MPI_Testall(int count, MPI_Request *requests, int *is_done, MPI_Status *statuses)
{
    MPI_Request asked[PENDING_MAX];
    if (count > PENDING_MAX) abort();
    for (int i = 0; i < count; i++) asked[i] = requests[i];
    int status = PMPI_Testall(count, requests, is_done, statuses);
    int64_t ns = now_ns();
    for (int i = 0; i < count && *is_done; i++) note_end(asked[i], ns);
    return status;
}

int MPI_Finalize(void)
{
    const char *path = getenv("PLUMBLINE_WITNESS");
    char own[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(own, sizeof own, "%s.%d", path ? path : "witness", rank);
    FILE *file = fopen(own, "w");
    if (!file) abort();
    for (size_t i = 0; i < event_count; i++)
        fprintf(file, "%s %lld %d %d\n", events[i].name, (long long)events[i].ns, events[i].peer,
                events[i].bytes);
    if (fclose(file)) abort();
    return PMPI_Finalize();
}
