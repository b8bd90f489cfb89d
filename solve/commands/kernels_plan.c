// The decision priced again, and its claims taken from the durations.
#include "solve/commands/kernels_plan.h"

#include <string.h>

#include "formulate/graph/longest.h"
#include "formulate/graph/objective.h"
#include "formulate/price/price.h"
#include "formulate/price/range.h"
#include "solve/commands/verbs.h"

static struct costs without_factors(const struct costs *costs, struct arena *arena)
{
    struct costs c = costs_copy(costs, arena);
    for (int i = 0; i < c.gpu_count; i++) {
        struct gpu_costs *g = &c.gpus[i];
        g->megatron_step_factor = g->deepspeed_step_factor = g->other_step_factor =
            g->sharded_step_factor = g->split_overhead_s = (struct estimate){0};
    }
    return c;
}

static void take_slice(struct plan_slice *x, const int64_t *durations, int stages, int stage,
                       int slice)
{
    x->forward_ns = durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_FORWARD), stage)];
    x->backward_ns =
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_BACKWARD), stage)];
    for (int part = 0; part < PART_COUNT; part++) {
        x->send_forward_ns[part] = durations[symbol_index(
            stages, symbol_of_slice(slice, SYMBOL_SEND_FORWARD) + part, stage)];
        x->send_backward_ns[part] = durations[symbol_index(
            stages, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD) + part, stage)];
    }
}

static void take_claims(struct plan *to, const int64_t *durations, struct arena *arena)
{
    int p = to->stage_count;
    to->stages = TAKE_COPY(arena, to->stages, p);
    for (int s = 0; s < p; s++) {
        struct plan_stage *x = &to->stages[s];
        x->slices = TAKE_COPY(arena, x->slices, to->layout.slice_count);
        x->weight_ns = durations[symbol_index(p, SYMBOL_WEIGHT, s)];
        x->sync_ns = durations[symbol_index(p, SYMBOL_SYNC, s)];
        x->queued_sync_ns = durations[symbol_index(p, SYMBOL_QUEUED_SYNC, s)];
        x->optimizer_ns = durations[symbol_index(p, SYMBOL_OPTIMIZER, s)];
        for (int part = 0; part < PART_COUNT; part++)
            x->send_epilogue_ns[part] = durations[symbol_index(p, SYMBOL_SEND_EPILOGUE + part, s)];
        for (int i = 0; i < to->layout.slice_count; i++)
            take_slice(&x->slices[i], durations, p, s, i);
    }
    to->embedding_sync_ns = durations[symbol_index(p, SYMBOL_EMBEDDING_SYNC, 0)];
}

enum status plan_for_run(struct plan *to, const struct plan *plan, const struct plan_run *run,
                         struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct priced priced;
    struct graph *graph;
    struct error unpriced = {OK, ""};
    struct schedule_request request = plan_request(plan);
    const struct problem *found = run->with == RUNNER_OWN ? origin_whole_problem(plan, arena)
                                                          : NULL;
    *to = *plan;
    if (!found || !plan->stage_count || plan->placement) return OK;
    struct problem problem = problem_with_layout(found, &plan->layout);
    problem.costs = without_factors(&found->costs, arena);
    TRY(schedule_build(&schedule, &request, arena, err));
    TRY(graph_compile(&graph, &schedule, arena, err));
    if (price_problem(&priced, &problem, arena, &unpriced) != OK) return OK;
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    if (!objective_durations(durations, plan, &priced, &schedule, arena)) return OK;
    take_claims(to, durations, arena);
    to->iteration_ns = graph_longest(graph, durations, NULL);
    to->runner_up_ns = 0;
    return range_of_plan(to, &problem, arena, err);
}
