// The problem of one replica that bounds every placement (docs/PROOFS.md 11): whatever depends on
// the actual nodes takes the least value that any allow. Targets are its groups: the groups of
// nodes, or each node by itself.
#include <string.h>

#include "solve/checker/boxes/chain.h"
#include "solve/checker/places/internal.h"

struct relaxing {
    struct check_problem *to;
    const struct check_places *x;
    const struct check_problem *p; // as in the places
    int *target_of;                // [node]
    int *group_of;                 // [target]
    struct check_pair pair;
    struct check_chain *chain; // NULL: not requested
    bool *joined;              // its own
    struct check_ring_link link;
    int64_t *weights; // of a kind: [from * nodes + to]; -1: no link
    const struct reader *r;
    uint64_t *work;
    struct arena *arena;
};

static bool is_usable(const struct relaxing *m, int node)
{
    return m->x->nodes[node].slots > 0 && !m->p->groups[m->x->nodes[node].group].excluded;
}

// Whether two device groups can be there.
static bool is_pair(const struct relaxing *m, int from, int to)
{
    return is_usable(m, from) && is_usable(m, to) && (from != to || m->x->nodes[from].slots > 1);
}

static void take_least(int64_t *least, int64_t price)
{
    if (price >= 0 && (*least < 0 || price < *least)) *least = price;
}

static int64_t *take_none(int count, struct arena *arena)
{
    int64_t *to = TAKE(arena, count, int64_t);
    for (int i = 0; i < count; i++) to[i] = -1;
    return to;
}

static enum status refuse_price(const struct relaxing *m)
{
    return check_refuse(m->r, "places", "a price beyond what can be counted");
}

// ---- what a target takes from its group

static int64_t *spread(const struct relaxing *m, const int64_t *of_groups, int rows)
{
    int targets = m->to->group_count;
    int64_t *to = TAKE(m->arena, rows * targets, int64_t);
    for (int i = 0; i < rows * targets; i++)
        to[i] = of_groups[i / targets * m->p->group_count + m->group_of[i % targets]];
    return to;
}

static void spread_runs(struct relaxing *m)
{
    struct check_problem *to = m->to;
    to->runs = TAKE_COPY(m->arena, m->p->runs, to->run_count);
    for (int i = 0; i < to->run_count; i++) {
        struct check_run *r = &to->runs[i];
        r->forward = spread(m, r->forward, to->slices),
        r->backward = spread(m, r->backward, to->slices);
        for (int mode = 0; mode < MODES; mode++)
            if (r->again[mode]) r->again[mode] = spread(m, r->again[mode], to->slices);
        r->weight = spread(m, r->weight, 1);
        int64_t *const *optimizer = r->optimizer;
        r->optimizer = TAKE(m->arena, to->gradient_count, int64_t *);
        r->sync = TAKE(m->arena, to->gradient_count, int64_t *);
        for (int o = 0; o < to->gradient_count; o++) {
            r->optimizer[o] = spread(m, optimizer[o], 1);
            r->sync[o] = take_none(to->group_count, m->arena);
        }
    }
}

// A rule about groups that no target has holds for none of them, rather than for all.
static void spread_rules(struct relaxing *m)
{
    const unsigned of_none = 1u << 31;
    struct check_problem *to = m->to;
    to->rules = TAKE_COPY(m->arena, m->p->rules, to->rule_count);
    for (int i = 0; i < to->rule_count; i++) {
        if (!to->rules[i].groups) continue;
        to->rules[i].groups = of_none;
        for (int t = 0; t < to->group_count; t++)
            if (m->p->rules[i].groups >> m->group_of[t] & 1) to->rules[i].groups |= 1u << t;
    }
}

// If one replica of a stage is there, all of them are.
static bool keeps_to_itself(const struct relaxing *m, int group)
{
    for (int g = 0; g < m->p->group_count; g++)
        if (g != group && !m->p->groups[g].excluded &&
            m->x->may_ring[group * m->p->group_count + g])
            return false;
    return true;
}

