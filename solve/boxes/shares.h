// What shares.c and shares_kinds.c have of their linear program.
#pragma once

#include "solve/boxes/box_internal.h"
#include "solve/boxes/simplex/simplex.h"

// What a variable adds: to a stage a layer; to a rank the part of a decision in place of as much of
// its first one.
struct share {
    int rank;
    int *layers; // [turn * kinds + kind]
};

struct box_shares {
    struct simplex *program; // variable 0: time / scale, then the shares
    struct share *shares;
    int share_count;
    int rows_max, *ids, *path_of; // ids: paths used so far; path_of[row]: place in ids, or -1
    int id_count;
    int **symbols;              // [place]: those that the path has, then -1
    int kinds;                  // of layers that are counted apart: 1 or those of kinds.c
    double *slopes, *constants; // [(place * stages + stage) * kinds + kind], [place]: of a path,
                                // per lap and scale
    bool *used, *counted;       // [place]: is a row; of kinds: had a weight in the last solution
    int *least, *most;          // [stage * kinds + kind]: its layers in the box
    int64_t *base, *durations;  // with the least layers
    double *rise;               // [kind * symbols + symbol]: of a duration, per layer
    double *none;               // of kinds, [symbol]: with no layer that is counted
    double *start;              // as least, above it: without shares
    double *layers, *held;      // likewise, of the last solution: above the least, and all
    bool *by_decisions;         // [rank]: it has parts of decisions
    int bytes_rows;             // rows of other ranks' bytes, so far
    double *bytes;              // not of kinds, [stage * 4]: see find_bytes
    int *rows;                  // of kinds, [span * 2]: rows of least and most, or -1
    int memory_row;             // of kinds: the first row of memory
    double *row, *upper;
    double scale;
};

// A row: layers of a kind on a rank's stages, or on all (rank -1), are at least this (sign 1), or
// at most (-1). Returns its number.
int shares_add_layers_row(struct box_closer *b, int rank, int kind, double sign, int layers);

// Of kinds (kinds.c): the least and most layers of each kind on each stage in the box, and the
// durations with the least; false: some stage has no choice. Rows of what the box states and the
// model says. The rows' multipliers as prices.
bool shares_find_least(struct box_closer *b, const struct choice_box *box);
void shares_add_kind_rows(struct box_closer *b, const struct choice_box *box);
void shares_take_prices(struct box_closer *b);
