// Messages between devices in the programs without NCCL.
#include "measure/links/devices.h"

static const char why[] = "this build has no NCCL: plumbline-measure-nccl is missing; install CUDA "
                          "with NCCL, and an MPI, and run make again";

enum status devices_open(struct devices **devices, struct ranks *ranks, struct roster *roster,
                         int64_t largest_bytes, const struct devices_manner *manner,
                         struct arena *arena, struct error *err)
{
    (void)devices, (void)ranks, (void)roster, (void)largest_bytes, (void)manner, (void)arena;
    return fail(err, UNAVAILABLE, "%s", why);
}

enum status devices_send(struct devices *d, const void *data, int64_t bytes, int to,
                         struct error *err)
{
    (void)d, (void)data, (void)bytes, (void)to;
    return fail(err, UNAVAILABLE, "%s", why);
}

enum status devices_receive(struct devices *d, void *data, int64_t bytes, int from, double *seconds,
                            struct error *err)
{
    (void)d, (void)data, (void)bytes, (void)from, (void)seconds;
    return fail(err, UNAVAILABLE, "%s", why);
}

enum status devices_groups(struct device_group **groups, struct devices *d,
                           const struct groups *all, struct arena *arena, struct error *err)
{
    (void)groups, (void)d, (void)all, (void)arena;
    return fail(err, UNAVAILABLE, "%s", why);
}

enum status devices_run(struct device_group *g, enum collective what, const float *in, float *out,
                        int64_t count, double *seconds, struct error *err)
{
    (void)g, (void)what, (void)in, (void)out, (void)count, (void)seconds;
    return fail(err, UNAVAILABLE, "%s", why);
}
