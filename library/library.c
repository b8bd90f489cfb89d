// libplumbline (plumbline.h): problems and plans, the verbs of solve/commands behind opaque
// objects.
#include "library/internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/shipped.h"
#include "formulate/commands.h"
#include "formulate/example/example.h"

_Static_assert((int)PLUMBLINE_BAD_INPUT == BAD_INPUT && (int)PLUMBLINE_SYSTEM == SYSTEM &&
                   (int)PLUMBLINE_SOLVER == SOLVER && (int)PLUMBLINE_UNAVAILABLE == UNAVAILABLE,
               "statuses are the same inside and outside");
_Static_assert((int)PLUMBLINE_OPEN == OUTCOME_OPEN && (int)PLUMBLINE_NO_PLAN == OUTCOME_NO_PLAN &&
                   (int)PLUMBLINE_INFEASIBLE == OUTCOME_INFEASIBLE,
               "outcomes are the same inside and outside");

const char *plumbline_version(void) { return PLUMBLINE_VERSION; }
void plumbline_free(void *text) { free(text); }

// ---- problems

static plumbline_problem *new_problem(void)
{
    plumbline_problem *p = calloc(1, sizeof *p);
    if (p) arena_open(&p->arena, NULL), atomic_init(&p->users, 1);
    return p;
}

void plumbline_problem_close(plumbline_problem *p)
{
    if (!p || atomic_fetch_sub(&p->users, 1) > 1) return;
    arena_close(&p->arena);
    free(p);
}

struct open_problem {
    plumbline_problem *p;
    const char *path, *model, *cluster, *costs, *job; // path, or the other four
};

static enum status compose(struct open_problem *o, struct arena *arena, struct error *err)
{
    const char *model, *cluster, *costs;
    TRY(call_expect(o->model && o->cluster && o->costs && o->job ? o : NULL,
                    "a model, a cluster, costs and a job", err));
    TRY(shipped_find(&model, "models", o->model, arena, err));
    TRY(shipped_find(&cluster, "clusters", o->cluster, arena, err));
    TRY(shipped_find(&costs, "costs", o->costs, arena, err));
    o->p->composed = true;
    o->p->problem.document.path = "composed";
    return problem_compose(&o->p->problem, model, cluster, costs, arena_copy_text(arena, o->job),
                           arena, err);
}

static enum status open_problem(struct call *c, void *arguments)
{
    struct open_problem *o = arguments;
    TRY(call_expect(o->p, "memory", &c->err));
    if (!o->path) return compose(o, c->arena, &c->err);
    return problem_load(&o->p->problem, arena_copy_text(c->arena, o->path), c->arena, &c->err);
}

static plumbline_status make_problem(plumbline_problem **problem, struct open_problem *o,
                                     plumbline_error *error)
{
    o->p = new_problem();
    plumbline_status status = call_run(open_problem, o->p ? &o->p->arena : NULL, o, error);
    if (status) plumbline_problem_close(o->p), o->p = NULL;
    *problem = o->p;
    return status;
}

plumbline_status plumbline_problem_open(plumbline_problem **problem, const char *path,
                                        plumbline_error *error)
{
    struct open_problem o = {.path = path ? path : ""};
    return make_problem(problem, &o, error);
}

plumbline_status plumbline_problem_compose(plumbline_problem **problem, const char *model,
                                           const char *cluster, const char *costs, const char *job,
                                           plumbline_error *error)
{
    struct open_problem o = {.model = model, .cluster = cluster, .costs = costs, .job = job};
    return make_problem(problem, &o, error);
}

struct make_example {
    const char *folder;
    const char *const *words;
    bool force;
};

static enum status make_example(struct call *c, void *arguments)
{
    const struct make_example *m = arguments;
    struct problem problem;
    int argc;
    char **argv = call_words(c, "gpt", m->words, &argc);
    TRY(call_expect(m->folder, "a folder", &c->err));
    TRY(example_gpt(&problem, argc, argv, &c->scratch, &c->err));
    return example_write(&problem, m->folder, m->force, &c->scratch, &c->err);
}

