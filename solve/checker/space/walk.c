// The layouts of a space in order: one level per key, each level's values following from the outer
// ones. "Every" means:
// - degrees: divisors of what the outer degrees leave of the devices, rounded down (the data degree
// takes all of that, unless fewer devices may be used); expert_tensor: 1 and tensor, itself
// as 0; pool: parts of a pool's devices, 0 for all, nothing else without pools of one kind; expert:
// those numbers of equal parts into which both the ranks with one part of
// every expert and the experts of every mixture can be cut; without mixtures one value of both;
// schedules: all; micro_batch: divisors of global_batch / data; zero: 0 to 3; switches: off and on;
// - stages of a rank, where the schedule has several: divisors above 1 of the layers per rank,
// rounded down or up;
// - recomputation of all stages: every offered mode but swap;
// - slices: 2, 4, 8; with slice_tokens, 2 to the number of these in the sequence, cut at every
// choice of its multiples.
// With a framework only what it runs (frameworks.c): a single rank has 1F1B and a single tensor
// rank no sequence parallelism, whatever the documents list. With grids a tensor degree comes once
// without, then as each of its grids, identified by the third axis, then the second, both rising;
// a grid of one along its first axis has no sequence parallelism. Orders of a grid's axes: those
// whose axes above 1 come in a succession that no earlier one has; gathers: three, of which ZeRO 3
// and a single rank along the third axis have the first.
// first_layers as a setting of all stages comes with every number of layers below those of an
// average stage, rounded up; where the base has the setting and nothing else is asked for, with its
// number. Where the framework has one setting and the base leaves it to the stages, every one
// comes.
// With a number in flight, 1f1b without local losses comes with every list of depths up to it and
// up to the micro-batches, none of them above the one before, the last one 1, in the order of a
// dictionary; the list that 1f1b has anyway counts as none.
#include <string.h>

#include "solve/checker/space/space.h"

enum { VALUES_MOST = 4096 };

struct walk {
    const struct check_space *s;
    check_space_visit *visit;
    void *argument;
    struct check_layout at;
    int64_t number;
    bool stopped;
};

static int put_divisors(int64_t n, int *values)
{
    int count = 0;
    for (int64_t d = 1; d <= n && d <= DEGREE_MOST && count < VALUES_MOST; d++)
        if (n % d == 0) values[count++] = (int)d;
    return count;
}

static int put_turns(const struct walk *w, int *values)
{
    int ranks = w->at.value[KEY_PIPELINE], few = w->s->layers / ranks,
        many = few + (w->s->layers % ranks > 0), count = 0;
    for (int turns = 2; turns <= many && turns * ranks <= MOST_STAGES; turns++)
        if (many % turns == 0 || (few > 0 && few % turns == 0)) values[count++] = turns;
    return count;
}

static bool cuts_anywhere(const struct check_space *s)
{
    return s->slice_tokens > 0 && s->axes[KEY_SLICES].kind != AXIS_AS_BASE;
}

static int put_slice_counts(const struct walk *w, int *values)
{
    int64_t most = w->s->slice_tokens ? w->s->sequence / w->s->slice_tokens : 0;
    int count = 0;
    if (!cuts_anywhere(w->s)) return values[0] = 2, values[1] = 4, values[2] = 8, 3;
    for (int slices = 2; slices <= most && slices <= MOST_SLICES; slices++)
        values[count++] = slices;
    return count;
}

int64_t check_parts_of_devices(const struct check_layout *l)
{
    const int *v = l->value;
    int64_t devices = (int64_t)v[KEY_TENSOR] * v[KEY_CONTEXT] * v[KEY_DATA];
    return devices / (v[KEY_EXPERT_TENSOR] ? v[KEY_EXPERT_TENSOR] : v[KEY_TENSOR]);
}

// From the highest degree down, since an expert needs one rank at least; then in rising order.
static int put_experts(const struct walk *w, int *values)
{
    int64_t ranks = check_parts_of_devices(&w->at), degree = w->s->has_mixtures ? ranks : 1;
    int count = 0;
    for (int i = 0; i < w->s->mixture_count; i++)
        if (w->s->mixtures[i].experts < degree) degree = w->s->mixtures[i].experts;
    for (; degree > 0; degree--) {
        bool fits = ranks % degree == 0 && degree <= DEGREE_MOST;
        for (int i = 0; i < w->s->mixture_count && fits; i++)
            fits = w->s->mixtures[i].experts % degree == 0;
        if (fits && count < VALUES_MOST) values[count++] = (int)degree;
    }
    for (int i = 0; i < count / 2; i++) {
        int other = values[i];
        values[i] = values[count - 1 - i], values[count - 1 - i] = other;
    }
    return count;
}

