// The program of stages of which the first ones stand on nodes.
#include "solve/places/named.h"

#include <string.h>

#include "data/base/least.h"
#include "data/inputs/places_use.h"

struct making {
    struct priced *to;
    const struct priced *p;
    const struct standing *standing;
    int fixed, *seat; // [group of to]: its seat
    struct arena *arena;
};

// ---- every number of a group is that of its seat

static int64_t *by_seat(const struct making *m, const int64_t *from)
{
    int64_t *to = TAKE(m->arena, m->to->group_count, int64_t);
    for (int g = 0; g < m->to->group_count; g++) to[g] = from[m->seat[g]];
    return to;
}

static void put_run(const struct making *m, int run)
{
    struct priced_run *to = &m->to->runs[run];
    struct priced_run *bytes = TAKE(m->arena, m->to->group_count, struct priced_run);
    to->forward_ns = by_seat(m, to->forward_ns);
    to->backward_ns = by_seat(m, to->backward_ns);
    to->weight_ns = by_seat(m, to->weight_ns);
    to->optimizer_ns = by_seat(m, to->optimizer_ns);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (to->again_ns[mode]) to->again_ns[mode] = by_seat(m, to->again_ns[mode]);
    const int64_t *syncs = to->sync_ns[0];
    to->sync_ns = TAKE(m->arena, 1, int64_t *);
    to->sync_ns[0] = by_seat(m, syncs);
    for (int g = 0; g < m->to->group_count; g++) bytes[g] = to->seats[m->seat[g]];
    priced_put_seats(to, bytes, m->to->group_count, m->arena);
}

static void put_groups(const struct making *m)
{
    struct priced *to = m->to;
    bool all = m->fixed == to->stage_count;
    to->groups = TAKE(m->arena, to->group_count, struct priced_group);
    for (int g = 0; g < to->group_count; g++) {
        struct priced_group *group = &to->groups[g];
        *group = m->p->groups[m->seat[g]];
        if (g >= m->fixed) continue;
        group->name = arena_print(m->arena, "%s of stage %d", group->name, g);
        group->sync_constant_ns = TAKE_COPY(m->arena, group->sync_constant_ns, 1);
        if (all) group->node_group = NULL, group->slots = 1; // there is room for it
    }
    priced_find_pools(to);
}

// The job's rules, about the groups that stand for their seats; and each stage on its own group.
static void put_rules(const struct making *m)
{
    struct priced *to = m->to;
    struct rule *rules = TAKE(m->arena, to->rule_count + to->stage_count, struct rule);
    for (int i = 0; i < to->rule_count; i++) {
        const struct rule *own = &m->p->rules[i];
        rules[i] = *own;
        rules[i].groups = TAKE(m->arena, to->group_count + 1, const char *);
        rules[i].group_count = 0;
        for (int g = 0; g < to->group_count; g++)
            if (rule_names_group(own, m->p->groups[m->seat[g]].name))
                rules[i].groups[rules[i].group_count++] = to->groups[g].name;
        if (own->group_count && !rules[i].group_count) // named, and none of them is left
            rules[i].groups[rules[i].group_count++] = "none";
    }
    for (int s = 0; s < to->stage_count; s++) {
        struct rule *r = &rules[to->rule_count + s];
        *r = rule_empty;
        r->action = RULE_REQUIRE, r->stage = s;
        r->groups = TAKE(m->arena, to->group_count, const char *);
        if (s < m->fixed) r->groups[r->group_count++] = to->groups[s].name;
        for (int g = m->fixed; s >= m->fixed && g < to->group_count; g++)
            r->groups[r->group_count++] = to->groups[g].name;
    }
    to->rules = rules, to->rule_count += to->stage_count;
}

// ---- messages

// Whether two replicas have samples in common, of which each takes its part in order.
static bool meet(int one, int of_one, int other, int of_other)
{
    return one * of_other < (other + 1) * of_one && other * of_one < (one + 1) * of_other;
}

static void take_longer(int64_t *to, const int64_t *ns)
{
    for (int part = 0; part < PART_COUNT; part++)
        to[part] = to[part] == PRICE_NONE || ns[part] == PRICE_NONE ? PRICE_NONE
                                                                    : larger(to[part], ns[part]);
}

static void take_least(int64_t *to, const int64_t *ns)
{
    for (int part = 0; part < PART_COUNT; part++)
        if (ns[part] != PRICE_NONE && (to[part] == PRICE_NONE || ns[part] < to[part]))
            to[part] = ns[part];
}

// Of a table by pairs of nodes: between two stages that stand, the longest of what their replicas
// send each other.
static void between_stages(const struct making *m, int boundary, const int64_t *table, int64_t *ns)
{
    const struct standing *a = &m->standing[boundary], *b = a + 1;
    int nodes = m->p->seat_nodes->of[0]->places->node_count, d = m->p->groups[a->seat].data,
        e = m->p->groups[b->seat].data;
    for (int part = 0; part < PART_COUNT; part++) ns[part] = 0;
    for (int i = 0; i < d; i++)
        for (int k = 0; k < e; k++)
            if (meet(i, d, k, e))
                take_longer(ns, table + (a->node[i] * nodes + b->node[k]) * PART_COUNT);
}

