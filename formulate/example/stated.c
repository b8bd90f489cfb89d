// What the user states of a layout that a solve chooses otherwise: degrees and other keys that are
// fixed, and what is excluded by name.
#include <string.h>

#include "data/base/names.h"
#include "data/kinds/schedules.h"
#include "data/places/cluster_change.h"
#include "formulate/example/example.h"

// ---- what is fixed

#define AT(member) offsetof(struct stated_layout, member)
static const struct option_row rows[] = {
    {"--tensor", OPTION_COUNT, AT(layout.tensor), "tensor degree", 1, 1 << 10},
    {"--context", OPTION_COUNT, AT(layout.context), "context degree", 1, 1 << 10},
    {"--context-kind", OPTION_NAME, AT(context_kind),
     "how context ranks pass on keys and values (default: a space's choice; else ring, with "
     "torchtitan all_gather, and so with Megatron Core for models with windows, with attention "
     "sinks all_to_all)",
     .names = context_kind_names},
    {"--data", OPTION_COUNT, AT(layout.data), "data degree (default: as high as the GPUs allow)", 0,
     1 << 16},
    {"--pipeline", OPTION_COUNT, AT(layout.pipeline), "pipeline degree", 1, STAGES_MAX},
    {"--expert", OPTION_COUNT, AT(layout.expert), "expert-parallel degree", 1, 1 << 16},
    {"--expert-tensor", OPTION_COUNT, AT(layout.expert_tensor),
     "tensor degree of every expert (default: that of --tensor)", 1, 1 << 10},
    {"--dispatcher", OPTION_NAME, AT(dispatcher),
     "how experts' tokens travel (default: all_to_all)", .names = dispatcher_names},
    {"--overlapped-dispatch", OPTION_FLAG, AT(layout.overlapped_dispatch),
     "dispatch experts' tokens beside another micro-batch's passes (default: a space's choice)"},
    {"--graphs", OPTION_NAME, AT(graphs), "what CUDA graphs replay (default: none)",
     .names = graphs_names},
    {"--loss-in-place", OPTION_FLAG, AT(loss_in_place),
     "with NeMo: Transformer Engine's loss, whose gradient takes the place of the logits"},
    {"--micro-batch", OPTION_COUNT, AT(layout.micro_batch), "sequences per micro-batch", 1,
     1 << 16},
    {"--schedule", OPTION_NAME, AT(layout.schedule), "pipeline schedule", .names = schedule_names},
    {"--virtual-stages", OPTION_COUNT, AT(layout.virtual_stages), "stages per pipeline rank", 1,
     STAGES_MAX},
    {"--uneven-stages", OPTION_FLAG, AT(uneven_stages),
     "with Megatron and NeMo: a space also has interleaved stages whose number does not divide the "
     "layers"},
    {"--zero", OPTION_COUNT, AT(layout.zero),
     "ZeRO stage: shard optimizer state (1), also gradients (2), also weights (3) (default: 1; "
     "torchtitan: 2, axonn: 0)",
     0, 3},
    {"--gradient-sync", OPTION_NAME, AT(layout.gradient_sync),
     "sync gradients after the last backward pass or overlapped with it (default: overlapped; "
     "with DeepSpeed's pipeline and AxoNN: exposed)",
     .names = gradient_sync_names},
    {"--offload-optimizer", OPTION_FLAG, AT(layout.offload_optimizer),
     "keep optimizer state in host memory and update it there"},
    {"--no-sequence-parallel", OPTION_FLAG, AT(whole_activations),
     "do not shard activations between layers over tensor ranks"},
    {"--fused-embedding-sync", OPTION_FLAG, AT(layout.fused_embedding_sync),
     "use a single all-reduce for tied embeddings"},
    {"--without", OPTION_TEXT, AT(without),
     "exclude offload, recompute or a mode of it, a degree (tensor, context ...), a schedule "
     "(interleaved ...), zero-3 ..., or a node as a hostfile names it; may be repeated",
     .many = 64},
};
#undef AT
const struct option_table stated_layout_options = OPTION_TABLE(rows);

static bool is_stated(const struct stated_layout *s, enum space_key key)
{
    static const struct stated_layout nothing = {LAYOUT_UNSTATED};
    if (key == SPACE_SEQUENCE_PARALLEL) return s->whole_activations;
    return layout_value(&s->layout, key) != layout_value(&nothing.layout, key);
}

void layout_state(struct layout *layout, struct space *space, const struct stated_layout *stated)
{
    for (enum space_key key = 0; key < SPACE_KEY_COUNT; key++) {
        if (!is_stated(stated, key)) continue;
        layout_set_value(layout, key, layout_value(&stated->layout, key));
        space->axes[key] = (struct space_axis){.kind = AXIS_FIXED};
    }
    space->uneven_stages |= stated->uneven_stages;
}

// ---- what is excluded

