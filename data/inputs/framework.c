// The table of frameworks, by version where versions differ: Megatron-LM (Megatron-core 0.13 to
// 0.19), torchtitan from 0.3 on and 0.2.2, DeepSpeed with its pipeline engine and Megatron's tensor
// parallelism, NeMo (Megatron Bridge), AxoNN. Sources: docs/FORMATS.md (job).
#include "data/inputs/framework.h"
#include "data/kinds/schedules.h"

#include <string.h>

#define BIT(x) (1U << (x))
enum { ZERO_0 = BIT(0), ZERO_1 = BIT(1), ZERO_2 = BIT(2), ZERO_3 = BIT(3), ZERO_ANY = 15 };

static const struct rules {
    enum trainer trainer;
    unsigned schedules, recompute;   // bits
    unsigned zero_piped, zero;       // ZeRO stages with a pipeline, and without
    unsigned overlap_piped, overlap; // of those, the ones that sync gradients during the backward
    unsigned offload;                // of those, the ones with the optimizer in host memory
    bool modules;                    // recomputes sets of modules
    bool alike;                      // recomputes in all stages alike, whatever their layout
    bool alike_on_ranks;             // so if a rank has several stages
    bool exposed;                    // gradients may also be synced after it
    bool shards_replicas; // whole weights only without replicas, or with only replicas (DDP)
    bool shards_narrow;   // of a replica on several ranks, only weights that are sharded are
                          // computed with in 16 bits
    unsigned contexts;    // kinds of context ranks, bits
    bool evens_stages;    // several stages per rank are equal unless it is told otherwise
    bool divides_batch;   // micro-batches that are in groups: the number of groups divides them
    bool whole_windows;   // no window passes around a ring of context ranks
    int each_tokens;      // blocks of so many, as masks are cut, are shared evenly by context ranks
    bool flexible_alone;  // flexible attention (latents, windows, sinks) without context ranks
    bool whole_further;   // layers that predict further tokens: without pipeline, context ranks
    bool whole_tied;      // a matrix of embedding and head: without a pipeline
    bool shares_keys;     // also more tensor ranks than KV heads
    bool scattered_mixtures; // mixtures only of scattered tokens, if there are tensor ranks
    // Experts over several ranks, only ...
    bool sharded_experts; // of the ranks that shard gradients or weights
    bool unpiped_experts; // without a pipeline, and in whole weights of tensor ranks
    bool whole_experts;   // that tensor ranks do not split
    bool plain_attention; // with sinks not over context ranks (all-to-all alone has them), and no
                          // expert with biases over tensor ranks
    // Each over tensor ranks of its own, in any number; without this, over one of those that shard.
    bool folds_experts;
    bool overlaps_dispatch; // of experts' tokens, with the passes of another micro-batch
    bool grids;    // of tensor ranks, in AxoNN's order, gathered in passes or micro-batches
    bool unpiped;  // no pipeline
    bool unsliced; // no sequence parallelism
    enum precision narrowest; // of those whose products are of 8 bits or fewer
} rules[] = {
#define OF_CORE                                                                                    \
    .trainer = TRAINER_MEGATRON, .narrowest = NVFP4,                                               \
    .schedules = BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED),                                   \
    .recompute = BIT(RECOMPUTE_NONE) | BIT(RECOMPUTE_SELECTIVE) | BIT(RECOMPUTE_FULL) |            \
                 BIT(RECOMPUTE_FIRST_LAYERS),                                                      \
    .zero_piped = ZERO_0 | ZERO_1, .zero = ZERO_0 | ZERO_1, .overlap_piped = ZERO_ANY,             \
    .overlap = ZERO_ANY, .offload = ZERO_1, .modules = true, .exposed = true,                      \
    .evens_stages = true, .scattered_mixtures = true, .folds_experts = true,                       \
    .overlaps_dispatch = true, .plain_attention = true, .whole_windows = true,                     \
    .shares_keys = true,                                                                           \
    .contexts = BIT(CONTEXT_RING) | BIT(CONTEXT_ALL_TO_ALL) | BIT(CONTEXT_ALL_GATHER)
