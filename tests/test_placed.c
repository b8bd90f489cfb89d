// Plans on nodes: the solver against all decisions on all placements, with durations put together here and played by the
// oracle of schedules; bounds below every plan; what the judge makes of it, planted faults among it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulate/choices.h"
#include "formulate/price.h"
#include "solve/placed.h"
#include "solve/solve.h"
#include "solve/verify.h"
#include "tests/support/pipeline.h"
#include "tests/support/problems.h"

#include <cmocka.h>     // last: its macro `fail` hides data/status.h's

enum { GROUPS = 3, NODES = 6, PLACES = 6 };

static int trials = 100;

static int open_arena(void **state)
{
    static struct arena arena;
    arena_open(&arena, NULL);
    *state = &arena;
    return 0;
}

static int close_arena(void **state)
{
    arena_close(*state);
    return 0;
}

// ---- random problems on a few nodes, every link of its own

// Network cards of any kinds, one entry each.
static void put_cards(struct node_group *g, struct random *rng, struct arena *arena)
{
    g->nics = TAKE(arena, NIC_KIND_COUNT, struct nic);
    g->nic_count = 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        if (random_chance(rng, kind == NIC_ETHERNET ? 80 : 60))
            g->nics[g->nic_count++] = (struct nic){(enum nic_kind)kind, (int)random_between(rng, 1, 2),
                                                   {(double)random_between(rng, 1, 20) * (kind == NIC_ETHERNET ? 1e8 : 3e8), (double)random_between(rng, 1, 9) * 1e-6}};
}

// What is not measured follows from cards and levels.
static void forget_links(struct problem *p, struct random *rng, struct arena *arena)
{
    struct cluster *c = &p->cluster;
    struct places *x = &c->places;
    int measured = (int)random_between(rng, 0, 1) * 40;
    c->link_count = 0;
    p->job.placement.homogeneous_groups = random_chance(rng, 30);
    for (int g = 0; g < c->group_count; g++) put_cards(&c->groups[g], rng, arena);
    for (int i = 0; i < NODES * NODES; i++)
        if (!random_chance(rng, measured)) x->measured[i] = (struct link){0, 0};
    if (random_chance(rng, 50)) return;
    x->levels = TAKE(arena, 1, struct network_level);
    x->levels[0] = (struct network_level){"rack", {(double)random_between(rng, 1, 40) * 1e8, (double)random_between(rng, 1, 5) * 1e-6}};
    x->level_count = 1;
    for (int i = 0; i < NODES; i++) x->nodes[i].switches[0] = (int)random_between(rng, -1, 1);
}

static void put_places(struct problem *p, struct random *rng, struct arena *arena)
{
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4", "n5"};
    struct cluster *c = &p->cluster;
    struct places *x = &c->places;
    int left = NODES;
    x->nodes = TAKE(arena, NODES, struct cluster_node);
    for (int g = 0; g < c->group_count; g++) {
        int most = left - (c->group_count - 1 - g);
        c->groups[g].nodes = g == c->group_count - 1 ? most : (int)random_between(rng, 1, most);
        left -= c->groups[g].nodes;
        c->groups[g].gpus_per_node = p->job.layout.tensor * p->job.layout.context;      // a device group a node
        for (int i = 0; i < c->groups[g].nodes; i++) {
            x->nodes[x->node_count] = (struct cluster_node){.name = names[x->node_count], .group = g, .switches = TAKE(arena, 1, int)};
            x->node_count++;
        }
    }
    // Without any latency the graph may have no delays, whatever the nodes' cards would add.
    p->job.placement.homogeneous_groups = false;
    static const struct nic slow = {NIC_ETHERNET, 1, {1e9, 1e-3}};
    int64_t latency_most = random_chance(rng, 30) ? 0 : 5;
    for (int g = 0; g < c->group_count && !latency_most; g++) {
        c->groups[g].nics = arena_grow(arena, &slow, 1, 1, sizeof slow);
        c->groups[g].nic_count = 1;
        c->link_count = 0;
        memset(p->costs.transfer_share, 0, sizeof p->costs.transfer_share);
        p->costs.transfer_share[PART_LINK] = 1;
    }
    x->measured = TAKE(arena, NODES * NODES, struct link);
    for (int i = 0; i < NODES * NODES; i++)
        if (i / NODES != i % NODES) x->measured[i] = (struct link){(double)random_between(rng, 1, 40) * 1e8, (double)random_between(rng, 0, latency_most) * 1e-6};
    if (latency_most && random_chance(rng, 60)) forget_links(p, rng, arena);
}

