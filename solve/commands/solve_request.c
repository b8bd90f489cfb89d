// The options of plumbline solve.
#include <string.h>

#include "solve/commands/commands.h"
#include "solve/commands/solve_request.h"
#include "solve/layout/steps.h"

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
        return refuse(err,
                      "-o: expected a file with --without and --degrade, whose changed cluster is "
                      "written next to it");
    r->answer_only = !r->plan_path;
    for (size_t i = 0; i < ARRAY_LENGTH(written); i++)
        if (written[i].given && r->answer_only)
            return refuse(err, "%s: requires -o PLAN.json with --without and --degrade",
                          written[i].option);
    return OK;
}

// "3/8"
static enum status read_part(struct solve_request *r, struct error *err)
{
    int end = 0;
    struct space_part *p = &r->part;
    if (!r->part_text) return OK;
    if (sscanf(r->part_text, "%d/%d%n", &p->index, &p->count, &end) != 2 || r->part_text[end] ||
        p->count < 1 || p->count > SPACE_PARTS_MAX || p->index < 1 || p->index > p->count)
        return refuse(err, "--part: expected I/N, such as 3/8, with N at most %d, found %s",
                      SPACE_PARTS_MAX, r->part_text);
    p->index--;
    return OK;
}

#define AT(member) offsetof(struct solve_request, member)
static const struct option_row rows[] = {
    {"PROBLEM.json", OPTION_PATH, AT(problem_path), .low = 1},
    {"-o", OPTION_PATH, AT(plan_path), "output file for the plan (default: standard output)"},
    {"--time-limit-s", OPTION_NUMBER, AT(settings.time_limit_s),
     "stop after X seconds with the best plan so far and its bound (0: no limit)", 0, 1e9},
    {"--gap", OPTION_NUMBER, AT(settings.gap),
     "stop when (iteration - bound) / iteration is at most X (default: 0, optimal)", 0, 1},
    {"--threads", OPTION_COUNT, AT(settings.threads),
     "number of worker processes (default: 1; 0: no separate process); the plan does not depend on "
     "it",
     0, 64},
    {"--seed", OPTION_INT, AT(settings.seed), "random seed of the incumbent search", 0,
     9007199254740992.0},
    {"--start", OPTION_PATH, AT(start_path), "plan to start from"},
    {"--known", OPTION_PATH, AT(known),
     "for a space: plan, or problem with one layout, whose layout is solved first; the answer is "
     "never worse; may be repeated: then those that are not in the space are left out",
     .many = OPTION_ANY_NUMBER},
    {"--resume", OPTION_PATH, AT(resume),
     "continue from this plan, and for a space from PLAN.layouts.json next to it, keeping what was "
     "proven; for a space may be repeated, such as with the plans of its parts",
     .many = OPTION_ANY_NUMBER, .excludes = "--start --without --degrade"},
    {"--join", OPTION_PATH, AT(join),
     "with --certificate: adopt the arguments of this certificate of a part; may be repeated",
     .many = OPTION_ANY_NUMBER, .needs = "--certificate"},
    {"--part", OPTION_TEXT, AT(part_text),
     "I/N: search only part I of N of the space; --resume with the plans of all parts joins them",
     .needs = "-o", .excludes = "--without --degrade"},
    {"--share", OPTION_PATH, AT(share_path),
     "with --part: folder through which the searches of the parts share their best plans",
     .needs = "--part"},
    {"--without", OPTION_TEXT, AT(change.without),
     "solve as if this node were gone (if nodes have no names: GROUP-0 ... as in launch/hostfile, "
     "GROUP=N, or GROUP, all of it); reports what is lost and what moves relative to --start",
     .many = OPTION_ANY_NUMBER},
    {"--degrade", OPTION_TEXT, AT(change.degrade),
     "solve with changed bandwidth: A:B=X: from node A to node B times X; A=X: all links of A",
     .many = OPTION_ANY_NUMBER},
    {"--alternatives", OPTION_COUNT, AT(settings.alternatives),
     "also write the N best distinct plans, as PLAN-2.json ...", 1, 1000, .needs = "-o",
     .excludes = "--engine=glpk"},
    {"--front", OPTION_INT, AT(front),
     "write N points of time against quality, if compression costs quality, as PLAN-2.json ...", 1,
     1000, .needs = "-o", .excludes = "--alternatives"},
    {"--engine", OPTION_NAME, AT(settings.engine),
     "tree (default): boxes, then a tree of our own; or glpk: GLPK's branch and bound, each node "
     "ended by an exact bound",
     .names = engine_names},
    {"--progress", OPTION_FLAG, AT(progress), "print progress even if stderr is not a terminal"},
    {"--quiet", OPTION_FLAG, AT(quiet), "print no progress"},
    {"--program", OPTION_PATH, AT(settings.program_path),
     "write the program after elimination, with all path rows (.mps or .lp)"},
    {"--map", OPTION_PATH, AT(settings.map_path),
     "with --program: write the meaning of its columns", .needs = "--program"},
    {"--priced", OPTION_PATH, AT(priced_path),
     "write the priced problem to this file, and name it in the plan"},
    {"--layouts", OPTION_PATH, AT(layouts_path),
     "output file for the outcome of every layout, for a job with a space (default: "
     "PLAN.layouts.json)"},
    {"--certificate", OPTION_PATH, AT(certificate_path),
     "write the proof of the bound to this file, for plumbline check, and the priced problem next "
     "to it (or to --priced)"},
    {"--shrink-certificate", OPTION_FLAG, AT(shrink),
     "with --certificate: drop everything that the proof does not need; takes time",
     .needs = "--certificate"},
    {"--recheck", OPTION_FLAG, AT(settings.recheck),
     "evaluate the whole proof again from its stored numbers"},
    {"--memory-limit-mib", OPTION_INT, AT(memory_limit_mib),
     "limit on the address space of a worker process in MiB (0: no limit)", 0, 1 << 24},
};
const struct command command_solve = {
    .name = "solve",
    .text = "problem -> plan with a lower bound on all plans",
    .about = "Searches the job's layout, or all layouts of its space, until the plan is optimal or "
             "within --gap, or until --time-limit-s expires. The judge of verify audits the plan "
             "before it is written. With --without and --degrade it reports what is lost, and what "
             "moves, if nodes are lost or links degrade.",
    .usage = "plumbline solve PROBLEM.json [-o PLAN.json]",
    READS(struct solve_request, rows, {.settings = {SOLVE_DEFAULTS, .alternatives = 1}}),
    .run = solve_request_run,
};

