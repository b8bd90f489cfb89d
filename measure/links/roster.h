// The participants in a measurement of several processes: the endpoints by name, and which of them
// share a clock.
#ifndef PLUMBLINE_MEASURE_LINKS_ROSTER_H
#define PLUMBLINE_MEASURE_LINKS_ROSTER_H

#include "data/numbers/samples.h"
#include "measure/links/ranks.h"

struct roster {
    struct endpoint *endpoints; // [count], one for each rank: its host's name, with ":k" where a
                                // host has several
    int count;
    const char *gpu, *library; // of the sender, if that is not the host itself; NULL: it is
    int64_t process_bytes;     // of this process, before it took memory for what it measures
    bool is_crowded;           // some machine has more processes than processors
    bool is_busy;              // some machine did other work before
};

enum wait { WAIT_AUTO, WAIT_BUSY, WAIT_ASLEEP };
extern const char *const wait_names[]; // "auto", "busy", "asleep"

// All ranks. Sets the ranks' patience: "auto" turns it on if crowded.
void roster_gather(struct roster *roster, struct ranks *ranks, enum wait wait, struct arena *arena);

// Whether times read from the clocks of both can be compared.
bool roster_same_clock(const struct roster *roster, int a, int b);

// The machine and the endpoints of a samples document; `name` NULL: the processor's.
void roster_describe(struct samples *samples, const struct roster *roster, const char *name,
                     struct arena *arena);

#endif
