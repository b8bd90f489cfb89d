// The options of plumbline solve.
#include <stdio.h>
#include <string.h>

#include "data/base/file.h"
#include "data/results/claim.h"
#include "solve/commands/commands.h"
#include "solve/commands/solve_request.h"
#include "solve/layout/steps.h"

static const char usage[] = "plumbline solve PROBLEM.json [-o PLAN.json]";

// "What if" answers on standard output; its files go next to the plan.
static enum status read_change(struct solve_request *r, struct error *err)
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
                    "written next to it");
    r->answer_only = !r->plan_path;
    for (size_t i = 0; i < ARRAY_LENGTH(written); i++)
        if (written[i].given && r->answer_only)
            return fail(err, BAD_INPUT, "%s: requires -o PLAN.json with --without and --degrade",
                        written[i].option);
    return OK;
}

// "3/8"
static enum status read_part(struct solve_request *r, struct error *err)
{
    int end = 0;
    struct space_part *p = &r->part;
    if (r->resume.count && (r->start_path || cluster_change_any(&r->change)))
        return fail(err, BAD_INPUT, "--resume: expected no --start, --without or --degrade");
    if (r->join.count && !r->certificate_path)
        return fail(err, BAD_INPUT, "--join: requires --certificate");
    if (r->share_path && !r->part_text) return fail(err, BAD_INPUT, "--share: requires --part");
    if (!r->part_text) return OK;
    if (sscanf(r->part_text, "%d/%d%n", &p->index, &p->count, &end) != 2 || r->part_text[end] ||
        p->count < 1 || p->count > SPACE_PARTS_MAX || p->index < 1 || p->index > p->count)
        return fail(err, BAD_INPUT,
                    "--part: expected I/N, such as 3/8, with N at most %d, found %s",
                    SPACE_PARTS_MAX, r->part_text);
    p->index--;
    if (cluster_change_any(&r->change))
        return fail(err, BAD_INPUT, "--part: expected no --without or --degrade");
    if (!r->plan_path || !strcmp(r->plan_path, "-"))
        return fail(err, BAD_INPUT, "--part: requires -o PLAN.json");
    return OK;
}

