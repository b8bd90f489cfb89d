// Ranks by MPI: the only file that includes mpi.h. Plain MPI-3 calls, so any launcher supported by
// the library works (mpirun; srun with PMIx or PMI2). Waiting is our own loop over MPI_Test; for
// patience see ranks.h.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "measure/links/ranks.h"

enum { TAG = 17, PATIENCE_NS = 20000 };

struct ranks {
    int self, count;
    bool patient, is_closed;
    MPI_Request receive;
    MPI_Request *sends; // [send_capacity], MPI_REQUEST_NULL: free
    int send_capacity;
};

struct group {
    MPI_Comm members;
    int self, count;
    struct ranks *ranks;
};

static void ranks_release(void *object)
{
    const struct ranks *r = object;
    if (!r->is_closed) MPI_Abort(MPI_COMM_WORLD, 1);
}

enum status ranks_open(struct ranks **ranks, struct arena *arena, struct error *err)
{
    int is_open = 0;
    MPI_Initialized(&is_open);
    if (is_open || MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return fail(err, UNAVAILABLE, "MPI cannot be started");
    struct ranks *r = TAKE(arena, 1, struct ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->self);
    MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    r->receive = MPI_REQUEST_NULL;
    arena_defer(arena, ranks_release, r);
    *ranks = r;
    return OK;
}

void ranks_close(struct ranks *r)
{
    r->is_closed = true;
    MPI_Finalize();
}

void ranks_abort(const struct ranks *r, int exit_code)
{
    (void)r;
    MPI_Abort(MPI_COMM_WORLD, exit_code);
}

const char *ranks_library(struct arena *arena)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    return arena_copy_text(arena, text);
}

int ranks_self(const struct ranks *r) { return r->self; }
int ranks_count(const struct ranks *r) { return r->count; }

// Linux rounds sleeps up by 50 us by default; other systems need no setting.
void ranks_set_patience(struct ranks *r, bool patient)
{
    r->patient = patient;
    FILE *slack = patient ? fopen("/proc/self/timerslack_ns", "w") : NULL;
    if (!slack) return;
    fputs("1", slack);
    fclose(slack);
}

static void wait_for(const struct ranks *r, MPI_Request *requests, int count)
{
    static const struct timespec pause = {0, PATIENCE_NS};
    int is_done = 0;
    while (MPI_Testall(count, requests, &is_done, MPI_STATUSES_IGNORE), !is_done)
        if (r->patient) nanosleep(&pause, NULL);
}

void ranks_meet(struct ranks *r)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(r, &request, 1);
}

void ranks_tell_all(struct ranks *r, const void *mine, int bytes, void *every)
{
    MPI_Request request;
    MPI_Iallgather(mine, bytes, MPI_BYTE, every, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    wait_for(r, &request, 1);
}

void ranks_share(struct ranks *r, void *data, int bytes)
{
    MPI_Request request;
    MPI_Ibcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_for(r, &request, 1);
}

void ranks_maximum(struct ranks *r, double *values, int count)
{
    MPI_Request request;
    MPI_Ireduce(r->self ? values : MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, 0,
                MPI_COMM_WORLD, &request);
    wait_for(r, &request, 1);
}

void ranks_send(struct ranks *r, const void *data, int bytes, int to)
{
    MPI_Request request;
    MPI_Isend(data, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
    wait_for(r, &request, 1);
}

void ranks_receive(struct ranks *r, void *data, int bytes, int from)
{
    MPI_Request request;
    MPI_Irecv(data, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
    wait_for(r, &request, 1);
}

void ranks_receive_begin(struct ranks *r, void *data, int bytes, int from)
{
    MPI_Irecv(data, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &r->receive);
}

void ranks_receive_end(struct ranks *r) { wait_for(r, &r->receive, 1); }

int ranks_send_begin(struct ranks *r, const void *data, int bytes, int to, struct arena *arena)
{
    int at = 0;
    while (at < r->send_capacity && r->sends[at] != MPI_REQUEST_NULL) at++;
    if (at == r->send_capacity) {
        int more = at ? 2 * at : 16;
        r->sends = arena_grow(arena, r->sends, (size_t)at, (size_t)more, sizeof *r->sends);
        for (int i = at; i < more; i++) r->sends[i] = MPI_REQUEST_NULL;
        r->send_capacity = more;
    }
    MPI_Isend(data, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &r->sends[at]);
    return at;
}

bool ranks_send_over(struct ranks *r, int number)
{
    int is_done = 0;
    MPI_Test(&r->sends[number], &is_done, MPI_STATUS_IGNORE);
    return is_done;
}

struct group *ranks_group(struct ranks *r, const int *members, int count, struct arena *arena)
{
    struct group *g = TAKE(arena, 1, struct group);
    MPI_Group world, some;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, members, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, TAG, &g->members);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    MPI_Comm_rank(g->members, &g->self);
    g->count = count;
    g->ranks = r;
    return g;
}

void group_meet(struct group *g)
{
    MPI_Request request;
    MPI_Ibarrier(g->members, &request);
    wait_for(g->ranks, &request, 1);
}

// The non-blocking forms, so that waiting is ours. Their algorithms may differ from those of the
// blocking forms, which programs use; so the blocking forms are used unless patience is needed.
static void run_patiently(struct group *g, enum collective what, const float *in, float *out,
                          int count)
{
    int share = count / g->count;
    MPI_Request request;
    switch (what) {
    case ALL_REDUCE:
        MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, g->members, &request);
        break;
    case REDUCE_SCATTER:
        MPI_Ireduce_scatter_block(in, out, share, MPI_FLOAT, MPI_SUM, g->members, &request);
        break;
    case ALL_GATHER:
        MPI_Iallgather(in, share, MPI_FLOAT, out, share, MPI_FLOAT, g->members, &request);
        break;
    default:
        MPI_Ialltoall(in, share, MPI_FLOAT, out, share, MPI_FLOAT, g->members, &request);
        break;
    }
    wait_for(g->ranks, &request, 1);
}

void group_run(struct group *g, enum collective what, const float *in, float *out, int count)
{
    int share = count / g->count;
    if (what == SEND_RECV) {
        MPI_Request both[2];
        MPI_Irecv(out, count, MPI_FLOAT, (g->self + g->count - 1) % g->count, TAG, g->members,
                  &both[0]);
        MPI_Isend(in, count, MPI_FLOAT, (g->self + 1) % g->count, TAG, g->members, &both[1]);
        wait_for(g->ranks, both, 2);
        return;
    }
    if (g->ranks->patient) {
        run_patiently(g, what, in, out, count);
        return;
    }
    switch (what) {
    case ALL_REDUCE: MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, g->members); break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_block(in, out, share, MPI_FLOAT, MPI_SUM, g->members);
        break;
    case ALL_GATHER: MPI_Allgather(in, share, MPI_FLOAT, out, share, MPI_FLOAT, g->members); break;
    default: MPI_Alltoall(in, share, MPI_FLOAT, out, share, MPI_FLOAT, g->members); break;
    }
}
