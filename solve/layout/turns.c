// The greatest load where the replicas of a stage take whole micro-batches in turn
// (docs/FORMULAS.md 23): a stage is busy for its passes and its ends of messages, over its
// replicas, and keeps as many micro-batches as all replicas from it on need, over its own. Exact,
// by a table: for a load that no stage may exceed, the fewest slots that hold all layers from one
// on, by the number of stages left and a cap on their replicas. The least load for which that is at
// most the slots there are is found by halving; each load that is refused is a bound. Where any
// number of stages will do, the table is one for all of them (docs/PROOFS.md 15.6).
#include <assert.h>

#include "data/base/least.h"
#include "formulate/choices/choice.h"
#include "solve/layout/steps.h"

enum { SLOTS_NONE = 1 << 29 };

// A way to treat a span's layers on a width: its passes, and how many micro-batches fit.
struct way {
    int64_t passes_ns, depth;
    enum recompute recompute;
    int recomputed_layers;
};

// Of one span of layers on one width; a longer pass has a greater depth.
struct span {
    struct way *ways;
    int count;
    int64_t ends_ns, link_ns; // of one micro-batch: at its ends of messages, most over a link
    bool joined;
};

struct turns {
    const struct priced *p;
    struct choices choices;
    struct arena *arena;
    struct way *scratch;
    int layers, stages, groups;
    bool any, alone; // any number of stages will do; also one alone
    int sum_most;    // of replicas
    bool saturates; // at sum_most replicas or more every stage keeps all micro-batches of a replica
    struct span *spans; // [(first * (layers + 1) + end) * groups + group]
    int *fewest;        // [(left * (layers + 1) + first) * (sum_most + 1) + sum]
    int slots;
    bool (*should_stop)(void *argument);
    void *argument;
};

static struct span *span_at(const struct turns *t, int first, int end, int group)
{
    return &t->spans[((size_t)first * (size_t)(t->layers + 1) + (size_t)end) * (size_t)t->groups +
                     (size_t)group];
}

static int *row_at(const struct turns *t, int left, int first)
{
    if (t->any) left = 0;
    return t->fewest +
           ((size_t)left * (size_t)(t->layers + 1) + (size_t)first) * (size_t)(t->sum_most + 1);
}

static int stage_of_span(const struct turns *t, int first, int end)
{
    return first == 0 ? 0 : end == t->layers ? t->stages - 1 : 1;
}

// ---- spans

// Ways stay in ascending order of both numbers.
static void add_way(struct span *s, struct way way)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++)
        if (s->ways[i].passes_ns <= way.passes_ns && s->ways[i].depth >= way.depth) return;
    for (int i = 0; i < s->count; i++)
        if (!(way.passes_ns <= s->ways[i].passes_ns && way.depth >= s->ways[i].depth))
            s->ways[kept++] = s->ways[i];
    int at = kept;
    for (; at > 0 && s->ways[at - 1].passes_ns > way.passes_ns; at--) s->ways[at] = s->ways[at - 1];
    s->ways[at] = way;
    s->count = kept + 1;
}

static int64_t depth_of(const struct turns *t, const struct choice *x)
{
    int64_t rest = t->p->groups[x->group].memory_limit_bytes -
                   (memory_total(&x->memory) - x->memory.activation_bytes);
    return rest < 0 ? 0 : x->stash_bytes ? rest / x->stash_bytes : INT32_MAX;
}

static void try_way(const struct turns *t, struct span *s, struct choice *x, int stage)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    choice_evaluate(&t->choices, stage, x);
    struct way way = {x->load_ns, depth_of(t, x), x->recompute, x->recomputed_layers};
    arena_reset(t->arena, mark);
    if (way.depth > 0) add_way(s, way);
}

