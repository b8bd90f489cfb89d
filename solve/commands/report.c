// plumbline report PLAN: a plan for people, for a trace viewer, for a launcher. report --layouts
// FILE: the fate of each layout of a space. report --format latex|csv FILE...: a table for a paper,
// from plans and checkers' verdicts.
#include <stdio.h>
#include <string.h>

#include "data/base/file.h"
#include "data/base/options.h"
#include "data/results/verdict.h"
#include "formulate/price/range.h"
#include "solve/commands/nearest.h"
#include "solve/commands/one_recompute.h"
#include "solve/commands/verbs.h"
#include "solve/report/export/export.h"
#include "solve/report/html/html.h"
#include "solve/report/report.h"

command_function command_report;

enum format {
    FORMAT_TEXT,
    FORMAT_TRACE,
    FORMAT_MEGATRON,
    FORMAT_SBATCH,
    FORMAT_TORCHRUN,
    FORMAT_TORCHTITAN,
    FORMAT_TORCHTITAN_PYTHON,
    FORMAT_PYTORCH_SCHEDULE,
    FORMAT_DEEPSPEED,
    FORMAT_NEMO,
    FORMAT_CSV,
    FORMAT_LATEX,
    FORMAT_LINKS,
    FORMAT_HEATMAP,
    FORMAT_HTML,
    FORMAT_HOSTFILE,
    FORMAT_RANKFILE,
    FORMAT_HOSTS
};
static const char *const format_names[] = {"text",
                                           "trace",
                                           "megatron",
                                           "sbatch",
                                           "torchrun",
                                           "torchtitan",
                                           "torchtitan-python",
                                           "pytorch-schedule",
                                           "deepspeed",
                                           "nemo",
                                           "csv",
                                           "latex",
                                           "links",
                                           "heatmap",
                                           "html",
                                           "hostfile",
                                           "rankfile",
                                           "hosts",
                                           NULL};

enum { FILES_MOST = 1000, LAUNCHERS_LAST = FORMAT_NEMO };

// The launch formats, from FORMAT_MEGATRON to the last.
static enum status (*const launchers[])(const struct plan *, const struct plan *,
                                        const struct problem *, const char **, size_t *,
                                        struct arena *, struct error *) = {
    report_megatron,          report_sbatch,           report_torchrun,  report_torchtitan,
    report_torchtitan_python, report_pytorch_schedule, report_deepspeed, report_nemo};

static enum status write_layouts(const char *from, int64_t top, int format, const char *to,
                                 struct arena *arena, struct error *err)
{
    struct layouts layouts;
    const char *text;
    size_t length;
    if (format != FORMAT_TEXT && format != FORMAT_CSV)
        return fail(err, BAD_INPUT, "--format: expected text or csv with --layouts");
    TRY(layouts_load(&layouts, from, arena, err));
    report_layouts(&layouts, top, format == FORMAT_CSV, &text, &length, arena);
    return file_write(to, text, length, err);
}

// Whether the file is a checker's verdict; its loader finds any other error.
static bool is_verdict(const char *path, struct arena *arena)
{
    struct document d;
    struct error unread = {OK, ""};
    return document_read(&d, path, "plumbline.checked", arena, &unread) == OK;
}

// Plans in the given order with their verdicts; verdicts without a plan come last.
static enum status write_table(const char *const *files, int count, bool csv, const char *to,
                               struct arena *arena, struct error *err)
{
    struct report_row *rows = TAKE(arena, count, struct report_row);
    const struct checked **verdicts = TAKE(arena, count, const struct checked *);
    int row_count = 0, verdict_count = 0;
    const char *text;
    size_t length;
    for (int i = 0; i < count; i++) {
        if (is_verdict(files[i], arena)) {
            struct checked *c = TAKE(arena, 1, struct checked);
            TRY(checked_load(c, files[i], arena, err));
            verdicts[verdict_count++] = c;
        } else {
            struct plan *plan = TAKE(arena, 1, struct plan);
            TRY(plan_load(plan, files[i], arena, err));
            rows[row_count++] =
                (struct report_row){.plan = plan, .problem = origin_whole_problem(plan, arena)};
            TRY(origin_check_layers(plan, rows[row_count - 1].problem, err));
        }
    }
    for (int i = 0; i < verdict_count; i++) TRY(report_join(rows, &row_count, verdicts[i], err));
    report_table_of(rows, row_count, csv, &text, &length, arena);
    return file_write(to, text, length, err);
}

