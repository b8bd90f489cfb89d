// plumbline price: turns a problem into the priced document, whose hash identifies the problem in
// plans and proofs.
#include <string.h>

#include "data/kinds/schedules.h"
#include "data/results/plan.h"
#include "formulate/commands.h"
#include "formulate/price/price.h"

static const char *said(const struct layout *l, struct arena *arena)
{
    return arena_print(arena, "tensor %d, context %d, data %d, pipeline %d, micro-batch %d, %s",
                       l->tensor, l->context, l->data, l->pipeline, l->micro_batch,
                       schedule_names[l->schedule]);
}

static enum status plan_layout(struct layout *to, const struct problem *p, const char *path,
                               struct arena *arena, struct error *err)
{
    struct plan plan;
    struct space_limits limits = problem_space_limits(p);
    TRY(plan_load(&plan, path, arena, err));
    *to = plan.layout;
    bool is_of = p->job.space.given ? space_contains(&p->job.space, &limits, to, NULL)
                                    : layout_equal(to, &p->job.layout);
    if (is_of) return OK;
    return refuse(err, "--plan: %s: expected a plan of this problem, found the layout %s", path,
                  said(to, arena));
}

enum status one_layout(struct problem *one, const struct problem *p, const char *plan, bool alike,
                       struct arena *arena, struct error *err)
{
    struct layout layout = p->job.layout;
    struct space_limits limits = problem_space_limits(p);
    const struct framework_of of = space_framework_of(&limits, &layout);
    const char *name = document_name(&p->job.document, "job");
    *one = *p;
    if (job_has_widths(&p->job) && p->cluster.places.node_count)
        return refuse(err,
                      "%s: stage_degrees: expected uniform, or a cluster without places: what each "
                      "stage's nodes decide is in no priced document",
                      name);
    if (plan) TRY(plan_layout(&layout, p, plan, arena, err));
    if (!p->job.space.given) return OK;
    *one = problem_with_layout(p, &layout);
    if (plan) return OK;
    const char *key = framework_refusal(p->job.space.framework, &layout, &of);
    if (key && (alike || strcmp(key, "recompute")))
        return refuse(
            err,
            "%s: layout.%s: expected what the space's framework %s runs (%s): state a plan "
            "of the space with --plan, whose layout is then meant",
            name, key, framework_names[p->job.space.framework],
            strcmp(key, "recompute") ? "as the job's layout it is one of many"
                                     : "one setting for all stages");
    struct error wrong = {OK};
    if (problem_check_layout(one, &wrong) != OK)
        return fail(err, wrong.status, "%s; the job has a space: --plan prices a plan's layout",
                    wrong.text);
    fprintf(stderr,
            "plumbline: %s: has a space of layouts, which plumbline solve searches; only its "
            "layout is priced (--plan: a plan's): %s\n",
            name, said(&layout, arena));
    return OK;
}

struct options {
    const char *problem, *plan, *out;
};
static const struct option_row rows[] = {
    {"PROBLEM", OPTION_PATH, OPT(problem), .low = 1},
    OPTION_OF_PLAN,
    {"-o", OPTION_PATH, OPT(out), "output file (default: standard output)"},
};

COMMAND_RUN(run)
{
    const struct options *o = options;
    struct problem problem, whole;
    struct priced priced;
    TRY(problem_load(&whole, o->problem, arena, err));
    TRY(one_layout(&problem, &whole, o->plan, false, arena, err));
    const char *doubt = cluster_doubt(&problem.cluster, arena);
    if (doubt) fprintf(stderr, "warning: %s\n", doubt);
    TRY(price_problem(&priced, &problem, arena, err));
    problem_made(&priced.document, &problem, o->out, arena);
    return priced_save(&priced, o->out, arena, err);
}

const struct command command_price = {
    .name = "price",
    .text = "problem -> priced document (integer ns and bytes)",
    .about = "Writes the cost of each layer, transfer and synchronisation in whole nanoseconds and "
             "bytes: the numbers that solve uses.",
    .usage = "plumbline price PROBLEM [--plan PLAN] [-o FILE]",
    READS(struct options, rows, {.out = "-"}),
    .run = run,
};
