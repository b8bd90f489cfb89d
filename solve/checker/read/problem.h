// The priced document as the checker reads it: the possible plans and their costs, in integers.
// The checker assumes its prices and works out everything else itself.
#pragma once

#include "solve/checker/read/json.h"

__extension__ typedef __int128 wide;

enum {
    PART_BLOCKS,
    PART_LINKS,
    PART_DELAYS,
    PART_WORKS,
    PARTS, // of a transfer: blocking, link, delay, overhead
    MOST_STAGES = 256,
    MOST_LAYERS = 4096,
    MOST_DEGREE = 65536,
    MOST_DEGREES = 8,
    MOST_GROUPS = 16,     // of a cluster
    MOST_SEATS = 64,      // of a priced document: node groups, each with widths of its own
    MOST_SLOTS = 1 << 20, // of a seat
    MOST_OPTIONS = 65,
    MOST_SLICES = 32,
    MOST_LISTED = 32,     // stages of a list in flight
    MOST_IN_FLIGHT = 255, // in it
    MOST_MICRO_BATCHES = 65536,
    MOST_RULES = 1024,
    MOST_TIERS = 128,
};
#define MOST_ENERGY ((int64_t)1 << 50) // of any one thing
#define MOST_NS ((int64_t)1 << 53)     // and bytes, of any one thing
#define MOST_SUM ((int64_t)1 << 54) // of all operations of an iteration; of all bytes of a device

// The checker's own table of schedules (solve/checker/read/orders.c); a `kind` is an index into it.
struct check_schedule {
    int turns;            // stages of a rank; 0: two or more
    bool folds;           // the second stage of a rank is on the way back
    bool splits_backward; // weight gradients are separate passes
    bool slices;          // of a sequence: two or more
    bool layered;         // stage by stage: a single rank may have several
    bool holds_all;       // every forward before any backward; else, for schedules of one shape:
    int lead, lag;   // forwards before the first backward, for each rank after this one; backwards
                     // before a weight gradient, for each rank before it
    bool catches_up; // never more of these than there are during the forwards
    bool in_groups;  // micro-batches pass the ranks' turns in groups
    bool in_megatron, in_torchtitan, in_deepspeed; // these frameworks run it (docs/FORMATS.md, job)
    enum {
        PART_OF_MORE_NEVER,
        PART_OF_MORE_UNBLOCKED,
        PART_OF_MORE
    } fewer; // whether the graph of fewer micro-batches is that of more with some left out
};
extern const struct check_schedule check_schedules[];
extern const char *const check_schedule_names[]; // by kind, ended by NULL
extern const int check_schedule_count, check_schedule_default;
// From MODE_SETS on, sets of recompute modules: all but the empty one.
enum check_mode {
    MODE_NONE,
    MODE_SELECTIVE,
    MODE_FULL,
    MODE_FIRST_LAYERS,
    MODE_SWAP,
    MODE_SETS,
    MODES = 52
};
// Whether layers in the mode are recomputed, but keep more than their inputs.
static inline bool check_keeps_part(int mode)
{
    return mode == MODE_SELECTIVE || mode >= MODE_SETS;
}
extern const char *const check_mode_names[];
bool check_repeats_experts(int mode);           // and what is sent to them
extern const char *const check_setting_names[]; // "each", then these

// What a job minimises, by its names in jobs and priced documents. A proof about one layout is of
// the iteration time or of the greatest load (docs/FORMULAS.md 17).
enum check_objective {
    MINIMISE_TIME,
    MINIMISE_PIPETTE,
    MINIMISE_LOAD,
    MINIMISE_COST,
    MINIMISE_ENERGY
};
extern const char *const check_objective_names[]; // ended by NULL

