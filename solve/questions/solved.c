// A problem solved: priced, searched (in a process of its own, solve/process/supervise.h), judged.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "data/base/least.h"
#include "formulate/price/range.h"
#include "solve/questions/question.h"
#include "solve/layouts/work.h"
#include "solve/judge/verify.h"
#include "solve/places/named.h"
#include "solve/places/space/space.h"

enum status solve_prepare(struct solved *s, const struct problem *problem, struct arena *arena,
                          struct error *err)
{
    *s = (struct solved){.problem = problem,
                         .one = problem,
                         .judged = problem,
                         .priced = TAKE(arena, 1, struct priced)};
    if (problem->job.space.given) return problem_check_places(problem, err);
    return price_problem(s->priced, problem, arena, err);
}

// The job of one layout does not state cost and limits, so the space's problem is judged.
static const struct problem *judged_of(const struct solved *s)
{
    struct layout_worth worth = problem_layout_worth(s->problem, &s->result->plan.layout);
    bool limited = worth.cap_ns < INT64_MAX || problem_counts_devices(s->problem);
    return limited ? s->problem : s->one;
}

// After the search of a space: prices the layout of its plan, and finds what it is judged by.
static enum status solve_take_layout(struct solved *s, struct arena *arena, struct error *err)
{
    struct problem *one = TAKE(arena, 1, struct problem);
    *one = problem_with_layout(s->problem, &s->result->plan.layout);
    s->one = one;
    s->judged = judged_of(s);
    return s->result->plan.stage_count ? price_problem(s->priced, one, arena, err) : OK;
}

static enum status find_in_space(struct solved *s, const struct solve_settings *settings,
                                 const struct layouts_task *task, const volatile int *stop,
                                 struct arena *arena, struct error *err)
{
    const struct problem *p = s->problem;
    s->space = TAKE(arena, 1, struct layouts_result);
    s->result = &s->space->solved;
    if (layouts_in_one_table(p, task))
        TRY(layouts_search_table(s->space, p, settings, stop, arena, err));
    else
        TRY((p->cluster.places.node_count ? placed_space_search : layouts_search)(
            s->space, p, settings, task, stop, arena, err));
    return solve_take_layout(s, arena, err);
}

enum status solve_find(struct solved *s, const struct solve_settings *settings,
                       const struct solve_from *from, const volatile int *stop, struct arena *arena,
                       struct error *err)
{
    const struct solve_from nothing = {NULL, NULL, NULL};
    if (!from) from = &nothing;
    s->watch = watch_begin(stop, settings->time_limit_s);
    if (s->problem->job.space.given)
        return find_in_space(s, settings, from->task, stop, arena, err);
    s->result = TAKE(arena, 1, struct solve_result);
    if (s->priced->seat_nodes) return named_solve(s->result, s->priced, settings, stop, arena, err);
    if (s->priced->places)
        return placed_solve(s->result, s->priced, settings, from->placed, stop, arena, err);
    return (s->priced->objective == OBJECTIVE_ENERGY ? solve_least_energy : solve_run)(
        s->result, s->priced, settings, from->plan, stop, arena, err);
}

// In the time that is left. Another layout's plan of the same time is not taken for a space's.
static enum status lower_quality(struct solved *s, const struct solve_settings *of_search,
                                 struct arena *arena, struct error *err)
{
    struct solve_settings settings = *of_search;
    struct plan *found = &s->result->plan, plan = *found;
    settings.time_limit_s = watch_left_s(&s->watch);
    if (watch_is_over(&s->watch)) return OK;
    TRY(solve_least_quality(&plan, s->one, &settings, s->watch.stop, arena, err));
    if (!s->space || plan.iteration_ns == found->iteration_ns) *found = plan;
    else found->effort = plan.effort;
    return OK;
}

static void claim_plan(struct plan *plan, const struct solved *s)
{
    plan->claim = s->claim;
    plan->taken_over = s->taken_over, plan->taken_over_count = s->taken_over_count;
}