int64_t check_devices_of_pool(const struct check_space *s, const struct check_layout *l)
{
    int64_t devices = 1;
    if (s->shares_pool == s->own_pool) return 0;
    for (int key = 0; key <= KEY_DATA; key++)
        if (key != KEY_PIPELINE || s->shares_pool) devices *= l->value[key];
    return devices;
}

// Every smaller number of them that makes equal groups; then all.
static int put_pools(const struct walk *w, int *values)
{
    int64_t devices = check_devices_of_pool(w->s, &w->at);
    int count = 0;
    for (int64_t d = 1; d <= devices / 2 && d <= DEGREE_MOST && count < VALUES_MOST - 1; d++)
        if (devices % d == 0) values[count++] = (int)d;
    return values[count] = 0, count + 1;
}

static int put_settings(const struct walk *w, int *values)
{
    int count = 0;
    for (int mode = 0; mode < MODES; mode++)
        if (mode != MODE_SWAP && w->s->modes[mode]) values[count++] = mode + 1;
    return count;
}

// Keys and values that come at once are waited for longer than those that come by and by: only
// where nothing else is run. Heads are exchanged where every rank gets as many of each kind.
static int put_contexts(const struct walk *w, int *values)
{
    bool core = w->s->framework == RUN_BY_MEGATRON || w->s->framework == RUN_BY_NEMO,
         at_once = w->s->framework == RUN_BY_TORCHTITAN || (core && (w->s->windows || w->s->sinks)),
         by_heads = w->s->key_head_count > 0;
    int64_t ranks = (int64_t)w->at.value[KEY_TENSOR] * w->at.value[KEY_CONTEXT];
    for (int i = 0; i < w->s->key_head_count; i++)
        by_heads = by_heads && w->s->key_heads[i] % ranks == 0;
    values[0] = 1 + (at_once ? CONTEXT_AT_ONCE : CONTEXT_BY_STEPS);
    values[1] = 1 + CONTEXT_BY_HEADS;
    return by_heads ? 2 : 1;
}

static int put_every(const struct walk *w, int key, int *values)
{
    const int counts[KEYS] = {
        [KEY_SCHEDULE] = check_schedule_count, [KEY_ZERO] = 4, [KEY_GRID_GATHERS] = 3};
    const int *at = w->at.value;
    int64_t left = w->s->devices;
    if (key == KEY_SLICES) return put_slice_counts(w, values);
    if (key == KEY_EXPERT_TENSOR) {
        bool one = !w->s->has_mixtures || w->at.grid[0] || at[KEY_TENSOR] == 1;
        values[0] = one ? 0 : 1, values[1] = 0;
        return one ? 1 : 2;
    }
    if (key == KEY_EXPERT) return put_experts(w, values);
    if (key == KEY_TURNS) return put_turns(w, values);
    if (key == KEY_CONTEXT_KIND) return put_contexts(w, values);
    if (key == KEY_RECOMPUTE) return put_settings(w, values);
    if (key == KEY_POOL) return put_pools(w, values);
    if (key == KEY_GRID_ORDER) return check_put_orders(&w->at, values);
    if (key == KEY_MICRO_BATCH) return put_divisors(w->s->global_batch / at[KEY_DATA], values);
    if (key <= KEY_DATA) {
        for (int outer = 0; outer < key; outer++) left /= at[outer];
        if (key == KEY_DATA && !w->s->fewer_devices)
            return values[0] = (int)left, left <= DEGREE_MOST;
        return put_divisors(left, values);
    }
    int count = counts[key] ? counts[key] : 2;
    for (int i = 0; i < count; i++) values[i] = i;
    return count;
}

// What has only one value because of the schedule, or because the data degree does not divide the
// batch.
static bool is_decided(const struct walk *w, int key, int *value)
{
    const struct check_schedule *schedule = &check_schedules[w->at.value[KEY_SCHEDULE]];
    if (key == KEY_SEQUENCE_PARALLEL && check_is_undivided(&w->at)) return *value = 0, true;
    if (key == KEY_GRID_GATHERS && (w->at.grid[1] == 1 || w->at.value[KEY_ZERO] == 3))
        return *value = 0, true;
    if (w->s->framework != RUN_BY_ANY) {
        if (key == KEY_SCHEDULE && w->at.value[KEY_PIPELINE] == 1)
            return *value = check_schedule_default, true;
        if (key == KEY_SEQUENCE_PARALLEL && w->at.value[KEY_TENSOR] == 1) return *value = 0, true;
    }
    if (key == KEY_TURNS && schedule->turns) return *value = schedule->turns, true;
    if (key == KEY_SLICES && !schedule->slices) return *value = 1, true;
    if (key == KEY_CONTEXT_KIND && w->at.value[KEY_CONTEXT] == 1) return *value = 0, true;
    if (key == KEY_BESIDE && w->at.value[KEY_EXPERT] == 1) return *value = 0, true;
    if (key == KEY_MICRO_BATCH && w->s->global_batch % w->at.value[KEY_DATA])
        return *value = w->s->base.value[key], true;
    return false;
}

