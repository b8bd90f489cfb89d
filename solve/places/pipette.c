// The objective of the published planner Pipette (docs/FORMULAS.md section 16): layers are
// distributed evenly, and nodes are in rows, the same row for all replicas that fill its nodes.
// Finding the rows, and the order of the ring through their first nodes, is the chains problem
// (solve/chains/chains.h). The ring within a node counts only on the first nodes, as the slowest of
// them: there is one search for each value that it can have, in which slower nodes cannot be first.
#include <stdlib.h>

#include "data/base/least.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"
#include "solve/layout/steps.h"

struct rows {
    const struct priced *priced;
    const struct priced_pipette *prices;
    int *choice;       // [stage * group_count + group]; -1: the stage does not fit there
    int count, length; // of rows
    int *order; // [row * length + rank]: nodes of the best rows; the value is CHAIN_NONE or more if
                // there are none
    int64_t value, bound;
    struct solving *solving;
    struct arena *arena;
};

static void find_choices(struct rows *r, const struct placed *p)
{
    const struct choice plain = {.gradient_option = 0, .boundary_option = 0};
    int groups = r->priced->group_count;
    r->choice = TAKE(r->arena, p->stages * groups, int);
    for (int stage = 0; stage < p->stages; stage++) {
        int first, layers;
        priced_pipette_layers(r->priced, stage, &first, &layers);
        for (int g = 0; g < groups; g++)
            r->choice[stage * groups + g] =
                placed_find_choice(p->own, stage, first, layers, g, &plain);
    }
}

static bool fits(const struct rows *r, int stage, int node)
{
    const struct priced_node *x = &r->priced->places->nodes[node];
    return x->slots && r->choice[stage * r->priced->group_count + x->group] >= 0;
}

static bool may_be_first(const struct rows *r, int node, int64_t inner_ns)
{
    return fits(r, 0, node) && r->prices->inner_ns[node] <= inner_ns;
}

// ---- one search

static int64_t price_of(const struct rows *r, const int64_t *prices, int from, int to)
{
    int64_t ns = prices[(size_t)from * (size_t)r->priced->places->node_count + (size_t)to];
    return ns == PRICE_NONE ? CHAIN_NONE : ns;
}

// A node that may not be first has no hop from the first position, and no link in the ring.
static struct chains chains_of(const struct rows *r, const int *nodes, int node_count,
                               int64_t inner_ns)
{
    size_t n = (size_t)node_count;
    int64_t *hop = TAKE(r->arena, (size_t)(r->length - 1) * n * n + 1, int64_t),
            *ring = TAKE(r->arena, n * n, int64_t);
    for (size_t i = 0; i < n * n; i++) {
        int from = nodes[i / n], to = nodes[i % n];
        bool firsts = may_be_first(r, from, inner_ns) && may_be_first(r, to, inner_ns) &&
                      from != to;
        ring[i] = firsts ? price_of(r, r->prices->ring_ns, from, to) : CHAIN_NONE;
        for (int at = 0; at + 1 < r->length; at++) {
            bool stands = (at ? fits(r, at, from) : may_be_first(r, from, inner_ns)) &&
                          fits(r, at + 1, to);
            hop[(size_t)at * n * n + i] = stands ? price_of(r, r->prices->hop_ns, from, to)
                                                 : CHAIN_NONE;
        }
    }
    return (struct chains){node_count, r->count, r->length, hop, ring};
}

// Searches all rows whose first nodes cost at most inner_ns.
static void search_up_to(struct rows *r, int64_t inner_ns)
{
    struct arena_mark mark = arena_set_mark(r->arena);
    int all = r->priced->places->node_count, count = 0, *nodes = TAKE(r->arena, all, int);
    struct chains_result found;
    for (int node = 0; node < all; node++)
        if (r->length > 1 ? r->priced->places->nodes[node].slots > 0
                          : may_be_first(r, node, inner_ns))
            nodes[count++] = node;
    if (count >= r->count * r->length) {
        struct chains c = chains_of(r, nodes, count, inner_ns);
        struct chains_settings settings =
            chains_settings_for(&c, (uint64_t)r->solving->settings->seed);
        settings.should_stop = solving_should_stop;
        settings.stop_argument = r->solving;
        chains_solve(&found, &c, &settings, r->arena);
        if (found.bound < CHAIN_NONE && found.bound + inner_ns < r->bound)
            r->bound = found.bound + inner_ns;
        if (found.value < CHAIN_NONE && found.value + inner_ns < r->value) {
            r->value = found.value + inner_ns;
            for (int i = 0; i < r->count * r->length; i++) r->order[i] = nodes[found.order[i]];
        }
    }
    arena_reset(r->arena, mark);
}

