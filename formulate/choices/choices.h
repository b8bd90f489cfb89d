// The options of each stage. One choice is a number (or an interval) of layers on a node group, in
// a recompute mode, with compression options. Choices are enumerated from the priced document and
// filtered by rules and memory; dominated ones are removed. The decision of a plan is one choice
// per stage. The stages of one rank share its devices: they are on one node group, and the rank's
// memory is theirs together, so the filter is exact only if a rank has one stage.
#pragma once

#include "data/results/plan.h"

struct choice {
    DECISION; // first_layer below 0: -1 - the layer from which on it may start anywhere
    int cut;  // class of the message after the last layer
    const int64_t *forward_ns, *backward_ns; // [slice] of a micro-batch
    int64_t sync_ns, optimizer_ns;
    int64_t queued_sync_ns;     // SYMBOL_QUEUED_SYNC; 0 where the graph has none
    int64_t away_ns, back_ns;   // the same of SYMBOL_AWAY and SYMBOL_BACK
    int64_t weight_ns;          // if the schedule splits it off backward, else 0
    int64_t load_ns;            // of one micro-batch: forward + backward + weight of all slices
    int64_t quality_cost;       // of both options
    int64_t energy_uj;          // of an iteration, on all GPUs of the stage
    int64_t stash_bytes;        // per micro-batch in flight
    int64_t tier_excess_bytes;  // over a tier's limit; 0: none
    struct memory_parts memory; // the stage's own share, as in struct plan_stage
};

struct stage_choices {
    struct choice *items;
    int count;
};

// The minimum that a stage needs whatever is chosen for it, on any group.
struct stage_least {
    int64_t resident_bytes, stash_bytes, working_bytes;
};
// The moments of peak memory of a rank with several stages: in_flight[moment][turn].
struct rank_peaks {
    const int **in_flight;
    int count;
};

enum removal { REMOVED_BY_RULE, REMOVED_BY_MEMORY, REMOVED_BY_DOMINANCE, REMOVED_BY_BOUND };
extern const char *const removal_names[];

// A choice that the program does not contain, and why.
struct removed_choice {
    int stage;
    struct choice choice;
    enum removal removal;
    int64_t amount; // bytes over the limit; index of the rule; bound in ns
};

// The time of the transfers of all boundaries together beyond the minimum of each alone: while the
// ranks' nodes are still open, not every boundary can have the best link.
struct joint_transfers {
    // coefficients[symbol_count], multiples of 2^-40. Returns the minimum of the sum over symbols
    // of coefficient x (transfer - minimum), rounded down to multiples of 2^-fraction_bits ns.
    int64_t (*excess)(void *of, const int64_t *coefficients, int fraction_bits);
    // Stores the transfers that gave the minimum of the last call.
    void (*put)(void *of, int64_t *durations);
    void *of;
};

struct choices {
    const struct priced *priced;
    const struct schedule *schedule;
    // Of the stages that start at this layer or later only the number of layers matters: all
    // layers from here to those that only the last stage can hold are alike, and so are the
    // messages before them. 0: of every stage; layer_count: choices are intervals of the layer
    // sequence, and neighbours must meet.
    int free_from;
    int last_least; // layers that the last stage holds at least, where a rank has several stages
    struct stage_choices *stages; // [stage_count]
    // [boundary]: replaces the priced document's cuts at this boundary, if boundaries are not all
    // alike; NULL: they are.
    const struct priced_cut *const *boundary_cuts;
    const bool *recomputed;              // [layer]: which ones RECOMPUTE_FULL is of; NULL: all
    const struct joint_transfers *joint; // NULL: every boundary on its own
    int virtual_stages, rank_count;      // of the schedule
    struct rank_peaks *peaks;            // [rank], NULL with one stage per rank
    struct stage_least *least;           // [stage], NULL with one stage per rank
    struct removed_choice *removed;
    int removed_count, removed_capacity;
    struct arena *arena;
};

