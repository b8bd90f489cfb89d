// What the files that make a certificate share.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_INTERNAL_H
#define PLUMBLINE_SOLVE_CERTIFICATE_INTERNAL_H

#include "data/text/json.h"
#include "formulate/choices/choices.h"
#include "solve/certificate/certificate.h"
#include "solve/checker/proof.h"
#include "solve/boxes/box.h"

// ---- a proof, as the file holds it

// An operation as the file names it. kind: of the symbols of slice 0, which the checker numbers
// likewise.
struct proof_operation {
    int kind, place, micro_batch, slice;
};

struct proof_path {
    struct proof_operation start;
    const int *successors; // [step_count]: which one of its operation's each step takes
    int step_count, laps;
    int number;  // in the file; -1: not used
    int *counts; // the checker's, where its functions are used; else NULL
};

struct proof_round {
    int path_count;
    const int *paths;       // of the proof
    const int64_t *weights; // those of 0 are not written
    const int64_t *prices;  // [resource]; NULL: none
    bool relaxed, by_ranks;
    const struct check_memory_price *memory;
    int memory_count;
};

enum proof_end {
    END_CLOSED,
    END_LEAF,
    END_SPLIT_LOAD,
    END_SPLIT_CHOICE,
    END_SPLIT_GROUP,
    END_SPLIT_RANK
};

// first: -1: it does not matter
struct proof_choice {
    int first, layers, group, mode, swapped, recomputed, gradient, boundary;
};

// A box, in preorder.
struct proof_box {
    struct proof_round *rounds;
    int round_count, round_capacity;
    enum proof_end end;
    int stage, rank, group, layers; // of the split
    int64_t load_ns;
    struct proof_choice said;
    int choice;                    // the checker's number of the one that is said
    const struct check_box *given; // for shrinking: the box before its rounds; NULL: not kept
};

struct proof {
    const struct certificate_request *request;
    struct certificate_result *result;
    struct arena *arena;
    int64_t bound_ns;    // -1: that there is no plan
    const bool *counted; // [resource]
    struct proof_path *paths;
    int path_count, path_capacity;
    struct proof_box *boxes;
    int box_count, box_capacity;
};

// ---- write.c
struct proof_box *proof_add_box(struct proof *p);
// The step's prices of memory.
void proof_take_memory(struct proof_round *round, const struct box_step *step, struct arena *arena);
void proof_add_round(struct proof *p, int box, const struct proof_round *round);
struct proof_path *proof_add_path(struct proof *p, const struct proof_path *path);
void proof_write(struct proof *p);

// ---- steps.c: paths by the tables of the schedule
struct successors;
struct successors *successors_open(const struct schedule *s, struct arena *arena);
// The path of these counts. false: its operations are not known, or they are no path of so many
// laps.
bool successors_find_path(const struct successors *x, struct proof_path *path,
                          const struct graph *g, const int *counts, int laps, struct arena *arena);

// ---- records.c
// The records of the search by boxes, as they are. false: they are none that the checker is sure to
// follow.
bool proof_take_records(struct proof *p);

// ---- where the checker's own functions judge each step

struct maker {
    const struct certificate_request *request;
    struct certificate_result *result;
    struct proof *proof;
    struct check_problem p;
    struct check_graph g;
    struct check_choices choices;
    struct check_mixer *mixer;
    struct check_replay replay;
    bool counted[RESOURCES_MOST];
    int symbols; // of the checker
    uint64_t work;
    struct error err; // of the checker's functions
    int64_t bound_ns; // aimed at; -1: that there is no plan
    int64_t boxes_most, mended_most;
    bool failed; // a box resisted

    struct successors *successors;
    int *path_of; // [path of the records]: the proof's, -1: unknown, -2: not looked at
    int *path_of_closer, closer_paths; // likewise, of the first so many of the closer's
    int64_t *coefficients;

    struct choices planner;        // the planner's choices, to close what the records leave open
    int **planner_of;              // [stage][choice of the checker]
    struct box_closer *closer;     // NULL: not opened yet
    struct arena *arena, *scratch; // what stays; boxes at hand
};

// ---- make.c
enum status maker_open(struct maker *m, struct proof *proof, struct arena *arena,
                       struct arena *scratch, struct error *err);

// ---- paths.c
// The path of these counts (the planner's), or -1: its operations are not known.
int maker_find_path(struct maker *m, const int *counts);

// ---- boxes.c
// Proves the bound aimed at; false: a box resisted.
bool maker_prove(struct maker *m);
// A bound of the whole problem as one box, without records and splits; 0: none.
int64_t maker_root_bound(struct maker *m, int64_t target_ns);
struct check_box maker_copy_box(const struct maker *m, const struct check_box *box,
                                struct arena *arena);
int maker_left_in(const struct maker *m, const struct check_box *box);
bool maker_is_empty(const struct maker *m, const struct check_box *box);
bool maker_is_single(const struct maker *m, const struct check_box *box); // one choice a stage
// What the stages of a rank demand of each other, before the first round and behind each. true:
// nothing is left.
bool maker_couple(struct maker *m, struct check_box *box);
// One round on the box. true: closed.
bool maker_use(struct maker *m, struct check_box *box, const struct proof_round *round);
// Whether the split tells some of all the checker's choices from others, as the checker demands.
bool maker_separates(const struct maker *m, const struct proof_box *by);
// The half with the property stays in box, the other is returned.
struct check_box maker_split(struct maker *m, struct check_box *box, const struct proof_box *by,
                             struct arena *arena);

// ---- shrink.c
void maker_shrink(struct maker *m);

#endif
