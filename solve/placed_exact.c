// The proof for few device groups: every decision of layers and options that the relaxation leaves below the best plan, and
// for each every way to stand on the nodes that is not another one with its replicas renamed. A replica whose own time,
// with syncs as cheap as the relaxation has them, reaches the best ends its branch. One stage a rank only: there the
// layers and options of a stage leave one choice on each group.
#include <string.h>

#include "solve/placed_parts.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

struct exact {
    struct placed *p;
    struct placed_plan now, *best;
    int *like;                  // [stage]: a choice with the layers and options at hand, on any group
    int64_t *least;             // [symbol]: no replica has less
    int *left;                  // [node]: device groups that are free
    int64_t effort, effort_max;
};

static bool is_over(const struct exact *e) { return e->effort > e->effort_max; }

// ---- nodes of a decision

// The replica's time with the least syncs.
static int64_t replica_least_ns(struct exact *e, int replica)
{
    struct placed *p = e->p;
    struct arena_mark mark = arena_set_mark(p->arena);
    const struct choice **stages = TAKE(p->arena, p->stages, const struct choice *);
    memset(p->durations, 0, (size_t)p->symbols * sizeof *p->durations);
    for (int s = 0; s < p->stages; s++) {
        stages[s] = &p->c->stages[s].items[e->now.chosen[replica * p->stages + s]];
        choices_stage_durations(p->c, s, stages[s], p->durations);
        p->durations[symbol_index(p->stages, SYMBOL_SYNC, s)] = e->least[symbol_index(p->stages, SYMBOL_SYNC, s)];
    }
    bool joined = choices_node_transfers(p->c, stages, e->now.node + replica * p->ranks, p->durations);
    arena_reset(p->arena, mark);
    return joined ? graph_longest(p->graph, p->durations, NULL) : INT64_MAX;
}

static void try_nodes(struct exact *e, int place);

static void end_of_replica(struct exact *e, int place)
{
    struct placed *p = e->p;
    int replica = place / p->ranks - 1;
    e->effort++;
    if (replica_least_ns(e, replica) >= e->best->time_ns) return;
    if (place < p->replicas * p->ranks) {
        try_nodes(e, place);
        return;
    }
    e->now.slowest = 0;
    placed_evaluate(p, &e->now, INT64_MAX);
    if (e->now.time_ns < e->best->time_ns) placed_plan_copy(p, e->best, &e->now);
}

// Places in order: replica after replica. The first nodes of the replicas ascend.
static void try_nodes(struct exact *e, int place)
{
    struct placed *p = e->p;
    int replica = place / p->ranks, rank = place % p->ranks, stage = rank;
    int first = rank == 0 && replica > 0 ? e->now.node[(replica - 1) * p->ranks] : 0;
    for (int node = first; node < p->nodes && !is_over(e); node++) {
        if (!e->left[node]) continue;
        int chosen = placed_choice_on(p, stage, e->like[stage], p->priced->places->nodes[node].group);
        if (chosen < 0) continue;
        e->left[node]--;
        e->now.node[place] = node;
        e->now.chosen[replica * p->stages + stage] = chosen;
        if (rank == p->ranks - 1) end_of_replica(e, place + 1);
        else try_nodes(e, place + 1);
        e->left[node]++;
    }
}

// ---- decisions

// What every replica has at least with the layers and options at hand. false: on no group.
static bool fill_least(struct exact *e)
{
    struct placed *p = e->p;
    struct arena_mark mark = arena_set_mark(p->arena);
    int64_t *one = TAKE(p->arena, p->symbols, int64_t);
    bool any = true;
    for (int s = 0; s < p->stages && any; s++) {
        static const int kinds[] = {SYMBOL_FORWARD, SYMBOL_BACKWARD, SYMBOL_WEIGHT, SYMBOL_SYNC, SYMBOL_OPTIMIZER};
        bool found = false;
        for (int g = 0; g < p->priced->group_count; g++) {
            int chosen = placed_choice_on(p, s, e->like[s], g);
            if (chosen < 0) continue;
            choices_stage_durations(p->c, s, &p->c->stages[s].items[chosen], one);
            for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
                int symbol = symbol_index(p->stages, kinds[k], s);
                e->least[symbol] = found ? smaller(e->least[symbol], one[symbol]) : one[symbol];
            }
            for (int slice = 1; slice < p->priced->slice_count; slice++)
                for (int kind = SLICE_FORWARD; kind <= SLICE_BACKWARD; kind++) {
                    int symbol = symbol_index(p->stages, symbol_slice_kind(slice, kind), s);
                    e->least[symbol] = found ? smaller(e->least[symbol], one[symbol]) : one[symbol];
                }
            found = true;
        }
        any = found;
    }
    arena_reset(p->arena, mark);
    return any;
}

static void try_decision(struct exact *e)
{
    e->effort++;
    if (!choices_within_budget(e->p->c, e->like) || !fill_least(e)) return;
    if (graph_longest(e->p->graph, e->least, NULL) < e->best->time_ns) try_nodes(e, 0);
}

// Whether an earlier choice of the stage has the same layers and options, on another group.
static bool is_repeated(const struct stage_choices *choices, int index)
{
    const struct choice *x = &choices->items[index];
    for (int i = 0; i < index; i++) {
        const struct choice *y = &choices->items[i];
        if (y->first_layer == x->first_layer && y->layer_count == x->layer_count && y->gradient_option == x->gradient_option && y->boundary_option == x->boundary_option) return true;
    }
    return false;
}

static void try_stage(struct exact *e, int stage, int layer)
{
    const struct placed *p = e->p;
    const struct stage_choices *choices = &p->c->stages[stage];
    int layers = p->priced->layer_count;
    for (int i = 0; i < choices->count && !is_over(e); i++) {
        const struct choice *x = &choices->items[i];
        int next = layer + x->layer_count;
        if (p->c->by_position && x->first_layer != layer) continue;
        if (next > layers - (p->stages - 1 - stage) || (stage == p->stages - 1 && next != layers) || is_repeated(choices, i)) continue;
        e->like[stage] = i;
        if (stage == p->stages - 1) try_decision(e);
        else try_stage(e, stage + 1, next);
    }
}

bool placed_prove(struct placed *p, struct placed_plan *best, int64_t effort_max, struct arena *arena)
{
    struct exact e = {.p = p, .now = placed_plan_empty(p, arena), .best = best, .like = TAKE(arena, p->stages, int),
                      .least = TAKE(arena, p->symbols, int64_t), .left = TAKE(arena, p->nodes, int), .effort_max = effort_max};
    if (p->stages != p->ranks || p->replicas > PLACED_RING_EXACT) return false;
    for (int i = 0; i < p->nodes; i++) e.left[i] = p->priced->places->nodes[i].slots;
    try_stage(&e, 0, 0);
    return !is_over(&e);
}
