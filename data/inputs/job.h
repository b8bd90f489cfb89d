// A job: how the model is to be trained, the layout, and what may be chosen.
#pragma once

#include "data/text/document.h"
#include "data/base/units.h"

enum gradient_sync { SYNC_EXPOSED, SYNC_OVERLAPPED };
extern const char *const gradient_sync_names[]; // "exposed", "overlapped"

// When a grid's third axis gathers the matrices of which each rank stores a part: for every pass;
// once for the passes of a micro-batch; once a step. What is gathered is kept until then.
enum grid_gathers { GRID_EACH_PASS, GRID_EACH_MICRO_BATCH, GRID_EACH_STEP };
extern const char *const grid_gathers_names[]; // "pass", "micro_batch", "step"
extern const char *const grid_order_names[];   // "1-2-3" ..., the first innermost

// Fused attention's kernel: the GPU maker's library, FlashAttention-2, FlashAttention in Triton ...
enum attention_kernel {
    ATTENTION_MAKER,
    ATTENTION_FLASH_2,
    ATTENTION_TRITON,
    ATTENTION_MAKER_2024
};
// How the tokens of experts travel, each with its copies (docs/FORMULAS.md, section 3): NCCL's
// all-to-all, which sends a token once for every expert it takes; DeepEP's and HybridEP's kernels,
// which send it once to every device, and once to every node.
enum dispatcher { DISPATCH_ALL_TO_ALL, DISPATCH_DEEPEP, DISPATCH_HYBRIDEP };
extern const char *const dispatcher_names[]; // "all_to_all", "deepep", "hybridep"
// A device's experts: as the trainer's (torchtitan's grouped), each in its own product, all in one.
enum expert_products { EXPERTS_BY_TRAINER, EXPERTS_SINGLE, EXPERTS_GROUPED };
extern const char *const expert_products_names[]; // "by_trainer", "single", "grouped"
// What is replayed from CUDA graphs, so that the host need not launch it: attention, dense layers
// and the router; the whole iteration.
enum graphs { GRAPHS_NONE, GRAPHS_PARTS, GRAPHS_STEP };
extern const char *const graphs_names[]; // "none", "parts", "step"
// How context ranks see each other's keys and values: step by step, by taking all tokens of some of
// the heads instead, or all at once.
enum context_kind { CONTEXT_RING, CONTEXT_ALL_TO_ALL, CONTEXT_ALL_GATHER };
// Where what a fully recomputed layer keeps of a micro-batch waits: on the device; a part of it on
// each tensor rank; in the host's memory.
enum checkpoints { CHECKPOINTS_DEVICE, CHECKPOINTS_PARTITIONED, CHECKPOINTS_HOST };
extern const char *const checkpoints_names[]; // "device", "partitioned", "host"
// Operations between products that run as PyTorch's own kernels, one per step, where other programs
// have a fused kernel (docs/FORMULAS.md, section 3).
enum unfused { UNFUSED_NORMS, UNFUSED_ROTARY, UNFUSED_ACTIVATION, UNFUSED_LOSS, UNFUSED_COUNT };
extern const char *const unfused_names[];          // "norms", "rotary", "activation", "loss"
extern const char *const attention_kernel_names[]; // "maker", ..., "maker-2024"
extern const char *const context_kind_names[];     // "ring", "all_to_all", "all_gather"
extern const char *const layout_context_names[];   // "stated", and those
// The training program, which determines what is kept in memory besides the states themselves.
enum trainer { TRAINER_MEGATRON, TRAINER_DEEPSPEED, TRAINER_TORCHTITAN, TRAINER_OTHER };
extern const char *const trainer_names[]; // "megatron", "deepspeed", "torchtitan", "other"
// Bytes of an accumulated gradient value where nothing states them: 2 for DeepSpeed in 16-bit
// training, which sums in the weights' precision, else 4 (docs/FORMULAS.md 4).
int trainer_gradient_bytes(enum trainer trainer, enum precision precision);