static void put_groups(struct relaxing *m, const struct check_relaxation *how)
{
    struct check_problem *to = m->to;
    to->groups = TAKE(m->arena, to->group_count, struct check_group);
    for (int t = 0; t < to->group_count; t++) {
        to->groups[t] = m->p->groups[m->group_of[t]];
        to->groups[t].slots = 0;
        to->groups[t].sync_constant = take_none(to->gradient_count, m->arena);
    }
    for (int i = 0; i < m->x->node_count; i++) {
        struct check_group *g = &to->groups[m->target_of[i]];
        if (how->by_nodes) g->name = m->x->nodes[i].name;
        if (is_usable(m, i)) g->slots += m->x->nodes[i].slots;
    }
    for (int t = 0; t < to->group_count && !how->by_nodes; t++)
        if (t == how->shared || keeps_to_itself(m, t)) to->groups[t].slots /= m->x->replicas;
}

// ---- transfers

static void open_pair(struct relaxing *m)
{
    const struct check_problem *p = m->p;
    int targets = m->to->group_count, parts = p->slices * PARTS, table = parts * targets * targets;
    m->pair.forward = TAKE(m->arena, p->cut_count * parts, int64_t);
    m->pair.backward = TAKE(m->arena, p->cut_count * p->boundary_count * parts, int64_t);
    m->to->cuts = TAKE_COPY(m->arena, p->cuts, p->cut_count);
    for (int c = 0; c < p->cut_count; c++) {
        m->to->cuts[c].forward = take_none(table, m->arena);
        m->to->cuts[c].backward = TAKE(m->arena, p->boundary_count, int64_t *);
        for (int o = 0; o < p->boundary_count; o++)
            m->to->cuts[c].backward[o] = take_none(table, m->arena);
    }
    if (p->embedding) m->to->embedding = take_none(targets * targets, m->arena);
}

// The minimum of the table and the pair's prices, part by part.
static void lower_table(const struct relaxing *m, int64_t *table, const int64_t *prices, int from,
                        int to)
{
    int targets = m->to->group_count;
    for (int slice = 0; slice < m->p->slices; slice++)
        for (int part = 0; part < PARTS; part++)
            take_least(&table[((slice * targets + from) * targets + to) * PARTS + part],
                       prices[slice * PARTS + part]);
}

static void lower_pair(struct relaxing *m, int from, int to)
{
    const struct check_problem *p = m->p;
    int parts = p->slices * PARTS;
    for (int c = 0; c < p->cut_count; c++) {
        struct check_cut *cut = &m->to->cuts[c];
        lower_table(m, cut->forward, m->pair.forward + c * parts, from, to);
        for (int o = 0; o < p->boundary_count; o++)
            lower_table(m, cut->backward[o], m->pair.backward + (c * p->boundary_count + o) * parts,
                        from, to);
    }
    if (p->embedding && !m->x->embedding)
        take_least(&m->to->embedding[from * m->to->group_count + to], m->pair.embedding);
}

// ---- chains

