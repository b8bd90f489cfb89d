// What the frameworks run, as stated in docs/FORMATS.md (job): one predicate for each framework,
// on a layout as it is. The planner's table is data/inputs/framework.c.
#include "solve/checker/space/space.h"

const char *const check_framework_names[] = {"any",  "megatron",       "torchtitan", "deepspeed",
                                             "nemo", "torchtitan-0.2", "axonn",      NULL};

const char *const check_context_names[] = {"ring", "all_to_all", "all_gather", NULL};

enum check_context check_context_of(const struct check_space *s, const struct check_layout *l)
{
    int own = l->value[KEY_CONTEXT_KIND];
    return own ? (enum check_context)(own - 1) : s->context_kind;
}

static const struct check_schedule *schedule_of(const struct check_layout *l)
{
    return &check_schedules[l->value[KEY_SCHEDULE]];
}

// None of them learns from local losses, fuses the ends' embedding syncs, or continues before all
// ranks are done; AxoNN alone splits a product by more than one axis. (The walk handles a single
// rank's schedule and sequence parallelism.)
static bool is_common(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    if (l->grid[0] && s->framework != RUN_BY_AXONN) return false;
    return v[KEY_LOCAL] == 0 && !v[KEY_FUSED_EMBEDDING] && v[KEY_BARRIER];
}

// What is sent to experts, beside the passes of another micro-batch that the same rank has in hand:
// with stages of its own to go on with, or with all of them. Layers are not passed again as a
// whole, nor are their experts, weights are of 16 bits, and the model is Megatron's GPT, not its
// hybrid.
static bool dispatches_beside(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    int mode = v[KEY_RECOMPUTE] - 1;
    bool in_hand = v[KEY_PIPELINE] == 1 || v[KEY_TURNS] > 1;
    return v[KEY_EXPERT] > 1 && !s->parts && s->narrow && s->further_tokens < 2 && in_hand &&
           mode >= 0 && !check_repeats_experts(mode);
}

// 1F1B, or interleaved over equal stages, where the first and the last layer may or may not count,
// unless the space says that they need not be equal;
// the distributed optimizer or none, and in host memory only the distributed one. Mixtures are
// trained only on scattered tokens. Sinks and windows are not passed round context ranks, and
// biases of experts want whole experts.
static bool megatron_runs(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    int stages = v[KEY_PIPELINE] * v[KEY_TURNS];
    bool equal = v[KEY_TURNS] == 1 || (stages <= s->layers && s->layers % stages <= 2);
    if (v[KEY_ZERO] > 1 || (v[KEY_OFFLOAD] && v[KEY_ZERO] != 1)) return false;
    if (s->has_mixtures && v[KEY_TENSOR] > 1 && !v[KEY_SEQUENCE_PARALLEL]) return false;
    enum check_context context = check_context_of(s, l);
    if (s->windows && v[KEY_CONTEXT] > 1 && context == CONTEXT_BY_STEPS) return false;
    if (s->sinks && ((v[KEY_CONTEXT] > 1 && context != CONTEXT_BY_HEADS) ||
                     (v[KEY_TENSOR] > 1 && v[KEY_EXPERT_TENSOR] != 1)))
        return false;
    return schedule_of(l)->in_megatron && (equal || s->uneven);
}

// Interleaved in rounds: torch takes floor(micro-batches / ranks) of them, all of one size.
static bool rounds_are_equal(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    int64_t each = s->global_batch / ((int64_t)v[KEY_DATA] * v[KEY_MICRO_BATCH]);
    if (!schedule_of(l)->in_groups) return true;
    return each >= v[KEY_PIPELINE] && each % (each / v[KEY_PIPELINE]) == 0;
}

// Megatron Core alone gathers the keys that several tensor ranks need, of a grid's first axis.
static bool splits_keys(const struct check_space *s, const struct check_layout *l)
{
    int ranks = l->value[KEY_TENSOR] / (l->grid[0] ? l->grid[0] * l->grid[1] : 1);
    for (int i = 0; i < s->key_head_count; i++)
        if (s->key_heads[i] % ranks) return false;
    return true;
}

