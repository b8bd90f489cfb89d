// The `space` of a job: {"all": [keys], key: [values] ..., "fewer_devices": bool,
// "framework": name, "switches": [keys of the job], "slice_tokens": count, "in_flight_max": count,
// "tensor_grids": bool, "uneven_stages": bool}.
// Flags are listed as 0 and 1, schedules and gradient_sync by name. At the end, walks of some
// layouts.
#include <assert.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/space.h"
#include "data/kinds/schedules.h"

#define KEY_TEXT_OF(constant, key) #key,
const char *const space_key_names[] = {SPACE_KEYS(KEY_TEXT_OF) NULL};

enum { AXIS_VALUES_MAX = 256 };

GET_MEMBER(get_all)
{
    struct space *space = to;
    bool all[SPACE_KEY_COUNT] = {false};
    TRY(set_get(value, space_key_names, all, arena, err));
    for (int i = 0; i < SPACE_KEY_COUNT; i++)
        if (all[i]) space->axes[i].kind = AXIS_ALL;
    return OK;
}

PUT_MEMBER(put_all)
{
    const struct space *space = from;
    bool all[SPACE_KEY_COUNT];
    for (int i = 0; i < SPACE_KEY_COUNT; i++) all[i] = space->axes[i].kind == AXIS_ALL;
    set_put(w, key, space_key_names, all);
}

// The values of a list must differ; a key with all values must have no list.
GET_MEMBER(finish_space)
{
    struct space *space = to;
    space->given = true;
    for (int key = 0; key < SPACE_KEY_COUNT; key++) {
        struct space_axis *axis = &space->axes[key];
        struct json list = json_member(value, space_key_names[key], arena);
        if (!json_is_present(&list)) continue;
        if (axis->kind == AXIS_ALL) return json_refuse(&list, err, "is in \"all\" already");
        if (!axis->count)
            return json_refuse(&list, err, "expected 1 to %d values, found 0", AXIS_VALUES_MAX);
        for (int i = 0; i < axis->count; i++)
            if (key == SPACE_RECOMPUTE && axis->values[i] == 1 + RECOMPUTE_SWAP)
                return json_refuse(&list, err, "swap is no setting of all stages");
        for (int i = 0; i < axis->count; i++)
            for (int k = 0; k < i; k++)
                if (axis->values[k] == axis->values[i])
                    return json_refuse(&list, err, "a value appears twice");
        axis->kind = AXIS_LIST;
    }
    return OK;
}

#define KEY_AXIS(key, at, low, high, names, element)                                               \
    KEY_ROW(key, JSON_ARRAY, OPTIONAL, IF_SET, offsetof(struct space, axes[at].values), low, high, \
            names, NULL, offsetof(struct space, axes[at].count), AXIS_VALUES_MAX, element, NULL,   \
            NULL)
