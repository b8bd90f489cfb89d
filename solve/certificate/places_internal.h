// Shared by the files that write certificates of placements.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_PLACES_INTERNAL_H
#define PLUMBLINE_SOLVE_CERTIFICATE_PLACES_INTERNAL_H

#include "data/text/json.h"
#include "solve/certificate/places.h"
#include "solve/checker/places/places.h"
#include "solve/checker/read/problem.h"

struct places_maker {
    const struct certificate_places_request *request;
    struct check_places places;
    struct error why; // of the checker's functions
    uint64_t work;
    int64_t bound_ns; // the target; -1: there is no plan
    struct arena *arena;
};

// The search on the checker's prices, up to the target bound. *bound_ns: what it proves; -1: that
// there is no plan; 0: nothing.
enum status places_search_anew(struct solve_result *r, int64_t *bound_ns, struct places_maker *m,
                               const struct priced *priced, struct error *err);

// The group of which some replica has at most its share: the fastest group, by the passes of the
// whole model.
int places_group_to_share(const struct places_maker *m);

// reaches.c: a proof for each case by reaches, or for parts of it. to->text stays NULL if nothing
// is proven.
enum status places_put_reaches(struct certificate_places_result *to, struct places_maker *m,
                               struct error *err);

// tree.c: a tree over placements, where no single problem of one replica proves the target bound.
struct certificate_tree_result {
    bool proven; // otherwise what was written is useless
    int64_t parts, boxes, weights;
};

// Puts "parts" for the bound (-1: there is no plan). base: the priced document, for everything but
// the prices of a part.
enum status certificate_put_tree(struct certificate_tree_result *result, struct json_writer *w,
                                 const struct check_places *x, const struct priced *base,
                                 int64_t bound_ns, int threads, struct arena *arena,
                                 struct error *err);

// chained.c: the planner's search by boxes on the checker's problem of placements, including what
// the checker adds for chains of device groups.
// p: with a chain (solve/checker/boxes/chain.h). priced: the same prices, and everything else.
// evidence->proof_bound_ns becomes what the records prove, at most target_ns; 0: nothing.
enum status certificate_search_chained(struct solve_evidence *evidence,
                                       const struct check_problem *p, const struct priced *priced,
                                       int64_t target_ns, struct arena *arena, struct error *err);

// The same where stages have widths of their own (solve/checker/places/named.h): parts in which the
// first stages stand.
enum status certificate_put_stands(struct certificate_tree_result *result, struct json_writer *w,
                                   const struct check_places *x, const struct priced *base,
                                   int64_t bound_ns, int threads, struct arena *arena,
                                   struct error *err);

// A search on a part's problem, and its proof.
enum status certificate_search_part(struct solve_result *r, const struct priced *priced,
                                    int64_t bound_ns, int boxes, int threads, struct arena *arena,
                                    struct error *err);
struct part_proof {
    const struct check_problem *problem;
    const struct priced *priced;
    const struct solve_result *found;
    int64_t bound_ns; // -1: that there is no plan
    int replica;      // -1: none is named
};
// proven: it is, by an audited proof, which then is an element of the open array.
enum status certificate_put_part(bool *proven, struct json_writer *w, const struct part_proof *part,
                                 struct certificate_tree_result *counts, struct arena *arena,
                                 struct error *err);

#endif