// What a plan minimises; by default the iteration time. "pipette": the objective of a published
// planner, for comparison (docs/FORMULAS.md section 16). "max_load": the load of the busiest device
// or link, for throughput alone. "cost": iteration time x devices used, hence the price of a token;
// only for a space, as a layout's plans have the same devices. "energy": of memories, in
// microjoules.
enum objective {
    OBJECTIVE_ITERATION_TIME,
    OBJECTIVE_PIPETTE,
    OBJECTIVE_MAX_LOAD,
    OBJECTIVE_COST,
    OBJECTIVE_ENERGY
};
extern const char *const objective_names[]; // "iteration_time", "pipette", "max_load" ...

enum { SLICES_MAX = 32, SLICE_TOKENS_MAX = 1 << 24, LISTED_STAGES_MAX = 32, IN_FLIGHT_MAX = 255 };

struct layout {
    int tensor, context, data, pipeline; // degrees
    int grid_depth, grid_rows; // axes 2 and 3 of a tensor grid (layout_tensor_axis); 0, 0: no grid
    int grid_order;            // of the axes over the ranks, the innermost first (job_parts.c)
    enum grid_gathers grid_gathers; // of matrices that the third axis stores in parts
    int expert_tensor;  // tensor degree of an expert, a divisor of tensor's; 0: tensor's own
    int expert;         // degree over which experts are spread (layout_expert_ranks)
    int pool;           // devices that hold a memory layer's pool once; 0: all of its own
    int virtual_stages; // stages (runs of layers) per pipeline rank; 1 if not interleaved
    int micro_batch;    // sequences
    int schedule;       // its row (data/kinds/schedules.h)
    bool sequence_parallel;
    bool fused_attention; // the causal kernel, which keeps no scores
    enum gradient_sync gradient_sync;
    bool fused_embedding_sync; // one all-reduce over the first and last stage's ranks (Optimus-CC)
    int zero; // 0 to 3: nothing, optimizer state, gradients, weights sharded over data x context
    int data_shard; // data ranks side by side that share this once; other groups have it alike
    bool offload_optimizer; // optimizer state is in host memory and is updated there
    // true: the iteration ends for all ranks together. false: a rank goes on with the next
    // iteration as soon as its own optimizer step is done (zero-bubble's post-validation), and T is
    // the period.
    bool barrier;
    // Every n-th boundary between stages is local: the stage before it learns from its own loss,
    // and no gradient is sent back. 0: none; 1: every boundary.
    int local_loss_every;
    bool stored_inputs; // behind a local boundary they come from a file: nothing is sent over it
    // How stages recompute: 0: each as it chooses; else all alike, by 1 + the mode; and with
    // first_layers how many layers each stage recomputes (all that it can, where it has fewer).
    int recompute, recomputed_layers;
    // How context ranks see each other's keys and values: 0: as the job states, else 1 + the kind.
    int context_kind;
    bool overlapped_dispatch; // the job's, which a layout of a space has besides
    int slice_count; // slices of a sequence that pass the pipeline in turn; 1: whole sequences
    int slices[SLICES_MAX]; // tokens of each, sum = sequence; slices[0] 0 with slice_count 1
    unsigned char in_flight[LISTED_STAGES_MAX]; // [stage], at most; [0] 0: as 1f1b has them
};

// Initialises a layout: one stage per rank, whole sequences, a barrier.
#define LAYOUT_PLAIN(stages)                                                                       \
    .pipeline = (stages), .expert = 1, .virtual_stages = 1, .slice_count = 1, .barrier = true

