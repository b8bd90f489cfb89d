// A placed plan as a plan document: its placement, and the claims of its slowest replica.

#include "solve/places/internal.h"

// The claims of the slowest replica: values that depend on nodes replace those that depend on
// groups.
static void put_claims(struct plan *plan, const struct choices *c, const int64_t *durations)
{
    int stages = c->priced->stage_count;
    for (int s = 0; s < stages; s++) {
        struct plan_stage *to = &plan->stages[s];
        to->sync_ns = durations[symbol_index(stages, SYMBOL_SYNC, s)];
        to->queued_sync_ns = durations[symbol_index(stages, SYMBOL_QUEUED_SYNC, s)];
        for (int part = 0; part < PART_COUNT && s + 1 < stages; part++) {
            to->send_epilogue_ns[part] =
                durations[symbol_index(stages, SYMBOL_SEND_EPILOGUE + part, s)];
            for (int slice = 0; slice < c->priced->slice_count; slice++) {
                to->slices[slice].send_forward_ns[part] = durations[symbol_index(
                    stages, symbol_of_slice(slice, SYMBOL_SEND_FORWARD + part), s)];
                to->slices[slice].send_backward_ns[part] = durations[symbol_index(
                    stages, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD + part), s)];
            }
        }
    }
    plan->embedding_sync_ns = durations[symbol_index(stages, SYMBOL_EMBEDDING_SYNC, 0)];
}

// From end to end: the overhead occurs at both.
static int64_t message_ns(int stages, int first_kind, int boundary, const int64_t *durations)
{
    int64_t sum = 0;
    for (int part = 0; part < PART_COUNT; part++)
        sum += (part == PART_OVERHEAD ? 2 : 1) *
               durations[symbol_index(stages, first_kind + part, boundary)];
    return sum;
}

static struct plan_placement *empty_placement(const struct placed *p, struct arena *arena)
{
    int stages = p->replicas * p->stages;
    struct plan_placement *x = TAKE(arena, 1, struct plan_placement);
    *x = (struct plan_placement){.replica_count = p->replicas, .rank_count = p->ranks};
    x->nodes = TAKE(arena, p->replicas * p->ranks, const char *);
    x->iteration_ns = TAKE(arena, p->replicas, int64_t);
    x->send_forward_ns = TAKE(arena, stages, int64_t);
    x->send_backward_ns = TAKE(arena, stages, int64_t);
    x->recompute = TAKE(arena, stages, int);
    x->recomputed_layers = TAKE(arena, stages, int);
    return x;
}

static void put_replica(struct plan_placement *x, struct placed *p, const struct placed_plan *best,
                        int replica, int64_t *durations)
{
    for (int s = 0; s < p->stages; s++) {
        const struct choice *choice = placed_choice_of(p, best, replica, s);
        x->recompute[replica * p->stages + s] = (int)choice->recompute;
        x->recomputed_layers[replica * p->stages + s] = choice->recomputed_layers;
    }
    placed_durations(p, best, replica, durations);
    x->iteration_ns[replica] =
        graph_longest(placed_variant(p, best->micro_batches[replica])->graph, durations, NULL);
    for (int s = 0; s + 1 < p->stages; s++) {
        x->send_forward_ns[replica * p->stages + s] =
            message_ns(p->stages, SYMBOL_SEND_FORWARD, s, durations);
        x->send_backward_ns[replica * p->stages + s] =
            message_ns(p->stages, SYMBOL_SEND_BACKWARD, s, durations);
    }
}

// The statements about stages, and the number of micro-batches, are those of the slowest replica.
void placed_put_plan(struct plan *plan, struct placed *p, struct placed_plan *best,
                     struct arena *arena)
{
    int64_t *durations = TAKE(arena, p->symbols, int64_t);
    const struct placed_variant *slowest = placed_variant(p, best->micro_batches[best->slowest]);
    choices_to_plan(plan, slowest->choices, best->chosen + best->slowest * p->stages, best->time_ns,
                    arena);
    struct plan_placement *x = plan->placement = empty_placement(p, arena);
    assert(plan->stage_count == p->stages && best->slowest < p->replicas);
    plan->micro_batches = slowest->micro_batches;
    x->slowest = best->slowest;
    x->rings = best->ring;
    x->embedding_ring = placed_fuses_embeddings(p) ? best->embedding_ring : NULL;
    x->micro_batches = p->uneven ? best->micro_batches : NULL;
    for (int i = 0; i < p->replicas * p->ranks; i++)
        x->nodes[i] = arena_copy_text(arena, p->priced->places->nodes[best->node[i]].name);
    placed_sync_kept(p, best);
    for (int replica = 0; replica < p->replicas; replica++)
        put_replica(x, p, best, replica, durations);
    placed_durations(p, best, best->slowest, durations);
    put_claims(plan, slowest->choices, durations);
}
