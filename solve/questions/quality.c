// The quality cost of compression: the sum of the options' costs, then how many options are taken.
// Minimizes it among plans of equal time, and finds the Pareto front of time and quality cost.
// docs/FORMULAS.md 7.
#include <inttypes.h>

#include "solve/questions/question.h"
#include "solve/report/report.h"

// More than everything that can be compressed: a boundary and a sync of each stage.
enum { TAKEN_MOST = 2 * STAGES_MAX + 1 };
static const int64_t cost_most = 1 << 20; // of an option; above this, sums in rows are not exact

static struct quality quality_of_stage(const struct plan *p, const struct plan_stage *s)
{
    const struct compression_option *gradient = &p->gradient_options[s->gradient_option],
                                    *boundary = &p->boundary_options[s->boundary_option];
    return (struct quality){gradient->quality_cost + boundary->quality_cost,
                            (gradient->form.amount > 0) + (boundary->form.amount > 0)};
}

static struct quality quality_of(const struct plan *p)
{
    struct quality sum = {0, 0};
    for (int s = 0; s < p->stage_count; s++) {
        struct quality q = quality_of_stage(p, &p->stages[s]);
        sum.cost += q.cost, sum.taken += q.taken;
    }
    return sum;
}

// Both as one number that keeps the order.
static int64_t worth_of(struct quality q) { return q.cost * TAKEN_MOST + q.taken; }

static struct compression_option *weigh(const struct compression_option *options, int count,
                                        struct arena *arena)
{
    struct compression_option *weighed = TAKE_COPY(arena, options, count);
    for (int i = 0; i < count; i++)
        weighed[i].quality_cost = worth_of((struct quality){options[i].quality_cost, 1});
    return weighed;
}

// The problem with these numbers as the options' costs, and at most `most` of them in total. If
// `most` allows no more than the problem's budget, neither do its plans.
static struct problem limited(const struct problem *problem, int64_t most, struct arena *arena)
{
    struct problem p = *problem;
    struct job *j = &p.job;
    j->gradient_options = weigh(j->gradient_options, j->gradient_option_count, arena);
    j->boundary_options = weigh(j->boundary_options, j->boundary_option_count, arena);
    j->budget.cost_max = most;
    return p;
}

static bool is_weighable(const struct job *j)
{
    for (int i = 0; i < j->gradient_option_count; i++)
        if (j->gradient_options[i].quality_cost > cost_most) return false;
    for (int i = 0; i < j->boundary_option_count; i++)
        if (j->boundary_options[i].quality_cost > cost_most) return false;
    return true;
}

// Takes the decision of another plan of the same layout, with options as in the job.
static void take_decision(struct plan *plan, const struct plan *other)
{
    struct plan was = *plan;
    *plan = *other;
    plan->outcome = was.outcome, plan->reason = was.reason, plan->bound_ns = was.bound_ns;
    plan->gap_asked = was.gap_asked, plan->seed = was.seed, plan->effort = was.effort;
    plan->runner_up_ns = was.runner_up_ns, plan->runner_up_inside = was.runner_up_inside;
    plan->gradient_options = was.gradient_options;
    plan->boundary_options = was.boundary_options;
    plan->outcome = plan_outcome(plan);
}

// The progress of one of these searches is shown as that of the whole.
struct telling {
    const struct solve_settings *of_search;
    const struct plan *plan;
    struct watch watch;
    int64_t most; // quality cost that it searches for
};

static void tell(void *argument, const struct solve_progress *p)
{
    const struct telling *t = argument;
    char text[160];
    double seconds = t->plan->effort.seconds + watch_elapsed_s(&t->watch);
    (void)p;
    snprintf(text, sizeof text,
             "%8.1f s  plan %.9f s  bound %.9f s  the least quality cost: is %" PRId64
             " with %" PRId64 " compressed enough?",
             seconds, (double)t->plan->iteration_ns / 1e9, (double)t->plan->bound_ns / 1e9,
             t->most / TAKEN_MOST, t->most % TAKEN_MOST);
    solve_tell(t->of_search,
               &(struct solve_progress){seconds, t->plan->iteration_ns, t->plan->bound_ns, text});
}

static bool is_asked(const struct plan *plan, const struct job *job, const struct solve_settings *s)
{
    return plan->stage_count && worth_of(quality_of(plan)) && !plan->placement &&
           is_weighable(job) && plan->objective == OBJECTIVE_ITERATION_TIME &&
           s->engine == ENGINE_TREE;
}

