// The interface between measuring and machines. A back end runs one repetition of a piece of work
// on its device and returns its time; which pieces, in which order and how often is decided above
// it (cells.h, rounds.h). Each device has a file and a row in the table in backends.c; if its
// library is missing, the build uses a file instead that answers UNAVAILABLE. No back end is
// chosen by #ifdef.
#pragma once

#include "data/base/watch.h"
#include "measure/sampling/cells.h"

struct backend_settings {
    int threads;
    uint64_t seed;
    const char *options; // KEY=VALUE,... of the simulated one; NULL: none given
    bool shared; // other programs use the machine: measure processor time, where that differs
    int device;  // of the machine's, where there are several of the kind
    bool best;   // products by the fastest of a library's proposals, not by its first
};

// Turns of a block's forward and backward pass without a rest.
struct turns {
    double least_s;                 // untimed, and then timed
    int count, most;                // of the timed turns; at most so many
    double *forward_s, *backward_s; // [most]
    struct condition *conditions;   // [most]; first: the turn
    int condition_count;
    int busy_devices; // that took such turns
};

struct backend {
    const char *name;
    // Fails with UNAVAILABLE without the machine or the precision. *session belongs to the arena.
    enum status (*open)(void **session, const struct backend_settings *settings,
                        enum precision precision, struct arena *arena, struct error *err);
    void (*describe)(void *session, struct machine *machine, struct arena *arena);
    // Allocates memory for every cell and fills it with random values. May be called again for
    // other cells.
    enum status (*prepare)(void *session, const struct cell *cells, int cell_count,
                           struct arena *arena, struct error *err);
    // May be NULL: states in a sample how this back end runs it.
    void (*state)(void *session, const struct cell *cell, struct sample *sample);
    // One repetition, in seconds; operands come from another position than last time, so that no
    // cache holds them.
    double (*repeat)(void *session, const struct cell *cell);
    // May be NULL: the bytes that a layer whose backward pass this is keeps between its passes;
    // *working: what that pass needs besides, without gradients of weights.
    int64_t (*keeps)(const struct cell *backward, int64_t *working);
    // The bytes that the machine has and that a process takes, every observation; called before
    // anything is prepared. NULL: they cannot be observed.
    enum status (*observe)(void *session, struct quantity **quantities, int *quantity_count,
                           struct arena *arena, struct error *err);
    // May be NULL: then both passes are repeated in turn. backward: the cell of that pass.
    enum status (*sustain)(void *session, const struct cell *backward, struct turns *turns,
                           struct arena *arena, struct error *err);
    bool cuts_layers; // times whole layers of one of several context ranks
    bool has_host;    // the device has its own memory, and transfers to and from its host
    // May be NULL: the device's state now (all but `first`), called at most some 50 times a
    // second; false: unknown.
    bool (*condition)(void *session, struct condition *now);
    // May be NULL: the seconds in which budgets are counted; otherwise the machine's monotonic
    // clock.
    double (*clock)(void *session);
    // May be NULL: what a message of a stated link takes, and how much of that occupies the link;
    // false: messages are to be timed.
    bool (*message)(void *session, int64_t bytes, double *latency_s, double *occupied_s);
    // May be NULL: why a repetition failed, called after many of them; OK: none did.
    enum status (*failure)(void *session, struct error *err);
};

// The host's clock, or the back end's own.
static inline double backend_seconds(const struct backend *backend, void *session)
{
    return backend->clock ? backend->clock(session) : clock_s();
}

extern const struct backend *const backends[]; // ended by NULL
extern const struct backend backend_cpu, backend_simulated, backend_cuda;

const struct backend *backend_find(const char *name); // NULL: none
const char *backend_names(struct arena *arena);       // "cpu, simulated"