// What distinguishes layouts, in the order in which a space goes through the values, outermost
// first: KEY(constant after KEY_, key of a layout).
#define CHECK_KEYS(KEY)                                                                            \
    KEY(TENSOR, "tensor")                                                                          \
    KEY(CONTEXT, "context")                                                                        \
    KEY(PIPELINE, "pipeline")                                                                      \
    KEY(DATA, "data")                   /* the last degree that takes devices of its own */        \
    KEY(EXPERT_TENSOR, "expert_tensor") /* 0: as KEY_TENSOR */                                     \
    KEY(EXPERT, "expert")                                                                          \
    KEY(SCHEDULE, "schedule")                                                                      \
    KEY(TURNS, "virtual_stages")                                                                   \
    KEY(MICRO_BATCH, "micro_batch")                                                                \
    KEY(SEQUENCE_PARALLEL, "sequence_parallel")                                                    \
    KEY(ZERO, "zero")                                                                              \
    KEY(OVERLAPPED, "gradient_sync")                                                               \
    KEY(OFFLOAD, "offload_optimizer")                                                              \
    KEY(BARRIER, "barrier")                                                                        \
    KEY(FUSED_EMBEDDING, "fused_embedding_sync")                                                   \
    KEY(LOCAL, "local_loss_every")                                                                 \
    KEY(SLICES, "slices")                                                                          \
    KEY(CONTEXT_KIND, "context_kind")                                                              \
    KEY(BESIDE, "overlapped_dispatch") /* with the dispatch of experts, another micro-batch */     \
    KEY(POOL, "pool") /* devices that have a memory layer's values once; 0: all that have any */   \
    KEY(GRID_ORDER, "grid_order")     /* of the axes over the ranks: the rows of check_orders */   \
    KEY(GRID_GATHERS, "grid_gathers") /* the third axis: of each pass, micro-batch, step */        \
    KEY(RECOMPUTE, "recompute")
#define KEY_CONSTANT(constant, key) KEY_##constant,
enum check_key { CHECK_KEYS(KEY_CONSTANT) KEYS };
#undef KEY_CONSTANT

extern const char *const check_orders[]; // "1-2-3" ..., the innermost axis first; ended by NULL

struct check_layout {
    // KEY_SCHEDULE: a kind; KEY_SLICES: how many; KEY_RECOMPUTE: 0, or 1 + the mode of all stages;
    // KEY_CONTEXT_KIND: 0, as the job states, or 1 + a kind
    int value[KEYS];
    int recomputed; // layers of each stage, if that mode is first_layers
    int grid[2];    // axes 2 and 3 of the grid of tensor ranks, not both 1; 0, 0: no grid
    bool fused_attention;
    int data_shard;                 // data ranks that have all states once; 0: all of them
    int64_t slice[MOST_SLICES];     // tokens of each, if there are several
    uint8_t in_flight[MOST_LISTED]; // on each stage, at most; all 0: as the schedule has them
};

// Of a layer with one option, where its parts may be in tiers besides the GPU's own memory.
struct check_tiered {
    int64_t weight_bytes, buffer_bytes;
    int64_t *tier_bytes; // [tier]
    // [group], its activations there and back; -1: no tier takes them. NULL: no swapping
    int64_t *away, *back;
    // [group], microjoules of an iteration, more if recomputed in full, or swapped; NULL: none
    int64_t *energy, *again, *swapped;
    int64_t *forward, *backward; // as the run's own; NULL: those
};

struct check_run {
    const char *name;
    int count, cut;
    bool recomputable;
    int64_t weight_bytes, gradient_bytes, unsharded_bytes;
    int64_t *optimizer_bytes;    // [gradient option]
    int64_t *stash, *working;    // [mode]
    int64_t *feedback;           // [gradient option]
    int64_t *forward, *backward; // [slice * groups + group]
    int64_t *again[MODES];       // [mode][the same]: more backward; NULL: no layer runs in the mode
    int64_t *weight;             // [group]
    int64_t **sync, **optimizer; // [gradient option][group]
    // [group], what the message before a layer of the run takes of a stage that begins with it,
    // then [groups + group] of the link; NULL: as the layer before states
    int64_t *entry;
    struct check_run *seats;     // [group], with a width's own bytes; NULL: those above, on each
    struct check_tiered *tiered; // [gradient option]; NULL: all as the run itself
    struct check_run *sharded;   // as sharded further; NULL: no stage shards it
    // The same layers in another layout than the document's: sharded, then with the vocabulary at
    // other tensor degrees, which are `tensor` there.
    struct check_run *next;
    int tensor;
};

struct check_group {
    const char *name, *gpu;
    // Groups of one node group with different widths share its slots: of_node_group, its number +
    // 1, and what a rank takes of them. 0, 0: the group has its own, one for a rank.
    int slots, of_node_group, seat_slots;
    // [group]: what a rank on it takes of this one's slots, 0 or 1, of its own 1; NULL in all
    // groups: as above. Only of bounds on placements (places/together.c).
    const int *takes;
    int tensor, context, data; // of a width; 0: not stated
    bool excluded;
    int64_t memory_limit, constant_bytes, *sync_constant; // [gradient option]
    int64_t *tier_limit;                                  // [tier], of a stage; -1: none
};

struct check_cut {
    int64_t message_bytes, *feedback; // [boundary option]
    int64_t *seat_bytes;              // [group]: message_bytes of a stage there; NULL: those
    int64_t *forward,
        **backward; // [((slice * groups + from) * groups + to) * PARTS + part]; -1: not joined
};

