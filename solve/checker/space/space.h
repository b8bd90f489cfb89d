// Certificates for a whole space of layouts: see docs/PROOFS.md 8. The checker walks the space
// itself, verifies for every layout the argument that the file names, and takes nothing from the
// planner. The cost of a layout comes from a pricer, in integers, and is assumed.
#pragma once

#include "solve/checker/sources.h"
#include "solve/checker/read/problem.h"

struct problem;

struct check_axis {
    enum { AXIS_AS_BASE, AXIS_EVERY, AXIS_THESE } kind;
    const int *values;
    int count;
};

// The framework that has to run the layouts, as named by the job.
enum check_framework {
    RUN_BY_ANY,
    RUN_BY_MEGATRON,
    RUN_BY_TORCHTITAN,
    RUN_BY_DEEPSPEED,
    RUN_BY_NEMO,
    RUN_BY_TORCHTITAN_0_2,
    RUN_BY_AXONN
};
extern const char *const check_framework_names[];

// How context ranks pass on keys and values: step by step; each all tokens of some heads; all at
// once.
enum check_context { CONTEXT_BY_STEPS, CONTEXT_BY_HEADS, CONTEXT_AT_ONCE };
extern const char *const check_context_names[];

// What the documents state about the space, and what decides whether a layout is refused.
struct check_space {
    struct check_layout base;
    struct check_axis axes[KEYS];
    bool modes[MODES];         // that the job offers
    bool fewer_devices, grids; // grids: each tensor degree also as each of its grids
    bool uneven;               // several stages of a rank in any number
    enum check_framework framework;
    bool narrow;  // the job computes in less than 32 bits
    bool sinks;   // attention's softmax has a number per head, router and experts have biases
    bool windows; // some layer's attention
    bool latents; // keys and values are made of one vector
    bool parts;   // each layer is one part alone, state spaces of the kind that Megatron has
    enum check_context context_kind; // of layouts that state none
    int further_tokens;              // that the model predicts
    bool tied;                       // one matrix is both embedding and head
    bool shares_keys;                // by its trainer, tensor ranks may share a KV head
    int64_t devices, global_batch, sequence;
    int64_t slice_tokens; // slices may be cut at any of its multiples; 0: equal slices
    int in_flight_most;   // lists in flight up to it; 0: as the base
    int layers;
    bool has_blocks, has_mixtures, has_options; // options: compression, shares, tiers
    bool looks_ahead;                           // attention that is not causal
    bool shares_pool, own_pool;                 // memory layers with one pool, and with their own
    bool shares_weights;
    int64_t heads, ffn, hidden;
    const int64_t *key_heads; // [key_head_count] of the model, and of runs with their own
    int key_head_count;
    int64_t own_widths; // greatest common divisor of the heads and widths that runs state
    bool tower, ties_behind_tower; // first layers of other tokens; then a trained shared matrix
    const struct check_mixture {
        int64_t ffn, shared_ffn, experts;
    } * mixtures;
    int mixture_count;
    int rule_stage, rule_layer; // the highest that a rule names, -1: none
    // What plans are compared by, and the longest time that they may take (docs/PROOFS.md 15.2).
    enum check_objective objective;
    int64_t limit_ns, limit_device_ns; // devices x time; INT64_MAX: no limit
    // On named nodes (docs/PROOFS.md 15.4): the pricers' tables have links that take no time, and
    // audit_on_nodes audits what the file says of one layout with its links.
    const struct problem *of_nodes; // NULL: there are none
    enum status (*audit_on_nodes)(struct check_result *result, const struct check_space *s,
                                  const struct check_layout *layout, const struct reader *r,
                                  const cJSON *places, uint64_t *work, struct arena *arena);
    bool ends_meet; // the first and last stage share weights
    // Widths of single stages, on all groups: every layout has all of them, and is proven by
    // itself.
    const struct check_width {
        int tensor, context, data;
    } * widths;
    int width_count;
    bool in_turn; // their replicas take whole micro-batches
};

// ---- worth.c: plans of different layouts
// A plan that takes t (max_load: has the greatest load t) has the value weight x t.
int64_t check_weight(const struct check_space *s, const struct check_layout *layout);
// The longest time within the limits.
int64_t check_cap_ns(const struct check_space *s, const struct check_layout *layout);
// What every plan of the layout must take at least, if no plan within the limits has a lower value
// than bound_ns (-1: no plan is within the limits). -1: the layout must have no plan at all.
int64_t check_goal_ns(const struct check_space *s, const struct check_layout *layout,
                      int64_t bound_ns);

