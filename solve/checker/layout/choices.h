// The choices of each stage, enumerated by the checker itself: every span of layers, node group,
// recomputation and compression that the document allows within rules and memory, except those
// that another choice makes unnecessary (docs/PROOFS.md 4).
#pragma once

#include "solve/checker/layout/graph.h"

// The checker's own table of what is decided of a stage: the keys of incumbents and of splits, and
// what two choices are compared by.

// Ints only. first below 0: any layer from -1 - first on; the stage is the same wherever it stands.
#define CHECK_DECISION_MEMBERS                                                                     \
    int first, layers, group, mode, swapped, recomputed, sharded, vocabulary, gradient, boundary;
struct check_decision {
    CHECK_DECISION_MEMBERS
};
// The members, and all of them as `decision`.
#define CHECK_DECISION                                                                             \
    union {                                                                                        \
        struct check_decision decision;                                                            \
        struct {                                                                                   \
            CHECK_DECISION_MEMBERS                                                                 \
        };                                                                                         \
    }

struct check_decision_row {
    const char *key;          // with '?' before it
    size_t at;                // in struct check_decision
    const char *const *names; // of the values; NULL: a number
    bool if_set;              // incumbents leave it out if it is 0
};
extern const struct check_decision_row check_decision_rows[];
extern const int check_decision_row_count;
static inline int check_decision_value(const struct check_decision *d,
                                       const struct check_decision_row *row)
{
    return *(const int *)((const char *)d + row->at);
}

// Whether the decision is as stated; -1 in `stated`: any.
bool check_decision_is(const struct check_decision *stated, const struct check_decision *d);

enum { CHECK_DECISION_FIELDS = 12 };
// The group and the rows as fields of an incumbent's stage, or of a split, which may leave any of
// them out; then the field that ends the list. names: room for MOST_SEATS + 1.
void check_decision_fields(struct value_field *fields, const struct check_problem *p,
                           struct check_decision *d, bool of_split, const char **names);

struct check_choice {
    CHECK_DECISION;
    int cut;                     // class of the message after the last layer
    int64_t *forward, *backward; // [slice]
    int64_t weight, sync, optimizer;
    int64_t queued_sync; // the sync in full, if another stage's keeps it waiting; 0: none can
    int64_t rest, start; // of transfers: behind a forward pass, before a backward pass
    int64_t load;        // forward + backward + weight of all slices
    int64_t cost;        // of the objective cost
    int64_t energy;      // microjoules of an iteration
    int64_t resident, stash,
        working; // bytes: always present, per micro-batch in flight, while a layer runs
    // Bytes: of each micro-batch in flight that are swapped; what its layers leave of the tier that
    // takes these, and of that of the others of which they leave least.
    int64_t away, away_room, tier_room;
};

struct check_choices {
    const struct check_problem *p;
    const struct check_graph *g;
    int spare;     // layers before the last that the rules keep on the last stage, too
    int free_from; // a middle stage that starts at this layer or later states only how many it
                   // holds
    struct check_choice **items; // [stage][count]
    int *count;
    // Kinds of layers: runs whose layers may be exchanged are of one kind. [run]; of a kind, how
    // many layers come before a layer: [kind * (layers + 1) + layer].
    int *kind_of, kind_count, *before;
    uint64_t *work; // how much work is left
    struct arena *arena;
};

// Every step whose length depends on the file is deducted from the remaining work; NOT_PROVEN when
// none is left.
enum { NOT_PROVEN = SOLVER };
enum status check_spend(const struct check_problem *p, uint64_t *left, uint64_t amount);

// How many of its layers are of a kind.
int check_layers_of(const struct check_choices *c, int stage, const struct check_choice *x,
                    int kind);
// Fills in what follows from first layer, layers, group, mode, recomputed, gradient and boundary.
// forward and backward have room for all slices.
void check_evaluate(const struct check_problem *p, int stage, int first, struct check_choice *c);
bool check_obeys_rules(const struct check_problem *p, int stage, const struct check_choice *c,
                       int first);
bool check_offers(const struct check_problem *p, int stage,
                  const struct check_choice *c); // group, mode and options
bool check_tiers_hold(const struct check_graph *g, int stage, const struct check_choice *c);
// Bytes that a rank needs with these choices of its stages, by turn.
int64_t check_rank_bytes(const struct check_graph *g, int rank,
                         const struct check_choice *const *chosen);
int check_recomputable(const struct check_problem *p, int first, int count);
// Where the layout sets how all stages recompute: what that is for one with so many layers that
// can; and whether a choice has it.
void check_take_setting(const struct check_problem *p, struct check_choice *c, int recomputable);
bool check_has_setting(const struct check_problem *p, const struct check_choice *c, int first);

// ---- swap.c (docs/FORMULAS.md 8, Swapping)

// Whether a stage with these layers may have the degree: 0, the layout's, or one of its layers'.
bool check_may_spread(const struct check_problem *p, int first, int count, int tensor);
// Whether the numbers of swapped and of recomputed layers suit the mode and the stage.
bool check_counts_layers(const struct check_problem *p, const struct check_choice *c, int first);
// The passes of a stage with swapped layers, and the working memory that swapping adds.
void check_time_swaps(const struct check_problem *p, int first, struct check_choice *c);
// Whether full recomputation of a layer never keeps more of it than mode none does.
bool check_full_keeps_less(const struct check_problem *p);
// Whether a stage may recompute so many of the layers left behind those that it swaps.
bool check_recomputes_behind(const struct check_problem *p, int recomputed, int left);

// Those that fit where the rank's other stages need nothing; then those that fit with the least
// that these need.
enum status check_list_alone(struct check_choices *c, const struct check_graph *g, uint64_t *work,
                             struct arena *arena);
enum status check_list_choices(struct check_choices *c, const struct check_graph *g, uint64_t *work,
                               struct arena *arena);
