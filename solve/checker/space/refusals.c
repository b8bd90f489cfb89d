// The rules by which a layout is no layout at all: docs/PROOFS.md 8, refused.
#include "solve/checker/space/space.h"

// Each tensor rank has some of the KV heads, or, where ranks may share one, one of them.
static bool splits_keys(const struct check_space *s, int64_t tensor, bool grid)
{
    for (int i = 0; i < s->key_head_count; i++) {
        int64_t heads = s->key_heads[i];
        bool shared = s->shares_keys && !grid && tensor > heads && tensor % heads == 0;
        if (heads % tensor && !shared) return false;
    }
    return true;
}

// Where context ranks exchange heads, each tensor rank's are enough for all of them.
static bool splits_heads(const struct check_space *s, const struct check_layout *l)
{
    int64_t ranks = (int64_t)l->value[KEY_TENSOR] * l->value[KEY_CONTEXT];
    if (check_context_of(s, l) != CONTEXT_BY_HEADS || l->value[KEY_CONTEXT] == 1) return true;
    for (int i = 0; i < s->key_head_count; i++)
        if (s->key_heads[i] % ranks) return false;
    return !s->has_blocks || s->heads % ranks == 0;
}

static const char *refusal_by_shape(const struct check_space *s, const struct check_layout *l)
{
    int64_t tensor = l->value[KEY_TENSOR] / (l->grid[0] ? (int64_t)l->grid[0] * l->grid[1] : 1),
            stages = (int64_t)l->value[KEY_PIPELINE] * l->value[KEY_TURNS];
    if (stages > s->layers) return "more stages than layers";
    const char *why = check_grid_refusal(s, l);
    if (why) return why;
    if (s->has_blocks && (s->heads % tensor || s->ffn % tensor))
        return "heads or widths not divisible by tensor";
    if (!splits_heads(s, l)) return "heads not divisible by tensor x context";
    if (!splits_keys(s, tensor, l->grid[0])) return "KV heads not divisible by tensor";
    if (s->own_widths % tensor) return "a run's own heads or widths not divisible by tensor";
    if (s->tower && l->value[KEY_CONTEXT] > 1) return "context ranks with a tower";
    if (s->ties_behind_tower && l->value[KEY_PIPELINE] > 1)
        return "a pipeline of a model that ties its embeddings behind a tower";
    for (int i = 0; i < s->mixture_count; i++) {
        const struct check_mixture *m = &s->mixtures[i];
        int64_t parts = l->value[KEY_EXPERT_TENSOR] ? l->value[KEY_EXPERT_TENSOR] : tensor;
        if (m->ffn % parts || m->shared_ffn % tensor)
            return "widths of experts not divisible by tensor";
        if (m->experts % l->value[KEY_EXPERT]) return "experts not divisible by their degree";
    }
    if ((l->value[KEY_EXPERT] > 1 || l->value[KEY_EXPERT_TENSOR]) && !s->has_mixtures)
        return "expert degree without experts";
    int64_t pool = check_devices_of_pool(s, l);
    if (l->value[KEY_POOL] && (!pool || pool % l->value[KEY_POOL]))
        return "a pool's devices not divisible by its degree";
    if (s->shares_pool && !l->value[KEY_BARRIER])
        return "a pool that layers share, without a barrier";
    if (s->shares_weights && (!l->value[KEY_BARRIER] || l->value[KEY_ZERO]))
        return "weights that layers share, without a barrier or sharded";
    return s->rule_stage >= stages || s->rule_layer >= s->layers
               ? "a rule about a stage or layer that does not exist"
               : NULL;
}

static const char *refusal_by_batch(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    int64_t together = (int64_t)v[KEY_DATA] * v[KEY_MICRO_BATCH],
            micro_batches = s->global_batch / together, tokens = 0;
    if (check_schedules[v[KEY_SCHEDULE]].in_groups && micro_batches < v[KEY_PIPELINE])
        return "schedule in groups: fewer micro-batches than ranks";
    for (int i = 0; i < v[KEY_SLICES]; i++) tokens += l->slice[i];
    if (v[KEY_SLICES] > 1) {
        if (s->looks_ahead) return "slices of a sequence whose tokens see later ones";
        if (tokens != s->sequence) return "slices do not add up to the sequence";
        if (v[KEY_CONTEXT] > 1) return "slices of a sequence that context splits";
        if (s->has_options) return "slices with compression, shares on the host or tiers";
    }
    if (s->sequence % v[KEY_CONTEXT]) return "sequence not divisible by context";
    int64_t divided = v[KEY_TENSOR] / (l->grid[0] ? l->grid[0] * l->grid[1] : 1);
    if (v[KEY_SEQUENCE_PARALLEL] && s->sequence / v[KEY_CONTEXT] % divided)
        return "sequence not divisible by context x tensor";
    if (s->global_batch % together) return "batch not divisible by data x micro_batch";
    return micro_batches > MOST_MICRO_BATCHES ? "too many micro-batches" : NULL;
}

