// A space whose layouts differ by their number of stages alone, where replicas take whole
// micro-batches in turn (docs/FORMULAS.md 23): one table over all numbers of stages has the least
// load (solve/layout/turns.c), then its number of stages is solved for that load.
#include "data/base/least.h"
#include "data/results/bound.h"
#include "solve/layouts/work.h"

enum { STAGES_LEAST = 3 }; // of the document that is priced: a first, a middle and a last stage

static bool is_listed(const struct space_axis *axis, int value)
{
    for (int i = 0; i < axis->count; i++)
        if (axis->values[i] == value) return true;
    return false;
}

// The most stages that a plan may have.
static int stages_most(const struct problem *p)
{
    int64_t devices = (int64_t)p->cluster.groups[0].nodes * p->cluster.groups[0].gpus_per_node;
    return (int)smaller(devices, p->model.layer_count);
}

// Links within a node are shared by what its devices hold, which depends on the number of stages.
static bool prices_are_alike(const struct problem *p)
{
    for (int i = 0; i < p->model.run_count; i++)
        if (p->model.runs[i].kind != LAYER_MEASURED) return false;
    return p->cluster.group_count == 1 && p->cluster.groups[0].gpus_per_node == 1 &&
           p->job.layout.zero == 0;
}

bool layouts_in_one_table(const struct problem *p, const struct layouts_task *task)
{
    const struct space *space = &p->job.space;
    bool known = task && (task->known || task->plan.stage_count || task->exchange ||
                          task->part.count || task->effort.boxes);
    if (p->job.replicas != REPLICAS_IN_TURN || known || !prices_are_alike(p)) return false;
    if (p->job.iteration_limit_s > 0 || problem_counts_devices(p)) return false;
    for (int key = 0; key < SPACE_KEY_COUNT; key++)
        if (key != SPACE_PIPELINE && space->axes[key].kind != AXIS_FIXED) return false;
    for (int stages = 2; stages <= stages_most(p); stages++)
        if (!is_listed(&space->axes[SPACE_PIPELINE], stages)) return false;
    return stages_most(p) >= STAGES_LEAST;
}

struct table {
    const struct problem *problem;
    const struct solve_settings *settings;
    struct layouts_result *r;
    struct layout middle, best; // of STAGES_LEAST; of the best number, which is chosen
    int64_t chosen;
    int stages; // wanted; 0: none
    bool empty; // no number of stages has a plan
    struct arena *arena;
};

// A layout that is not refused has the bound of all; the best one is solved.
static bool take_layout(void *argument, int64_t number, const struct layout *layout)
{
    struct table *t = argument;
    struct layouts *l = &t->r->layouts;
    struct problem one = problem_with_layout(t->problem, layout);
    struct error err = {0};
    bool refused = problem_check_layout(&one, &err) != OK,
         is_best = t->stages && layout->pipeline == t->stages && !refused;
    if (layout->pipeline == STAGES_LEAST && !refused) t->middle = *layout;
    if (is_best) t->best = *layout, t->chosen = number;
    enum layout_fate fate = refused    ? FATE_REFUSED
                            : t->empty ? FATE_INFEASIBLE
                            : is_best  ? FATE_SOLVED
                                       : FATE_OPEN;
    const char *why = refused    ? layouts_plain_reason(err.text, t->problem, t->arena)
                      : t->empty ? "no widths have room for all layers, with replicas in turn"
                      : is_best  ? "its best plan is known to the gap"
                                 : "its bound leaves room for a better plan";
    l->reason[number] = (uint16_t)layouts_reason(l, fate, why, t->arena);
    l->value[number] = refused || t->empty ? 0 : t->r->solved.plan.bound_ns;
    return true;
}

static void each_layout(struct table *t, int stages)
{
    const struct space_limits limits = problem_space_limits(t->problem);
    t->stages = stages, t->chosen = -1;
    space_each(&t->problem->job.space, &limits, take_layout, t);
}

// The plan of the best number of stages, whose load is known.
static enum status find_plan(struct table *t, const struct any_stages *a, const volatile int *stop,
                             struct plan *plan, struct error *err)
{
    struct problem *one = TAKE(t->arena, 1, struct problem);
    struct priced *priced = TAKE(t->arena, 1, struct priced);
    struct solve_settings settings = *t->settings;
    struct solve_result r;
    *one = problem_with_layout(t->problem, &t->best);
    TRY(price_problem(priced, one, t->arena, err));
    settings.whole_batch = true, settings.progress = settings.alternatives = 0;
    settings.time_limit_s = 0, settings.keep_of = NULL;
    settings.cutoff_ns = (a->load_ns + 1) * priced->micro_batches;
    settings.known_bound_ns = a->bound_ns * priced->micro_batches;
    TRY(solve_run(&r, priced, &settings, NULL, stop, t->arena, err));
    *plan = r.plan;
    return OK;
}

static void end_table(struct table *t, const struct any_stages *a, struct plan *plan)
{
    struct layouts_work *work = TAKE(t->arena, 1, struct layouts_work);
    int64_t best_ns = plan->stage_count ? plan->iteration_ns : 0;
    *work = (struct layouts_work){t->chosen, best_ns, -1, a->effort.boxes};
    layouts_end(t->r,
                &(struct layouts_end){
                    .problem = t->problem,
                    .settings = t->settings,
                    .best = *plan,
                    .best_number = t->chosen,
                    .effort = a->effort,
                    .closing_ns = best_ns ? bound_closing(best_ns, t->settings->gap, 0) : INT64_MAX,
                    .work = work,
                    .work_count = best_ns > 0},
                t->arena);
}

enum status layouts_search_table(struct layouts_result *r, const struct problem *problem,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err)
{
    struct table t = {.problem = problem, .settings = settings, .r = r, .arena = arena};
    struct watch watch = watch_begin(stop, settings->time_limit_s);
    struct space_limits limits = problem_space_limits(problem);
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct problem *one = TAKE(arena, 1, struct problem);
    struct any_stages a;
    struct plan plan = {0};
    *r = (struct layouts_result){.layouts = layouts_of(problem, settings->gap)};
    TRY(problem_check(problem, err));
    r->layouts.count = space_each(&problem->job.space, &limits, NULL, NULL);
    r->layouts.reason = TAKE(arena, r->layouts.count, uint16_t);
    r->layouts.value = TAKE(arena, r->layouts.count, int64_t);
    each_layout(&t, 0);
    *one = problem_with_layout(problem, &t.middle);
    TRY(price_problem(priced, one, arena, err));
    bool alone = is_listed(&problem->job.space.axes[SPACE_PIPELINE], 1);
    TRY(solve_any_stages(&a, priced, alone, settings, stop, arena, err));
    t.empty = a.finished && !a.stages;
    if (!t.empty) r->solved.plan.bound_ns = a.bound_ns * priced->micro_batches;
    each_layout(&t, a.stages);
    if (t.chosen >= 0) TRY(find_plan(&t, &a, stop, &plan, err));
    a.effort.seconds = watch_elapsed_s(&watch);
    end_table(&t, &a, &plan);
    TRY(layouts_state_objective(&r->solved.plan, problem, arena, err));
    if (r->solved.plan.stage_count) solve_keep_bound(settings, problem, r->solved.plan.bound_ns);
    return OK;
}
