// The plan's decision stays; its times are priced again and its graph is walked with them. Prices
// move, so what the graph leaves out because it took no time is left out here as well.
#include "formulate/price/range.h"

#include "data/inputs/cost_keys.h"
#include "formulate/graph/longest.h"
#include "formulate/graph/objective.h"
#include "formulate/price/price.h"

// 0: it cannot be priced.
static int64_t time_at(enum cost_end end, const struct plan *plan, const struct schedule *schedule,
                       struct graph *graph, const struct problem *problem, struct arena *arena)
{
    struct problem moved = *problem;
    struct priced priced;
    struct error unfit = {OK, ""};
    moved.costs = costs_copy(&problem->costs, arena);
    costs_move_to(&moved.costs, end);
    if (price_problem(&priced, &moved, arena, &unfit) != OK) return 0;
    return objective_iteration_ns(plan, &priced, schedule, graph, arena);
}

enum status range_of_plan(struct plan *plan, const struct problem *problem, struct arena *arena,
                          struct error *err)
{
    struct schedule schedule;
    struct graph *graph;
    struct schedule_request request = plan_request(plan);
    if (!plan->stage_count || plan->placement) return OK;
    TRY(schedule_build(&schedule, &request, arena, err));
    TRY(graph_compile(&graph, &schedule, arena, err));
    int64_t low = time_at(COSTS_FAST, plan, &schedule, graph, problem, arena),
            high = time_at(COSTS_SLOW, plan, &schedule, graph, problem, arena);
    if (!low || !high || low > plan->iteration_ns || high < plan->iteration_ns) return OK;
    plan->iteration_low_ns = low, plan->iteration_high_ns = high;
    plan->runner_up_inside = plan->runner_up_ns > 0 && plan->runner_up_ns >= low &&
                             plan->runner_up_ns <= high;
    return OK;
}