// How values are compressed: factors with this many columns, the largest so many in a thousand, or
// this many bits each.
enum check_form { FORM_RANK, FORM_KEPT, FORM_BITS, FORM_COUNT };

struct check_option {
    enum check_form form;
    int amount; // 0: not compressed
    bool epilogue_only;
    int64_t cost;
    bool remembers;    // error feedback
    const char *tiers; // name of a tier option; NULL: none
    const char *away;  // the tier of its swapped activations; NULL: the host, as of all options
    bool across;       // these are in transfer under other passes, too
};

struct check_rule {
    bool forbids;
    int stage;                   // -1: every stage
    uint64_t groups;             // bit g; 0: not stated
    int holds_first, holds_last; // -1: not stated, as for the two below
    int run, layers_min, layers_max;
    uint64_t modes; // bit mode; 0: not stated
    bool modes_stated;
    int compresses_gradient, compresses_boundary;
};
// A rule that requires nothing yet; stage -1: about every stage.
struct check_rule check_rule_about(int stage);

enum { BUDGET_BOUNDARIES, BUDGET_STAGES, BUDGET_COST, BUDGET_ENERGY, BUDGETS };

struct check_problem {
    struct reader reader;
    const cJSON *made_from; // as stated; NULL: it is not
    const char *name;
    struct check_layout layout; // as stated; the rest is what the proof depends on
    enum check_objective objective;
    int64_t time_limit; // of a plan, where the least energy is sought; else 0
    int64_t devices;    // of a stage
    // For placements (solve/checker/boxes/chain.h): what a mixture takes beyond the tables. NULL:
    // each boundary is bounded by itself.
    const struct check_chain *chain;
    enum status (*find_excess)(const struct check_problem *p, const int64_t *coefficients,
                               uint64_t *work, wide *excess);
    int64_t doubtful; // numbers that the pricer could not distinguish from the next
    int kind;         // index into check_schedules
    bool barrier, overlapped, splits_backward, stored; // stored: inputs, behind local boundaries
    bool in_turn;         // replicas take whole micro-batches in turn, with prices of one replica
    bool width_per_group; // all stages on a node group have one of its widths
    bool any_sets;        // with in_turn: a stage recomputes any of its layers in full
    int local_every;
    int stages, ranks, turns, slices, micro_batches, layers; // turns: stages of a rank
    int group_count, run_count, cut_count, boundary_count, gradient_count;
    bool modes[MODES];
    struct check_group *groups;
    const char **node_groups; // [group], as stated, or NULL
    struct check_run *runs;
    struct check_cut *cuts;
    struct check_option *boundary, *gradient;
    bool across;        // with some option swapped layers are in transfer under other passes
    const char **tiers; // names; the one called "host" takes what is swapped
    int tier_count;
    int64_t *embedding; // [first group * groups + last group], -1: not joined; NULL: none
    int64_t local_forward, local_backward, local_bytes;
    struct check_run *head; // of a stage before a local boundary, behind its layers; NULL: none
    int degrees[MOST_DEGREES], degree_count; // of the vocabulary besides the layout's; they rise
    int spread;                              // a run that has them
    int64_t budget[BUDGETS];                 // -1: no limit
    int rank_min;
    struct check_rule *rules;
    int rule_count;
    int *run_of, *run_begin; // [layer]; [run + 1]: first layers, and the end of the last run
};

// orders.c: whether a list in flight is one that can be executed, as stages need it: never more
// than on the stage before, 1 on the last. What the schedule has without a list.
bool check_is_executable(const struct check_layout *l, int stages);
int check_own_in_flight(int stages, int stage, int micro_batches);

static inline int check_seat_slots(const struct check_problem *p, int group)
{
    return p->groups[group].of_node_group ? p->groups[group].seat_slots : 1;
}
// Ranks that the group's devices have room for.
static inline int check_seats(const struct check_problem *p, int group)
{
    return p->groups[group].slots / check_seat_slots(p, group);
}
static inline const struct check_run *check_run_at(const struct check_run *r, int group)
{
    return r->seats ? &r->seats[group] : r;
}
static inline int64_t check_message_at(const struct check_cut *c, int group)
{
    return c->seat_bytes ? c->seat_bytes[group] : c->message_bytes;
}
// The mode of all layers that can be recomputed, where the layout sets one; -1: it sets none, or
// how many of each stage's are recomputed.
static inline int check_set_mode(const struct check_problem *p)
{
    int mode = p->layout.value[KEY_RECOMPUTE] - 1;
    return mode == MODE_FIRST_LAYERS ? -1 : mode;
}
// Whether a stage may choose the mode.
static inline bool check_may_choose(const struct check_problem *p, int mode)
{
    int set = p->layout.value[KEY_RECOMPUTE];
    return p->modes[mode] && (set == 0 || mode == set - 1);
}