static void try_ways(const struct turns *t, struct span *s, struct choice x, int stage)
{
    const struct priced *p = t->p;
    int recomputable = span_recomputable(p, x.first_layer, x.layer_count);
    if (layout_recomputes_alike(&p->layout)) {
        enum recompute mode = layout_recompute(&p->layout);
        if (mode == RECOMPUTE_FIRST_LAYERS)
            x.recomputed_layers = smaller_int(p->layout.recomputed_layers, recomputable);
        x.recompute = x.recomputed_layers || recompute_of_layer(mode) ? mode : RECOMPUTE_NONE;
        try_way(t, s, &x, stage);
        return;
    }
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        bool part = p->recompute[mode] && recompute_in_part((enum recompute)mode);
        if (mode != RECOMPUTE_NONE && !part && !(mode == RECOMPUTE_FULL && p->recompute[mode]))
            continue;
        x.recompute = (enum recompute)mode;
        try_way(t, s, &x, stage);
    }
    x.recompute = RECOMPUTE_FIRST_LAYERS;
    for (int k = 1; k <= recomputable && p->recompute[RECOMPUTE_FIRST_LAYERS]; k++) {
        x.recomputed_layers = k;
        try_way(t, s, &x, stage);
    }
}

// A stage's end of the message behind a layer is as long as between two stages of its width.
static void add_end(const struct turns *t, struct span *s, int layer, int group)
{
    const struct priced_cut *cut = &t->p->cuts[t->p->runs[priced_run_of(t->p, layer)].cut];
    const int64_t *there = cut->forward_ns + (size_t)(group * t->groups + group) * PART_COUNT,
                  *back = cut->backward_ns[0] + (there - cut->forward_ns);
    s->joined = s->joined && there[0] >= 0 && back[0] >= 0;
    s->ends_ns += there[PART_BLOCKING] + there[PART_OVERHEAD] + back[PART_BLOCKING] +
                  back[PART_OVERHEAD];
    s->link_ns = larger(s->link_ns, larger(there[PART_LINK], back[PART_LINK]));
}

// As that of the layer before, unless the layer states it.
static void add_start(const struct turns *t, struct span *s, int first, int group)
{
    const struct priced_run *run = &t->p->runs[priced_run_of(t->p, first)];
    struct span before = {.joined = s->joined};
    add_end(t, &before, first - 1, group);
    s->joined = before.joined;
    s->ends_ns += run->entry_ns ? run->entry_ns[group] : before.ends_ns;
    s->link_ns =
        larger(s->link_ns, run->entry_ns ? run->entry_ns[t->groups + group] : before.link_ns);
}

static void fill_span(struct turns *t, int first, int end, int group)
{
    struct span *s = span_at(t, first, end, group);
    struct choice x = {.first_layer = first, .layer_count = end - first, .group = group};
    *s = (struct span){.joined = true};
    if (t->p->groups[group].excluded) return;
    s->ways = t->scratch;
    if (first > 0) add_start(t, s, first, group);
    if (end < t->layers) add_end(t, s, end - 1, group);
    if (s->joined) try_ways(t, s, x, stage_of_span(t, first, end));
    s->ways = TAKE_COPY(t->arena, s->ways, s->count);
}

// A stage that has all layers has no neighbour to keep messages for.
static void fill_alone(struct turns *t, int group)
{
    const struct choices all = t->choices;
    struct priced one = *t->p;
    one.stage_count = one.rank_count = 1;
    t->choices.priced = &one, t->choices.rank_count = 1;
    fill_span(t, 0, t->layers, group);
    t->choices = all;
}

static bool is_span(const struct turns *t, int first, int end)
{
    bool starts = first == 0, ends = end == t->layers;
    if (t->any) return t->alone || !(starts && ends);
    return t->stages == 1 ? starts && ends : t->stages == 2 ? starts != ends : !(starts && ends);
}

static void fill_spans(struct turns *t)
{
    t->spans = TAKE(t->arena, (size_t)t->layers * (size_t)(t->layers + 1) * (size_t)t->groups,
                    struct span);
    for (int first = 0; first < t->layers && !t->should_stop(t->argument); first++)
        for (int end = first + 1; end <= t->layers; end++)
            for (int g = 0; g < t->groups; g++)
                if (t->any && is_span(t, first, end) && first == 0 && end == t->layers)
                    fill_alone(t, g);
                else if (is_span(t, first, end)) fill_span(t, first, end, g);
}

