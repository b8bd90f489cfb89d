// What each stage can be, enumerated by the checker itself: every span of layers, node group,
// recomputation and compression that the document allows, within rules and memory, without those
// that another one makes needless (docs/PROOFS.md 4).
#ifndef PLUMBLINE_SOLVE_CHECKER_CHOICES_H
#define PLUMBLINE_SOLVE_CHECKER_CHOICES_H

#include "solve/checker/graph.h"

struct check_choice {
    int first; // layer; -1: any, the stage is the same wherever it stands
    int layers, group, mode, swapped, recomputed, gradient, boundary;
    int cut;                     // class of the message behind the last layer
    int64_t *forward, *backward; // [slice]
    int64_t weight, sync, optimizer;
    int64_t load; // forward + backward + weight of all slices
    int64_t cost; // quality
    int64_t resident, stash,
        working; // bytes: always there, per micro-batch in flight, while a layer runs
};

struct check_choices {
    const struct check_problem *p;
    const struct check_graph *g;
    bool free_places;            // a middle stage's choices know only how many layers they hold
    struct check_choice **items; // [stage][count]
    int *count;
    uint64_t *work; // how much more may be done
    struct arena *arena;
};

// Every step of the checker that a file can make long takes from the work that is left; NOT_PROVEN
// when it is used up.
enum { NOT_PROVEN = SOLVER };
enum status check_spend(const struct check_problem *p, uint64_t *left, uint64_t amount);

// Fills in what follows from first layer, layers, group, mode, recomputed, gradient and boundary.
// forward and backward have room for the slices.
void check_evaluate(const struct check_problem *p, int stage, int first, struct check_choice *c);
bool check_obeys_rules(const struct check_problem *p, int stage, const struct check_choice *c,
                       int first);
bool check_offers(const struct check_problem *p, int stage,
                  const struct check_choice *c); // group, mode and options
// The bytes that a rank needs with these choices of its stages, by turn.
int64_t check_rank_bytes(const struct check_graph *g, int rank,
                         const struct check_choice *const *chosen);
int check_recomputable(const struct check_problem *p, int first, int count);

// ---- swap.c (docs/FORMULAS.md 8, Swapping)

// Whether the numbers of swapped and of recomputed layers go with the mode and the stage.
bool check_counts_layers(const struct check_problem *p, const struct check_choice *c, int first);
// A stage's passes with its swapped layers, and what these add to its working memory.
void check_time_swaps(const struct check_problem *p, int first, struct check_choice *c);
// Whether recomputing a layer in full never keeps more of it than mode none does.
bool check_full_keeps_less(const struct check_problem *p);
// Tries the ways to swap: calls try for each, whose *fits says whether it is one.
enum status check_each_swap(const struct check_problem *p, struct check_choice *c, int recomputable,
                            enum status (*try)(void *of, const struct check_choice *c, bool *fits),
                            void *of);

enum status check_list_choices(struct check_choices *c, const struct check_graph *g, uint64_t *work,
                               struct arena *arena);

#endif