// ---- plans with a placement

enum { LINKS_SHOWN = 10 };

struct about_links {
    const char *problem;
    int64_t top;
    int format, node_order;
    const struct report_request *at_hand; // NULL: everything shown comes from files
};

// NULL: it is not where the plan says, or has changed.
static enum status find_problem(const struct problem **problem, const struct plan *plan,
                                const struct about_links *about, struct arena *arena,
                                struct error *err)
{
    *problem = about->at_hand && about->at_hand->problem ? about->at_hand->problem
                                                         : origin_whole_problem(plan, arena);
    return origin_check_layers(plan, *problem, err);
}

// The links of a placement; *found stays false if its problem is not available and was not named.
static enum status find_links(struct report_links *links, bool *found, const struct plan *plan,
                              const struct about_links *about, struct arena *arena,
                              struct error *err)
{
    const char *named = about->problem;
    struct problem *problem = TAKE(arena, 1, struct problem);
    *found = false;
    if (!plan->placement) return OK;
    if (about->at_hand && about->at_hand->problem) {
        *problem = *about->at_hand->problem;
    } else if (named) {
        TRY(problem_load(problem, named, arena, err));
        if (!origin_matches(plan, "cluster", &problem->cluster.document) ||
            !origin_matches(plan, "costs", &problem->costs.document))
            return fail(err, BAD_INPUT,
                        "%s: its cluster or its costs are not those that %s was made from", named,
                        plan->document.path);
    } else if (!origin_problem(plan, problem, arena) ||
               !origin_matches(plan, "costs", &problem->costs.document)) {
        return OK;
    }
    *found = true;
    return report_links_find(links, plan, problem, arena, err);
}

// A text, a table or a map with links; the text is made without them if they are not available.
static enum status make_with_links(const struct plan *plan, const struct about_links *about,
                                   const char **text, size_t *length, struct arena *arena,
                                   struct error *err)
{
    struct report_links links;
    const struct problem *problem;
    bool found;
    TRY(find_problem(&problem, plan, about, arena, err));
    TRY(find_links(&links, &found, plan, about, arena, err));
    if (about->format == FORMAT_TEXT)
        return report_text(plan, problem, found ? &links : NULL,
                           about->top < 0 ? LINKS_SHOWN : about->top, text, length, arena, err);
    if (!plan->placement)
        return fail(
            err, BAD_INPUT,
            "%s: placement: expected a plan for a cluster with places, found one for groups",
            plan->document.path);
    if (!found)
        return fail(err, BAD_INPUT,
                    "%s: the problem it was made from is not where it says, or has changed since; "
                    "expected --problem FILE",
                    plan->document.path);
    if (about->format == FORMAT_LINKS) report_links_csv(&links, text, length, arena);
    else report_heatmap(&links, about->node_order == 1, text, length, arena);
    return OK;
}

// ---- the page

enum { LAYOUTS_SHOWN = 200 };

