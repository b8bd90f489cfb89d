// Starting from an earlier plan: its layers and options, and its nodes by their names. Ranks whose
// node is gone get a spare one, each the best of those left, one rank after another. The time of
// the unchanged earlier plan is computed with its rings as they are.
#include <string.h>

#include "solve/places/internal.h"

static bool same_options(const struct priced *p, const struct choice *x, const struct plan *plan,
                         const struct plan_stage *s)
{
    const struct compression_option *a = &p->gradient_options[x->gradient_option],
                                    *b = &plan->gradient_options[s->gradient_option];
    const struct compression_option *c = &p->boundary_options[x->boundary_option],
                                    *d = &plan->boundary_options[s->boundary_option];
    return compression_same(a, b) && compression_same(c, d);
}

// A choice of the stage with the plan's layers and options, on any group; -1: there is none.
static int find_like(const struct placed *p, const struct plan *plan, int stage)
{
    const struct plan_stage *s = &plan->stages[stage];
    const struct stage_choices *choices = &p->c->stages[stage];
    for (int i = 0; i < choices->count; i++) {
        const struct choice *x = &choices->items[i];
        if (x->layer_count == s->layer_count &&
            x->first_layer == choices_place(p->c, s->first_layer) &&
            same_options(p->priced, x, plan, s))
            return i;
    }
    return -1;
}

// The choice that the replica of `place` has on the node.
static int choice_at(struct placed *p, const struct placed_plan *plan, const int *like, int place,
                     int stage, int node)
{
    const struct placed_variant *v = placed_variant(p, plan->micro_batches[place / p->ranks]);
    return placed_choice_in(v, stage, &p->c->stages[stage].items[like[stage]],
                            p->priced->places->nodes[node].group);
}

// Whether all stages of the rank have a choice on the node.
static bool rank_can_stand(struct placed *p, const struct placed_plan *plan, const int *like,
                           int place, int node)
{
    for (int turn = 0; turn < p->stages / p->ranks; turn++)
        if (choice_at(p, plan, like, place, choices_stage_of(p->c, place % p->ranks, turn), node) <
            0)
            return false;
    return true;
}

static void put_choices(struct placed *p, struct placed_plan *to, const int *like, int place)
{
    for (int turn = 0; turn < p->stages / p->ranks; turn++) {
        int stage = choices_stage_of(p->c, place % p->ranks, turn);
        to->chosen[place / p->ranks * p->stages + stage] =
            choice_at(p, to, like, place, stage, to->node[place]);
    }
}

// Takes the plan's own numbers of micro-batches if they are valid for this problem.
static void put_micro_batches(const struct placed *p, struct placed_plan *to,
                              const struct plan *plan)
{
    const struct plan_placement *x = plan->placement;
    int64_t sum = 0;
    placed_spread(p, to);
    for (int r = 0; r < x->replica_count; r++) {
        int micro_batches = x->micro_batches ? x->micro_batches[r] : plan->micro_batches;
        if (micro_batches % p->unit) return;
        sum += micro_batches;
    }
    for (int r = 0; x->replica_count == p->replicas && sum == p->together && r < p->replicas; r++)
        to->micro_batches[r] = x->micro_batches ? x->micro_batches[r] : plan->micro_batches;
}

static int node_named(const struct placed *p, const char *name)
{
    for (int i = 0; i < p->nodes; i++)
        if (!strcmp(p->priced->places->nodes[i].name, name)) return i;
    return -1;
}

// Puts ranks on the nodes they had; -1 for those that cannot stay. Returns how many.
static int put_known(struct placed *p, struct placed_plan *to, const struct plan_placement *x,
                     const int *like, int *left)
{
    int lost = 0;
    for (int place = 0; place < p->replicas * p->ranks; place++) {
        int node = place < x->replica_count * x->rank_count ? node_named(p, x->nodes[place]) : -1;
        bool stays = node >= 0 && left[node] > 0 && rank_can_stand(p, to, like, place, node);
        to->node[place] = stays ? node : -1;
        if (!stays) lost++;
        else {
            left[node]--;
            put_choices(p, to, like, place);
        }
    }
    return lost;
}

bool placed_fits_ranks(struct placed *p, const struct placed_plan *plan)
{
    for (int replica = 0; replica < p->replicas && p->stages > p->ranks; replica++)
        for (int rank = 0; rank < p->ranks; rank++)
            if (!choices_rank_fits(placed_variant(p, plan->micro_batches[replica])->choices,
                                   plan->chosen + replica * p->stages, rank))
                return false;
    return true;
}