plumbline_status plumbline_problem_make(plumbline_problem **problem, const char *folder,
                                        const char *const *words, int force, plumbline_error *error)
{
    struct make_example m = {folder, words, force};
    *problem = NULL;
    plumbline_status status = call_run(make_example, NULL, &m, error);
    if (status) return status;
    size_t size = strlen(folder) + sizeof "/problem.json";
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/problem.json", folder);
    status = plumbline_problem_open(problem, path, error);
    free(path);
    return status;
}

struct save_problem {
    plumbline_problem *p;
    const char *path;
};

static enum status save_problem(struct call *c, void *arguments)
{
    const struct save_problem *s = arguments;
    struct document written;
    TRY(call_expect(s->p, "a problem", &c->err));
    TRY(call_expect(s->path, "a path", &c->err));
    const char *path = arena_copy_text(c->arena, s->path);
    TRY(problem_save(&s->p->problem, path, c->arena, &c->err));
    if (!strcmp(path, "-")) return OK;
    TRY(document_read(&written, path, "plumbline.problem", c->arena, &c->err));
    s->p->problem.document = written;
    s->p->composed = false;
    return OK;
}

plumbline_status plumbline_problem_save(plumbline_problem *problem, const char *path,
                                        plumbline_error *error)
{
    struct save_problem s = {problem, path};
    return call_run(save_problem, problem ? &problem->arena : NULL, &s, error);
}

// ---- plans

static plumbline_plan *new_plan(plumbline_problem *problem)
{
    plumbline_plan *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    arena_open(&p->arena, NULL);
    p->problem = problem;
    if (problem) atomic_fetch_add(&problem->users, 1);
    return p;
}

void plumbline_plan_close(plumbline_plan *p)
{
    if (!p) return;
    arena_close(&p->arena);
    plumbline_problem_close(p->problem);
    free(p);
}

void plumbline_options_init(plumbline_options *options, size_t size)
{
    memset(options, 0, size);
    options->size = size;
}

struct solving {
    plumbline_plan *plan;
    plumbline_options options;
};

static void tell(void *argument, const struct solve_progress *p)
{
    const plumbline_options *o = argument;
    const plumbline_progress told = {sizeof told, p->seconds, (double)p->plan_ns / 1e9,
                                     (double)p->bound_ns / 1e9, p->text};
    o->progress(o->argument, &told);
}

static enum status settings_of(struct solve_settings *s, plumbline_options *o, struct error *err)
{
    solve_defaults(s);
    if (!(o->gap >= 0 && o->gap <= 1))
        return refuse(err, "options.gap: expected a number from 0 to 1, found %g", o->gap);
    if (!(o->time_limit_s >= 0 && o->time_limit_s <= 1e9))
        return refuse(err, "options.time_limit_s: expected 0 to 1e9, found %g", o->time_limit_s);
    if (o->processes < 0 || o->processes > 64)
        return refuse(err, "options.processes: expected 0 to 64, found %d", o->processes);
    if (o->seed < 0) return refuse(err, "options.seed: expected at least 0");
    s->gap = o->gap, s->time_limit_s = o->time_limit_s;
    s->threads = o->processes, s->seed = o->seed;
    s->progress = o->progress != NULL;
    s->tell = tell, s->tell_argument = o;
    return OK;
}

// If a problem has no file, a plan names only the other documents.
static void name_sources(plumbline_plan *p, const char *path, struct arena *arena)
{
    struct document *d = &p->plan.document;
    int skipped = p->problem->composed;
    problem_made(d, &p->problem->problem, path, arena);
    d->sources += skipped, d->source_count -= skipped;
}