// Weights that stay on the GPU, and passes, with an option.
static inline int64_t check_weights(const struct check_run *r, int option)
{
    return r->tiered ? r->tiered[option].weight_bytes : r->weight_bytes;
}
static inline const int64_t *check_forward(const struct check_run *r, int option)
{
    return r->tiered && r->tiered[option].forward ? r->tiered[option].forward : r->forward;
}
static inline const int64_t *check_backward(const struct check_run *r, int option)
{
    return r->tiered && r->tiered[option].backward ? r->tiered[option].backward : r->backward;
}
// A layer's activations to their tier, or back from there.
static inline const int64_t *check_swap(const struct check_run *r, int option, bool back)
{
    return back ? r->tiered[option].back : r->tiered[option].away;
}

struct check_text;
enum status check_read_problem(struct check_problem *p, const struct check_text *text,
                               struct arena *arena, struct error *err);
enum status check_read_layers(struct check_problem *p, const cJSON *v, const char *where,
                              struct check_run *r, struct arena *arena); // a run
// lists.c: the runs besides the model's own; arrays, or NULL.
enum status check_read_lists(struct check_problem *p, const cJSON *heads, const cJSON *sharded,
                             const cJSON *vocabulary, struct arena *arena);
// widths.c: of a document whose stages have widths of their own, the bytes by group of a run and of
// a message (NULL: none are stated), and the groups' node groups.
enum status check_read_seats(const struct check_problem *p, const cJSON *v, const char *where,
                             int modes, struct check_run *r, struct arena *arena);
enum status check_find_pools(struct check_problem *p);
enum status check_widths(const struct check_problem *p);
// The names of the groups, ended by NULL, in room for MOST_SEATS + 1.
const char *const *check_group_names(const struct check_problem *p, const char **names);
// Run i has a price wherever it may stand, and a unique name.
enum status check_run_prices(const struct check_problem *p, const struct check_run *r, int i);
// What follows from the runs' counts: the run of each layer.
enum status check_place_layers(struct check_problem *p, struct arena *arena);
// No sum of bytes or times of any plan exceeds 2^54, so 64 bits hold them all.
enum status check_problem_bytes(const struct check_problem *p);
enum status check_problem_times(const struct check_problem *p);
// Whether a layout's stages may swap: not with separate weight gradients, nor with slices.
static inline bool check_may_swap(const struct check_problem *p)
{
    return !p->splits_backward && p->slices == 1;
}
// In files of their own.
enum status check_read_option_list(struct check_problem *p, const cJSON *v, bool of_gradient,
                                   struct arena *arena); // else boundary_options
enum status check_read_rules(struct check_problem *p, const cJSON *array, struct arena *arena);
bool check_has_tiers(const struct check_problem *p); // or options that use some
enum status check_read_tier_names(struct check_problem *p, const cJSON *array, struct arena *arena);
// And the state with the step, which are these where nothing is elsewhere.
enum status check_read_tiered(struct check_problem *p, struct check_run *r, const cJSON *array,
                              int64_t states, int64_t *step, const char *where,
                              struct arena *arena);

// ---- where stages stand
static inline int check_rank_of(const struct check_problem *p, int stage)
{
    int place = stage % p->ranks;
    return check_schedules[p->kind].folds && stage >= p->ranks ? p->ranks - 1 - place : place;
}
static inline int check_stage_of(const struct check_problem *p, int rank, int turn)
{
    bool back = check_schedules[p->kind].folds && turn == 1;
    return turn * p->ranks + (back ? p->ranks - 1 - rank : rank);
}
// Boundary b lies between stages b and b + 1.
static inline bool check_is_inner(const struct check_problem *p, int boundary)
{
    return check_rank_of(p, boundary) == check_rank_of(p, boundary + 1);
}
static inline bool check_is_local(const struct check_problem *p, int boundary)
{
    return p->local_every > 0 && (boundary + 1) % p->local_every == 0;
}
// Whether a sync may have to wait for another one's end although its gradients are there.
static inline bool check_syncs_queue(const struct check_problem *p)
{
    return p->overlapped && p->turns > 1;
}
static inline bool check_sends_forward(const struct check_problem *p, int boundary)
{
    return boundary >= 0 && boundary < p->stages - 1 && !check_is_inner(p, boundary) &&
           !(p->stored && check_is_local(p, boundary));
}
static inline bool check_sends_backward(const struct check_problem *p, int boundary)
{
    return check_sends_forward(p, boundary) && !check_is_local(p, boundary);
}
