// A job: how the model is to be trained, the layout, and what may be chosen.
#ifndef PLUMBLINE_DATA_INPUTS_JOB_H
#define PLUMBLINE_DATA_INPUTS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "data/text/document.h"
#include "data/base/units.h"
#include "data/schedule/kinds.h"

enum gradient_sync { SYNC_EXPOSED, SYNC_OVERLAPPED };
extern const char *const gradient_sync_names[]; // "exposed", "overlapped"

// Whose training program: what it keeps in memory beside the states themselves.
enum attention_kernel { ATTENTION_MAKER, ATTENTION_FLASH_2, ATTENTION_TRITON };
// Operations between products that run as kernels of PyTorch's own, one for each step, where others
// have a fused one (docs/FORMULAS.md, section 3).
enum unfused { UNFUSED_NORMS, UNFUSED_ROTARY, UNFUSED_ACTIVATION, UNFUSED_COUNT };
extern const char *const unfused_names[];          // "norms", "rotary", "activation"
extern const char *const attention_kernel_names[]; // "maker", "flash-attention-2", "triton"
enum trainer { TRAINER_MEGATRON, TRAINER_DEEPSPEED, TRAINER_TORCHTITAN, TRAINER_OTHER };
extern const char *const trainer_names[]; // "megatron", "deepspeed", "torchtitan", "other"

// What a plan is to make least. The iteration time is the rule. "pipette": the objective of a
// published planner, for comparison (docs/FORMULAS.md section 16). "max_load": the busiest device
// or link, for throughput alone. "cost": iteration time x devices used, so the price of a token;
// only of a space, as the devices of one layout are as many whatever its plan.
enum objective { OBJECTIVE_ITERATION_TIME, OBJECTIVE_PIPETTE, OBJECTIVE_MAX_LOAD, OBJECTIVE_COST };
extern const char *const objective_names[]; // "iteration_time", "pipette", "max_load", "cost"

enum { SLICES_MAX = 32, SLICE_TOKENS_MAX = 1 << 24 };

struct layout {
    int tensor, context, data, pipeline; // degrees
    int grid_depth, grid_rows; // axes 2 and 3 of a tensor grid (layout_tensor_axis); 0, 0: no grid
    int expert;                // degree over which experts are spread: a divisor of data x context
    int virtual_stages; // stages (runs of layers) of each pipeline rank; 1 where not interleaved
    int micro_batch;    // sequences
    enum schedule_kind schedule;
    bool sequence_parallel;
    bool fused_attention; // the causal kernel that keeps no scores
    enum gradient_sync gradient_sync;
    bool fused_embedding_sync; // one all-reduce over the first and last stage's ranks (Optimus-CC)
    int zero; // 0 to 3: nothing, optimizer state, gradients, weights sharded over data x context
    bool offload_optimizer; // optimizer state lives in host memory and is updated there
    // The iteration ends for all ranks together. false: a rank goes on with the next iteration as
    // soon as its own optimizer step is done (zero-bubble's post-validation), and T is the period.
    bool barrier;
    // Every so-manieth boundary between stages is local: its stage learns from a loss of its own
    // and no gradient is sent back. 0: none; 1: every boundary.
    int local_loss_every;
    int slice_count; // slices of a sequence that follow each other through the pipeline; 1: whole
    int slices[SLICES_MAX]; // tokens of each, sum = sequence; slices[0] 0 with slice_count 1
};

// Initialises a layout: one stage a rank, whole sequences, a barrier.
#define LAYOUT_PLAIN(stages)                                                                       \
    .pipeline = (stages), .expert = 1, .virtual_stages = 1, .slice_count = 1, .barrier = true

// A tensor degree as a grid of three axes, of which one behind the first is above 1: of a layer's
// products the first splits the columns and the second the depth, the other way round in every
// other product, and the third the rows (docs/FORMULAS.md section 20). Without: all on axis 0.
static inline bool layout_has_grid(const struct layout *l) { return l->grid_depth > 0; }
static inline int layout_tensor_axis(const struct layout *l, int axis)
{
    if (!layout_has_grid(l)) return axis ? 1 : l->tensor;
    return axis == 0   ? l->tensor / (l->grid_depth * l->grid_rows)
           : axis == 1 ? l->grid_depth
                       : l->grid_rows;
}

// "8", or of a grid "2x2x2".
const char *layout_tensor_text(const struct layout *l, struct arena *arena);

static inline int layout_stage_count(const struct layout *l)
{
    return l->pipeline * l->virtual_stages;
}
// The micro-batches of a replica are a multiple of this.
static inline int layout_micro_batch_unit(const struct layout *l)
{
    return schedule_kinds[l->schedule].in_groups ? l->pipeline : 1;
}

