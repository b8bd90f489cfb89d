// For LD_PRELOAD under mpirun: one byte of every long message to rank 1, and one value of every
// all-reduce, arrives changed; the measurement has to detect it. MPI's own profiling interface
// (PMPI_) does the rest.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (type != MPI_BYTE || to != 1 || count < 1000)
        return PMPI_Isend(data, count, type, to, tag, comm, request);
    unsigned char *copy = malloc((size_t)count); // never freed: the message may still be on its way
    if (!copy) abort();
    memcpy(copy, data, (size_t)count);
    copy[count - 3] ^= 4;
    return PMPI_Isend(copy, count, type, to, tag, comm, request);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm comm)
{
    int status = PMPI_Allreduce(in, out, count, type, operation, comm);
    if (type == MPI_FLOAT && count > 1) ((float *)out)[count - 1] += 1;
    return status;
}