// A tensor degree as a grid of three axes, of which at least one after the first is above 1. Of a
// layer's products, the first axis splits the columns and the second the depth, the other way round
// in every other product, and the third splits the rows (docs/FORMULAS.md section 20). Without a
// grid, all tensor ranks are on axis 0.
static inline bool layout_has_grid(const struct layout *l) { return l->grid_depth > 0; }
static inline int layout_tensor_axis(const struct layout *l, int axis)
{
    if (!layout_has_grid(l)) return axis ? 1 : l->tensor;
    return axis == 0   ? l->tensor / (l->grid_depth * l->grid_rows)
           : axis == 1 ? l->grid_depth
                       : l->grid_rows;
}

// Ranks that are adjacent along the axis are so far apart: the product of the axes further inside.
int layout_axis_stride(const struct layout *l, int axis);
// Of orders that leave every axis above 1 where it is, the first; returns how many.
int layout_orders(const struct layout *l, int *values);

static inline int layout_expert_tensor(const struct layout *l)
{
    return l->expert_tensor ? l->expert_tensor : l->tensor;
}
// Of those that hold one part of every expert of a stage: its expert degree divides them.
static inline int64_t layout_expert_ranks(const struct layout *l)
{
    return (int64_t)l->data * l->context * (l->tensor / layout_expert_tensor(l));
}

int layout_data_shard(const struct layout *l); // all data ranks, where none are stated
// Devices of a pool; 0: there is none.
static inline int64_t layout_pool_devices(const struct layout *l, enum pool_span span)
{
    int64_t stage = (int64_t)l->tensor * l->context * l->data;
    return span == POOL_NONE ? 0 : span == POOL_OF_STAGE ? stage : stage * l->pipeline;
}

// "8", or "2x2x2" for a grid.
const char *layout_tensor_text(const struct layout *l, struct arena *arena);
// "8", "8 all_to_all" where the layout says how.
const char *layout_context_text(const struct layout *l, struct arena *arena);
// ", expert 8", ", expert 8 x tensor 1" where an expert has its own tensor degree, " overlapped"
// behind it; ", pool 8"; "": none of these.
const char *layout_experts_text(const struct layout *l, struct arena *arena);

static inline int layout_stage_count(const struct layout *l)
{
    return l->pipeline * l->virtual_stages;
}
// One setting of recomputation for all stages, and its mode.
static inline bool layout_recomputes_alike(const struct layout *l) { return l->recompute > 0; }
static inline enum recompute layout_recompute(const struct layout *l)
{
    return (enum recompute)(l->recompute - 1);
}
// A replica has at least this many micro-batches; where replicas have different numbers of them
// (uneven_micro_batches), each has a multiple of it.
int layout_micro_batch_unit(const struct layout *l);

// The framework that runs the plan: a space holds only layouts that it can run
// (data/inputs/framework.h).
enum framework {
    FRAMEWORK_ANY,
    FRAMEWORK_MEGATRON,
    FRAMEWORK_TORCHTITAN,
    FRAMEWORK_DEEPSPEED,
    FRAMEWORK_NEMO,
    FRAMEWORK_TORCHTITAN_0_2, // the last that is configured by TOML
    FRAMEWORK_AXONN
};
extern const char *const framework_names[]; // "any", "megatron", ..., "torchtitan-0.2", "axonn"

