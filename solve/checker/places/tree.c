// See tree.h. A part's problem is that by nodes. The replica's ranks are fixed to their nodes,
// with the device groups that are its own or free, and syncs take at least the time of the rings
// that its stages can have.
#include "solve/checker/places/tree.h"

#include <string.h>

#include "data/base/least.h"
#include "solve/checker/places/relaxing.h"

struct check_tree {
    const struct check_places *x;
    struct check_problem p; // by nodes
    int places;
    int *alike; // [node]: the first node with equal links
    // Of rings, by kind of card and ordered pair of nodes; weight -1: not joined.
    int64_t *weights;     // [kind * pairs + pair]
    int64_t *constants;   // [(kind * pairs + pair) * options + option]
    int64_t *layers;      // [((kind * pairs + pair) * runs + run) * options + option]
    int64_t *bottlenecks; // [kind]
    struct arena *arena;
};

static int pairs_of(const struct check_tree *t) { return t->x->node_count * t->x->node_count; }
static int slots_of(const struct check_tree *t, int node)
{
    return t->p.groups[node].excluded ? 0 : t->x->nodes[node].slots;
}
static int link_at(const struct check_tree *t, int kind, int from, int to)
{
    return kind * pairs_of(t) + from * t->x->node_count + to;
}

static bool may_ring(const struct check_tree *t, int from, int to)
{
    const struct check_places *x = t->x;
    return x->may_ring[x->nodes[from].group * x->problem->group_count + x->nodes[to].group];
}

// ---- all links of rings

static enum status price_links(struct check_tree *t, const struct reader *r, uint64_t *work)
{
    const struct check_places *x = t->x;
    int options = t->p.gradient_count, runs = t->p.run_count, count = x->kinds * pairs_of(t);
    TRY(check_spend(&t->p, work, (uint64_t)count * (uint64_t)(options * (runs + 1))));
    t->weights = TAKE(t->arena, count, int64_t);
    t->constants = TAKE(t->arena, count * options, int64_t);
    t->layers = TAKE(t->arena, count * options * runs, int64_t);
    for (int i = 0; i < count; i++) {
        int kind = i / pairs_of(t), from = i % pairs_of(t) / x->node_count, to = i % x->node_count;
        bool joined = slots_of(t, from) && slots_of(t, to) &&
                      (from != to || slots_of(t, from) >= x->replicas) && may_ring(t, from, to);
        struct check_ring_link link = {t->constants + i * options, t->layers + i * options * runs};
        t->weights[i] = -1;
        if (joined &&
            !x->link(x->context, kind, from, to, (const int64_t[2]){1, 1}, &joined, &link))
            return check_refuse(r, "places", "a price beyond what can be counted");
        if (!joined) continue;
        wide sum = link.constant[0];
        for (int run = 0; run < runs; run++)
            sum += (wide)t->p.runs[run].count * link.layer[run * options];
        t->weights[i] = sum < INT64_MAX ? (int64_t)sum : INT64_MAX - 1;
    }
    return OK;
}

// An upper bound for one bottleneck: for each weight that the binary search tries, nodes are
// removed one by one, each after a walk from every node; and sets of device groups.
static uint64_t work_of_bottleneck(uint64_t nodes, uint64_t size, uint64_t places)
{
    uint64_t sets = places <= 16 ? UINT64_C(16) << places : 0;
    return 9 * (nodes * nodes * nodes * nodes * size + sets) + (1 << 16);
}

static enum status find_bottlenecks(struct check_tree *t, uint64_t *work)
{
    uint64_t one = work_of_bottleneck((uint64_t)t->x->node_count, (uint64_t)t->x->replicas, 16);
    TRY(check_spend(&t->p, work, (uint64_t)t->x->kinds * one));
    int *slots = TAKE(t->arena, t->x->node_count, int);
    t->bottlenecks = TAKE(t->arena, t->x->kinds, int64_t);
    for (int i = 0; i < t->x->node_count; i++) slots[i] = slots_of(t, i);
    for (int kind = 0; kind < t->x->kinds; kind++)
        t->bottlenecks[kind] = check_least_bottleneck(t->weights + kind * pairs_of(t), slots,
                                                      t->x->node_count, t->x->replicas, t->arena);
    return OK;
}

// ---- nodes that are equal

static bool same_numbers(const int64_t *a, const int64_t *b, int count)
{
    return !memcmp(a, b, (size_t)count * sizeof *a);
}

