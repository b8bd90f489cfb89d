// The search for a good placement: a few simple orders of the nodes, then exchanges of two nodes
// (one may be a spare), reversals within a replica, and layers moved from one stage to another.
// Steps that do not change the time are also taken: of several slow replicas only one may get
// faster at a time. When the search is stuck, it is perturbed and continues from the best.
#include <string.h>

#include "data/base/least.h"
#include "data/base/random.h"
#include "solve/places/internal.h"

// IDLE_MOST: impossible steps in a row, after which none is assumed to be possible.
enum { STUCK_AFTER = 400, SHAKES = 3, LAYERS_EVERY = 200, IDLE_MOST = 20000 };

struct search {
    struct placed *p;
    const struct placed_settings *settings;
    struct placed_plan now, next, *best;
    int *spare, spare_count; // nodes of `now` with room left, once for each device group
    int *spare_next, *left;
    double *loads; // [replica]
    int *share;    // [replica], of micro-batches
    uint64_t state;
    int64_t evaluations;
};

static bool is_over(const struct search *s)
{
    return s->evaluations >= s->settings->evaluations ||
           s->best->time_ns <= s->settings->enough_ns ||
           (s->settings->should_stop && s->settings->should_stop(s->settings->stop_argument));
}

// ---- choices that depend on the nodes

// Sets another number of micro-batches, and choices that fit with it.
static bool give(struct placed *p, struct placed_plan *plan, int replica, int micro_batches)
{
    if (micro_batches < p->unit || micro_batches > p->most) return false;
    return placed_give(p, plan, replica, micro_batches) && placed_fit(p, plan, replica, NULL);
}

// Time of a micro-batch on the replica's busiest rank.
static double load_of(struct placed *p, const struct placed_plan *plan, int replica)
{
    double most = 1;
    for (int rank = 0; rank < p->ranks; rank++) {
        double load = 0;
        for (int turn = 0; turn < p->stages / p->ranks; turn++)
            load += (double)placed_choice_of(p, plan, replica, choices_stage_of(p->c, rank, turn))
                        ->load_ns;
        if (load > most) most = load;
    }
    return most;
}

// Micro-batches in proportion to the replicas' speeds: one unit after another to the replica that
// would finish it first.
static bool share_micro_batches(struct search *s, struct placed_plan *plan)
{
    struct placed *p = s->p;
    int64_t left = p->together - (int64_t)p->replicas * p->unit;
    for (int r = 0; r < p->replicas; r++) {
        s->loads[r] = load_of(p, plan, r);
        s->share[r] = p->unit;
    }
    assert(left >= 0 && left % p->unit == 0);
    for (; left > 0; left -= p->unit) {
        int first = 0;
        for (int r = 1; r < p->replicas; r++)
            if ((s->share[r] + p->unit) * s->loads[r] <
                (s->share[first] + p->unit) * s->loads[first])
                first = r;
        s->share[first] += p->unit;
    }
    for (int r = 0; r < p->replicas; r++)
        if (!give(p, plan, r, s->share[r])) return false;
    return true;
}

// The spare nodes of `now`.
static void list_spares(struct search *s)
{
    const struct placed *p = s->p;
    int *left = s->left;
    for (int i = 0; i < p->nodes; i++) left[i] = p->priced->places->nodes[i].slots;
    for (int i = 0; i < p->replicas * p->ranks; i++) left[s->now.node[i]]--;
    s->spare_count = 0;
    for (int i = 0; i < p->nodes; i++) assert(left[i] >= 0);
    for (int i = 0; i < p->nodes; i++)
        for (; left[i] > 0; left[i]--) s->spare[s->spare_count++] = i;
}

// Takes `next` if it is no slower than `now`; keeps the best.
static bool take_next(struct search *s)
{
    int64_t at_least = s->now.time_ns == INT64_MAX ? INT64_MAX : s->now.time_ns + 1;
    s->evaluations++;
    s->next.slowest = s->now.slowest;
    placed_evaluate(s->p, &s->next, at_least);
    if (s->next.time_ns >= at_least) return false;
    placed_plan_copy(s->p, &s->now, &s->next);
    list_spares(s);
    if (s->now.time_ns < s->best->time_ns) placed_plan_copy(s->p, s->best, &s->now);
    return true;
}

