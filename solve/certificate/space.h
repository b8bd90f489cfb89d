// Writing the certificate of a whole space of layouts (docs/PROOFS.md 8): every layout is tried
// with the checker's own arguments, on the prices that the checker will ask for; those that no such
// argument closes are compared with each other, and what is left gets a proof of its own. Nothing
// rests on what the search believed but where to aim.
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
        part; // of the space, searched alone: its certificate says nothing of the rest
    const struct part_text *parts; // certificates of parts, whose arguments are taken over
    int part_count;
};

struct certificate_space_result {
    const char *text; // NULL: nothing could be proven
    size_t size;
    int64_t bound_ns; // what it proves; -1: that there is no plan
    int64_t joined;   // layouts whose argument is a part's
    int64_t layouts, refused, memory, bounded, dominated, proven;
    int64_t boxes, weights;
};

enum status certificate_space_make(struct certificate_space_result *r,
                                   const struct certificate_space_request *request,
                                   struct arena *arena, struct error *err);

#endif
