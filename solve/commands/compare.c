// plumbline compare PLAN...: plans side by side; for the first also alternatives with its layout:
// the uniform split, a split by hand, the framework's order of nodes.
#include <string.h>

#include "formulate/predict/predict.h"
#include "formulate/price/price.h"
#include "solve/commands/commands.h"
#include "solve/commands/verbs.h"
#include "solve/report/compare/compare.h"

enum { PLANS_MOST = 20, BASELINES = 3 };

struct options {
    struct option_texts files;
    const char *split, *problem, *to;
    int recompute, format;
    bool uniform, in_order;
};

static const char *const recompute_choices[] = {"none", "selective", "full", NULL};
static const char *const format_names[] = {"text", "html", "latex", "csv", NULL};

// ---- plans as they are

// File names, if they distinguish the plans; else the given paths.
static void name_plans(struct compared *items, const struct options *r, struct arena *arena)
{
    bool alike = false;
    for (int i = 0; i < r->files.count; i++)
        for (int k = 0; k < i; k++)
            alike = alike || !strcmp(path_name(r->files.items[i]), path_name(r->files.items[k]));
    for (int i = 0; i < r->files.count; i++)
        items[i].name = path_stem(alike ? r->files.items[i] : path_name(r->files.items[i]), arena);
}

static enum status load_plans(struct compared *items, const struct options *r, struct arena *arena,
                              struct error *err)
{
    name_plans(items, r, arena);
    for (int i = 0; i < r->files.count; i++) {
        struct plan *plan = TAKE(arena, 1, struct plan);
        TRY(plan_load(plan, r->files.items[i], arena, err));
        if (!plan->stage_count)
            return refuse(err, "%s: stages: expected a plan with stages, found none",
                          r->files.items[i]);
        items[i].plan = plan;
        items[i].problem = origin_whole_problem(plan, arena);
        TRY(origin_check_layers(plan, items[i].problem, err));
    }
    return OK;
}

// ---- the alternatives

static enum status find_problem(const struct problem **problem, const struct compared *first,
                                const struct options *r, struct arena *arena, struct error *err)
{
    const struct problem *whole = first->problem;
    struct problem *one = TAKE(arena, 1, struct problem);
    if (r->problem) {
        struct problem *named = TAKE(arena, 1, struct problem);
        TRY(problem_load(named, r->problem, arena, err));
        whole = named;
    }
    if (!whole)
        return refuse(err,
                      "%s: its problem is missing or has changed since; expected --problem FILE",
                      r->files.items[0]);
    *one = problem_with_layout(whole, &first->plan->layout);
    *problem = one;
    return OK;
}

// The least recomputation, the same on all stages, with which it fits into memory; if none fits,
// the most.
static enum status make_split(struct compared *item, const struct problem *problem,
                              const struct options *r, const char *split, struct arena *arena,
                              struct error *err)
{
    struct plan *plan = TAKE(arena, 1, struct plan);
    struct placement placement;
    int first = r->recompute < 0 ? RECOMPUTE_NONE : r->recompute,
        last = r->recompute < 0 ? RECOMPUTE_FULL : r->recompute, taken = -1;
    for (int mode = first; mode <= last; mode++) {
        if (r->recompute < 0 && mode != RECOMPUTE_NONE && !problem->job.recompute[mode]) continue;
        TRY(split ? placement_stated(&placement, problem, split, (enum recompute)mode, err)
                  : placement_equal(&placement, problem, (enum recompute)mode, err));
        TRY(placement_plan(plan, problem, &placement, arena, err));
        taken = mode;
        if (placement_fits(plan)) break;
    }
    *item = (struct compared){
        arena_print(arena, "%s, recompute %s", split ? "split" : "uniform", recompute_names[taken]),
        plan, problem};
    return OK;
}