// Who is to run the plan: a space holds only layouts that the framework runs
// (data/inputs/framework.h).
enum framework { FRAMEWORK_ANY, FRAMEWORK_MEGATRON, FRAMEWORK_TORCHTITAN, FRAMEWORK_DEEPSPEED };
extern const char *const framework_names[]; // "any", "megatron", "torchtitan", "deepspeed"

// ---- the space of layouts that a solve searches (data/inputs/space.h walks it)

// What may be chosen; a key that the job's `space` does not mention keeps the value of `layout`.
enum space_key {
    SPACE_TENSOR,
    SPACE_CONTEXT,
    SPACE_PIPELINE,
    SPACE_DATA,
    SPACE_SCHEDULE,
    SPACE_VIRTUAL_STAGES,
    SPACE_MICRO_BATCH,
    SPACE_SEQUENCE_PARALLEL,
    SPACE_ZERO,
    SPACE_GRADIENT_SYNC,
    SPACE_OFFLOAD_OPTIMIZER,
    SPACE_BARRIER,
    SPACE_FUSED_EMBEDDING_SYNC,
    SPACE_LOCAL_LOSS_EVERY,
    SPACE_SLICE_COUNT,
    SPACE_KEY_COUNT,
};
extern const char *const space_key_names[]; // as in struct layout; "slice_count": so many slices

struct space_axis {
    enum {
        AXIS_FIXED,
        AXIS_ALL,
        AXIS_LIST
    } kind; // as in the layout; every value that makes sense; these values
    int *values;
    int count;
};

struct space {
    bool given;               // the job has a space: a solve searches it
    bool fewer_devices;       // a layout may use a divisor of the cluster's devices
    enum framework framework; // that has to run the layouts
    bool tensor_grids;        // a tensor degree is taken as each of its grids
    int slice_tokens;         // slices are of any multiples of so many tokens; 0: all alike
    struct space_axis axes[SPACE_KEY_COUNT];
};

// Compression: of the backward transfers over a boundary, of a stage's gradient sync.
// How a matrix of values is sent: as two factors of so many columns, as its largest values with
// their places, so many of a thousand, or in so many bits each with a scale for 256 values
// (docs/FORMULAS.md, 6 and 7). The amount: 0 is not compressed.
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
// None, or of a rank that the budget's rank_min allows, or of another form.
static inline bool compression_allowed(struct compression_form form, int rank_min)
{
    return form.amount == 0 || form.method != COMPRESS_LOW_RANK || form.amount >= rank_min;
}
extern const char *const compression_keys[]; // "rank", "kept_per_thousand", "bits"
// In words, as "rank 8", "the largest 1.5 %", "4 bits"; of no compression "none".
const char *compression_text(struct compression_form form, struct arena *arena);

// Option 0 of a priced document is always "none", amount 0. A priced document's options of a stage
// are compressions of its sync, each with none and every share of its optimizer on the host.
struct compression_option {
    struct compression_form form;
    bool epilogue_only; // only the last p-1-i backward receives of stage i and the last steady one
    int64_t quality_cost; // user's, >= 0
    bool forgets;         // no error feedback: what compression loses is not kept for the next time
    int offloaded_percent; // share of the optimizer's state that the host holds
};

static inline bool compression_same(const struct compression_option *a,
                                    const struct compression_option *b)
{
    return a->form.method == b->form.method && a->form.amount == b->form.amount &&
           a->epilogue_only == b->epilogue_only && a->quality_cost == b->quality_cost &&
           a->forgets == b->forgets && a->offloaded_percent == b->offloaded_percent;
}

struct quality_budget {
    int64_t boundaries_max, stages_max, cost_max; // -1: no limit
    int rank_min;                                 // options below are not offered; 0: no limit
};

// A rule about one stage (or all): `require` wants every stated condition to hold there, `forbid`
// not all of them at once.
enum rule_action { RULE_REQUIRE, RULE_FORBID };
extern const char *const rule_action_names[]; // "require", "forbid"

struct rule {
    enum rule_action action;
    int stage;           // -1: every stage
    const char **groups; // the stage's node group is one of these; group_count 0: not stated
    int group_count;
    int holds_first,
        holds_last;  // the stage holds all layers holds_first..holds_last; -1: not stated
    const char *run; // the layers of this run are counted; NULL: all layers
    int layers_min, layers_max; // their count is within; -1: not stated
    bool recompute_stated;
    bool recompute[RECOMPUTE_COUNT]; // the stage's mode is one of these
    int compresses_gradient;         // 0 no, 1 yes; -1: not stated
    int compresses_boundary;         // the backward transfers this stage sends; 0, 1, -1
};
extern const struct rule rule_empty; // to require nothing, of every stage

