// The proof of placements by a tree over nodes. Rank after rank, and within a rank replica after
// replica, a rank is put on each node that it can be on. A partial placement is bounded by the
// replica placed last, as a pipeline problem of its own (internal.h) solved by boxes of choices
// (solve/boxes/search.h): the layers are decided anew in every part. Best bound first, deeper parts
// first among equals. Of replicas, and of nodes whose links are all equal, only one order is tried.
// When all ranks have nodes, the choices are split until no replica can be faster than the best
// plan.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/frontier.h"
#include "solve/boxes/search.h"
#include "solve/places/internal.h"

enum { BOXES_OF_PART = 60, BOXES_OF_WHOLE = 4000 };

struct part {
    int64_t bound_ns;
    int depth;
    int *node;
};

struct place_tree {
    struct placed *p;
    struct placed_views *views;
    const struct placed_tree_settings *settings;
    struct placed_plan now, *best;
    struct frontier frontier; // of struct part
    int places;
    int *kind; // [node]: the first node with the same links
    int *left;
    int64_t numbered, effort;
    struct arena *arena, *scratch;
};

static bool is_over(const struct place_tree *t)
{
    const struct placed_tree_settings *s = t->settings;
    return t->effort > s->effort_max || (s->should_stop && s->should_stop(s->stop_argument));
}

// ---- equivalent nodes

static bool same_pair(const int64_t *table, size_t width, size_t tables, size_t pairs, size_t a,
                      size_t b)
{
    for (size_t k = 0; k < tables; k++)
        if (memcmp(table + (k * pairs + a) * width, table + (k * pairs + b) * width,
                   width * sizeof *table))
            return false;
    return true;
}

// Whether two ordered pairs of nodes have the same prices.
static bool is_same_link(const struct priced *p, size_t a, size_t b)
{
    const struct priced_places *x = p->places;
    size_t pairs = (size_t)x->node_count * (size_t)x->node_count, slices = (size_t)p->slice_count;
    for (int cut = 0; cut < p->cut_count; cut++) {
        if (!same_pair(x->cuts[cut].forward_ns, PART_COUNT, slices, pairs, a, b)) return false;
        for (int option = 0; option < p->boundary_option_count; option++)
            if (!same_pair(x->cuts[cut].backward_ns[option], PART_COUNT, slices, pairs, a, b))
                return false;
    }
    size_t tables = (size_t)(x->ring_level_count * x->transport_count);
    for (int option = 0; option < p->gradient_option_count; option++) {
        if (!same_pair(x->ring_constant_ns[option], 1, tables, pairs, a, b)) return false;
        for (int run = 0; run < p->run_count; run++)
            if (!same_pair(x->ring_ns[run][option], 1, tables, pairs, a, b)) return false;
    }
    if (x->embedding_ring_ns && x->embedding_ring_ns[a] != x->embedding_ring_ns[b]) return false;
    return !x->embedding_sync_ns || x->embedding_sync_ns[a] == x->embedding_sync_ns[b];
}

// Whether the two can be exchanged without changing anything.
static bool is_alike(const struct priced *p, int a, int b)
{
    const struct priced_places *x = p->places;
    size_t n = (size_t)x->node_count, i = (size_t)a, j = (size_t)b;
    if (x->nodes[a].group != x->nodes[b].group || x->nodes[a].slots != x->nodes[b].slots)
        return false;
    if (!is_same_link(p, i * n + j, j * n + i) || !is_same_link(p, i * n + i, j * n + j))
        return false;
    for (size_t k = 0; k < n; k++)
        if (k != i && k != j &&
            (!is_same_link(p, i * n + k, j * n + k) || !is_same_link(p, k * n + i, k * n + j)))
            return false;
    return true;
}

static void find_kinds(struct place_tree *t)
{
    t->kind = TAKE(t->arena, t->p->nodes, int);
    for (int i = 0; i < t->p->nodes; i++) {
        t->kind[i] = i;
        for (int k = 0; k < i && t->kind[i] == i; k++)
            if (t->kind[k] == k && is_alike(t->p->priced, k, i)) t->kind[i] = k;
    }
}

// ---- a part

// Among equal bounds the deeper one comes first, then the older.
static void push(struct place_tree *t, int64_t bound_ns, int depth, const int *node)
{
    struct part *x = TAKE(t->arena, 1, struct part);
    *x = (struct part){bound_ns, depth, TAKE(t->arena, t->places, int)};
    memcpy(x->node, node, (size_t)t->places * sizeof *node);
    frontier_push(&t->frontier, bound_ns, t->numbered++ - ((int64_t)depth << 40), x);
}

static void count_left(struct place_tree *t, const int *node)
{
    for (int i = 0; i < t->p->nodes; i++) t->left[i] = t->p->priced->places->nodes[i].slots;
    for (int i = 0; i < t->places; i++) {
        if (node[i] < 0) continue;
        assert(t->left[node[i]] > 0);
        t->left[node[i]]--;
    }
}

