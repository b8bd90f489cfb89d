// The proof for few device groups and unequal numbers of micro-batches. It enumerates every
// decision of layers and options that the relaxation leaves below the best plan, and for each every
// placement, up to renaming of replicas. A branch ends when a replica's own time, with syncs as
// fast as in the relaxation, reaches the best. Only with one stage per rank: there the layers and
// options of a stage determine one choice on each group.
#include <string.h>

#include "data/base/least.h"
#include "solve/places/internal.h"

enum { UNITS_MAX = 128 }; // of micro-batches of a replica: each number has its own graph

struct exact {
    struct placed *p;
    struct placed_plan now, *best;
    int *like;        // [stage]: a choice with the current layers and options, on any group
    int64_t *least;   // [symbol]: least duration over all replicas
    int64_t *one;     // likewise, scratch
    int *left;        // [node]: device groups that are free
    int64_t together; // micro-batches still to be given to replicas
    int most;         // micro-batches that one replica can have
    const struct placed_variant *fewest; // with the fewest: whatever fits at all fits with it
    int64_t effort, effort_max;
};

static bool is_over(const struct exact *e)
{
    return e->effort > e->effort_max || placed_is_stopped(e->p);
}

// ---- nodes of a decision

// The replica's time with the least syncs.
static int64_t replica_least_ns(struct exact *e, int replica)
{
    struct placed *p = e->p;
    struct arena_mark mark = arena_set_mark(p->arena);
    const struct choice **stages = TAKE(p->arena, p->stages, const struct choice *);
    memset(p->durations, 0, (size_t)p->symbols * sizeof *p->durations);
    for (int s = 0; s < p->stages; s++) {
        stages[s] = placed_choice_of(p, &e->now, replica, s);
        choices_stage_durations(p->c, s, stages[s], p->durations);
        p->durations[symbol_index(p->stages, SYMBOL_SYNC, s)] =
            e->least[symbol_index(p->stages, SYMBOL_SYNC, s)];
    }
    bool joined =
        choices_node_transfers(p->c, stages, e->now.node + replica * p->ranks, p->durations);
    arena_reset(p->arena, mark);
    return joined ? graph_longest(placed_variant(p, e->now.micro_batches[replica])->graph,
                                  p->durations, NULL)
                  : INT64_MAX;
}

static void try_nodes(struct exact *e, int place);

static void end_of_replica(struct exact *e, int replica, int64_t left)
{
    struct placed *p = e->p;
    int64_t least_ns = replica_least_ns(e, replica);
    e->effort++;
    if (least_ns >= e->best->time_ns) return;
    if (replica + 1 < p->replicas) {
        e->together = left;
        try_nodes(e, (replica + 1) * p->ranks);
        return;
    }
    e->now.slowest = 0;
    assert(left == 0);
    placed_evaluate(p, &e->now, INT64_MAX);
    placed_improve_rings(p, &e->now);
    assert(e->now.time_ns >= least_ns);
    if (e->now.time_ns < e->best->time_ns) placed_plan_copy(p, e->best, &e->now);
}

// Tries every number of micro-batches that leaves the later replicas a feasible number.
static void try_micro_batches(struct exact *e, int replica)
{
    struct placed *p = e->p;
    int behind = p->replicas - 1 - replica;
    int64_t left = e->together, most = left - (int64_t)behind * p->unit,
            least = left - (int64_t)behind * e->most;
    if (most > e->most) most = e->most;
    if (least < p->unit) least = p->unit;
    for (int64_t m = least; m <= most && !is_over(e); m += p->unit) {
        e->now.micro_batches[replica] = (int)m;
        if (placed_fit(p, &e->now, replica, e->like)) end_of_replica(e, replica, left - m);
    }
    e->together = left;
}

// Places ranks in order, replica after replica. The first nodes of the replicas ascend.
static void try_nodes(struct exact *e, int place)
{
    struct placed *p = e->p;
    int replica = place / p->ranks, rank = place % p->ranks;
    int first = rank == 0 && replica > 0 ? e->now.node[(replica - 1) * p->ranks] : 0;
    for (int node = first; node < p->nodes && !is_over(e); node++) {
        if (!e->left[node] ||
            placed_choice_in(e->fewest, rank, &p->c->stages[rank].items[e->like[rank]],
                             p->priced->places->nodes[node].group) < 0)
            continue;
        e->left[node]--;
        e->now.node[place] = node;
        if (rank == p->ranks - 1) try_micro_batches(e, replica);
        else try_nodes(e, place + 1);
        e->left[node]++;
    }
}

