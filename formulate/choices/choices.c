// The enumeration of choices: for every stage, all layer counts (or intervals), groups, recompute
// modes and compression options that the job allows, filtered by rules, then by memory; then
// dominated ones are removed. A series of first_layers choices removed for the same reason is noted
// once, by the one closest to staying, so that the list stays readable.
#include "formulate/choices/choices.h"

#include <string.h>

#include "data/base/grow.h"
#include "data/base/least.h"
#include "formulate/choices/choice.h"

const char *const removal_names[] = {"rule", "memory", "dominance", "bound", NULL};

// Whether the rule forbids the last stage so many layers and fewer, as that of multi-token
// prediction does.
static bool forbids_few(const struct priced *p, const struct rule *r)
{
    return r->action == RULE_FORBID && (r->stage < 0 || r->stage == p->stage_count - 1) &&
           r->holds_first == p->layer_count - 1 && !r->group_count && !r->run &&
           r->layers_min <= 1 && r->layers_max > 0 && !r->recompute_stated &&
           r->compresses_gradient < 0 && r->compresses_boundary < 0;
}

static int last_least(const struct priced *p)
{
    int least = 1;
    for (int i = 0; i < p->rule_count; i++)
        if (forbids_few(p, &p->rules[i])) least = larger_int(least, p->rules[i].layers_max + 1);
    return smaller_int(least, p->layer_count - p->stage_count + 1);
}

static bool same_numbers(const int64_t *a, const int64_t *b, size_t count)
{
    return a == b || (a && b && !memcmp(a, b, count * sizeof *a));
}

static bool same_passes(const struct priced *p, const struct priced_run *a,
                        const struct priced_run *b)
{
    size_t groups = (size_t)p->group_count, passes = groups * (size_t)p->slice_count;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (!same_numbers(a->again_ns[mode], b->again_ns[mode], passes)) return false;
    return same_numbers(a->forward_ns, b->forward_ns, passes) &&
           same_numbers(a->backward_ns, b->backward_ns, passes) &&
           same_numbers(a->weight_ns, b->weight_ns, groups) &&
           same_numbers(a->optimizer_ns, b->optimizer_ns, groups);
}

static bool same_syncs(const struct priced *p, int a, int b)
{
    const struct priced_places *x = p->places;
    size_t rings = x ? (size_t)x->ring_level_count * priced_ring_links(x) : 0;
    for (int i = 0; i < p->gradient_option_count; i++)
        if (!same_numbers(p->runs[a].sync_ns[i], p->runs[b].sync_ns[i], (size_t)p->group_count) ||
            (x && !same_numbers(x->ring_ns[a][i], x->ring_ns[b][i], rings)))
            return false;
    return true;
}

static bool same_bytes(const struct priced *p, const struct priced_run *a,
                       const struct priced_run *b)
{
    return a->weight_bytes == b->weight_bytes && a->gradient_bytes == b->gradient_bytes &&
           a->optimizer_bytes == b->optimizer_bytes && a->unsharded_bytes == b->unsharded_bytes &&
           same_numbers(a->stash_bytes, b->stash_bytes, RECOMPUTE_COUNT) &&
           same_numbers(a->working_bytes, b->working_bytes, RECOMPUTE_COUNT) &&
           same_numbers(a->feedback_bytes, b->feedback_bytes, (size_t)p->gradient_option_count);
}

bool choices_runs_alike(const struct priced *p, int a, int b)
{
    const struct priced_run *x = &p->runs[a], *y = &p->runs[b];
    bool plain = !x->tiered_count && !y->tiered_count && !x->seats && !y->seats && !x->entry_ns &&
                 !y->entry_ns && !p->sharded_run_count && !p->vocabulary_run_count &&
                 !p->seat_nodes;
    return plain && x->recomputable == y->recomputable && x->cut == y->cut && same_bytes(p, x, y) &&
           same_passes(p, x, y) && same_syncs(p, a, b);
}

// The first of the runs that end with this one and are all alike; a rule may tell runs apart.
static int first_alike(const struct priced *p, int run)
{
    int first = run;
    for (int i = 0; i < p->rule_count; i++)
        if (p->rules[i].run) return run;
    while (first > 0 && choices_runs_alike(p, first - 1, run)) first--;
    return first;
}

