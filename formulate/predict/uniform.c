// The plan for a placement: the same layout, with all claims of a plan and no bound.
#include "formulate/choices/choice.h"
#include "formulate/predict/internal.h"
#include "formulate/price/price.h"

// Exactly one choice at every stage. BAD_INPUT: the placement has other stages or layers, or a rank
// has no room.
static enum status decide(struct choices *c, const struct placement *placement, struct error *err)
{
    struct prediction refused = {0};
    struct choice *decided = TAKE(c->arena, c->priced->stage_count, struct choice);
    if (!predict_place_groups(c->priced, &c->schedule->request, decided, &refused) ||
        !predict_place_layers(placement, c->priced, decided, &refused))
        return refuse(err, "%s", refused.reason);
    c->stages = TAKE(c->arena, c->priced->stage_count, struct stage_choices);
    for (int s = 0; s < c->priced->stage_count; s++) {
        c->stages[s] = (struct stage_choices){&decided[s], 1};
        choice_evaluate(c, s, &decided[s]);
    }
    choices_prepare_ranks(c);
    return OK;
}

enum status placement_plan(struct plan *plan, const struct problem *problem,
                           const struct placement *placement, struct arena *arena,
                           struct error *err)
{
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct schedule *schedule = TAKE(arena, 1, struct schedule);
    struct graph *graph;
    TRY(price_problem(priced, problem, arena, err));
    struct schedule_request request = schedule_request_of(priced);
    TRY(schedule_build(schedule, &request, arena, err));
    TRY(graph_compile(&graph, schedule, arena, err));
    struct choices c = {.priced = priced,
                        .schedule = schedule,
                        .free_from = priced->layer_count,
                        .virtual_stages = request.virtual_stages,
                        .rank_count = request.rank_count,
                        .arena = arena};
    TRY(decide(&c, placement, err));
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    int *chosen = TAKE(arena, priced->stage_count, int);
    if (!choices_durations(&c, chosen, durations))
        return refuse(err, "no link connects two neighbouring stages");
    choices_to_plan(plan, &c, chosen, graph_longest(graph, durations, NULL), arena);
    return OK;
}

bool placement_fits(const struct plan *plan)
{
    struct schedule_request request = plan_request(plan);
    for (int s = 0; s < (plan->ranks ? plan->layout.pipeline : plan->stage_count); s++) {
        const struct memory_parts *m = plan->ranks ? &plan->ranks[s].memory
                                                   : &plan->stages[s].memory;
        if (memory_total(m) > plan->stages[schedule_stage_of(&request, s, 0)].memory_limit_bytes)
            return false;
    }
    return true;
}

void predictor_problem(const struct predictor *p, struct problem *problem,
                       struct placement *placement, struct arena *arena)
{
    struct job *j = &problem->job;
    *problem = p->problem, *placement = p->placement;
    problem->model.runs = TAKE_COPY(arena, problem->model.runs, problem->model.run_count);
    problem->cluster.groups =
        TAKE_COPY(arena, problem->cluster.groups, problem->cluster.group_count);
    j->boundary_options = TAKE_COPY(arena, j->boundary_options, j->boundary_option_count);
    j->gradient_options = TAKE_COPY(arena, j->gradient_options, j->gradient_option_count);
}