// What a stage before a local boundary does beside its layers, per micro-batch and device: the
// user's figures.
struct local_loss {
    double forward_s, backward_s;
    int64_t bytes;
};

// What a placement on nodes must keep to.
struct placement_wishes {
    bool homogeneous_groups;   // the replicas of a stage stand on nodes with the same kinds of
                               // network card (places_alike)
    bool uneven_micro_batches; // replicas take micro-batches in numbers of their own, global_batch
                               // / micro_batch together
};

struct job {
    struct document document;
    const char *name;
    int64_t sequence, global_batch;
    enum precision precision;
    int gradient_bytes_per_value; // 2 or 4, of the accumulated gradient
    bool adam;                    // 12 B per parameter in 16-bit training, 8 in fp32; else no state
    enum trainer trainer;
    bool fused_loss; // Megatron's compiled cross entropy, which keeps its exponentials;
                     // torchtitan's, which has no fp32 copy
    bool compiled;   // torchtitan's blocks are, so that elementwise operations are fused
    bool unfused[UNFUSED_COUNT]; // of any trainer; torchtitan's all are where it is not compiled
    bool gathered_logits;        // each tensor rank has those of the whole vocabulary
    bool whole_gradient_sums;    // at ZeRO 1 every rank gets all sums, in fp32; of trainer other
    bool split_gate; // gate and up are two products, inputs' gradients summed apart; of trainer
                     // other
    bool scattered_messages; // each tensor rank sends its part of a message between stages alone
    bool
        overlapped_messages; // ranks compute beside messages between stages, whatever the costs say
    bool overlapped_tensor;  // sums of tensor ranks go chunk by chunk beside the products
    enum attention_kernel attention_kernel; // of fused attention
    enum objective objective;
    struct layout layout;
    struct space space;              // given: solve searches it, and `layout` says what is fixed
    bool recompute[RECOMPUTE_COUNT]; // what a stage may choose; none is always allowed
    struct compression_option *boundary_options;
    int boundary_option_count;
    struct compression_option *gradient_options;
    int gradient_option_count;
    int *offload_percents; // of a stage's optimizer state that its host may hold, beside none
    int offload_percent_count;
    struct quality_budget budget;
    struct local_loss local_loss;
    struct placement_wishes placement;
    double memory_fraction;      // of each GPU's memory that may be planned, in (0, 1]
    int64_t memory_margin_bytes; // kept free besides
    // Plans that a space is searched for take no longer, and cost no more a million tokens; 0:
    // none.
    double iteration_limit_s, price_limit;
    int64_t run_tokens; // that the whole run trains on; 0: not stated
    struct rule *rules;
    int rule_count;
};

enum { STAGES_MAX = 256, MICRO_BATCHES_MAX = 65536 };
// Of published runs that ran out of memory nine of ten are above it, of those that ran one of
// twenty (docs/VALIDATION.md, section 1).
#define MEMORY_FRACTION_DEFAULT 0.9

extern const struct members job_members; // its keys (data/text/members.h)
enum status job_load(struct job *j, const char *path, struct arena *arena, struct error *err);
// With a space, all but what depends on the layout chosen: that is job_check_layout's.
enum status job_check(const struct job *j, struct error *err);
enum status job_check_layout(const struct job *j, struct error *err);
enum status job_save(const struct job *j, const char *path, struct arena *arena, struct error *err);
// One that is not known does as Megatron-LM, but for its loss and how fast it is.
static inline bool job_like_megatron(const struct job *j)
{
    return j->trainer == TRAINER_MEGATRON || j->trainer == TRAINER_OTHER;
}
// Whose way the two may be.
static inline bool job_may_sum_whole(const struct job *j)
{
    return (j->trainer == TRAINER_OTHER || j->trainer == TRAINER_DEEPSPEED) &&
           !j->gradient_option_count;
}
static inline bool job_may_split_gate(const struct job *j) { return j->trainer == TRAINER_OTHER; }
// Stated, or the trainer's way.
static inline bool job_unfused(const struct job *j, enum unfused operation)
{
    return j->unfused[operation] || (j->trainer == TRAINER_TORCHTITAN && !j->compiled);
}
// Per replica: global_batch / (data x micro_batch); where they may be uneven, so many or more for
// one of them at least.
int job_micro_batches(const struct job *j);
int64_t job_micro_batches_together(const struct job *j); // of all replicas

#endif