#define OF_TORCH                                                                                   \
    .trainer = TRAINER_TORCHTITAN, .narrowest = FP8,                                               \
    .schedules = BIT(SCHEDULE_GPIPE) | BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED) |            \
                 BIT(SCHEDULE_LOOPED_BFS) | BIT(SCHEDULE_ZB_V),                                    \
    .recompute = BIT(RECOMPUTE_NONE) | BIT(RECOMPUTE_SELECTIVE) | BIT(RECOMPUTE_FULL),             \
    .zero_piped = ZERO_0 | ZERO_2 | ZERO_3, .zero = ZERO_0 | ZERO_2 | ZERO_3,                      \
    .overlap_piped = ZERO_ANY, .overlap = ZERO_ANY, .shards_replicas = true,                       \
    .divides_batch = true, .sharded_experts = true, .alike = true
    [FRAMEWORK_MEGATRON] = {OF_CORE, .alike_on_ranks = true},
    [FRAMEWORK_TORCHTITAN] = {OF_TORCH, .contexts = BIT(CONTEXT_ALL_GATHER), .each_tokens = 128,
                              .whole_experts = true, .whole_further = true, .whole_tied = true},
    [FRAMEWORK_DEEPSPEED] = {.trainer = TRAINER_DEEPSPEED,
                             .narrowest = FP8,
                             .schedules = BIT(SCHEDULE_1F1B),
                             .recompute = BIT(RECOMPUTE_NONE) | BIT(RECOMPUTE_FULL),
                             .zero_piped = ZERO_0 | ZERO_1,
                             .zero = ZERO_ANY,
                             .overlap = ZERO_1 | ZERO_2 | ZERO_3,
                             .offload = ZERO_1 | ZERO_2 | ZERO_3,
                             .alike = true,
                             .exposed = true,
                             .unpiped_experts = true},
    [FRAMEWORK_NEMO] = {OF_CORE, .alike = true},
    [FRAMEWORK_TORCHTITAN_0_2] = {OF_TORCH, .contexts = BIT(CONTEXT_RING) | BIT(CONTEXT_ALL_GATHER),
                                  .flexible_alone = true, .shards_narrow = true},
    [FRAMEWORK_AXONN] = {.trainer = TRAINER_MEGATRON,
                         .narrowest = BF16,
                         .schedules = BIT(SCHEDULE_1F1B),
                         .recompute = BIT(RECOMPUTE_NONE) | BIT(RECOMPUTE_FULL),
                         .zero = ZERO_0,
                         .alike = true,
                         .exposed = true,
                         .sharded_experts = true,
                         .grids = true,
                         .unpiped = true,
                         .unsliced = true},
};

bool framework_evens_stages(enum framework framework) { return rules[framework].evens_stages; }

// The embedding and the loss each may or may not count as a layer.
bool framework_is_uneven(enum framework framework, const struct layout *l, int layers)
{
    if (!rules[framework].evens_stages || l->virtual_stages <= 1) return false;
    for (int ends = 0; ends <= 2; ends++)
        if (layers > ends && (layers - ends) % layout_stage_count(l) == 0) return false;
    return true;
}

static const char *refusal_of_states(const struct rules *r, const struct layout *l,
                                     enum precision precision)
{
    bool piped = l->pipeline > 1, overlapped = l->gradient_sync == SYNC_OVERLAPPED;
    int64_t others = (int64_t)l->tensor * l->context * l->pipeline,
            replicas = (int64_t)l->data * l->context;
    unsigned stage = BIT(l->zero);
    if (!((piped ? r->zero_piped : r->zero) & stage)) return "zero";
    if (r->shards_replicas && l->zero == 0 && replicas > 1 && others > 1) return "zero";
    if (r->shards_narrow && replicas == 1 && others > 1 && precision != FP32) return "zero";
    if (overlapped ? !((piped ? r->overlap_piped : r->overlap) & stage) : !r->exposed)
        return "gradient_sync";
    return l->offload_optimizer && !(r->offload & stage) ? "offload_optimizer" : NULL;
}

