// The whole decision of a cluster with places as one integer program: layers and options of each
// stage, the node of each rank of each replica, the ring of each stage. Binaries: a stage's layers
// and options (for all replicas), each replica's choice among those (recomputation may differ with
// the GPU), rank on node. Transfers are flows between the nodes of neighbouring ranks, rings are
// integer numbers of links between nodes, and a sync is represented by levels of its time over each
// link. Exact: with all path rows, its optimum is the best plan's time (docs/FORMULAS.md section
// 15). One stage per rank.
#pragma once

#include "data/program/milp.h"
#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct placed_program {
    struct milp milp;
    const struct choices *choices;
    int replicas, ranks, nodes, symbols;
    int **symbol_column; // [replica][symbol]; -1: zero in every plan. Replicas or symbols that are
                         // always alike share columns
    int **option_column; // [stage][choice]: of its layers and options, shared by all replicas and
                         // by the choices that differ only in the group
    int **choice_column; // [replica * ranks + stage][choice]: the replica's own, or the option's if
                         // that leaves one choice
    int *node_column;    // [(replica * ranks + rank) * nodes + node]; -1: it cannot be there
    int path_row_count;
};

// The program without path rows. time_upper_ns is the upper bound of column 0; 0: a sum that no
// plan exceeds.
enum status formulate_placed(struct placed_program *f, const struct choices *c, struct graph *g,
                             int64_t time_upper_ns, struct arena *arena, struct error *err);
// Adds laps x T >= counts . symbols of the replica, with counts as graph_longest returns them;
// returns the row's index.
int placed_program_add_path(struct placed_program *f, const int *counts, int replica);

// The decision in a solution's column values: chosen[replica * stages + stage], node[replica *
// ranks + rank]; false: there is none.
bool placed_program_decode(const struct placed_program *f, const double *values, int *chosen,
                           int *node);
