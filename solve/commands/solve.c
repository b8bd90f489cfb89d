// plumbline solve: problem -> plan. The judge audits every plan before it is written; a plan that
// it rejects is a bug of ours and is never written.
#include <string.h>

#include "data/frameworks/models.h"
#include "solve/commands/solve_request.h"

static enum status write_plan(struct plan *plan, const char *path, const struct solve_request *r,
                              const struct solved *s, struct arena *arena, struct error *err)
{
    struct document *d = &plan->document;
    problem_made(d, s->one, path, arena);
    if (r->priced_path)
        d->sources[d->source_count++] = source_of("priced", &s->priced->document, path, arena);
    TRY(solve_settle(plan, s, arena, err));
    return r->answer_only ? OK : keep_plan(plan, path, r->unwritten, arena, err);
}

// The first of them: from here on a lost process costs nothing of it.
static enum status write_best(struct plan *plan, const struct solve_request *r,
                              const struct solved *s, int code, struct arena *arena,
                              struct error *err)
{
    bool to_file = strcmp(r->plan_path, "-") || r->answer_only;
    if (!to_file) solve_goes_on("the writing of the plan", 0, true, code);
    TRY(write_plan(plan, r->plan_path, r, s, arena, err));
    solve_goes_on("the writing of the results", 0, true, code);
    return OK;
}

// PLAN.json -> PLAN-2.json
static const char *alternative_path(const char *path, int number, struct arena *arena)
{
    return arena_print(arena, "%s-%d.json", path_stem(path, arena), number);
}

// A plan on standard output is written once: after the certificate.
static enum status write_plans(const struct solve_request *r, struct solved *s, int code,
                               bool before_certificate, struct arena *arena, struct error *err)
{
    struct solve_result *result = s->result;
    bool later = !strcmp(r->plan_path, "-") && before_certificate && r->certificate_path;
    if (!later) TRY(write_best(&result->plan, r, s, code, arena, err));
    for (int i = 1; i < result->alternative_count && strcmp(r->plan_path, "-"); i++)
        TRY(write_plan(&result->alternatives[i], alternative_path(r->plan_path, i + 1, arena), r, s,
                       arena, err));
    return OK;
}

// The priced problem as a file, read back for its hash.
static enum status write_priced(struct priced *priced, const struct solve_request *r,
                                const struct problem *problem, struct arena *arena,
                                struct error *err)
{
    if (!r->priced_path) return OK;
    struct priced again;
    problem_made(&priced->document, problem, r->priced_path, arena);
    TRY(priced_save(priced, r->priced_path, arena, err));
    TRY(priced_load(&again, r->priced_path, arena, err));
    priced->document = again.document;
    return OK;
}

// Takes no memory: the plan is written.
static void say_amount(const struct plan *p, const char *what, int64_t value_ns)
{
    bool of_energy = p->objective == OBJECTIVE_ENERGY;
    fprintf(stderr, of_energy ? "%s %.6f J" : "%s %.9f s", what,
            (double)value_ns / (of_energy ? 1e6 : 1e9));
}

static void say_bound(const struct plan *p, const char *claim)
{
    if (p->bound_ns) {
        say_amount(p, "bound", plan_bound_ns(p));
        fprintf(stderr, " (%s), gap %.4g %%", claim, 100 * plan_gap(p));
    } else fprintf(stderr, "no bound: the search ended before it had one");
}

static void say_outcome(const struct solve_result *r, struct arena *arena)
{
    const struct plan *p = &r->plan;
    bool within = p->outcome == OUTCOME_OPTIMAL && plan_gap(p) > 0;
    const char *outcome = within ? "within the gap" : outcome_names[p->outcome];
    bool times = p->objective == OBJECTIVE_ITERATION_TIME;
    const char *claim = plan_claim_words(p, arena);
    if (p->stage_count) {
        fprintf(stderr, "%s: ", outcome);
        say_amount(p, times ? "iteration" : objective_names[p->objective], plan_value_ns(p));
        fprintf(stderr, ", ");
        say_bound(p, claim);
        if (!times) fprintf(stderr, ", iteration %.9f s", (double)p->iteration_ns / 1e9);
        fprintf(stderr, "; %.2f s", p->effort.seconds);
        if (times)
            fprintf(stderr, ", %lld boxes, %lld path rows", (long long)p->effort.boxes,
                    (long long)p->effort.path_rows);
        fprintf(stderr, "\n");
    }
    if (p->stage_count && times && r->free_links_ns > 0 && r->free_links_ns < p->iteration_ns) {
        int64_t links = p->iteration_ns - r->free_links_ns;
        fprintf(stderr, "its links take %.9f s of that; the bound leaves %.4g %% of them open\n",
                (double)links / 1e9,
                100 * (double)(p->iteration_ns - plan_bound_ns(p)) / (double)links);
    }
    if (!p->stage_count)
        fprintf(stderr, "%s%s%s\n", plan_outcome_words(p, arena), p->reason ? ": " : "",
                p->reason ? p->reason : "");
    if (r->sidelined) fprintf(stderr, "recovered from: %s\n", r->sidelined);
}