static void random_placed_problem(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.layers_max = 7;
    limits.stages_max = 3;
    limits.groups_max = GROUPS;
    limits.plans_max = 3000;
    do {
        random_problem(p, rng, &limits, arena);
        struct layout *l = &p->job.layout;
        l->zero = l->zero > 1 ? 1 : l->zero;
        l->barrier = true;
        l->fused_embedding_sync = false;
        int data = (int)random_between(rng, 1, PLACES / l->pipeline);
        p->job.global_batch = p->job.global_batch / l->data * data;
        l->data = data;
        p->cluster.places = (struct places){0};
        put_places(p, rng, arena);
    } while (p->job.space.given || p->job.layout.virtual_stages > 1 || problem_check(p, &err) != OK || problem_check_places(p, &err) != OK);
}

// ---- the oracle

struct oracle {
    const struct cluster *cluster;
    bool homogeneous;
    double efficiency[NIC_KIND_COUNT];
    const struct choices *c;
    const struct schedule *schedule;
    int replicas, stages, like[PLACES], node[PLACES], chosen[PLACES];
    bool used[NODES];
    int64_t best;
    struct arena *arena;
};

static int group_of(const struct oracle *o, int node) { return o->c->priced->places->nodes[node].group; }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Cards of the kind; NULL: the group has none.
static const struct nic *cards_of(const struct node_group *g, int kind)
{
    for (int i = 0; i < g->nic_count; i++)
        if ((int)g->nics[i].kind == kind) return &g->nics[i];
    return NULL;
}

// The kind of card that the stage's nodes all have and that is fastest for the slowest of them, by its place among the priced
// transports. -1: the nodes may not be in one ring.
static int transport_of(const struct oracle *o, int stage, const double *efficiency)
{
    const struct priced_places *p = o->c->priced->places;
    const char *best = "none";
    double best_rate = 0;
    const struct node_group *first = &o->cluster->groups[group_of(o, o->node[stage])];
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        double least = -1;
        for (int r = 0; r < o->replicas; r++) {
            const struct node_group *g = &o->cluster->groups[group_of(o, o->node[r * o->stages + stage])];
            const struct nic *cards = cards_of(g, kind);
            bool alike = g == first || (g->nic_count > 0 && !cards == !cards_of(first, kind));
            if (o->homogeneous && !alike) return -1;
            if (!g->nic_count) continue;
            double rate = cards ? cards->count * cards->link.bytes_per_s * efficiency[kind] : 0;
            if (least < 0 || rate < least) least = rate;
        }
        if (least > best_rate + 1) {
            best = nic_kind_names[kind];
            best_rate = least;
        }
    }
    if (p->transport_count == 1) return 0;
    int without = -1;
    for (int t = 0; t < p->transport_count; t++) {
        if (!strcmp(p->transports[t], best)) return t;
        if (!strcmp(best, "none")) without = 0;
    }
    return without;         // nodes without cards only: any
}

// The stage's sync over a link: layers by hand, last to first, for a tail behind their backwards.
static int64_t link_sync(const struct oracle *o, int stage, const struct choice *x, int first_layer, int transport, int from, int to)
{
    const struct priced *p = o->c->priced;
    size_t pair = ((size_t)transport * NODES + (size_t)from) * NODES + (size_t)to;
    int64_t gradient = 0, sync = 0;
    bool overlapped = p->layout.gradient_sync == SYNC_OVERLAPPED;
    (void)stage;
    if (p->places->ring_constant_ns[0][pair] == PRICE_NONE) return -1;
    for (int layer = first_layer + x->layer_count - 1; layer >= first_layer; layer--) {
        const struct priced_run *run = &p->runs[priced_run_of(p, layer)];
        int before = 0;
        for (int i = first_layer; i < layer; i++) before += p->runs[priced_run_of(p, i)].recomputable;
        enum recompute mode = run->recomputable ? x->recompute : RECOMPUTE_NONE;
        if (mode == RECOMPUTE_FIRST_LAYERS) mode = before < x->recomputed_layers ? RECOMPUTE_FULL : RECOMPUTE_NONE;
        int64_t backward = run->backward_ns[x->group] + (mode == RECOMPUTE_FULL ? run->full_ns[x->group] : mode == RECOMPUTE_SELECTIVE ? run->selective_ns[x->group] : 0);
        if (schedule_splits_backward(p->layout.schedule)) backward = run->weight_ns[x->group];
        if (overlapped) gradient += backward;
        sync = larger(sync, gradient) + p->places->ring_ns[priced_run_of(p, layer)][x->gradient_option][pair];
    }
    return p->places->ring_constant_ns[x->gradient_option][pair] + sync - gradient;
}