// Context ranks of compiled attention take all keys and values at once, for whole blocks of 128
// tokens each; 0.2.2 has them for what PyTorch's own attention does, which is none of latents,
// windows and sinks, and there step by step, too.
static bool passes_keys(const struct check_space *s, const struct check_layout *l)
{
    bool early = s->framework == RUN_BY_TORCHTITAN_0_2;
    enum check_context context = check_context_of(s, l);
    if (l->value[KEY_CONTEXT] == 1) return true;
    if (early && (s->latents || s->windows || s->sinks)) return false;
    if (early) return context != CONTEXT_BY_HEADS;
    return context == CONTEXT_AT_ONCE && s->sequence % (128 * (int64_t)l->value[KEY_CONTEXT]) == 0;
}

// FSDP2, kept whole between forward and backward or not, with syncs that overlap the backward; or
// whole weights, where nothing would shard them or there are only replicas (DDP), and every rank
// all of the experts.
static bool torchtitan_runs(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    bool alone = v[KEY_DATA] == 1 && v[KEY_CONTEXT] == 1,
         replicas = v[KEY_TENSOR] == 1 && v[KEY_CONTEXT] == 1 && v[KEY_PIPELINE] == 1;
    if (!schedule_of(l)->in_torchtitan || !rounds_are_equal(s, l)) return false;
    if (v[KEY_OFFLOAD] || !v[KEY_OVERLAPPED]) return false;
    if (!passes_keys(s, l)) return false;
    if (v[KEY_EXPERT] > 1 && v[KEY_ZERO] == 0) return false;
    // An expert is whole, or in as many parts as the rest; in a mesh of its own only if it is
    // spread.
    if (v[KEY_EXPERT_TENSOR] && (v[KEY_EXPERT_TENSOR] > 1 || v[KEY_EXPERT] == 1)) return false;
    return v[KEY_ZERO] == 0 ? alone || replicas : v[KEY_ZERO] != 1;
}

// torchtitan 0.2.2 computes with fp32 weights in 16 bits where FSDP shards them or where it has no
// other parallelism.
static bool computes_narrow(const struct check_layout *l)
{
    const int *v = l->value;
    return v[KEY_DATA] > 1 || v[KEY_CONTEXT] > 1 || (v[KEY_TENSOR] == 1 && v[KEY_PIPELINE] == 1);
}

// Later ones leave experts that are spread whole.
static bool keeps_experts_whole(const struct check_layout *l)
{
    const int *v = l->value;
    return v[KEY_EXPERT] == 1 || v[KEY_TENSOR] == 1 || v[KEY_EXPERT_TENSOR] == 1;
}

// Layers that predict further tokens follow the last in one module, and see all of a sequence.
static bool keeps_further_whole(const struct check_space *s, const struct check_layout *l)
{
    return !s->further_tokens || (l->value[KEY_PIPELINE] == 1 && l->value[KEY_CONTEXT] == 1);
}

// With its pipeline: 1F1B, ZeRO 1 at most, syncs after the backward. Without: every ZeRO stage;
// those that shard something may overlap the backward with their syncs, and may offload. Experts
// on several ranks need all layers in one module, and at stage 3 unsplit weights.
static bool deepspeed_runs(const struct check_layout *l)
{
    const int *v = l->value;
    bool piped = v[KEY_PIPELINE] > 1, shards = v[KEY_ZERO] > 0;
    if (v[KEY_CONTEXT] != 1 || !schedule_of(l)->in_deepspeed) return false;
    if (v[KEY_EXPERT_TENSOR]) return false;
    if (v[KEY_EXPERT] > 1 && (piped || (v[KEY_ZERO] == 3 && v[KEY_TENSOR] != 1))) return false;
    if (piped && (v[KEY_ZERO] > 1 || v[KEY_OVERLAPPED])) return false;
    return shards || !(v[KEY_OVERLAPPED] || v[KEY_OFFLOAD]);
}

