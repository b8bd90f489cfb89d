// What the files of placing share; for them alone.
#ifndef PLUMBLINE_SOLVE_PLACED_PARTS_H
#define PLUMBLINE_SOLVE_PLACED_PARTS_H

#include "solve/placed.h"

enum { PLACED_ROWS_MAX = 128 };

struct placed {
    const struct choices *c;
    const struct priced *priced;
    struct graph *graph;
    int replicas, ranks, stages, nodes, symbols;
    int64_t *durations;         // [symbol]
    int64_t *syncs;             // [replica * stages + stage], of the plan at hand
    // Symbols of paths that were critical, with their counts: a plan that is too slow is mostly so on one of them.
    struct placed_row { int *symbols, *counts, count; } rows[PLACED_ROWS_MAX];
    int row_count, row_next;
    int64_t walks;              // of the whole graph
    bool keep_rings;            // they are evaluated as they are
    struct arena *arena;
};

// The choice of least load with these layers, on the group, with the options of `like`; -1: there is none.
int placed_find_choice(const struct placed *p, int stage, int first_layer, int layer_count, int group, const struct choice *like);
// Whether stages that share a rank stand on one group and fit into its memory.
bool placed_fits_ranks(const struct placed *p, const struct placed_plan *plan);

// counts[group * priced_ring_links + link]: the links of which every ring with a node of the group has one at least, those that are
// no better than the dearest link of the best ring over the same transport, nor than the best beside the group's nodes, by the
// sync of a mean stage.
void placed_ring_links(bool *counts, const struct priced *p, struct arena *arena);

// placed_solve.c: the plan with its placement, and the claims of its slowest replica.
void placed_put_plan(struct plan *plan, struct placed *p, const struct choices *c, struct graph *g, struct placed_plan *best, struct arena *arena);

// placed_pipette.c: as placed_solve, for the objective pipette.
struct solve_result;
struct solve_settings;
enum status placed_solve_pipette(struct solve_result *r, const struct priced *priced, const struct solve_settings *settings, struct arena *arena,
                                 struct error *err);

#endif