static const char *refusal_of_experts(const struct rules *r, const struct layout *l, bool biased)
{
    bool spread = l->expert > 1, folded = l->expert_tensor > 0,
         whole = spread && l->expert_tensor == 1, split = l->zero == 3 && l->tensor > 1;
    if (folded && !r->folds_experts && !(whole && r->sharded_experts)) return "expert_tensor";
    if (biased && layout_expert_tensor(l) > 1) return "expert_tensor";
    if (spread && r->whole_experts && layout_expert_tensor(l) > 1) return "expert_tensor";
    if (spread && r->sharded_experts && l->zero == 0) return "expert";
    return spread && r->unpiped_experts && (l->pipeline > 1 || split) ? "expert" : NULL;
}

// torch runs as many groups as have a micro-batch for every rank; their sizes are equal.
static bool groups_divide(int64_t micro_batches, int ranks)
{
    int64_t groups = micro_batches / ranks;
    return groups > 0 && micro_batches % groups == 0;
}

// Beside the passes of another micro-batch, so of the same rank: without a pipeline, or with
// several stages of a rank. Of a layer as a whole: neither it nor its experts are recomputed, and a
// model of layers of one part each has no schedule of two micro-batches.
static bool overlaps_dispatch(const struct rules *r, const struct layout *l,
                              const struct framework_of *of)
{
    return r->overlaps_dispatch && l->expert > 1 && of->precision != FP32 && of->mtp_depth <= 1 &&
           !of->hybrid && (l->pipeline == 1 || l->virtual_stages > 1);
}

bool framework_repeats_dispatch(enum recompute mode)
{
    return mode == RECOMPUTE_FULL || mode == RECOMPUTE_FIRST_LAYERS ||
           (mode >= RECOMPUTE_SETS && recompute_repeats(mode, MODULE_MOE));
}

// Transformer Engine has windows and sinks not in its ring, sinks with the exchange of heads alone.
static bool runs_context(const struct rules *r, const struct framework_of *of)
{
    bool sinks = of->sinks && r->plain_attention, windows = of->windows && r->whole_windows;
    if (sinks && of->context_kind != CONTEXT_ALL_TO_ALL) return false;
    return (r->contexts & BIT(of->context_kind)) && !(windows && of->context_kind == CONTEXT_RING);
}

bool framework_excludes(enum framework framework, const struct layout *l, enum space_key key,
                        const struct framework_of *of)
{
    const struct rules *r = &rules[framework];
    if (framework == FRAMEWORK_ANY) return false;
    switch (key) {
    // A single rank has no pipeline: it processes the micro-batches one after another.
    case SPACE_SCHEDULE:
        return !(r->schedules & BIT(l->schedule)) ||
               (l->pipeline == 1 ? l->schedule != SCHEDULE_1F1B : r->unpiped);
    case SPACE_VIRTUAL_STAGES:
        return !of->uneven_stages && framework_is_uneven(framework, l, of->layers);
    case SPACE_MICRO_BATCH:
        return r->divides_batch && schedule_kinds[l->schedule].in_groups &&
               !groups_divide(of->micro_batches, l->pipeline);
    case SPACE_SEQUENCE_PARALLEL:
        return l->sequence_parallel ? l->tensor == 1 || r->unsliced
                                    : of->experts && r->scattered_mixtures && l->tensor > 1;
    case SPACE_BARRIER: return !l->barrier;
    case SPACE_FUSED_EMBEDDING_SYNC: return l->fused_embedding_sync;
    case SPACE_LOCAL_LOSS_EVERY: return l->local_loss_every > 0;
    case SPACE_SLICE_COUNT: return l->slice_count > 1;
    case SPACE_CONTEXT_KIND: return l->context > 1 && !runs_context(r, of);
    case SPACE_GRID_ORDER: return layout_has_grid(l) && !layout_stands_as_in_axonn(l);
    case SPACE_GRID_GATHERS: return l->grid_gathers == GRID_EACH_STEP;
    case SPACE_OVERLAPPED_DISPATCH: return l->overlapped_dispatch && !overlaps_dispatch(r, l, of);
    default: return false;
    }
}