static void say_part(const struct solve_request *r, const struct layouts_result *found)
{
    const struct plan *p = &found->solved.plan;
    char plan[64] = "no plan", bound[64] = "no layout has a plan";
    if (p->stage_count) snprintf(plan, sizeof plan, "plan %.9f s", (double)p->iteration_ns / 1e9);
    if (found->searched_bound_ns < INT64_MAX)
        snprintf(bound, sizeof bound, "bound on its layouts %.9f s",
                 (double)found->searched_bound_ns / 1e9);
    fprintf(stderr, "part %d of %d: %s: %s, %s; %.2f s, %lld boxes\n", r->part.index + 1,
            r->part.count, found->solved.finished ? "searched" : "not searched to its end", plan,
            bound, p->effort.seconds, (long long)p->effort.boxes);
}

static void say_idle(const struct plan *plan, const struct problem *problem)
{
    int64_t all = 0, used = plan_devices(plan);
    for (int g = 0; g < problem->cluster.group_count; g++)
        all += (int64_t)problem->cluster.groups[g].nodes * problem->cluster.groups[g].gpus_per_node;
    if (plan->stage_count && used < all)
        fprintf(stderr, "%lld of the cluster's %lld GPUs are idle\n", (long long)(all - used),
                (long long)all);
}

// What a uniform layout would lose; hardly any framework runs widths per stage.
static void say_widths(const struct solve_result *r, const struct priced *priced)
{
    const struct plan *p = &r->plan;
    if (!p->stage_count || !priced_has_widths(priced)) return;
    if (priced->in_turn) {
        fprintf(stderr, "replicas take micro-batches in turn: the iteration is so many loads, "
                        "without fill and drain\n");
        return;
    }
    const struct priced_group *first = &priced->groups[p->stages[0].group],
                              *one = &priced->groups[r->one_width_group];
    bool same = true;
    for (int s = 1; s < p->stage_count; s++)
        same = same && priced_same_width(first, &priced->groups[p->stages[s].group]);
    if (same)
        fprintf(stderr, "uniform: this plan, with %d x %d x %d (tensor x context x data) for all\n",
                first->tensor, first->context, first->data);
    else if (r->one_width_ns)
        fprintf(stderr, "uniform: %.9f s (%+.2f %%), with %d x %d x %d for all by a short search\n",
                (double)r->one_width_ns / 1e9,
                100 * ((double)r->one_width_ns / (double)plan_value_ns(p) - 1), one->tensor,
                one->context, one->data);
}

static enum status say_answer(const struct solve_request *r, const struct problem *problem,
                              const struct placed_start *start, const struct plan *now,
                              struct arena *arena, struct error *err)
{
    const struct what_if_answer answer = {
        .changed = problem, .change = &r->change, .start = start, .now = now};
    size_t length;
    if (!cluster_change_any(&r->change)) return OK;
    const char *text = what_if_text(&answer, &length, arena);
    return file_write("-", text, length, err);
}

static int exit_code_of(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_OPTIMAL: return 0;
    case OUTCOME_OPEN: return EXIT_OPEN;
    case OUTCOME_INFEASIBLE: return EXIT_INFEASIBLE;
    default: return EXIT_NO_PLAN;
    }
}

// The points after the first, which is the plan.
static enum status write_front(const struct solve_request *r, const struct solved *s,
                               struct arena *arena, struct error *err)
{
    if (!r->front) return OK;
    struct front_point *points = TAKE(arena, r->front, struct front_point);
    struct solve_request plain = *r;
    plain.priced_path = NULL; // it is about the first one's layout
    int count;
    size_t length;
    TRY(solve_front(points, &count, s, &r->settings, (int)r->front, r->stop, arena, err));
    for (int i = 1; i < count; i++) {
        struct solved point = *s;
        point.one = &points[i].one;
        if (s->judged == s->one) point.judged = point.one;
        TRY(write_plan(&points[i].plan, alternative_path(r->plan_path, i + 1, arena), &plain,
                       &point, arena, err));
    }
    const char *text = solve_front_text(points, count, &length, arena);
    return file_write("-", text, length, err);
}

