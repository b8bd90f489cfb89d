// See named_trials.h.
#include "tests/support/trials/named_trials.h"

#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"

// ---- problems

static int list_of(struct random *rng, int **to, int most, struct arena *arena)
{
    int count = 0;
    *to = TAKE(arena, most, int);
    for (int i = 1; i <= most; i++)
        if (random_chance(rng, 55)) (*to)[count++] = i;
    return count;
}

static void put_widths(struct problem *p, struct random *rng, struct arena *arena)
{
    struct job *j = &p->job;
    struct layout *l = &j->layout;
    int lists = 0;
    j->boundary_option_count = j->gradient_option_count = j->tier_option_count = 0;
    j->recompute[RECOMPUTE_SWAP] = false;
    j->objective = OBJECTIVE_ITERATION_TIME;
    l->tensor = l->context = l->data = l->expert = 1, l->expert_tensor = 0;
    l->grid_depth = l->grid_rows = 0;
    l->fused_embedding_sync = false;
    l->zero = l->zero > 1 ? 1 : l->zero, l->barrier = true;
    l->micro_batch = 12;
    j->global_batch = 12 * random_between(rng, 1, 5);
    j->rule_count = random_chance(rng, 20) ? j->rule_count : 0;
    p->model.shape.tied_embeddings = false;
    j->widths = TAKE(arena, 2 * p->cluster.group_count, struct width_list);
    for (int g = 0; g < p->cluster.group_count; g++) {
        int size = random_chance(rng, 40) ? 2 : 1;
        for (int kind = 0; kind < 2; kind++) {
            struct width_list *w = &j->widths[lists];
            int *degree = TAKE(arena, 1, int);
            if (kind && (size == 1 || random_chance(rng, 50))) continue;
            *degree = size, lists++;
            w->groups = TAKE(arena, 1, const char *);
            w->groups[0] = p->cluster.groups[g].name, w->group_count = 1;
            *(kind ? &w->context : &w->tensor) = degree;
            *(kind ? &w->context_count : &w->tensor_count) = 1;
            w->data_count = list_of(rng, &w->data, 4, arena);
        }
        p->cluster.groups[g].gpus_per_node = size * (random_chance(rng, 40) ? 2 : 1);
        if (random_chance(rng, 80)) p->cluster.groups[g].memory_bytes *= random_between(rng, 4, 40);
    }
    j->width_list_count = lists;
    j->stage_degrees = DEGREES_PER_STAGE;
}

static void put_places(struct problem *p, struct random *rng, struct arena *arena)
{
    struct cluster *c = &p->cluster;
    int nodes = (int)random_between(rng, c->group_count, 4), left = nodes,
        unmeasured = random_chance(rng, 40)   ? 100
                     : random_chance(rng, 50) ? 0
                                              : 40,
        few = random_chance(rng, 30);
    struct places *x = &c->places;
    *x = (struct places){.nodes = TAKE(arena, nodes, struct cluster_node),
                         .measured = TAKE(arena, nodes * nodes, struct link)};
    for (int g = 0; g < c->group_count; g++) {
        int behind = c->group_count - 1 - g;
        c->groups[g].nodes = behind ? (int)random_between(rng, 1, left - behind) : left;
        left -= c->groups[g].nodes;
        for (int i = 0; i < c->groups[g].nodes; i++, x->node_count++)
            x->nodes[x->node_count] =
                (struct cluster_node){.name = arena_print(arena, "n%d", x->node_count),
                                      .group = g,
                                      .switches = TAKE(arena, 1, int)};
    }
    for (int i = 0; i < nodes * nodes; i++)
        if (i / nodes != i % nodes && !random_chance(rng, unmeasured))
            x->measured[i] = (struct link){(double)random_between(rng, 1, few ? 2 : 40) * 1e7,
                                           (double)random_between(rng, 1, few ? 1 : 5) * 1e-6};
}

// Some nodes' own links are slower than those between nodes.
static void slow_links(struct cluster *c, struct random rng)
{
    for (int g = 0; g < c->group_count; g++)
        if (random_chance(&rng, 30))
            c->groups[g].intra.bytes_per_s = (double)random_between(&rng, 1, 50) * 1e6;
}

bool named_draw(struct problem *p, struct priced *priced, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.flavour = FLAVOUR_SHAPE, limits.keeps = true;
    limits.layers_max = 5, limits.stages_max = NAMED_STAGES, limits.groups_max = 2;
    *p = (struct problem){0};
    random_problem(p, rng, &limits, arena);
    put_widths(p, rng, arena);
    put_places(p, rng, arena);
    slow_links(&p->cluster, *rng);
    struct error unfit = {OK, ""};
    return price_problem(priced, p, arena, &unfit) == OK && priced->seat_nodes;
}

// ---- a program of stages that stand, put together from the tables of prices