const char *framework_refusal(enum framework framework, const struct layout *l,
                              const struct framework_of *of)
{
    static const struct {
        enum space_key key;
        const char *name;
    } keys[] = {{SPACE_SCHEDULE, "schedule"},
                {SPACE_VIRTUAL_STAGES, "virtual_stages"},
                {SPACE_MICRO_BATCH, "micro_batch"},
                {SPACE_SEQUENCE_PARALLEL, "sequence_parallel"},
                {SPACE_BARRIER, "barrier"},
                {SPACE_FUSED_EMBEDDING_SYNC, "fused_embedding_sync"},
                {SPACE_LOCAL_LOSS_EVERY, "local_loss_every"},
                {SPACE_SLICE_COUNT, "slices"},
                {SPACE_GRID_ORDER, "grid_order"},
                {SPACE_GRID_GATHERS, "grid_gathers"},
                {SPACE_OVERLAPPED_DISPATCH, "overlapped_dispatch"}};
    const struct rules *r = &rules[framework];
    if (framework == FRAMEWORK_ANY) return NULL;
    if (layout_has_grid(l) && !r->grids) return "tensor_grid";
    if (l->in_flight[0]) return "in_flight"; // of none can a configuration say them
    bool sinks = of->sinks && r->plain_attention;
    if (!r->shares_keys && of->key_heads % layout_tensor_axis(l, 0)) return "tensor";
    if (l->context > 1 && !runs_context(r, of)) return "context";
    if (r->unpiped && l->pipeline > 1) return "pipeline";
    if (of->mtp_depth && r->whole_further && l->pipeline > 1) return "pipeline";
    if (of->tied && r->whole_tied && l->pipeline > 1) return "pipeline";
    if (of->mtp_depth && r->whole_further && l->context > 1) return "context";
    bool flexible = of->latent || of->windows || of->sinks;
    if (l->context > 1 && flexible && r->flexible_alone) return "context";
    if (l->context > 1 && r->each_tokens && of->sequence % (r->each_tokens * l->context))
        return "context";
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (framework_excludes(framework, l, keys[i].key, of)) return keys[i].name;
    if (framework_recomputes_alike(framework, l) && !layout_recomputes_alike(l)) return "recompute";
    if (l->overlapped_dispatch && framework_repeats_dispatch(layout_recompute(l)))
        return "overlapped_dispatch";
    const char *why = refusal_of_states(r, l, of->precision);
    return why ? why : refusal_of_experts(r, l, sinks);
}

bool framework_recomputes_alike(enum framework framework, const struct layout *l)
{
    if (framework == FRAMEWORK_ANY) return false;
    if (l->overlapped_dispatch) return true; // the setting decides whether it can be
    if (layout_stage_count(l) == 1) return false;
    return rules[framework].alike || (rules[framework].alike_on_ranks && l->virtual_stages > 1);
}

bool framework_recomputes(enum framework framework, enum recompute mode)
{
    if (framework == FRAMEWORK_ANY) return true;
    return mode >= RECOMPUTE_SETS ? rules[framework].modules
                                  : rules[framework].recompute & BIT(mode);
}

bool framework_runs_grids(enum framework framework) { return rules[framework].grids; }

