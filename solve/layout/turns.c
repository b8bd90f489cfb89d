// The greatest load where the replicas of a stage take whole micro-batches in turn
// (docs/FORMULAS.md 23): a stage is busy for its passes and its ends of messages, over its
// replicas, and keeps as many micro-batches as all replicas from it on need, over its own. Exact,
// by a table: for a load that no stage may exceed, the fewest slots that hold all layers from one
// on, by the number of stages left and a cap on their replicas. The least load for which that is at
// most the slots there are is found by halving; each load that is refused is a bound. Where any
// number of stages will do, the table is one for all of them (docs/PROOFS.md 15.6).

#include "data/base/least.h"
#include "solve/layout/internal.h"
#include "solve/layout/steps.h"

enum { SLOTS_NONE = 1 << 29 };

struct turns {
    struct spans of;
    int sum_most;   // of replicas
    bool saturates; // at sum_most replicas or more every stage keeps all micro-batches of a replica
    int *fewest;    // [(left * (layers + 1) + first) * (sum_most + 1) + sum]
    int slots;
};

static int *row_at(const struct turns *t, int left, int first)
{
    if (t->of.any) left = 0;
    return t->fewest +
           ((size_t)left * (size_t)(t->of.layers + 1) + (size_t)first) * (size_t)(t->sum_most + 1);
}

static int64_t shared(int64_t ns, int64_t replicas) { return (ns + replicas - 1) / replicas; }

// The greatest depth with at most this load; 0: none.
static int64_t depth_within(const struct turns *t, const struct span *s, int group, int64_t load_ns)
{
    int64_t replicas = t->of.p->groups[group].data, depth = 0;
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
    int replicas = t->of.p->groups[group].data, slots = priced_seat_slots(t->of.p, group);
    int open = t->saturates ? t->sum_most - 1 : t->sum_most;
    int last = (int)smaller(depth * replicas, open);
    for (int sum = replicas; sum <= last; sum++)
        to[sum] = smaller_int(to[sum], from[sum - replicas] + slots);
    if (t->saturates && depth * replicas >= t->of.p->micro_batches)
        to[t->sum_most] = smaller_int(to[t->sum_most], from[t->sum_most] + slots);
}

static void fill_row(const struct turns *t, int left, int first, int64_t load_ns)
{
    int *to = row_at(t, left, first);
    for (int sum = 0; sum <= t->sum_most; sum++) to[sum] = SLOTS_NONE;
    for (int end = first + 1; end <= t->of.layers; end++) {
        const int *from = row_at(t, left - 1, end);
        bool meets = t->of.any ? spans_has(&t->of, first, end)
                               : (left == 1) == (end == t->of.layers);
        if (!meets || from[t->sum_most] >= SLOTS_NONE) continue;
        for (int g = 0; g < t->of.groups; g++) {
            int64_t depth = depth_within(t, span_at(&t->of, first, end, g), g, load_ns);
            if (depth > 0) put_stage_before(t, to, from, g, depth);
        }
    }
    for (int sum = 1; sum <= t->sum_most; sum++) to[sum] = smaller_int(to[sum], to[sum - 1]);
}

// Whether all layers have room with at most this load.
static bool is_enough(const struct turns *t, int64_t load_ns)
{
    for (int first = 0; first <= t->of.layers; first++)
        for (int sum = 0; sum <= t->sum_most; sum++)
            row_at(t, 0, first)[sum] = first == t->of.layers ? 0 : SLOTS_NONE;
    for (int first = t->of.layers - 1;
         t->of.any && first >= 0 && !t->of.should_stop(t->of.argument); first--)
        fill_row(t, 1, first, load_ns);
    for (int left = 1; left <= t->of.stages && !t->of.any; left++)
        for (int first = 0; first <= t->of.layers; first++) {
            bool starts = left == t->of.stages;
            if (t->of.should_stop(t->of.argument)) return false;
            if (starts == (first == 0) && first <= t->of.layers - left)
                fill_row(t, left, first, load_ns);
            else
                for (int sum = 0; sum <= t->sum_most; sum++)
                    row_at(t, left, first)[sum] = SLOTS_NONE;
        }
    return row_at(t, t->of.stages, 0)[t->sum_most] <= t->slots;
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
    int replicas = t->of.p->groups[x->group].data,
        value = row_at(t, left, x->first)[*sum] - priced_seat_slots(t->of.p, x->group);
    const int *from = row_at(t, left - 1, x->end);
    int64_t depth = depth_within(t, span_at(&t->of, x->first, x->end, x->group), x->group, load_ns);
    bool all = t->saturates && *sum == t->sum_most;
    if (all && depth * replicas >= t->of.p->micro_batches && from[*sum] == value) return true;
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
    for (x->end = first + 1; x->end <= t->of.layers; x->end++)
        for (x->group = 0; x->group < t->of.groups; x->group++)
            if ((t->of.any ? spans_has(&t->of, first, x->end)
                           : (left == 1) == (x->end == t->of.layers)) &&
                comes_from(t, left, x, load_ns, sum))
                return;
    assert(!"an entry of the table comes from a stage");
}

