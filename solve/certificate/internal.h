// Shared by the files that make a certificate.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_INTERNAL_H
#define PLUMBLINE_SOLVE_CERTIFICATE_INTERNAL_H

#include "data/text/json.h"
#include "formulate/choices/choices.h"
#include "solve/certificate/certificate.h"
#include "solve/checker/proof.h"
#include "solve/boxes/box.h"

// ---- a proof, as the file holds it

// An operation as the file names it. kind: among the symbols of slice 0, which the checker numbers
// in the same way.
struct proof_operation {
    int kind, place, micro_batch, slice;
};

struct proof_path {
    struct proof_operation start;
    int from, to;          // of max_load: the link, or a rank twice; then there are no steps
    const int *successors; // [step_count]: the index of the successor taken at each step
    int step_count, laps;
    int number;  // in the file; -1: not used
    int *counts; // the checker's, where its functions are used; otherwise NULL
};

struct proof_round {
    int path_count;
    const int *paths;       // of the proof
    const int64_t *weights; // zero weights are not written
    const int64_t *prices;  // [resource]; NULL: none
    bool relaxed, by_ranks, decisions;
    const struct check_memory_price *memory;
    int memory_count;
};

enum proof_end {
    END_CLOSED,
    END_LEAF,
    END_SPLIT_LOAD,
    END_SPLIT_CHOICE,
    END_SPLIT_GROUP,
    END_SPLIT_PLACE,
    END_SPLIT_RANK
};

// A box, in preorder.
struct proof_box {
    struct proof_round *rounds;
    int round_count, round_capacity;
    enum proof_end end;
    int stage, rank, group, layers; // of the split; layers: by place the first layer
    int64_t load_ns;
    struct check_decision stated;
    int choice;                    // the checker's number of the single decision's choice
    const struct check_box *given; // for shrinking: the box before its rounds; NULL: not kept
};

// A decision in the checker's terms.
struct check_decision proof_decision(const struct decision *d);

struct proof {
    const struct certificate_request *request;
    struct certificate_result *result;
    struct arena *arena;
    int64_t bound_ns;    // -1: there is no plan
    const bool *counted; // [resource]
    struct proof_path *paths;
    int path_count, path_capacity;
    struct proof_box *boxes;
    int box_count, box_capacity;
    // In place of paths and boxes where all stages on a node group have one of its widths: a proof
    // of each combination, with its widths taken.
    struct proof *combinations;
    int combination_count;
    const bool *taken; // [group]; NULL: not one of them
};

// ---- certificate.c: everything but the file. false: nothing could be proven.
enum status proof_find(struct proof *p, bool *proven, struct arena *arena, struct error *err);
// ---- by_group.c: the same
enum status proof_find_by_group(struct proof *p, bool *proven, struct arena *arena,
                                struct error *err);

// ---- write.c
struct proof_box *proof_add_box(struct proof *p);
// The step's prices of memory.
void proof_take_memory(struct proof_round *round, const struct box_step *step, struct arena *arena);
// All but the single decision.
void proof_take_split(struct proof_box *to, const struct box_split *s);
void proof_add_round(struct proof *p, int box, const struct proof_round *round);
struct proof_path *proof_add_path(struct proof *p, const struct proof_path *path);
void proof_write(struct proof *p);

// ---- steps.c: paths by the tables of the schedule
struct successors;
struct successors *successors_open(const struct schedule *s, const struct priced *p,
                                   struct arena *arena);
// The path with these counts. false: its operations are not known, or they do not form a path with
// so many laps. Of max_load: the rank or link that the counted operations occupy.
bool successors_find_path(const struct successors *x, struct proof_path *path,
                          const struct graph *g, const int *counts, int laps, struct arena *arena);

// ---- records.c
// The records of the search by boxes, as they are. false: the checker might not be able to follow
// them.
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
    int64_t bound_ns; // the target; -1: there is no plan
    int64_t boxes_most, mended_most;
    bool failed; // a box could not be closed

    struct successors *successors;
    int *path_of; // [path of the records]: the proof's, -1: unknown, -2: not checked yet
    int *path_of_closer, closer_paths; // the same for the first closer_paths paths of the closer
    int64_t *coefficients;

    struct choices planner;        // the planner's, to close what the records leave open
    int **planner_of;              // [stage][choice of the checker]
    struct box_closer *closer;     // NULL: not opened yet
    struct arena *arena, *scratch; // lasting; for temporary boxes
};

// ---- make.c
enum status maker_open(struct maker *m, struct proof *proof, struct arena *arena,
                       struct arena *scratch, struct error *err);

// ---- paths.c
// The path with these counts (the planner's), or -1: its operations are not known.
int maker_find_path(struct maker *m, const int *counts);

// ---- boxes.c
// Proves the target bound; false: a box could not be closed.
bool maker_prove(struct maker *m);
// A bound of the whole problem as one box, without records or splits; 0: none.
int64_t maker_root_bound(struct maker *m, int64_t target_ns);
struct check_box maker_copy_box(const struct maker *m, const struct check_box *box,
                                struct arena *arena);
int maker_left_in(const struct maker *m, const struct check_box *box);
bool maker_is_empty(const struct maker *m, const struct check_box *box);
bool maker_is_single(const struct maker *m,
                     const struct check_box *box); // one choice for each stage
// Applies the constraints between the stages of a rank, before the first round and after each.
// true: nothing is left.
bool maker_couple(struct maker *m, struct check_box *box);
// One round on the box. true: closed.
bool maker_use(struct maker *m, struct check_box *box, const struct proof_round *round);
// Whether the split distinguishes some of all the checker's choices from others, as the checker
// requires.
bool maker_separates(const struct maker *m, const struct proof_box *by);
// The half with the property stays in box; the other half is returned.
struct check_box maker_split(struct maker *m, struct check_box *box, const struct proof_box *by,
                             struct arena *arena);

// ---- shrink.c
void maker_shrink(struct maker *m);

#endif
