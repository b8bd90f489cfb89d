// A plan's layers and options with its ranks on nodes in a framework's order.
#include "solve/places/internal.h"

// Device groups one after the other, with the replicas of a stage next to each other. false: there
// are not enough.
static bool stand_in_order(struct placed_plan *plan, const struct placed *p)
{
    const struct priced_places *x = p->priced->places;
    int node = 0, used = 0;
    for (int i = 0; i < p->ranks * p->replicas; i++, used++) {
        while (node < x->node_count && used >= x->nodes[node].slots) node++, used = 0;
        if (node == x->node_count) return false;
        plan->node[i % p->replicas * p->ranks + i / p->replicas] = node;
    }
    return true;
}

enum status placed_in_order(struct plan *to, bool *found, const struct plan *of,
                            const struct priced *priced, struct arena *arena, struct error *err)
{
    struct placed *p;
    *found = false;
    TRY(placed_open(&p, priced, arena, err));
    int *like = TAKE(arena, p->stages, int);
    if (of->stage_count != p->stages || !choices_from_plan(like, p->c, of)) return OK;
    struct placed_plan plan = placed_plan_empty(p, arena);
    if (!stand_in_order(&plan, p) || !placed_fit_all(p, &plan, like)) return OK;
    placed_evaluate(p, &plan, INT64_MAX);
    if (p->status != OK) return *err = p->error, p->status;
    if (plan.time_ns == INT64_MAX) return OK;
    placed_put_plan(to, p, &plan, arena);
    *found = true;
    return OK;
}