static enum status solve(struct call *c, void *arguments)
{
    struct solving *s = arguments;
    struct solve_settings settings;
    struct solved solved;
    TRY(call_expect(s->plan, "memory", &c->err));
    TRY(call_expect(s->plan->problem, "a problem", &c->err));
    TRY(settings_of(&settings, &s->options, &c->err));
    TRY(solve_prepare(&solved, &s->plan->problem->problem, c->arena, &c->err));
    TRY(solve_search(&solved, &settings, NULL, s->options.stop, c->arena, &c->err));
    s->plan->plan = solved.result->plan;
    if (solved.space) s->plan->layouts = &solved.space->layouts;
    name_sources(s->plan, "-", c->arena);
    return solve_settle(&s->plan->plan, &solved, c->arena, &c->err);
}

plumbline_status plumbline_solve(plumbline_plan **plan, plumbline_problem *problem,
                                 const plumbline_options *options, plumbline_error *error)
{
    struct solving s = {.plan = new_plan(problem)};
    plumbline_options_init(&s.options, sizeof s.options);
    if (options)
        memcpy(&s.options, options,
               options->size < sizeof s.options ? options->size : sizeof s.options);
    plumbline_status status = call_run(solve, s.plan ? &s.plan->arena : NULL, &s, error);
    if (status) plumbline_plan_close(s.plan), s.plan = NULL;
    *plan = s.plan;
    return status;
}

struct with_plan {
    plumbline_plan *plan;
    const char *path;
};

static enum status open_plan(struct call *c, void *arguments)
{
    const struct with_plan *x = arguments;
    TRY(call_expect(x->plan, "memory", &c->err));
    TRY(call_expect(x->path, "a path", &c->err));
    return plan_load(&x->plan->plan, arena_copy_text(c->arena, x->path), c->arena, &c->err);
}

plumbline_status plumbline_plan_open(plumbline_plan **plan, const char *path,
                                     plumbline_error *error)
{
    struct with_plan x = {new_plan(NULL), path};
    plumbline_status status = call_run(open_plan, x.plan ? &x.plan->arena : NULL, &x, error);
    if (status) plumbline_plan_close(x.plan), x.plan = NULL;
    *plan = x.plan;
    return status;
}

static enum status save_plan(struct call *c, void *arguments)
{
    const struct with_plan *x = arguments;
    TRY(call_expect(x->plan, "a plan", &c->err));
    TRY(call_expect(x->path, "a path", &c->err));
    plumbline_plan saved = *x->plan;
    if (saved.problem) name_sources(&saved, x->path, &c->scratch);
    return plan_save(&saved.plan, x->path, &c->scratch, &c->err);
}

plumbline_status plumbline_plan_save(const plumbline_plan *plan, const char *path,
                                     plumbline_error *error)
{
    struct with_plan x = {(plumbline_plan *)(uintptr_t)plan, path};
    return call_run(save_plan, NULL, &x, error);
}

struct asking {
    const plumbline_plan *plan;
    plumbline_facts *facts;
};

static enum status find_facts(struct call *c, void *arguments)
{
    const struct asking *a = arguments;
    TRY(call_expect(a->plan, "a plan", &c->err));
    TRY(call_expect(a->facts, "facts to fill in", &c->err));
    const struct plan *p = &a->plan->plan;
    plumbline_facts found = {
        .size = a->facts->size,
        .outcome = (plumbline_outcome)p->outcome,
        .iteration_s = (double)p->iteration_ns / 1e9,
        .bound_s = p->objective == OBJECTIVE_ENERGY ? 0 : (double)plan_bound_ns(p) / 1e9,
        .gap = plan_gap(p),
        .stages = p->stage_count,
        .micro_batches = p->micro_batches,
        .tensor = p->layout.tensor,
        .context = p->layout.context,
        .pipeline = p->layout.pipeline,
        .data = p->layout.data};
    memcpy(a->facts, &found, found.size < sizeof found ? found.size : sizeof found);
    return OK;
}

plumbline_status plumbline_plan_facts(const plumbline_plan *plan, plumbline_facts *facts,
                                      plumbline_error *error)
{
    struct asking a = {plan, facts};
    return call_run(find_facts, NULL, &a, error);
}
