// Writes the certificate of a whole space of layouts (docs/PROOFS.md 8). Every layout is tried
// with the checker's own arguments, at the checker's prices. Layouts that no such argument closes
// are compared with each other, and the rest get proofs of their own. Results of the search only
// supply the target.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_SPACE_H
#define PLUMBLINE_SOLVE_CERTIFICATE_SPACE_H

#include "solve/certificate/join.h"
#include "solve/layouts/layouts.h"

struct certificate_space_request {
    const struct problem *problem; // its job has a space
    const struct layouts_result *found;
    const struct solve_settings *settings;
    const struct source *sources; // problem, model, cluster, costs, job
    int source_count;
    struct space_part
        part; // of the space, searched alone: its certificate says nothing about the rest
    const struct part_text *parts; // certificates of parts whose arguments are adopted
    int part_count;
};

struct certificate_space_result {
    const char *text; // NULL: nothing could be proven
    size_t size;
    int64_t bound_ns; // what it proves; -1: there is no plan
    int64_t joined;   // layouts whose argument comes from a part
    int64_t layouts, refused, memory, bounded, dominated, proven, grouped;
    int64_t boxes, weights;
};

enum status certificate_space_make(struct certificate_space_result *r,
                                   const struct certificate_space_request *request,
                                   struct arena *arena, struct error *err);

#endif