// Tables of a layout that no rule refuses, valid until the next layout's. bytes fills in
// everything but times, and times adds those. false: a price exceeds the countable range.
struct check_pricer {
    bool (*bytes)(void *context, const struct check_layout *layout, struct check_problem **p);
    bool (*times)(void *context);
    void *context;
    // So far: prices that could be one more or less, and sizes that could lie on either side of a
    // limit.
    const int64_t *doubtful_prices, *doubtful_sizes;
};

// Whether the space's framework runs the layout: frameworks.c.
bool check_is_run(const struct check_space *s, const struct check_layout *layout);
enum check_context check_context_of(const struct check_space *s, const struct check_layout *layout);
// Whether it recomputes in the layout's several stages alike.
bool check_sets_recomputation(const struct check_space *s, const struct check_layout *layout);

// What the trainer does in a layout if the job's space lists it: frameworks.c.
struct check_switches {
    bool messages, sums; // beside the passes, beside the products
    bool parts;          // a tensor rank sends its part of a message
    bool loss, compiled;
};
// titan: torchtitan is the trainer; own: a program of the user's own; compiles: its blocks.
struct check_switches check_switches(enum check_framework framework, const struct check_layout *l,
                                     bool titan, bool own, bool compiles);

// ---- grids.c
// The orders of a grid's axes whose axes above 1 come in a succession that no earlier one has;
// returns how many. Whether a grid has a single rank along its first axis.
int check_put_orders(const struct check_layout *layout, int *values);
bool check_has_order(const struct check_layout *l, const char *order); // over the same ranks
bool check_is_undivided(const struct check_layout *layout);
const char *check_grid_refusal(const struct check_space *s, const struct check_layout *layout);

enum { LAYOUTS_MOST = 20 * 1000 * 1000, DEGREE_MOST = 65536 };

// visit: false stops the walk. Returns the number of layouts visited.
typedef bool check_space_visit(void *argument, int64_t number, const struct check_layout *layout);
int64_t check_space_walk(const struct check_space *s, check_space_visit *visit, void *argument);

// Ranks of a stage that hold the same part of each expert, or of others.
int64_t check_parts_of_devices(const struct check_layout *l);
// All devices that have some of a pool; 0: a layout cannot say how they divide it.
int64_t check_devices_of_pool(const struct check_space *s, const struct check_layout *l);

// ---- refusals.c
// The rule that refuses a layout; NULL: none.
const char *check_space_refusal(const struct check_space *s, const struct check_layout *layout);

struct check_space_result {
    struct check_result proof; // reason, claims; counts are sums over the proofs
    int64_t layouts, refused, memory, bounded, dominated, proven, grouped;
    int64_t chosen;             // -1: no plan
    struct check_layout layout; // the chosen one
    int64_t weight;             // of the chosen layout: proof's claims are values
    bool limited;               // claims are about plans within the job's limits of time and price
    int64_t doubtful;           // prices used that could be one more or less
};

// sources: the documents that the space and the prices come from. pricers: two that do not share
// their tables; for a doubtful price the first takes the lower value (for a limit the higher), the
// second the other.
enum status check_space_certificate(struct check_space_result *result,
                                    const struct check_text *certificate,
                                    const struct check_input *sources, int source_count,
                                    const struct check_space *space,
                                    const struct check_pricer pricers[2], uint64_t work_limit,
                                    struct arena *arena, struct error *err);

// A page in words about an accepted certificate. "-": standard output.
struct check_space_audit {
    const struct check_space_result *result;
    const struct check_text *certificate;
    const struct check_input *sources;
    int source_count;
    int64_t microseconds;
};
// Words: the verb of a plan and its value, and what the value is of; which plans the claims are
// about, if not all.
const char *check_space_has(const struct check_space_result *s);
const char *check_space_unit(const struct check_space_result *s);
const char *check_space_within(const struct check_space_result *s);
enum status check_space_write_statement(const struct check_space_audit *h, const char *path,
                                        struct arena *arena, struct error *err);
