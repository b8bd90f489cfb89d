// The clock that times are taken from: the host's, or a back end's own.
#include <time.h>

#include "measure/sampling/backend.h"

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double backend_seconds(const struct backend *backend, void *session)
{
    return backend->clock ? backend->clock(session) : clock_seconds();
}
