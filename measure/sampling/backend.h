// The seam between measuring and machines. A back end runs one repetition of a piece of work on its
// device and says how long it took; which pieces, in which order and how often is decided above it
// (cells.h, rounds.h). One file per device: cpu.c today; others join the table in backends.c, and
// where their library is missing the build takes a file in their place that answers UNAVAILABLE. No
// back end is chosen by #ifdef.
#ifndef PLUMBLINE_MEASURE_SAMPLING_BACKEND_H
#define PLUMBLINE_MEASURE_SAMPLING_BACKEND_H

#include "measure/sampling/cell.h"

struct backend_settings {
    int threads;
    uint64_t seed;
    const char *options; // KEY=VALUE,... of the simulated one; NULL: none given
    bool shared; // other programs use the machine: count processor time, where that tells the two
                 // apart
};

struct backend {
    const char *name, *text;
    // Fails with UNAVAILABLE where the machine or the precision is not there. *session belongs to
    // the arena.
    enum status (*open)(void **session, const struct backend_settings *settings,
                        enum precision precision, struct arena *arena, struct error *err);
    void (*describe)(void *session, struct machine *machine, struct arena *arena);
    // Makes room for every cell and fills it with random values. May be called again for other
    // cells.
    enum status (*prepare)(void *session, const struct cell *cells, int cell_count,
                           struct arena *arena, struct error *err);
    // One repetition, in seconds; operands come from another place than last time, so that no cache
    // holds them.
    double (*repeat)(void *session, const struct cell *cell);
    // Bytes that the machine has and that a process takes, every observation; asked for before
    // anything is prepared. NULL: they cannot be observed.
    enum status (*observe)(void *session, struct quantity **quantities, int *quantity_count,
                           struct arena *arena, struct error *err);
    bool has_host; // the device has a memory of its own, and transfers to and from its host
    // May be NULL: the device's state now (all but `first`), asked for at most some 50 times a
    // second; false: not known.
    bool (*condition)(void *session, struct condition *now);
    // May be NULL: the seconds that budgets are counted in; else the machine's monotonic clock.
    double (*clock)(void *session);
    // May be NULL: why a repetition failed, asked for after many of them; OK: none did.
    enum status (*failure)(void *session, struct error *err);
};

double clock_seconds(void); // monotonic
double backend_seconds(const struct backend *backend, void *session);

extern const struct backend *const backends[]; // ended by NULL
extern const struct backend backend_cpu, backend_simulated, backend_cuda;

const struct backend *backend_find(const char *name); // NULL: none
const char *backend_names(struct arena *arena);       // "cpu, simulated"

#endif