// The best ring of all orders: what it takes of each replica, the greatest first; -1: none is joined. `order` is permuted.
static void best_ring(const struct oracle *o, int stage, int *order, int at, const int *first_layer, int64_t *best, int64_t *syncs)
{
    if (at < o->replicas) {
        for (int i = at; i < o->replicas; i++) {
            int kept = order[at];
            order[at] = order[i], order[i] = kept;
            best_ring(o, stage, order, at + 1, first_layer, best, syncs);
            order[i] = order[at], order[at] = kept;
        }
        return;
    }
    int64_t each[PLACES] = {0}, most = 0;
    int transport = transport_of(o, stage, o->efficiency);
    if (transport < 0) return;
    for (int k = 0; k < o->replicas; k++)
        for (int r = 0; r < o->replicas; r++) {
            const struct choice *x = &o->c->stages[stage].items[o->chosen[r * o->stages + stage]];
            int64_t ns = link_sync(o, stage, x, first_layer[stage], transport, o->node[order[k] * o->stages + stage], o->node[order[(k + 1) % o->replicas] * o->stages + stage]);
            if (ns < 0) return;
            each[r] = larger(each[r], ns);
            most = larger(most, ns);
        }
    if (*best >= 0 && most >= *best) return;
    *best = most;
    memcpy(syncs, each, sizeof each);
}

static int64_t time_of_placement(const struct oracle *o)
{
    const struct priced *p = o->c->priced;
    int first_layer[PLACES], layer = 0, symbols = symbol_count(o->stages, p->slice_count);
    int64_t syncs[PLACES][PLACES] = {{0}}, slowest = 0;
    for (int s = 0; s < o->stages; s++) {
        first_layer[s] = layer;
        layer += o->c->stages[s].items[o->like[s]].layer_count;
    }
    for (int s = 0; s < o->stages; s++) {
        int order[PLACES] = {0, 1, 2, 3, 4, 5};
        int64_t best = -1;
        best_ring(o, s, order, 0, first_layer, &best, syncs[s]);
        if (best < 0) return INT64_MAX;
    }
    for (int r = 0; r < o->replicas; r++) {
        struct arena_mark mark = arena_set_mark(o->arena);
        const struct choice *stages[PLACES];
        int64_t *durations = TAKE(o->arena, symbols, int64_t);
        for (int s = 0; s < o->stages; s++) {
            stages[s] = &o->c->stages[s].items[o->chosen[r * o->stages + s]];
            choices_stage_durations(o->c, s, stages[s], durations);
            durations[symbol_index(o->stages, SYMBOL_SYNC, s)] = syncs[s][r];
        }
        bool joined = choices_node_transfers(o->c, stages, o->node + r * o->stages, durations);
        int64_t time_ns = joined ? pipeline_time(o->schedule, durations, o->arena) : INT64_MAX;
        arena_reset(o->arena, mark);
        slowest = larger(slowest, time_ns);
    }
    return slowest;
}

static void all_placements(struct oracle *o, int place)
{
    if (place == o->replicas * o->stages) {
        int64_t ns = time_of_placement(o);
        if (ns < o->best) o->best = ns;
        return;
    }
    int stage = place % o->stages;
    const struct choice *like = &o->c->stages[stage].items[o->like[stage]];
    for (int node = 0; node < NODES; node++) {
        if (o->used[node]) continue;
        for (int i = 0; i < o->c->stages[stage].count; i++) {
            const struct choice *x = &o->c->stages[stage].items[i];
            if (x->group != group_of(o, node) || x->layer_count != like->layer_count || x->first_layer != like->first_layer ||
                x->gradient_option != like->gradient_option || x->boundary_option != like->boundary_option) continue;
            o->used[node] = true;
            o->node[place] = node;
            o->chosen[place] = i;
            all_placements(o, place + 1);
            o->used[node] = false;
        }
    }
}

