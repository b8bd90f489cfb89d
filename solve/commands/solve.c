// plumbline solve: problem -> plan. The judge hears every plan before it is written; a plan that it
// rejects is our own fault and never reaches a file.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "data/results/bound.h"
#include "data/base/file.h"
#include "formulate/program/formulate.h"
#include "formulate/price/price.h"
#include "formulate/price/extrapolate.h"
#include "formulate/price/range.h"
#include "solve/certificate/certificate.h"
#include "solve/certificate/places.h"
#include "solve/certificate/space.h"
#include "solve/commands/commands.h"
#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"
#include "solve/places/space.h"
#include "solve/layout/parts.h"
#include "solve/judge/verify.h"
#include "solve/commands/what_if.h"

static const char usage[] = "plumbline solve PROBLEM.json [-o PLAN.json]";

// The one thing that a signal handler can reach.
static volatile int stop_asked;
static void ask_to_stop(int signal) { (void)signal, stop_asked = 1; }

struct request {
    const char *problem_path, *plan_path, *start_path, *priced_path, *layouts_path,
        *certificate_path;
    struct solve_settings settings;
    int64_t threads, alternatives, memory_limit_mib;
    int engine, formulation;
    bool progress, quiet, helped, shrink;
    struct cluster_change change;
    bool answer_only; // what if, and no file for the plan
};

// "What if" answers on standard output; what it writes lies beside the plan.
static enum status read_change(struct request *r, struct error *err)
{
    const struct {
        bool given;
        const char *option;
    } written[] = {
        {r->priced_path, "--priced"},
        {r->certificate_path, "--certificate"},
        {r->layouts_path, "--layouts"},
    };
    if (!cluster_change_any(&r->change)) return OK;
    if (r->plan_path && !strcmp(r->plan_path, "-"))
        return fail(err, BAD_INPUT,
                    "-o: expected a file with --without and --degrade, whose changed cluster is "
                    "written beside it");
    r->answer_only = !r->plan_path;
    for (size_t i = 0; i < ARRAY_LENGTH(written); i++)
        if (written[i].given && r->answer_only)
            return fail(err, BAD_INPUT,
                        "%s: expected -o PLAN.json beside it, with --without and --degrade",
                        written[i].option);
    return OK;
}

