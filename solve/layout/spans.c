// Spans of layers as stages whose replicas take whole micro-batches in turn: see internal.h.
#include "solve/layout/internal.h"

#include "data/base/least.h"

static int stage_of_span(const struct spans *s, int first, int end)
{
    return first == 0 ? 0 : end == s->layers ? s->stages - 1 : 1;
}

// Ways stay in ascending order of both numbers.
static void add_way(struct span *to, struct way way)
{
    int kept = 0;
    for (int i = to->count; i-- > 0;)
        if (to->ways[i].passes_ns <= way.passes_ns && to->ways[i].depth >= way.depth) return;
    for (int i = 0; i < to->count; i++)
        if (!(way.passes_ns <= to->ways[i].passes_ns && way.depth >= to->ways[i].depth))
            to->ways[kept++] = to->ways[i];
    int at = kept;
    for (; at > 0 && to->ways[at - 1].passes_ns > way.passes_ns; at--)
        to->ways[at] = to->ways[at - 1];
    to->ways[at] = way;
    to->count = kept + 1;
}

// ---- ways of one mode

static int64_t depth_of(const struct spans *s, const struct choice *x)
{
    int64_t rest = s->p->groups[x->group].memory_limit_bytes -
                   (memory_total(&x->memory) - x->memory.activation_bytes);
    return rest < 0 ? 0 : x->stash_bytes ? rest / x->stash_bytes : INT32_MAX;
}

static void try_way(struct spans *s, struct span *to, struct choice *x)
{
    struct arena_mark mark = arena_set_mark(s->arena);
    choice_evaluate(&s->choices, stage_of_span(s, x->first_layer, x->first_layer + x->layer_count),
                    x);
    struct way way = {x->load_ns, depth_of(s, x), x->recompute, x->recomputed_layers, false};
    arena_reset(s->arena, mark);
    if (way.depth > 0) add_way(to, way);
}

// Those that the layers' sets have not, where there are sets.
static void try_ways(struct spans *s, struct span *to, struct choice x)
{
    const struct priced *p = s->p;
    int recomputable = span_recomputable(p, x.first_layer, x.layer_count);
    if (layout_recomputes_alike(&p->layout)) {
        enum recompute mode = layout_recompute(&p->layout);
        if (mode == RECOMPUTE_FIRST_LAYERS)
            x.recomputed_layers = smaller_int(p->layout.recomputed_layers, recomputable);
        x.recompute = x.recomputed_layers || recompute_of_layer(mode) ? mode : RECOMPUTE_NONE;
        try_way(s, to, &x);
        return;
    }
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        bool whole = mode == RECOMPUTE_NONE || (mode == RECOMPUTE_FULL && p->recompute[mode]),
             part = p->recompute[mode] && recompute_in_part((enum recompute)mode);
        if (!part && (!whole || p->recompute_any)) continue;
        x.recompute = (enum recompute)mode;
        try_way(s, to, &x);
    }
    x.recompute = RECOMPUTE_FIRST_LAYERS;
    if (!p->recompute[RECOMPUTE_FIRST_LAYERS] || p->recompute_any) return;
    for (int k = 1; k <= recomputable; k++) {
        x.recomputed_layers = k;
        try_way(s, to, &x);
    }
}

// ---- sets of layers

// Layers of a span that are recomputed, by what all its layers take.
struct set {
    int64_t again_ns, stash_bytes, working_bytes;
    int before; // among the sets of one layer less
    bool again; // the last layer is one of them
};
struct sets {
    struct set *items; // ascending again_ns; none is worse than another
    int count;
    int64_t unsharded_bytes;
};

static const struct sets empty_sets = {&(struct set){0, 0, 0, -1, false}, 1, 0};

static bool is_worse(const struct set *a, const struct set *b)
{
    return a->again_ns >= b->again_ns && a->stash_bytes >= b->stash_bytes &&
           a->working_bytes >= b->working_bytes;
}

static void add_set(struct sets *to, const struct set *set)
{
    for (int i = to->count; i-- > 0;)
        if (is_worse(set, &to->items[i])) return;
    to->items[to->count++] = *set;
}

