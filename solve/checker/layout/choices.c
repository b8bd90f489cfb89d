// The enumeration of choices: see choices.h. The order is that of docs/PROOFS.md 4: first layer,
// number of layers, group, boundary option, gradient option, the vocabulary's degree, sharded
// layers, mode, recomputed layers; of equal choices the first is kept.
#include "solve/checker/layout/box.h"

#include <string.h>

#include "data/base/grow.h"

enum { CHOICES_MOST = 2000000 };

enum status check_spend(const struct check_problem *p, uint64_t *left, uint64_t amount)
{
    if (*left < amount)
        return fail(p->reader.err, (enum status)NOT_PROVEN, "the work limit is reached");
    *left -= amount;
    return OK;
}

struct visit {
    struct check_choices *c;
    int stage;
    int capacity, bucket; // of the stage's items; start of the current bucket
    int64_t total;
    struct check_choice scratch; // scratch whose time arrays are evaluated into
    struct arena *growing;       // holds the stage's items while they grow
};

static bool no_slower(const struct check_problem *p, const struct check_choice *a,
                      const struct check_choice *b)
{
    if (p->objective == MINIMISE_LOAD) return a->load <= b->load;
    for (int slice = 0; slice < p->slices; slice++)
        if (a->forward[slice] > b->forward[slice] || a->backward[slice] > b->backward[slice])
            return false;
    if (a->weight > b->weight || a->optimizer > b->optimizer) return false;
    // A path that has the rest of a pass's transfers has the pass before it, and one that has the
    // start of them the pass behind it; the sync may follow both.
    if (a->forward[0] + a->rest > b->forward[0] + b->rest ||
        a->backward[0] + a->start > b->backward[0] + b->start ||
        (a->start + b->start > 0 &&
         a->backward[0] + a->start + a->sync > b->backward[0] + b->start + b->sync))
        return false;
    // What waits behind another stage's sync, or its own rank's last pass, has no pass of its own
    // in front of it. Where every path to the sync includes the stage's last backward, only their
    // sum matters.
    if (a->queued_sync > b->queued_sync) return false;
    if ((p->turns > 1 && !p->overlapped) || p->splits_backward) return a->sync <= b->sync;
    return a->backward[0] + a->sync <= b->backward[0] + b->sync;
}

// For the same span, group and boundary option: whether replacing b by a makes no plan worse. A
// rank's load has all passes of a stage as often, once, and nothing else that these choose.
static bool dominates(const struct check_problem *p, const struct check_choice *a,
                      const struct check_choice *b)
{
    if (a->cost > b->cost || a->energy > b->energy ||
        (p->gradient[a->gradient].amount && !p->gradient[b->gradient].amount) ||
        !no_slower(p, a, b))
        return false;
    return p->turns == 1 ||
           (a->resident <= b->resident && a->stash <= b->stash && a->working <= b->working);
}

// Whether the choice could fit if the rank's other stages needed nothing.
static bool may_fit(const struct visit *v, const struct check_choice *x)
{
    const struct check_problem *p = v->c->p;
    const struct check_choice *chosen[MOST_STAGES], other = {.group = x->group};
    int rank = check_rank_of(p, v->stage);
    for (int turn = 0; turn < p->turns; turn++)
        chosen[turn] = check_stage_of(p, rank, turn) == v->stage ? x : &other;
    return check_tiers_hold(v->c->g, v->stage, x) &&
           check_rank_bytes(v->c->g, rank, chosen) <= p->groups[x->group].memory_limit;
}

static enum status keep(struct visit *v, const struct check_choice *x)
{
    struct check_choices *c = v->c;
    struct check_choice *items = c->items[v->stage];
    const struct check_problem *p = c->p;
    int count = c->count[v->stage], kept = v->bucket;
    for (int i = v->bucket; i < count; i++)
        if (dominates(p, &items[i], x)) return OK;
    for (int i = v->bucket; i < count; i++)
        if (!dominates(p, x, &items[i])) items[kept++] = items[i];
    GROW(v->growing, items, kept, v->capacity, 64);
    c->items[v->stage] = items;
    items[kept] = *x;
    items[kept].forward = TAKE(v->growing, 2 * p->slices, int64_t);
    items[kept].backward = items[kept].forward + p->slices;
    memcpy(items[kept].forward, x->forward, (size_t)p->slices * sizeof *x->forward);
    memcpy(items[kept].backward, x->backward, (size_t)p->slices * sizeof *x->backward);
    c->count[v->stage] = kept + 1;
    if (++v->total > CHOICES_MOST)
        return check_refuse(&p->reader, "", "more choices than are checked");
    return check_spend(p, c->work, (uint64_t)(count - v->bucket) * 4);
}

