// Best-first search over a space of layouts, in rounds: a round's requests to the workers depend on
// what was known before it, never on the workers' number or speed. A bound only rises; the answer's
// bound is the least of all layouts' bounds.

#include "data/base/least.h"
#include "formulate/graph/objective.h"
#include "solve/layouts/search.h"

static int64_t best_known_ns(const struct search *s)
{
    int64_t best = s->best.stage_count ? s->best.iteration_ns : 0;
    bool first = s->first.stage_count && (!best || s->first.iteration_ns < best);
    return first ? s->first.iteration_ns : best;
}

bool layouts_is_over(const struct search *s) { return watch_is_over(&s->watch); }

int64_t layouts_closing_ns(const struct search *s)
{
    return s->best.stage_count ? frontier_closing_ns(&s->frontier) : INT64_MAX;
}

int64_t layouts_closing_anyway_ns(const struct search *s)
{
    struct frontier anyway = s->frontier;
    int64_t best_ns = best_known_ns(s);
    anyway.best_ns = best_ns;
    return best_ns ? frontier_closing_ns(&anyway) : INT64_MAX;
}

void layouts_put_in_line(struct search *s, struct candidate *c)
{
    frontier_push(&s->frontier, c->bound_ns, c->number, c);
}

// ---- progress

// What is proven for all layouts: for those in the queue and outside the window, the first one's
// bound; the others are closed at a bound that the best plan's time less the gap does not exceed.
static int64_t bound_so_far_ns(const struct search *s)
{
    int64_t bound = smaller(layouts_closing_ns(s), frontier_open_ns(&s->frontier));
    if (s->order_next < s->order_count)
        bound = smaller(bound, s->layouts->value[s->order[s->order_next]]);
    return larger(bound < INT64_MAX ? bound : 0, s->frontier.reported_ns);
}

static void report_now(struct search *s)
{
    char plan[32] = "none", text[256];
    int64_t bound_ns = bound_so_far_ns(s), value_ns = best_known_ns(s);
    s->shown_s = clock_s();
    // A part's bound is on its own layouts: plans of other parts, which come later, may take less.
    if (s->task.part.count) value_ns = 0;
    else if (value_ns) bound_ns = smaller(bound_ns, value_ns);
    s->frontier.reported_ns = bound_stated(bound_ns, value_ns, s->frontier.reported_ns);
    if (best_known_ns(s)) snprintf(plan, sizeof plan, "%.9f s", (double)best_known_ns(s) / 1e9);
    // The load is that of a whole batch here, and of one micro-batch in plans.
    if (!s->task.part.count && s->problem->job.objective != OBJECTIVE_MAX_LOAD)
        solve_keep_bound(s->settings, s->problem, s->frontier.reported_ns);
    double seconds = s->shown_s - s->watch.begin_s;
    snprintf(text, sizeof text,
             "%8.1f s  plan %s  bound%s %.9f s  layouts %d solved, %d queued, %lld unexamined",
             seconds, plan, s->task.part.count ? " of this part" : "",
             (double)s->frontier.reported_ns / 1e9, s->looked_at_count, s->frontier.count,
             (long long)(s->order_count - s->order_next));
    solve_tell(s->settings,
               &(struct solve_progress){seconds, best_known_ns(s), s->frontier.reported_ns, text});
}

static void report(struct search *s)
{
    bool asked = solve_tells(s->settings) || solve_keeps(s->settings, s->problem);
    if (asked && clock_s() - s->shown_s >= 0.5) report_now(s);
}

void layouts_report_scan(struct search *s, const char *text)
{
    char plan[64] = "no plan yet", bound[64] = "no bound yet", line[256];
    int64_t bound_ns = s->frontier.reported_ns;
    s->shown_s = clock_s();
    if (!solve_tells(s->settings)) return;
    if (bound_ns) snprintf(bound, sizeof bound, "bound %.9f s", (double)bound_ns / 1e9);
    if (best_known_ns(s))
        snprintf(plan, sizeof plan, "plan %.9f s", (double)best_known_ns(s) / 1e9);
    double seconds = watch_elapsed_s(&s->watch);
    snprintf(line, sizeof line, "%8.1f s  %s  %s  %s", seconds, plan, bound, text);
    solve_tell(s->settings, &(struct solve_progress){seconds, best_known_ns(s), bound_ns, line});
}

