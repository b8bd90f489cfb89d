// A search in a process of its own (solve/process/supervise.h), and what is made of its remains.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "data/base/least.h"
#include "data/base/options.h"
#include "solve/commands/solve_request.h"
#include "solve/commands/verbs.h"
#include "solve/layouts/work.h"
#include "solve/process/supervise.h"

// ---- the search hands over its plans and bounds

static void keep(void *argument, const struct plan *plan, int64_t value_ns, int64_t bound_ns)
{
    const struct arena *searched = argument; // for its exit
    struct arena own;
    struct message m;
    supervised_bounds(bound_ns);
    if (!plan || !supervised_is()) return;
    arena_open(&own, searched->exit);
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
                          .reason = "the search was ended before it met a plan"};
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
        watched.keep = keep, watched.keep_argument = arena;
        watched.keep_of = s->problem->job.space.given ? (const void *)s->problem : s->priced;
        return solve_search(s, &watched, from, stop, arena, err);
    }
    if (left->as == SUPERVISED_ENDED || left->saved) return OK;
    if (left->died_of && left->died_of != SIGKILL)
        return fail(err, SOLVER, "%s died of signal %d: this is an error of plumbline", left->what,
                    left->died_of);
    say_lost(left, ": what follows is what it had handed over");
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

struct solve_request solve_request_left(const struct solve_request *r, bool lost)
{
    struct solve_request rest = *r;
    if (!lost) return rest;
    if (r->certificate_path)
        fprintf(stderr, "--certificate: the search was ended from outside, so none is written\n");
    if (r->settings.recheck)
        fprintf(stderr, "--recheck: the search was ended from outside: nothing was rechecked\n");
    rest.certificate_path = NULL, rest.front = 0;
    return rest;
}