// ---- a job with a space

static enum status write_layouts(struct layouts *l, const struct solve_request *r,
                                 const struct problem *problem, struct arena *arena,
                                 struct error *err)
{
    const char *path = r->layouts_path;
    if (!path && strcmp(r->plan_path, "-"))
        path = arena_print(arena, "%s.layouts.json", path_stem(r->plan_path, arena));
    if (!path) return OK;
    problem_made(&l->document, problem, path, arena);
    return layouts_save(l, path, arena, err);
}

static void say_layouts(const struct layouts *l, struct arena *arena)
{
    int64_t counts[FATE_COUNT] = {0};
    for (int i = 0; i < l->reason_count; i++) counts[l->reasons[i].fate] += l->reasons[i].count;
    fprintf(stderr, "%lld layouts%s:", (long long)l->count, layouts_space_words(l, arena));
    for (int f = 0; f < FATE_COUNT; f++)
        fprintf(stderr, "%s %lld %s", f ? "," : "", (long long)counts[f], layout_fate_names[f]);
    fprintf(stderr, "\n");
}

// Before the search, which may take hours.
static enum status read_parts(struct part_text **parts, const struct solve_request *r,
                              struct arena *arena, struct error *err)
{
    struct document d;
    *parts = TAKE(arena, r->join.count, struct part_text);
    for (int i = 0; i < r->join.count; i++) {
        struct part_text *p = &(*parts)[i];
        p->file = r->join.items[i];
        TRY(document_read(&d, p->file, CERTIFICATE_PART, arena, err));
        TRY(file_read(p->file, &p->text, &p->size, arena, err));
    }
    return OK;
}

static enum status keep_layouts(const struct solve_request *r, struct solved *s,
                                struct arena *arena, struct error *err)
{
    return keep_going(write_layouts(&s->space->layouts, r, s->problem, arena, err), r->unwritten,
                      err);
}

// Once plan and outcome are safe; then both again, as the plan states what the certificate proves.
static enum status write_certificate(const struct solve_request *r, struct solved *s,
                                     const struct part_text *parts, int *exit_code,
                                     struct arena *arena, struct error *err)
{
    const struct certify_request request = {.asked = r, .solved = s, .parts = parts};
    struct error unproven = {OK, ""};
    if (!r->certificate_path) return OK;
    solve_goes_on("the certificate", solve_time_behind_s(r->settings.time_limit_s), false, 1);
    if (r->part.count) return solve_certify(&request, arena, err);
    enum status status = solve_certify(&request, arena, &unproven);
    if (*exit_code == exit_code_of(OUTCOME_OPTIMAL))
        *exit_code = exit_code_of(s->result->plan.outcome);
    // What could not be written was said, and the plan printed.
    if (s->space && !*r->unwritten) TRY(keep_layouts(r, s, arena, err));
    if (!*r->unwritten) TRY(write_plans(r, s, *exit_code, false, arena, err));
    say_outcome(s->result, arena);
    return status == OK ? OK : fail(err, status, "%s", unproven.text);
}

static enum status solve_space(const struct solve_request *r, struct solved *s, int *exit_code,
                               struct arena *arena, struct error *err)
{
    struct resume resume;
    struct share share;
    struct part_text *parts;
    TRY(read_parts(&parts, r, arena, err));
    TRY(resume_read(&resume, &r->resume, s->problem, arena, err));
    for (int i = 0; i < r->known.count; i++)
        TRY(known_take(&resume.task, &r->known, i, s->problem, &r->settings, r->stop, arena, err));
    resume.task.part = r->part;
    if (r->share_path) {
        TRY(share_open(&share, r->share_path, s->problem, arena, err));
        resume.task.exchange = share_exchange, resume.task.argument = &share;
    }
    const struct solve_from from = {.task = &resume.task};
    bool lost;
    TRY(solve_supervised(s, &r->settings, &from, &lost, arena, err));
    const struct solve_request rest = solve_request_left(r, lost);
    struct plan *plan = &s->result->plan;
    if (s->space->rests_on_known) resume_claim(s, &resume, r->plan_path, arena);
    struct solve_request named = rest; // the plan names a priced document that is there
    if (plan->stage_count)
        TRY(keep_going(write_priced(s->priced, r, s->problem, arena, err), r->unwritten, err));
    if (*r->unwritten) named.priced_path = NULL;
    solve_advise(s, &r->settings, arena);
    *exit_code = r->part.count ? s->result->finished ? 0 : EXIT_OPEN : exit_code_of(plan->outcome);
    TRY(write_plans(&named, s, *exit_code, true, arena, err));
    TRY(keep_layouts(r, s, arena, err));
    if (r->part.count) say_part(r, s->space);
    else say_outcome(s->result, arena);
    say_layouts(&s->space->layouts, arena);
    say_idle(plan, s->problem);
    if (plan->objective == OBJECTIVE_ITERATION_TIME || plan->in_turn)
        say_widths(s->result, s->priced);
    TRY(say_answer(r, s->problem, &(struct placed_start){0}, plan, arena, err));
    TRY(write_certificate(&rest, s, parts, exit_code, arena, err));
    TRY(write_front(&rest, s, arena, err));
    if (*r->unwritten) *exit_code = EXIT_LOST;
    solve_goes_on("the end of the command", 0, true, *exit_code);
    return OK;
}