// What a choice of a stage that starts at `layer` states as its first_layer.
static inline int choices_place(const struct choices *c, int layer)
{
    return layer < c->free_from ? layer : -1 - c->free_from;
}
// Whether nothing tells the layers of the two runs apart: numbers, tiers, widths or further lists.
bool choices_runs_alike(const struct priced *p, int a, int b);
// The least layer that a choice with this first_layer may start at.
static inline int place_least(int first_layer)
{
    return first_layer >= 0 ? first_layer : -1 - first_layer;
}

enum status choices_build(struct choices *c, const struct priced *priced,
                          const struct schedule *schedule, struct arena *arena, struct error *err);

// Removes choices again: those with keep[stage][index] false go to the removed list with this
// removal and amount[stage][index].
void choices_remove(struct choices *c, bool *const *keep, int64_t *const *amount,
                    enum removal removal);

// Durations of all symbols for chosen[stage]: durations[symbol_count]. false: no link connects two
// neighbours (or the ends of the embedding sync).
bool choices_durations(const struct choices *c, const int *chosen, int64_t *durations);

// Whether chosen[] satisfies what couples stages: layers covered once and in order, one group per
// rank, slots, memory of ranks with several stages, budget, joined neighbours.
bool choices_fit_together(const struct choices *c, const int *chosen);

// Price of one transfer of one slice over `boundary`; from and to are the choices of the stages
// before and after it. parts[PART_COUNT]; all are 0 if nothing is sent: over an inner boundary, and
// backward over a local one. epilogue: in the drain (of slice 0 only). false: no link connects
// them.
bool choices_send_forward(const struct choices *c, int boundary, int slice,
                          const struct choice *from, const struct choice *to, int64_t *parts);
bool choices_send_backward(const struct choices *c, int boundary, int slice,
                           const struct choice *from, const struct choice *to, bool epilogue,
                           int64_t *parts);

// The part of choices_fit_together for the quality budget.
bool choices_within_budget(const struct choices *c, const int *chosen);

// If ranks are placed on nodes (priced->places): the stage's sync over a ring whose slowest link is
// `link`, priced_ring_offset + from * node_count + to, which must be joined. queued: that of
// SYMBOL_QUEUED_SYNC.
int64_t choice_ring_sync_ns(const struct choices *c, int stage, const struct choice *choice,
                            size_t link, bool queued);
// Whether the graph has queued syncs: overlapped, and several stages on a rank.
bool choices_queue_syncs(const struct choices *c);
// The durations of all transfers, and of the embedding sync, if the ranks are on node[rank]; they
// replace those of choices_durations. false: no link connects two of them.
bool choices_node_transfers(const struct choices *c, const struct choice *const *stages,
                            const int *node, int64_t *durations);
void choices_stage_durations(const struct choices *c, int stage, const struct choice *x,
                             int64_t *durations);

// The rank of a stage, and the turn-th stage of a rank.
int choices_rank_of(const struct choices *c, int stage);
int choices_stage_of(const struct choices *c, int rank, int turn);
// Memory of a rank at its peak; reads only the choices of its stages. With one stage per rank: the
// memory of the choice.
void choices_rank_memory(const struct choices *c, const int *chosen, int rank,
                         struct memory_parts *memory);
// Whether the rank's stages are on one group and fit into its memory.
bool choices_rank_fits(const struct choices *c, const int *chosen, int rank);

// The stage that has no choice left, or -1; *why is one line: "memory on every group even with full
// recomputation" ...
int choices_hopeless_stage(const struct choices *c, const char **why);

// The plan of chosen[], with its claims; iteration_ns comes from the caller.
void choices_to_plan(struct plan *plan, const struct choices *c, const int *chosen,
                     int64_t iteration_ns, struct arena *arena);
// The reverse: chosen[] of a loaded plan; false if a stage's decision is not among the choices
// (dominated ones are replaced by a choice that dominates them).
bool choices_from_plan(int *chosen, const struct choices *c, const struct plan *plan);
