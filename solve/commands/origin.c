// The problem that a plan was made from.
#include "solve/commands/verbs.h"

const struct problem *origin_whole_problem(const struct plan *plan, struct arena *arena)
{
    struct problem *p = TAKE(arena, 1, struct problem);
    return origin_problem(plan, p, arena) && origin_matches(plan, "costs", &p->costs.document)
               ? p
               : NULL;
}

enum status origin_check_layers(const struct plan *plan, const struct problem *problem,
                                struct error *err)
{
    int next = 0, layers = problem ? problem->model.layer_count : 0;
    for (int s = 0; problem && s < plan->stage_count; s++) {
        const struct plan_stage *x = &plan->stages[s];
        int most = layers - next - (plan->stage_count - 1 - s);
        if (x->first_layer != next)
            return refuse(err, "%s: stages[%d].first_layer: expected %d, found %d",
                          plan->document.path, s, next, x->first_layer);
        if (x->layer_count < 1 || x->layer_count > most ||
            (s == plan->stage_count - 1 && x->layer_count < most))
            return refuse(err,
                          "%s: stages[%d].layer_count: expected the %d layers of the model on "
                          "stages of at least one, found %d",
                          plan->document.path, s, layers, x->layer_count);
        next += x->layer_count;
    }
    return OK;
}