static enum status read_request(struct request *r, int argc, char **argv, struct arena *arena,
                                struct error *err)
{
    struct solve_settings *s = &r->settings;
    solve_defaults(s);
    r->threads = s->threads;
    r->change.without = r->change.degrade = (struct option_texts){.most = argc};
    r->change.without.items = TAKE(arena, argc, const char *);
    r->change.degrade.items = TAKE(arena, argc, const char *);
    const struct option options[] = {
        {"-o", OPTION_TEXT, &r->plan_path, 0, 0, NULL,
         "where the plan goes (default: standard output)"},
        {"--time-limit-s", OPTION_NUMBER, &s->time_limit_s, 0, 1e9, NULL,
         "stop after so many seconds with the best plan and its bound (0: none)"},
        {"--gap", OPTION_NUMBER, &s->gap, 0, 1, NULL,
         "stop at (iteration - bound) / iteration of this (default 0: proven optimal)"},
        {"--threads", OPTION_INT, &r->threads, 1, 64, NULL,
         "worker processes; the plan does not depend on it"},
        {"--seed", OPTION_INT, &s->seed, 0, 9007199254740992.0, NULL, "of the incumbent search"},
        {"--start", OPTION_TEXT, &r->start_path, 0, 0, NULL, "a plan to begin from"},
        {"--without", OPTION_TEXTS, &r->change.without, 0, 0, NULL,
         "what if this node were gone (GROUP=N where nodes have no names); answers what is lost "
         "and what moves since --start"},
        {"--degrade", OPTION_TEXTS, &r->change.degrade, 0, 0, NULL,
         "what if A:B=X: bandwidth from node A to node B times X; A=X: of all links of A"},
        {"--alternatives", OPTION_INT, &r->alternatives, 1, 1000, NULL,
         "also the so many best distinct plans, as PLAN-2.json ..."},
        {"--engine", OPTION_NAME, &r->engine, 0, 0, engine_names,
         "tree (proves its bound), or GLPK's own as a cross-check"},
        {"--formulation", OPTION_NAME, &r->formulation, 0, 0, formulation_names,
         "textbook: solved by glp_intopt, a cross-check"},
        {"--progress", OPTION_FLAG, &r->progress, 0, 0, NULL,
         "progress lines even where stderr is no terminal"},
        {"--quiet", OPTION_FLAG, &r->quiet, 0, 0, NULL, "no progress lines"},
        {"--program", OPTION_TEXT, &s->program_path, 0, 0, NULL,
         "write the program after elimination, with all path rows (.mps or .lp)"},
        {"--map", OPTION_TEXT, &s->map_path, 0, 0, NULL,
         "with --program: write what its columns mean"},
        {"--priced", OPTION_TEXT, &r->priced_path, 0, 0, NULL,
         "write the priced problem, and name it in the plan"},
        {"--layouts", OPTION_TEXT, &r->layouts_path, 0, 0, NULL,
         "where the fate of every layout goes, for a job with a space (PLAN.layouts.json)"},
        {"--certificate", OPTION_TEXT, &r->certificate_path, 0, 0, NULL,
         "write the proof of the bound, for plumbline check; beside it the priced problem (or "
         "--priced)"},
        {"--shrink-certificate", OPTION_FLAG, &r->shrink, 0, 0, NULL,
         "with --certificate: leave out of it what it can do without; takes time"},
        {"--recheck", OPTION_FLAG, &s->recheck, 0, 0, NULL,
         "evaluate the whole proof a second time from its stored numbers"},
        {"--memory-limit-mib", OPTION_INT, &r->memory_limit_mib, 0, 1 << 24, NULL,
         "address space of a worker process (0: no limit)"},
    };
    TRY(options_read(argc, argv, usage, options, ARRAY_LENGTH(options), &r->problem_path, 1, 1,
                     NULL, &r->helped, err));
    TRY(read_change(r, err));
    if (!r->plan_path) r->plan_path = "-";
    if (s->map_path && !s->program_path)
        return fail(err, BAD_INPUT, "--map: expected --program beside it");
    if (r->alternatives > 1 && !strcmp(r->plan_path, "-"))
        return fail(err, BAD_INPUT, "--alternatives: expected -o PLAN.json beside it");
    if (r->shrink && !r->certificate_path)
        return fail(err, BAD_INPUT, "--shrink-certificate: expected --certificate beside it");
    s->evidence = r->certificate_path != NULL;
    s->threads = (int)r->threads;
    s->alternatives = (int)r->alternatives;
    s->memory_limit_bytes = r->memory_limit_mib << 20;
    s->engine = (enum engine)r->engine;
    s->formulation = (enum formulation_kind)r->formulation;
    s->progress = r->quiet ? 0 : r->progress ? 1 : -1;
    return OK;
}

// Before hours of work, not behind them.
static enum status check_places(const struct request *r, struct error *err)
{
    TRY(file_check_place(r->plan_path, err));
    if (r->priced_path) TRY(file_check_place(r->priced_path, err));
    if (r->settings.program_path) TRY(milp_check_name(r->settings.program_path, "--program", err));
    if (r->layouts_path) TRY(file_check_place(r->layouts_path, err));
    if (r->certificate_path) TRY(file_check_place(r->certificate_path, err));
    return r->settings.map_path ? file_check_place(r->settings.map_path, err) : OK;
}

static void listen_to_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