// Whether two ordered pairs of nodes have all prices equal.
static bool same_link(const struct check_tree *t, int a, int b)
{
    const struct check_problem *p = &t->p;
    int pairs = pairs_of(t), options = p->gradient_count;
    for (int c = 0; c < p->cut_count; c++)
        for (int slice = 0; slice < p->slices; slice++) {
            int at = (slice * pairs + a) * PARTS, other = (slice * pairs + b) * PARTS;
            if (!same_numbers(p->cuts[c].forward + at, p->cuts[c].forward + other, PARTS))
                return false;
            for (int o = 0; o < p->boundary_count; o++)
                if (!same_numbers(p->cuts[c].backward[o] + at, p->cuts[c].backward[o] + other,
                                  PARTS))
                    return false;
        }
    for (int kind = 0; kind < t->x->kinds && t->x->replicas > 1; kind++) {
        int at = kind * pairs + a, other = kind * pairs + b;
        if (t->weights[at] != t->weights[other]) return false;
        if (t->weights[at] < 0) continue;
        if (!same_numbers(t->constants + at * options, t->constants + other * options, options))
            return false;
        if (!same_numbers(t->layers + at * options * p->run_count,
                          t->layers + other * options * p->run_count, options * p->run_count))
            return false;
    }
    return !p->embedding || p->embedding[a] == p->embedding[b];
}

// Whether the nodes' own rings take the same time, where there is only one replica.
static bool same_syncs(const struct check_tree *t, int a, int b)
{
    const struct check_problem *p = &t->p;
    for (int o = 0; o < p->gradient_count; o++) {
        if (p->groups[a].sync_constant[o] != p->groups[b].sync_constant[o]) return false;
        for (int run = 0; run < p->run_count; run++)
            if (p->runs[run].sync[o][a] != p->runs[run].sync[o][b]) return false;
    }
    return true;
}

static bool is_alike(const struct check_tree *t, int i, int k)
{
    int n = t->x->node_count;
    if (t->x->replicas == 1 && !same_syncs(t, i, k)) return false;
    if (t->x->nodes[i].group != t->x->nodes[k].group || slots_of(t, i) != slots_of(t, k))
        return false;
    if (!same_link(t, i * n + k, k * n + i) || !same_link(t, i * n + i, k * n + k)) return false;
    for (int m = 0; m < n; m++)
        if (m != i && m != k &&
            (!same_link(t, i * n + m, k * n + m) || !same_link(t, m * n + i, m * n + k)))
            return false;
    return true;
}

static uint64_t numbers_of_pair(const struct check_tree *t)
{
    const struct check_problem *p = &t->p;
    return (uint64_t)(p->cut_count * (1 + p->boundary_count) * p->slices) * PARTS +
           (uint64_t)(t->x->kinds * p->gradient_count * (1 + p->run_count)) + 1;
}

static enum status find_alike(struct check_tree *t, uint64_t *work)
{
    uint64_t pairs = (uint64_t)pairs_of(t), nodes = (uint64_t)t->x->node_count;
    TRY(check_spend(&t->p, work, 2 * pairs * nodes * numbers_of_pair(t)));
    t->alike = TAKE(t->arena, t->x->node_count, int);
    for (int i = 0; i < t->x->node_count; i++) {
        t->alike[i] = i;
        for (int k = 0; k < i && t->alike[i] == i; k++)
            if (t->alike[k] == k && is_alike(t, k, i)) t->alike[i] = k;
    }
    return OK;
}

enum status check_open_tree(struct check_tree **tree, const struct check_places *x,
                            const struct reader *r, uint64_t *work, struct arena *arena)
{
    struct check_tree *t = *tree = TAKE(arena, 1, struct check_tree);
    const struct check_relaxation by_nodes = {RELAX_BY_NODES, -1, false};
    *t = (struct check_tree){.x = x, .arena = arena};
    int64_t places = (int64_t)x->replicas * x->problem->ranks;
    if (x->together || places > TREE_PLACES_MOST)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "places.by: a tree expects the same number of micro-batches for all replicas, "
                    "and %d ranks of all of them at most",
                    TREE_PLACES_MOST);
    t->places = (int)places;
    TRY(check_relax_places(&t->p, x, &by_nodes, r, work, arena));
    TRY(price_links(t, r, work));
    if (x->replicas > 1) TRY(find_bottlenecks(t, work));
    return find_alike(t, work);
}

int check_tree_places(const struct check_tree *t) { return t->places; }
const struct check_problem *check_tree_problem(const struct check_tree *t) { return &t->p; }

// ---- children

static void count_used(const struct check_part *part, int used[MOST_GROUPS])
{
    memset(used, 0, MOST_GROUPS * sizeof *used);
    for (int k = 0; k < part->depth; k++) used[part->node[k]]++;
}

// Whether the first ranks of two replicas are on the same nodes.
static bool stand_alike(const struct check_tree *t, const struct check_part *part, int replica,
                        int other, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        if (part->node[rank * t->x->replicas + replica] !=
            part->node[rank * t->x->replicas + other])
            return false;
    return true;
}

