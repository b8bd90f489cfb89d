// The interface between measuring and the launcher: processes ("ranks") started together by mpirun
// or srun, their communication, and the timed operations. It is implemented by mpi.c, the only
// file that uses MPI; programs built without MPI have mpi_none.c instead, which executes
// plumbline-measure-mpi for links and collectives. Every rank calls what is marked "all" in the
// same order. A failure inside MPI ends all processes with MPI's own text.
#pragma once

#include "data/base/arena.h"

struct ranks;
struct group; // some of the ranks, for collectives

// One call per program. If the arena is closed without ranks_close(), every process is ended, so
// that nobody waits for one that failed.
enum status ranks_open(struct ranks **ranks, struct arena *arena, struct error *err);
void ranks_close(struct ranks *ranks);                      // all
void ranks_abort(const struct ranks *ranks, int exit_code); // ends every process, does not return
const char *ranks_library(struct arena *arena);             // "Open MPI v4.1.4 ..."
int ranks_self(const struct ranks *ranks);
int ranks_count(const struct ranks *ranks);

// Waiting is polling. With patience it sleeps a few microseconds in between, for more processes
// than processors, where a polling process keeps the awaited one from running.
void ranks_set_patience(struct ranks *ranks, bool patient);

void ranks_meet(struct ranks *ranks); // all: nobody leaves before everyone has come
void ranks_tell_all(struct ranks *ranks, const void *mine, int bytes,
                    void *every);                             // all: every[count][bytes]
void ranks_share(struct ranks *ranks, void *data, int bytes); // all: rank 0's data
void ranks_maximum(struct ranks *ranks, double *values,
                   int count); // all: the largest of each, at rank 0

// Point to point. A receive may be posted early, before the message arrives.
void ranks_send(struct ranks *ranks, const void *data, int bytes, int to);
void ranks_receive(struct ranks *ranks, void *data, int bytes, int from);
void ranks_receive_begin(struct ranks *ranks, void *data, int bytes, int from);
void ranks_receive_end(struct ranks *ranks);
// A send that goes on while the rank does other things; the data stay as they are until it is over.
// Returns its number, which is free again once it is over.
int ranks_send_begin(struct ranks *ranks, const void *data, int bytes, int to, struct arena *arena);
bool ranks_send_over(struct ranks *ranks, int number);

enum collective { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, SEND_RECV, COLLECTIVE_COUNT };

// Called by the members, in the order of their groups. members[] ascending.
struct group *ranks_group(struct ranks *ranks, const int *members, int count, struct arena *arena);
void group_meet(struct group *group);
// `count` floats are the whole array, a multiple of the group's size; reductions are sums.
void group_run(struct group *group, enum collective what, const float *in, float *out, int count);