static void search(struct rows *r)
{
    int nodes = r->priced->places->node_count, count = 0;
    int64_t *prices = TAKE(r->arena, nodes, int64_t);
    r->order = TAKE(r->arena, r->count * r->length, int);
    r->value = r->bound = CHAIN_NONE;
    for (int node = 0; node < nodes; node++)
        if (fits(r, 0, node)) prices[count++] = r->prices->inner_ns[node];
    if (count) qsort(prices, (size_t)count, sizeof *prices, int64_ascending);
    for (int i = 0; i < count; i++)
        if (i + 1 == count || prices[i + 1] > prices[i]) search_up_to(r, prices[i]);
}

// ---- the plan

static void place(const struct rows *r, const struct placed *p, struct placed_plan *plan)
{
    int each = r->prices->replicas_per_node;
    for (int i = 0; i < p->replicas * p->ranks; i++) {
        int replica = i / p->ranks, rank = i % p->ranks,
            node = r->order[replica / each * r->length + rank];
        plan->node[i] = node;
        plan->chosen[i] =
            r->choice[rank * r->priced->group_count + r->priced->places->nodes[node].group];
        assert(plan->chosen[i] >= 0);
    }
}

static struct plan_pipette parts_of(const struct rows *r)
{
    struct plan_pipette parts = {0, 0, 0};
    for (int row = 0; row < r->count; row++) {
        const int *nodes = r->order + row * r->length;
        int64_t hops = 0;
        for (int at = 0; at + 1 < r->length; at++)
            hops += price_of(r, r->prices->hop_ns, nodes[at], nodes[at + 1]);
        parts.hops_ns = larger(parts.hops_ns, hops);
        parts.inner_ns = larger(parts.inner_ns, r->prices->inner_ns[nodes[0]]);
        if (r->count > 1)
            parts.ring_ns =
                larger(parts.ring_ns, price_of(r, r->prices->ring_ns, nodes[0],
                                               r->order[(row + 1) % r->count * r->length]));
    }
    return parts;
}

static void put_nothing(struct plan *plan, const struct rows *r,
                        const struct schedule_request *request)
{
    const struct priced *p = r->priced;
    bool proven = r->bound >= CHAIN_NONE;
    *plan = (struct plan){.name = p->name,
                          .layout = p->layout,
                          .micro_batches = p->micro_batches,
                          .devices_per_stage = p->devices_per_stage,
                          .graph = plan_graph_of(request)};
    plan->reason = proven ? "no rows of nodes have room for all stages with as many blocks each, "
                            "as memory and rules allow, and join them"
                          : "no placement was found that joins all ranks";
}

static void put_objective(struct plan *plan, const struct rows *r, struct arena *arena)
{
    struct plan_pipette *parts = plan->placement->pipette = TAKE(arena, 1, struct plan_pipette);
    *parts = parts_of(r);
    plan->objective_ns = parts->hops_ns + parts->ring_ns + parts->inner_ns;
    assert(plan->objective_ns <= r->value && r->bound <= r->value);
    plan->bound_ns = bound_stated(r->bound < plan->objective_ns ? r->bound : plan->objective_ns,
                                  plan->objective_ns, 0);
}

enum status placed_solve_pipette(struct solve_result *r, const struct priced *priced,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err)
{
    struct solving s = {.priced = priced,
                        .settings = settings,
                        .watch = watch_begin(stop, settings->time_limit_s),
                        .arena = arena};
    struct rows rows = {.priced = priced,
                        .prices = priced->places->pipette,
                        .length = priced->rank_count,
                        .solving = &s,
                        .arena = arena};
    struct schedule_request request = schedule_request_of(priced);
    struct plan *plan = &r->plan;
    rows.count = priced->layout.data / rows.prices->replicas_per_node;
    *r = (struct solve_result){.finished = true};
    struct placed *placed;
    TRY(placed_open(&placed, priced, arena, err));
    struct placed_plan best = placed_plan_empty(placed, arena);
    find_choices(&rows, placed);
    search(&rows);
    if (rows.value < CHAIN_NONE) {
        place(&rows, placed, &best);
        placed_evaluate(placed, &best, INT64_MAX);
    }
    if (best.time_ns < INT64_MAX) {
        placed_put_plan(plan, placed, &best, arena);
        put_objective(plan, &rows, arena);
    } else {
        put_nothing(plan, &rows, &request);
    }
    plan->objective = OBJECTIVE_PIPETTE;
    plan->seed = settings->seed;
    plan->effort.seconds = watch_elapsed_s(&s.watch);
    plan_end(plan, settings->gap, rows.bound >= CHAIN_NONE);
    r->finished = plan->outcome == OUTCOME_OPTIMAL || plan->outcome == OUTCOME_INFEASIBLE;
    return OK;
}