// ---- decisions

// The least durations of a stage with the current layers and options, over all groups. false: it
// fits on none.
static bool fill_least_of_stage(struct exact *e, const struct placed_variant *v, int s, bool found,
                                int64_t *one)
{
    static const int kinds[] = {SYMBOL_FORWARD, SYMBOL_BACKWARD, SYMBOL_WEIGHT, SYMBOL_SYNC,
                                SYMBOL_OPTIMIZER};
    const struct placed *p = e->p;
    for (int g = 0; g < p->priced->group_count; g++) {
        int chosen = placed_choice_in(v, s, &p->c->stages[s].items[e->like[s]], g);
        if (chosen < 0) continue;
        choices_stage_durations(v->choices, s, &v->choices->stages[s].items[chosen], one);
        for (int slice = 0; slice < p->priced->slice_count; slice++)
            for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
                int symbol = symbol_index(p->stages, symbol_of_slice(slice, kinds[k]), s);
                e->least[symbol] = found ? smaller(e->least[symbol], one[symbol]) : one[symbol];
            }
        found = true;
    }
    return found;
}

// With any number of micro-batches: recomputation, which depends on it, may shorten an overlapped
// sync.
static bool fill_least(struct exact *e)
{
    struct placed *p = e->p;
    bool any = true;
    for (int s = 0; s < p->stages && any; s++) {
        const struct choices *last = NULL;
        bool found = false;
        for (int m = p->unit; m <= p->most; m += p->unit) {
            const struct placed_variant *v = placed_variant(p, m);
            if (v->choices != last) found = fill_least_of_stage(e, v, s, found, e->one);
            last = v->choices;
        }
        any = found;
    }
    return any;
}

// The most micro-batches that a replica can do in less than the best plan's time.
static int most_in_time(struct exact *e)
{
    struct placed *p = e->p;
    int most = 0;
    for (int m = p->unit; m <= p->most; m += p->unit) {
        if (graph_longest(placed_variant(p, m)->graph, e->least, NULL) < e->best->time_ns) most = m;
        else if (p->nested) break;
    }
    return most;
}

static void try_decision(struct exact *e)
{
    e->effort++;
    if (!choices_within_budget(e->p->c, e->like) || !fill_least(e)) return;
    e->most = most_in_time(e);
    if ((int64_t)e->most * e->p->replicas < e->p->together) return;
    e->together = e->p->together;
    try_nodes(e, 0);
}

// Whether an earlier choice of the stage has the same layers and options, on another group.
static bool is_repeated(const struct stage_choices *choices, int index)
{
    const struct choice *x = &choices->items[index];
    for (int i = 0; i < index; i++) {
        const struct choice *y = &choices->items[i];
        if (y->first_layer == x->first_layer && y->layer_count == x->layer_count &&
            y->gradient_option == x->gradient_option && y->boundary_option == x->boundary_option)
            return true;
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
        if (x->first_layer != choices_place(p->c, layer)) continue;
        if (next > layers - (p->stages - 1 - stage) || (stage == p->stages - 1 && next != layers) ||
            is_repeated(choices, i))
            continue;
        e->like[stage] = i;
        if (stage == p->stages - 1) try_decision(e);
        else try_stage(e, stage + 1, next);
    }
}

bool placed_prove(struct placed *p, struct placed_plan *best, int64_t effort_max,
                  struct arena *arena)
{
    struct exact e = {.p = p,
                      .now = placed_plan_empty(p, arena),
                      .best = best,
                      .like = TAKE(arena, p->stages, int),
                      .least = TAKE(arena, p->symbols, int64_t),
                      .one = TAKE(arena, p->symbols, int64_t),
                      .left = TAKE(arena, p->nodes, int),
                      .effort_max = effort_max};
    assert(p->uneven);
    if (p->stages != p->ranks || p->replicas > PLACED_RING_EXACT || p->most / p->unit > UNITS_MAX)
        return false;
    e.fewest = placed_variant(p, p->unit);
    for (int i = 0; i < p->nodes; i++) e.left[i] = p->priced->places->nodes[i].slots;
    try_stage(&e, 0, 0);
    for (int i = 0; i < p->nodes; i++) assert(e.left[i] == p->priced->places->nodes[i].slots);
    return !is_over(&e);
}