// From here on a signal ends the program: the plan is written.
static void listen_no_more(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
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

static enum status write_plan(struct plan *plan, const char *path, const struct request *r,
                              const struct problem *problem, const struct priced *priced,
                              struct arena *arena, struct error *err)
{
    struct source *sources = TAKE(arena, PROBLEM_SOURCES + 1, struct source);
    int count = problem_sources(problem, path, sources, arena);
    if (r->priced_path) sources[count++] = source_of("priced", &priced->document, path, arena);
    plan->document.sources = sources;
    plan->document.source_count = count;
    TRY(range_of_plan(plan, problem, arena, err));
    TRY(extrapolation_of_plan(plan, problem, arena, err));
    if (plan->stage_count) TRY(judge(plan, problem, arena, err));
    return r->answer_only ? OK : plan_save(plan, path, arena, err);
}

// The priced problem as a file, read back for its hash.
static enum status write_priced(struct priced *priced, const struct request *r,
                                const struct problem *problem, struct arena *arena,
                                struct error *err)
{
    if (!r->priced_path) return OK;
    struct priced again;
    priced->document.sources = TAKE(arena, PROBLEM_SOURCES, struct source);
    priced->document.source_count =
        problem_sources(problem, r->priced_path, priced->document.sources, arena);
    TRY(priced_save(priced, r->priced_path, arena, err));
    TRY(priced_load(&again, r->priced_path, arena, err));
    priced->document = again.document;
    return OK;
}

// PLAN.json without its end
static const char *stem_of(const char *path, struct arena *arena)
{
    size_t length = strlen(path),
           end = length > 5 && !strcmp(path + length - 5, ".json") ? length - 5 : length;
    return arena_print(arena, "%.*s", (int)end, path);
}

// PLAN.json -> PLAN-2.json
static const char *alternative_path(const char *path, int number, struct arena *arena)
{
    return arena_print(arena, "%s-%d.json", stem_of(path, arena), number);
}

static void say_outcome(const struct solve_result *r)
{
    const struct plan *p = &r->plan;
    if (p->stage_count && p->objective != OBJECTIVE_ITERATION_TIME)
        fprintf(stderr,
                "%s: %s %.9f s, iteration %.9f s, bound on the former %.9f s, which no certificate "
                "is about, gap %.4g %%; %.2f s\n",
                outcome_names[p->outcome], objective_names[p->objective],
                (double)p->objective_ns / 1e9, (double)p->iteration_ns / 1e9,
                (double)plan_bound_ns(p) / 1e9, 100 * plan_gap(p), p->effort.seconds);
    else if (p->stage_count)
        fprintf(stderr,
                "%s: iteration %.9f s, proven bound %.9f s, gap %.4g %%; %.2f s, %lld boxes, %lld "
                "path rows\n",
                outcome_names[p->outcome], (double)p->iteration_ns / 1e9,
                (double)plan_bound_ns(p) / 1e9, 100 * plan_gap(p), p->effort.seconds,
                (long long)p->effort.boxes, (long long)p->effort.path_rows);
    if (p->stage_count && p->objective == OBJECTIVE_ITERATION_TIME && r->free_links_ns > 0 &&
        r->free_links_ns < p->iteration_ns) {
        int64_t links = p->iteration_ns - r->free_links_ns;
        fprintf(stderr, "its links take %.9f s of that, %.4g %% of which are unproven\n",
                (double)links / 1e9,
                100 * (double)(p->iteration_ns - plan_bound_ns(p)) / (double)links);
    }
    if (p->stage_count && !p->bound_ns)
        fprintf(stderr,
                "no bound is proven: the search ended before it had one (0 holds for any plan)\n");
    if (!p->stage_count)
        fprintf(stderr, "%s%s%s\n", outcome_names[p->outcome], p->reason ? ": " : "",
                p->reason ? p->reason : "");
    if (r->sidelined) fprintf(stderr, "recovered from: %s\n", r->sidelined);
}

static enum status say_answer(const struct request *r, const struct problem *problem,
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

// ---- a job with a space

static enum status refuse_single(const struct request *r, struct error *err)
{
    const struct {
        bool given;
        const char *option;
    } single[] = {
        {r->shrink, "--shrink-certificate"},
        {r->alternatives > 1, "--alternatives"},
        {r->settings.program_path, "--program"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(single); i++)
        if (single[i].given)
            return fail(err, BAD_INPUT, "%s: expected a job with one layout, found a space of them",
                        single[i].option);
    return OK;
}

static enum status write_layouts(struct layouts *l, const struct request *r,
                                 const struct problem *problem, struct arena *arena,
                                 struct error *err)
{
    const char *path = r->layouts_path;
    if (!path && strcmp(r->plan_path, "-"))
        path = arena_print(arena, "%s.layouts.json", stem_of(r->plan_path, arena));
    if (!path) return OK;
    l->document.sources = TAKE(arena, PROBLEM_SOURCES, struct source);
    l->document.source_count = problem_sources(problem, path, l->document.sources, arena);
    return layouts_save(l, path, arena, err);
}

static void say_layouts(const struct layouts *l)
{
    int64_t counts[FATE_COUNT] = {0};
    for (int i = 0; i < l->reason_count; i++) counts[l->reasons[i].fate] += l->reasons[i].count;
    fprintf(stderr, "%lld layouts:", (long long)l->count);
    for (int f = 0; f < FATE_COUNT; f++)
        fprintf(stderr, "%s %lld %s", f ? "," : "", (long long)counts[f], layout_fate_names[f]);
    fprintf(stderr, "\n");
}

static enum status write_space_certificate(const struct request *r,
                                           const struct layouts_result *found,
                                           const struct problem *problem, struct arena *arena,
                                           struct error *err)
{
    struct source sources[PROBLEM_SOURCES];
    struct certificate_space_request request = {
        .problem = problem, .found = found, .settings = &r->settings, .sources = sources};
    struct certificate_space_result result;
    if (!r->certificate_path) return OK;
    listen_no_more();
    request.source_count = problem_sources(problem, r->certificate_path, sources, arena);
    double begin_s = clock_s();
    TRY(certificate_space_make(&result, &request, arena, err));
    if (!result.text)
        return fail(err, SOLVER, "--certificate: no bound could be certified, so none is written");
    TRY(file_write(r->certificate_path, result.text, result.size, err));
    if (result.bound_ns >= 0 && result.bound_ns < found->solved.plan.bound_ns)
        fprintf(stderr,
                "certificate: its bound is %.9f s, below the solver's: that one could not be "
                "certified\n",
                (double)bound_stated(result.bound_ns, found->solved.plan.iteration_ns, 0) / 1e9);
    fprintf(stderr,
            "certificate: %lld layouts: %lld refused, %lld without room, %lld by a bound, %lld "
            "dominated, %lld with a proof; %lld boxes, %zu bytes; %.2f s\n",
            (long long)result.layouts, (long long)result.refused, (long long)result.memory,
            (long long)result.bounded, (long long)result.dominated, (long long)result.proven,
            (long long)result.boxes, result.size, clock_s() - begin_s);
    return OK;
}

static enum status solve_space(const struct request *r, const struct problem *problem,
                               int *exit_code, struct arena *arena, struct error *err)
{
    struct layouts_result *result = TAKE(arena, 1, struct layouts_result);
    struct problem *one = TAKE(arena, 1, struct problem);
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct plan *plan = &result->solved.plan;
    TRY(problem_check_places(problem, err));
    listen_to_signals();
    TRY((problem->cluster.places.node_count ? placed_space_search : layouts_search)(
        result, problem, &r->settings, &stop_asked, arena, err));
    *one = problem_with_layout(problem, &plan->layout);
    if (plan->stage_count) {
        TRY(price_problem(priced, one, arena, err));
        TRY(write_priced(priced, r, problem, arena, err));
    }
    TRY(write_layouts(&result->layouts, r, problem, arena, err));
    TRY(write_plan(plan, r->plan_path, r, one, priced, arena, err));
    say_outcome(&result->solved);
    say_layouts(&result->layouts);
    TRY(say_answer(r, problem, &(struct placed_start){0}, plan, arena, err));
    TRY(write_space_certificate(r, result, problem, arena, err));
    *exit_code = exit_code_of(plan->outcome);
    return OK;
}

static enum status write_places_certificate(const struct request *r,
                                            const struct solve_result *solved,
                                            const struct problem *problem,
                                            const struct priced *priced, struct arena *arena,
                                            struct error *err)
{
    struct source sources[PROBLEM_SOURCES];
    struct certificate_places_request request = {.problem = problem,
                                                 .priced = priced,
                                                 .solved = solved,
                                                 .settings = &r->settings,
                                                 .sources = sources};
    struct certificate_places_result result;
    listen_no_more();
    request.source_count = problem_sources(problem, r->certificate_path, sources, arena);
    double begin_s = clock_s();
    TRY(certificate_places_make(&result, &request, arena, err));
    if (!result.text)
        return fail(err, SOLVER, "--certificate: no bound could be certified, so none is written");
    TRY(file_write(r->certificate_path, result.text, result.size, err));
    if (result.bound_ns >= 0 && result.bound_ns < solved->plan.bound_ns)
        fprintf(stderr,
                "certificate: its bound is %.9f s, below the solver's: that one could not be "
                "certified\n",
                (double)result.bound_ns / 1e9);
    fprintf(stderr, "certificate: by %s, %lld boxes, %lld weights, %zu bytes; %.2f s\n", result.how,
            (long long)result.boxes, (long long)result.weights, result.size, clock_s() - begin_s);
    return OK;
}

// The proof of the bound, about the priced document as it was written.
static enum status write_certificate(const struct request *r, const struct solve_result *solved,
                                     const struct priced *priced, struct arena *arena,
                                     struct error *err)
{
    struct certificate_request request = {
        .priced = priced, .plan = &solved->plan, .evidence = solved->evidence, .shrink = r->shrink};
    struct certificate_result result;
    if (!r->certificate_path) return OK;
    listen_no_more();
    TRY(file_read(r->priced_path, &request.priced_text.text, &request.priced_text.size, arena,
                  err));
    request.priced_text.file = path_relative(r->certificate_path, r->priced_path, arena);
    double begin_s = clock_s();
    TRY(certificate_make(&result, &request, arena, err));
    if (!result.text)
        return fail(err, SOLVER, "--certificate: no bound could be certified, so none is written");
    TRY(file_write(r->certificate_path, result.text, result.size, err));
    if (result.bound_ns >= 0 && result.bound_ns < solved->plan.bound_ns)
        fprintf(stderr,
                "certificate: its bound is %.9f s, below the solver's: that one could not be "
                "certified\n",
                (double)bound_stated(result.bound_ns, solved->plan.iteration_ns, 0) / 1e9);
    fprintf(stderr,
            "certificate: %lld boxes, %lld rounds, %lld weights, %lld paths, %zu bytes; %.2f s, "
            "%lld boxes closed anew\n",
            (long long)result.boxes, (long long)result.rounds, (long long)result.weights,
            (long long)result.paths, result.size, clock_s() - begin_s, (long long)result.mended);
    return OK;
}

// What a cluster with places has no answer to yet.
static enum status refuse_on_places(const struct request *r, struct error *err)
{
    const struct {
        bool given;
        const char *option;
    } others[] = {
        {r->shrink, "--shrink-certificate"},
        {r->alternatives > 1, "--alternatives"},
        {r->settings.program_path, "--program"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (others[i].given)
            return fail(err, BAD_INPUT, "%s: expected a cluster without places", others[i].option);
    return OK;
}

// Nodes in chains are no program, and there is none to be found otherwise.
static enum status refuse_with_pipette(const struct request *r, struct error *err)
{
    const struct {
        bool given;
        const char *option;
    } others[] = {
        {r->settings.engine != ENGINE_TREE, "--engine"},
        {r->settings.formulation != FORMULATION_CHOICES, "--formulation"},
        {r->start_path, "--start"},
        {r->settings.recheck, "--recheck"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (others[i].given)
            return fail(err, BAD_INPUT,
                        "%s: expected a job whose objective is iteration_time, found pipette",
                        others[i].option);
    return OK;
}

static enum status solve_layout(const struct request *r, const struct problem *problem,
                                const struct plan *start, int *exit_code, struct arena *arena,
                                struct error *err)
{
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct placed_start from = {.plan = start};
    struct solve_result result;
    TRY(price_problem(priced, problem, arena, err));
    bool changed = cluster_change_any(&r->change);
    if (start && changed && !priced->places)
        TRY(what_if_standing(&from.standing_ns, start, priced, arena, err));
    TRY(write_priced(priced, r, problem, arena, err));
    listen_to_signals();
    if (priced->places)
        TRY(placed_solve(&result, priced, &r->settings, start ? &from : NULL, &stop_asked, arena,
                         err));
    else
        TRY(solve_run(&result, priced, &r->settings, !changed || from.standing_ns ? start : NULL,
                      &stop_asked, arena, err));
    TRY(write_plan(&result.plan, r->plan_path, r, problem, priced, arena, err));
    for (int i = 1; i < result.alternative_count && strcmp(r->plan_path, "-"); i++)
        TRY(write_plan(&result.alternatives[i], alternative_path(r->plan_path, i + 1, arena), r,
                       problem, priced, arena, err));
    say_outcome(&result);
    TRY(say_answer(r, problem, &from, &result.plan, arena, err));
    if (r->certificate_path && priced->places)
        TRY(write_places_certificate(r, &result, problem, priced, arena, err));
    else TRY(write_certificate(r, &result, priced, arena, err));
    *exit_code = exit_code_of(result.plan.outcome);
    if (*exit_code == 0 && !result.finished && r->settings.alternatives > 1) {
        fprintf(stderr, "stopped before all alternatives were known\n");
        *exit_code = EXIT_OPEN;
    }
    return OK;
}

// Options that the problem has no answer to, before anything is written.
static enum status refuse_options(const struct request *r, const struct problem *problem,
                                  struct error *err)
{
    bool places = problem->cluster.places.node_count;
    if (r->certificate_path && problem->job.objective != OBJECTIVE_ITERATION_TIME)
        return fail(
            err, BAD_INPUT,
            "--certificate: expected a job for the least iteration time, found objective \"%s\"",
            objective_names[problem->job.objective]);
    if (problem->job.space.given) {
        TRY(refuse_single(r, err));
        return places && r->certificate_path
                   ? fail(err, BAD_INPUT, "--certificate: expected a cluster without places")
                   : OK;
    }
    if (r->layouts_path)
        return fail(err, BAD_INPUT, "--layouts: expected a job with a space of layouts");
    if (places) TRY(refuse_on_places(r, err));
    return problem->job.objective == OBJECTIVE_PIPETTE ? refuse_with_pipette(r, err) : OK;
}

// A plan of a space of layouts to begin from: its layout is the job's from now on.
static enum status check_layout(const struct request *r, const struct plan *start,
                                struct error *err)
{
    if (!start->stage_count)
        return fail(err, BAD_INPUT,
                    "--start: %s: expected a plan with stages, for its layout, "
                    "found none",
                    r->start_path);
    if (!r->answer_only && !strcmp(r->plan_path, "-"))
        return fail(err, BAD_INPUT,
                    "--start: expected -o PLAN.json beside it: the job with the "
                    "layout of %s is written there",
                    r->start_path);
    return OK;
}

// What the options make of the problem: other nodes and links, the one layout of the plan to begin
// from.
static enum status change_problem(const struct request *r, struct problem **problem,
                                  const struct plan *start, struct arena *arena, struct error *err)
{
    const struct layout *layout = start && (*problem)->job.space.given ? &start->layout : NULL;
    const struct problem_change change = {&r->change, layout};
    struct problem *changed = TAKE(arena, 1, struct problem);
    if (layout) TRY(check_layout(r, start, err));
    const struct problem one = layout ? problem_with_layout(*problem, layout) : **problem;
    TRY(refuse_options(r, &one, err));
    if (!layout && !cluster_change_any(&r->change)) return OK;
    if (start && cluster_change_any(&r->change))
        TRY(what_if_check_earlier(start, *problem, arena, err));
    TRY(what_if_change(changed, *problem, &change, r->answer_only ? NULL : r->plan_path, arena,
                       err));
    *problem = changed;
    if (layout && !r->quiet)
        fprintf(stderr,
                "the layout of %s is kept; other layouts of the job's space are not "
                "looked at\n",
                r->start_path);
    return OK;
}

enum status command_solve(int argc, char **argv, int *exit_code, struct arena *arena,
                          struct error *err)
{
    struct request r = {0};
    TRY(read_request(&r, argc, argv, arena, err));
    if (r.helped) return OK;
    struct problem *problem = TAKE(arena, 1, struct problem);
    TRY(check_places(&r, err));
    TRY(problem_load(problem, r.problem_path, arena, err));
    struct plan *start = r.start_path ? TAKE(arena, 1, struct plan) : NULL;
    if (start) TRY(plan_load(start, r.start_path, arena, err));
    TRY(change_problem(&r, &problem, start, arena, err));
    if (problem->job.space.given) return solve_space(&r, problem, exit_code, arena, err);
    if (r.certificate_path && !r.priced_path && !problem->cluster.places.node_count)
        r.priced_path = arena_print(arena, "%s.priced.json", stem_of(r.certificate_path, arena));
    if (r.priced_path) TRY(file_check_place(r.priced_path, err));
    return solve_layout(&r, problem, start, exit_code, arena, err);
}