static int64_t shared(int64_t ns, int64_t replicas) { return (ns + replicas - 1) / replicas; }

// The greatest depth with at most this load; 0: none.
static int64_t depth_within(const struct turns *t, const struct span *s, int group, int64_t load_ns)
{
    int64_t replicas = t->p->groups[group].data, depth = 0;
    if (shared(s->link_ns, replicas) > load_ns) return 0;
    for (int i = 0; i < s->count && shared(s->ways[i].passes_ns + s->ends_ns, replicas) <= load_ns;
         i++)
        depth = s->ways[i].depth;
    return depth;
}

// ---- the table

// to[sum] against one more stage of the width in front of what `from` counts.
static void put_stage_before(const struct turns *t, int *to, const int *from, int group,
                             int64_t depth)
{
    int replicas = t->p->groups[group].data, slots = priced_seat_slots(t->p, group);
    int open = t->saturates ? t->sum_most - 1 : t->sum_most;
    int last = (int)smaller(depth * replicas, open);
    for (int sum = replicas; sum <= last; sum++)
        to[sum] = smaller_int(to[sum], from[sum - replicas] + slots);
    if (t->saturates && depth * replicas >= t->p->micro_batches)
        to[t->sum_most] = smaller_int(to[t->sum_most], from[t->sum_most] + slots);
}

static void fill_row(const struct turns *t, int left, int first, int64_t load_ns)
{
    int *to = row_at(t, left, first);
    for (int sum = 0; sum <= t->sum_most; sum++) to[sum] = SLOTS_NONE;
    for (int end = first + 1; end <= t->layers; end++) {
        const int *from = row_at(t, left - 1, end);
        bool meets = t->any ? is_span(t, first, end) : (left == 1) == (end == t->layers);
        if (!meets || from[t->sum_most] >= SLOTS_NONE) continue;
        for (int g = 0; g < t->groups; g++) {
            int64_t depth = depth_within(t, span_at(t, first, end, g), g, load_ns);
            if (depth > 0) put_stage_before(t, to, from, g, depth);
        }
    }
    for (int sum = 1; sum <= t->sum_most; sum++) to[sum] = smaller_int(to[sum], to[sum - 1]);
}

// Whether all layers have room with at most this load.
static bool is_enough(const struct turns *t, int64_t load_ns)
{
    for (int first = 0; first <= t->layers; first++)
        for (int sum = 0; sum <= t->sum_most; sum++)
            row_at(t, 0, first)[sum] = first == t->layers ? 0 : SLOTS_NONE;
    for (int first = t->layers - 1; t->any && first >= 0 && !t->should_stop(t->argument); first--)
        fill_row(t, 1, first, load_ns);
    for (int left = 1; left <= t->stages && !t->any; left++)
        for (int first = 0; first <= t->layers; first++) {
            bool starts = left == t->stages;
            if (t->should_stop(t->argument)) return false;
            if (starts == (first == 0) && first <= t->layers - left)
                fill_row(t, left, first, load_ns);
            else
                for (int sum = 0; sum <= t->sum_most; sum++)
                    row_at(t, left, first)[sum] = SLOTS_NONE;
        }
    return row_at(t, t->stages, 0)[t->sum_most] <= t->slots;
}

// ---- a plan

struct taken {
    int first, end, group;
    int64_t depth;
};

// Whether the table's entry comes from this stage; then *sum is what is left for those behind.
static bool comes_from(const struct turns *t, int left, const struct taken *x, int64_t load_ns,
                       int *sum)
{
    int replicas = t->p->groups[x->group].data,
        value = row_at(t, left, x->first)[*sum] - priced_seat_slots(t->p, x->group);
    const int *from = row_at(t, left - 1, x->end);
    int64_t depth = depth_within(t, span_at(t, x->first, x->end, x->group), x->group, load_ns);
    bool all = t->saturates && *sum == t->sum_most;
    if (all && depth * replicas >= t->p->micro_batches && from[*sum] == value) return true;
    for (int at = *sum; at >= replicas; at--) {
        bool same = !(all && at == t->sum_most) && depth * replicas >= at &&
                    from[at - replicas] == value;
        if (!same) continue;
        *sum = at - replicas;
        return true;
    }
    return false;
}