static const char *refusal_by_schedule(const struct check_layout *l)
{
    const int *v = l->value, turns = v[KEY_TURNS], slices = v[KEY_SLICES];
    const struct check_schedule *schedule = &check_schedules[v[KEY_SCHEDULE]];
    if (schedule->turns ? turns != schedule->turns : turns < 2)
        return "stages of a rank do not fit the schedule";
    if (turns > 1 && v[KEY_PIPELINE] < 2 && !schedule->layered)
        return "several stages on a single rank";
    if (schedule->slices ? slices < 2 : slices != 1) return "slices do not fit the schedule";
    return slices > MOST_SLICES ? "too many slices" : NULL;
}

// What ranks on named nodes do not support (docs/FORMULAS.md 15).
static const char *refusal_by_nodes(const struct check_space *s, const struct check_layout *l)
{
    if (l->value[KEY_ZERO] > 1) return "weights or gradients sharded on nodes";
    if (l->in_flight[0]) return "lists of what is in flight on nodes";
    if (l->value[KEY_EXPERT] > 1 || l->value[KEY_EXPERT_TENSOR]) return "experts on nodes";
    if (!l->value[KEY_BARRIER]) return "no barrier on nodes";
    if (s->shares_pool || s->own_pool) return "memory layers on nodes";
    return check_schedules[l->value[KEY_SCHEDULE]].folds && s->ends_meet
               ? "the ends of a model that share weights on one rank of a node"
               : NULL;
}

// The layout in which all stages have the width.
static const char *refusal_by_width(const struct check_space *s, struct check_layout l,
                                    const struct check_width *w)
{
    int *v = l.value;
    if (v[KEY_TURNS] > 1) return "several stages of a rank, which have one width";
    v[KEY_TENSOR] = w->tensor, v[KEY_CONTEXT] = w->context, v[KEY_DATA] = w->data;
    if (!s->in_turn && v[KEY_MICRO_BATCH] % w->data)
        return "a micro-batch that the replicas of a width do not divide";
    if (!s->in_turn) v[KEY_MICRO_BATCH] /= w->data;
    const char *why = refusal_by_batch(s, &l);
    return why ? why : refusal_by_shape(s, &l);
}

const char *check_space_refusal(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    for (int key = 0; key <= KEY_DATA; key++)
        if (v[key] < 1 || v[key] > (key == KEY_PIPELINE ? MOST_STAGES : DEGREE_MOST))
            return "a degree out of range";
    if (v[KEY_EXPERT] < 1 || v[KEY_EXPERT] > DEGREE_MOST) return "a degree out of range";
    if (v[KEY_TURNS] < 1 || v[KEY_TURNS] > MOST_STAGES || v[KEY_MICRO_BATCH] < 1 ||
        v[KEY_MICRO_BATCH] > 1 << 20)
        return "stages of a rank or micro-batch out of range";
    if (v[KEY_RECOMPUTE] && !s->modes[v[KEY_RECOMPUTE] - 1])
        return "a setting of recomputation that is not offered";
    if (v[KEY_ZERO] < 0 || v[KEY_ZERO] > 3 || v[KEY_SLICES] < 1 || v[KEY_LOCAL] < 0)
        return "a setting out of range";
    if (v[KEY_EXPERT_TENSOR] &&
        (v[KEY_EXPERT_TENSOR] > DEGREE_MOST || v[KEY_TENSOR] % v[KEY_EXPERT_TENSOR]))
        return "expert_tensor does not divide tensor";
    if (v[KEY_EXPERT_TENSOR] && !v[KEY_SEQUENCE_PARALLEL])
        return "expert_tensor without sequence parallelism";
    if (check_parts_of_devices(l) % v[KEY_EXPERT])
        return "expert degree does not divide the ranks with a part of each expert";
    if (l->data_shard && (v[KEY_DATA] % l->data_shard || check_parts_of_devices(l) / v[KEY_EXPERT] %
                                                             (v[KEY_DATA] / l->data_shard)))
        return "data ranks not in whole groups that share states";
    if ((int64_t)v[KEY_PIPELINE] * v[KEY_TURNS] > MOST_STAGES) return "too many stages";
    const char *why = refusal_by_schedule(l);
    if (!why && s->of_nodes) why = refusal_by_nodes(s, l);
    if (why) return why;
    if ((__extension__(__int128) v[KEY_TENSOR] * v[KEY_CONTEXT]) * v[KEY_DATA] > 1000000000)
        return "too many devices for a stage";
    why = refusal_by_batch(s, l);
    if (!why) why = refusal_by_shape(s, l);
    for (int i = 0; i < s->width_count && !why; i++) why = refusal_by_width(s, *l, &s->widths[i]);
    return why;
}