static struct set with_layer(const struct spans *s, const struct sets *from, int before, int run,
                             int group, bool again)
{
    const struct priced_run *of = &s->p->runs[run], *at = priced_run_at(of, group);
    enum recompute mode = again ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    struct set set = from->items[before];
    for (int i = 0; i < s->p->slice_count && again; i++)
        set.again_ns += of->again_ns[mode][i * s->groups + group];
    set.stash_bytes += at->stash_bytes[mode];
    set.working_bytes =
        larger(set.working_bytes, at->working_bytes[mode] + priced_buffer_bytes(of, 0));
    set.before = before, set.again = again;
    return set;
}

// Both lists are in ascending order of again_ns, so their union is read in that order.
static struct sets extend(const struct spans *s, const struct sets *from, int layer, int group,
                          struct arena *arena)
{
    int run = priced_run_of(s->p, layer), kept = 0, again = 0;
    bool may = s->p->runs[run].recomputable;
    struct sets to = {.items = TAKE(arena, (1 + may) * from->count, struct set),
                      .unsharded_bytes = from->unsharded_bytes +
                                         priced_run_at(&s->p->runs[run], group)->unsharded_bytes};
    while (kept < from->count || (may && again < from->count)) {
        struct set one, other;
        if (kept < from->count) one = with_layer(s, from, kept, run, group, false);
        if (may && again < from->count) other = with_layer(s, from, again, run, group, true);
        bool second = kept == from->count ||
                      (may && again < from->count && other.again_ns < one.again_ns);
        add_set(&to, second ? &other : &one);
        if (second) again++;
        else kept++;
    }
    return to;
}

// Leaves out sets with which no longer span fits: what a stage keeps of its layers only grows.
static void drop_full(struct sets *sets, int64_t room_bytes)
{
    int kept = 0;
    for (int i = 0; i < sets->count; i++)
        if (sets->items[i].stash_bytes + sets->items[i].working_bytes <= room_bytes)
            sets->items[kept++] = sets->items[i];
    sets->count = kept;
}

static struct way way_of_set(const struct set *set, int64_t passes_ns, int64_t room_bytes,
                             int64_t most)
{
    int64_t rest = room_bytes - set->working_bytes;
    return (struct way){.passes_ns = passes_ns + set->again_ns,
                        .depth = rest < 0           ? 0
                                 : set->stash_bytes ? smaller(rest / set->stash_bytes, most)
                                                    : most,
                        .set = true};
}

// A stage's room for stash and working memory, without sets; *most: micro-batches of a replica.
static int64_t room_for_sets(struct spans *s, const struct sets *sets, struct choice *x,
                             int64_t *most)
{
    struct arena_mark mark = arena_set_mark(s->arena);
    choice_evaluate(&s->choices, stage_of_span(s, x->first_layer, x->first_layer + x->layer_count),
                    x);
    arena_reset(s->arena, mark);
    *most = s->p->micro_batches / s->p->groups[x->group].data;
    return s->p->groups[x->group].memory_limit_bytes - sets->unsharded_bytes -
           (memory_total(&x->memory) - x->memory.activation_bytes - x->memory.working_bytes);
}

static void try_sets(struct spans *s, struct span *to, struct choice x, struct sets *sets)
{
    int64_t most, room = room_for_sets(s, sets, &x, &most);
    drop_full(sets, room + x.memory.buffer_bytes);
    for (int i = 0; i < sets->count; i++) {
        struct way way = way_of_set(&sets->items[i], x.load_ns, room, most);
        if (way.depth > 0) add_way(to, way);
    }
}

void spans_choose_set(struct spans *s, int first, int end, int group, const struct way *way,
                      bool *recomputed)
{
    struct arena_mark mark = arena_set_mark(s->arena);
    struct choice x = {.first_layer = first, .layer_count = end - first, .group = group};
    struct sets *of = TAKE(s->arena, end - first + 1, struct sets);
    int64_t most;
    of[0] = empty_sets;
    for (int i = first; i < end; i++)
        of[i - first + 1] = extend(s, &of[i - first], i, group, s->arena);
    const struct sets *all = &of[end - first];
    int64_t room = room_for_sets(s, all, &x, &most);
    int at = 0;
    for (; at < all->count; at++) {
        struct way own = way_of_set(&all->items[at], x.load_ns, room, most);
        if (own.passes_ns == way->passes_ns && own.depth == way->depth) break;
    }
    assert(at < all->count);
    for (int i = end; i-- > first; at = of[i - first + 1].items[at].before)
        recomputed[i] = of[i - first + 1].items[at].again;
    arena_reset(s->arena, mark);
}

