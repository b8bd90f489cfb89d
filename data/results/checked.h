// What plumbline check found out about a certificate, for reports. The checker itself writes it
// (solve/checker/verdict.c) and shares no code with this reader.
#pragma once

#include "data/text/document.h"

struct checked {
    struct document document; // made from the certificate and the priced document
    const char *name;         // of the problem
    bool accepted;
    const char *reason; // why not; NULL if accepted
    bool infeasible;    // proven: there is no plan
    int objective;      // enum objective: what bound_ns is about
    int64_t iteration_ns, objective_ns,
        bound_ns; // -1: the certificate does not state it, or was not accepted
    int64_t certificate_bytes;
    int64_t boxes, splits, leaves, rounds, choices, paths, operations, work;
    int64_t microseconds;
};

// Of the plan in the certificate, as its bound: -1: it has none.
static inline int64_t checked_value_ns(const struct checked *c)
{
    return c->objective ? c->objective_ns : c->iteration_ns;
}

extern const struct members checked_members; // its keys (data/text/members.h)
enum status checked_load(struct checked *c, const char *path, struct arena *arena,
                         struct error *err);
