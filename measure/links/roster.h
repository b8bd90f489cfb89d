// Who takes part in a measurement of several processes: the endpoints by name, and which of them
// share a clock.
#ifndef PLUMBLINE_MEASURE_LINKS_ROSTER_H
#define PLUMBLINE_MEASURE_LINKS_ROSTER_H

#include "data/inputs/samples.h"
#include "measure/links/ranks.h"

struct roster {
    struct endpoint *endpoints; // [count], one for each rank: its host's name, with ":k" where a
                                // host has several
    int count;
    const char *gpu, *library; // of what sends, where that is not the host itself; NULL: it is
    bool is_crowded;           // somewhere more processes share a machine than it has processors
};

enum wait { WAIT_AUTO, WAIT_BUSY, WAIT_ASLEEP };
extern const char *const wait_names[]; // "auto", "busy", "asleep"

// All ranks. Sets the ranks' patience: "auto" has it where it is crowded.
void roster_gather(struct roster *roster, struct ranks *ranks, enum wait wait, struct arena *arena);

// Whether what one of them reads off its clock can be compared with what the other does.
bool roster_same_clock(const struct roster *roster, int a, int b);

// The machine and the endpoints of a samples document; `name` NULL: the processor's.
void roster_describe(struct samples *samples, const struct roster *roster, const char *name,
                     struct arena *arena);

#endif
