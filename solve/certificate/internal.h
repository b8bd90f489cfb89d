// Shared by the files that make a certificate.
#pragma once

#include "solve/certificate/certificate.h"
#include "solve/checker/places/places.h"

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
    const struct layer_price *layers;
    int layer_price_count;
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
    int like;                       // as in struct box_split
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

// Shared by the files that write certificates of placements.

struct places_maker {
    const struct certificate_places_request *request;
    struct check_places places;
    struct error why; // of the checker's functions
    uint64_t work;
    int64_t bound_ns; // the target; -1: there is no plan
    struct arena *arena;
};

// Searches for what a proof of the bound is made of, within the settings' limits. bound_ns: the
// target; below 1: that there is no plan. *none: there is none.
enum status certificate_search(struct solve_result *found, bool *none,
                               struct solve_settings settings, const struct priced *priced,
                               int64_t bound_ns, struct arena *arena, struct error *err);

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

// Placements part by part, in preorder: each part has a proof, or is divided further.
struct parts_maker {
    const struct check_places *places;
    const struct priced *base; // for everything but the prices of a part
    struct json_writer *w;     // in the open array "parts"
    int64_t bound_ns;          // -1: there is no plan
    int threads;
    struct arena *arena, *scratch;
    uint64_t work;
    struct error why; // of the checker's functions
    // What is made.
    bool proven; // otherwise what was written is useless
    int64_t count, boxes, weights;
};

// tree.c: over placements, where no single problem of one replica proves the target bound.
enum status certificate_put_tree(struct parts_maker *m, struct error *err);
// stands.c: where stages have widths of their own (solve/checker/places/named.h): parts in which
// the first stages stand.
enum status certificate_put_stands(struct parts_maker *m, struct error *err);

// Searches a part's problem with so many boxes. proven: an audited proof of the bound was put;
// replica: the one that it is about; -1: none is named.
enum status certificate_prove_part(bool *proven, struct solve_result *found, struct parts_maker *m,
                                   const struct check_problem *problem, const struct priced *priced,
                                   int boxes, int replica, struct error *err);
// Puts the part as divided into all that its next place can be.
void certificate_put_branch(struct parts_maker *m);

// chained.c: the planner's search by boxes on the checker's problem of placements, including what
// the checker adds for chains of device groups.
// p: with a chain (solve/checker/boxes/chain.h). priced: the same prices, and everything else.
// evidence->proof_bound_ns becomes what the records prove, at most target_ns; 0: nothing.
enum status certificate_search_chained(struct solve_evidence *evidence,
                                       const struct check_problem *p, const struct priced *priced,
                                       int64_t target_ns, struct arena *arena, struct error *err);

// Shared by the files that make the certificate of a space.

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
enum status space_search_boxes(struct solve_evidence *e, int64_t goal_ns,
                               const struct priced *priced, struct arena *arena, struct error *err);
// Towards any target, with transfers that `joint` adds to; NULL: none.
enum status certificate_search_boxes(struct solve_evidence *e, const struct priced *priced,
                                     int64_t target_ns, int boxes_max,
                                     const struct joint_transfers *joint, struct arena *arena,
                                     struct error *err);

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
