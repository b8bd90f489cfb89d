// A first look at a layout with its schedule and choices: a short search for a plan, then boxes
// closed or bounded by mixtures of paths, against the best plan of any layout. The effort is a
// number of replays (0: no search) and boxes (0: only the search for a plan), never a time.

#include "formulate/graph/objective.h"
#include "solve/boxes/search.h"
#include "solve/incumbent/incumbent.h"
#include "solve/layouts/work.h"

enum { OPERATIONS = 4 * 1000 * 1000, REPLAYS_LEAST = 10 };

enum status layout_root(struct layout_answer *a, const struct layouts_context *x,
                        const struct priced *priced, int64_t cutoff_ns, struct layout_effort effort,
                        struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    *a = (struct layout_answer){.plan = {.layout = priced->layout}};
    TRY(schedule_build_priced(&schedule, priced, arena, err));
    TRY(choices_build(&choices, priced, &schedule, arena, err));
    if (choices_hopeless_stage(&choices, &a->reason) >= 0) {
        a->finished = a->infeasible = true;
        return OK;
    }
    TRY(objective_batch_graph(&graph, priced, &schedule, arena, err));
    struct incumbent best = {0};
    int64_t replays = OPERATIONS / (schedule.operation_count + 1); // large graphs get fewer
    replays = replays < effort.replays ? replays + REPLAYS_LEAST : effort.replays;
    if (effort.replays)
        incumbent_search(&best, &choices, graph, (uint64_t)x->settings->seed, replays,
                         layouts_should_stop, (void *)(uintptr_t)x, arena);
    if (best.found) choices_to_plan(&a->plan, &choices, best.chosen, best.iteration_ns, arena);
    if (!effort.boxes) return OK;
    int64_t target_ns = best.found ? best.iteration_ns : INT64_MAX;
    if (cutoff_ns > 0 && cutoff_ns < target_ns) target_ns = cutoff_ns;
    struct box_search_settings settings = {.target_ns = target_ns,
                                           .gap = x->settings->gap,
                                           .boxes_max = effort.boxes,
                                           .should_stop = layouts_should_stop,
                                           .argument = (void *)(uintptr_t)x};
    struct box_search_result r;
    box_search(&r, &choices, graph, &settings, arena);
    if (r.found_better) choices_to_plan(&a->plan, &choices, r.found, r.best_ns, arena);
    a->finished = r.finished;
    a->infeasible = r.finished && r.best_ns == INT64_MAX;
    a->bound_ns = r.bound_ns;
    a->plan.effort.boxes = r.boxes;
    assert(a->bound_ns >= 0 && (!a->plan.stage_count || a->bound_ns <= a->plan.iteration_ns));
    return OK;
}

enum status layout_root_of_widths(struct layout_answer *a, const struct layouts_context *x,
                                  const struct priced *priced,
                                  const struct solve_settings *settings, int64_t cutoff_ns,
                                  struct arena *arena, struct error *err)
{
    enum { WIDTHS_REPLAYS = 50 };
    struct solve_result begun;
    TRY(solve_start(&begun, priced, settings, WIDTHS_REPLAYS, x->stop, arena, err));
    const struct plan *plan = &begun.plan;
    int64_t ns = plan->stage_count ? plan->iteration_ns : 0;
    if (ns && (cutoff_ns <= 0 || ns < cutoff_ns)) cutoff_ns = ns;
    TRY(layout_root(a, x, priced, cutoff_ns, (struct layout_effort){0, 1}, arena, err));
    struct plan_effort effort = a->plan.effort;
    if (priced->width_per_group && a->plan.stage_count)
        a->plan.stage_count = 0, a->finished = false;
    if (ns && (!a->plan.stage_count || ns < a->plan.iteration_ns)) a->plan = *plan;
    a->plan.effort = effort;
    a->one_width_ns = begun.one_width_ns, a->one_width_group = begun.one_width_group;
    return OK;
}