// See struct choices. A stage's buffers depend on the message before it, and the first and the last
// stage have known places.
static int free_from(const struct priced *p, int virtual_stages, int last_least)
{
    int end = p->layer_count - last_least; // of the layers that other stages can hold
    for (int i = 0; i < p->rule_count; i++) {
        const struct rule *r = &p->rules[i];
        if ((r->holds_first < 0 && r->holds_last < 0) ||
            (virtual_stages > 1 && r->holds_last >= end))
            continue;
        if (r->stage < 0 ? p->stage_count > 2 : r->stage > 0 && r->stage < p->stage_count - 1)
            return p->layer_count;
    }
    int run = first_alike(p, priced_run_of(p, larger_int(end - 1, 0))),
        from = priced_first_layer(p, run);
    if (run > 0 && p->runs[run - 1].cut != p->runs[run].cut && p->stage_count > 1) from++;
    if (from <= 1 || (virtual_stages > 1 && p->stage_count < 3)) return 0; // starts are known
    // Where a rank has one stage, stages are taken in their order, and places cost little.
    return virtual_stages == 1 || from >= end ? p->layer_count : from;
}

static void choices_note_removed(struct choices *c, int stage, const struct choice *choice,
                                 enum removal removal, int64_t amount)
{
    GROW(c->arena, c->removed, c->removed_count, c->removed_capacity, 64);
    c->removed[c->removed_count++] = (struct removed_choice){stage, *choice, removal, amount};
}

// ---- one bucket: the choices of a stage with the same layers, group and boundary option

struct bucket {
    struct choices *c;
    int stage;
    struct choice *items; // that fit; none dominates another
    int count, capacity;
};

// True if a choice in the bucket dominates x; otherwise those that x dominates are removed. Of two
// equal ones, the earlier stays.
static bool settle(struct bucket *b, const struct choice *x)
{
    for (int i = 0; i < b->count; i++)
        if (choice_dominates(b->c, &b->items[i], x)) return true;
    int kept = 0;
    for (int i = 0; i < b->count; i++) {
        if (choice_dominates(b->c, x, &b->items[i]))
            choices_note_removed(b->c, b->stage, &b->items[i], REMOVED_BY_DOMINANCE, 0);
        else b->items[kept++] = b->items[i];
    }
    b->count = kept;
    *GROWN(b->c->arena, b->items, b->count, b->capacity, 64) = *x;
    return false;
}

// The outcome for a choice: -1: it stays in the bucket; otherwise the removal, with *amount as in
// struct removed_choice.
static int try_choice(struct bucket *b, struct choice *x, int64_t *amount)
{
    *amount = choice_broken_rule(b->c, b->stage, x);
    if (*amount >= 0) return REMOVED_BY_RULE;
    choice_evaluate(b->c, b->stage, x);
    *amount = larger(choice_excess_bytes(b->c, b->stage, x), x->tier_excess_bytes);
    if (*amount > 0) return REMOVED_BY_MEMORY;
    *amount = 0;
    return settle(b, x) ? REMOVED_BY_DOMINANCE : -1;
}

static int try_mode(struct bucket *b, struct choice x, enum recompute mode)
{
    int64_t amount;
    x.recompute = mode;
    int removal = try_choice(b, &x, &amount);
    if (removal < 0) return removal;
    if (removal == REMOVED_BY_RULE) choice_evaluate(b->c, b->stage, &x);
    choices_note_removed(b->c, b->stage, &x, (enum removal)removal, amount);
    return removal;
}

static bool fitted(int removal) { return removal < 0 || removal == REMOVED_BY_DOMINANCE; }

// Whether more recomputation never needs more stash, which holds for all sensible numbers.
static bool stash_falls(const struct priced *p, int group)
{
    for (int r = 0; r < p->run_count + p->sharded_run_count; r++) {
        const struct priced_run *run = r < p->run_count ? &p->runs[r]
                                                        : &p->sharded_runs[r - p->run_count];
        const int64_t *stash = priced_run_at(run, group)->stash_bytes;
        if (run->recomputable && stash[RECOMPUTE_FULL] > stash[RECOMPUTE_NONE]) return false;
    }
    return true;
}

// The minimum k in [low, high] that may fit: below it, the choice is too large even without its
// working bytes, the only part that can grow with k.
static int least_possible(struct bucket *b, struct choice x, int low, int high)
{
    if (!stash_falls(b->c->priced, x.group)) return low;
    while (low < high) {
        x.recomputed_layers = low + (high - low) / 2;
        choice_evaluate(b->c, b->stage, &x);
        if (choice_resident_excess_bytes(b->c, b->stage, &x) > 0) low = x.recomputed_layers + 1;
        else high = x.recomputed_layers;
    }
    return low;
}

// Tries the choice and notes its removal; of consecutive choices with the same reason, only the one
// closest to staying. *last: the reason of the previous one, -1 before the first.
static int try_next(struct bucket *b, struct choice *x, int *last)
{
    int64_t amount;
    int removal = try_choice(b, x, &amount);
    if (removal == REMOVED_BY_RULE) choice_evaluate(b->c, b->stage, x);
    if (removal >= 0) {
        struct removed_choice *noted = b->c->removed_count ? &b->c->removed[b->c->removed_count - 1]
                                                           : NULL;
        if (removal != *last)
            choices_note_removed(b->c, b->stage, x, (enum removal)removal, amount);
        else if (amount < noted->amount)
            *noted = (struct removed_choice){b->stage, *x, (enum removal)removal, amount};
    }
    *last = removal;
    return removal;
}