// For a plan whose problem is available; nothing if its times are not those of the stages alone, or
// if some end of the cost ranges cannot be priced.
static enum status find_sensitivity(struct report_page *page, struct arena *arena,
                                    struct error *err)
{
    struct moved_costs_list *moved = TAKE(arena, 1, struct moved_costs_list);
    struct report_sensitivity *found = TAKE(arena, COST_GROUPS, struct report_sensitivity);
    int64_t ns[COST_GROUPS * COST_ENDS];
    int count = 0;
    if (!page->problem || !page->plan->stage_count || page->plan->placement) return OK;
    struct problem problem = problem_with_layout(page->problem, &page->plan->layout);
    range_move_costs(moved, &problem.costs, arena);
    TRY(range_times(ns, moved, page->plan, &problem, arena, err));
    for (int i = 0; i < moved->count; i++) {
        const struct moved_costs *m = &moved->items[i];
        if (!ns[i]) return OK;
        if (!count || found[count - 1].group != m->group) found[count++].group = m->group;
        found[count - 1].ns[m->end] = ns[i];
    }
    page->sensitivity = found;
    page->sensitivity_count = count;
    return OK;
}

// The named layouts, or those that solve wrote next to the plan, if they are of its problem.
static enum status find_layouts(struct report_page *page, const char *named, struct arena *arena,
                                struct error *err)
{
    struct layouts *l = TAKE(arena, 1, struct layouts);
    struct error unread = {OK, ""};
    const struct document *of = &page->plan->document;
    const char *path = named ? named
                             : arena_print(arena, "%s.layouts.json", path_stem(of->path, arena));
    enum status status = layouts_load(l, path, arena, named ? err : &unread);
    if (status != OK) return named ? status : OK;
    for (int i = 0; i < l->document.source_count; i++) {
        const struct source *s = &l->document.sources[i];
        const char *hash = source_hash(of, s->role);
        if (hash && !strcmp(hash, s->sha256)) continue;
        if (!named) return OK;
        return fail(err, BAD_INPUT, "%s: made_from: its %s is not the one that %s was made from",
                    path, s->role, of->path);
    }
    page->layouts = l;
    return OK;
}

static enum status make_page(const struct plan *plan, const struct about_links *about,
                             const char *layouts, const char *progress, const char **text,
                             size_t *length, struct arena *arena, struct error *err)
{
    struct report_links links;
    struct report_page page = {.plan = plan,
                               .top = LINKS_SHOWN,
                               .layouts_top = about->top < 0 ? LAYOUTS_SHOWN : about->top};
    bool found;
    TRY(find_problem(&page.problem, plan, about, arena, err));
    TRY(find_links(&links, &found, plan, about, arena, err));
    if (found) page.links = &links;
    if (about->at_hand && about->at_hand->layouts) page.layouts = about->at_hand->layouts;
    else if (layouts || plan->document.path) TRY(find_layouts(&page, layouts, arena, err));
    TRY(find_sensitivity(&page, arena, err));
    if (progress && plan->placement)
        return fail(err, BAD_INPUT,
                    "--progress: expected a plan without a placement: lines of its search are of "
                    "relaxations");
    if (progress) TRY(report_history_read(&page, progress, arena, err));
    return report_html(&page, text, length, arena, err);
}

enum status report_run(const struct report_request *r, const char **text, size_t *length,
                       struct arena *arena, struct error *err)
{
    const struct about_links about = {.top = -1, .format = FORMAT_TEXT, .at_hand = r};
    return r->html ? make_page(r->plan, &about, NULL, NULL, text, length, arena, err)
                   : make_with_links(r->plan, &about, text, length, arena, err);
}

// The first word of each line that is neither empty nor a comment.
static enum status read_hosts(struct launch_request *r, const char *path, struct arena *arena,
                              struct error *err)
{
    const char *text, **names;
    size_t size;
    int most = 1;
    TRY(file_read(path, &text, &size, arena, err));
    for (size_t i = 0; i < size; i++) most += text[i] == '\n';
    r->hosts = names = TAKE(arena, most, const char *);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *word = line + strspn(line, " \t\r");
        size_t length = strcspn(word, " \t\r\n");
        if (!length || *word == '#') continue;
        names[r->host_count] = arena_print(arena, "%.*s", (int)length, word);
        for (int i = 0; i < r->host_count; i++)
            if (!strcmp(names[i], names[r->host_count]))
                return fail(err, BAD_INPUT, "%s: '%s' appears twice", path, names[i]);
        r->host_count++;
    }
    return OK;
}

