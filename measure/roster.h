// Who takes part in a measurement of several processes: the endpoints by name, and which of them share a clock.
#ifndef PLUMBLINE_MEASURE_ROSTER_H
#define PLUMBLINE_MEASURE_ROSTER_H

#include "data/samples.h"
#include "measure/ranks.h"

struct roster {
    struct endpoint *endpoints;     // [count], one for each rank: its host's name, with ":k" where a host has several
    int count;
    bool is_crowded;                // somewhere more processes share a machine than it has processors
};

enum wait { WAIT_AUTO, WAIT_BUSY, WAIT_ASLEEP };
extern const char *const wait_names[];      // "auto", "busy", "asleep"

// All ranks. Sets the ranks' patience: "auto" has it where it is crowded.
void roster_gather(struct roster *roster, struct ranks *ranks, enum wait wait, struct arena *arena);

// Whether what one of them reads off its clock can be compared with what the other does.
bool roster_same_clock(const struct roster *roster, int a, int b);

// The parts of a samples document that say where it is from; `name` NULL: the processor's.
void roster_describe(struct samples *samples, const struct roster *roster, const char *name, int64_t seed, int argc,
                     char **argv, struct arena *arena);

// The end of a command at each rank. A rank that fails alone says why and ends all: the others would wait for it.
enum status roster_leave(struct ranks *ranks, const char *command, enum status status, const struct error *err);

#endif