// ---- the space of layouts that a solve searches (data/inputs/space.h walks it)
// KEY(constant after SPACE_, as in struct layout): what may be chosen; a key that the job's `space`
// does not mention keeps the value of `layout`.
#define SPACE_KEYS(KEY)                                                                            \
    KEY(TENSOR, tensor)                                                                            \
    KEY(CONTEXT, context)                                                                          \
    KEY(PIPELINE, pipeline)                                                                        \
    KEY(DATA, data) /* the last of the degrees whose product is the devices */                     \
    KEY(EXPERT_TENSOR, expert_tensor)                                                              \
    KEY(EXPERT, expert)                                                                            \
    KEY(SCHEDULE, schedule)                                                                        \
    KEY(VIRTUAL_STAGES, virtual_stages)                                                            \
    KEY(MICRO_BATCH, micro_batch)                                                                  \
    KEY(SEQUENCE_PARALLEL, sequence_parallel)                                                      \
    KEY(ZERO, zero)                                                                                \
    KEY(GRADIENT_SYNC, gradient_sync)                                                              \
    KEY(OFFLOAD_OPTIMIZER, offload_optimizer)                                                      \
    KEY(BARRIER, barrier)                                                                          \
    KEY(FUSED_EMBEDDING_SYNC, fused_embedding_sync)                                                \
    KEY(LOCAL_LOSS_EVERY, local_loss_every)                                                        \
    KEY(SLICE_COUNT, slice_count)                                                                  \
    KEY(CONTEXT_KIND, context_kind)                                                                \
    KEY(OVERLAPPED_DISPATCH, overlapped_dispatch)                                                  \
    KEY(POOL, pool)                                                                                \
    KEY(GRID_ORDER, grid_order)                                                                    \
    KEY(GRID_GATHERS, grid_gathers)                                                                \
    KEY(RECOMPUTE, recompute)
#define SPACE_CONSTANT(constant, key) SPACE_##constant,
enum space_key { SPACE_KEYS(SPACE_CONSTANT) SPACE_KEY_COUNT };
extern const char *const space_key_names[];

// Switches of the trainer, each a key of the job, that a layout of a space has wherever its
// framework has them and where they can cost nothing (data/inputs/framework.h).
enum trainer_switch {
    SWITCH_OVERLAPPED_MESSAGES,
    SWITCH_OVERLAPPED_TENSOR,
    SWITCH_SCATTERED_MESSAGES,
    SWITCH_FUSED_LOSS,
    SWITCH_COMPILED,
    SWITCH_COUNT
};
extern const char *const trainer_switch_names[]; // the job's keys

struct space_axis {
    enum {
        AXIS_FIXED,
        AXIS_ALL,
        AXIS_LIST
    } kind; // as in the layout; every sensible value; these values
    int *values;
    int count;
};

struct space {
    bool given;                  // the job has a space: a solve searches it
    bool fewer_devices;          // a layout may use a divisor of the cluster's devices
    enum framework framework;    // that must be able to run the layouts
    bool switches[SWITCH_COUNT]; // on wherever the framework has them
    bool tensor_grids;           // a tensor degree is taken as each of its grids
    bool uneven_stages;          // interleaved stages need not be equal: framework_is_uneven
    int slice_tokens;  // slices are multiples of this many tokens; 0: all slices are equal
    int in_flight_max; // every list of layout.in_flight up to it; 0: as in the layout
    struct space_axis axes[SPACE_KEY_COUNT];
};

// Compression of the backward transfers over a boundary, or of a stage's gradient sync: how a
// matrix of values is sent. It is sent as two factors with `amount` columns, as its largest values
// with their positions, `amount` of a thousand, or in `amount` bits per value with a scale for
// every 256 values (docs/FORMULAS.md, 6 and 7). Amount 0: not compressed.
enum compression_method {
    COMPRESS_LOW_RANK,
    COMPRESS_TOP_K,
    COMPRESS_QUANTISE,
    COMPRESSION_METHOD_COUNT
};
struct compression_form {
    enum compression_method method;
    int amount;
};
// No compression, or a rank that the budget's rank_min allows, or another form.
static inline bool compression_allowed(struct compression_form form, int rank_min)
{
    return form.amount == 0 || form.method != COMPRESS_LOW_RANK || form.amount >= rank_min;
}
extern const char *const compression_keys[]; // "rank", "kept_per_thousand", "bits"
// In words: "rank 8", "the largest 1.5 %", "4 bits"; without compression "none".
const char *compression_text(struct compression_form form, struct arena *arena);

