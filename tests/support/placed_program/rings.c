// Rings and syncs. A stage's ring is the number of times that it passes each link (an ordered pair
// of nodes over one transport). It enters and leaves a node as many times as there are replicas on
// it, and it is connected, which a flow from the first replica's node along the ring's links
// ensures. A sync takes the time that its layers and options need over the ring's slowest link. For
// each choice, the links fall into levels: the distinct times of the choice over them. One unit of
// the choice is on one level, which is not lower than that of any link that the ring passes.
#include <stdlib.h>

#include "data/base/least.h"
#include "data/priced/priced.h"
#include "tests/support/placed_program/internal.h"

struct ring {
    struct placing *x;
    int stage;
    int *
        link; // [(transport * nodes + from) * nodes + to]: the column that passes it; -1: none does
    int64_t **sync_ns; // [choice][sharing level * links + link]
};

static int pairs_of(const struct placing *x) { return x->f->nodes * x->f->nodes; }
static int links_of(const struct placing *x) { return x->places->transport_count * pairs_of(x); }
static int prices_of(const struct placing *x) { return x->places->ring_level_count * links_of(x); }

// ---- the ring

static bool can_stand(const struct placing *x, int stage, int node)
{
    return placing_node_column(x, 0, stage, node) >= 0;
}

// How many times a ring may pass from one node to the other.
static int64_t most_of(const struct placing *x, int from, int to)
{
    int a = x->places->nodes[from].slots, b = x->places->nodes[to].slots;
    int64_t most = a < b ? a : b;
    return most < x->f->replicas ? most : x->f->replicas;
}

static void add_link_columns(struct ring *r)
{
    struct placing *x = r->x;
    for (int link = 0; link < links_of(x); link++) {
        int from = link / x->f->nodes % x->f->nodes, to = link % x->f->nodes,
            transport = link / pairs_of(x);
        r->link[link] = -1;
        if (x->places->ring_constant_ns[0][link] == PRICE_NONE || !can_stand(x, r->stage, from) ||
            !can_stand(x, r->stage, to))
            continue;
        if (x->f->replicas == 1) {
            if (from == to && transport == 0)
                r->link[link] = placing_node_column(x, 0, r->stage, from);
            continue;
        }
        struct milp_column column = {.role = COLUMN_OTHER,
                                     .a = r->stage,
                                     .b = from,
                                     .c = transport * x->f->nodes + to,
                                     .upper = most_of(x, from, to),
                                     .integer = true};
        r->link[link] = milp_add_column(&x->f->milp, column);
    }
}

// The replicas from `first` on that are on the node.
static void put_standing(const struct ring *r, int node, int first)
{
    for (int replica = first; replica < r->x->f->replicas; replica++)
        if (placing_node_column(r->x, replica, r->stage, node) >= 0)
            milp_add_entry(&r->x->f->milp, placing_node_column(r->x, replica, r->stage, node), -1);
}

static int pair_at(const struct ring *r, int node, int other, bool in)
{
    return in ? other * r->x->f->nodes + node : node * r->x->f->nodes + other;
}

// The pair's links over all transports, each times `coefficient`.
static bool put_links(const struct ring *r, int pair, int64_t coefficient)
{
    bool any = false;
    for (int link = pair; link < links_of(r->x); link += pairs_of(r->x)) {
        if (r->link[link] < 0) continue;
        milp_add_entry(&r->x->f->milp, r->link[link], coefficient);
        any = true;
    }
    return any;
}

// A ring enters a node, and leaves it, as many times as there are replicas on it.
static void add_ring_rows(struct ring *r)
{
    struct placing *x = r->x;
    for (int node = 0; node < x->f->nodes; node++)
        for (int in = 0; in < 2 && can_stand(x, r->stage, node); in++) {
            for (int other = 0; other < x->f->nodes; other++)
                put_links(r, pair_at(r, node, other, in), 1);
            put_standing(r, node, 0);
            milp_add_row(&x->f->milp, ROW_OTHER, ROW_EQUAL, 0);
        }
}