static int put_values(const struct walk *w, int key, int *values)
{
    const struct check_axis *axis = &w->s->axes[key];
    if (is_decided(w, key, &values[0])) return 1;
    if (axis->kind == AXIS_EVERY) return put_every(w, key, values);
    if (key == KEY_RECOMPUTE && axis->kind == AXIS_AS_BASE && !w->s->base.value[key] &&
        check_sets_recomputation(w->s, &w->at))
        return put_every(w, key, values);
    if (axis->kind == AXIS_AS_BASE) return values[0] = w->s->base.value[key], 1;
    for (int i = 0; i < axis->count; i++) values[i] = axis->values[i];
    return axis->count;
}

// Equal slices; if they do not divide the sequence, the first ones are one token longer. Where
// slices are fixed, those of the base.
static void cut_sequence(struct walk *w, int count)
{
    bool as_base = w->s->axes[KEY_SLICES].kind == AXIS_AS_BASE && count > 1;
    for (int i = 0; i < MOST_SLICES; i++) {
        int64_t tokens =
            i < count && count > 1 ? w->s->sequence / count + (i < w->s->sequence % count) : 0;
        w->at.slice[i] = as_base ? w->s->base.slice[i] : tokens;
    }
}

// The rising ends of slices in slice_tokens; the next choice in lexicographic order. false: there
// is none.
static bool next_cuts(int64_t *ends, int cuts, int64_t parts)
{
    int last = cuts - 1;
    while (last >= 0 && ends[last] == parts - (cuts - last)) last--;
    if (last < 0) return false;
    ends[last]++;
    for (int i = last + 1; i < cuts; i++) ends[i] = ends[i - 1] + 1;
    return true;
}

static void walk_key(struct walk *w, int key);

static void walk_cuts(struct walk *w, int slices)
{
    int64_t ends[MOST_SLICES], parts = w->s->sequence / w->s->slice_tokens;
    if (slices > parts || slices > MOST_SLICES) return;
    for (int i = 0; i < slices; i++) ends[i] = i + 1;
    do {
        ends[slices - 1] = parts;
        for (int i = 0; i < MOST_SLICES; i++) {
            int64_t before = i ? ends[i - 1] : 0;
            w->at.slice[i] = i < slices ? (ends[i] - before) * w->s->slice_tokens : 0;
        }
        walk_key(w, KEY_SLICES + 1);
    } while (!w->stopped && next_cuts(ends, slices - 1, parts));
}

// Devices left per unit of the degrees so far. Where some may be idle it is enough that one is
// left for each; else nothing may remain, and after the last degree just one is left.
static bool degrees_fit(const struct walk *w, int key)
{
    int64_t left = w->s->devices;
    bool exact = true;
    for (int k = 0; k <= key; k++) {
        exact = exact && left % w->at.value[k] == 0;
        left /= w->at.value[k];
    }
    if (w->s->fewer_devices) return left >= 1;
    return exact && (key == KEY_DATA ? left == 1 : left >= 1);
}

// The factors in two steps: the third axis from the whole degree, the second from the rest.
static void walk_grids(struct walk *w)
{
    const int tensor = w->at.value[KEY_TENSOR];
    w->at.grid[0] = w->at.grid[1] = 0;
    w->at.value[KEY_GRID_ORDER] = w->at.value[KEY_GRID_GATHERS] = 0;
    walk_key(w, KEY_TENSOR + 1);
    for (int third = 1; third <= tensor; third++)
        for (int second = third == 1 ? 2 : 1; tensor % third == 0 && second <= tensor / third;
             second++) {
            if (tensor / third % second || w->stopped) continue;
            w->at.grid[0] = second, w->at.grid[1] = third;
            walk_key(w, KEY_TENSOR + 1);
        }
    w->at.grid[0] = w->at.grid[1] = 0;
}

