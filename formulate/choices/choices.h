// What each stage can be: one choice is a number (or an interval) of layers on a node group in a
// recompute mode with compression options. Enumerated from the priced document, filtered by rules
// and memory, and rid of dominated ones. The decision of a plan is one choice per stage. The stages
// of one rank share its devices: they stand on one node group, and their memory is the rank's
// together, so that the filter is exact only where a rank has one stage.
#ifndef PLUMBLINE_FORMULATE_CHOICES_CHOICES_H
#define PLUMBLINE_FORMULATE_CHOICES_CHOICES_H

#include "data/results/plan.h"
#include "data/priced/priced.h"
#include "data/schedule/schedule.h"

struct choice {
    int first_layer; // -1: any place inside the long run (struct choices, by_position false)
    int layer_count;
    int group;
    enum recompute recompute;
    int recomputed_layers, swapped_layers;   // as in struct plan_stage
    int gradient_option, boundary_option;    // boundary_option: of what this stage sends backward,
                                             // over boundary stage-1
    int cut;                                 // class of the message behind the last layer
    const int64_t *forward_ns, *backward_ns; // [slice] of a micro-batch
    int64_t sync_ns, optimizer_ns;
    int64_t weight_ns;          // where the schedule splits it off backward, else 0
    int64_t load_ns;            // of one micro-batch: forward + backward + weight of all slices
    int64_t quality_cost;       // of both options
    int64_t stash_bytes;        // per micro-batch in flight
    struct memory_parts memory; // the stage's own share, as in struct plan_stage
};

struct stage_choices {
    struct choice *items;
    int count;
};

// The least that a stage needs whatever is chosen for it, on any group.
struct stage_least {
    int64_t resident_bytes, stash_bytes, working_bytes;
};
// The fullest moments of a rank with several stages: in_flight[moment][turn].
struct rank_peaks {
    const int **in_flight;
    int count;
};

enum removal { REMOVED_BY_RULE, REMOVED_BY_MEMORY, REMOVED_BY_DOMINANCE, REMOVED_BY_BOUND };
extern const char *const removal_names[];

// One choice that the program does not contain, and the argument.
struct removed_choice {
    int stage;
    struct choice choice;
    enum removal removal;
    int64_t amount; // bytes over the limit; index of the rule; bound in ns
};

// What the transfers of all boundaries take together beyond the least of each by itself: where the
// ranks' nodes are still open, boundaries cannot all have the best link.
struct joint_transfers {
    // coefficients[symbol_count], multiples of 2^-40: the least of the sum over symbols of
    // coefficient x (transfer - least), rounded down to multiples of 2^-fraction_bits ns.
    int64_t (*excess)(void *of, const int64_t *coefficients, int fraction_bits);
    // The transfers for which it was the least, the last time it was asked.
    void (*put)(void *of, int64_t *durations);
    void *of;
};

struct choices {
    const struct priced *priced;
    const struct schedule *schedule;
    // true: choices are intervals of the layer sequence, neighbours must meet. false: all layers
    // but the first and the last are alike, so that only the number of layers matters and the
    // counts sum to the model's.
    bool by_position;
    struct stage_choices *stages; // [stage_count]
    // [boundary]: what stands for the priced document's cuts at this boundary, where boundaries are
    // not all alike; NULL: they are.
    const struct priced_cut *const *boundary_cuts;
    const struct joint_transfers *joint; // NULL: every boundary by itself
    int virtual_stages, rank_count;      // of the schedule
    struct rank_peaks *peaks;            // [rank], NULL with one stage a rank
    struct stage_least *least;           // [stage], NULL with one stage a rank
    struct removed_choice *removed;
    int removed_count, removed_capacity;
    struct arena *arena;
};

enum status choices_build(struct choices *c, const struct priced *priced,
                          const struct schedule *schedule, struct arena *arena, struct error *err);

// Takes choices away again: keep[stage][index] false goes to the removed list with this removal and
// amount[stage][index].
void choices_remove(struct choices *c, bool *const *keep, int64_t *const *amount,
                    enum removal removal);

// Durations of all symbols when chosen[stage] is taken: durations[symbol_count]. false: two
// neighbours (or the ends of the embedding sync) are joined by nothing.
bool choices_durations(const struct choices *c, const int *chosen, int64_t *durations);

// Whether chosen[] satisfies what couples stages: layers covered once in order, one group a rank,
// slots, memory of ranks with several stages, budget, joined neighbours.
bool choices_fit_together(const struct choices *c, const int *chosen);

// Price of one transfer over `boundary`, of one slice: from, to are the choices of the stages
// before and behind it. parts[PART_COUNT]; all 0 where nothing is sent: over an inner boundary, and
// backward over a local one. epilogue: in the drain (of slice 0 only). false: joined by nothing.
bool choices_send_forward(const struct choices *c, int boundary, int slice,
                          const struct choice *from, const struct choice *to, int64_t *parts);
bool choices_send_backward(const struct choices *c, int boundary, int slice,
                           const struct choice *from, const struct choice *to, bool epilogue,
                           int64_t *parts);

// The quality budget's part of it.
bool choices_within_budget(const struct choices *c, const int *chosen);

// Where ranks stand on nodes (priced->places): the stage's sync over a ring whose dearest link is
// like this one, priced_ring_offset + from * node_count + to, which must be joined. And the
// durations of all transfers, and of the embedding sync, when the ranks stand on node[rank],
// instead of those that choices_durations has put there. false: two of them are joined by nothing.
int64_t choice_ring_sync_ns(const struct choices *c, int stage, const struct choice *choice,
                            size_t link);
bool choices_node_transfers(const struct choices *c, const struct choice *const *stages,
                            const int *node, int64_t *durations);
void choices_stage_durations(const struct choices *c, int stage, const struct choice *x,
                             int64_t *durations);

// Where stages stand: the rank of a stage, and the rank's turn-th stage.
int choices_rank_of(const struct choices *c, int stage);
int choices_stage_of(const struct choices *c, int rank, int turn);
// Memory of a rank at its fullest moment; only the choices of its stages are read. With one stage a
// rank: the choice's.
void choices_rank_memory(const struct choices *c, const int *chosen, int rank,
                         struct memory_parts *memory);
// Whether the rank's stages stand on one group and fit into its memory.
bool choices_rank_fits(const struct choices *c, const int *chosen, int rank);

// The stage that no choice is left for, or -1; *why is one line: "memory on every group even with
// full recomputation" ...
int choices_hopeless_stage(const struct choices *c, const char **why);

// The plan that chosen[] means, with its claims; iteration_ns from the caller.
void choices_to_plan(struct plan *plan, const struct choices *c, const int *chosen,
                     int64_t iteration_ns, struct arena *arena);
// The way back: chosen[] of a loaded plan; false if a stage's decision is not among the choices
// (dominated ones are replaced by what dominates them).
bool choices_from_plan(int *chosen, const struct choices *c, const struct plan *plan);

#endif