// One stage of whole states but for the parts of a grid's third axis, which are gathered in a pass
// or for a micro-batch; all gradients are summed after the last backward pass. Rows of ranks, the
// innermost, are the second axis.
static bool axonn_runs(const struct check_layout *l)
{
    static const int ones[] = {KEY_PIPELINE, KEY_CONTEXT, KEY_EXPERT, KEY_TURNS},
                     zeros[] = {KEY_EXPERT_TENSOR, KEY_ZERO, KEY_OVERLAPPED, KEY_OFFLOAD,
                                KEY_SEQUENCE_PARALLEL};
    for (size_t i = 0; i < ARRAY_LENGTH(ones); i++)
        if (l->value[ones[i]] != 1) return false;
    for (size_t i = 0; i < ARRAY_LENGTH(zeros); i++)
        if (l->value[zeros[i]]) return false;
    return l->value[KEY_GRID_GATHERS] < 2 && (!l->grid[0] || check_has_order(l, "2-1-3"));
}

// Megatron passes messages beside the passes of several stages of a rank, and its fused loss keeps
// more than the plain one; torchtitan's chunks beside products are made by the compiler; DeepSpeed
// waits for its messages, and sends them in parts. None of this makes a layout slower or larger.
struct check_switches check_switches(enum check_framework framework, const struct check_layout *l,
                                     bool titan, bool own, bool compiles)
{
    const int *v = l->value;
    bool chunks = l->grid[0] || (v[KEY_SEQUENCE_PARALLEL] && v[KEY_TENSOR] > 1);
    switch (framework) {
    case RUN_BY_ANY: return (struct check_switches){true, chunks, true, titan || own, titan};
    case RUN_BY_NEMO:
    case RUN_BY_MEGATRON: return (struct check_switches){v[KEY_TURNS] > 1, chunks};
    case RUN_BY_TORCHTITAN_0_2:
    case RUN_BY_TORCHTITAN:
        return (struct check_switches){true, chunks && compiles, false, titan || own, titan};
    case RUN_BY_DEEPSPEED: return (struct check_switches){.parts = true};
    case RUN_BY_AXONN: return (struct check_switches){.sums = l->grid[0] > 0};
    }
    return (struct check_switches){false};
}

// Megatron's flags are a process's, and with several stages its launchers give all of them the
// same; the others configure the whole model.
bool check_sets_recomputation(const struct check_space *s, const struct check_layout *l)
{
    bool several = l->value[KEY_PIPELINE] > 1 || l->value[KEY_TURNS] > 1;
    if (s->framework != RUN_BY_ANY && l->value[KEY_BESIDE]) return true; // it depends on it
    switch (s->framework) {
    case RUN_BY_ANY: return false;
    case RUN_BY_MEGATRON: return l->value[KEY_TURNS] > 1;
    default: return several;
    }
}

bool check_is_run(const struct check_space *s, const struct check_layout *l)
{
    if (check_sets_recomputation(s, l) && !l->value[KEY_RECOMPUTE]) return false;
    if (s->framework == RUN_BY_ANY) return true;
    if (l->in_flight[0]) return false; // no configuration says it
    bool core = s->framework == RUN_BY_MEGATRON || s->framework == RUN_BY_NEMO;
    if (l->value[KEY_BESIDE] && !(core && dispatches_beside(s, l))) return false;
    switch (s->framework) {
    case RUN_BY_ANY: break;
    case RUN_BY_NEMO: // it configures Megatron Core
    case RUN_BY_MEGATRON: return is_common(s, l) && megatron_runs(s, l);
    case RUN_BY_TORCHTITAN_0_2: // a single rank has autocast, FSDP its own mixed precision
        return is_common(s, l) && splits_keys(s, l) && torchtitan_runs(s, l) &&
               (!s->narrow || computes_narrow(l));
    case RUN_BY_TORCHTITAN:
        return is_common(s, l) && splits_keys(s, l) && torchtitan_runs(s, l) &&
               keeps_experts_whole(l) && keeps_further_whole(s, l) &&
               !(s->tied && l->value[KEY_PIPELINE] > 1);
    case RUN_BY_DEEPSPEED: return is_common(s, l) && splits_keys(s, l) && deepspeed_runs(l);
    case RUN_BY_AXONN: return is_common(s, l) && splits_keys(s, l) && axonn_runs(l);
    }
    return false;
}