struct sight {
    int64_t bound_ns;
    bool finished, found;
    int *chosen;
}; // chosen[stage]: numbers of the problem's choices

// The least time of the replica under the part.
static struct sight look(struct place_tree *t, const int *node, int replica, bool *const *barred,
                         int boxes_max, struct arena *arena)
{
    struct placed_part part = {(int *)node, t->left};
    struct placed_view view;
    struct sight sight = {NEVER_NS, true, false, NULL};
    struct box_search_settings settings = {.target_ns = t->best->time_ns,
                                           .gap = t->settings->gap,
                                           .boxes_max = boxes_max,
                                           .should_stop = t->settings->should_stop,
                                           .argument = t->settings->stop_argument};
    struct box_search_result r;
    t->effort += t->p->stages * t->p->stages;
    if (!placed_view_make(&view, t->views, &part, replica, barred, arena)) return sight;
    box_search(&r, &view.choices, t->p->own->graph, &settings, arena);
    t->effort += r.boxes * t->p->stages * t->p->stages;
    sight.finished = r.finished;
    sight.bound_ns = r.bound_ns;
    sight.found = r.found_better;
    if (!sight.found) return sight;
    sight.chosen = TAKE(arena, t->p->stages, int);
    for (int s = 0; s < t->p->stages; s++) sight.chosen[s] = view.number[s][r.found[s]];
    return sight;
}

// ---- all ranks placed

static bool is_like(const struct choice *a, const struct choice *b)
{
    return a->first_layer == b->first_layer && a->layer_count == b->layer_count &&
           a->gradient_option == b->gradient_option && a->boundary_option == b->boundary_option;
}

// Evaluates the whole plan with the replica's layers and options; returns its time.
static int64_t try_plan(struct place_tree *t, const int *node, const int *chosen)
{
    struct placed *p = t->p;
    memcpy(t->now.node, node, (size_t)t->places * sizeof *node);
    if (!placed_fit_all(p, &t->now, chosen)) return INT64_MAX;
    t->now.slowest = 0;
    placed_evaluate(p, &t->now, INT64_MAX);
    placed_improve_rings(p, &t->now);
    if (t->now.time_ns < t->best->time_ns) placed_plan_copy(p, t->best, &t->now);
    t->frontier.best_ns = t->best->time_ns;
    return t->now.time_ns;
}

static bool **copy_barred(const struct place_tree *t, bool *const *barred, struct arena *arena)
{
    bool **copy = TAKE(arena, t->p->stages, bool *);
    for (int s = 0; s < t->p->stages; s++) {
        int count = t->p->c->stages[s].count;
        copy[s] = TAKE(arena, count, bool);
        if (barred) memcpy(copy[s], barred[s], (size_t)count * sizeof **copy);
    }
    return copy;
}

// The stage at which two decisions differ most; for equal decisions the first stage with another
// choice left. -1: there is none.
static int split_stage(const struct place_tree *t, const int *chosen, const int *other,
                       bool *const *barred)
{
    int best = -1;
    int64_t most = -1;
    for (int s = 0; s < t->p->stages; s++) {
        const struct choice *items = t->p->c->stages[s].items;
        if (is_like(&items[chosen[s]], &items[other[s]])) continue;
        int64_t apart = larger(items[chosen[s]].load_ns, items[other[s]].load_ns) -
                        smaller(items[chosen[s]].load_ns, items[other[s]].load_ns);
        if (apart > most) most = apart, best = s;
    }
    for (int s = 0; s < t->p->stages && best < 0; s++)
        for (int i = 0; i < t->p->c->stages[s].count && best < 0; i++)
            if (!(barred && barred[s][i]) &&
                !is_like(&t->p->c->stages[s].items[i], &t->p->c->stages[s].items[chosen[s]]))
                best = s;
    return best;
}

// Whether nodes, layers and options determine a plan's time: not with many replicas, whose rings
// are only improved, nor with stages that share a rank, which may be recomputed in several ways.
static bool is_evaluated_exactly(const struct placed *p)
{
    return p->replicas <= PLACED_RING_EXACT && p->stages == p->ranks;
}