static void try_first_layers(struct bucket *b, struct choice x, int recomputable)
{
    x.recompute = RECOMPUTE_FIRST_LAYERS;
    if (recomputable < 1) return;
    bool barred = choice_broken_rule(b->c, b->stage, &x) >= 0; // a rule treats every k alike
    int least = barred ? 1 : least_possible(b, x, 1, recomputable), last_removal = -1;
    for (int k = least > 1 ? least - 1 : 1; k <= recomputable; k++) {
        x.recomputed_layers = k;
        int removal = try_next(b, &x, &last_removal);
        // Once one k fits, recomputing more only makes the backward longer, unless it makes room
        // for other stages.
        if (barred || (removal == REMOVED_BY_DOMINANCE && b->c->virtual_stages == 1)) return;
    }
}

// Whether recomputing or swapping one more of a stage's layers cannot improve anything once it
// fits: it has its rank alone, its syncs are exposed, and recomputation leaves no more room to what
// is swapped.
static bool room_settles(const struct choices *c, int group)
{
    return c->virtual_stages == 1 && c->priced->layout.gradient_sync == SYNC_EXPOSED &&
           stash_falls(c->priced, group);
}

// With this number of layers swapped, recomputes of those after them none, all, or any number.
// Returns whether none need be recomputed.
static bool try_behind_swapped(struct bucket *b, struct choice x, int left, int *last)
{
    const struct priced *p = b->c->priced;
    bool any = p->recompute[RECOMPUTE_FIRST_LAYERS], all = any || p->recompute[RECOMPUTE_FULL];
    int least = all && left > 0 ? least_possible(b, x, 0, left) : 0;
    for (int k = any ? (least > 1 ? least - 1 : 0) : 0; k <= left; k += any || !left ? 1 : left) {
        if (k > 0 && !all) return false;
        x.recomputed_layers = k;
        if (fitted(try_next(b, &x, last)) && room_settles(b->c, x.group)) return k == 0;
    }
    return false;
}

static void try_swaps(struct bucket *b, struct choice x, int recomputable)
{
    x.recompute = RECOMPUTE_SWAP;
    x.swapped_layers = 1;
    int last = -1;
    if (recomputable < 1 || !priced_swaps_on(b->c->priced, x.group, x.gradient_option)) return;
    if (choice_broken_rule(b->c, b->stage, &x) >= 0) { // a rule treats every number alike
        try_next(b, &x, &last);
        return;
    }
    for (; x.swapped_layers <= recomputable; x.swapped_layers++)
        if (try_behind_swapped(b, x, recomputable - x.swapped_layers, &last)) return;
}

// The only setting that the layout has for all stages; first_layers of none is none.
static void try_setting(struct bucket *b, struct choice x, int recomputable)
{
    const struct layout *l = &b->c->priced->layout;
    enum recompute mode = layout_recompute(l);
    if (mode == RECOMPUTE_FIRST_LAYERS)
        x.recomputed_layers = smaller_int(l->recomputed_layers, recomputable);
    try_mode(b, x, x.recomputed_layers || recompute_of_layer(mode) ? mode : RECOMPUTE_NONE);
}

static void try_modes(struct bucket *b, struct choice x, int recomputable)
{
    const struct priced *p = b->c->priced;
    if (layout_recomputes_alike(&p->layout)) {
        try_setting(b, x, recomputable);
        return;
    }
    bool kept = fitted(try_mode(b, x, RECOMPUTE_NONE));
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (p->recompute[mode] && recompute_in_part((enum recompute)mode))
            try_mode(b, x, (enum recompute)mode);
    if (p->recompute[RECOMPUTE_FULL])
        try_mode(b, x, RECOMPUTE_FULL); // before the equal choice: first_layers of all layers
    if (p->recompute[RECOMPUTE_FIRST_LAYERS]) try_first_layers(b, x, recomputable);
    if (p->recompute[RECOMPUTE_SWAP] && !(kept && room_settles(b->c, x.group)))
        try_swaps(b, x, recomputable);
}

static void fill_bucket(struct bucket *b, struct choice x)
{
    const struct priced *p = b->c->priced;
    int recomputable = span_recomputable(p, choice_first_layer(b->c, b->stage, &x), x.layer_count),
        sharded_most = p->sharded_run_count ? recomputable : 0;
    for (x.gradient_option = 0; x.gradient_option < p->gradient_option_count; x.gradient_option++) {
        if (!compression_allowed(p->gradient_options[x.gradient_option].form, p->budget.rank_min))
            continue;
        for (x.vocabulary_tensor = 0; x.vocabulary_tensor >= 0;
             x.vocabulary_tensor = choice_next_degree(b->c, b->stage, &x))
            for (x.sharded_layers = 0; x.sharded_layers <= sharded_most; x.sharded_layers++)
                try_modes(b, x, recomputable);
    }
}