#define KEY_COUNTS(key, at, low, high) KEY_AXIS(key, at, low, high, NULL, JSON_INT)
#define KEY_NAMES(key, at, names) KEY_AXIS(key, at, 0, 0, names, JSON_NAME)
static const struct member space_rows[] = {
    KEY_PART("all", JSON_ARRAY, OPTIONAL, 0, get_all, put_all),
    KEY_COUNTS("tensor", SPACE_TENSOR, 1, DEGREE_MAX),
    KEY_COUNTS("context", SPACE_CONTEXT, 1, DEGREE_MAX),
    KEY_COUNTS("pipeline", SPACE_PIPELINE, 1, STAGES_MAX),
    KEY_COUNTS("data", SPACE_DATA, 1, DEGREE_MAX),
    KEY_COUNTS("expert_tensor", SPACE_EXPERT_TENSOR, 1, DEGREE_MAX),
    KEY_COUNTS("expert", SPACE_EXPERT, 1, DEGREE_MAX),
    KEY_NAMES("schedule", SPACE_SCHEDULE, schedule_names),
    KEY_COUNTS("virtual_stages", SPACE_VIRTUAL_STAGES, 1, STAGES_MAX),
    KEY_COUNTS("micro_batch", SPACE_MICRO_BATCH, 1, RANK_MAX),
    KEY_COUNTS("sequence_parallel", SPACE_SEQUENCE_PARALLEL, 0, 1),
    KEY_COUNTS("zero", SPACE_ZERO, 0, 3),
    KEY_NAMES("gradient_sync", SPACE_GRADIENT_SYNC, gradient_sync_names),
    KEY_COUNTS("offload_optimizer", SPACE_OFFLOAD_OPTIMIZER, 0, 1),
    KEY_COUNTS("barrier", SPACE_BARRIER, 0, 1),
    KEY_COUNTS("fused_embedding_sync", SPACE_FUSED_EMBEDDING_SYNC, 0, 1),
    KEY_COUNTS("local_loss_every", SPACE_LOCAL_LOSS_EVERY, 0, STAGES_MAX),
    KEY_COUNTS("slice_count", SPACE_SLICE_COUNT, 2, SLICES_MAX),
    KEY_NAMES("context_kind", SPACE_CONTEXT_KIND, layout_context_names),
    KEY_COUNTS("overlapped_dispatch", SPACE_OVERLAPPED_DISPATCH, 0, 1),
    KEY_COUNTS("pool", SPACE_POOL, 1, DEGREE_MAX),
    KEY_NAMES("grid_order", SPACE_GRID_ORDER, grid_order_names),
    KEY_NAMES("grid_gathers", SPACE_GRID_GATHERS, grid_gathers_names),
    KEY_NAMES("recompute", SPACE_RECOMPUTE, recompute_setting_names),
    KEY_BOOL(space, fewer_devices, OPTIONAL, ALWAYS_WRITTEN),
    KEY_NAME(space, framework, OPTIONAL, IF_SET, framework_names),
    KEY_SET(space, switches, OPTIONAL, IF_SET, trainer_switch_names),
    KEY_BOOL(space, tensor_grids, OPTIONAL, IF_SET),
    KEY_BOOL(space, uneven_stages, OPTIONAL, IF_SET),
    KEY_INT(space, slice_tokens, OPTIONAL, IF_SET, 1, SLICE_TOKENS_MAX),
    KEY_INT(space, in_flight_max, OPTIONAL, IF_SET, 1, IN_FLIGHT_MAX),
};
static const struct space no_space;
MEMBERS(space, struct space, &no_space, false, finish_space);

void space_put(struct json_writer *w, const char *key, const void *from, const void *context)
{
    const struct space *space = from;
    if (space->given) members_write(w, key, &space_members, space, context);
}

// ---- walks some layouts of a space: tuples of values without any of them are passed over

// Tuples of all keys down to the micro-batch, unless these are many: then of the degrees alone.
enum { TUPLES_MAX = 1 << 17, DEGREES = SPACE_DATA + 1 };

static bool same_tuple(const struct space_tuple *a, const struct space_tuple *b, int keys)
{
    return !memcmp(a->values, b->values, (size_t)keys * sizeof *a->values) &&
           !memcmp(a->grid, b->grid, sizeof a->grid);
}

static void keep_degrees(struct space_index *x)
{
    int kept = 1;
    for (int i = 1; i < x->tuple_count; i++)
        if (!same_tuple(&x->tuples[kept - 1], &x->tuples[i], DEGREES))
            x->tuples[kept++] = x->tuples[i];
    x->tuple_count = kept, x->keys = DEGREES;
}

void space_index_add(struct space_index *x, int64_t number, const struct layout *layout)
{
    struct space_tuple own = {.first = number, .grid = {layout->grid_depth, layout->grid_rows}};
    assert(number == x->count);
    if (!x->keys) x->keys = SPACE_TUPLE_KEYS;
    if (x->tuple_count == TUPLES_MAX && x->keys > DEGREES) keep_degrees(x);
    for (int key = 0; key < x->keys; key++)
        own.values[key] = layout_value(layout, (enum space_key)key);
    x->count++;
    if (x->tuple_count && same_tuple(&x->tuples[x->tuple_count - 1], &own, x->keys)) return;
    *GROWN(x->arena, x->tuples, x->tuple_count, x->capacity, 64) = own;
}

struct choosing {
    const struct space_tuple *tuple;
    int64_t seen; // of its layouts
    const struct space_range *range, *end;
    space_visitor *visit;
    void *argument;
    bool stopped;
};