void solve_claim(struct solved *s, enum bound_claim claim, struct taken_over *files, int count)
{
    s->claim = claim;
    s->taken_over = files, s->taken_over_count = count;
    assert((claim == CLAIM_TAKEN_OVER) == (count > 0) && claim != CLAIM_CERTIFIED);
    claim_plan(&s->result->plan, s);
    for (int i = 0; i < s->result->alternative_count; i++)
        claim_plan(&s->result->alternatives[i], s);
    if (!s->space) return;
    struct layouts *l = &s->space->layouts;
    l->claim = claim, l->taken_over = files, l->taken_over_count = count;
}

enum status solve_search(struct solved *s, const struct solve_settings *settings,
                         const struct solve_from *from, const volatile int *stop,
                         struct arena *arena, struct error *err)
{
    TRY(solve_find(s, settings, from, stop, arena, err));
    TRY(lower_quality(s, settings, arena, err));
    solve_claim(s, claim_of_search(s->problem), NULL, 0);
    return OK;
}

static enum status judge(const struct plan *plan, const struct problem *problem,
                         struct arena *arena, struct error *err)
{
    struct verdict verdict = {.closed_form_ns = -1};
    TRY(verify_plan(&verdict, plan, problem, arena, err));
    if (!verdict.violation_count) return OK;
    return fail(err, SOLVER, "the judge rejects the plan, so it is not written: %s: %s",
                verdict.violations[0].rule, verdict.violations[0].text);
}

enum status solve_settle(struct plan *plan, const struct solved *s, struct arena *arena,
                         struct error *err)
{
    claim_plan(plan, s);
    TRY(range_of_plan(plan, s->one, arena, err));
    TRY(extrapolation_of_plan(plan, s->one, arena, err));
    return plan->stage_count ? judge(plan, s->judged, arena, err) : OK;
}

// ---- the search hands over its plans and bounds

double solve_time_behind_s(double limit_s)
{
    enum { LEAST_S = 60 };
    return limit_s > 0 ? larger_double(limit_s, LEAST_S) : 0;
}

// What a supervised search needs besides its settings.
struct searching {
    const struct arena *arena; // for its exit
    struct watch watch;
};

static void recheck(void *argument, bool begins)
{
    const struct searching *s = argument;
    if (begins) supervised_begins("the recheck", solve_time_behind_s(s->watch.limit_s), false);
    else supervised_begins("the search", watch_left_s(&s->watch), true);
}

static void keep(void *argument, const struct plan *plan, int64_t value_ns, int64_t bound_ns)
{
    const struct searching *searched = argument;
    struct arena own;
    struct message m;
    supervised_bounds(bound_ns);
    if (!plan || !supervised_is()) return;
    arena_open(&own, searched->arena->exit);
    message_begin(&m, &own);
    message_put_count(&m, value_ns);
    layouts_put_plan(&m, plan);
    supervised_keeps(&m);
    arena_close(&own);
}

void solve_goes_on(const char *what, double limit_s, bool stoppable, int late_code)
{
    supervised_saves(late_code);
    supervised_begins(what, limit_s, stoppable);
}

// ---- what is left of it

static void put_nothing(struct plan *plan, const struct solved *s)
{
    const struct priced *p = s->priced;
    const struct schedule_request request = schedule_request_of(p);
    int64_t bound_ns = plan->bound_ns;
    *plan = (struct plan){.name = p->name,
                          .layout = p->layout,
                          .micro_batches = p->micro_batches,
                          .devices_per_stage = p->devices_per_stage,
                          .objective = p->objective,
                          .bound_ns = bound_ns,
                          .graph = plan_graph_of(&request),
                          .reason = "the search was ended before it found a plan"};
}