static void begin_step(struct search *s)
{
    placed_plan_copy(s->p, &s->next, &s->now);
    memcpy(s->spare_next, s->spare, (size_t)s->spare_count * sizeof *s->spare);
}

// ---- steps

static bool swap_nodes(struct search *s)
{
    struct placed *p = s->p;
    int places = p->replicas * p->ranks, a = random_below(&s->state, places),
        b = random_below(&s->state, places + s->spare_count);
    int *from = &s->next.node[a], *to = b < places ? &s->next.node[b] : &s->spare_next[b - places],
        kept = *from;
    if (*from == *to) return false;
    *from = *to;
    *to = kept;
    return placed_fit(p, &s->next, a / p->ranks, NULL) &&
           (b >= places || placed_fit(p, &s->next, b / p->ranks, NULL));
}

static bool reverse_nodes(struct search *s)
{
    struct placed *p = s->p;
    int replica = random_below(&s->state, p->replicas), a = random_below(&s->state, p->ranks),
        b = random_below(&s->state, p->ranks);
    int *node = s->next.node + replica * p->ranks;
    if (a > b) {
        int kept = a;
        a = b, b = kept;
    }
    if (a == b) return false;
    for (; a < b; a++, b--) {
        int kept = node[a];
        node[a] = node[b], node[b] = kept;
    }
    return placed_fit(p, &s->next, replica, NULL);
}

// Exchanges the nodes of two ranks in all replicas; their rings move unchanged.
static bool swap_ranks(struct search *s)
{
    struct placed *p = s->p;
    int a = random_below(&s->state, p->ranks), b = random_below(&s->state, p->ranks);
    for (int replica = 0; replica < p->replicas && a != b; replica++) {
        int *node = s->next.node + replica * p->ranks, kept = node[a];
        node[a] = node[b], node[b] = kept;
        if (!placed_fit(p, &s->next, replica, NULL)) return false;
    }
    return a != b;
}

// Moves one layer from stage a to stage b, in all replicas; those between shift if positions
// matter.
static bool move_layer(struct search *s, int a, int b)
{
    struct placed *p = s->p;
    for (int replica = 0; replica < p->replicas; replica++) {
        const struct placed_variant *v = placed_variant(p, s->next.micro_batches[replica]);
        int *chosen = s->next.chosen + replica * p->stages, layer = 0;
        for (int stage = 0; stage < p->stages; stage++) {
            const struct choice *x = &v->choices->stages[stage].items[chosen[stage]];
            int count = x->layer_count + (stage == b) - (stage == a);
            bool same = count == x->layer_count && x->first_layer == choices_place(p->c, layer);
            if (!same)
                chosen[stage] = count ? placed_find_choice(v, stage, layer, count, x->group, x)
                                      : -1;
            if (chosen[stage] < 0) return false;
            layer += count;
        }
        assert(layer == p->priced->layer_count);
        if (!placed_fit(p, &s->next, replica, NULL)) return false;
    }
    return true;
}

static void improve_layers(struct search *s)
{
    for (bool improved = true; improved && !is_over(s);) {
        improved = false;
        for (int a = 0; a < s->p->stages; a++)
            for (int b = 0; b < s->p->stages && !is_over(s); b++) {
                int64_t before = s->now.time_ns;
                if (a == b) continue;
                begin_step(s);
                if (move_layer(s, a, b) && take_next(s))
                    improved = improved || s->now.time_ns < before;
            }
    }
}

// Moves micro-batches from one replica to another.
static bool move_micro_batches(struct search *s, int from, int to, int count)
{
    struct placed *p = s->p;
    int left = s->next.micro_batches[from] - count, more = s->next.micro_batches[to] + count;
    return from != to && give(p, &s->next, from, left) && give(p, &s->next, to, more);
}

// From the slowest replica to each of the others, as long as that helps.
static void improve_micro_batches(struct search *s)
{
    for (bool improved = s->p->uneven; improved && !is_over(s);) {
        improved = false;
        for (int to = 0; to < s->p->replicas && !is_over(s) && !improved; to++) {
            int64_t before = s->now.time_ns;
            begin_step(s);
            improved = move_micro_batches(s, s->now.slowest, to, s->p->unit) && take_next(s) &&
                       s->now.time_ns < before;
        }
    }
}