// What of each layer of a stage is in tiers besides the GPU's own memory (data/places/cluster.h).
enum tier_part { TIER_FROZEN, TIER_TRAINED, TIER_OPTIMIZER, TIER_ACTIVATIONS, TIER_PARTS };
extern const char *const tier_part_names[]; // "frozen_weights", "trained_weights" ...
struct tier_share {
    const char *tier;   // NULL: it stays
    int percent;        // 1 to 100; 0: of activations
    bool in_turn;       // the optimizer: the device's step, then the host's, not side by side
    bool across_passes; // activations: in transfer under other passes, too
};
struct tier_option {
    const char *name;                    // NULL: nothing is elsewhere
    struct tier_share parts[TIER_PARTS]; // the optimizer's state: on the host
};

// Option 0 of a priced document is always "none", amount 0. A priced document's options for a stage
// are compressions of its sync, each combined with everything on the GPU and every tier option.
struct compression_option {
    struct compression_form form;
    bool epilogue_only; // only the last p-1-i backward receives of stage i and the last steady one
    int64_t quality_cost; // stated by the user, >= 0
    bool forgets;         // no error feedback: what compression loses is not kept for the next time
    const char *tier_option; // its name; NULL: everything is on the GPU
    const char *activations; // the tier of what is swapped; NULL: that of all options
    bool across_passes;      // and whether that is in transfer under other passes, too
};

bool compression_same(const struct compression_option *a, const struct compression_option *b);

struct quality_budget {
    int64_t boundaries_max, stages_max, cost_max; // -1: no limit
    int rank_min;                                 // lower ranks are not offered; 0: no limit
    int64_t energy_max_uj;                        // of an iteration, on all GPUs; 0: no limit
};

// A rule about one stage (or all): `require` demands that every stated condition holds there,
// `forbid` that not all of them hold at once.
enum rule_action { RULE_REQUIRE, RULE_FORBID };
extern const char *const rule_action_names[]; // "require", "forbid"

struct rule {
    enum rule_action action;
    int stage;           // -1: every stage
    const char **groups; // the stage's node group is one of these; group_count 0: not stated
    int group_count;
    int holds_first,
        holds_last;  // the stage holds all layers holds_first..holds_last; -1: not stated
    const char *run; // counts the layers of this run; NULL: all layers
    int layers_min, layers_max; // their count is within this range; -1: not stated
    bool recompute_stated;
    bool recompute[RECOMPUTE_COUNT]; // the stage's mode is one of these
    int compresses_gradient;         // 0 no, 1 yes; -1: not stated
    int compresses_boundary;         // the backward transfers that this stage sends; 0, 1, -1
};
bool rule_names_group(const struct rule *rule, const char *name);
extern const struct rule rule_empty; // requires nothing, of every stage

// A head of its own for a stage before a local boundary: that of a model with this vocabulary, and
// with this embedding_width (0: none).
struct local_head {
    int64_t vocabulary; // 0: no head is described
    int64_t embedding_width;
};

// A stage's work before a local boundary beside its layers, per micro-batch and device.
struct local_loss {
    double forward_s, backward_s;
    int64_t bytes;
    struct local_head head;
    bool step_each_micro_batch; // all stages' optimizers step after each micro-batch
};

// Constraints on a placement on nodes.
struct placement_wishes {
    bool homogeneous_groups;   // replicas are on nodes with the same kinds of network card
    bool uneven_micro_batches; // replicas may take different numbers of micro-batches, global_batch
                               // / micro_batch together
};

// Stages have the layout's degrees, or their own; replicas share micro-batches or take turns.
enum stage_degrees { DEGREES_UNIFORM, DEGREES_PER_GROUP, DEGREES_PER_STAGE };
enum replicas { REPLICAS_SPLIT, REPLICAS_IN_TURN };
extern const char *const stage_degrees_names[], *const replicas_names[];
// On these node groups (none: any), each degree one of the list's.
struct width_list {
    const char **groups;
    int group_count;
    int *tensor, tensor_count, *context, context_count, *data, data_count; // count 0: 1
};