bool layout_stands_as_in_axonn(const struct layout *l)
{
    struct layout own = *l;
    own.grid_order = AXONN_ORDER;
    for (int axis = 0; axis < 3; axis++)
        if (layout_tensor_axis(l, axis) > 1 &&
            layout_axis_stride(l, axis) != layout_axis_stride(&own, axis))
            return false;
    return true;
}

enum trainer framework_trainer(enum framework framework)
{
    return framework == FRAMEWORK_ANY ? TRAINER_MEGATRON : rules[framework].trainer;
}

enum status framework_check(const struct job *j, struct error *err)
{
    enum framework framework = j->space.framework;
    if (!j->space.given || framework == FRAMEWORK_ANY) return OK;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (j->recompute[mode] && !framework_recomputes(framework, (enum recompute)mode))
            return refuse(err, "recompute: expected what the space's framework %s can do, found %s",
                          framework_names[framework], recompute_names[mode]);
    bool titan = framework_trainer(framework) == TRAINER_TORCHTITAN; // reduces in float32 alone
    bool narrow = j->gradient_bytes_per_value == 2;
    if (titan && j->recompute[RECOMPUTE_SELECTIVE] && j->trainer != TRAINER_TORCHTITAN)
        return refuse(err,
                      "trainer: expected torchtitan, whose selective recomputation is of single "
                      "operators, for the space's framework, found %s",
                      trainer_names[j->trainer]);
    if (j->boundary_option_count || j->gradient_option_count)
        return refuse(err,
                      "boundary_options, gradient_options: expected none, as the space's framework "
                      "%s does not compress (\"any\" would), found %d and %d",
                      framework_names[framework], j->boundary_option_count,
                      j->gradient_option_count);
    if (j->precision > rules[framework].narrowest)
        return refuse(err,
                      "precision: expected %s or wider, as launch files of the space's framework "
                      "%s state no other (megatron's and nemo's do), found %s",
                      precision_names[rules[framework].narrowest], framework_names[framework],
                      precision_names[j->precision]);
    if ((titan && (j->precision == FP16 || narrow)) || (j->precision == FP32 && narrow))
        return refuse(err, "%s, as the space's framework %s has no other, found %s",
                      narrow ? "gradient_bytes_per_value: expected 4"
                             : "precision: expected bf16 or fp32",
                      framework_names[framework], narrow ? "2" : "fp16");
    if (!rules[framework].overlaps_dispatch && (j->dispatcher || j->graphs))
        return refuse(
            err,
            "dispatcher, graphs: expected all_to_all and none, as the launch files of the space's "
            "framework %s state no other (megatron's and nemo's do), found %s and %s",
            framework_names[framework], dispatcher_names[j->dispatcher], graphs_names[j->graphs]);
    if ((j->loss_in_place || j->fp8_activation_input) && framework != FRAMEWORK_NEMO)
        return refuse(err, "%s: expected false, as the space's framework %s has none (nemo has it)",
                      j->loss_in_place ? "loss_in_place" : "fp8_activation_input",
                      framework_names[framework]);
    if (j->exposed_input_gradients)
        return refuse(err, "exposed_input_gradients: expected false, as %s hides them",
                      framework_names[framework]);
    if (j->stopped_recompute)
        return refuse(err,
                      "stopped_recompute: expected false, as launch files of the space's framework "
                      "%s state no such checkpoints",
                      framework_names[framework]);
    if (job_tier_ways(j) > 1)
        return refuse(err,
                      "offload_percents, tier_options: expected none, as the space's framework %s "
                      "has one share for all stages at most (\"any\" would), found %d",
                      framework_names[framework], job_tier_ways(j) - 1);
    return OK;
}

// ---- switches of the trainer