// *fits: it is a valid choice, even if another one makes it unnecessary.
static enum status try_choice(struct visit *v, const struct check_choice *x, int first, bool *fits)
{
    const struct check_problem *p = v->c->p;
    struct check_choice *to = &v->scratch;
    int64_t *forward = to->forward, *backward = to->backward;
    int peaks = v->c->g->peaks[check_rank_of(p, v->stage)].count;
    TRY(check_spend(p, v->c->work,
                    (uint64_t)(x->layers + 20) * (uint64_t)(p->rule_count + p->slices) +
                        (uint64_t)p->turns * (uint64_t)(peaks + 4)));
    *fits = false;
    if (!check_offers(p, v->stage, x) || !check_obeys_rules(p, v->stage, x, first)) return OK;
    *to = *x;
    to->forward = forward;
    to->backward = backward;
    check_evaluate(p, v->stage, first, to);
    *fits = may_fit(v, to);
    return *fits ? keep(v, to) : OK;
}

// Settled: where a choice fits, none that recomputes or swaps more is better.
static enum status try_swaps(struct visit *v, struct check_choice x, int first, int recomputable,
                             bool settled)
{
    const struct check_problem *p = v->c->p;
    x.mode = MODE_SWAP;
    for (x.swapped = 1; x.swapped <= recomputable; x.swapped++) {
        int left = recomputable - x.swapped;
        bool fits = false;
        for (x.recomputed = 0; x.recomputed <= left && !(fits && settled); x.recomputed++) {
            if (!check_recomputes_behind(p, x.recomputed, left)) continue;
            // A swapped stage is walked layer by layer.
            TRY(check_spend(p, v->c->work, (uint64_t)x.layers * 8));
            TRY(try_choice(v, &x, first, &fits));
            if (fits && settled && x.recomputed == 0) return OK;
        }
    }
    return OK;
}

static enum status try_setting(struct visit *v, struct check_choice x, int first, int recomputable)
{
    bool fits;
    check_take_setting(v->c->p, &x, recomputable);
    return try_choice(v, &x, first, &fits);
}

static enum status try_modes(struct visit *v, struct check_choice x, int first, int recomputable)
{
    const struct check_problem *p = v->c->p;
    bool kept = false, fits;
    if (p->layout.value[KEY_RECOMPUTE]) return try_setting(v, x, first, recomputable);
    for (x.mode = MODE_NONE; x.mode < MODES; x.mode++) {
        if (x.mode != MODE_NONE && !check_keeps_part(x.mode)) continue;
        if (x.mode >= MODE_SETS && !p->modes[x.mode]) continue;
        TRY(try_choice(v, &x, first, &fits));
        if (x.mode == MODE_NONE) kept = fits;
    }
    x.mode = MODE_FULL;
    TRY(try_choice(v, &x, first, &fits));
    x.mode = MODE_FIRST_LAYERS;
    for (x.recomputed = 1; x.recomputed <= recomputable && p->modes[x.mode]; x.recomputed++)
        TRY(try_choice(v, &x, first, &fits));
    if (!p->modes[MODE_SWAP] || check_swap(&p->runs[0], x.gradient, false)[x.group] < 0) return OK;
    // Everything in the device's memory and nothing hidden by waiting: no choice is better.
    bool settled = p->turns == 1 && !p->overlapped && check_full_keeps_less(p);
    return kept && settled ? OK : try_swaps(v, x, first, recomputable, settled);
}

static enum status try_span(struct visit *v, int first, int count)
{
    const struct check_problem *p = v->c->p;
    bool middle = v->stage > 0 && v->stage < p->stages - 1;
    struct check_choice x = {.first = first, .layers = count};
    if (middle && first >= v->c->free_from) x.first = -1 - v->c->free_from;
    int recomputable = check_recomputable(p, first, count),
        sharded_most = p->runs[0].sharded ? recomputable : 0,
        degrees = p->degree_count && check_may_spread(p, first, count, p->degrees[0])
                      ? p->degree_count
                      : 0;
    for (x.group = 0; x.group < p->group_count; x.group++)
        for (x.boundary = 0; x.boundary < p->boundary_count; x.boundary++) {
            v->bucket = v->c->count[v->stage];
            for (x.gradient = 0; x.gradient < p->gradient_count; x.gradient++)
                for (int k = 0; k <= degrees; k++) {
                    x.vocabulary = k ? p->degrees[k - 1] : 0;
                    for (x.sharded = 0; x.sharded <= sharded_most; x.sharded++)
                        TRY(try_modes(v, x, first, recomputable));
                }
        }
    return OK;
}