// From the first replica's node, one unit for each other replica flows along the ring's links and
// stays with that replica.
static void add_reach_rows(struct ring *r)
{
    struct placing *x = r->x;
    struct milp *m = &x->f->milp;
    int nodes = x->f->nodes, *reach = TAKE(x->arena, pairs_of(x), int);
    for (int pair = 0; pair < pairs_of(x); pair++) {
        reach[pair] = -1;
        if (pair / nodes == pair % nodes || !put_links(r, pair, 1 - x->f->replicas)) continue;
        reach[pair] = milp_add_column(m, (struct milp_column){.role = COLUMN_OTHER,
                                                              .a = r->stage,
                                                              .b = pair / nodes,
                                                              .c = pair % nodes,
                                                              .upper = x->f->replicas - 1});
        milp_add_entry(m, reach[pair], 1);
        milp_add_row(m, ROW_OTHER, ROW_AT_MOST, 0);
    }
    for (int node = 0; node < nodes; node++) {
        if (!can_stand(x, r->stage, node)) continue;
        for (int other = 0; other < nodes; other++)
            for (int in = 0; in < 2; in++)
                if (reach[pair_at(r, node, other, in)] >= 0)
                    milp_add_entry(m, reach[pair_at(r, node, other, in)], in ? 1 : -1);
        put_standing(r, node, 1);
        milp_add_entry(m, placing_node_column(x, 0, r->stage, node), x->f->replicas - 1);
        milp_add_row(m, ROW_OTHER, ROW_EQUAL, 0);
    }
}

// ---- the sync

// Whether it takes the same time whatever GPU a replica's choice is on.
static bool is_shared(const struct ring *r)
{
    const struct stage_choices *all = &r->x->c->stages[r->stage];
    const int *option = r->x->f->option_column[r->stage];
    for (int i = 0; i < all->count; i++)
        for (int price = 0; price < prices_of(r->x); price++)
            if (r->link[price % links_of(r->x)] >= 0 &&
                r->sync_ns[i][price] != r->sync_ns[r->x->f->milp.columns[option[i]].b][price])
                return false;
    return true;
}

struct level {
    int choice;
    int64_t sync_ns;
    int column;
};

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Levels of one choice; their sum is its column.
static int add_levels(struct ring *r, int choice, int column, struct level *levels)
{
    struct milp *m = &r->x->f->milp;
    int64_t *values = TAKE(r->x->arena, prices_of(r->x), int64_t);
    int count = 0, distinct = 0;
    for (int price = 0; price < prices_of(r->x); price++)
        if (r->link[price % links_of(r->x)] >= 0) values[count++] = r->sync_ns[choice][price];
    qsort(values, (size_t)count, sizeof *values, by_value);
    for (int i = 0; i < count; i++) {
        if (i && values[i] == values[i - 1]) continue;
        struct milp_column level = {.role = COLUMN_OTHER,
                                    .a = r->stage,
                                    .b = choice,
                                    .c = distinct,
                                    .upper = 1,
                                    .integer = r->x->crowded};
        levels[distinct] = (struct level){choice, values[i], milp_add_column(m, level)};
        milp_add_entry(m, levels[distinct++].column, 1);
    }
    milp_add_entry(m, column, -1);
    milp_add_row(m, ROW_OTHER, ROW_EQUAL, 0);
    return distinct;
}

static bool no_cheaper(const struct ring *r, int link, int than)
{
    for (int i = 0; i < r->x->c->stages[r->stage].count; i++)
        if (r->sync_ns[i][link] < r->sync_ns[i][than]) return false;
    return true;
}

// All of a choice's levels whose time is at least that over this price, each times `times`.
static void put_levels(const struct ring *r, int price, const struct level *levels, int count,
                       int64_t times)
{
    for (int i = 0; i < count; i++)
        if (levels[i].sync_ns >= r->sync_ns[levels[i].choice][price])
            milp_add_entry(&r->x->f->milp, levels[i].column, times);
}