// Megatron-LM: megatron/training/arguments.py (messages overlap "if interleaved schedule"; tensor
// collectives with --sequence-parallel), core/pipeline_parallel (messages are not scattered; with
// sequence parallelism they are parts anyway). Its fused loss keeps more than the plain one.
// torchtitan: torch.distributed.pipelining sends without waiting; asynchronous tensor parallelism
// needs a compiled model (torchtitan/distributed/tensor_parallel.py). DeepSpeed: blocking messages,
// of which each tensor rank sends its part (runtime/pipe/engine.py, pipe_partitioned).
bool *job_switch(struct job *j, enum trainer_switch s)
{
    switch (s) {
    case SWITCH_OVERLAPPED_MESSAGES: return &j->overlapped_messages;
    case SWITCH_OVERLAPPED_TENSOR: return &j->overlapped_tensor;
    case SWITCH_SCATTERED_MESSAGES: return &j->scattered_messages;
    case SWITCH_FUSED_LOSS: return &j->fused_loss;
    case SWITCH_COMPILED: return &j->compiled;
    case SWITCH_COUNT: break;
    }
    return NULL;
}

// Of a plain space all that the trainer gains from.
static bool any_or(const struct job *j, enum trainer trainer)
{
    enum framework framework = j->space.framework;
    return framework == FRAMEWORK_ANY || framework_trainer(framework) == trainer;
}

static bool has_messages_beside(const struct job *j)
{
    return any_or(j, TRAINER_TORCHTITAN) ||
           (any_or(j, TRAINER_MEGATRON) && j->layout.schedule == SCHEDULE_INTERLEAVED);
}

static bool has_sums_beside(const struct job *j)
{
    bool compiled = j->compiled || j->space.switches[SWITCH_COMPILED];
    return (any_or(j, TRAINER_MEGATRON) || (any_or(j, TRAINER_TORCHTITAN) && compiled)) &&
           (layout_has_grid(&j->layout) || (j->layout.sequence_parallel && j->layout.tensor > 1));
}

bool switches_has(const struct job *j, enum trainer_switch s)
{
    bool torch = any_or(j, TRAINER_TORCHTITAN);
    switch (s) {
    case SWITCH_OVERLAPPED_MESSAGES: return has_messages_beside(j);
    case SWITCH_OVERLAPPED_TENSOR: return has_sums_beside(j);
    case SWITCH_SCATTERED_MESSAGES: return any_or(j, TRAINER_DEEPSPEED);
    case SWITCH_FUSED_LOSS: return torch && j->trainer >= TRAINER_TORCHTITAN;
    case SWITCH_COMPILED: return torch && j->trainer == TRAINER_TORCHTITAN;
    case SWITCH_COUNT: break;
    }
    return false;
}

void switches_set(struct job *j)
{
    bool has[SWITCH_COUNT];
    for (int i = 0; i < SWITCH_COUNT; i++)
        has[i] = j->space.switches[i] && switches_has(j, (enum trainer_switch)i);
    for (int i = 0; i < SWITCH_COUNT; i++)
        if (has[i]) *job_switch(j, (enum trainer_switch)i) = true;
}

void switches_list(struct space *space)
{
    for (int i = 0; i < SWITCH_COUNT; i++) space->switches[i] = true;
}

// ---- GPUs: what they have, and from which on frameworks use it

static const struct { // times 10, by the beginning of the GPU's name; others are not judged
    const char *begins;
    int capability;
} gpus[] = {{"v100", 70},  {"t4", 75},     {"a100", 80},  {"a800", 80},  {"a10", 86}, {"a40", 86},
            {"l4", 89},    {"h100", 90},   {"h800", 90},  {"h20", 90},   {"gh", 90},  {"b100", 100},
            {"b200", 100}, {"gb200", 100}, {"b300", 103}, {"gb300", 103}};

// A GPU's compute capability times 10, by its name; 0: it is none of those known.
static int gpu_capability(const char *gpu)
{
    int found = 0;
    size_t longest = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(gpus); i++) {
        size_t length = strlen(gpus[i].begins);
        if (length > longest && !strncmp(gpu, gpus[i].begins, length))
            found = gpus[i].capability, longest = length;
    }
    return found;
}