enum status solve_request_complete(struct solve_request *r, struct error *err)
{
    struct solve_settings *s = &r->settings;
    TRY(read_change(r, err));
    TRY(read_part(r, err));
    if (!r->plan_path) r->plan_path = "-";
    s->evidence = r->certificate_path != NULL;
    s->memory_limit_bytes = r->memory_limit_mib << 20;
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
        if (options[i].given) return refuse(err, "%s: expected %s", options[i].option, expected);
    return OK;
}

// Refuses what is only for one layout without places.
static enum status refuse_single(const struct solve_request *r, const char *expected,
                                 struct error *err)
{
    const struct given single[] = {{r->shrink, "--shrink-certificate"},
                                   {r->settings.alternatives > 1, "--alternatives"},
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

static enum status refuse_with_energy(const struct solve_request *r, struct error *err)
{
    static const char expected[] = "a job whose objective is iteration_time, found energy";
    const struct given others[] = {{cluster_change_any(&r->change), "changes of the cluster"},
                                   {r->front > 0, "--front"},
                                   {r->resume.count > 0, "--resume"}};
    TRY(refuse_single(r, expected, err));
    return refuse_given(others, ARRAY_LENGTH(others), expected, err);
}

// What would take a program over node groups for the problem, or a plan without nodes for one.
static enum status refuse_with_named(const struct solve_request *r, struct error *err)
{
    const struct given others[] = {{cluster_change_any(&r->change), "changes of the cluster"},
                                   {r->settings.engine != ENGINE_TREE, "--engine"},
                                   {r->start_path, "--start"},
                                   {r->settings.recheck, "--recheck"},
                                   {r->resume.count > 0, "--resume"},
                                   {r->priced_path, "--priced"}};
    return refuse_given(others, ARRAY_LENGTH(others),
                        "stage_degrees uniform, or a cluster without places", err);
}

static enum status part_suits(const struct solve_request *r, const struct problem *problem,
                              struct error *err)
{
    enum objective objective = problem->job.objective;
    if (r->join.count && !problem->job.space.given)
        return refuse(err, "--join: expected a job with a space of layouts");
    if (!r->part.count) return OK;
    if (!problem->job.space.given)
        return refuse(err, "--part: expected a job with a space of layouts");
    if (problem->cluster.places.node_count)
        return refuse(err, "--part: expected a cluster without places");
    if (objective != OBJECTIVE_ITERATION_TIME && objective != OBJECTIVE_COST)
        return refuse(err, "--part: expected the objective iteration_time or cost, found %s",
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
        return refuse(err, "--certificate: expected another kind of job: %s", none);
    if (problem->job.space.given)
        return refuse_single(r, "a job with one layout, found a space of them", err);
    if (r->known.count) return refuse(err, "--known: expected a job with a space of layouts");
    if (r->layouts_path) return refuse(err, "--layouts: expected a job with a space of layouts");
    if (problem->job.stage_degrees == DEGREES_PER_GROUP)
        TRY(refuse_single(r, "stage_degrees uniform or per_stage, found per_group", err));
    if (places) TRY(refuse_single(r, "a cluster without places", err));
    if (places && job_has_widths(&problem->job)) TRY(refuse_with_named(r, err));
    if (problem->job.objective == OBJECTIVE_ENERGY) TRY(refuse_with_energy(r, err));
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