// One unit is on a level that is at least the link's, if the ring passes it. A node with room for
// one replica is left once, so all its links that are no cheaper than this one are in one row. If
// there is room for several replicas, a link may be passed several times; then half a unit would be
// enough, so levels are integers there.
static void add_bottleneck_row(struct ring *r, int link, const struct level *levels, int count)
{
    struct placing *x = r->x;
    struct milp *m = &x->f->milp;
    int from = link / x->f->nodes % x->f->nodes;
    for (int other = 0; other < links_of(x); other++) {
        bool beside = other / x->f->nodes % x->f->nodes == from &&
                      x->places->nodes[from].slots == 1;
        if (r->link[other] >= 0 && (other == link || (beside && no_cheaper(r, other, link))))
            milp_add_entry(m, r->link[other], -1);
    }
    put_levels(r, link, levels, count, m->columns[r->link[link]].upper);
    milp_add_row(m, ROW_OTHER, ROW_AT_LEAST, 0);
}

// A link within a node counts if the whole ring is in the node: then all replicas pass it.
static void add_inner_row(struct ring *r, int link, const struct level *levels, int count)
{
    struct placing *x = r->x;
    int node = link % x->f->nodes, replicas = x->f->replicas;
    if (replicas > 1 && x->places->nodes[node].slots < replicas) return;
    milp_add_entry(&x->f->milp, r->link[link], -1);
    put_levels(r, link, levels, count, 1);
    milp_add_row(&x->f->milp, ROW_OTHER, ROW_AT_LEAST, 1 - replicas);
}

// The same for the case that a given number of rings leave one of the link's ends.
static void add_shared_rows(struct ring *r, int link, const struct level *levels, int count)
{
    struct placing *x = r->x;
    const struct priced_places *n = x->places;
    struct milp *m = &x->f->milp;
    const int ends[2] = {link / x->f->nodes % x->f->nodes, link % x->f->nodes};
    int64_t most = m->columns[r->link[link]].upper;
    for (int end = 0; end < 2; end++)
        for (int rings = 2; rings <= n->rings_most; rings++) {
            int column = x->shared[ends[end] * (n->rings_most + 1) + rings],
                level = n->ring_level[link / pairs_of(x)]
                                     [n->nodes[ends[end]].group * n->rings_most + rings - 1];
            if (column < 0 || !level) continue;
            milp_add_entry(m, r->link[link], -1);
            milp_add_entry(m, column, -most);
            put_levels(r, level * links_of(x) + link, levels, count, most);
            milp_add_row(m, ROW_OTHER, ROW_AT_LEAST, -most);
        }
}

static void add_bottleneck_rows(struct ring *r, const struct level *levels, int count)
{
    const struct placing *x = r->x;
    for (int link = 0; link < links_of(x); link++) {
        if (r->link[link] < 0) continue;
        if (link / x->f->nodes % x->f->nodes == link % x->f->nodes) {
            add_inner_row(r, link, levels, count);
        } else {
            add_bottleneck_row(r, link, levels, count);
            add_shared_rows(r, link, levels, count);
        }
    }
}

static void add_sync(struct ring *r, int replica)
{
    struct placing *x = r->x;
    const struct stage_choices *all = &x->c->stages[r->stage];
    const int *columns = replica < 0 ? x->f->option_column[r->stage]
                                     : x->f->choice_column[placing_stage(x, replica, r->stage)];
    struct level *levels = TAKE(x->arena, all->count * (prices_of(x) + 1), struct level);
    int count = 0, symbol = symbol_index(x->f->ranks, SYMBOL_SYNC, r->stage);
    int64_t least = INT64_MAX, greatest = 0;
    for (int i = 0; i < all->count; i++)
        if (replica >= 0 || x->f->milp.columns[columns[i]].b == i)
            count += add_levels(r, i, columns[i], levels + count);
    for (int i = 0; i < count; i++) {
        least = levels[i].sync_ns < least ? levels[i].sync_ns : least;
        greatest = levels[i].sync_ns > greatest ? levels[i].sync_ns : greatest;
    }
    int column = count ? placing_symbol(x, replica, symbol, least, greatest) : -1;
    if (column < 0) return;
    if (least == greatest) return;
    add_bottleneck_rows(r, levels, count);
    for (int i = 0; i < count; i++)
        milp_add_entry(&x->f->milp, levels[i].column, -levels[i].sync_ns);
    milp_add_entry(&x->f->milp, column, 1);
    milp_add_row(&x->f->milp, ROW_SYMBOL, ROW_EQUAL, 0);
}