// Of all placements that differ only in the numbering of replicas and of equal nodes, only the one
// whose nodes, place by place, come first.
int check_list_children(const struct check_tree *t, const struct check_part *part,
                        int children[MOST_GROUPS])
{
    int used[MOST_GROUPS], count = 0, first = 0, replicas = t->x->replicas,
                           rank = part->depth / replicas, replica = part->depth % replicas;
    count_used(part, used);
    for (int other = 0; other < replica; other++)
        if (stand_alike(t, part, replica, other, rank) &&
            part->node[rank * replicas + other] > first)
            first = part->node[rank * replicas + other];
    for (int node = first; node < t->x->node_count; node++) {
        bool repeats = false;
        for (int i = 0; i < node && !used[node]; i++)
            repeats = repeats || (t->alike[i] == t->alike[node] && !used[i]);
        if (used[node] < slots_of(t, node) && !repeats) children[count++] = node;
    }
    return count;
}

// ---- syncs of a stage of whose ring some nodes are known

struct ring {
    int members[TREE_PLACES_MOST],
        count;       // known nodes; all: one for each replica
    unsigned groups; // of the members
    int64_t *constant,
        *layer; // [option], [run * options + option]: least so far; constant[0] -1: none
};

static void lower_ring(const struct check_tree *t, struct ring *g, int link)
{
    int options = t->p.gradient_count, numbers = options * t->p.run_count;
    bool first = g->constant[0] < 0;
    for (int o = 0; o < options; o++)
        g->constant[o] = first ? t->constants[link * options + o]
                               : smaller(g->constant[o], t->constants[link * options + o]);
    for (int i = 0; i < numbers; i++)
        g->layer[i] = first ? t->layers[link * numbers + i]
                            : smaller(g->layer[i], t->layers[link * numbers + i]);
}

// The least weight, by these weights, of the heavier of a node's links in and out. INT64_MAX: it
// has none in, or none out.
static int64_t least_through(const struct check_tree *t, const int64_t *weights, int node)
{
    int64_t in = INT64_MAX, out = INT64_MAX;
    int n = t->x->node_count;
    for (int i = 0; i < n; i++) {
        if (weights[i * n + node] >= 0) in = smaller(in, weights[i * n + node]);
        if (weights[node * n + i] >= 0) out = smaller(out, weights[node * n + i]);
    }
    return larger(in, out);
}

static void lower_from(const struct check_tree *t, struct ring *g, int kind, const int64_t *weights,
                       int64_t bottleneck)
{
    int64_t least = bottleneck;
    for (int i = 0; i < g->count; i++)
        least = larger(least, least_through(t, weights, g->members[i]));
    for (int pair = 0; pair < pairs_of(t); pair++)
        if (weights[pair] >= 0 && weights[pair] >= least)
            lower_ring(t, g, kind * pairs_of(t) + pair);
}

// All members are known: the ring has no others.
static void bound_whole_ring(const struct check_tree *t, struct ring *g, struct arena *arena)
{
    int n = t->x->node_count, kind = t->x->kind_of[g->groups], *slots = TAKE(arena, n, int);
    int64_t *weights = TAKE(arena, pairs_of(t), int64_t);
    for (int i = 0; i < g->count; i++) slots[g->members[i]]++;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) {
            bool among = slots[from] && slots[to] && (from != to || slots[from] == g->count);
            weights[from * n + to] = among ? t->weights[link_at(t, kind, from, to)] : -1;
        }
    lower_from(t, g, kind, weights, check_least_bottleneck(weights, slots, n, g->count, arena));
}

// Other members may be any: over each kind of card that a ring with these members can have.
static void bound_open_ring(const struct check_tree *t, struct ring *g)
{
    const struct check_problem *p = t->x->problem;
    unsigned beside = 0, kinds = 0;
    for (int other = 0; other < p->group_count; other++) {
        bool may = !p->groups[other].excluded;
        for (int i = 0; i < g->count; i++)
            may = may && t->x->may_ring[t->x->nodes[g->members[i]].group * p->group_count + other];
        if (may) beside |= 1u << other;
    }
    beside |= g->groups;
    for (unsigned set = beside; set; set = (set - 1) & beside)
        if ((set & g->groups) == g->groups) kinds |= 1u << t->x->kind_of[set];
    for (int kind = 0; kind < t->x->kinds; kind++)
        if (kinds >> kind & 1)
            lower_from(t, g, kind, t->weights + kind * pairs_of(t), t->bottlenecks[kind]);
}

static void find_ring(const struct check_tree *t, const struct check_part *part, int rank,
                      struct ring *g, struct arena *arena)
{
    int options = t->p.gradient_count;
    *g = (struct ring){.constant = TAKE(arena, options, int64_t),
                       .layer = TAKE(arena, options * t->p.run_count, int64_t)};
    g->constant[0] = -1;
    for (int replica = 0; replica < t->x->replicas; replica++) {
        int place = rank * t->x->replicas + replica;
        if (place >= part->depth) break;
        g->members[g->count++] = part->node[place];
        g->groups |= 1u << t->x->nodes[part->node[place]].group;
    }
    if (g->count == t->x->replicas) bound_whole_ring(t, g, arena);
    else bound_open_ring(t, g);
}