// ---- stages

struct stage_list {
    struct choice *items;
    int count, capacity;
};

static void keep_bucket(struct stage_list *list, struct bucket *b)
{
    if (list->count + b->count > list->capacity) {
        int capacity = 2 * (list->count + b->count) + 64;
        list->items = arena_grow(b->c->arena, list->items, (size_t)list->count, (size_t)capacity,
                                 sizeof *list->items);
        list->capacity = capacity;
    }
    for (int i = 0; i < b->count; i++) list->items[list->count++] = b->items[i];
    b->count = 0;
}

// Whether a rank may be on the group. With places, a group's slots are a lower bound of what one
// pipeline has of it.
static bool has_room(const struct priced *p, int group)
{
    bool room = priced_seats(p, group) > 0;
    for (int i = 0; p->places && i < p->places->node_count; i++)
        room = room || (p->places->nodes[i].group == group && p->places->nodes[i].slots > 0);
    return room;
}

// All groups and boundary options of one span of layers.
static void enumerate_span(struct stage_list *list, struct bucket *b, int first_layer,
                           int layer_count)
{
    const struct priced *p = b->c->priced;
    struct choice x = {.first_layer = first_layer, .layer_count = layer_count};
    for (x.group = 0; x.group < p->group_count; x.group++) {
        if (p->groups[x.group].excluded || !has_room(p, x.group)) continue;
        int options = choice_sends_backward(b->c, b->stage) ? p->boundary_option_count : 1;
        for (x.boundary_option = 0; x.boundary_option < options; x.boundary_option++) {
            if (!compression_allowed(p->boundary_options[x.boundary_option].form,
                                     p->budget.rank_min))
                continue;
            fill_bucket(b, x);
            keep_bucket(list, b);
        }
    }
}

static void enumerate_stage(struct bucket *b, struct stage_list *list)
{
    const struct priced *p = b->c->priced;
    int s = b->stage, stages = p->stage_count, layers = p->layer_count;
    int more = b->c->last_least - 1, free_from = b->c->free_from,
        latest = s ? layers - stages + s - more : 0,
        end_most = layers - (stages - 1 - s) - (s < stages - 1 ? more : 0);
    // Every stage before and after holds at least one layer, the last one last_least; the first
    // starts the model, the last ends it.
    for (int first = s; first <= latest && first < free_from; first++)
        for (int end = s == stages - 1 ? layers : first + 1; end <= end_most; end++)
            enumerate_span(list, b, first, end - first);
    for (int n = stages == 1 ? layers : 1; n <= end_most - larger_int(s, free_from); n++)
        if (latest >= free_from) enumerate_span(list, b, -1 - free_from, n);
}

enum status choices_build(struct choices *c, const struct priced *priced,
                          const struct schedule *schedule, struct arena *arena, struct error *err)
{
    assert(priced->stage_count == schedule->request.stage_count);
    int turns = schedule->request.virtual_stages, least = turns > 1 ? last_least(priced) : 1;
    *c = (struct choices){.priced = priced,
                          .schedule = schedule,
                          .free_from = free_from(priced, turns, least),
                          .last_least = least,
                          .arena = arena,
                          .virtual_stages = schedule->request.virtual_stages,
                          .rank_count = schedule->request.rank_count};
    choices_prepare_ranks(c);
    c->stages = TAKE(arena, priced->stage_count, struct stage_choices);
    struct bucket bucket = {.c = c, // enough if nothing is swapped
                            .capacity = priced->gradient_option_count * (priced->layer_count + 3)};
    bucket.items = TAKE(arena, bucket.capacity, struct choice);
    int64_t total = 0;
    for (int s = 0; s < priced->stage_count; s++) {
        struct stage_list list = {0};
        bucket.stage = s;
        enumerate_stage(&bucket, &list);
        c->stages[s] = (struct stage_choices){list.items, list.count};
        total += list.count;
        if (total > 20 * 1000 * 1000)
            return fail(
                err, UNAVAILABLE,
                "more than 20 million choices: too many layers, stages and options together");
    }
    return OK;
}

void choices_remove(struct choices *c, bool *const *keep, int64_t *const *amount,
                    enum removal removal)
{
    for (int s = 0; s < c->priced->stage_count; s++) {
        struct stage_choices *stage = &c->stages[s];
        int kept = 0;
        for (int i = 0; i < stage->count; i++) {
            if (keep[s][i]) stage->items[kept++] = stage->items[i];
            else choices_note_removed(c, s, &stage->items[i], removal, amount ? amount[s][i] : 0);
        }
        stage->count = kept;
    }
}
