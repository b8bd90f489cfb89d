// The dynamic programme over the stages that the incumbent search, the elimination and the tree
// share. A path of the graph is a linear function of the symbols, so a convex combination of paths
// is a sum of one term per stage's choice and one per boundary. Its least value over all plans of a
// box is a dynamic programme over (stage, layers covered, state of the boundary, slots used).
// Layers are covered exactly; what does not fit into the table (slots of many groups, the quality
// budget) is priced by multipliers >= 0. Every bound is proven: costs are integers, rounded down.
//
// With several stages per rank and one node group in use, all boundaries look alike and the layers
// only need to add up. The stages are then taken rank by rank, so that the number of layers on a
// rank is an index of the table. It can be bounded (spans), and the memory of a rank is priced
// separately for each such number (solve/boxes/dynamic_ranks.c). Otherwise what couples the stages
// of a rank (one group, its memory) is left to whoever splits the boxes.
#pragma once

#include "formulate/choices/choices.h"

__extension__ typedef __int128 wide;

enum { WEIGHT_BITS = 40, PRICE_BITS = 20 };
// By ranks with at most so many layers before the place from which on choices state none: each
// subset of the places between them may become a box of its own.
enum { PLACES_BY_RANKS = 8 };
#define DYNAMIC_NOTHING INT64_MAX // the bound of an empty box

struct dynamic; // the tables for one set of choices; reopen after choices_remove

// What couples stages and is priced where it is not counted exactly: the slots of each group (one
// per rank, counted with its first stage), then the quality budget.
enum { RESOURCE_BOUNDARIES, RESOURCE_STAGES, RESOURCE_COST, RESOURCE_ENERGY, BUDGET_COUNT };

struct layer_span {
    int least, most;
}; // of a rank: its layers, all of them or those of one kind

// The price of a byte of a rank at one of its fullest moments, with the working memory of the stage
// of one turn.
struct memory_price {
    int rank, moment, turn;
    int64_t price; // of 2^-40 ns, >= 0
};

struct dynamic_box {
    const int64_t *coefficients; // [symbol_count], multiples of 2^-40: sum over paths of weight x
                                 // count; weight x laps sum to <= 1
    const int64_t
        *prices; // [group_count + BUDGET_COUNT], multiples of 2^-20 ns, >= 0; NULL: all zero
    bool *const *allowed;              // [stage][choice]; NULL: all of them
    const struct layer_span *spans;    // [rank], used by ranks only; NULL: any number
    const struct memory_price *memory; // stage by stage only, where all choices are on one group
    int memory_count;
    // Stage by stage only: [stage][choice], in 2^-40 ns, what prices of layers add, and what they
    // grant every plan of the box (kinds.c). NULL: nothing.
    wide *const *added;
    wide granted;
    bool fit_ranks; // by ranks only: no bound, but a decision in which every rank fits into its
                    // memory
};

struct dynamic_answer {
    int64_t bound_ns; // every plan of the box takes at least this; DYNAMIC_NOTHING: there is no
                      // plan in the box
    int *chosen; // [stage_count], the least decision; NULL: not wanted. It may violate what is only
                 // priced
    int64_t *
        *through_ns; // [stage][choice], the bound of the plans with this choice; NULL: not wanted
    int64_t **spans_ns; // by ranks, with through_ns: [rank][layers], of the plans with that many
                        // layers on the rank
};

// cells_max: the most numbers the table may hold; slots are counted exactly as far as it allows. By
// ranks where a rank has several stages and that is possible; otherwise stage by stage.
struct dynamic *dynamic_open(const struct choices *c, int64_t cells_max, struct arena *arena);
// The same, never by ranks.
struct dynamic *dynamic_open_by_stages(const struct choices *c, int64_t cells_max,
                                       struct arena *arena);
// By ranks also where a rank has one stage, if possible.
struct dynamic *dynamic_open_by_ranks(const struct choices *c, struct arena *arena);
bool dynamic_is_by_ranks(const struct dynamic *d);
// By ranks with several stages: the decisions that fit into the rank's memory and have at most so
// many layers, and maybe others that fit, the choice of each turn: [decision * turns + turn].
// *count 0: there are none, or they are too many to be listed.
const int *dynamic_rank_decisions(struct dynamic *d, int rank, int most, int *count);
int dynamic_resource_count(const struct dynamic *d);
int64_t dynamic_resource_limit(const struct dynamic *d,
                               int resource); // INT64_MAX: no limit, or counted exactly
bool dynamic_counts(const struct dynamic *d, int resource);
int64_t dynamic_choice_use(const struct dynamic *d, int stage, int resource,
                           const struct choice *c);
int64_t dynamic_resource_use(const struct dynamic *d, int resource, const int *chosen);

// The price of a resource as the last dynamic_solve used it: without the bits for which its costs
// had no room, 0 where it was not priced.
int64_t dynamic_used_price(const struct dynamic *d, int resource, const int64_t *prices);

// Fills *answer. Costs a walk over the table, two with through_ns.
void dynamic_solve(struct dynamic *d, const struct dynamic_box *box, struct dynamic_answer *answer);

// Whether the slots that a table only prices can be counted by labels: widths, one or two pools.
bool dynamic_has_labels(const struct dynamic *d);
// With the box's costs and `through_ns` of the dynamic_solve before, of the same box: what the
// stages behind each one cost at least, by slots left in whole units and layers.
struct label_rooms;
struct label_rooms *dynamic_label_rooms(struct dynamic *d, const struct dynamic_box *box,
                                        int64_t cells_most, struct arena *arena);
int64_t dynamic_rooms_bound(const struct label_rooms *rooms); // of the box, by this table
// Likewise: the least cost of its plans, slots counted, or target_ns if that is less; *chosen is
// the least plan where it is below target_ns. 0: it would take too many labels.
int64_t dynamic_solve_labels(struct dynamic *d, const struct dynamic_box *box,
                             const struct label_rooms *rooms, int64_t target_ns, int *chosen,
                             struct arena *arena);

// A path in an array: the counts of its symbols, then its laps.
static inline int path_size(int symbols) { return symbols + 1; }
static inline int path_laps(const int *counts, int symbols) { return counts[symbols]; }
