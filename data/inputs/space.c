// Walks the space: one level per key, outermost first, whose values follow from those outside it.
// The order is part of the format of every document that identifies a layout by its number.
#include "data/inputs/space.h"

#include <assert.h>
#include <string.h>

#include "data/inputs/job_fields.h"
#include "data/kinds/in_flight.h"
#include "data/kinds/schedules.h"

enum { VALUES_MAX = 4096 };

struct walk {
    int (*values)[VALUES_MAX]; // by key: of those that no list states
    const struct space *space;
    const struct space_limits *limits;
    space_visitor *visit;
    void *argument;
    struct layout layout; // filled from the outside to the inside
    int64_t number;
    int deepest; // the innermost key that had a layout so far
    bool stopped;
};

// ---- the values of one key

static int divisors(int64_t n, int64_t above, int *values)
{
    int count = 0;
    for (int64_t i = above + 1; i <= n && i <= DEGREE_MAX && count < VALUES_MAX; i++)
        if (n % i == 0) values[count++] = (int)i;
    return count;
}

static int range(int low, int high, int *values)
{
    for (int i = low; i <= high; i++) values[i - low] = i;
    return high - low + 1;
}

// Stages per rank: the divisors of its number of layers, for the shorter ranks or for the longer
// ones.
static int virtual_values(const struct walk *w, int *values)
{
    int p = w->layout.pipeline, low = w->limits->layers / p, high = (w->limits->layers + p - 1) / p,
        count = 0;
    for (int v = 2; v <= high && v * p <= STAGES_MAX; v++)
        if ((low && low % v == 0) || high % v == 0) values[count++] = v;
    return count;
}

// The parts of the sequence of which slices consist; 0: all slices are equal, or as in the layout.
static int parts_of_sequence(const struct walk *w)
{
    bool chosen = w->space->slice_tokens && w->space->axes[SPACE_SLICE_COUNT].kind != AXIS_FIXED;
    return chosen ? (int)(w->limits->sequence / w->space->slice_tokens) : 0;
}

static int slice_values(const struct walk *w, int *values)
{
    int parts = parts_of_sequence(w);
    if (parts) return parts < 2 ? 0 : range(2, parts < SLICES_MAX ? parts : SLICES_MAX, values);
    values[0] = 2, values[1] = 4, values[2] = 8;
    return 3;
}

// Whole experts, or split as the rest; a tensor degree of experts that is tensor's own is 0.
static int expert_tensor_values(const struct walk *w, int *values)
{
    bool whole = w->limits->experts && !layout_has_grid(&w->layout) && w->layout.tensor > 1;
    if (whole) values[0] = 1;
    return values[whole] = 0, whole + 1;
}

// Ranks of the fold that share the experts equally; a model without experts has one value.
static int expert_values(const struct walk *w, int *values)
{
    int64_t ranks = layout_expert_ranks(&w->layout), experts = w->limits->experts;
    int count = 0, kept = 0;
    if (!experts) return values[0] = 1;
    count = divisors(ranks, 0, values);
    for (int i = 0; i < count; i++)
        if (experts % values[i] == 0) values[kept++] = values[i];
    return kept;
}

// Some of a pool's devices, and all of them: 0.
static int pool_values(const struct walk *w, int *values)
{
    int64_t devices = layout_pool_devices(&w->layout, w->limits->pools);
    int count = divisors(devices, 0, values), all = count && values[count - 1] == devices;
    return values[count -= all || count == VALUES_MAX] = 0, count + 1;
}

static int order_values(const struct walk *w, int *values)
{
    return layout_orders(&w->layout, values);
}

static int micro_batch_values(const struct walk *w, int *values)
{
    return divisors(w->limits->global_batch / w->layout.data, 0, values);
}

// Settings of all stages: the offered modes. One that swaps counts layers twice, so it is none.
static int setting_values(const struct walk *w, int *values)
{
    int count = 0;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (mode == RECOMPUTE_NONE ||
            (w->limits->recompute && w->limits->recompute[mode] && mode != RECOMPUTE_SWAP))
            values[count++] = 1 + mode;
    return count;
}