// Every stage holds at least one layer; the first stage starts the model and the last ends it.
static enum status visit_stage(struct visit *v, int stage)
{
    const struct check_problem *p = v->c->p;
    int last = p->stages - 1, behind = p->layers - (last - stage); // latest end of the stage
    if (stage < last) behind -= v->c->spare;
    int free = stage < v->c->free_from ? v->c->free_from : stage, // one place for all behind it
        end_of_places = stage == 0                      ? 1
                        : stage < last && free < behind ? free + 1
                                                        : behind;
    v->stage = stage;
    v->capacity = 0;
    if (stage == last && stage > 0) end_of_places -= v->c->spare;
    for (int first = stage; first < end_of_places; first++)
        for (int end = stage == last ? behind : first + 1; end <= behind; end++)
            TRY(try_span(v, first, end - first));
    return OK;
}

// Moves the stage's items to an array of their exact size.
static void settle_items(struct check_choices *c, int stage)
{
    size_t count = (size_t)c->count[stage], slices = (size_t)c->p->slices;
    struct check_choice *items = TAKE_COPY(c->arena, c->items[stage], count);
    int64_t *times = TAKE(c->arena, 2 * count * slices, int64_t);
    for (size_t i = 0; i < count; i++, times += 2 * slices) {
        memcpy(times, items[i].forward, 2 * slices * sizeof *times);
        items[i].forward = times;
        items[i].backward = times + slices;
    }
    c->items[stage] = items;
}

// How many layers before the last one the last stage has to hold with it: a rule may forbid it
// fewer, stating nothing else.
static int find_spare(const struct check_problem *p)
{
    int spare = 0, room = p->layers - p->stages;
    for (int i = 0; i < p->rule_count && p->turns > 1; i++) {
        const struct check_rule *r = &p->rules[i];
        bool of_last = r->stage < 0 || r->stage == p->stages - 1,
             plain = !r->groups && r->run < 0 && !r->modes_stated && r->compresses_gradient < 0 &&
                     r->compresses_boundary < 0;
        if (r->forbids && of_last && plain && r->holds_first == p->layers - 1 &&
            r->layers_min < 2 && r->layers_max > spare)
            spare = r->layers_max;
    }
    return spare < room ? spare : room;
}

static bool is_equal(const int64_t *a, const int64_t *b, int count)
{
    for (int i = 0; a != b && i < count; i++)
        if (!a || !b || a[i] != b[i]) return false;
    return true;
}

// Whether layers of the two runs may be exchanged: all that a choice is made of is the same, and
// nothing else is stated of either.
static bool may_exchange(const struct check_problem *p, const struct check_run *a,
                         const struct check_run *b)
{
    int passes = p->slices * p->group_count;
    bool same = !p->degree_count && a->recomputable == b->recomputable && a->cut == b->cut &&
                a->weight_bytes == b->weight_bytes && a->gradient_bytes == b->gradient_bytes &&
                a->unsharded_bytes == b->unsharded_bytes &&
                is_equal(a->optimizer_bytes, b->optimizer_bytes, p->gradient_count) &&
                is_equal(a->feedback, b->feedback, p->gradient_count) &&
                is_equal(a->stash, b->stash, MODES) && is_equal(a->working, b->working, MODES) &&
                is_equal(a->forward, b->forward, passes) &&
                is_equal(a->backward, b->backward, passes) &&
                is_equal(a->weight, b->weight, p->group_count);
    for (int mode = 0; mode < MODES; mode++)
        same = same && is_equal(a->again[mode], b->again[mode], passes);
    for (int o = 0; o < p->gradient_count; o++)
        same = same && is_equal(a->sync[o], b->sync[o], p->group_count) &&
               is_equal(a->optimizer[o], b->optimizer[o], p->group_count);
    const struct check_run *both[] = {a, b};
    for (int i = 0; i < 2; i++)
        same = same && !both[i]->entry && !both[i]->seats && !both[i]->tiered && !both[i]->next;
    for (int i = 0; i < p->rule_count; i++) same = same && p->rules[i].run < 0;
    return same;
}