static void open_chain(struct relaxing *m)
{
    const struct check_problem *p = m->p;
    struct check_chain *x = m->chain = TAKE(m->arena, 1, struct check_chain);
    int n = m->x->node_count, *slots = TAKE(m->arena, n, int), *node_of, places = 0;
    size_t pairs = (size_t)n * (size_t)n, table = pairs * (size_t)(p->slices * PARTS);
    for (int i = 0; i < n; i++) places += slots[i] = is_usable(m, i) ? m->x->nodes[i].slots : 0;
    node_of = TAKE(m->arena, places, int);
    for (int i = 0, at = 0; i < n; i++)
        for (int k = 0; k < slots[i]; k++) node_of[at++] = i;
    *x = (struct check_chain){.node_count = n,
                              .hops = p->ranks - 1,
                              .places = places,
                              .slots = slots,
                              .group_of = m->target_of,
                              .node_of = node_of};
    x->joined = m->joined = TAKE(m->arena, pairs, bool);
    x->forward = TAKE(m->arena, p->cut_count, int64_t *);
    x->backward = TAKE(m->arena, p->cut_count, int64_t **);
    for (int c = 0; c < p->cut_count; c++) {
        x->forward[c] = TAKE(m->arena, table, int64_t);
        x->backward[c] = TAKE(m->arena, p->boundary_count, int64_t *);
        for (int o = 0; o < p->boundary_count; o++)
            x->backward[c][o] = TAKE(m->arena, table, int64_t);
    }
    size_t cells = places <= CHAIN_PLACES_MOST ? (size_t)places << places : (size_t)x->hops * pairs;
    x->beyond = TAKE(m->arena, (size_t)x->hops * pairs, int64_t);
    x->links = TAKE(m->arena, places <= CHAIN_PLACES_MOST ? x->hops * places * places : 0, int64_t);
    x->value = TAKE(m->arena, cells, int64_t);
    x->before = TAKE(m->arena, cells, unsigned char);
    x->least = TAKE(m->arena, x->hops + 1, int);
    m->to->chain = x;
    m->to->find_excess = check_chain_excess;
}

static void keep_pair(const struct relaxing *m, int from, int to)
{
    const struct check_problem *p = m->p;
    int n = m->x->node_count, parts = p->slices * PARTS;
    m->joined[from * n + to] = true;
    for (int c = 0; c < p->cut_count; c++)
        for (int i = 0; i < parts; i++) {
            size_t at = ((size_t)(i / PARTS * n + from) * (size_t)n + (size_t)to) * PARTS +
                        (size_t)(i % PARTS);
            m->chain->forward[c][at] = m->pair.forward[c * parts + i];
            for (int o = 0; o < p->boundary_count; o++)
                m->chain->backward[c][o][at] =
                    m->pair.backward[(c * p->boundary_count + o) * parts + i];
        }
}

// Whether the blocking part is unavoidable for a plan whose ranks are there.
static bool blocks(const struct relaxing *m)
{
    const struct check_problem *p = m->p;
    bool shows = false;
    for (int c = 0; c < p->cut_count; c++) {
        shows = shows || m->pair.forward[c * p->slices * PARTS + PART_BLOCKS] > 0;
        for (int o = 0; o < p->boundary_count; o++)
            shows =
                shows ||
                m->pair.backward[(c * p->boundary_count + o) * p->slices * PARTS + PART_BLOCKS] > 0;
    }
    return shows;
}

static void drop_blocks(struct relaxing *m)
{
    int count = m->p->slices * m->to->group_count * m->to->group_count * PARTS;
    for (int c = 0; c < m->p->cut_count; c++)
        for (int k = PART_BLOCKS; k < count; k += PARTS) {
            if (m->to->cuts[c].forward[k] > 0) m->to->cuts[c].forward[k] = 0;
            for (int o = 0; o < m->p->boundary_count; o++)
                if (m->to->cuts[c].backward[o][k] > 0) m->to->cuts[c].backward[o][k] = 0;
        }
}

// Where micro-batches are divided among replicas, graphs of fewer must be part of those of more:
// always true of some orders, of others only where nothing blocks.
static enum status relax_transfers(struct relaxing *m)
{
    const struct check_places *x = m->x;
    uint64_t prices =
        (uint64_t)(m->p->cut_count * (1 + m->p->boundary_count) * m->p->slices * PARTS);
    bool keep_blocks = !x->together || check_schedules[m->p->kind].fewer == PART_OF_MORE;
    open_pair(m);
    for (int from = 0; from < x->node_count && m->p->ranks > 1; from++)
        for (int to = 0; to < x->node_count; to++) {
            bool joined;
            if (!is_pair(m, from, to)) continue;
            TRY(check_spend(m->to, m->work, prices));
            if (!x->pair(x->context, from, to, &joined, &m->pair)) return refuse_price(m);
            if (!joined) continue;
            lower_pair(m, m->target_of[from], m->target_of[to]);
            if (m->chain) keep_pair(m, from, to);
            keep_blocks = keep_blocks && blocks(m);
        }
    if (!keep_blocks) drop_blocks(m);
    return OK;
}