// Causal attention that keeps no scores. Transformer Engine calls FlashAttention 2 and cuDNN's,
// which compute in 16 bits or fewer. torchtitan's is compiled (flexible attention, for which
// PyTorch wants 7.0), but in 0.2.2 that of Llama 3 and Qwen3, for which it allows PyTorch's calls
// of the two kernels and otherwise plain products. A DeepSpeed model may call PyTorch's
// memory-efficient one.
static int fuses_from(enum framework framework, const struct model *model)
{
    bool flexible = framework == FRAMEWORK_TORCHTITAN;
    if (framework == FRAMEWORK_ANY || framework == FRAMEWORK_DEEPSPEED)
        return framework == FRAMEWORK_ANY ? 0 : 60;
    for (int i = 0; framework == FRAMEWORK_TORCHTITAN_0_2 && i < model->run_count; i++)
        flexible |= model->shape.kv_rank || model->runs[i].window || model->runs[i].chunk;
    return flexible ? 70 : 80;
}

struct unfused_gpu framework_unfused_gpu(enum framework framework, enum precision precision,
                                         const struct model *model, const struct cluster *cluster,
                                         const struct costs *costs)
{
    static const char *const needs[] = {"compute capability 6.0", "compute capability 7.0",
                                        "compute capability 8.0", "16 bits"};
    int from = fuses_from(framework, model);
    bool narrow = from == 80 && precision == FP32;
    for (int g = 0; g < cluster->group_count && from; g++) {
        const char *gpu = cluster->groups[g].gpu;
        int has = gpu_capability(gpu);
        if ((narrow || (has && has < from)) && !costs_lack_precision(costs, gpu, precision))
            return (struct unfused_gpu){gpu, needs[narrow ? 3 : from / 10 - 6]};
    }
    return (struct unfused_gpu){NULL, NULL};
}

// Products of 8 bits and fewer: Transformer Engine (pytorch/quantization.py), torchtitan
// (components/quantization). Scales of 128 values are Hopper's; Blackwell takes them, too.
int precision_capability(enum precision precision)
{
    switch (precision) {
    case FP8: return 89;
    case FP8_BLOCK: return 90;
    case MXFP8:
    case NVFP4: return 100;
    default: return 0;
    }
}

// Where no GPU of the cluster has them. Costs that list them nevertheless were measured.
static enum status check_precision(const struct job *j, const struct cluster *cluster,
                                   const struct costs *costs, struct error *err)
{
    int needs = precision_capability(j->precision), first = gpu_capability(cluster->groups[0].gpu);
    for (int g = 0; g < cluster->group_count; g++) {
        const char *gpu = cluster->groups[g].gpu;
        const struct gpu_costs *known = costs_find_gpu(costs, gpu);
        int has = gpu_capability(gpu);
        if (!has || has >= needs || (known && costs_find_precision(known, j->precision))) return OK;
    }
    return refuse(
        err,
        "precision: expected one that %s has (compute capability %.1f), found %s, which needs %.1f",
        cluster->groups[0].gpu, first / 10.0, precision_names[j->precision], needs / 10.0);
}

enum status framework_check_gpus(const struct job *j, const struct model *model,
                                 const struct cluster *cluster, const struct costs *costs,
                                 struct error *err)
{
    TRY(check_precision(j, cluster, costs, err));
    enum framework framework = j->space.given ? j->space.framework : FRAMEWORK_ANY;
    struct unfused_gpu none = framework_unfused_gpu(framework, j->precision, model, cluster, costs);
    if (!j->layout.fused_attention || !none.gpu) return OK;
    return refuse(err,
                  "layout.fused_attention: expected false, as %s has no fused attention in %s for "
                  "%s (it needs %s), found true",
                  framework_names[framework], precision_names[j->precision], none.gpu, none.needs);
}