// Each replica by itself may be faster than the best plan with some decision, while no decision
// common to all of them is.
static void settle(struct place_tree *t, const int *node, bool *const *barred)
{
    struct placed *p = t->p;
    struct arena_mark mark = arena_set_mark(t->arena);
    struct sight worst = {-1, true, false, NULL},
                 *sights = TAKE(t->arena, p->replicas, struct sight);
    for (int r = 0; r < p->replicas; r++) {
        sights[r] = look(t, node, r, barred, BOXES_OF_WHOLE, t->arena);
        if (sights[r].found) try_plan(t, node, sights[r].chosen);
        if (sights[r].bound_ns > worst.bound_ns) worst = sights[r];
        if (worst.bound_ns >= frontier_closing_ns(&t->frontier)) break;
    }
    if (worst.bound_ns >= frontier_closing_ns(&t->frontier)) {
        frontier_end(&t->frontier, worst.bound_ns);
    } else {
        int stage = -1;
        for (int r = 0; r < p->replicas && stage < 0 && worst.found && worst.finished; r++)
            if (sights[r].found) stage = split_stage(t, worst.chosen, sights[r].chosen, barred);
        if (is_over(t) || !worst.found || !worst.finished) {
            frontier_end(&t->frontier, worst.bound_ns);
        } else if (stage >= 0) {
            const struct stage_choices *choices = &p->c->stages[stage];
            bool **with = copy_barred(t, barred, t->arena),
                 **without = copy_barred(t, barred, t->arena);
            for (int i = 0; i < choices->count; i++)
                *(is_like(&choices->items[i], &choices->items[worst.chosen[stage]])
                      ? &without[stage][i]
                      : &with[stage][i]) = true;
            settle(t, node, with);
            settle(t, node, without);
        } else if (!is_evaluated_exactly(p)) {
            frontier_end(&t->frontier, worst.bound_ns);
        }
        // Else one decision is left, and the best plan takes at most its exact time.
    }
    arena_reset(t->arena, mark);
}

// ---- parts

// Replicas that have the same nodes so far are interchangeable: the later one's node does not come
// before the earlier one's.
static int least_node(const struct place_tree *t, const int *node, int k)
{
    const struct placed *p = t->p;
    int replica = k % p->replicas, rank = k / p->replicas;
    for (int other = replica - 1; other >= 0; other--)
        if (!memcmp(node + other * p->ranks, node + replica * p->ranks,
                    (size_t)rank * sizeof *node))
            return node[other * p->ranks + rank];
    return 0;
}

// Whether an earlier equivalent node is equally empty.
static bool is_repeated(const struct place_tree *t, int node)
{
    const struct priced_node *nodes = t->p->priced->places->nodes;
    for (int i = 0; i < node; i++)
        if (t->kind[i] == t->kind[node] && t->left[i] == nodes[i].slots &&
            t->left[node] == nodes[node].slots)
            return true;
    return false;
}

static void close_part(struct place_tree *t, struct part *x)
{
    assert(x->depth >= 0 && x->depth <= t->places);
    if (x->depth == t->places) {
        count_left(t, x->node);
        settle(t, x->node, NULL);
        return;
    }
    int place = x->depth % t->p->replicas * t->p->ranks + x->depth / t->p->replicas,
        first = least_node(t, x->node, x->depth);
    for (int i = first; i < t->p->nodes; i++) {
        count_left(t, x->node);
        if (!t->left[i] || is_repeated(t, i)) continue;
        if (is_over(t)) {
            frontier_end(&t->frontier, x->bound_ns);
            return;
        }
        x->node[place] = i;
        assert(t->left[i] > 0);
        t->left[i]--;
        struct arena_mark mark = arena_set_mark(t->scratch);
        int64_t bound = larger(
            x->bound_ns,
            look(t, x->node, x->depth % t->p->replicas, NULL, BOXES_OF_PART, t->scratch).bound_ns);
        arena_reset(t->scratch, mark);
        assert(bound >= x->bound_ns);
        if (bound >= frontier_closing_ns(&t->frontier)) frontier_end(&t->frontier, bound);
        else push(t, bound, x->depth + 1, x->node);
        x->node[place] = -1;
    }
}

int64_t placed_tree(struct placed *p, struct placed_plan *best, int64_t bound_ns,
                    const struct placed_tree_settings *settings, struct arena *arena)
{
    struct place_tree t = {.p = p,
                           .settings = settings,
                           .best = best,
                           .places = p->replicas * p->ranks,
                           .frontier = {.best_ns = best->time_ns,
                                        .gap = settings->gap,
                                        .cutoff_ns = settings->cutoff_ns,
                                        .ended_ns = INT64_MAX,
                                        .arena = arena},
                           .arena = arena};
    t.scratch = arena_open_within(arena);
    t.now = placed_plan_empty(p, arena);
    t.left = TAKE(arena, p->nodes, int);
    t.views = placed_views_open(p, arena);
    find_kinds(&t);
    int *node = TAKE(arena, t.places, int);
    for (int i = 0; i < t.places; i++) node[i] = -1;
    push(&t, bound_ns, 0, node);
    while (frontier_is_wanted(&t.frontier) && !is_over(&t))
        close_part(&t, frontier_pop(&t.frontier));
    return larger(frontier_bound(&t.frontier), bound_ns);
}