static bool is_asked_to_stop(void *request)
{
    return *((const struct solve_request *)request)->stop;
}

// Takes over the bound of an earlier search, unless one box proves as much.
static enum status take_bound(struct solved *s, const struct resume *resume,
                              const struct solve_request *r, struct arena *arena, struct error *err)
{
    const struct plan *before = resume->plan;
    struct plan *plan = &s->result->plan;
    int64_t again_ns = 0, found_ns;
    bool placed = s->priced->places, rests = plan->bound_ns <= before->bound_ns;
    if (plan->bound_ns < before->bound_ns && plan_value_ns(plan) < before->bound_ns)
        return refuse(
            err, "--resume: %s: its bound is wrong: a plan takes %.9f s; solve again without it",
            before->document.path, (double)plan_value_ns(plan) / 1e9);
    if (plan->bound_ns < before->bound_ns) {
        plan->bound_ns = before->bound_ns;
        plan->outcome = plan_outcome(plan);
    }
    if (!rests || !plan->bound_ns) return OK;
    if (!placed && plan->objective == OBJECTIVE_ITERATION_TIME)
        TRY(solve_bound(&again_ns, &found_ns, s->priced, is_asked_to_stop, (void *)(uintptr_t)r,
                        arena, err));
    if (again_ns < plan->bound_ns) resume_claim(s, resume, r->plan_path, arena);
    return OK;
}

static enum status solve_layout(const struct solve_request *r, struct solved *s,
                                const struct plan *start, int *exit_code, struct arena *arena,
                                struct error *err)
{
    const struct problem *problem = s->problem;
    struct priced *priced = s->priced;
    struct placed_start from = {.plan = start};
    bool changed = cluster_change_any(&r->change);
    struct resume resume;
    struct solve_settings settings = r->settings;
    TRY(resume_read(&resume, &r->resume, problem, arena, err));
    if (resume.plan) start = from.plan = resume.plan;
    if (resume.plan && !priced->places && problem->job.objective == OBJECTIVE_ITERATION_TIME)
        settings.known_bound_ns = resume.plan->bound_ns;
    if (start && changed && !priced->places)
        TRY(what_if_standing(&from.standing_ns, start, priced, arena, err));
    TRY(write_priced(priced, r, problem, arena, err));
    const struct solve_from begin = {.placed = start ? &from : NULL,
                                     .plan = !changed || from.standing_ns ? start : NULL};
    bool lost;
    TRY(solve_supervised(s, &settings, &begin, &lost, arena, err));
    const struct solve_request rest = solve_request_left(r, lost);
    struct solve_result *result = s->result;
    if (resume.plan) TRY(take_bound(s, &resume, r, arena, err));
    plan_effort_add(&result->plan.effort, &resume.task.effort);
    bool all = result->finished || r->settings.alternatives <= 1;
    *exit_code = exit_code_of(result->plan.outcome);
    if (*exit_code == 0 && !all) *exit_code = EXIT_OPEN;
    TRY(write_plans(&rest, s, *exit_code, true, arena, err));
    say_outcome(result, arena);
    if (result->unwritten) TRY(keep_going(refuse(err, "%s", result->unwritten), r->unwritten, err));
    if (!all && result->plan.outcome == OUTCOME_OPTIMAL)
        fprintf(stderr, "stopped before all alternatives were known\n");
    say_idle(&result->plan, problem);
    say_widths(result, priced);
    TRY(say_answer(r, problem, &from, &result->plan, arena, err));
    TRY(write_certificate(&rest, s, NULL, exit_code, arena, err));
    TRY(write_front(&rest, s, arena, err));
    if (*r->unwritten) *exit_code = EXIT_LOST;
    solve_goes_on("the end of the command", 0, true, *exit_code);
    return OK;
}

