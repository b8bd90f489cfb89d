// A tree over placements for a certificate: where no single problem of one replica proves the bound
// that is aimed at.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_TREE_H
#define PLUMBLINE_SOLVE_CERTIFICATE_TREE_H

#include "data/text/json.h"
#include "solve/checker/places/places.h"
#include "solve/layout/solve.h"

struct certificate_tree_result {
    bool proven; // else what was put is of no use
    int64_t parts, boxes, weights;
};

// Puts "parts" for the bound (-1: that there is no plan). base: the priced document, all that is no
// price of a part.
enum status certificate_put_tree(struct certificate_tree_result *result, struct json_writer *w,
                                 const struct check_places *x, const struct priced *base,
                                 int64_t bound_ns, int threads, struct arena *arena,
                                 struct error *err);

#endif