// The key of which a name excludes one value, or all but one ("tensor": all but 1).
static const struct exclusion {
    const char *name;
    enum space_key key;
    int value;
    bool only; // the one that is left
} exclusions[] = {
    {"offload", SPACE_OFFLOAD_OPTIMIZER, 0, true},
    {"tensor", SPACE_TENSOR, 1, true},
    {"context", SPACE_CONTEXT, 1, true},
    {"pipeline", SPACE_PIPELINE, 1, true},
    {"data", SPACE_DATA, 1, true},
    {"expert-tensor", SPACE_EXPERT_TENSOR, 0, true},
    {"expert", SPACE_EXPERT, 1, true},
    {"sequence-parallel", SPACE_SEQUENCE_PARALLEL, 0, true},
    {"zero", SPACE_ZERO, 0, true},
    {"zero-0", SPACE_ZERO, 0, false},
    {"zero-1", SPACE_ZERO, 1, false},
    {"zero-2", SPACE_ZERO, 2, false},
    {"zero-3", SPACE_ZERO, 3, false},
    {"overlapped-dispatch", SPACE_OVERLAPPED_DISPATCH, 0, true},
    {"overlapped-sync", SPACE_GRADIENT_SYNC, SYNC_OVERLAPPED, false},
};
static const char every_mode[] = "recompute";

enum { NAMES_MOST = 128 };

static int names_of(const char **names)
{
    int count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(exclusions); i++) names[count++] = exclusions[i].name;
    names[count++] = every_mode;
    for (int mode = RECOMPUTE_NONE + 1; recompute_names[mode]; mode++)
        if (mode < RECOMPUTE_SWAP) names[count++] = recompute_names[mode];
    for (int kind = 0; schedule_names[kind]; kind++) names[count++] = schedule_names[kind];
    return count;
}

// "first-layers" as "first_layers".
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b))) return false;
    return *a == *b;
}

static enum status unknown_name(const char *word, const struct cluster *cluster,
                                struct arena *arena, struct error *err)
{
    const char *names[NAMES_MOST];
    int count = names_of(names);
    names[count++] = cluster_nearest_node(cluster, word, arena);
    int nearest = name_nearest(word, names, count);
    return refuse(err,
                  "--without: expected what a space of layouts may lack (offload, recompute, a "
                  "degree, a schedule ...) or a node of the cluster as a hostfile names it, found "
                  "'%.80s'; the nearest is %s",
                  word, names[nearest]);
}

// The values that an axis has, with all of them listed.
static int values_of(const struct space_axis *axis, enum space_key key, int *values)
{
    int count = key == SPACE_SCHEDULE ? SCHEDULE_KIND_COUNT : key == SPACE_ZERO ? 4 : 2;
    if (axis->kind == AXIS_LIST)
        return memcpy(values, axis->values, (size_t)axis->count * sizeof *values), axis->count;
    for (int i = 0; i < count; i++) values[i] = i;
    return count;
}

static enum status exclude(struct layout *layout, struct space *space, const struct exclusion *x,
                           const struct stated_layout *stated, struct arena *arena,
                           struct error *err)
{
    struct space_axis *axis = &space->axes[x->key];
    int values[NAMES_MOST], count = 0;
    bool fixed = axis->kind == AXIS_FIXED, is_it = layout_value(layout, x->key) == x->value;
    if (is_stated(stated, x->key) ? is_it != x->only : fixed && !x->only && is_it)
        return refuse(err,
                      "--without %s: %s is fixed at a value that this excludes; state only one of "
                      "them",
                      x->name, space_key_names[x->key]);
    if (x->only) {
        layout_set_value(layout, x->key, x->value);
        *axis = (struct space_axis){.kind = AXIS_FIXED};
        return OK;
    }
    if (fixed) return OK;
    int all = values_of(axis, x->key, values);
    for (int i = 0; i < all; i++)
        if (values[i] != x->value) values[count++] = values[i];
    if (!count)
        return refuse(err, "--without %s: no %s would be left", x->name, space_key_names[x->key]);
    *axis = (struct space_axis){AXIS_LIST, TAKE_COPY(arena, values, count), count};
    return OK;
}

static bool exclude_mode(bool *recompute, const char *word)
{
    bool all = same_name(word, every_mode), found = all;
    for (int mode = RECOMPUTE_NONE + 1; recompute_names[mode]; mode++)
        if (all || same_name(word, recompute_names[mode])) recompute[mode] = false, found = true;
    return found;
}

static enum status exclude_word(struct layout *layout, struct space *space, const char *word,
                                const struct stated_layout *stated, const struct cluster *cluster,
                                struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LENGTH(exclusions); i++)
        if (same_name(word, exclusions[i].name))
            return exclude(layout, space, &exclusions[i], stated, arena, err);
    for (int kind = 0; schedule_names[kind]; kind++) {
        const struct exclusion x = {schedule_names[kind], SPACE_SCHEDULE, kind, false};
        if (same_name(word, x.name)) return exclude(layout, space, &x, stated, arena, err);
    }
    return unknown_name(word, cluster, arena, err);
}

enum status layout_exclude(struct layout *layout, struct space *space, bool *recompute,
                           const struct stated_layout *stated, const struct cluster *cluster,
                           struct arena *arena, struct error *err)
{
    for (int i = 0; i < stated->without.count; i++) {
        const char *word = stated->without.items[i];
        if (exclude_mode(recompute, word)) continue;
        TRY(exclude_word(layout, space, word, stated, cluster, arena, err));
    }
    return OK;
}