static enum status take_remains(struct solved *s, const struct solve_settings *settings,
                                const struct layouts_task *task, struct supervised *left,
                                struct arena *arena, struct error *err)
{
    struct plan plan = {0};
    struct message *m = &left->kept;
    int64_t value_ns = m->used ? message_get_count(m) : 0;
    if (m->used) layouts_get_plan(m, &plan, s->problem, arena);
    if (m->broken) plan = (struct plan){0};
    int64_t known_ns = settings->known_bound_ns;
    plan.bound_ns = larger(plan.bound_ns, larger(left->bound_ns, known_ns));
    if (plan.stage_count) plan.bound_ns = smaller(plan.bound_ns, plan_value_ns(&plan));
    if (s->problem->job.space.given) {
        s->space = TAKE(arena, 1, struct layouts_result);
        s->result = &s->space->solved;
        layouts_lost(s->space, s->problem, settings, task, &plan, value_ns, arena);
    } else {
        s->result = TAKE(arena, 1, struct solve_result);
        if (!plan.stage_count) put_nothing(&plan, s);
        s->result->plan = plan;
    }
    struct plan *found = &s->result->plan;
    found->seed = settings->seed;
    found->effort.seconds = left->seconds;
    plan_end(found, settings->gap, false);
    solve_claim(s, claim_of_search(s->problem), NULL, 0);
    return s->space ? solve_take_layout(s, arena, err) : OK;
}

static void say_lost(const struct supervised *s, const char *then)
{
    if (s->died_of)
        fprintf(stderr, "the process of %s was killed (signal %d)%s\n", s->what, s->died_of, then);
    else if (s->late)
        fprintf(stderr, "%s did not end by itself at its limit, and was ended%s\n", s->what, then);
    else fprintf(stderr, "%s was ended by a signal%s\n", s->what, then);
}

// The command goes on in the child: this process ends as that did.
static void end_with(const struct supervised *s)
{
    if (s->as == SUPERVISED_ENDED) _exit(s->exit_code);
    if (!s->saved) return;
    say_lost(s, "; what came before it is saved");
    _exit(s->died_of ? 1 : s->late ? s->exit_code : EXIT_OPEN);
}

enum status solve_apart(struct solved *s, const struct solve_settings *settings,
                        const struct solve_from *from, struct supervised *left, struct arena *arena,
                        struct error *err)
{
    const struct supervise_settings how = {"the search", settings->time_limit_s, SUPERVISE_GRACE_S};
    const volatile int *stop;
    TRY(supervision_stop(&stop, err));
    TRY(supervise(left, &how, arena, err));
    if (left->as == SUPERVISED_CHILD) {
        struct solve_settings watched = *settings;
        struct searching searching = {arena, watch_begin(stop, settings->time_limit_s)};
        watched.keep = keep, watched.rechecks = recheck, watched.keep_argument = &searching;
        watched.keep_of = s->problem->job.space.given ? (const void *)s->problem : s->priced;
        return solve_search(s, &watched, from, stop, arena, err);
    }
    if (left->as == SUPERVISED_ENDED || left->saved) return OK;
    if (left->died_of && left->died_of != SIGKILL)
        return fail(err, SOLVER, "%s died of signal %d: this is an error of plumbline", left->what,
                    left->died_of);
    say_lost(left, ": what follows is what it had reported");
    return take_remains(s, settings, from ? from->task : NULL, left, arena, err);
}

enum status solve_supervised(struct solved *s, const struct solve_settings *settings,
                             const struct solve_from *from, bool *lost, struct arena *arena,
                             struct error *err)
{
    struct supervised left;
    TRY(solve_apart(s, settings, from, &left, arena, err));
    *lost = left.as == SUPERVISED_LOST;
    if (left.as != SUPERVISED_CHILD) end_with(&left);
    return OK;
}

// ---- a disk that is full at the end takes nothing that was found

enum status keep_plan(const struct plan *plan, const char *path, bool *lost, struct arena *arena,
                      struct error *err)
{
    struct error unwritten = {OK, ""};
    size_t length;
    if (plan_save(plan, path, arena, &unwritten) == OK) return OK;
    if (!strcmp(path, "-")) return fail(err, unwritten.status, "%s", unwritten.text);
    *lost = true;
    const char *text = plan_text(plan, &length, arena);
    if (file_write("-", text, length, err) != OK) {
        *err = unwritten;
        return err->status;
    }
    fprintf(stderr, "%s; the plan is on standard output\n", unwritten.text);
    return OK;
}

enum status keep_going(enum status status, bool *lost, struct error *err)
{
    if (status != BAD_INPUT) return status;
    fprintf(stderr, "%s\n", err->text);
    *lost = true;
    *err = (struct error){OK, ""};
    return OK;
}