void layouts_report_groups(struct search *s, const char *text)
{
    const struct layouts *l = s->layouts;
    int64_t best_ns = best_known_ns(s), least_ns = INT64_MAX;
    for (int64_t i = 0; i < l->count; i++)
        if (!layout_fate_has_no_plan(layouts_fate(l, i))) least_ns = smaller(least_ns, l->value[i]);
    if (s->task.part.count || least_ns == INT64_MAX) return;
    s->frontier.reported_ns = bound_stated(best_ns ? smaller(least_ns, best_ns) : least_ns, best_ns,
                                           s->frontier.reported_ns);
    if (s->problem->job.objective != OBJECTIVE_MAX_LOAD)
        solve_keep_bound(s->settings, s->problem, s->frontier.reported_ns);
    layouts_report_scan(s, text);
}

// ---- the whole

static enum status run(struct search *s, struct error *err)
{
    struct candidate *round[ROOT_ROUND];
    for (struct candidate *c; (c = layouts_first_in_line(s)) &&
                              c->bound_ns < layouts_closing_ns(s) && !layouts_is_over(s);
         report(s)) {
        int count;
        enum candidate_level level = c->level;
        if (s->false_bound >= 0) break;
        if (level == LEVEL_SOLVED) break; // a layout that cannot be closed
        if (level == LEVEL_SCANNED) {
            if (!layouts_sharpen_round(s)) break;
            continue;
        }
        layouts_exchange_plans(s);
        TRY(layouts_choose_round(s, level, round, &count, err));
        if (count && !layouts_look_round(s, level == LEVEL_SHARPENED ? REQUEST_ROOT : REQUEST_SOLVE,
                                         round, count))
            break;
    }
    return OK;
}

// Workers may be busy with one layout for minutes: what is known is told again meanwhile.
static void tell_again(void *search)
{
    enum { SILENCE_S = 5 };
    struct search *s = search;
    char text[96];
    if (clock_s() - s->shown_s < SILENCE_S) return;
    if (s->order) // otherwise the queue is still to come
        snprintf(text, sizeof text, "layouts %d solved, %d queued, %lld unexamined, some at work",
                 s->looked_at_count, s->frontier.count,
                 (long long)(s->order_count - s->order_next));
    else snprintf(text, sizeof text, "%lld layouts are bounded", (long long)s->layouts->count);
    layouts_report_scan(s, text);
}

static bool is_stopped(void *search)
{
    struct search *s = search;
    tell_again(s);
    return shared_stop_asked(&s->stop);
}

bool layouts_ask(struct search *s, struct message *requests, int count, struct message *answers)
{
    const char *why = NULL;
    bool whole = worker_pool_run(s->pool, requests, count, answers, is_stopped, s, &why, s->arena);
    if (why) s->sidelined = why;
    return whole;
}

enum status layouts_state_objective(struct plan *plan, const struct problem *problem,
                                    struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct problem *one = TAKE(arena, 1, struct problem);
    plan->objective = problem->job.objective;
    if (plan->objective == OBJECTIVE_ITERATION_TIME) return OK;
    if (plan->objective == OBJECTIVE_COST) {
        plan->objective_ns = plan->stage_count ? plan->iteration_ns : 0;
        if (plan->stage_count)
            plan->iteration_ns /= problem_layout_worth(problem, &plan->layout).weight;
        return OK;
    }
    if (!plan->stage_count) plan->bound_ns = 0; // no layout that states a micro-batch
    if (!plan->stage_count) return OK;
    *one = problem_with_layout(problem, &plan->layout);
    TRY(price_problem(priced, one, arena, err));
    TRY(schedule_build_priced(&schedule, priced, arena, err));
    TRY(objective_state_batch(plan, priced, &schedule, arena, err));
    plan->outcome = plan_outcome(plan);
    return OK;
}