static bool change(struct search *s)
{
    struct placed *p = s->p;
    int kind = random_below(&s->state, p->uneven ? 10 : 8);
    if (kind == 8)
        return move_micro_batches(s, s->now.slowest, random_below(&s->state, p->replicas), p->unit);
    if (kind == 9) return swap_nodes(s) && share_micro_batches(s, &s->next);
    return kind == 0 ? reverse_nodes(s) : kind == 1 ? swap_ranks(s) : swap_nodes(s);
}

static bool step(struct search *s)
{
    int64_t before = s->now.time_ns;
    begin_step(s);
    bool possible = change(s);
    return possible && take_next(s) && s->now.time_ns < before;
}

static void shake(struct search *s)
{
    placed_plan_copy(s->p, &s->now, s->best);
    list_spares(s);
    for (int i = 0; i < SHAKES; i++) {
        begin_step(s);
        if (!swap_nodes(s)) continue;
        s->next.slowest = 0;
        placed_evaluate(s->p, &s->next, INT64_MAX);
        s->evaluations++;
        if (s->next.time_ns == INT64_MAX) continue;
        placed_plan_copy(s->p, &s->now, &s->next);
        list_spares(s);
    }
}

// ---- starting placements

// Each node as often as it has room, in the order of the cluster.
static int list_slots(const struct placed *p, int **slots, struct arena *arena)
{
    int count = 0;
    for (int i = 0; i < p->nodes; i++) count += p->priced->places->nodes[i].slots;
    *slots = TAKE(arena, count, int);
    count = 0;
    for (int i = 0; i < p->nodes; i++)
        for (int k = 0; k < p->priced->places->nodes[i].slots; k++) (*slots)[count++] = i;
    return count;
}

// Orders of places: pipelines one after another; ranks one after another, with the replicas of a
// rank next to each other, as frameworks number them; the same with each rank within one node,
// where a node has room.
enum order { BY_REPLICA, BY_RANK, BY_RANK_WITHIN_NODES, ORDER_COUNT };

// Every replica within one group, as many in a group as it has room for, and there rank by rank, so
// that different ranks' rings leave different nodes where they can. false: some group's rest would
// be needed.
static bool take_groups(struct search *s, const int *chosen, const int *slots, int slot_count)
{
    struct placed *p = s->p;
    int replica = 0;
    for (int i = 0, next; i < slot_count && replica < p->replicas; i = next) {
        int group = p->priced->places->nodes[slots[i]].group, first = replica;
        for (next = i; next < slot_count && p->priced->places->nodes[slots[next]].group == group;)
            next++;
        int count = smaller_int((next - i) / p->ranks, p->replicas - first);
        for (int stage = 0; stage < p->stages; stage++)
            if (placed_choice_on(p, stage, chosen[stage], group) < 0) count = 0;
        for (int k = 0; k < count * p->ranks; k++)
            s->next.node[(first + k % count) * p->ranks + k / count] = slots[i + k];
        replica = first + count;
    }
    return replica == p->replicas;
}

// Before a rank: skips the rest of nodes in use that have no room for all replicas.
static void leave_remainders(const struct placed *p, const int *slots, int slot_count, bool *used)
{
    for (int i = 0, next; i < slot_count; i = next) {
        int left = 0;
        for (next = i; next < slot_count && slots[next] == slots[i]; next++) left += !used[next];
        for (int k = i; k < next && left < next - i && left < p->replicas; k++) used[k] = true;
    }
}

