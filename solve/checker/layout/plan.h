// One complete decision: whether its parts fit together, and its iteration time, by replay of the
// graph, or its greatest load.
#pragma once

#include "solve/checker/layout/choices.h"

// What couples the stages besides the layers: the slots of each group, then the budgets of
// boundaries, stages, cost and energy. Limit -1: none.
int check_resource_count(const struct check_problem *p);
int64_t check_resource_limit(const struct check_problem *p, int resource);
// No plan uses more: so many slots, stages, or costs.
int64_t check_most_use(const struct check_problem *p, int resource);
int64_t check_use(const struct check_problem *p, int stage, int resource,
                  const struct check_choice *c);

// Whether a decision keeps all that couples its stages. NULL: yes; else what it breaks.
const char *check_misfit(const struct check_graph *g, const struct check_choice *const *chosen);

// What one micro-batch occupies (load.c): a rank, or the link from one rank to another.
struct check_load {
    int from, to; // the same: the rank itself
};
struct check_loads {
    struct {
        struct check_load of;
        int symbol; // that occupies it once
    } * items;
    int count;
};
void check_list_loads(struct check_loads *to, const struct check_problem *p, struct arena *arena);
// counts[symbol] of one resource. false: nothing occupies it.
bool check_count_load(const struct check_loads *l, struct check_load of, int symbols, int *counts);

struct check_replay {
    const struct check_graph *g;
    struct check_loads loads;      // where the greatest load is minimised
    int64_t *load_ns;              // [from * ranks + to]
    int64_t *durations;            // [symbol]
    int64_t *end, *start, *handed; // [operation]; handed: by the previous iteration
    int *symbol;                   // [operation]
    bool *opens;                   // [operation]: waits for the previous iteration
    int open_count;
    uint64_t *work;
};

void check_open_replay(struct check_replay *r, const struct check_graph *g, uint64_t *work,
                       struct arena *arena);
// Durations of all symbols for these choices, which fit together.
void check_take_durations(struct check_replay *r, const struct check_choice *const *chosen);
// *within: whether an iteration with these durations takes at most t_ns; where the greatest load is
// minimised, whether no load is above t_ns.
enum status check_takes_at_most(struct check_replay *r, int64_t t_ns, bool *within);

// The duration of a boundary's symbol: part `part` of a transfer of kind KIND_SEND_* and slice,
// between two choices.
int64_t check_transfer_ns(const struct check_problem *p, int boundary, int kind, int slice,
                          const struct check_choice *from, const struct check_choice *to);
// Whether transfers can go from one group to the other over this boundary.
bool check_is_joined(const struct check_problem *p, int boundary, int from_group, int cut,
                     int to_group);