static enum status make_hosts(const struct plan *plan, const struct problem *problem,
                              const char *hosts, struct launch_request *r, const char **text,
                              size_t *length, struct arena *arena, struct error *err)
{
    r->problem = problem;
    if (hosts) TRY(read_hosts(r, hosts, arena, err));
    return report_launch(plan, r, text, length, arena, err);
}

// The frameworks of the formats.
static const enum framework format_frameworks[] = {
    [FORMAT_MEGATRON] = FRAMEWORK_MEGATRON,
    [FORMAT_SBATCH] = FRAMEWORK_MEGATRON,
    [FORMAT_TORCHRUN] = FRAMEWORK_MEGATRON,
    [FORMAT_TORCHTITAN] = FRAMEWORK_TORCHTITAN,
    [FORMAT_TORCHTITAN_PYTHON] = FRAMEWORK_TORCHTITAN,
    [FORMAT_PYTORCH_SCHEDULE] = FRAMEWORK_TORCHTITAN,
    [FORMAT_DEEPSPEED] = FRAMEWORK_DEEPSPEED,
    [FORMAT_NEMO] = FRAMEWORK_MEGATRON};

static enum status find_nearest(struct plan *plan, struct problem *problem, int format,
                                struct nearest_request *request, int *exit_code,
                                struct arena *arena, struct error *err)
{
    if (format < FORMAT_MEGATRON || format > LAUNCHERS_LAST)
        return fail(err, BAD_INPUT, "--nearest: requires a framework's --format");
    if (!plan->stage_count)
        return fail(err, BAD_INPUT, "%s: the plan has no stages (%s), so there is no nearest plan",
                    plan->document.path, outcome_names[plan->outcome]);
    if (!problem)
        return fail(err, BAD_INPUT,
                    "%s: its problem is missing or has changed since: --nearest solves it again",
                    plan->document.path);
    request->framework = format_frameworks[format];
    request->alike = format == FORMAT_NEMO;
    return nearest_plan(plan, problem, request, exit_code, arena, err);
}

// Configurations have one recomputation setting, flags one for each rank: if the stages' settings
// differ more, the nearest is used.
static enum status make_launch(const struct plan *plan, const struct problem *problem, int format,
                               const char **text, size_t *length, struct arena *arena,
                               struct error *err)
{
    struct nearest_request of = {.framework = format_frameworks[format],
                                 .alike = format == FORMAT_NEMO};
    bool by_rank = nearest_by_rank(&of);
    bool tells = format == FORMAT_MEGATRON || format == FORMAT_TORCHTITAN ||
                 format == FORMAT_TORCHTITAN_PYTHON || format == FORMAT_DEEPSPEED ||
                 format == FORMAT_NEMO;
    const struct plan *told = NULL;
    if (tells && problem && plan->stage_count &&
        !nearest_tells_recompute(plan, problem, &of, arena))
        TRY(one_recompute_find(&told, plan, problem, of.framework, by_rank, arena, err));
    if (told)
        fprintf(stderr,
                "%s has one setting of recomputation for all stages%s, and the plan's differ: %s; "
                "--nearest FOLDER solves for others\n",
                format_names[format], by_rank ? " of a rank" : "",
                report_told_text(plan, told, by_rank, arena));
    return launchers[format - FORMAT_MEGATRON](plan, told, problem, text, length, arena, err);
}

// What the verdict confirms is certified.
static enum status take_verdict(struct plan *plan, const char *verdict, struct arena *arena,
                                struct error *err)
{
    bool covers;
    int64_t claimed_ns = plan->outcome == OUTCOME_INFEASIBLE ? -1 : plan->bound_ns;
    TRY(verdict_covers(&covers, verdict, &plan->document, claimed_ns, arena, err));
    if (covers) plan->claim = CLAIM_CERTIFIED;
    return OK;
}