static enum status relax_embedding(struct relaxing *m)
{
    const struct check_places *x = m->x;
    int n = x->node_count, targets = m->to->group_count;
    if (!m->p->embedding || !x->embedding) return OK;
    TRY(check_spend(m->to, m->work, 3 * (uint64_t)n * (uint64_t)n));
    struct arena_mark mark = arena_set_mark(m->arena);
    int64_t *links = TAKE(m->arena, n * n, int64_t), *least = TAKE(m->arena, n * n, int64_t);
    for (int i = 0; i < n * n; i++) {
        bool joined = false;
        links[i] = -1;
        if (!is_pair(m, i / n, i % n)) continue;
        int64_t ns;
        if (!x->embedding(x->context, i / n, i % n, &joined, &ns)) return refuse_price(m);
        if (joined) links[i] = ns;
    }
    check_least_embeddings(least, x, links, m->arena);
    for (int i = 0; i < n * n; i++)
        if (is_pair(m, i / n, i % n))
            take_least(&m->to->embedding[m->target_of[i / n] * targets + m->target_of[i % n]],
                       least[i]);
    arena_reset(m->arena, mark);
    return OK;
}

// ---- rings

// A weight that distinguishes links: the whole model's sync as one stage. Any numbers would do.
static int64_t weight_of(const struct relaxing *m)
{
    wide sum = m->link.constant[0];
    for (int run = 0; run < m->p->run_count; run++)
        sum += (wide)m->p->runs[run].count * m->link.layer[run * m->p->gradient_count];
    return sum < INT64_MAX ? (int64_t)sum : INT64_MAX - 1;
}

static enum status price_link(struct relaxing *m, int kind, int from, int to, bool *joined)
{
    const struct check_places *x = m->x;
    *joined = is_pair(m, from, to) && (from != to || x->nodes[from].slots >= x->replicas) &&
              x->may_ring[x->nodes[from].group * m->p->group_count + x->nodes[to].group];
    if (!*joined) return OK;
    TRY(check_spend(m->to, m->work, (uint64_t)(m->p->gradient_count * (m->p->run_count + 1))));
    return x->link(x->context, kind, from, to, joined, &m->link) ? OK : refuse_price(m);
}