enum status solve_request_read(struct solve_request *r, int argc, char **argv, struct arena *arena,
                               struct error *err)
{
    struct solve_settings *s = &r->settings;
    solve_defaults(s);
    r->threads = s->threads;
    r->change.without = r->change.degrade = (struct option_texts){.most = argc};
    r->resume = (struct option_texts){.most = argc};
    r->join = r->resume;
    r->join.items = TAKE(arena, argc, const char *);
    r->resume.items = TAKE(arena, argc, const char *);
    r->change.without.items = TAKE(arena, argc, const char *);
    r->change.degrade.items = TAKE(arena, argc, const char *);
    const struct option options[] = {
        {"-o", OPTION_PATH, &r->plan_path, 0, 0, NULL,
         "output file for the plan (default: standard output)"},
        {"--time-limit-s", OPTION_NUMBER, &s->time_limit_s, 0, 1e9, NULL,
         "stop after X seconds with the best plan so far and its bound (0: no limit)"},
        {"--gap", OPTION_NUMBER, &s->gap, 0, 1, NULL,
         "stop when (iteration - bound) / iteration is at most X (default: 0, proven optimal)"},
        {"--threads", OPTION_INT, &r->threads, 0, 64, NULL,
         "number of worker processes (default: 1; 0: no separate process); the plan does not "
         "depend on it"},
        {"--seed", OPTION_INT, &s->seed, 0, 9007199254740992.0, NULL,
         "random seed of the incumbent search"},
        {"--start", OPTION_PATH, &r->start_path, 0, 0, NULL, "plan to start from"},
        {"--resume", OPTION_TEXTS, &r->resume, 0, 0, NULL,
         "continue from this plan, and for a space from PLAN.layouts.json next to it, keeping what "
         "was proven; for a space may be repeated, such as with the plans of its parts"},
        {"--join", OPTION_TEXTS, &r->join, 0, 0, NULL,
         "with --certificate: adopt the arguments of this certificate of a part; may be repeated"},
        {"--part", OPTION_TEXT, &r->part_text, 0, 0, NULL,
         "I/N: search only part I of N of the space; --resume with the plans of all parts joins "
         "them"},
        {"--share", OPTION_PATH, &r->share_path, 0, 0, NULL,
         "with --part: folder through which the searches of the parts share their best plans"},
        {"--without", OPTION_TEXTS, &r->change.without, 0, 0, NULL,
         "solve as if this node were gone (GROUP=N if nodes have no names); reports what is lost "
         "and what moves relative to --start"},
        {"--degrade", OPTION_TEXTS, &r->change.degrade, 0, 0, NULL,
         "solve with changed bandwidth: A:B=X: from node A to node B times X; A=X: all links of A"},
        {"--alternatives", OPTION_INT, &r->alternatives, 1, 1000, NULL,
         "also write the N best distinct plans, as PLAN-2.json ..."},
        {"--front", OPTION_INT, &r->front, 1, 1000, NULL,
         "write N points of time against quality, if compression costs quality, as PLAN-2.json "
         "..."},
        {"--engine", OPTION_NAME, &r->engine, 0, 0, engine_names,
         "tree (default): boxes, then a tree of our own; or glpk: GLPK's branch and bound, each "
         "node ended by an exact bound"},
        {"--progress", OPTION_FLAG, &r->progress, 0, 0, NULL,
         "print progress even if stderr is not a terminal"},
        {"--quiet", OPTION_FLAG, &r->quiet, 0, 0, NULL, "print no progress"},
        {"--program", OPTION_PATH, &s->program_path, 0, 0, NULL,
         "write the program after elimination, with all path rows (.mps or .lp)"},
        {"--map", OPTION_PATH, &s->map_path, 0, 0, NULL,
         "with --program: write the meaning of its columns"},
        {"--priced", OPTION_PATH, &r->priced_path, 0, 0, NULL,
         "write the priced problem to this file, and name it in the plan"},
        {"--layouts", OPTION_PATH, &r->layouts_path, 0, 0, NULL,
         "output file for the outcome of every layout, for a job with a space (default: "
         "PLAN.layouts.json)"},
        {"--certificate", OPTION_PATH, &r->certificate_path, 0, 0, NULL,
         "write the proof of the bound to this file, for plumbline check, and the priced problem "
         "next to it (or to --priced)"},
        {"--shrink-certificate", OPTION_FLAG, &r->shrink, 0, 0, NULL,
         "with --certificate: drop everything that the proof does not need; takes time"},
        {"--recheck", OPTION_FLAG, &s->recheck, 0, 0, NULL,
         "evaluate the whole proof again from its stored numbers"},
        {"--memory-limit-mib", OPTION_INT, &r->memory_limit_mib, 0, 1 << 24, NULL,
         "limit on the address space of a worker process in MiB (0: no limit)"},
    };
    TRY(options_read(argc, argv, usage, options, ARRAY_LENGTH(options), &r->problem_path, 1, 1,
                     NULL, &r->helped, err));
    TRY(read_change(r, err));
    TRY(read_part(r, err));
    if (!r->plan_path) r->plan_path = "-";
    if (s->map_path && !s->program_path) return fail(err, BAD_INPUT, "--map: requires --program");
    if (r->alternatives > 1 && !strcmp(r->plan_path, "-"))
        return fail(err, BAD_INPUT, "--alternatives: requires -o PLAN.json");
    if (r->alternatives > 1 && r->engine == ENGINE_GLPK)
        return fail(err, BAD_INPUT, "--alternatives: expected --engine tree, found glpk");
    if (r->front && (r->alternatives || !strcmp(r->plan_path, "-")))
        return fail(err, BAD_INPUT, "--front: requires -o PLAN.json and no --alternatives");
    if (r->shrink && !r->certificate_path)
        return fail(err, BAD_INPUT, "--shrink-certificate: requires --certificate");
    s->evidence = r->certificate_path != NULL;
    s->threads = (int)r->threads;
    s->alternatives = (int)r->alternatives;
    s->memory_limit_bytes = r->memory_limit_mib << 20;
    s->engine = (enum engine)r->engine;
    s->progress = r->quiet ? 0 : r->progress ? 1 : -1;
    return OK;
}

