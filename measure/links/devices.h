// Messages between devices, one for each rank, instead of messages between processes: nccl.c, or
// otherwise nccl_none.c. Data sent and received is in the host's memory and is copied to the
// device before and back after. Only the transfer between devices is timed, by the device's own
// events.
#ifndef PLUMBLINE_MEASURE_LINKS_DEVICES_H
#define PLUMBLINE_MEASURE_LINKS_DEVICES_H

#include "measure/links/roster.h"

struct devices;
struct device_group;

// All ranks. Names the endpoints after their devices, and the machine after the first. UNAVAILABLE:
// no device for a rank.
enum status devices_open(struct devices **devices, struct ranks *ranks, struct roster *roster,
                         int64_t largest_bytes, struct arena *arena, struct error *err);

// One message, called at both ends. *seconds: at the receiver, from when both are ready to when
// all has arrived.
enum status devices_send(struct devices *d, const void *data, int64_t bytes, int to,
                         struct error *err);
enum status devices_receive(struct devices *d, void *data, int64_t bytes, int from, double *seconds,
                            struct error *err);

// As ranks_group and group_run: called by the members, in the order of their groups.
enum status devices_group(struct device_group **group, struct devices *d, const int *members,
                          int count, struct arena *arena, struct error *err);
enum status devices_run(struct device_group *g, enum collective what, const float *in, float *out,
                        int64_t count, double *seconds, struct error *err);

#endif