void layouts_keep_plan(struct search *s, const struct plan *plan)
{
    struct arena own;
    struct plan stated = *plan;
    struct error unstated = {OK, ""};
    if (!solve_keeps(s->settings, s->problem)) return;
    arena_open(&own, s->arena->exit);
    if (layouts_state_objective(&stated, s->problem, &own, &unstated) == OK)
        solve_keep_plan(s->settings, s->problem, &stated, plan->iteration_ns);
    arena_close(&own);
}

static enum status begin(struct search *s, struct layouts_result *r, struct error *err)
{
    const struct problem *p = s->problem;
    TRY(shared_stop_open(&s->stop, &s->watch, s->arena, err));
    s->limits = problem_space_limits(p);
    s->layouts = &r->layouts;
    r->layouts = layouts_of(p, s->settings->gap);
    TRY(layouts_prepare_scan(s, err));
    TRY(layouts_take_known(s, err));
    bool here = !s->settings->threads;
    s->context = (struct layouts_context){p,
                                          s->settings,
                                          &s->index,
                                          here && s->watch.stop ? s->watch.stop : s->stop.flag,
                                          here ? &s->watch : NULL,
                                          tell_again,
                                          s};
    struct worker_settings workers = {.count = s->settings->threads,
                                      .memory_limit_bytes = s->settings->memory_limit_bytes,
                                      .run = layouts_serve,
                                      .context = &s->context};
    return worker_pool_open(&s->pool, &workers, s->arena, err);
}

enum status layouts_search(struct layouts_result *r, const struct problem *problem,
                           const struct solve_settings *settings, const struct layouts_task *task,
                           const volatile int *stop, struct arena *arena, struct error *err)
{
    struct search s = {.problem = problem,
                       .settings = settings,
                       .frontier = {.best_ns = INT64_MAX,
                                    .gap = settings->gap,
                                    .ended_ns = INT64_MAX,
                                    .arena = arena},
                       .false_bound = -1,
                       .watch = watch_begin(stop, settings->time_limit_s),
                       .best_number = -1,
                       .arena = arena};
    if (task) s.task = *task;
    *r = (struct layouts_result){0};
    TRY(problem_check(problem, err));
    TRY(begin(&s, r, err));
    bool begun = s.best.stage_count != 0;
    if (!begun) layouts_find_first(&s);
    if (layouts_is_large(&s) && !layouts_is_over(&s)) layouts_scout_degrees(&s);
    layouts_report_scan(&s, "groups of layouts are bounded, then priced");
    if (!layouts_is_over(&s) && layouts_scan(&s)) {
        layouts_sort_open(&s);
        bool mixed = job_mixes_layouts(&problem->job); // whose first looks do more than scouts
        if (!begun && !layouts_is_large(&s) && !mixed) layouts_scout(&s);
        TRY(run(&s, err));
        layouts_derive_again(&s);
    }
    worker_pool_close(s.pool);
    layouts_take_first(&s);
    layouts_exchange_plans(&s);
    TRY(layouts_refuse_false(&s, err));
    layouts_settle_followers(&s);
    r->solved.sidelined = s.sidelined;
    s.effort.seconds = watch_elapsed_s(&s.watch);
    plan_effort_add(&s.effort, &s.task.effort);
    layouts_end(r,
                &(struct layouts_end){.problem = problem,
                                      .settings = settings,
                                      .best = s.best,
                                      .best_number = s.best_number,
                                      .effort = s.effort,
                                      .closing_ns = layouts_closing_ns(&s),
                                      .reported_ns = s.task.part.count ? 0 : s.frontier.reported_ns,
                                      .part = s.task.part,
                                      .work = s.work,
                                      .work_count = s.work_count},
                arena);
    r->solved.one_width_ns = s.one_width_ns, r->solved.one_width_group = s.one_width_group;
    r->rests_on_known = layouts_rest_on_known(&s);
    int64_t value_ns = r->solved.plan.iteration_ns;
    TRY(layouts_state_objective(&r->solved.plan, problem, arena, err));
    if (!r->solved.plan.stage_count) return OK;
    solve_keep_plan(settings, problem, &r->solved.plan, value_ns);
    solve_keep_bound(settings, problem, r->solved.plan.bound_ns);
    return OK;
}
