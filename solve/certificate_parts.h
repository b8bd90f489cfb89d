// What the files that make a certificate share.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_PARTS_H
#define PLUMBLINE_SOLVE_CERTIFICATE_PARTS_H

#include "data/json.h"
#include "formulate/choices.h"
#include "solve/certificate.h"
#include "solve/check_parts.h"
#include "solve/eliminate_box.h"

// A path as the file writes it, and the checker's counts of it.
struct proof_path {
    const int *operations;          // the checker's numbers
    int operation_count, laps, *counts;
    int number;                     // in the file; -1: not used
};

struct proof_round {
    int path_count, *paths;         // of the maker's
    int64_t *weights;
    int64_t *prices;                // [resource]; NULL: none
    bool relaxed, by_ranks;
};

enum proof_end { END_CLOSED, END_LEAF, END_SPLIT_LOAD, END_SPLIT_CHOICE, END_SPLIT_GROUP, END_SPLIT_RANK };

// A box, in preorder.
struct proof_box {
    struct proof_round *rounds;
    int round_count, round_capacity;
    enum proof_end end;
    int stage, rank, choice, group, layers;     // of the split; choice: the checker's number
    int64_t load_ns;
    const struct check_box *given;  // for shrinking: the box before its rounds; NULL: not kept
};

struct maker {
    const struct certificate_request *request;
    struct certificate_result *result;
    struct check_problem p;
    struct check_graph g;
    struct check_choices choices;
    struct check_mixer *mixer;
    struct check_replay replay;
    bool counted[RESOURCES_MOST];
    int symbols;                    // of the checker
    uint64_t work;
    struct error err;               // of the checker's functions
    int64_t bound_ns;               // aimed at; -1: that there is no plan
    int64_t boxes_most, mended_most;
    bool failed;                    // a box resisted

    struct proof_path *paths;       // distinct ones
    int path_count, path_capacity;
    int *path_of;                   // [path of the records]: ours, -1: unknown, -2: not looked at
    int *path_of_closer, closer_paths;      // likewise, of the first so many of the closer's

    struct proof_box *boxes;
    int box_count, box_capacity;
    int64_t *coefficients;

    struct choices planner;         // the planner's choices, to close what the records leave open
    int **planner_of;               // [stage][choice of the checker]
    struct box_closer *closer;      // NULL: not opened yet
    struct arena *arena, *scratch;  // what stays; boxes at hand
};

// ---- certificate_paths.c
// The path of these counts (the planner's), or -1: its operations are not known.
int maker_find_path(struct maker *m, const int *counts);
void maker_put_paths(const struct maker *m, struct json_writer *w);

// ---- certificate_boxes.c
// Proves the bound aimed at; false: a box resisted.
bool maker_prove(struct maker *m);
// A bound of the whole problem as one box, without records and splits; 0: none.
int64_t maker_root_bound(struct maker *m, int64_t target_ns);
struct check_box maker_whole_box(struct maker *m, struct arena *arena);
struct check_box maker_copy_box(const struct maker *m, const struct check_box *box, struct arena *arena);
int maker_left_in(const struct maker *m, const struct check_box *box);
// What the stages of a rank demand of each other, before the first round and behind each. true: nothing is left.
bool maker_couple(struct maker *m, struct check_box *box);
// One round on the box. true: closed.
bool maker_use(struct maker *m, struct check_box *box, const struct proof_round *round);
// The half with the property stays in box, the other is returned.
struct check_box maker_split(struct maker *m, struct check_box *box, const struct proof_box *by, struct arena *arena);

// ---- certificate_shrink.c
void maker_shrink(struct maker *m);

// ---- certificate_write.c
void maker_write(struct maker *m);

#endif
