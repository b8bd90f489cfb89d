// What the syncs of groups, or of nodes, take at least, whatever their rings (docs/PROOFS.md 11).
#include "solve/checker/places/relaxing.h"

// A weight that distinguishes links: the whole model's sync as one stage. Any numbers would do.
static int64_t weight_of(const struct relaxing *m)
{
    wide sum = m->link.constant[0];
    for (int run = 0; run < m->p->run_count; run++)
        sum += (wide)m->p->runs[run].count * m->link.layer[run * m->p->gradient_count];
    return sum < INT64_MAX ? (int64_t)sum : INT64_MAX - 1;
}

void check_open_link(struct relaxing *m)
{
    m->link.constant = TAKE(m->arena, m->p->gradient_count, int64_t);
    m->link.layer = TAKE(m->arena, m->p->gradient_count * m->p->run_count, int64_t);
    m->weights = TAKE(m->arena, (size_t)m->x->node_count * (size_t)m->x->node_count, int64_t);
}

// How other rings use the nodes' cards depends on where all replicas are; the least is without any.
static const int64_t alone[2] = {1, 1};

enum status check_weigh_link(struct relaxing *m, int kind, int from, int to, int64_t *weight)
{
    const struct check_places *x = m->x;
    bool joined = relaxing_is_pair(m, from, to) &&
                  (from != to || x->nodes[from].slots >= x->replicas) &&
                  x->may_ring[x->nodes[from].group * m->p->group_count + x->nodes[to].group];
    *weight = -1;
    if (!joined) return OK;
    TRY(check_spend(m->to, m->work, (uint64_t)(m->p->gradient_count * (m->p->run_count + 1))));
    if (!x->link(x->context, kind, from, to, alone, &joined, &m->link))
        return relaxing_refuse_price(m);
    if (joined) *weight = weight_of(m);
    return OK;
}

void check_lower_sync(struct relaxing *m, int target)
{
    for (int o = 0; o < m->p->gradient_count; o++) {
        check_take_least(&m->to->groups[target].sync_constant[o], m->link.constant[o]);
        for (int run = 0; run < m->p->run_count; run++)
            check_take_least(&m->to->runs[run].sync[o][target],
                             m->link.layer[run * m->p->gradient_count + o]);
    }
}

// Kinds of card, a bit each, of rings that include a node of the group.
static unsigned kinds_with(const struct relaxing *m, int group)
{
    const struct check_problem *p = m->p;
    unsigned beside = 0, kinds = 0;
    for (int g = 0; g < p->group_count; g++)
        if (!p->groups[g].excluded && m->x->may_ring[group * p->group_count + g]) beside |= 1u << g;
    beside |= 1u << group;
    for (unsigned set = beside; set; set = (set - 1) & beside)
        if (set >> group & 1) kinds |= 1u << m->x->kind_of[set];
    return kinds;
}

// A ring enters each of its nodes over one link and leaves over another: the least weight of the
// heavier one.
static int64_t least_through(const struct relaxing *m, int node)
{
    int64_t in = -1, out = -1;
    for (int i = 0; i < m->x->node_count; i++) {
        check_take_least(&in, m->weights[(size_t)i * (size_t)m->x->node_count + (size_t)node]);
        check_take_least(&out, m->weights[(size_t)node * (size_t)m->x->node_count + (size_t)i]);
    }
    if (in < 0 || out < 0) return INT64_MAX;
    return in > out ? in : out;
}

// least[target]: every ring over this kind with one of the target's nodes has a link of at least
// this weight. INT64_MAX: there is none.
static void find_least_weights(struct relaxing *m, int kind, const unsigned *kinds, int64_t *least)
{
    struct arena_mark mark = arena_set_mark(m->arena);
    int count = m->x->node_count, *slots = TAKE(m->arena, count, int);
    for (int i = 0; i < count; i++) slots[i] = relaxing_is_usable(m, i) ? m->x->nodes[i].slots : 0;
    int64_t bottleneck = check_least_bottleneck(m->weights, slots, count, m->x->replicas, m->arena);
    for (int t = 0; t < m->to->group_count; t++) least[t] = INT64_MAX;
    for (int i = 0; i < count; i++) {
        int64_t through = least_through(m, i);
        if (!slots[i] || !(kinds[m->x->nodes[i].group] >> kind & 1)) continue;
        if (through < bottleneck) through = bottleneck;
        if (through < least[m->target_of[i]]) least[m->target_of[i]] = through;
    }
    arena_reset(m->arena, mark);
}

static enum status relax_kind(struct relaxing *m, int kind, const unsigned *kinds, int64_t *least)
{
    int count = m->x->node_count;
    int64_t weight;
    for (int pair = 0; pair < count * count; pair++)
        TRY(check_weigh_link(m, kind, pair / count, pair % count, &m->weights[pair]));
    find_least_weights(m, kind, kinds, least);
    int64_t lightest = INT64_MAX;
    for (int t = 0; t < m->to->group_count; t++)
        lightest = least[t] < lightest ? least[t] : lightest;
    for (int pair = 0; pair < count * count; pair++) {
        if (m->weights[pair] < 0 || m->weights[pair] < lightest) continue;
        TRY(check_weigh_link(m, kind, pair / count, pair % count, &weight));
        for (int t = 0; t < m->to->group_count; t++)
            if (m->weights[pair] >= least[t]) check_lower_sync(m, t);
    }
    return OK;
}

static enum status relax_rings(struct relaxing *m)
{
    unsigned kinds[MOST_GROUPS] = {0}, all = 0;
    int64_t least[MOST_GROUPS];
    TRY(check_spend(m->to, m->work, (uint64_t)m->p->group_count << m->p->group_count));
    for (int g = 0; g < m->p->group_count; g++)
        if (!m->p->groups[g].excluded) all |= kinds[g] = kinds_with(m, g);
    for (int kind = 0; kind < m->x->kinds; kind++)
        if (all >> kind & 1) TRY(relax_kind(m, kind, kinds, least));
    return OK;
}

// The ring of a single replica consists of its context ranks, within their node.
static enum status price_single_rings(struct relaxing *m)
{
    for (int i = 0; i < m->x->node_count; i++) {
        bool joined;
        if (!relaxing_is_usable(m, i)) continue;
        if (!m->x->link(m->x->context, 0, i, i, alone, &joined, &m->link))
            return relaxing_refuse_price(m);
        if (joined) check_lower_sync(m, m->target_of[i]);
    }
    return OK;
}

void check_settle_syncs(struct relaxing *m)
{
    for (int t = 0; t < m->to->group_count; t++)
        for (int o = 0; o < m->p->gradient_count; o++) {
            if (m->to->groups[t].sync_constant[o] < 0) m->to->groups[t].sync_constant[o] = 0;
            for (int run = 0; run < m->p->run_count; run++)
                if (m->to->runs[run].sync[o][t] < 0) m->to->runs[run].sync[o][t] = 0;
        }
}

enum status check_relax_syncs(struct relaxing *m)
{
    check_open_link(m);
    if (m->x->replicas > 1) TRY(relax_rings(m));
    else TRY(price_single_rings(m));
    check_settle_syncs(m);
    return OK;
}