static void take_stage(const struct turns *t, int left, int first, int64_t load_ns, int *sum,
                       struct taken *x)
{
    x->first = first;
    for (x->end = first + 1; x->end <= t->layers; x->end++)
        for (x->group = 0; x->group < t->groups; x->group++)
            if ((t->any ? is_span(t, first, x->end) : (left == 1) == (x->end == t->layers)) &&
                comes_from(t, left, x, load_ns, sum))
                return;
    assert(!"an entry of the table comes from a stage");
}

// The depths that the plan's own replicas need.
static void put_depths(const struct turns *t, struct taken *stages)
{
    int64_t sum = 0;
    for (int s = t->stages; s-- > 0;) {
        int64_t replicas = t->p->groups[stages[s].group].data;
        sum += replicas;
        stages[s].depth = smaller(shared(sum, replicas), t->p->micro_batches / replicas);
    }
}

static const struct way *way_of(const struct span *s, int64_t depth)
{
    for (int i = 0; i < s->count; i++)
        if (s->ways[i].depth >= depth) return &s->ways[i];
    assert(!"the stage has room");
    return NULL;
}

static int64_t load_of(const struct turns *t, const struct taken *x)
{
    const struct span *s = span_at(t, x->first, x->end, x->group);
    int64_t replicas = t->p->groups[x->group].data;
    return shared(larger(way_of(s, x->depth)->passes_ns + s->ends_ns, s->link_ns), replicas);
}

// Reads the table, which is_enough filled for this load; returns the plan's own load.
static int64_t take_plan(struct turns *t, int64_t load_ns, struct taken *stages)
{
    int sum = t->sum_most, count = 0;
    int64_t most = 0;
    for (int first = 0; first < t->layers; first = stages[count++].end)
        take_stage(t, t->stages - count, first, load_ns, &sum, &stages[count]);
    t->stages = count;
    put_depths(t, stages);
    for (int s = 0; s < t->stages; s++) most = larger(most, load_of(t, &stages[s]));
    assert(most <= load_ns);
    return most;
}

static void put_plan(struct turns *t, struct solving *s, const struct taken *stages,
                     int64_t value_ns)
{
    struct schedule own = *t->choices.schedule;
    int *depth = TAKE(t->arena, t->stages, int), *chosen = TAKE(t->arena, t->stages, int);
    own.in_flight = depth;
    t->choices.schedule = &own;
    t->choices.stages = TAKE(t->arena, t->stages, struct stage_choices);
    for (int i = 0; i < t->stages; i++) {
        const struct taken *x = &stages[i];
        const struct way *way = way_of(span_at(t, x->first, x->end, x->group), x->depth);
        struct choice *choice = TAKE(t->arena, 1, struct choice);
        choice->first_layer = x->first, choice->layer_count = x->end - x->first;
        choice->group = x->group;
        choice->recompute = way->recompute, choice->recomputed_layers = way->recomputed_layers;
        depth[i] = (int)x->depth;
        choice_evaluate(&t->choices, i, choice);
        t->choices.stages[i] = (struct stage_choices){choice, 1};
    }
    choices_to_plan(solving_add_plan(s), &t->choices, chosen, value_ns, t->arena);
}

// ---- the search