static void lower_sync(struct relaxing *m, int target)
{
    for (int o = 0; o < m->p->gradient_count; o++) {
        take_least(&m->to->groups[target].sync_constant[o], m->link.constant[o]);
        for (int run = 0; run < m->p->run_count; run++)
            take_least(&m->to->runs[run].sync[o][target],
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
        take_least(&in, m->weights[(size_t)i * (size_t)m->x->node_count + (size_t)node]);
        take_least(&out, m->weights[(size_t)node * (size_t)m->x->node_count + (size_t)i]);
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
    for (int i = 0; i < count; i++) slots[i] = is_usable(m, i) ? m->x->nodes[i].slots : 0;
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
    bool joined;
    for (int pair = 0; pair < count * count; pair++) {
        TRY(price_link(m, kind, pair / count, pair % count, &joined));
        m->weights[pair] = joined ? weight_of(m) : -1;
    }
    find_least_weights(m, kind, kinds, least);
    int64_t lightest = INT64_MAX;
    for (int t = 0; t < m->to->group_count; t++)
        lightest = least[t] < lightest ? least[t] : lightest;
    for (int pair = 0; pair < count * count; pair++) {
        if (m->weights[pair] < 0 || m->weights[pair] < lightest) continue;
        TRY(price_link(m, kind, pair / count, pair % count, &joined));
        for (int t = 0; t < m->to->group_count; t++)
            if (m->weights[pair] >= least[t]) lower_sync(m, t);
    }
    return OK;
}

static enum status relax_rings(struct relaxing *m)
{
    unsigned kinds[MOST_GROUPS] = {0}, all = 0;
    int64_t least[MOST_GROUPS];
    m->weights = TAKE(m->arena, (size_t)m->x->node_count * (size_t)m->x->node_count, int64_t);
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
        if (!is_usable(m, i)) continue;
        if (!m->x->link(m->x->context, 0, i, i, &joined, &m->link)) return refuse_price(m);
        if (joined) lower_sync(m, m->target_of[i]);
    }
    return OK;
}

// Without a ring, no price was taken.
static void settle_syncs(struct relaxing *m)
{
    for (int t = 0; t < m->to->group_count; t++)
        for (int o = 0; o < m->p->gradient_count; o++) {
            if (m->to->groups[t].sync_constant[o] < 0) m->to->groups[t].sync_constant[o] = 0;
            for (int run = 0; run < m->p->run_count; run++)
                if (m->to->runs[run].sync[o][t] < 0) m->to->runs[run].sync[o][t] = 0;
        }
}

static enum status relax_syncs(struct relaxing *m)
{
    m->link.constant = TAKE(m->arena, m->p->gradient_count, int64_t);
    m->link.layer = TAKE(m->arena, m->p->gradient_count * m->p->run_count, int64_t);
    if (m->x->replicas > 1) TRY(relax_rings(m));
    else TRY(price_single_rings(m));
    settle_syncs(m);
    return OK;
}

// ---- the problem

// Some replica has at least this many.
static enum status take_micro_batches(struct relaxing *m, const struct check_relaxation *how)
{
    const struct check_places *x = m->x;
    int64_t whole = (int64_t)x->unit * x->replicas,
            count = x->together ? (x->together + whole - 1) / whole * x->unit : x->micro_batches;
    if (count < 1 || count > MOST_MICRO_BATCHES)
        return check_refuse(m->r, "places", "%lld micro-batches are not checked", (long long)count);
    if (x->together && check_schedules[m->p->kind].fewer == PART_OF_MORE_NEVER)
        return check_refuse(m->r, "places",
                            "the schedule does not allow different micro-batch counts");
    if (x->together && how->shared >= 0)
        return fail(
            m->r->err, (enum status)NOT_PROVEN,
            "places.shared: the replica that has the most micro-batches may have all of a group");
    m->to->micro_batches = (int)count;
    return OK;
}

enum status check_relax_places(struct check_problem *to, const struct check_places *x,
                               const struct check_relaxation *how, const struct reader *r,
                               uint64_t *work, struct arena *arena)
{
    struct relaxing m = {.to = to, .x = x, .p = x->problem, .r = r, .work = work, .arena = arena};
    *to = *x->problem;
    to->reader = *r;
    if (how->by_nodes && x->node_count > MOST_GROUPS)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "places.by: %d nodes are more than the %d groups that are checked",
                    x->node_count, MOST_GROUPS);
    to->group_count = how->by_nodes ? x->node_count : x->problem->group_count;
    m.target_of = TAKE(arena, x->node_count, int);
    m.group_of = TAKE(arena, to->group_count, int);
    for (int t = 0; t < to->group_count; t++) m.group_of[t] = how->by_nodes ? x->nodes[t].group : t;
    for (int i = 0; i < x->node_count; i++) m.target_of[i] = how->by_nodes ? i : x->nodes[i].group;
    TRY(take_micro_batches(&m, how));
    spread_runs(&m);
    spread_rules(&m);
    put_groups(&m, how);
    if (how->chained && !check_chain_suits(to, x->node_count))
        return fail(r->err, (enum status)NOT_PROVEN,
                    "places.chained: expected one stage a rank, 2 ranks or more, and no more than "
                    "%d nodes and %d prices between them",
                    CHAIN_NODES_MOST, CHAIN_PRICES_MOST);
    if (how->chained) open_chain(&m);
    TRY(relax_transfers(&m));
    TRY(relax_embedding(&m));
    TRY(relax_syncs(&m));
    TRY(check_problem_bytes(to));
    return check_problem_times(to);
}