static bool in_budget(const struct oracle *o)
{
    const struct priced *p = o->c->priced;
    const struct quality_budget *b = &p->budget;
    int64_t boundaries = 0, stages = 0, cost = 0;
    for (int s = 0; s < o->stages; s++) {
        const struct choice *x = &o->c->stages[s].items[o->like[s]];
        boundaries += x->boundary_option > 0;
        stages += x->gradient_option > 0;
        cost += x->quality_cost;
    }
    return (b->boundaries_max < 0 || boundaries <= b->boundaries_max) && (b->stages_max < 0 || stages <= b->stages_max) && (b->cost_max < 0 || cost <= b->cost_max);
}

static void all_decisions(struct oracle *o, int stage, int layer)
{
    if (stage == o->stages) {
        if (layer == o->c->priced->layer_count && in_budget(o)) all_placements(o, 0);
        return;
    }
    for (int i = 0; i < o->c->stages[stage].count; i++) {
        const struct choice *x = &o->c->stages[stage].items[i];
        bool seen = false;
        for (int k = 0; k < i; k++) {
            const struct choice *y = &o->c->stages[stage].items[k];
            seen = seen || (y->layer_count == x->layer_count && y->first_layer == x->first_layer && y->gradient_option == x->gradient_option && y->boundary_option == x->boundary_option);
        }
        if (seen || (o->c->by_position && x->first_layer != layer) || layer + x->layer_count > o->c->priced->layer_count) continue;
        o->like[stage] = i;
        all_decisions(o, stage + 1, layer + x->layer_count);
    }
}

static double count_of(const struct choices *c)
{
    double count = 1;
    for (int s = 0; s < c->priced->stage_count; s++) count *= c->stages[s].count;
    for (int i = 0; i < c->priced->stage_count * c->priced->layout.data; i++) count *= NODES - i;
    return count;
}

// ---- tests

static void test_all_placements(void **state)
{
    int placed = 0, several = 0, apart = 0, several_transports = 0;
    for (int trial = 0; trial < trials; trial++) {
        struct arena_mark mark = arena_set_mark(*state);
        struct random rng = {(uint64_t)trial + 1};
        struct problem problem;
        struct priced priced;
        struct schedule schedule;
        struct choices choices;
        struct solve_result result;
        struct solve_settings settings;
        struct error err = {OK, ""};
        random_placed_problem(&problem, &rng, *state);
        if (price_problem(&priced, &problem, *state, &err) != OK) fail_msg("trial %d: %s", trial, err.text);
        struct schedule_request request = schedule_request_of(&priced);
        assert_int_equal(schedule_build(&schedule, &request, *state, &err), OK);
        assert_int_equal(choices_build(&choices, &priced, &schedule, *state, &err), OK);
        if (count_of(&choices) < 400000) {
            struct oracle o = {.cluster = &problem.cluster, .homogeneous = problem.job.placement.homogeneous_groups, .c = &choices, .schedule = &schedule, .replicas = priced.layout.data, .stages = priced.stage_count, .best = INT64_MAX, .arena = *state};
            for (int kind = 0; kind < NIC_KIND_COUNT; kind++) o.efficiency[kind] = problem.costs.network_efficiency[kind].value;
            all_decisions(&o, 0, 0);
            several_transports += priced.places->transport_count > 1;
            solve_defaults(&settings);
            settings.progress = 0;
            assert_int_equal(placed_solve(&result, &priced, &settings, NULL, NULL, *state, &err), OK);
            if (o.best < INT64_MAX) {
                if (result.plan.iteration_ns != o.best || result.plan.bound_ns != o.best)
                    fail_msg("trial %d: %lld of %lld, bound %lld", trial, (long long)result.plan.iteration_ns, (long long)o.best, (long long)result.plan.bound_ns);
                struct verdict verdict;
                assert_int_equal(verify_plan(&verdict, &result.plan, &problem, *state, &err), OK);
                if (!verdict.accepted) fail_msg("trial %d: %s: %s", trial, verdict.violations[0].rule, verdict.violations[0].text);
                placed++;
                several += o.replicas > 1;
                apart += problem.cluster.group_count > 1;
            } else {
                assert_int_equal(result.plan.outcome, OUTCOME_INFEASIBLE);
            }
        }
        arena_reset(*state, mark);
    }
    printf("%d problems with a plan, %d of them with several replicas, %d with several groups; %d with several transports\n", placed, several, apart, several_transports);
    assert_true(placed * 5 > trials && several * 12 > trials && apart * 12 > trials);
}

int main(int argc, char **argv)
{
    if (argc > 1) trials = atoi(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_placements)};
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