static void open_turns(struct turns *t, const struct solving *s)
{
    const struct priced *p = s->priced;
    *t = (struct turns){.p = p,
                        .arena = s->arena,
                        .layers = p->layer_count,
                        .stages = p->stage_count,
                        .groups = p->group_count,
                        .slots = p->groups[0].slots,
                        .should_stop = solving_should_stop,
                        .argument = (void *)(uintptr_t)s};
    t->choices = (struct choices){.priced = p,
                                  .schedule = &s->schedule,
                                  .free_from = p->layer_count,
                                  .last_least = 1,
                                  .virtual_stages = 1,
                                  .rank_count = p->stage_count,
                                  .arena = s->arena};
    t->scratch = TAKE(s->arena, t->layers + RECOMPUTE_COUNT + 1, struct way);
    int64_t most = 1; // replicas of all stages
    for (int g = 0; g < p->group_count; g++)
        most =
            larger(most, (int64_t)p->groups[g].slots * p->groups[g].data / p->groups[g].seat_slots);
    t->saturates = p->micro_batches <= most;
    t->sum_most = (int)smaller(most, p->micro_batches);
    t->fewest = TAKE(s->arena,
                     (size_t)(t->stages + 1) * (size_t)(t->layers + 1) * (size_t)(t->sum_most + 1),
                     int);
}

// What is known of the least load.
struct halving {
    int64_t below_ns, best_ns; // none is at most below_ns; the plan has best_ns, if there is one
    bool found, finished;
};

static void halve(struct turns *t, struct solving *s, struct halving *h, struct taken *stages)
{
    bool wanted = (t->any || t->stages <= t->layers) && !solving_should_stop(s);
    for (int64_t load_ns = h->best_ns - 1; wanted;
         load_ns = h->below_ns + (h->best_ns - h->below_ns) / 2) {
        bool enough = is_enough(t, load_ns);
        if (solving_should_stop(s)) break;
        s->effort.boxes++;
        if (enough) h->best_ns = take_plan(t, load_ns, stages), h->found = true;
        else h->below_ns = load_ns;
        int64_t open_ns = h->best_ns - h->below_ns - 1;
        wanted = open_ns > 0 &&
                 (!h->found || (double)open_ns > s->settings->gap * (double)h->best_ns);
    }
    h->finished = !solving_should_stop(s) || !wanted;
}

enum { LOAD_MOST_BITS = 53 };

static struct halving begin_halving(const struct solving *s, int64_t times)
{
    const struct solve_settings *settings = s->settings;
    struct halving h = {.best_ns = (int64_t)1 << LOAD_MOST_BITS};
    int64_t cutoff_ns = settings->cutoff_ns > 0 ? shared(settings->cutoff_ns, times) : 0;
    if (cutoff_ns > 0) h.best_ns = smaller(h.best_ns, cutoff_ns);
    if (settings->known_bound_ns > 0) h.below_ns = shared(settings->known_bound_ns, times) - 1;
    return h;
}

enum status solving_in_turn(struct solving *s)
{
    struct turns t;
    int64_t times = s->settings->whole_batch ? s->priced->micro_batches : 1;
    struct halving h = begin_halving(s, times);
    open_turns(&t, s);
    struct taken *stages = TAKE(s->arena, t.layers, struct taken);
    if (t.stages <= t.layers) fill_spans(&t);
    halve(&t, s, &h, stages);
    s->finished = h.finished;
    s->bound_ns = (h.below_ns + 1) * times;
    if (h.found) put_plan(&t, s, stages, h.best_ns * times);
    else if (s->finished && s->settings->cutoff_ns <= 0) s->bound_ns = 0;
    return OK;
}

enum status solve_any_stages(struct any_stages *a, const struct priced *priced, bool alone,
                             const struct solve_settings *settings, const volatile int *stop,
                             struct arena *arena, struct error *err)
{
    struct solving s = {.priced = priced,
                        .settings = settings,
                        .watch = watch_begin(stop, settings->time_limit_s),
                        .arena = arena};
    struct schedule_request request = schedule_request_of(priced);
    struct turns t;
    struct halving h = begin_halving(&s, 1);
    TRY(schedule_build(&s.schedule, &request, arena, err));
    open_turns(&t, &s);
    assert(t.stages > 2);
    t.any = true, t.alone = alone;
    fill_spans(&t);
    halve(&t, &s, &h, TAKE(arena, t.layers, struct taken));
    *a = (struct any_stages){.stages = h.found ? t.stages : 0,
                             .load_ns = h.best_ns,
                             .bound_ns = smaller(h.below_ns + 1, h.best_ns),
                             .finished = h.finished,
                             .effort = s.effort};
    return OK;
}
