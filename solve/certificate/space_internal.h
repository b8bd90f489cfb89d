// Shared by the files that make the certificate of a space.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_SPACE_INTERNAL_H
#define PLUMBLINE_SOLVE_CERTIFICATE_SPACE_INTERNAL_H

#include "solve/certificate/join.h"
#include "solve/layout/solve.h"

struct space_fates_request {
    const struct check_space *space;
    const struct check_pricer *pricer;
    int64_t count, bound_ns, chosen; // layouts; -1: there is no plan; -1: none
    int threads;
};
// Sets fates[layout] where it is FATE_IS_UNKNOWN: enum check_fate; FATE_IS_PROVEN where a proof is
// needed.
enum status space_find_fates(unsigned char *fates, const struct space_fates_request *request,
                             struct arena *arena, struct error *err);

// ---- on_nodes.c

// What the search by boxes proves for a goal (-1: that there is no plan), at the planner's prices.
struct priced;
struct solve_evidence;
struct choices;
enum status space_search_boxes(struct solve_evidence *e, int64_t goal_ns,
                               const struct priced *priced, struct choices *choices,
                               struct arena *arena, struct error *err);

struct layout_on_nodes {
    const struct problem *problem;
    const struct solve_settings *settings;
    const struct check_layout *layout;
    const struct check_problem *free; // the checker's tables, as if no link took time
    int64_t goal_ns;                  // -1: that there is no plan
};
struct nodes_proof {
    const char *key; // of the object in the file: "proof" or "places"; NULL: nothing is proven
    struct json value;
    int64_t bound_ns; // INT64_MAX: there is no plan
};
enum status certificate_prove_on_nodes(struct nodes_proof *proof, const struct layout_on_nodes *of,
                                       struct arena *arena, struct error *err);

#endif
