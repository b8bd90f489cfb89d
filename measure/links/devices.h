// Messages between devices, one for each rank, instead of messages between processes: nccl.c, or
// otherwise nccl_none.c. Data sent and received is in the host's memory and is copied to the
// device before and back after. Only the transfer between devices is timed, by the device's own
// events.
#pragma once

#include "measure/links/assembly.h"

struct devices;
struct device_group;

// How an operation is timed.
struct devices_manner {
    bool cold;    // without the same operation, untimed, directly before
    int in_a_row; // so many are timed together, and divided by their number
};

// All ranks. Names the endpoints after their devices, and the machine after the first. UNAVAILABLE:
// no device for a rank.
enum status devices_open(struct devices **devices, struct ranks *ranks, struct roster *roster,
                         int64_t largest_bytes, const struct devices_manner *manner,
                         struct arena *arena, struct error *err);

// One message, called at both ends. *seconds: at the receiver, from when both are ready to when
// all has arrived.
enum status devices_send(struct devices *d, const void *data, int64_t bytes, int to,
                         struct error *err);
enum status devices_receive(struct devices *d, void *data, int64_t bytes, int from, double *seconds,
                            struct error *err);

// All ranks: groups[all->count], of use where this rank is a member.
enum status devices_groups(struct device_group **groups, struct devices *d,
                           const struct groups *all, struct arena *arena, struct error *err);
// As group_run.
enum status devices_run(struct device_group *g, enum collective what, const float *in, float *out,
                        int64_t count, double *seconds, struct error *err);