// ---- ends

// A stage's end of the message behind a layer is as long as between two stages of its width.
static void add_end(const struct spans *s, struct span *to, int layer, int group)
{
    const struct priced_cut *cut = &s->p->cuts[s->p->runs[priced_run_of(s->p, layer)].cut];
    const int64_t *there = cut->forward_ns + (size_t)(group * s->groups + group) * PART_COUNT,
                  *back = cut->backward_ns[0] + (there - cut->forward_ns);
    to->joined = to->joined && there[0] >= 0 && back[0] >= 0;
    to->ends_ns += there[PART_BLOCKING] + there[PART_OVERHEAD] + back[PART_BLOCKING] +
                   back[PART_OVERHEAD];
    to->link_ns = larger(to->link_ns, larger(there[PART_LINK], back[PART_LINK]));
}

// As that of the layer before, unless the layer states it.
static void add_start(const struct spans *s, struct span *to, int first, int group)
{
    const struct priced_run *run = &s->p->runs[priced_run_of(s->p, first)];
    struct span before = {.joined = to->joined};
    add_end(s, &before, first - 1, group);
    to->joined = before.joined;
    to->ends_ns += run->entry_ns ? run->entry_ns[group] : before.ends_ns;
    to->link_ns =
        larger(to->link_ns, run->entry_ns ? run->entry_ns[s->groups + group] : before.link_ns);
}

// ---- all of them

static void fill_span(struct spans *s, int first, int end, int group, struct sets *sets)
{
    struct span *to = span_at(s, first, end, group);
    struct choice x = {.first_layer = first, .layer_count = end - first, .group = group};
    int ways = sets->count + s->layers + RECOMPUTE_COUNT + 1;
    *to = (struct span){.joined = true};
    if (first > 0) add_start(s, to, first, group);
    if (end < s->layers) add_end(s, to, end - 1, group);
    if (!to->joined) return;
    if (ways > s->scratch_count)
        s->scratch_count = 2 * ways, s->scratch = TAKE(s->arena, 2 * ways, struct way);
    to->ways = s->scratch;
    if (s->p->recompute_any) try_sets(s, to, x, sets);
    try_ways(s, to, x);
    to->ways = TAKE_COPY(s->arena, to->ways, to->count);
}

// A stage that has all layers has no neighbour to keep messages for.
static void fill_alone(struct spans *s, int group, struct sets *sets)
{
    const struct choices all = s->choices;
    struct priced one = *s->p;
    one.stage_count = one.rank_count = 1;
    s->choices.priced = &one, s->choices.rank_count = 1;
    fill_span(s, 0, s->layers, group, sets);
    s->choices = all;
}

bool spans_has(const struct spans *s, int first, int end)
{
    bool starts = first == 0, ends = end == s->layers;
    if (s->any) return s->alone || !(starts && ends);
    return s->stages == 1 ? starts && ends : s->stages == 2 ? starts != ends : !(starts && ends);
}

// The sets of a span are those of the span that ends a layer before, extended: two arenas have the
// last list and the one that is made of it.
static void fill_from(struct spans *s, int first, int group)
{
    struct arena scratch[2] = {{0}, {0}};
    struct arena_mark marks[2] = {arena_set_mark(&scratch[0]), arena_set_mark(&scratch[1])};
    struct sets sets = empty_sets;
    for (int end = first + 1; end <= s->layers; end++) {
        int own = end % 2;
        arena_reset(&scratch[own], marks[own]);
        if (s->p->recompute_any) sets = extend(s, &sets, end - 1, group, &scratch[own]);
        if (!spans_has(s, first, end)) continue;
        if (s->any && first == 0 && end == s->layers) fill_alone(s, group, &sets);
        else fill_span(s, first, end, group, &sets);
    }
    arena_close(&scratch[0]), arena_close(&scratch[1]);
}

void spans_fill(struct spans *s)
{
    s->items = TAKE(s->arena, (size_t)s->layers * (size_t)(s->layers + 1) * (size_t)s->groups,
                    struct span);
    for (int first = 0; first < s->layers && !s->should_stop(s->argument); first++)
        for (int group = 0; group < s->groups; group++)
            if (!s->p->groups[group].excluded) fill_from(s, first, group);
}