// From the last stage that stands to one that may stand on any nodes.
static void from_last(const struct making *m, int seat, const int64_t *table, int64_t *ns)
{
    const struct priced_places *x = m->p->seat_nodes->of[seat]->places;
    const struct standing *a = &m->standing[m->fixed - 1];
    for (int part = 0; part < PART_COUNT; part++) ns[part] = 0;
    for (int i = 0; i < m->p->groups[a->seat].data; i++) {
        int64_t least[PART_COUNT];
        for (int part = 0; part < PART_COUNT; part++) least[part] = PRICE_NONE;
        for (int n = 0; n < x->node_count; n++) // of other groups there is no price
            take_least(least, table + (a->node[i] * x->node_count + n) * PART_COUNT);
        take_longer(ns, least);
    }
}

static void put_pair(const struct making *m, int cut, int from, int to)
{
    const struct priced_seat_nodes *x = m->p->seat_nodes;
    const struct priced_cut *own = &m->p->cuts[cut];
    struct priced_cut *c = &m->to->cuts[cut];
    int seats = x->seat_count, of = m->seat[from] * seats + m->seat[to];
    size_t at = (size_t)(from * m->to->group_count + to) * PART_COUNT;
    for (int back = 0; back < 2; back++) {
        const struct priced_hops *hops = &x->cuts[of][cut];
        const int64_t *table = back ? hops->backward_ns[0] : hops->forward_ns,
                      *least = (back ? own->backward_ns[0] : own->forward_ns) + of * PART_COUNT;
        int64_t *ns = (back ? c->backward_ns[0] : c->forward_ns) + at;
        if (from + 1 < m->fixed && to == from + 1) between_stages(m, from, table, ns);
        else if (from + 1 == m->fixed && to >= m->fixed) from_last(m, m->seat[to], table, ns);
        else
            for (int part = 0; part < PART_COUNT; part++) ns[part] = least[part];
    }
}

static void put_cuts(const struct making *m)
{
    int groups = m->to->group_count;
    m->to->cuts = TAKE_COPY(m->arena, m->p->cuts, m->p->cut_count);
    for (int cut = 0; cut < m->p->cut_count; cut++) {
        struct priced_cut *c = &m->to->cuts[cut];
        c->seat_bytes = by_seat(m, c->seat_bytes);
        c->forward_ns = TAKE(m->arena, groups * groups * PART_COUNT, int64_t);
        c->backward_ns = TAKE(m->arena, 1, int64_t *);
        c->backward_ns[0] = TAKE(m->arena, groups * groups * PART_COUNT, int64_t);
        for (int pair = 0; pair < groups * groups; pair++)
            put_pair(m, cut, pair / groups, pair % groups);
    }
    m->to->embedding_sync_ns = TAKE(m->arena, groups * groups, int64_t); // no ends are tied
}

// ---- rings

// The rings that leave each node, of the stages that stand.
static int *leaving_rings(const struct making *m)
{
    int nodes = m->p->seat_nodes->of[0]->places->node_count;
    int *node = TAKE(m->arena, NAMED_DATA_MAX * m->fixed + 1, int),
        *rings = TAKE(m->arena, nodes, int);
    for (int i = 0; i < NAMED_DATA_MAX * m->fixed; i++) {
        const struct standing *a = &m->standing[i % m->fixed];
        bool there = i / m->fixed < m->p->groups[a->seat].data;
        node[i] = there ? a->node[i / m->fixed] : -1;
    }
    places_leaving_rings(rings, nodes, node, NAMED_DATA_MAX, m->fixed);
    return rings;
}

static void raise(int64_t *to, int64_t ns)
{
    *to = *to == PRICE_NONE || ns == PRICE_NONE ? PRICE_NONE : larger(*to, ns);
}

// Each of its terms takes as long as over the slowest of the ring's links for it.
static void put_ring(const struct making *m, int stage, const int *leaving)
{
    const struct standing *a = &m->standing[stage];
    const struct priced_places *x = m->p->seat_nodes->of[a->seat]->places;
    struct priced_group *g = &m->to->groups[stage];
    int count = g->data;
    bool leaves = false;
    size_t offset = count > 1 ? priced_ring_offset(x, a->node, count) : 0;
    for (int i = 1; i < count; i++) leaves = leaves || a->node[i] != a->node[0];
    g->sync_constant_ns[0] = 0;
    for (int run = 0; run < m->to->run_count; run++) m->to->runs[run].sync_ns[0][stage] = 0;
    for (int i = 0; i < count; i++) {
        int from = a->node[i], to = a->node[(i + 1) % count];
        if (leaves && from == to) continue;
        size_t link = count > 1 ? priced_ring_link(x, offset, from, to, leaving)
                                : (size_t)(from * (x->node_count + 1));
        raise(&g->sync_constant_ns[0], x->ring_constant_ns[0][link]);
        for (int run = 0; run < m->to->run_count; run++)
            raise(&m->to->runs[run].sync_ns[0][stage], x->ring_ns[run][0][link]);
    }
    if (g->sync_constant_ns[0] == PRICE_NONE) g->excluded = "no link connects its ring";
}

void named_program(struct priced *to, const struct priced *p, const struct standing *standing,
                   int fixed, struct arena *arena)
{
    struct making m = {.to = to, .p = p, .standing = standing, .fixed = fixed, .arena = arena};
    *to = *p;
    to->group_count = fixed + (fixed < p->stage_count ? p->group_count : 0);
    m.seat = TAKE(arena, to->group_count, int);
    for (int g = 0; g < to->group_count; g++) m.seat[g] = g < fixed ? standing[g].seat : g - fixed;
    to->runs = TAKE_COPY(arena, p->runs, p->run_count);
    put_groups(&m);
    for (int run = 0; run < p->run_count; run++) put_run(&m, run);
    put_rules(&m);
    put_cuts(&m);
    int *leaving = leaving_rings(&m);
    for (int s = 0; s < fixed; s++) put_ring(&m, s, leaving);
}