static void evaluate(struct placed *p, struct placed_plan *plan)
{
    plan->slowest = 0;
    plan->time_ns = INT64_MAX;
    if (placed_fits_ranks(p, plan)) placed_evaluate(p, plan, INT64_MAX);
}

// Gives each lost rank a first spare node. false: there are too few.
static bool fill_lost(struct placed *p, struct placed_plan *plan, const int *like, int *left)
{
    for (int place = 0; place < p->replicas * p->ranks; place++) {
        for (int node = 0; node < p->nodes && plan->node[place] < 0; node++) {
            if (left[node] < 1 || !rank_can_stand(p, plan, like, place, node)) continue;
            left[node]--;
            plan->node[place] = node;
            put_choices(p, plan, like, place);
        }
        if (plan->node[place] < 0) return false;
    }
    return true;
}

// Moves each lost rank to the spare node that is best for it, as long as the plan's time falls.
static void improve_lost(struct placed *p, struct placed_plan *plan, const int *retained,
                         const int *like, int *left, struct arena *arena)
{
    struct placed_plan next = placed_plan_empty(p, arena);
    for (bool improved = true; improved;) {
        improved = false;
        for (int place = 0; place < p->replicas * p->ranks; place++)
            for (int node = 0; node < p->nodes && retained[place] < 0 && !placed_is_stopped(p);
                 node++) {
                if (left[node] < 1 || node == plan->node[place] ||
                    !rank_can_stand(p, plan, like, place, node))
                    continue;
                placed_plan_copy(p, &next, plan);
                next.node[place] = node;
                put_choices(p, &next, like, place);
                evaluate(p, &next);
                if (next.time_ns >= plan->time_ns) continue;
                left[plan->node[place]]++;
                left[node]--;
                assert(left[node] >= 0);
                placed_plan_copy(p, plan, &next);
                improved = true;
            }
    }
}

static void put_rings(const struct placed *p, struct placed_plan *to,
                      const struct plan_placement *x)
{
    if (x->replica_count == p->replicas)
        memcpy(to->ring, x->rings, (size_t)(p->stages * p->replicas) * sizeof *to->ring);
    if (x->replica_count == p->replicas && x->embedding_ring)
        memcpy(to->embedding_ring, x->embedding_ring,
               (size_t)(2 * p->replicas) * sizeof *to->embedding_ring);
}

// Each layer of the model once and in order.
static bool holds_layers(const struct plan *plan, int layers)
{
    int next = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        if (plan->stages[s].first_layer != next) return false;
        next += plan->stages[s].layer_count;
    }
    return next == layers;
}

bool placed_take_start(struct placed *p, struct placed_start *start, int *like, int *retained,
                       struct placed_plan *repaired, struct arena *arena)
{
    const struct plan *plan = start->plan;
    const struct plan_placement *x = plan->placement;
    int places = p->replicas * p->ranks;
    start->standing_ns = start->repaired_ns = 0;
    repaired->time_ns = INT64_MAX;
    if (plan->stage_count != p->stages || (x && x->rank_count != p->ranks)) return false;
    if (!holds_layers(plan, p->priced->layer_count)) return false;
    for (int stage = 0; stage < p->stages; stage++)
        if ((like[stage] = find_like(p, plan, stage)) < 0) return false;
    if (!choices_within_budget(p->c, like)) return false;
    for (int i = 0; i < places; i++) retained[i] = -1;
    if (!x) return true;

    int *left = TAKE(arena, p->nodes, int);
    for (int i = 0; i < p->nodes; i++) left[i] = p->priced->places->nodes[i].slots;
    put_micro_batches(p, repaired, plan);
    int lost_count = put_known(p, repaired, x, like, left);
    memcpy(retained, repaired->node, (size_t)places * sizeof *retained);
    put_rings(p, repaired, x);
    if (!lost_count && x->replica_count == p->replicas) {
        p->keep_rings = true;
        evaluate(p, repaired);
        p->keep_rings = false;
        if (repaired->time_ns < INT64_MAX) start->standing_ns = repaired->time_ns;
    }
    if (!fill_lost(p, repaired, like, left)) {
        repaired->time_ns = INT64_MAX;
        return true;
    }
    evaluate(p, repaired);
    if (lost_count) improve_lost(p, repaired, retained, like, left, arena);
    if (repaired->time_ns == INT64_MAX) return true;
    start->repaired_ns = repaired->time_ns;
    start->repaired_nodes = TAKE(arena, places, const char *);
    for (int i = 0; i < places; i++)
        start->repaired_nodes[i] =
            arena_copy_text(arena, p->priced->places->nodes[repaired->node[i]].name);
    return true;
}
