// The plan's decision stays; its times are priced again and its graph is walked with them. Prices move, so what the graph
// leaves out because it took no time is left out here as well.
#include "formulate/range.h"

#include "data/cost_keys.h"
#include "formulate/choices_parts.h"
#include "formulate/longest.h"
#include "formulate/price.h"

static struct choice choice_of(const struct plan_stage *s)
{
    return (struct choice){.first_layer = s->first_layer, .layer_count = s->layer_count, .group = s->group, .recompute = s->recompute,
                           .recomputed_layers = s->recomputed_layers, .gradient_option = s->gradient_option, .boundary_option = s->boundary_option};
}

// 0: it cannot be priced.
static int64_t time_at(enum cost_end end, const struct plan *plan, const struct schedule *schedule, struct graph *graph,
                       const struct problem *problem, struct arena *arena)
{
    struct problem moved = *problem;
    struct priced priced;
    struct error unfit = {OK, ""};
    moved.costs = costs_copy(&problem->costs, arena);
    costs_move_to(&moved.costs, end);
    if (price_problem(&priced, &moved, arena, &unfit) != OK) return 0;
    struct choices c = {.priced = &priced, .schedule = schedule, .by_position = true, .arena = arena,
                        .virtual_stages = schedule->request.virtual_stages, .rank_count = schedule->request.rank_count};
    c.stages = TAKE(arena, plan->stage_count, struct stage_choices);
    int *chosen = TAKE(arena, plan->stage_count, int);
    for (int s = 0; s < plan->stage_count; s++) {
        struct choice *choice = TAKE(arena, 1, struct choice);
        *choice = choice_of(&plan->stages[s]);
        if (priced.groups[choice->group].excluded) return 0;
        choice_evaluate(&c, s, choice);
        c.stages[s] = (struct stage_choices){choice, 1};
    }
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    return choices_durations(&c, chosen, durations) ? graph_longest(graph, durations, NULL) : 0;
}

enum status range_of_plan(struct plan *plan, const struct problem *problem, struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct graph *graph;
    struct schedule_request request = plan_request(plan);
    if (!plan->stage_count || plan->placement) return OK;
    TRY(schedule_build(&schedule, &request, arena, err));
    TRY(graph_compile(&graph, &schedule, arena, err));
    int64_t low = time_at(COSTS_FAST, plan, &schedule, graph, problem, arena), high = time_at(COSTS_SLOW, plan, &schedule, graph, problem, arena);
    if (!low || !high || low > plan->iteration_ns || high < plan->iteration_ns) return OK;
    plan->iteration_low_ns = low, plan->iteration_high_ns = high;
    plan->runner_up_inside = plan->runner_up_ns > 0 && plan->runner_up_ns >= low && plan->runner_up_ns <= high;
    return OK;
}