enum status command_report(int argc, char **argv, int *exit_code, struct arena *arena,
                           struct error *err)
{
    static const char *const node_orders[] = {"cluster", "plan", NULL};
    struct about_links about = {.top = -1};
    int64_t cores = 1;
    int format = FORMAT_TEXT, order = RANK_ORDER_DATA_FIRST, operands;
    bool helped;
    const char *to = "-", *files[FILES_MOST], *layouts = NULL, *verdict = NULL, *progress = NULL,
               *text;
    const char *hosts = NULL;
    struct nearest_request nearest = {.time_limit_s = 45};
    size_t length;
    const struct option options[] = {
        {"--format", OPTION_NAME, &format, 0, 0, format_names,
         "output format. For reading: text (default), html (one page). trace: Chrome/Perfetto "
         "JSON. For launching: megatron (Megatron-LM flags), sbatch (Slurm script), torchrun "
         "(script to run on each node), torchtitan (TOML, 0.2), torchtitan-python (0.3), "
         "pytorch-schedule (CSV of passes for torch.distributed.pipelining), deepspeed (JSON), "
         "nemo (YAML of NeMo's Megatron Bridge). csv, latex: table of plans and verdicts. For a "
         "placement: links (links in use, as CSV), heatmap (all links, as SVG). Hosts of ranks: "
         "hostfile (SLURM_HOSTFILE), rankfile (Open MPI), hosts (torchrun's order)"},
        {"--hosts", OPTION_PATH, &hosts, 0, 0, NULL,
         "for hostfile, rankfile and hosts, if the cluster does not name its nodes: file with one "
         "node name per line (default: GROUP-0, GROUP-1 ...)"},
        {"--rank-order", OPTION_NAME, &order, 0, 0, rank_order_names,
         "how the framework numbers ranks: Megatron-LM's default, or its --use-tp-pp-dp-mapping"},
        {"--cores-per-rank", OPTION_INT, &cores, 1, 4096, NULL,
         "for a rankfile: number of host cores bound to each rank (default: 1)"},
        {"--layouts", OPTION_PATH, &layouts, 0, 0, NULL,
         "report the layouts of a space instead of a plan; with html, in addition to it (default: "
         "the file that solve wrote next to the plan)"},
        {"--top", OPTION_INT, &about.top, 0, 1e9, NULL,
         "with --layouts: number of lines, best first (default: text 20, html 200, csv all; 0: "
         "all); for a placement: number of messages, longest first (default: 10)"},
        {"--node-order", OPTION_NAME, &about.node_order, 0, 0, node_orders,
         "for heatmap: order nodes by switches as in the cluster, or by replica as in the plan"},
        {"--problem", OPTION_PATH, &about.problem, 0, 0, NULL,
         "for a placement: its problem, if it is not where the plan says"},
        {"--verdict", OPTION_PATH, &verdict, 0, 0, NULL,
         "verdict of verify --certificate: what it confirms is reported as certified; without "
         "one, the bound is reported as not audited"},
        {"--progress", OPTION_PATH, &progress, 0, 0, NULL,
         "with html: stderr of solve --progress, to plot best plan and bound over time"},
        {"--nearest", OPTION_PATH, &nearest.folder, 0, 0, NULL,
         "with a framework's format: if it cannot express the plan, solve for the nearest plan "
         "that it can, report the cost and the changes, and export that; its problem and plan are "
         "written to this folder"},
        {"--time-limit-s", OPTION_NUMBER, &nearest.time_limit_s, 0, 1e9, NULL,
         "with --nearest: time limit of each solve in seconds (default: 45; 0: none)"},
        {"-o", OPTION_PATH, &to, 0, 0, NULL, "output file (default: -, standard output)"},
    };
    struct plan plan;
    struct problem problem;
    bool known = false;
    TRY(options_read(
        argc, argv,
        "plumbline report [--format "
        "text|html|trace|megatron|sbatch|torchrun|torchtitan|torchtitan-python|pytorch-schedule|"
        "deepspeed|nemo|"
        "links|heatmap|hostfile|rankfile|hosts] "
        "[--verdict FILE] [-o FILE] PLAN\n       plumbline report --format latex|csv [-o FILE] "
        "PLAN|CHECKED...",
        options, ARRAY_LENGTH(options), files, 0, FILES_MOST, &operands, &helped, err));
    *exit_code = 0;
    if (helped) return OK;
    bool table = format == FORMAT_LATEX || format == FORMAT_CSV, page = format == FORMAT_HTML;
    if (page ? !operands : (operands > 0) == (layouts != NULL))
        return fail(err, BAD_INPUT,
                    page ? "expected a PLAN" : "expected a PLAN, or --layouts FILE");
    if (operands > 1 && !table)
        return fail(err, BAD_INPUT,
                    "unexpected operand '%s': more than one plan requires --format latex or csv",
                    files[1]);
    if (verdict && ((layouts && !page) || table))
        return fail(err, BAD_INPUT, "--verdict: expected a single plan");
    if (progress && !page) return fail(err, BAD_INPUT, "--progress: requires --format html");
    if (layouts && !page)
        return write_layouts(layouts, about.top < 0 && format == FORMAT_TEXT ? 20 : about.top,
                             format, to, arena, err);
    if (table && about.top >= 0)
        return fail(err, BAD_INPUT, "--top: requires --layouts or a plan with a placement");
    if (table) return write_table(files, operands, format == FORMAT_CSV, to, arena, err);
    TRY(plan_load(&plan, files[0], arena, err));
    if (verdict) TRY(take_verdict(&plan, verdict, arena, err));
    about.format = format;
    if (hosts && format < FORMAT_HOSTFILE)
        return fail(err, BAD_INPUT, "--hosts: requires --format hostfile, rankfile or hosts");
    if ((format >= FORMAT_MEGATRON && format <= LAUNCHERS_LAST) || format >= FORMAT_HOSTFILE)
        known = origin_problem(&plan, &problem, arena);
    TRY(origin_check_layers(&plan, known ? &problem : NULL, err));
    if (layout_has_grid(&plan.layout) && !nearest.folder && format >= FORMAT_MEGATRON &&
        format <= LAUNCHERS_LAST)
        return fail(err, BAD_INPUT,
                    "%s: layout.tensor_grid: no framework that plans leave for runs a tensor grid; "
                    "expected a plan without (--nearest FOLDER finds one)",
                    plan.document.path);
    if (nearest.folder) {
        TRY(find_nearest(&plan, known ? &problem : NULL, format, &nearest, exit_code, arena, err));
        if (*exit_code && *exit_code != EXIT_OPEN) return OK;
    }
    if (about.top >= 0 && !page && (format != FORMAT_TEXT || !plan.placement))
        return fail(err, BAD_INPUT, "--top: requires --layouts or a plan with a placement");
    if (page) TRY(make_page(&plan, &about, layouts, progress, &text, &length, arena, err));
    else if (format == FORMAT_TEXT || format == FORMAT_LINKS || format == FORMAT_HEATMAP)
        TRY(make_with_links(&plan, &about, &text, &length, arena, err));
    else if (format == FORMAT_TRACE) TRY(report_trace(&plan, &text, &length, arena, err));
    else if (format >= FORMAT_HOSTFILE)
        TRY(make_hosts(
            &plan, known ? &problem : NULL, hosts,
            &(struct launch_request){.format = (enum launch_format)(format - FORMAT_HOSTFILE),
                                     .order = (enum rank_order)order,
                                     .cores_per_rank = (int)cores},
            &text, &length, arena, err));
    else TRY(make_launch(&plan, known ? &problem : NULL, format, &text, &length, arena, err));
    return file_write(to, text, length, err);
}