enum status solve_request_check_places(const struct solve_request *r, struct error *err)
{
    TRY(file_check_place(r->plan_path, err));
    if (r->priced_path) TRY(file_check_place(r->priced_path, err));
    if (r->settings.program_path) TRY(milp_check_name(r->settings.program_path, "--program", err));
    if (r->layouts_path) TRY(file_check_place(r->layouts_path, err));
    if (r->certificate_path) TRY(file_check_place(r->certificate_path, err));
    return r->settings.map_path ? file_check_place(r->settings.map_path, err) : OK;
}

// An option, and whether it was given.
struct given {
    bool given;
    const char *option;
};

static enum status refuse_given(const struct given *options, size_t count, const char *expected,
                                struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (options[i].given)
            return fail(err, BAD_INPUT, "%s: expected %s", options[i].option, expected);
    return OK;
}

// Refuses what is only for one layout without places.
static enum status refuse_single(const struct solve_request *r, const char *expected,
                                 struct error *err)
{
    const struct given single[] = {{r->shrink, "--shrink-certificate"},
                                   {r->alternatives > 1, "--alternatives"},
                                   {r->settings.program_path, "--program"}};
    return refuse_given(single, ARRAY_LENGTH(single), expected, err);
}

// Chains of nodes are not solved as a program, so these options do not apply.
static enum status refuse_with_pipette(const struct solve_request *r, struct error *err)
{
    const struct given others[] = {{r->settings.engine != ENGINE_TREE, "--engine"},
                                   {r->start_path, "--start"},
                                   {r->settings.recheck, "--recheck"}};
    return refuse_given(others, ARRAY_LENGTH(others),
                        "a job whose objective is iteration_time, found pipette", err);
}

static enum status part_suits(const struct solve_request *r, const struct problem *problem,
                              struct error *err)
{
    enum objective objective = problem->job.objective;
    if (r->join.count && !problem->job.space.given)
        return fail(err, BAD_INPUT, "--join: expected a job with a space of layouts");
    if (!r->part.count) return OK;
    if (!problem->job.space.given)
        return fail(err, BAD_INPUT, "--part: expected a job with a space of layouts");
    if (problem->cluster.places.node_count)
        return fail(err, BAD_INPUT, "--part: expected a cluster without places");
    if (objective != OBJECTIVE_ITERATION_TIME && objective != OBJECTIVE_COST)
        return fail(err, BAD_INPUT,
                    "--part: expected the objective iteration_time or cost, found %s",
                    objective_names[objective]);
    return OK;
}

enum status solve_request_suits(const struct solve_request *r, const struct problem *problem,
                                struct error *err)
{
    bool places = problem->cluster.places.node_count;
    const char *none = claim_has_no_certificate(problem);
    TRY(part_suits(r, problem, err));
    if (r->certificate_path && none)
        return fail(err, BAD_INPUT, "--certificate: expected another kind of job: %s", none);
    if (problem->job.space.given)
        return refuse_single(r, "a job with one layout, found a space of them", err);
    if (r->layouts_path)
        return fail(err, BAD_INPUT, "--layouts: expected a job with a space of layouts");
    if (places) TRY(refuse_single(r, "a cluster without places", err));
    return problem->job.objective == OBJECTIVE_PIPETTE ? refuse_with_pipette(r, err) : OK;
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
