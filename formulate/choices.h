// What each stage can be: one choice is a number (or an interval) of layers on a node group in a recompute mode with
// compression options. Enumerated from the priced document, filtered by rules and memory, and rid of dominated ones. The
// decision of a plan is one choice per stage.
#ifndef PLUMBLINE_FORMULATE_CHOICES_H
#define PLUMBLINE_FORMULATE_CHOICES_H

#include "data/plan.h"
#include "data/priced.h"
#include "data/schedule.h"

struct choice {
    int first_layer;            // -1: any place inside the long run (struct choices, by_position false)
    int layer_count;
    int group;
    enum recompute recompute;
    int recomputed_layers;
    int gradient_option, boundary_option;       // boundary_option: of what this stage sends backward, over boundary stage-1
    int cut;                                    // class of the message behind the last layer
    int64_t forward_ns, backward_ns, sync_ns, optimizer_ns;
    int64_t load_ns;                            // forward + backward
    int64_t quality_cost;                       // of both options
    struct memory_parts memory;
};

struct stage_choices { struct choice *items; int count; };

enum removal { REMOVED_BY_RULE, REMOVED_BY_MEMORY, REMOVED_BY_DOMINANCE, REMOVED_BY_BOUND };
extern const char *const removal_names[];

// One choice that the program does not contain, and the argument.
struct removed_choice {
    int stage;
    struct choice choice;
    enum removal removal;
    int64_t amount;             // bytes over the limit; index of the rule; bound in ns
};

struct choices {
    const struct priced *priced;
    const struct schedule *schedule;
    // true: choices are intervals of the layer sequence, neighbours must meet. false: all layers but the first and the last
    // are alike, so that only the number of layers matters and the counts sum to the model's.
    bool by_position;
    struct stage_choices *stages;           // [stage_count]
    struct removed_choice *removed;
    int removed_count, removed_capacity;
    struct arena *arena;
};

enum status choices_build(struct choices *c, const struct priced *priced, const struct schedule *schedule, struct arena *arena, struct error *err);

// Takes choices away again: keep[stage][index] false goes to the removed list with this removal and amount[stage][index].
void choices_remove(struct choices *c, bool *const *keep, int64_t *const *amount, enum removal removal);

// Durations of all symbols when chosen[stage] is taken: durations[symbol_count]. false: two neighbours (or the ends of the
// embedding sync) are joined by nothing.
bool choices_durations(const struct choices *c, const int *chosen, int64_t *durations);

// Whether chosen[] satisfies what couples stages: layers covered once in order, slots, budget, joined neighbours.
bool choices_fit_together(const struct choices *c, const int *chosen);

// Price of one transfer: from, to are the choices of stages s and s+1. parts[PART_COUNT]; false: joined by nothing.
bool choices_send_forward(const struct choices *c, const struct choice *from, const struct choice *to, int64_t *parts);
bool choices_send_backward(const struct choices *c, const struct choice *from, const struct choice *to, bool epilogue, int64_t *parts);

// The stage that no choice is left for, or -1; *why is one line: "memory on every group even with full recomputation" ...
int choices_hopeless_stage(const struct choices *c, const char **why);

// The plan that chosen[] means, with its claims; iteration_ns from the caller.
void choices_to_plan(struct plan *plan, const struct choices *c, const int *chosen, int64_t iteration_ns, struct arena *arena);
// The way back: chosen[] of a loaded plan; false if a stage's decision is not among the choices (dominated ones are
// replaced by what dominates them).
bool choices_from_plan(int *chosen, const struct choices *c, const struct plan *plan);

#endif