// The first layer from which on a middle stage's times, bytes and rules are the same wherever it
// starts: all layers that it could hold are of one run, or of runs whose layers may be exchanged,
// and the message before it is theirs. All layers: there is none, or places are stated anyway.
static int find_free_layer(const struct check_problem *p, int spare)
{
    int last = p->layers - 2 - spare, from = last;
    if (p->stages < 3) return 0; // no stage is in the middle
    for (int i = 0; i < p->rule_count; i++)
        if (p->rules[i].holds_first >= 0 && (p->turns == 1 || p->rules[i].holds_last <= last) &&
            (p->rules[i].stage < 0 || (p->rules[i].stage > 0 && p->rules[i].stage < p->stages - 1)))
            return p->layers;
    while (from > 1 && (p->run_of[from - 1] == p->run_of[last] ||
                        may_exchange(p, &p->runs[p->run_of[from - 1]], &p->runs[p->run_of[last]])))
        from--;
    if (p->runs[p->run_of[from - 1]].cut != p->runs[p->run_of[last]].cut) from++;
    if (from == 1) return 0; // wherever a middle stage may start
    return p->turns == 1 || from > last ? p->layers : from;
}

static enum status find_kinds(struct check_choices *c)
{
    const struct check_problem *p = c->p;
    c->kind_of = TAKE(c->arena, p->run_count, int);
    for (int run = 0; run < p->run_count; run++) {
        int first = 0;
        TRY(check_spend(p, c->work, (uint64_t)(run + 1) * (uint64_t)(p->slices * p->group_count)));
        while (first < run && !may_exchange(p, &p->runs[first], &p->runs[run])) first++;
        c->kind_of[run] = first < run ? c->kind_of[first] : c->kind_count++;
    }
    int row = p->layers + 1;
    TRY(check_spend(p, c->work, (uint64_t)c->kind_count * (uint64_t)row));
    c->before = TAKE(c->arena, c->kind_count * row, int);
    for (int kind = 0; kind < c->kind_count; kind++)
        for (int layer = 0; layer < p->layers; layer++)
            c->before[kind * row + layer + 1] = c->before[kind * row + layer] +
                                                (c->kind_of[p->run_of[layer]] == kind);
    return OK;
}

// A middle stage that states no place has layers of one kind wherever it starts: behind a layer of
// each stage before it, too.
int check_layers_of(const struct check_choices *c, int stage, const struct check_choice *x,
                    int kind)
{
    const struct check_problem *p = c->p;
    int first = stage == p->stages - 1  ? p->layers - x->layers
                : x->first >= 0         ? x->first
                : -1 - x->first < stage ? stage
                                        : -1 - x->first;
    const int *before = c->before + kind * (p->layers + 1);
    return before[first + x->layers] - before[first];
}

// With several stages a rank: removes choices that fit with no choices of the rank's other stages.
static enum status couple_all(struct check_choices *c)
{
    struct arena_mark mark = arena_set_mark(c->arena);
    struct check_box box = check_whole_box(c, c->arena);
    TRY(check_couple_ranks(c, &box));
    for (int s = 0; s < c->p->stages; s++) {
        c->count[s] = box.count[s];
        for (int i = 0; i < box.count[s]; i++) c->items[s][i] = c->items[s][box.left[s][i]];
    }
    arena_reset(c->arena, mark);
    return OK;
}

enum status check_list_alone(struct check_choices *c, const struct check_graph *g, uint64_t *work,
                             struct arena *arena)
{
    const struct check_problem *p = g->p;
    int spare = find_spare(p);
    *c = (struct check_choices){.p = p,
                                .g = g,
                                .spare = spare,
                                .free_from = find_free_layer(p, spare),
                                .work = work,
                                .arena = arena};
    c->items = TAKE(arena, p->stages, struct check_choice *);
    c->count = TAKE(arena, p->stages, int);
    TRY(find_kinds(c));
    struct visit v = {.c = c};
    v.scratch.forward = TAKE(arena, p->slices, int64_t);
    v.scratch.backward = TAKE(arena, p->slices, int64_t);
    v.growing = arena_open_within(arena);
    for (int stage = 0; stage < p->stages; stage++) {
        struct arena_mark mark = arena_set_mark(v.growing);
        TRY(visit_stage(&v, stage));
        settle_items(c, stage);
        arena_reset(v.growing, mark);
    }
    return OK;
}

enum status check_list_choices(struct check_choices *c, const struct check_graph *g, uint64_t *work,
                               struct arena *arena)
{
    TRY(check_list_alone(c, g, work, arena));
    return g->p->turns > 1 ? couple_all(c) : OK;
}
