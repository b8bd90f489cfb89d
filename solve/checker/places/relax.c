// The problem of one replica that bounds every placement (docs/PROOFS.md 11): whatever depends on
// the actual nodes takes the least value that any allow. Targets are its groups: the groups of
// nodes, or each node by itself.
#include "solve/checker/boxes/chain.h"
#include "solve/checker/places/relaxing.h"

void check_take_least(int64_t *least, int64_t price)
{
    if (price >= 0 && (*least < 0 || price < *least)) *least = price;
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
        r->tiered = NULL; // nothing but states is elsewhere with places
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
    struct check_problem *to = m->to;
    to->rules = TAKE_COPY(m->arena, m->p->rules, to->rule_count);
    for (int i = 0; i < to->rule_count; i++) {
        if (!to->rules[i].groups) continue;
        to->rules[i].groups = OF_NO_TARGET;
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
        if (how->by == RELAX_BY_NODES) g->name = m->x->nodes[i].name;
        if (relaxing_is_usable(m, i)) g->slots += m->x->nodes[i].slots;
    }
    for (int t = 0; t < m->p->group_count && how->by != RELAX_BY_NODES; t++)
        if ((t == how->shared && how->crossing != CROSS_NONE) || keeps_to_itself(m, t))
            to->groups[t].slots /= m->x->replicas;
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
            check_take_least(&table[((slice * targets + from) * targets + to) * PARTS + part],
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
        check_take_least(&m->to->embedding[from * m->to->group_count + to], m->pair.embedding);
}

// ---- chains

static void open_chain(struct relaxing *m)
{
    const struct check_problem *p = m->p;
    struct check_chain *x = m->chain = TAKE(m->arena, 1, struct check_chain);
    int n = m->x->node_count, *slots = TAKE(m->arena, n, int), *node_of, places = 0;
    size_t pairs = (size_t)n * (size_t)n, table = pairs * (size_t)(p->slices * PARTS);
    for (int i = 0; i < n; i++)
        places += slots[i] = relaxing_is_usable(m, i) ? m->x->nodes[i].slots : 0;
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
            if (!relaxing_is_pair(m, from, to)) continue;
            TRY(check_spend(m->to, m->work, prices));
            if (!x->pair(x->context, from, to, &joined, &m->pair)) return relaxing_refuse_price(m);
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
        if (!relaxing_is_pair(m, i / n, i % n)) continue;
        int64_t ns;
        if (!x->embedding(x->context, i / n, i % n, &joined, &ns)) return relaxing_refuse_price(m);
        if (joined) links[i] = ns;
    }
    check_least_embeddings(least, x, links, m->arena);
    for (int i = 0; i < n * n; i++)
        if (relaxing_is_pair(m, i / n, i % n))
            check_take_least(&m->to->embedding[m->target_of[i / n] * targets + m->target_of[i % n]],
                             least[i]);
    arena_reset(m->arena, mark);
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

static enum status open_targets(struct relaxing *m, const struct check_relaxation *how)
{
    const struct check_places *x = m->x;
    bool by_nodes = how->by == RELAX_BY_NODES;
    if (by_nodes && x->node_count > MOST_GROUPS)
        return fail(m->r->err, (enum status)NOT_PROVEN,
                    "places.by: %d nodes are more than the %d groups that are checked",
                    x->node_count, MOST_GROUPS);
    m->target_of = TAKE(m->arena, x->node_count, int);
    for (int i = 0; i < x->node_count; i++) m->target_of[i] = by_nodes ? i : x->nodes[i].group;
    if (how->by == RELAX_BY_REACHES) return check_open_reaches(m);
    m->to->group_count = by_nodes ? x->node_count : m->p->group_count;
    m->group_of = TAKE(m->arena, m->to->group_count, int);
    for (int t = 0; t < m->to->group_count; t++) m->group_of[t] = by_nodes ? x->nodes[t].group : t;
    return OK;
}

enum status check_relax_places(struct check_problem *to, const struct check_places *x,
                               const struct check_relaxation *how, const struct reader *r,
                               uint64_t *work, struct arena *arena)
{
    struct relaxing m = {.to = to, .x = x, .p = x->problem, .r = r, .work = work, .arena = arena};
    *to = *x->problem;
    to->reader = *r;
    TRY(open_targets(&m, how));
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
    if (how->by == RELAX_BY_REACHES) TRY(check_relax_reaches(&m, how));
    else TRY(check_relax_syncs(&m));
    TRY(check_problem_bytes(to));
    return check_problem_times(to);
}