static enum status lower_quality(struct plan *plan, const struct problem *problem,
                                 struct telling *telling, struct arena *arena, struct error *err)
{
    enum { BOXES_MOST = 5000 };
    struct question question = {.like = telling->of_search,
                                .watch = &telling->watch,
                                .gap = telling->of_search->gap,
                                .cutoff_ns = plan->iteration_ns + 1,
                                .boxes_max = BOXES_MOST,
                                .tell = tell,
                                .tell_argument = telling};
    int64_t none = -1, most = worth_of(quality_of(plan));
    for (int64_t at = most - 1; none + 1 < most; at = none + (most - none) / 2) {
        struct problem *weighed = TAKE(arena, 1, struct problem);
        struct solved found;
        enum answer answer;
        question.problem = weighed, *weighed = limited(problem, at, arena), telling->most = at;
        TRY(question_ask(&answer, &found, &question, arena, err));
        if (!found.result) return OK;
        struct plan *better = &found.result->plan;
        better->effort.seconds = 0; // those of the whole are counted at the end
        plan_effort_add(&plan->effort, &better->effort);
        if (answer == ANSWER_OPEN) return OK;
        if (answer == ANSWER_NONE) {
            none = at;
            continue;
        }
        take_decision(plan, better);
        most = worth_of(quality_of(plan));
        question.cutoff_ns = plan->iteration_ns + 1;
    }
    return OK;
}

enum status solve_least_quality(struct plan *plan, const struct problem *problem,
                                const struct solve_settings *of_search, const volatile int *stop,
                                struct arena *arena, struct error *err)
{
    struct telling telling = {of_search, plan, watch_begin(stop, of_search->time_limit_s), 0};
    if (!is_asked(plan, &problem->job, of_search)) return OK;
    enum status status = lower_quality(plan, problem, &telling, arena, err);
    plan->effort.seconds += watch_elapsed_s(&telling.watch);
    return status;
}

// ---- the front

static enum status next_point(struct front_point *point, bool *found,
                              const struct front_point *before, const struct problem *problem,
                              const struct question *like, struct arena *arena, struct error *err)
{
    struct problem *less = TAKE(arena, 1, struct problem);
    struct question question = *like;
    struct solve_settings rest = *like->like;
    struct solved solved;
    enum answer answer;
    question.problem = less, *less = limited(problem, worth_of(before->quality) - 1, arena);
    TRY(question_ask(&answer, &solved, &question, arena, err));
    *found = answer == ANSWER_PLAN;
    if (!*found) return OK;
    const struct plan *plan = &solved.result->plan;
    *point = (struct front_point){.plan = before->plan, .bound_ns = plan->bound_ns};
    take_decision(&point->plan, plan);
    point->one = problem_with_layout(problem, &plan->layout);
    rest.time_limit_s = watch_left_s(like->watch);
    if (!watch_is_over(like->watch))
        TRY(solve_least_quality(&point->plan, &point->one, &rest, like->watch->stop, arena, err));
    point->quality = quality_of(&point->plan);
    return OK;
}

enum status solve_front(struct front_point *points, int *count, const struct solved *first,
                        const struct solve_settings *of_search, int most, const volatile int *stop,
                        struct arena *arena, struct error *err)
{
    const struct plan *plan = &first->result->plan;
    const struct watch watch = watch_begin(stop, watch_left_s(&first->watch));
    const struct question like = {.like = of_search,
                                  .watch = &watch,
                                  .gap = of_search->gap,
                                  .boxes_max = of_search->boxes_max};
    bool found = plan->stage_count > 0;
    *count = found;
    if (!found) return OK;
    if (!is_weighable(&first->problem->job))
        return refuse(err, "%s: quality_cost: expected at most %" PRId64 " with --front",
                      first->problem->job.document.path, cost_most);
    points[0] = (struct front_point){*plan, *first->one, plan->bound_ns, quality_of(plan)};
    while (*count < most && worth_of(points[*count - 1].quality)) {
        TRY(next_point(&points[*count], &found, &points[*count - 1], first->problem, &like, arena,
                       err));
        if (!found) return OK;
        ++*count;
    }
    return OK;
}

const char *solve_front_text(const struct front_point *points, int count, size_t *length,
                             struct arena *arena)
{
    static const char *const headings[] = {"",          "quality cost", "compressed",
                                           "iteration", "slower by",    "no plan so good below"};
    struct text out;
    struct report_table t;
    text_begin(&out, arena);
    report_table_begin(&t, headings, "rrrrrr", arena);
    for (int i = 0; i < count; i++) {
        const struct front_point *p = &points[i];
        double fastest = (double)points[0].plan.iteration_ns;
        report_cell(&t, arena_print(arena, "%d", i + 1));
        report_cell(&t, arena_print(arena, "%" PRId64, p->quality.cost));
        report_cell(&t, arena_print(arena, "%d", p->quality.taken));
        report_cell(&t, report_time(p->plan.iteration_ns, arena));
        report_cell(
            &t, arena_print(arena, "%.4f %%", 100 * ((double)p->plan.iteration_ns / fastest - 1)));
        report_cell(&t, report_time(p->bound_ns, arena));
    }
    text_put(&out,
             "Time against quality: each the fastest plan with a lower quality cost than the one "
             "before; bounds after the first: %s\n",
             bound_claim_names[CLAIM_STATED]);
    report_table_print(&out, &t);
    *length = out.length;
    return out.text;
}