// Each place gets the first free slot whose group has the wanted choice, else any that has a
// choice.
static bool take_slots(struct search *s, const int *chosen, const int *slots, int slot_count,
                       enum order order, struct arena *arena)
{
    struct placed *p = s->p;
    bool *used = TAKE(arena, slot_count, bool);
    for (int k = 0; k < p->replicas * p->ranks; k++) {
        if (order == BY_RANK_WITHIN_NODES && k % p->replicas == 0)
            leave_remainders(p, slots, slot_count, used);
        int place = order == BY_REPLICA ? k : k % p->replicas * p->ranks + k / p->replicas,
            rank = place % p->ranks, found = -1;
        int wanted = p->c->stages[choices_stage_of(p->c, rank, 0)]
                         .items[chosen[choices_stage_of(p->c, rank, 0)]]
                         .group;
        for (int pass = 0; pass < 2 && found < 0; pass++)
            for (int i = 0; i < slot_count && found < 0; i++) {
                int group = p->priced->places->nodes[slots[i]].group;
                bool possible = !used[i] && (pass ? group != wanted : group == wanted);
                for (int turn = 0; turn < p->stages / p->ranks && possible; turn++) {
                    int stage = choices_stage_of(p->c, rank, turn);
                    possible = placed_choice_on(p, stage, chosen[stage], group) >= 0;
                }
                if (possible) found = i;
            }
        if (found < 0) return false;
        used[found] = true;
        s->next.node[place] = slots[found];
    }
    return true;
}

// in_proportion: micro-batches in proportion to the replicas' speeds, else as equal as possible.
static bool begin(struct search *s, const int *chosen, bool in_proportion)
{
    struct placed *p = s->p;
    for (int replica = 0; replica < p->replicas; replica++) {
        s->next.micro_batches[replica] = p->priced->micro_batches;
        memcpy(s->next.chosen + replica * p->stages, chosen, (size_t)p->stages * sizeof *chosen);
        if (!placed_fit(p, &s->next, replica, NULL)) return false;
    }
    if (in_proportion) return share_micro_batches(s, &s->next);
    struct placed_plan even = placed_plan_empty(p, p->arena);
    for (int replica = 0; replica < p->replicas; replica++)
        if (!give(p, &s->next, replica, even.micro_batches[replica])) return false;
    return true;
}

static void improve(struct search *s)
{
    int64_t stuck = 0, steps = 0, idle = 0;
    improve_layers(s);
    improve_micro_batches(s);
    while (!is_over(s) && idle < IDLE_MOST) {
        int64_t before = s->evaluations;
        stuck = step(s) ? 0 : stuck + 1;
        idle = s->evaluations == before ? idle + 1 : 0;
        if (++steps % LAYERS_EVERY == 0) {
            improve_layers(s);
            improve_micro_batches(s);
        }
        if (stuck < STUCK_AFTER) continue;
        improve_layers(s);
        shake(s);
        stuck = 0;
    }
}

bool placed_search(struct placed *p, struct placed_plan *best, const int *chosen,
                   const struct placed_settings *settings, struct arena *arena)
{
    struct search s = {.p = p,
                       .settings = settings,
                       .now = placed_plan_empty(p, arena),
                       .next = placed_plan_empty(p, arena),
                       .best = best,
                       .state = settings->seed};
    int *slots, slot_count = list_slots(p, &slots, arena);
    s.spare = TAKE(arena, slot_count, int);
    s.spare_next = TAKE(arena, slot_count, int);
    s.left = TAKE(arena, p->nodes, int);
    s.loads = TAKE(arena, p->replicas, double);
    s.share = TAKE(arena, p->replicas, int);
    best->time_ns = s.now.time_ns = INT64_MAX;
    if (settings->start) {
        placed_plan_copy(p, &s.next, settings->start);
        take_next(&s);
    }
    for (int order = 0; order < ORDER_COUNT; order++) {
        if (slot_count < p->replicas * p->ranks ||
            !take_slots(&s, chosen, slots, slot_count, (enum order)order, arena))
            continue;
        for (int in_proportion = p->uneven; in_proportion >= 0; in_proportion--) {
            s.now.time_ns = INT64_MAX;
            if (begin(&s, chosen, in_proportion)) take_next(&s);
        }
    }
    s.now.time_ns = INT64_MAX;
    if (take_groups(&s, chosen, slots, slot_count) && begin(&s, chosen, p->uneven)) take_next(&s);
    if (best->time_ns == INT64_MAX) return false;
    placed_plan_copy(p, &s.now, best);
    list_spares(&s);
    improve(&s);
    assert(!settings->start || best->time_ns <= settings->start->time_ns);
    return true;
}