// The depths that the plan's own replicas need.
static void put_depths(const struct turns *t, struct taken *stages)
{
    int64_t sum = 0;
    for (int s = t->of.stages; s-- > 0;) {
        int64_t replicas = t->of.p->groups[stages[s].group].data;
        sum += replicas;
        stages[s].depth = smaller(shared(sum, replicas), t->of.p->micro_batches / replicas);
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
    const struct span *s = span_at(&t->of, x->first, x->end, x->group);
    int64_t replicas = t->of.p->groups[x->group].data;
    return shared(larger(way_of(s, x->depth)->passes_ns + s->ends_ns, s->link_ns), replicas);
}

// Reads the table, which is_enough filled for this load; returns the plan's own load.
static int64_t take_plan(struct turns *t, int64_t load_ns, struct taken *stages)
{
    int sum = t->sum_most, count = 0;
    int64_t most = 0;
    for (int first = 0; first < t->of.layers; first = stages[count++].end)
        take_stage(t, t->of.stages - count, first, load_ns, &sum, &stages[count]);
    t->of.stages = count;
    put_depths(t, stages);
    for (int s = 0; s < t->of.stages; s++) most = larger(most, load_of(t, &stages[s]));
    assert(most <= load_ns);
    return most;
}

// What the way decides of the choice; of a set of layers, recomputed[] gets it.
static void put_way(struct turns *t, const struct taken *x, struct choice *choice, bool *recomputed)
{
    const struct way *way = way_of(span_at(&t->of, x->first, x->end, x->group), x->depth);
    choice->recompute = way->recompute, choice->recomputed_layers = way->recomputed_layers;
    if (!way->set) return;
    spans_choose_set(&t->of, x->first, x->end, x->group, way, recomputed);
    for (int i = x->first; i < x->end; i++) choice->recomputed_layers += recomputed[i];
    choice->recompute = choice->recomputed_layers ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    if (choice->recomputed_layers == span_recomputable(t->of.p, x->first, choice->layer_count))
        choice->recomputed_layers = 0; // all
}

static void put_plan(struct turns *t, struct solving *s, const struct taken *stages,
                     int64_t value_ns)
{
    struct choices *c = &t->of.choices;
    struct schedule own = *c->schedule;
    int count = t->of.stages;
    int *depth = TAKE(s->arena, count, int), *chosen = TAKE(s->arena, count, int);
    bool *recomputed = TAKE(s->arena, t->of.layers, bool);
    own.in_flight = depth;
    c->schedule = &own;
    if (t->of.p->recompute_any) c->recomputed = recomputed;
    c->stages = TAKE(s->arena, count, struct stage_choices);
    for (int i = 0; i < count; i++) {
        const struct taken *x = &stages[i];
        struct choice *choice = TAKE(s->arena, 1, struct choice);
        choice->first_layer = x->first, choice->layer_count = x->end - x->first;
        choice->group = x->group;
        depth[i] = (int)x->depth;
        put_way(t, x, choice, recomputed);
        choice_evaluate(c, i, choice);
        c->stages[i] = (struct stage_choices){choice, 1};
    }
    choices_to_plan(solving_add_plan(s), c, chosen, value_ns, s->arena);
}

// ---- the search

static void open_turns(struct turns *t, const struct solving *s)
{
    const struct priced *p = s->priced;
    *t = (struct turns){.slots = p->groups[0].slots};
    t->of = (struct spans){.p = p,
                           .arena = s->arena,
                           .layers = p->layer_count,
                           .stages = p->stage_count,
                           .groups = p->group_count,
                           .should_stop = solving_should_stop,
                           .argument = (void *)(uintptr_t)s};
    t->of.choices = (struct choices){.priced = p,
                                     .schedule = &s->schedule,
                                     .free_from = p->layer_count,
                                     .last_least = 1,
                                     .virtual_stages = 1,
                                     .rank_count = p->stage_count,
                                     .arena = s->arena};
    int64_t most = 1; // replicas of all stages
    for (int g = 0; g < p->group_count; g++)
        most =
            larger(most, (int64_t)p->groups[g].slots * p->groups[g].data / p->groups[g].seat_slots);
    t->saturates = p->micro_batches <= most;
    t->sum_most = (int)smaller(most, p->micro_batches);
    t->fewest = TAKE(
        s->arena,
        (size_t)(t->of.stages + 1) * (size_t)(t->of.layers + 1) * (size_t)(t->sum_most + 1), int);
}

// What is known of the least load.
struct halving {
    int64_t below_ns, best_ns; // none is at most below_ns; the plan has best_ns, if there is one
    bool found, finished;
};

static void halve(struct turns *t, struct solving *s, struct halving *h, struct taken *stages)
{
    bool wanted = (t->of.any || t->of.stages <= t->of.layers) && !solving_should_stop(s);
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
    struct taken *stages = TAKE(s->arena, t.of.layers, struct taken);
    if (t.of.stages <= t.of.layers) spans_fill(&t.of);
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
    struct turns t;
    struct halving h = begin_halving(&s, 1);
    TRY(schedule_build_priced(&s.schedule, priced, arena, err));
    open_turns(&t, &s);
    assert(t.of.stages > 2);
    t.of.any = true, t.of.alone = alone;
    spans_fill(&t.of);
    halve(&t, &s, &h, TAKE(arena, t.of.layers, struct taken));
    *a = (struct any_stages){.stages = h.found ? t.of.stages : 0,
                             .load_ns = h.best_ns,
                             .bound_ns = smaller(h.below_ns + 1, h.best_ns),
                             .finished = h.finished,
                             .effort = s.effort};
    return OK;
}
