// Objectives as graphs (docs/FORMULAS.md 9 and 17). A load is the length of a chain of its own, so the least greatest load is
// the least longest path of the simplest graph there is, and needs no engine beside the one for iteration times.
#include "formulate/objective.h"

#include "formulate/choices_parts.h"

enum status objective_graph(struct graph **graph, const struct priced *p, const struct schedule *schedule, struct arena *arena, struct error *err)
{
    struct schedule load;
    if (p->objective != OBJECTIVE_MAX_LOAD) return graph_compile(graph, schedule, arena, err);
    TRY(schedule_build_load(&load, &schedule->request, arena, err));
    return graph_compile(graph, &load, arena, err);
}

static struct choice choice_of(const struct plan_stage *s)
{
    return (struct choice){.first_layer = s->first_layer, .layer_count = s->layer_count, .group = s->group, .recompute = s->recompute,
                           .recomputed_layers = s->recomputed_layers, .gradient_option = s->gradient_option, .boundary_option = s->boundary_option};
}

int64_t objective_iteration_ns(const struct plan *plan, const struct priced *p, const struct schedule *schedule, struct graph *graph, struct arena *arena)
{
    struct choices c = {.priced = p, .schedule = schedule, .by_position = true, .arena = arena,
                        .virtual_stages = schedule->request.virtual_stages, .rank_count = schedule->request.rank_count};
    c.stages = TAKE(arena, plan->stage_count, struct stage_choices);
    int *chosen = TAKE(arena, plan->stage_count, int);
    for (int s = 0; s < plan->stage_count; s++) {
        struct choice *choice = TAKE(arena, 1, struct choice);
        *choice = choice_of(&plan->stages[s]);
        if (p->groups[choice->group].excluded) return 0;
        choice_evaluate(&c, s, choice);
        c.stages[s] = (struct stage_choices){choice, 1};
    }
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    return choices_durations(&c, chosen, durations) ? graph_longest(graph, durations, NULL) : 0;
}

enum status objective_state(struct plan *plan, const struct priced *p, const struct schedule *schedule, struct arena *arena, struct error *err)
{
    struct graph *graph;
    if (p->objective == OBJECTIVE_ITERATION_TIME) return OK;
    plan->objective = p->objective;
    if (!plan->stage_count) return OK;
    plan->objective_ns = plan->iteration_ns;
    TRY(graph_compile(&graph, schedule, arena, err));
    plan->iteration_ns = objective_iteration_ns(plan, p, schedule, graph, arena);
    return OK;
}