static enum status make_order(struct compared *item, const struct problem *problem,
                              const struct options *r, const struct plan *of, struct arena *arena,
                              struct error *err)
{
    struct plan *plan = TAKE(arena, 1, struct plan);
    struct priced *priced = TAKE(arena, 1, struct priced);
    bool found;
    if (!of->placement)
        return refuse(err,
                      "--in-order: %s: placement: expected a plan for a cluster with places, found "
                      "one for groups",
                      r->files.items[0]);
    TRY(price_problem(priced, problem, arena, err));
    TRY(placed_in_order(plan, &found, of, priced, arena, err));
    if (!found)
        return refuse(
            err, "--in-order: %s: its layers do not fit onto the nodes in the framework's order",
            r->files.items[0]);
    *item = (struct compared){"nodes in order", plan, problem};
    return OK;
}

static enum status make_baselines(struct compared *items, int *count, const struct options *r,
                                  struct arena *arena, struct error *err)
{
    const struct problem *problem = NULL;
    if (!r->uniform && !r->split && !r->in_order) return OK;
    TRY(find_problem(&problem, &items[0], r, arena, err));
    if ((r->uniform || r->split) && items[0].plan->placement)
        return refuse(err,
                      "%s: a split is compared on groups of nodes, and its cluster has places; "
                      "--in-order compares its order of nodes",
                      r->files.items[0]);
    if (r->uniform) TRY(make_split(&items[(*count)++], problem, r, NULL, arena, err));
    if (r->split) TRY(make_split(&items[(*count)++], problem, r, r->split, arena, err));
    if (r->in_order) TRY(make_order(&items[(*count)++], problem, r, items[0].plan, arena, err));
    return OK;
}

static const struct option_row rows[] = {
    {"--uniform", OPTION_FLAG, OPT(uniform),
     "also compare the first plan's layout with layers spread equally over its stages"},
    {"--split", OPTION_TEXT, OPT(split),
     "also compare it with this many layers on each stage, such as 8,8,9,7; embedding and head are "
     "on the first and the last"},
    {"--recompute", OPTION_NAME, OPT(recompute),
     "recomputation of these, on all stages (default: the least that fits in memory)",
     .names = recompute_choices, .needs = "--uniform|--split"},
    {"--in-order", OPTION_FLAG, OPT(in_order),
     "also compare the first plan with its ranks on the nodes in a framework's order"},
    {"--problem", OPTION_PATH, OPT(problem),
     "problem of the first plan, if it is not where the plan states"},
    {"--format", OPTION_NAME, OPT(format),
     "output format: text (default), web page, table for a paper, or values",
     .names = format_names},
    {"-o", OPTION_PATH, OPT(to), "output file (default: -, standard output)"},
    {"PLAN", OPTION_PATH, OPT(files), .low = 1, .many = PLANS_MOST},
};

static enum status compare(struct text *out, const struct options *r, struct error *err)
{
    struct compared items[PLANS_MOST + BASELINES];
    int count = r->files.count;
    TRY(load_plans(items, r, out->arena, err));
    TRY(make_baselines(items, &count, r, out->arena, err));
    return report_compare(out, items, count, (enum compare_format)r->format, err);
}

COMMAND_RUN(run)
{
    const struct options *r = options;
    struct text out;
    text_begin(&out, arena);
    TRY(compare(&out, r, err));
    return file_write(r->to, out.text, out.length, err);
}

const struct command command_compare = {
    .name = "compare",
    .text = "compare plans side by side, and with the uniform split",
    .about = "Compares time, memory, where the time goes and what is placed elsewhere with the "
             "first plan; on request also with its layout under equal or given stages, or with its "
             "nodes in a framework's order.",
    .usage = "plumbline compare [--uniform] [--split LAYERS,...] [--in-order] [--format "
             "text|html|latex|csv] [-o FILE] PLAN...",
    READS(struct options, rows, {.recompute = -1, .to = "-"}),
    .run = run,
};

enum status compare_words(struct text *out, int argc, char **argv, struct error *err)
{
    struct options o;
    TRY(command_read_options(&command_compare, &o, argc, argv, out->arena, err));
    if (strcmp(o.to, "-")) return refuse(err, "-o: the text is returned, not written");
    return compare(out, &o, err);
}