struct job {
    struct document document;
    const char *name;
    int64_t sequence, global_batch;
    enum precision precision;
    int gradient_bytes_per_value; // 2 or 4, of the accumulated gradient
    bool adam;                    // whether the optimizer has a state
    int state_bytes_per_value;    // of that, 1 to 16; 0: job_state_bytes' usual ones
    enum trainer trainer;
    bool fused_loss; // Megatron's compiled cross entropy, which keeps its exponentials;
                     // torchtitan's, which has no fp32 copy
    bool compiled;   // torchtitan's blocks are compiled, so that elementwise operations are fused
    bool unfused[UNFUSED_COUNT]; // for any trainer; with torchtitan, all are unfused if it is not
                                 // compiled
    bool stopped_recompute;      // of a block, before its last product (torch's checkpoints)
    bool gathered_logits;        // each tensor rank has the logits of the whole vocabulary
    bool chunked_loss;           // the loss makes its logits in chunks, and never holds all of them
    bool loss_in_place;          // the gradient takes the place of the logits; for trainer megatron
    bool fp8_activation_input;   // of a gated activation, one byte a value; for trainer megatron
    bool kept_logits;            // a pipeline's last stage keeps all logits, as PyTorch's may
    bool gathered_inputs;        // what sequence-parallel tensor ranks gather for a product is kept
                                 // for its backward pass; for trainer other, torchtitan always does
    bool whole_gradient_sums;    // at ZeRO 1 every rank gets all sums, in fp32; for trainer other
    bool owner_broadcasts; // at ZeRO 1 each tensor's state is one rank's, which sends its weights
                           // to the others; for trainer other
    bool split_gate; // gate and up are two products, with two sums of gradients; for trainer other
    bool scattered_messages;  // each tensor rank sends only its part of a message between stages
    bool overlapped_messages; // ranks compute during messages, whatever the costs say
    bool overlapped_tensor;   // sums over tensor ranks overlap with the products chunk by chunk
    bool exposed_input_gradients; // nothing hides those of input gradients; for trainer megatron
    enum attention_kernel attention_kernel; // for fused attention
    enum dispatcher dispatcher;             // of experts' tokens
    bool overlapped_dispatch;               // it runs beside the passes of another micro-batch
    bool fixed_capacity; // experts take the same number of tokens, others are dropped: the host
                         // need not wait for their numbers
    enum expert_products expert_products;
    double expert_padding; // rows that each multiplies over those that come on average; 0: 1
    enum graphs graphs;
    enum context_kind context_kind;
    enum checkpoints checkpoints;
    enum objective objective;
    struct layout layout;
    struct space space; // if given, solve searches it, and `layout` states what is fixed
    enum stage_degrees stage_degrees;
    enum replicas replicas;
    struct width_list *widths; // that stages may have, if they have their own (seats.c)
    int width_list_count;
    bool recompute[RECOMPUTE_COUNT]; // what a stage may choose; none is always allowed
    int sharded_zero; // ZeRO stage of the first layers of a stage, as many as it chooses; 0: none
    // Tensor degrees that a stage may choose for its layers with the vocabulary, besides its own.
    int *vocabulary_tensor;
    int vocabulary_tensor_count;
    bool recompute_any; // with full: also any set of its layers, in full; with replicas in turn
    struct compression_option *boundary_options;
    int boundary_option_count;
    struct compression_option *gradient_options;
    int gradient_option_count;
    struct tier_option *tier_options; // what stages may have in tiers, besides nothing
    int tier_option_count;
    struct quality_budget budget;
    struct local_loss local_loss;
    struct placement_wishes placement;
    double memory_fraction;      // part of each GPU's memory that may be planned, in (0, 1]
    int64_t memory_margin_bytes; // kept free in addition
    // Upper limits of plans of a space: iteration time, price per million tokens; 0: none.
    double iteration_limit_s, price_limit;
    int64_t run_tokens; // on which the whole run trains; 0: not stated
    struct rule *rules;
    int rule_count;
};