static int64_t greater(int64_t a, int64_t b)
{
    return a == PRICE_NONE || b == PRICE_NONE ? PRICE_NONE : a > b ? a : b;
}

// How many rings leave a node: of each stage that is there and elsewhere.
static void count_rings(int *rings, const struct priced *p, const struct standing *at)
{
    for (int s = 0; s < p->stage_count; s++) {
        unsigned nodes = 0;
        for (int i = 0; i < p->groups[at[s].seat].data; i++) nodes |= 1u << at[s].node[i];
        for (int n = 0; n < 32; n++) rings[n] += nodes >> n & 1 && nodes != 1u << n;
    }
}

static bool put_sync(struct priced *to, const struct priced *p, const struct standing *at, int s,
                     const int *rings)
{
    const struct priced_places *x = p->seat_nodes->of[at[s].seat]->places;
    int d = p->groups[at[s].seat].data, n = x->node_count, best = 0;
    int64_t constant = 0, sums[16] = {0};
    bool inside = true;
    for (int i = 1; i < d; i++) inside = inside && at[s].node[i] == at[s].node[0];
    for (int t = 1; t < x->transport_count && d > 1; t++)
        if (x->transports[t].bytes_per_s[x->nodes[at[s].node[0]].group] >
            x->transports[best].bytes_per_s[x->nodes[at[s].node[0]].group])
            best = t;
    for (int i = 0; i < d; i++) {
        int a = at[s].node[i], b = at[s].node[i + 1 < d ? i + 1 : 0], level = 0;
        for (int end = 0; end < 2 && x->ring_level_count > 1 && d > 1; end++) {
            int node = end ? b : a, r = rings[node] < 1 ? 1 : rings[node];
            r = r > x->rings_most ? x->rings_most : r;
            int own = x->ring_level[best][x->nodes[node].group * x->rings_most + r - 1];
            level = own > level ? own : level;
        }
        if (a == b && !inside) continue;
        size_t link = ((size_t)(level * x->transport_count + best) * (size_t)n + (size_t)a) *
                          (size_t)n +
                      (size_t)b;
        constant = greater(constant, x->ring_constant_ns[0][link]);
        for (int r = 0; r < p->run_count; r++) sums[r] = greater(sums[r], x->ring_ns[r][0][link]);
    }
    to->groups[s].sync_constant_ns[0] = constant;
    for (int r = 0; r < p->run_count; r++) to->runs[r].sync_ns[0][s] = sums[r];
    return constant != PRICE_NONE;
}

static void put_messages(struct priced *to, const struct priced *p, const struct standing *at,
                         int cut, int s)
{
    const struct priced_seat_nodes *x = p->seat_nodes;
    const struct standing *a = &at[s], *b = &at[s + 1];
    const struct priced_hops *hops = &x->cuts[a->seat * x->seat_count + b->seat][cut];
    int n = x->of[0]->places->node_count, d = p->groups[a->seat].data, e = p->groups[b->seat].data;
    for (int part = 0; part < PART_COUNT; part++) {
        int64_t there = 0, back = 0;
        for (int sample = 0; sample < 12;
             sample++) { // each is sent from its replica to its replica
            size_t pair = (size_t)(a->node[sample * d / 12] * n + b->node[sample * e / 12]);
            there = greater(there, hops->forward_ns[pair * PART_COUNT + (size_t)part]);
            back = greater(back, hops->backward_ns[0][pair * PART_COUNT + (size_t)part]);
        }
        size_t index = (size_t)((s * p->stage_count + s + 1) * PART_COUNT + part);
        to->cuts[cut].forward_ns[index] = there, to->cuts[cut].backward_ns[0][index] = back;
    }
}

static int64_t *column(const int64_t *from, const struct standing *at, int n, struct arena *arena)
{
    int64_t *to = from ? TAKE(arena, n, int64_t) : NULL;
    for (int s = 0; s < n && to; s++) to[s] = from[at[s].seat];
    return to;
}