struct framework_of space_framework_of(const struct space_limits *limits, const struct layout *l)
{
    return (struct framework_of){
        .layers = limits->layers,
        .micro_batches = limits->global_batch / ((int64_t)l->data * l->micro_batch),
        .precision = limits->precision,
        .context_kind = l->context_kind ? (enum context_kind)(l->context_kind - 1)
                                        : limits->context_kind,
        .mtp_depth = limits->mtp_depth,
        .tied = limits->tied,
        .sinks = limits->sinks,
        .windows = limits->windows,
        .hybrid = limits->hybrid,
        .latent = limits->latent,
        .sequence = limits->sequence,
        .experts = limits->experts > 0,
        .key_heads = limits->key_heads,
        .uneven_stages = limits->uneven_stages};
}

// All keys and values at once is never faster than a ring, so only where the framework has none.
static int context_kind_values(const struct walk *w, int *values)
{
    struct layout ring = w->layout;
    int64_t heads = w->limits->key_heads, ranks = (int64_t)ring.tensor * ring.context;
    ring.context_kind = 1 + CONTEXT_RING;
    struct framework_of of = space_framework_of(w->limits, &ring);
    bool lacks = framework_excludes(w->space->framework, &ring, SPACE_CONTEXT_KIND, &of);
    bool both = heads && heads % ranks == 0;
    values[0] = 1 + (lacks ? CONTEXT_ALL_GATHER : CONTEXT_RING);
    if (both) values[1] = 1 + CONTEXT_ALL_TO_ALL;
    return 1 + both;
}

// ---- the keys

// Where a key is in a layout, and its sensible values, given the keys outside it: those that
// `every` writes (at most VALUES_MAX; returned: how many), or 0 to count - 1. Of the degrees they
// follow from the devices.
static const struct key {
    size_t offset;
    bool flag; // a bool in the layout; otherwise an int
    int count;
    int (*every)(const struct walk *w, int *values);
} keys[] = {
#define NUMBER(member) offsetof(struct layout, member), false
#define FLAG(member) offsetof(struct layout, member), true, 2, NULL
    [SPACE_TENSOR] = {NUMBER(tensor), 0, NULL},
    [SPACE_CONTEXT] = {NUMBER(context), 0, NULL},
    [SPACE_PIPELINE] = {NUMBER(pipeline), 0, NULL},
    [SPACE_DATA] = {NUMBER(data), 0, NULL},
    [SPACE_EXPERT_TENSOR] = {NUMBER(expert_tensor), 0, expert_tensor_values},
    [SPACE_EXPERT] = {NUMBER(expert), 0, expert_values},
    [SPACE_SCHEDULE] = {NUMBER(schedule), SCHEDULE_KIND_COUNT, NULL},
    [SPACE_VIRTUAL_STAGES] = {NUMBER(virtual_stages), 0, virtual_values},
    [SPACE_MICRO_BATCH] = {NUMBER(micro_batch), 0, micro_batch_values},
    [SPACE_SEQUENCE_PARALLEL] = {FLAG(sequence_parallel)},
    [SPACE_ZERO] = {NUMBER(zero), 4, NULL},
    [SPACE_GRADIENT_SYNC] = {NUMBER(gradient_sync), 2, NULL},
    [SPACE_OFFLOAD_OPTIMIZER] = {FLAG(offload_optimizer)},
    [SPACE_BARRIER] = {FLAG(barrier)},
    [SPACE_FUSED_EMBEDDING_SYNC] = {FLAG(fused_embedding_sync)},
    [SPACE_LOCAL_LOSS_EVERY] = {NUMBER(local_loss_every), 2, NULL},
    [SPACE_SLICE_COUNT] = {NUMBER(slice_count), 0, slice_values},
    [SPACE_CONTEXT_KIND] = {NUMBER(context_kind), 0, context_kind_values},
    [SPACE_OVERLAPPED_DISPATCH] = {FLAG(overlapped_dispatch)},
    [SPACE_POOL] = {NUMBER(pool), 0, pool_values},
    [SPACE_GRID_ORDER] = {NUMBER(grid_order), 0, order_values},
    [SPACE_GRID_GATHERS] = {NUMBER(grid_gathers), 3, NULL},
    [SPACE_RECOMPUTE] = {NUMBER(recompute), 0, setting_values},
#undef NUMBER
#undef FLAG
};
static_assert(ARRAY_LENGTH(keys) == SPACE_KEY_COUNT, "every key");
static_assert(sizeof(enum gradient_sync) == sizeof(int), "written as a number");
static_assert(sizeof(enum grid_gathers) == sizeof(int), "written as a number");

static int get_value(const struct layout *l, enum space_key key)
{
    const char *at = (const char *)l + keys[key].offset;
    int value;
    if (keys[key].flag) return *(const bool *)at;
    memcpy(&value, at, sizeof value);
    return value;
}