// The number of first_layers: the rounded-up mean of a stage's layers is never reached.
static void walk_numbers(struct walk *w)
{
    bool as_base = w->s->axes[KEY_RECOMPUTE].kind == AXIS_AS_BASE &&
                   w->s->base.value[KEY_RECOMPUTE];
    int stages = w->at.value[KEY_PIPELINE] * w->at.value[KEY_TURNS];
    int first = as_base ? w->s->base.recomputed : 1,
        end = as_base ? first + 1 : (w->s->layers + stages - 1) / stages;
    for (int n = first; n < end && !w->stopped; n++) {
        w->at.recomputed = n;
        walk_key(w, KEY_RECOMPUTE + 1);
    }
    w->at.recomputed = 0;
}

// Of a model without pools no layout has a group of their devices, unless a list asks for them.
static bool asks_for_pools(const struct walk *w)
{
    return w->s->shares_pool || w->s->own_pool || w->at.value[KEY_POOL] ||
           (w->s->axes[KEY_POOL].kind != AXIS_EVERY && w->s->axes[KEY_POOL].kind != AXIS_AS_BASE);
}

static void take_layout(struct walk *w)
{
    if (check_is_run(w->s, &w->at)) w->stopped = !w->visit(w->argument, w->number++, &w->at);
}

// Depths of the stages from `stage` on; the one before has at most `most`.
static void walk_depths(struct walk *w, uint8_t *depths, int stage, int most, int micro_batches)
{
    int stages = w->at.value[KEY_PIPELINE], own = 0;
    for (int depth = 1; stage < stages && depth <= (stage == stages - 1 ? 1 : most); depth++) {
        depths[stage] = (uint8_t)depth;
        walk_depths(w, depths, stage + 1, depth, micro_batches);
        if (w->stopped) return;
    }
    if (stage < stages) return;
    for (int i = 0; i < stages; i++)
        own += depths[i] == check_own_in_flight(stages, i, micro_batches);
    for (int i = 0; i < stages; i++) w->at.in_flight[i] = own == stages ? 0 : depths[i];
    take_layout(w);
}

static void walk_lists(struct walk *w)
{
    const int *v = w->at.value;
    uint8_t depths[MOST_LISTED];
    int64_t most = w->s->global_batch / ((int64_t)v[KEY_DATA] * v[KEY_MICRO_BATCH]);
    memset(w->at.in_flight, 0, sizeof w->at.in_flight);
    if (v[KEY_SCHEDULE] != check_schedule_default || v[KEY_LOCAL] || most < 1 ||
        v[KEY_PIPELINE] > MOST_LISTED) {
        take_layout(w);
        return;
    }
    int micro_batches = most > MOST_IN_FLIGHT ? MOST_IN_FLIGHT : (int)most;
    walk_depths(w, depths, 0,
                micro_batches < w->s->in_flight_most ? micro_batches : w->s->in_flight_most,
                micro_batches);
    memset(w->at.in_flight, 0, sizeof w->at.in_flight);
}

static void walk_key(struct walk *w, int key)
{
    int values[VALUES_MOST];
    if (key == KEY_POOL && !asks_for_pools(w)) key++;
    if (key == KEY_GRID_ORDER && !w->at.grid[0]) key += 2;
    if (key == KEYS) {
        if (w->s->in_flight_most) walk_lists(w);
        else take_layout(w);
        return;
    }
    int count = put_values(w, key, values);
    for (int i = 0; i < count && !w->stopped; i++) {
        bool whole = (key == KEY_EXPERT_TENSOR && values[i] == w->at.value[KEY_TENSOR]) ||
                     (key == KEY_CONTEXT_KIND && values[i] == 1 + (int)w->s->context_kind) ||
                     (key == KEY_POOL && values[i] == check_devices_of_pool(w->s, &w->at));
        w->at.value[key] = whole ? 0 : values[i];
        if (key == KEY_SLICES && values[i] > 1 && cuts_anywhere(w->s)) {
            walk_cuts(w, values[i]);
            continue;
        }
        if (key == KEY_SLICES) cut_sequence(w, values[i]);
        if (key == KEY_RECOMPUTE) w->at.recomputed = 0;
        if (key == KEY_RECOMPUTE && values[i] == MODE_FIRST_LAYERS + 1) {
            walk_numbers(w);
            continue;
        }
        if (key <= KEY_DATA && !degrees_fit(w, key)) continue;
        if (key == KEY_TENSOR && w->s->grids) walk_grids(w);
        else walk_key(w, key + 1);
    }
}

int64_t check_space_walk(const struct check_space *s, check_space_visit *visit, void *argument)
{
    struct walk w = {.s = s, .visit = visit, .argument = argument, .at = s->base};
    walk_key(&w, 0);
    return w.number;
}