// ---- transports

enum { GROUPS_OF_RINGS = 10 }; // all sets of them are listed

// A group with a replica on it is a member of the ring.
static int add_member(struct ring *r, int group)
{
    struct placing *x = r->x;
    struct milp *m = &x->f->milp;
    int member = milp_add_column(
        m, (struct milp_column){
               .role = COLUMN_OTHER, .a = r->stage, .b = group, .upper = 1, .integer = true});
    for (int node = 0; node < x->f->nodes; node++)
        for (int replica = 0; replica < x->f->replicas && x->places->nodes[node].group == group;
             replica++) {
            if (placing_node_column(x, replica, r->stage, node) < 0) continue;
            milp_add_entry(m, member, 1);
            milp_add_entry(m, placing_node_column(x, replica, r->stage, node), -1);
            milp_add_row(m, ROW_OTHER, ROW_AT_LEAST, 0);
        }
    milp_add_entry(m, member, 1);
    for (int node = 0; node < x->f->nodes; node++)
        if (x->places->nodes[node].group == group && can_stand(x, r->stage, node))
            put_standing(r, node, 0);
    milp_add_row(m, ROW_OTHER, ROW_AT_MOST, 0);
    return member;
}

// One node of each group: its index in the places.
static int list_members(struct ring *r, int *nodes, int *members)
{
    struct placing *x = r->x;
    int count = 0;
    for (int group = 0; group < x->p->group_count && count <= GROUPS_OF_RINGS; group++)
        for (int node = 0; node < x->f->nodes; node++) {
            if (x->places->nodes[node].group != group || !can_stand(x, r->stage, node)) continue;
            nodes[count] = node;
            if (count < GROUPS_OF_RINGS) members[count] = add_member(r, group);
            count++;
            break;
        }
    return count;
}

// For every set of groups: if it is the set of members, the ring uses its transport.
static enum status add_transports(struct ring *r, struct error *err)
{
    struct placing *x = r->x;
    struct milp *m = &x->f->milp;
    int nodes[GROUPS_OF_RINGS + 1], members[GROUPS_OF_RINGS], set[GROUPS_OF_RINGS],
        columns[TRANSPORTS_MAX], count = list_members(r, nodes, members);
    if (count > GROUPS_OF_RINGS)
        return refuse(
            err,
            "the program of placements knows rings over several transports of %d groups at most",
            GROUPS_OF_RINGS);
    for (int t = 0; t < x->places->transport_count; t++)
        columns[t] = milp_add_column(
            m, (struct milp_column){
                   .role = COLUMN_OTHER, .a = r->stage, .b = t, .upper = 1, .integer = true});
    for (int t = 0; t < x->places->transport_count; t++) milp_add_entry(m, columns[t], 1);
    milp_add_row(m, ROW_OTHER, ROW_EQUAL, 1);
    for (unsigned groups = 1; groups < 1u << count; groups++) {
        int size = 0;
        for (int i = 0; i < count; i++) {
            milp_add_entry(m, members[i], groups >> i & 1 ? -1 : 1);
            if (groups >> i & 1) set[size++] = nodes[i];
        }
        milp_add_entry(m, columns[priced_ring_offset(x->places, set, size) / (size_t)pairs_of(x)],
                       1);
        milp_add_row(m, ROW_OTHER, ROW_AT_LEAST, 1 - size);
    }
    for (int link = 0; link < links_of(x); link++) {
        if (r->link[link] < 0) continue;
        milp_add_entry(m, r->link[link], 1);
        milp_add_entry(m, columns[link / pairs_of(x)], -m->columns[r->link[link]].upper);
        milp_add_row(m, ROW_OTHER, ROW_AT_MOST, 0);
    }
    return OK;
}

