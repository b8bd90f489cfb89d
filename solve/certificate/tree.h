// A tree over placements for a certificate, where no single problem of one replica proves the
// target bound.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_TREE_H
#define PLUMBLINE_SOLVE_CERTIFICATE_TREE_H

#include "data/text/json.h"
#include "solve/checker/places/places.h"
#include "solve/layout/solve.h"

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

#endif