// A plan of a space of layouts to start from: its layout becomes the job's.
static enum status check_layout(const struct solve_request *r, const struct plan *start,
                                struct error *err)
{
    if (!start->stage_count)
        return refuse(err, "--start: %s: expected a plan with stages, for its layout, found none",
                      r->start_path);
    if (!r->answer_only && !strcmp(r->plan_path, "-"))
        return refuse(
            err,
            "--start: requires -o PLAN.json: the job with the layout of %s is written next to it",
            r->start_path);
    return OK;
}

// Applies the options to the problem: other nodes and links, or the one layout of the starting
// plan.
static enum status change_problem(const struct solve_request *r, struct problem **problem,
                                  const struct plan *start, struct arena *arena, struct error *err)
{
    const struct layout *layout = start && (*problem)->job.space.given ? &start->layout : NULL;
    const struct problem_change change = {&r->change, layout};
    struct problem *changed = TAKE(arena, 1, struct problem);
    if (layout) TRY(check_layout(r, start, err));
    const struct problem one = layout ? problem_with_layout(*problem, layout) : **problem;
    TRY(solve_request_suits(r, &one, err));
    if (!layout && !cluster_change_any(&r->change)) return OK;
    if (start && cluster_change_any(&r->change))
        TRY(what_if_check_earlier(start, *problem, arena, err));
    TRY(what_if_change(changed, *problem, &change, r->answer_only ? NULL : r->plan_path, arena,
                       err));
    *problem = changed;
    if (layout && !r->quiet)
        fprintf(stderr, "the layout of %s is kept%s\n", r->start_path,
                cluster_change_any(&r->change)
                    ? "; then the others of the job's space are searched"
                    : "; other layouts of the job's space are not searched");
    return OK;
}

// The layout of --start is kept; reports whether another one of the space is better on what is
// left.
static enum status say_other_layouts(const struct solve_request *r, const struct problem *asked,
                                     const struct plan *kept, struct arena *arena,
                                     struct error *err)
{
    struct problem *changed = TAKE(arena, 1, struct problem);
    struct solved solved;
    size_t length;
    const struct problem_change change = {&r->change, NULL};
    if (*r->stop) return OK;
    TRY(what_if_change(changed, asked, &change, NULL, arena, err));
    TRY(solve_prepare(&solved, changed, arena, err));
    solve_goes_on("the search of the other layouts", r->settings.time_limit_s, true, EXIT_OPEN);
    TRY(solve_search(&solved, &r->settings, NULL, r->stop, arena, err));
    const char *text = what_if_layouts_text(kept, &solved.result->plan, &length, arena);
    return file_write("-", text, length, err);
}

enum status solve_request_run(void *request, int *exit_code, struct arena *arena, struct error *err)
{
    struct solve_request *r = request;
    bool unwritten = false;
    r->unwritten = &unwritten;
    TRY(solve_request_complete(r, err));
    TRY(supervision_stop(&r->stop, err));
    r->problem_path = path_of_document(r->problem_path, "problem.json", arena);
    struct problem *problem = TAKE(arena, 1, struct problem);
    TRY(solve_request_check_places(r, err));
    TRY(problem_load(problem, r->problem_path, arena, err));
    TRY(framework_check_model(problem, arena, err));
    struct plan *start = r->start_path ? TAKE(arena, 1, struct plan) : NULL;
    if (start) TRY(plan_load(start, r->start_path, arena, err));
    const struct problem *asked = problem;
    const char *doubt = cluster_doubt(&problem->cluster, arena);
    if (doubt) fprintf(stderr, "warning: %s\n", doubt);
    TRY(change_problem(r, &problem, start, arena, err));
    struct solved solved;
    r->settings.map_problem = problem;
    TRY(solve_prepare(&solved, problem, arena, err));
    if (problem->job.space.given) return solve_space(r, &solved, exit_code, arena, err);
    if (r->certificate_path && !r->priced_path && !problem->cluster.places.node_count)
        r->priced_path =
            arena_print(arena, "%s.priced.json", path_stem(r->certificate_path, arena));
    if (r->priced_path) TRY(file_check_place(r->priced_path, err));
    TRY(solve_layout(r, &solved, start, exit_code, arena, err));
    return asked->job.space.given && cluster_change_any(&r->change)
               ? say_other_layouts(r, asked, &solved.result->plan, arena, err)
               : OK;
}