// ---- rings that share cards

void placing_add_sharing(struct placing *x)
{
    struct milp *m = &x->f->milp;
    int nodes = x->f->nodes, most = x->places->rings_most, stages = x->f->ranks;
    x->leaves = TAKE(x->arena, stages * nodes, int);
    x->shared = TAKE(x->arena, nodes * (most + 1), int);
    for (int i = 0; i < nodes * (most + 1); i++) {
        int count = i % (most + 1), node = i / (most + 1);
        bool may = x->places->ring_level_count > 1 && count > 1 &&
                   count <= x->places->nodes[node].slots;
        x->shared[i] = may ? milp_add_column(m, (struct milp_column){.role = COLUMN_OTHER,
                                                                     .a = node,
                                                                     .b = count,
                                                                     .upper = 1,
                                                                     .integer = true})
                           : -1;
    }
    for (int i = 0; i < stages * nodes && x->places->ring_level_count > 1; i++)
        x->leaves[i] = milp_add_column(
            m,
            (struct milp_column){
                .role = COLUMN_OTHER, .a = i / nodes, .b = i % nodes, .upper = 1, .integer = true});
    for (int i = 0; i < nodes * (most + 1); i++) {
        int count = i % (most + 1), node = i / (most + 1);
        if (x->shared[i] < 0) continue;
        for (int s = 0; s < stages; s++) milp_add_entry(m, x->leaves[s * nodes + node], 1);
        milp_add_entry(m, x->shared[i], count - 1 - stages);
        milp_add_row(m, ROW_OTHER, ROW_AT_MOST, count - 1);
    }
}

// The stage's ring leaves the node if it passes a link to another node.
static void add_leaving_row(struct ring *r, int node)
{
    struct placing *x = r->x;
    struct milp *m = &x->f->milp;
    bool any = false;
    for (int other = 0; other < x->f->nodes; other++)
        if (other != node) any = put_links(r, pair_at(r, node, other, false), 1) || any;
    if (!any) return;
    milp_add_entry(m, x->leaves[r->stage * x->f->nodes + node],
                   -smaller_int(x->places->nodes[node].slots, x->f->replicas));
    milp_add_row(m, ROW_OTHER, ROW_AT_MOST, 0);
}

// ---- the whole ring

enum status placing_add_ring(struct placing *x, int stage, struct error *err)
{
    int count = x->c->stages[stage].count;
    struct ring r = {.x = x,
                     .stage = stage,
                     .link = TAKE(x->arena, links_of(x), int),
                     .sync_ns = TAKE(x->arena, count + 1, int64_t *)};
    add_link_columns(&r);
    if (x->f->replicas > 1) add_ring_rows(&r);
    if (x->f->replicas > 3 || (x->crowded && x->f->replicas > 1)) add_reach_rows(&r);
    if (x->f->replicas > 1 && x->places->transport_count > 1) TRY(add_transports(&r, err));
    if (!x->used[symbol_index(x->f->ranks, SYMBOL_SYNC, stage)]) return OK;
    for (int node = 0; node < x->f->nodes && x->places->ring_level_count > 1; node++)
        add_leaving_row(&r, node);
    for (int i = 0; i < count; i++) {
        r.sync_ns[i] = TAKE(x->arena, prices_of(x), int64_t);
        for (int price = 0; price < prices_of(x); price++)
            if (r.link[price % links_of(x)] >= 0)
                r.sync_ns[i][price] = choice_ring_sync_ns(
                    x->c, stage, &x->c->stages[stage].items[i], (size_t)price, false);
    }
    bool shared = is_shared(&r);
    for (int replica = shared ? -1 : 0; replica < (shared ? 0 : x->f->replicas); replica++)
        add_sync(&r, replica);
    return OK;
}