static bool choose(void *argument, int64_t number, const struct layout *layout)
{
    struct choosing *c = argument;
    if (layout->grid_depth != c->tuple->grid[0] || layout->grid_rows != c->tuple->grid[1])
        return true;
    number = c->tuple->first + c->seen++;
    while (c->range < c->end && number >= c->range->end) c->range++;
    if (c->range == c->end) return false;
    if (number >= c->range->first) c->stopped = !c->visit(c->argument, number, layout);
    return !c->stopped;
}

void space_each_of(const struct space *space, const struct space_limits *limits,
                   const struct space_index *index, const struct space_range *ranges,
                   int64_t range_count, space_visitor *visit, void *argument)
{
    struct choosing c = {
        .range = ranges, .end = ranges + range_count, .visit = visit, .argument = argument};
    struct space one = *space;
    for (int i = 0; i < index->tuple_count && !c.stopped; i++) {
        struct space_tuple *t = &index->tuples[i];
        int64_t end = i + 1 < index->tuple_count ? t[1].first : index->count;
        while (c.range < c.end && c.range->end <= t->first) c.range++;
        if (c.range == c.end) return;
        if (c.range->first >= end) continue;
        for (int key = 0; key < index->keys; key++)
            one.axes[key] = (struct space_axis){AXIS_LIST, &t->values[key], 1};
        c.tuple = t, c.seen = 0;
        space_each(&one, limits, choose, &c);
    }
}

// ---- one layout

bool layout_equal(const struct layout *a, const struct layout *b)
{
    for (int i = 0; i < SLICES_MAX; i++)
        if (a->slice_count > 1 && a->slices[i] != b->slices[i]) return false;
    return a->tensor == b->tensor && a->context == b->context && a->data == b->data &&
           a->pipeline == b->pipeline && a->expert == b->expert &&
           a->expert_tensor == b->expert_tensor && a->grid_depth == b->grid_depth &&
           a->grid_rows == b->grid_rows && a->virtual_stages == b->virtual_stages &&
           a->micro_batch == b->micro_batch && a->schedule == b->schedule &&
           a->sequence_parallel == b->sequence_parallel &&
           a->fused_attention == b->fused_attention && a->gradient_sync == b->gradient_sync &&
           a->fused_embedding_sync == b->fused_embedding_sync && a->zero == b->zero &&
           a->data_shard == b->data_shard && a->offload_optimizer == b->offload_optimizer &&
           a->barrier == b->barrier && a->local_loss_every == b->local_loss_every &&
           a->stored_inputs == b->stored_inputs && a->slice_count == b->slice_count &&
           a->recompute == b->recompute && a->recomputed_layers == b->recomputed_layers &&
           a->context_kind == b->context_kind && a->overlapped_dispatch == b->overlapped_dispatch &&
           a->pool == b->pool && a->grid_order == b->grid_order &&
           a->grid_gathers == b->grid_gathers &&
           !memcmp(a->in_flight, b->in_flight, sizeof a->in_flight);
}

struct finding {
    const struct layout *layout;
    int64_t number;
};

static bool look(void *argument, int64_t number, const struct layout *layout)
{
    struct finding *f = argument;
    if (layout_equal(layout, f->layout)) f->number = number;
    return f->number < 0;
}

void space_settle(const struct space_limits *limits, struct layout *layout)
{
    bool stated = layout->context_kind == 1 + (int)limits->context_kind;
    if (layout->context == 1 || stated) layout->context_kind = 0;
    layout->overlapped_dispatch &= layout->expert > 1;
    if (layout->pool == layout_pool_devices(layout, limits->pools)) layout->pool = 0;
}

bool space_contains(const struct space *space, const struct space_limits *limits,
                    const struct layout *layout, int64_t *number)
{
    struct finding f = {layout, -1};
    space_each(space, limits, look, &f);
    if (number) *number = f.number;
    return f.number >= 0;
}

// ---- parts

enum { PIECES_PER_PART = 8 };

bool space_part_has(const struct space_part *part, int64_t number, int64_t layouts)
{
    if (!part->count) return true;
    int64_t piece = layouts / ((int64_t)part->count * PIECES_PER_PART) + 1;
    return number / piece % part->count == part->index;
}