// ---- the problem of a part

// The sync of a node where a rank of the replica is: that of its ring, which depends on no links
// other than the node's. For two ranks on the node, the smaller.
static void put_sync(const struct check_tree *t, struct check_problem *to, const struct ring *g,
                     int node, bool first)
{
    int options = t->p.gradient_count;
    for (int o = 0; o < options; o++) {
        int64_t *constant = &to->groups[node].sync_constant[o];
        *constant = first ? g->constant[o] : smaller(*constant, g->constant[o]);
        for (int run = 0; run < t->p.run_count; run++) {
            int64_t *layer = &to->runs[run].sync[o][node], ring = g->layer[run * options + o];
            *layer = first ? ring : smaller(*layer, ring);
        }
    }
}

static void copy_syncs(const struct check_tree *t, struct check_problem *to, struct arena *arena)
{
    int options = t->p.gradient_count, n = t->p.group_count;
    to->groups = TAKE_COPY(arena, t->p.groups, n);
    to->runs = TAKE_COPY(arena, t->p.runs, t->p.run_count);
    for (int i = 0; i < n; i++)
        to->groups[i].sync_constant = TAKE_COPY(arena, t->p.groups[i].sync_constant, options);
    for (int run = 0; run < t->p.run_count; run++) {
        to->runs[run].sync = TAKE(arena, options, int64_t *);
        for (int o = 0; o < options; o++)
            to->runs[run].sync[o] = TAKE_COPY(arena, t->p.runs[run].sync[o], n);
    }
}

static void add_rules(struct check_problem *to, const struct check_tree *t,
                      const struct check_part *part, int replica, struct arena *arena)
{
    int most = to->rule_count + to->stages + part->range_count;
    to->rules =
        arena_grow(arena, to->rules, (size_t)to->rule_count, (size_t)most, sizeof *to->rules);
    for (int stage = 0; stage < to->stages; stage++) {
        int place = check_rank_of(to, stage) * t->x->replicas + replica;
        if (place >= part->depth) continue;
        to->rules[to->rule_count] = check_rule_about(stage);
        to->rules[to->rule_count++].groups = 1u << part->node[place];
    }
    for (int i = 0; i < part->range_count; i++) {
        struct check_rule *r = &to->rules[to->rule_count++];
        *r = check_rule_about(part->ranges[i].stage);
        r->layers_min = part->ranges[i].least, r->layers_max = part->ranges[i].most;
    }
}

// An upper bound for its rings: all sets of groups, all links of all kinds, one bottleneck each.
static uint64_t work_of_part(const struct check_tree *t)
{
    const struct check_problem *p = &t->p;
    uint64_t links = (uint64_t)(t->x->kinds * pairs_of(t)), sets = UINT64_C(1)
                                                                   << t->x->problem->group_count;
    uint64_t ring = links * (uint64_t)(1 + p->gradient_count * (1 + p->run_count)) + 2 * sets;
    uint64_t size = (uint64_t)t->x->replicas,
             nodes = size < (uint64_t)t->x->node_count ? size : (uint64_t)t->x->node_count;
    if (t->x->replicas > 1) ring += work_of_bottleneck(nodes, size, size);
    return (uint64_t)p->ranks * ring + numbers_of_pair(t) * (uint64_t)pairs_of(t);
}

enum status check_part_problem(struct check_problem *to, const struct check_tree *t,
                               const struct check_part *part, int replica, const struct reader *r,
                               uint64_t *work, struct arena *arena)
{
    int used[MOST_GROUPS], own[MOST_GROUPS] = {0}, replicas = t->x->replicas, n = t->x->node_count;
    *to = t->p;
    to->reader = *r;
    TRY(check_spend(to, work, work_of_part(t)));
    copy_syncs(t, to, arena);
    count_used(part, used);
    bool joined = true;
    for (int rank = 0; rank < to->ranks; rank++) {
        int place = rank * replicas + replica;
        if (place >= part->depth) break;
        struct ring g;
        int node = part->node[place];
        own[node]++;
        if (replicas == 1) continue;
        find_ring(t, part, rank, &g, arena);
        joined = joined && g.constant[0] >= 0;
        // Another rank of the replica may be added where there is room.
        if (joined && used[node] == slots_of(t, node)) put_sync(t, to, &g, node, own[node] == 1);
    }
    for (int i = 0; i < n; i++)
        to->groups[i].slots = joined ? own[i] + slots_of(t, i) - used[i] : 0;
    add_rules(to, t, part, replica, arena);
    return check_problem_times(to);
}