int layout_value(const struct layout *l, enum space_key key) { return get_value(l, key); }

static uint64_t hash_with(uint64_t hash, int value)
{
    hash = (hash ^ (uint64_t)value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

uint64_t layout_hash(const struct layout *l)
{
    uint64_t hash = 0;
    for (int key = 0; key < SPACE_KEY_COUNT; key++) hash = hash_with(hash, get_value(l, key));
    for (int i = 0; i < l->slice_count && l->slice_count > 1; i++)
        hash = hash_with(hash, l->slices[i]);
    for (int i = 0; i < LISTED_STAGES_MAX && l->in_flight[i]; i++)
        hash = hash_with(hash, l->in_flight[i]);
    return hash_with(hash_with(hash, l->grid_depth), l->grid_rows);
}

void layout_set_value(struct layout *l, enum space_key key, int value)
{
    char *at = (char *)l + keys[key].offset;
    if (key == SPACE_EXPERT_TENSOR && value == l->tensor) value = 0;
    if (keys[key].flag) *(bool *)at = value;
    else memcpy(at, &value, sizeof value);
}

// A degree divides the devices that those outside it leave; data takes all of them, unless fewer
// may be used.
static int degree_values(const struct walk *w, enum space_key key, int *values)
{
    int64_t rest = w->limits->devices;
    for (int outer = 0; outer < (int)key; outer++) rest /= get_value(&w->layout, outer);
    if (key < SPACE_DATA || w->space->fewer_devices) return divisors(rest, 0, values);
    return values[0] = (int)rest, rest <= DEGREE_MAX;
}

static int every_value(const struct walk *w, enum space_key key, int *values)
{
    if (key <= SPACE_DATA) return degree_values(w, key, values);
    return keys[key].every ? keys[key].every(w, values) : range(0, keys[key].count - 1, values);
}

// Equal slices; if the sequence does not divide evenly, the last ones are one token shorter.
static void set_slices(struct layout *l, int count, int64_t sequence)
{
    l->slice_count = count;
    memset(l->slices, 0, sizeof l->slices);
    for (int i = 0; i < count && count > 1; i++)
        l->slices[i] = (int)(sequence / count + (i < sequence % count));
}

static void set_value(struct walk *w, enum space_key key, int value)
{
    struct layout *l = &w->layout;
    if (key == SPACE_CONTEXT_KIND && value == 1 + (int)w->limits->context_kind) value = 0;
    if (key == SPACE_POOL && value == layout_pool_devices(l, w->limits->pools)) value = 0;
    layout_set_value(l, key, value);
    if (key == SPACE_LOCAL_LOSS_EVERY) l->stored_inputs = value && w->limits->layout->stored_inputs;
    if (key == SPACE_RECOMPUTE)
        l->recomputed_layers =
            value == w->limits->layout->recompute ? w->limits->layout->recomputed_layers : 0;
    if (key != SPACE_SLICE_COUNT) return;
    if (w->space->axes[key].kind != AXIS_FIXED || value == 1)
        set_slices(l, value, w->limits->sequence);
    else
        memcpy(l->slices, w->limits->layout->slices, sizeof l->slices); // another schedule had none
}

// What the schedule determines: stages per rank, slices. What has no meaning in a framework: the
// schedule of a single rank, sequence parallelism of one rank, in a grid of one along the first
// axis. One context rank passes nothing on, and one expert rank dispatches nothing.
static bool is_decided(const struct walk *w, enum space_key key, int *value)
{
    const struct schedule_properties *kind = &schedule_kinds[w->layout.schedule];
    bool framed = w->space->framework != FRAMEWORK_ANY;
    if (layout_has_grid(&w->layout) && key == SPACE_SEQUENCE_PARALLEL &&
        layout_tensor_axis(&w->layout, 0) == 1)
        return *value = 0, true;
    if (key == SPACE_GRID_GATHERS && (w->layout.grid_rows < 2 || w->layout.zero == 3))
        return *value = GRID_EACH_PASS, true;
    if (framed && key == SPACE_SCHEDULE && w->layout.pipeline == 1)
        return *value = SCHEDULE_1F1B, true;
    if (framed && key == SPACE_SEQUENCE_PARALLEL && w->layout.tensor == 1) return *value = 0, true;
    if (key == SPACE_CONTEXT_KIND && w->layout.context == 1) return *value = 0, true;
    if (key == SPACE_OVERLAPPED_DISPATCH && w->layout.expert == 1) return *value = 0, true;
    if (key == SPACE_VIRTUAL_STAGES && kind->virtual_stages)
        return *value = kind->virtual_stages, true;
    if (key == SPACE_SLICE_COUNT && !kind->slices) return *value = 1, true;
    return false;
}

// Where stages cannot differ, a layout that lets each choose stands for every setting.
static bool must_settle(const struct walk *w)
{
    return !layout_recomputes_alike(w->limits->layout) &&
           framework_recomputes_alike(w->space->framework, &w->layout);
}

static int values_of(const struct walk *w, enum space_key key, const int **of)
{
    const struct space_axis *axis = &w->space->axes[key];
    const struct layout *base = w->limits->layout;
    int *values = w->values[key];
    *of = values;
    if (is_decided(w, key, &values[0])) return 1;
    if (key == SPACE_MICRO_BATCH && w->limits->global_batch % w->layout.data)
        return values[0] = base->micro_batch, 1;
    if (axis->kind == AXIS_LIST) return *of = axis->values, axis->count;
    bool fixed = axis->kind == AXIS_FIXED && !(key == SPACE_RECOMPUTE && must_settle(w));
    if (fixed) return values[0] = get_value(base, key), 1;
    return every_value(w, key, values);
}

// The product of all four degrees equals the cluster's devices, which those so far divide. If fewer
// may be used, any product is enough that is not more than there are.
static bool devices_fit(const struct walk *w, enum space_key key)
{
    int64_t used = 1;
    for (int k = 0; k <= (int)key; k++) used *= get_value(&w->layout, k);
    if (used > w->limits->devices) return false;
    if (w->space->fewer_devices) return true;
    return key == SPACE_DATA ? used == w->limits->devices : w->limits->devices % used == 0;
}

static void walk_key(struct walk *w, int key);

// Lengths of the slices from `slice` on, using the remaining parts; shorter first slices come
// first.
static void walk_slices(struct walk *w, int key, int slice, int left)
{
    struct layout *l = &w->layout;
    int behind = l->slice_count - 1 - slice;
    if (!behind) {
        l->slices[slice] = left * w->space->slice_tokens;
        walk_key(w, key + 1);
        return;
    }
    for (int parts = 1; parts <= left - behind && !w->stopped; parts++) {
        l->slices[slice] = parts * w->space->slice_tokens;
        walk_slices(w, key, slice + 1, left - parts);
    }
}

// All on the first axis, which is no grid, then the grids: rows in the outer loop, depth in the
// inner, rising.
static void walk_grids(struct walk *w, int key)
{
    struct layout *l = &w->layout;
    int tensor = l->tensor;
    for (int rows = 1; rows <= tensor && !w->stopped; rows++)
        for (int depth = 1; depth <= tensor / rows && !w->stopped; depth++) {
            if (tensor % rows || tensor / rows % depth) continue;
            bool grid = rows * depth > 1;
            l->grid_rows = grid ? rows : 0, l->grid_depth = grid ? depth : 0;
            l->grid_order = 0, l->grid_gathers = GRID_EACH_PASS;
            walk_key(w, key + 1);
        }
}

// As many layers of each stage as leave some of an average one. A fixed setting states how many.
static void walk_counts(struct walk *w, int key)
{
    struct layout *l = &w->layout;
    int most = (w->limits->layers - 1) / layout_stage_count(l);
    if (w->space->axes[key].kind == AXIS_FIXED && layout_recomputes_alike(w->limits->layout)) {
        walk_key(w, key + 1);
        return;
    }
    for (int count = 1; count <= most && !w->stopped; count++) {
        l->recomputed_layers = count;
        walk_key(w, key + 1);
    }
}

// Whether the framework runs no layout with the values up to this key; at the end, not this one.
static inline bool is_excluded(struct walk *w, int key)
{
    enum framework framework = w->space->framework;
    if (framework == FRAMEWORK_ANY || key <= SPACE_DATA) return false;
    struct framework_of of = space_framework_of(w->limits, &w->layout);
    if (key < SPACE_KEY_COUNT ? !framework_excludes(framework, &w->layout, (enum space_key)key, &of)
                              : !framework_refusal(framework, &w->layout, &of))
        return false;
    w->deepest = SPACE_KEY_COUNT;
    return true;
}

static void number_layout(struct walk *w)
{
    if (is_excluded(w, SPACE_KEY_COUNT)) return;
    int64_t number = w->number++;
    w->stopped = w->visit && !w->visit(w->argument, number, &w->layout);
}

// Where the space lists how many are in flight: every list, where 1f1b can have one.
static void visit_lists(struct walk *w)
{
    struct layout *l = &w->layout;
    int64_t together = (int64_t)l->data * l->micro_batch,
            count = w->limits->global_batch / together;
    int micro_batches = count < IN_FLIGHT_MAX ? (int)count : IN_FLIGHT_MAX,
        most = micro_batches < w->space->in_flight_max ? micro_batches : w->space->in_flight_max;
    unsigned char list[LISTED_STAGES_MAX] = {0};
    memset(l->in_flight, 0, sizeof l->in_flight);
    bool lists = l->schedule == SCHEDULE_1F1B && !l->local_loss_every &&
                 l->pipeline <= LISTED_STAGES_MAX && micro_batches;
    if (!lists) number_layout(w);
    if (!lists) return;
    memset(list, 1, (size_t)l->pipeline);
    do {
        memcpy(l->in_flight, list, sizeof list);
        in_flight_settle(l->in_flight, l->pipeline, micro_batches);
        number_layout(w);
    } while (!w->stopped && in_flight_next(list, l->pipeline, most));
}

static void walk_key(struct walk *w, int key)
{
    const int *values;
    if (key == SPACE_POOL && !w->limits->pools && !w->layout.pool && // as of most models
        w->space->axes[key].kind != AXIS_LIST)
        key++;
    if (key == SPACE_GRID_ORDER && !layout_has_grid(&w->layout)) key = SPACE_GRID_GATHERS + 1;
    if (key > w->deepest) w->deepest = key;
    if (key == SPACE_KEY_COUNT) {
        if (w->space->in_flight_max) visit_lists(w);
        else number_layout(w);
        return;
    }
    int count = values_of(w, (enum space_key)key, &values);
    for (int i = 0; i < count && !w->stopped; i++) {
        set_value(w, (enum space_key)key, values[i]);
        if (is_excluded(w, key)) continue;
        if (key == SPACE_SLICE_COUNT && values[i] > 1 && parts_of_sequence(w))
            walk_slices(w, key, 0, parts_of_sequence(w));
        else if (key == SPACE_RECOMPUTE && values[i] == 1 + RECOMPUTE_FIRST_LAYERS)
            walk_counts(w, key);
        else if (key > SPACE_DATA || devices_fit(w, (enum space_key)key)) {
            if (key == SPACE_TENSOR && w->space->tensor_grids) walk_grids(w, key);
            else walk_key(w, key + 1);
        }
    }
}

static void walk_all(struct walk *w, const struct space *space, const struct space_limits *limits)
{
    int values[SPACE_KEY_COUNT][VALUES_MAX];
    w->values = values, w->space = space, w->limits = limits, w->layout = *limits->layout;
    walk_key(w, 0);
}

int64_t space_each(const struct space *space, const struct space_limits *limits,
                   space_visitor *visit, void *argument)
{
    struct walk w = {.visit = visit, .argument = argument};
    walk_all(&w, space, limits);
    return w.number;
}

bool space_is_of_settings(const struct space *space)
{
    for (int key = 0; key < SPACE_KEY_COUNT; key++)
        if (key != SPACE_RECOMPUTE && space->axes[key].kind != AXIS_FIXED) return false;
    return space->given && !space->tensor_grids && !space->slice_tokens && !space->in_flight_max;
}

static bool pass_over(void *argument, int64_t number, const struct layout *layout)
{
    return (void)argument, (void)number, (void)layout, false;
}

const char *space_why_empty(const struct space *space, const struct space_limits *limits)
{
    struct walk w = {.visit = pass_over};
    walk_all(&w, space, limits);
    if (w.number) return NULL;
    if (w.deepest <= SPACE_DATA)
        return space->fewer_devices ? "the space has no layout: the product of its degrees is "
                                      "always more than the cluster's devices"
                                    : "the space has no layout: no product of its degrees is the "
                                      "number of the cluster's devices";
    if (w.deepest == SPACE_VIRTUAL_STAGES)
        return "the space has no layout: no number of stages above 1 divides the layers of a rank";
    if (w.deepest == SPACE_KEY_COUNT) return "the space has no layout that the framework runs";
    if (w.deepest == SPACE_RECOMPUTE)
        return "the space has no layout: an average stage has no layers besides the first one that "
               "first_layers recomputes";
    return "the space has no layout: no slices of slice_tokens make up the sequence";
}