enum { STAGES_MAX = 256, MICRO_BATCHES_MAX = 65536, VOCABULARY_DEGREES_MAX = 8 };
enum { STATE_BYTES_MAX = 16, EXPERT_PADDING_MAX = 1000000 };
// Of published runs that ran out of memory, nine of ten are above this fraction; of those that ran,
// one of twenty (docs/VALIDATION.md, section 1).
#define MEMORY_FRACTION_DEFAULT 0.9

static inline bool job_has_widths(const struct job *j)
{
    return j->stage_degrees != DEGREES_UNIFORM;
}
extern const struct members width_list_members;

extern const struct members job_members; // its keys (data/text/members.h)
enum status job_load(struct job *j, const char *path, struct arena *arena, struct error *err);
// What the layout states takes the place of what the job does: how context ranks see each other's
// keys and values, and whether dispatch is overlapped.
void job_follow_layout(struct job *j);
// With a space, checks everything except what depends on the layout chosen: job_check_layout checks
// that.
enum status job_check(const struct job *j, struct error *err);
enum status job_check_layout(const struct job *j, struct error *err);
enum status job_save(const struct job *j, const char *path, struct arena *arena, struct error *err);
int job_state_bytes(const struct job *j); // per value, as stated or usual; with adam
// An unknown trainer behaves like Megatron-LM, except for its loss and its speed.
static inline bool job_like_megatron(const struct job *j)
{
    return j->trainer == TRAINER_MEGATRON || j->trainer == TRAINER_OTHER;
}
// Whether tensor ranks may outnumber the KV heads, which they then share: Megatron Core, from 0.16
// on, gathers queries, keys and values (transformer/attention.py).
static inline bool job_shares_keys(const struct job *j, int64_t kv_heads)
{
    return job_like_megatron(j) && !layout_has_grid(&j->layout) && j->layout.tensor % kv_heads == 0;
}
// What a job may have by its trainer, and by what stands next to it.
static inline bool job_may_sum_whole(const struct job *j)
{
    return (j->trainer == TRAINER_OTHER || j->trainer == TRAINER_DEEPSPEED) &&
           !j->gradient_option_count;
}
static inline bool job_may_be_pytorch(const struct job *j)
{
    return j->trainer == TRAINER_OTHER || j->trainer == TRAINER_TORCHTITAN;
}
static inline bool job_may_broadcast(const struct job *j)
{
    return j->trainer == TRAINER_OTHER && !j->whole_gradient_sums && !j->gradient_option_count;
}
static inline bool job_may_split_gate(const struct job *j) { return j->trainer == TRAINER_OTHER; }
static inline bool job_unfused(const struct job *j, enum unfused operation) // or as the trainer
{
    return j->unfused[operation] || (j->trainer == TRAINER_TORCHTITAN && !j->compiled);
}
bool tier_option_moves_weights(const struct tier_option *t);
bool job_has_local_head(const struct job *j); // some stage has one of its own
// Makes shares of a stage's optimizer state on its host tier options, ahead of those there are.
void job_offer_shares(struct job *j, const int *percents, int count, struct arena *arena);
// How many ways there are to keep a stage's parts in tiers, the first none.
static inline int job_tier_ways(const struct job *j) { return 1 + j->tier_option_count; }
// Where it has each part, all state if the layout offloads it; a compression with it, as an option.
struct tier_option job_tiering(const struct job *j, int way);
struct compression_option job_option(const struct job *j, struct compression_option of, int way);
bool job_swaps(const struct job *j);                       // some way has activations in a tier
bool job_offers(const struct job *j, enum recompute mode); // stated, or by a tier option
// Per replica: global_batch / (data x micro_batch), or more of one replica if they may differ.
int job_micro_batches(const struct job *j);
double job_expert_padding(const struct job *j);          // what expert_padding says; not stated: 1
int64_t job_micro_batches_together(const struct job *j); // of all replicas