// Group s is stage s's seat. false: some ring is not joined.
bool named_stand(struct priced *to, const struct priced *p, const struct standing *at,
                 struct arena *arena)
{
    int n = p->stage_count, rings[32] = {0};
    bool joined = true;
    size_t table = (size_t)(n * n * PART_COUNT);
    *to = *p;
    to->seat_nodes = p->seat_nodes; // which operations there are
    to->group_count = n;
    to->groups = TAKE(arena, n, struct priced_group);
    to->runs = TAKE_COPY(arena, p->runs, p->run_count);
    to->cuts = TAKE_COPY(arena, p->cuts, p->cut_count);
    to->rules = TAKE(arena, p->rule_count + n, struct rule);
    to->embedding_sync_ns = TAKE(arena, n * n, int64_t);
    for (int s = 0; s < n; s++) {
        to->groups[s] = p->groups[at[s].seat];
        to->groups[s].name = arena_print(arena, "%d", s);
        to->groups[s].node_group = NULL, to->groups[s].slots = 1;
        to->groups[s].sync_constant_ns = TAKE(arena, 1, int64_t);
        to->rules[p->rule_count + s] = rule_empty;
        to->rules[p->rule_count + s].stage = s, to->rules[p->rule_count + s].group_count = 1;
        to->rules[p->rule_count + s].groups = TAKE_COPY(arena, &to->groups[s].name, 1);
    }
    for (int r = 0; r < p->rule_count; r++) {
        to->rules[r] = p->rules[r];
        to->rules[r].groups = TAKE(arena, n + 1, const char *);
        to->rules[r].group_count = 0;
        for (int s = 0; s < n; s++)
            for (int k = 0; k < p->rules[r].group_count; k++)
                if (!strcmp(p->rules[r].groups[k], p->groups[at[s].seat].name))
                    to->rules[r].groups[to->rules[r].group_count++] = to->groups[s].name;
        if (p->rules[r].group_count && !to->rules[r].group_count)
            to->rules[r].groups[to->rules[r].group_count++] = "nowhere";
    }
    to->rule_count += n;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &to->runs[r];
        const struct priced_run *own = &p->runs[r];
        struct priced_run *bytes = TAKE(arena, n, struct priced_run);
        run->forward_ns = column(own->forward_ns, at, n, arena);
        run->backward_ns = column(own->backward_ns, at, n, arena);
        run->weight_ns = column(own->weight_ns, at, n, arena);
        run->optimizer_ns = column(own->optimizer_ns, at, n, arena);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            run->again_ns[mode] = column(own->again_ns[mode], at, n, arena);
        run->sync_ns = TAKE(arena, 1, int64_t *);
        run->sync_ns[0] = TAKE(arena, n, int64_t);
        for (int s = 0; s < n; s++) bytes[s] = own->seats[at[s].seat];
        priced_put_seats(run, bytes, n, arena);
    }
    for (int c = 0; c < p->cut_count; c++) {
        to->cuts[c].seat_bytes = TAKE(arena, n, int64_t);
        to->cuts[c].forward_ns = TAKE(arena, table, int64_t);
        to->cuts[c].backward_ns = TAKE(arena, 1, int64_t *);
        to->cuts[c].backward_ns[0] = TAKE(arena, table, int64_t);
        for (int s = 0; s < n; s++) to->cuts[c].seat_bytes[s] = p->cuts[c].seat_bytes[at[s].seat];
        for (int s = 0; s + 1 < n; s++) put_messages(to, p, at, c, s);
    }
    count_rings(rings, p, at);
    for (int s = 0; s < n; s++) joined = put_sync(to, p, at, s, rings) && joined;
    return joined;
}

// ---- all placements

void named_answer(struct named_all *x)
{
    struct arena_mark mark = arena_set_mark(x->arena);
    struct priced own;
    struct schedule schedule;
    struct oracle e;
    x->placements++;
    if (x->counts) {
        if (random_between(x->rng, 1, x->placements) == 1) memcpy(x->drawn, x->at, sizeof x->at);
    } else if (named_stand(&own, x->p, x->at, x->arena)) {
        priced_schedule(&schedule, &own, x->arena);
        MUST(oracle_answer(&e, &own, &schedule, x->arena, &own_err));
        if (e.best_ns < x->best_ns) x->best_ns = e.best_ns;
    }
    arena_reset(x->arena, mark);
}

static void walk(struct named_all *x, int stage, int replica)
{
    if (x->placements > NAMED_PLACEMENTS_MOST) return;
    if (stage == x->p->stage_count) {
        named_answer(x);
        return;
    }
    struct standing *at = &x->at[stage];
    for (int seat = 0; seat < x->p->group_count && !replica; seat++) {
        at->seat = seat;
        if (!x->p->groups[seat].excluded) walk(x, stage, -1);
    }
    if (!replica) return;
    int next = replica < 0 ? 0 : replica;
    if (next == x->p->groups[at->seat].data) {
        walk(x, stage + 1, 0);
        return;
    }
    const struct priced *of = x->p->seat_nodes->of[at->seat];
    for (int n = 0; n < of->places->node_count; n++) {
        bool here =
            !strcmp(of->groups[of->places->nodes[n].group].name, x->p->groups[at->seat].node_group);
        if (!here || x->used[n] >= of->places->nodes[n].slots) continue;
        at->node[next] = n;
        x->used[n]++;
        walk(x, stage, next + 1);
        x->used[n]--;
    }
}

void named_walk(struct named_all *x) { walk(x, 0, 0); }

bool named_is_small(const struct named_all *x)
{
    double ways = (double)oracle_size(x->p, NAMED_PLANS_MOST, x->arena);
    return x->placements <= NAMED_PLACEMENTS_MOST &&
           ways * x->placements <= 100.0 * NAMED_PLANS_MOST;
}
