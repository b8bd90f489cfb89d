// plumbline report PLAN: a plan for people, for a trace viewer, for a launcher. report --layouts
// FILE: the fate of each layout of a space. report --format latex|csv FILE...: a table for a paper,
// from plans and checkers' verdicts.
#include <inttypes.h>
#include <string.h>

#include "data/frameworks/models.h"
#include "data/results/verdict.h"
#include "solve/commands/commands.h"
#include "solve/commands/internal.h"
#include "solve/commands/verbs.h"
#include "solve/report/export/export.h"

#define FORMAT_NAME(constant, name, ...) name,
static const char *const format_names[] = {REPORT_FORMATS(FORMAT_NAME) NULL};

enum { FILES_MOST = 1000 };
// Of a table of layouts: how many lines are announced; the bytes of one, and those held to make it.
enum { MANY_LINES = 100000, LINE_BYTES = 130, HELD_BYTES = 205 };

#define FORMAT_LAUNCHER(constant, name, framework, launcher) launcher,
static export_function *const launchers[FORMAT_COUNT] = {REPORT_FORMATS(FORMAT_LAUNCHER)};

static enum status write_layouts(const char *from, int64_t top, int format, const char *to,
                                 struct arena *arena, struct error *err)
{
    struct layouts layouts;
    if (format != FORMAT_TEXT && format != FORMAT_CSV)
        return refuse(err, "--format: expected text or csv with --layouts");
    TRY(layouts_load(&layouts, from, arena, err));
    if (top <= 0 && layouts.count > MANY_LINES)
        fprintf(stderr,
                "plumbline report: %" PRId64 " layouts, each a line: some %.1f GB, made in %.1f GB "
                "of memory; --top N writes the N best\n",
                layouts.count, (double)layouts.count * LINE_BYTES / 1e9,
                (double)layouts.count * HELD_BYTES / 1e9);
    return report_layouts(&layouts, top, format == FORMAT_CSV, to, arena, err);
}

// Plans in the given order with their verdicts; verdicts without a plan come last.
static enum status write_table(const char *const *files, int count, bool csv, const char *to,
                               struct arena *arena, struct error *err)
{
    struct report_row *rows = TAKE(arena, count, struct report_row);
    const struct checked **verdicts = TAKE(arena, count, const struct checked *);
    int row_count = 0, verdict_count = 0;
    struct text out;
    for (int i = 0; i < count; i++) {
        if (document_is(files[i], "plumbline.checked", arena)) {
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
    text_begin(&out, arena);
    report_table_of(&out, rows, row_count, csv);
    return file_write(to, out.text, out.length, err);
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
                return refuse(err, "%s: '%s' appears twice", path, names[i]);
        r->host_count++;
    }
    return OK;
}

static enum status make_hosts(struct text *out, const struct plan *plan,
                              const struct problem *problem, const char *hosts,
                              struct launch_request *r, struct error *err)
{
    r->problem = problem;
    if (hosts) TRY(read_hosts(r, hosts, out->arena, err));
    return report_launch(out, plan, r, err);
}

#define FORMAT_FRAMEWORK(constant, name, framework, launcher) FRAMEWORK_##framework,
static const enum framework format_frameworks[] = {REPORT_FORMATS(FORMAT_FRAMEWORK)};

static enum status find_nearest(struct plan *plan, struct problem *problem, int format,
                                struct nearest_request *request, int *exit_code,
                                struct arena *arena, struct error *err)
{
    if (!plan->stage_count)
        return refuse(err, "%s: the plan has no stages (%s), so there is no nearest plan",
                      plan->document.path, outcome_names[plan->outcome]);
    if (!problem)
        return refuse(err,
                      "%s: its problem is missing or has changed since: --nearest solves it again",
                      plan->document.path);
    request->framework = format_frameworks[format];
    return nearest_plan(plan, problem, request, exit_code, arena, err);
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

// ---- the command

struct options {
    struct about_links about; // format is set later
    int64_t cores;
    int format, order, framework;
    struct option_texts files;
    const char *to, *layouts, *verdict, *progress, *hosts;
    struct nearest_request nearest;
};

static const char *const node_orders[] = {"cluster", "plan", NULL};
static const struct option_row rows[] = {
    {"--format", OPTION_NAME, OPT(format),
     "output format. For reading: text (default), html (one page). trace: Chrome/Perfetto JSON. "
     "For launching: megatron (Megatron-LM flags), sbatch (Slurm script), torchrun (script to run "
     "on each node), try (script that measures iterations on mock data), torchtitan (TOML, 0.2), "
     "torchtitan-python (0.3), pytorch-schedule (CSV of passes for torch.distributed.pipelining), "
     "deepspeed (JSON), nemo (YAML of NeMo's Megatron Bridge). csv, latex: table of plans and "
     "verdicts. For a placement: links (links in use, as CSV), heatmap (all links, as SVG). Hosts "
     "of ranks: hostfile (SLURM_HOSTFILE), rankfile (Open MPI), hosts (torchrun's order). launch: "
     "all files that start it, into the folder -o",
     .names = format_names},
    {"--for", OPTION_NAME, OPT(framework),
     "with launch: the framework (default: the one that the job is planned for)",
     .names = framework_names, .needs = "--format=launch"},
    {"--hosts", OPTION_PATH, OPT(hosts),
     "for hostfile, rankfile and hosts, if the cluster does not name its nodes: file with one node "
     "name per line (default: GROUP-0, GROUP-1 ...)",
     .needs = "--format=hostfile|rankfile|hosts"},
    {"--rank-order", OPTION_NAME, OPT(order),
     "how the framework numbers ranks: Megatron-LM's default, or its --use-tp-pp-dp-mapping",
     .names = rank_order_names},
    {"--cores-per-rank", OPTION_INT, OPT(cores),
     "for a rankfile: number of host cores bound to each rank (default: 1)", 1, 4096},
    {"--layouts", OPTION_PATH, OPT(layouts),
     "report the layouts of a space instead of a plan; with html, in addition to it (default: the "
     "file that solve wrote next to the plan)"},
    {"--top", OPTION_INT, OPT(about.top),
     "with --layouts: number of lines, best first (default: text 20, html 200, csv all; 0: all); "
     "for a placement: number of messages, longest first (default: 10)",
     0, 1e9},
    {"--node-order", OPTION_NAME, OPT(about.node_order),
     "for heatmap: order nodes by switches as in the cluster, or by replica as in the plan",
     .names = node_orders},
    {"--problem", OPTION_PATH, OPT(about.problem),
     "for a placement: its problem, if it is not where the plan states"},
    {"--verdict", OPTION_PATH, OPT(verdict),
     "verdict of verify --certificate: what it confirms is reported as certified; without one, the "
     "bound is reported as not audited",
     .excludes = "--format=latex|csv"},
    {"--against", OPTION_PATH, OPT(about.against),
     "a run of the plan (plumbline run): what was predicted beside what was measured, what the "
     "difference is made of, and both charts; with html and trace in addition to the plan",
     .needs = "--format=text|html|trace"},
    {"--progress", OPTION_PATH, OPT(progress),
     "with html: stderr of solve --progress, to plot best plan and bound over time",
     .needs = "--format=html"},
    {"--nearest", OPTION_PATH, OPT(nearest.folder),
     "with a framework's format: if it cannot express the plan, solve for the nearest plan that it "
     "can, report the cost and the changes, and export that; its problem and plan are written to "
     "this folder",
     .needs = "--format=megatron|sbatch|torchrun|try|torchtitan|torchtitan-python|pytorch-schedule|"
              "deepspeed|nemo"},
    {"--time-limit-s", OPTION_NUMBER, OPT(nearest.time_limit_s),
     "with --nearest: time limit of each solve in seconds (default: 45; 0: none)", 0, 1e9},
    {"-o", OPTION_PATH, OPT(to), "output file (default: -, standard output)"},
    {"PLAN", OPTION_PATH, OPT(files), .many = FILES_MOST},
};

static bool is_launch(int format) { return launchers[format] || format == FORMAT_LAUNCH; }

static enum status check_options(const struct options *o, struct error *err)
{
    bool table = o->format == FORMAT_LATEX || o->format == FORMAT_CSV,
         page = o->format == FORMAT_HTML;
    if (page ? !o->files.count : (o->files.count > 0) == (o->layouts != NULL))
        return refuse(err, page ? "expected a PLAN" : "expected a PLAN, or --layouts FILE");
    if (o->files.count > 1 && !table)
        return refuse(err,
                      "unexpected operand '%s': more than one plan requires --format latex or csv",
                      o->files.items[1]);
    if (o->verdict && o->layouts && !page)
        return refuse(err, "--verdict: cannot be combined with --layouts");
    if (table && !o->layouts && o->about.top >= 0)
        return refuse(err, "--top: requires --layouts or a plan with a placement");
    return OK;
}

// The plan's problem, unless it is missing or has changed; the plan becomes the nearest one where
// that is requested. *problem NULL: the format needs none, or there is none.
static enum status find_plan(const struct problem **problem, struct plan *plan, struct options *o,
                             int *exit_code, struct arena *arena, struct error *err)
{
    struct problem *own = TAKE(arena, 1, struct problem);
    bool known = (is_launch(o->format) || o->format >= FORMAT_HOSTFILE) &&
                 origin_problem(plan, own, arena);
    *problem = known ? own : NULL;
    TRY(origin_check_layers(plan, *problem, err));
    bool axonn = o->format == FORMAT_AXONN ||
                 (o->format == FORMAT_LAUNCH && o->framework == FRAMEWORK_AXONN);
    if (layout_has_grid(&plan->layout) && !o->nearest.folder && is_launch(o->format) && !axonn)
        return refuse(err,
                      "%s: layout.tensor_grid: of the frameworks for export axonn alone runs a "
                      "tensor grid; expected a plan without (--nearest FOLDER finds one)",
                      plan->document.path);
    if (plan->widths && (is_launch(o->format) || o->format >= FORMAT_HOSTFILE))
        return refuse(err,
                      "%s: no trainer that launch files are made for runs stages with widths of "
                      "their own; a plan of the same job with stage_degrees uniform has them",
                      plan->document.path);
    if (plan_mixing_stages(plan) &&
        ((is_launch(o->format) && !o->nearest.folder) || o->format >= FORMAT_HOSTFILE))
        return refuse(
            err,
            "%s: no trainer that launch files are made for shards some of a stage's layers "
            "further than others, or splits its vocabulary over other ranks; expected a "
            "plan of the same job without sharded_zero and vocabulary_tensor (for a "
            "framework, --nearest FOLDER finds one)",
            plan->document.path);
    if (!o->nearest.folder) return OK;
    return find_nearest(plan, known ? own : NULL, o->format, &o->nearest, exit_code, arena, err);
}

static enum status make(struct text *out, const struct plan *plan, const struct problem *problem,
                        const struct options *o, struct error *err)
{
    struct launch_request launch = {.format = (enum launch_format)(o->format - FORMAT_HOSTFILE),
                                    .order = (enum rank_order)o->order,
                                    .cores_per_rank = (int)o->cores};
    switch (o->format) {
    case FORMAT_HTML: return make_page(out, plan, &o->about, o->layouts, o->progress, err);
    case FORMAT_TEXT:
    case FORMAT_LINKS:
    case FORMAT_HEATMAP: return make_with_links(out, plan, &o->about, err);
    case FORMAT_TRACE: return make_trace(out, plan, &o->about, err);
    case FORMAT_HOSTFILE:
    case FORMAT_RANKFILE:
    case FORMAT_HOSTS: return make_hosts(out, plan, problem, o->hosts, &launch, err);
    default: break;
    }
    return launchers[o->format](out, plan, problem, err);
}

// ---- a folder of launch files

// The files of a framework; may_fail: a plan without it starts all the same.
static const struct launch_file {
    enum framework framework; // FRAMEWORK_ANY: of each
    int format;
    const char *file;
    bool may_fail;
} launch_files[] = {{FRAMEWORK_MEGATRON, FORMAT_MEGATRON, "megatron.sh", false},
                    {FRAMEWORK_TORCHTITAN, FORMAT_TORCHTITAN, "torchtitan.toml", true},
                    {FRAMEWORK_TORCHTITAN, FORMAT_TORCHTITAN_PYTHON, "torchtitan_plan.py", false},
                    {FRAMEWORK_TORCHTITAN, FORMAT_PYTORCH_SCHEDULE, "schedule.csv", true},
                    {FRAMEWORK_TORCHTITAN_0_2, FORMAT_TORCHTITAN, "torchtitan.toml", false},
                    {FRAMEWORK_TORCHTITAN_0_2, FORMAT_PYTORCH_SCHEDULE, "schedule.csv", true},
                    {FRAMEWORK_DEEPSPEED, FORMAT_DEEPSPEED, "deepspeed.json", false},
                    {FRAMEWORK_NEMO, FORMAT_NEMO, "nemo.yaml", false},
                    {FRAMEWORK_AXONN, FORMAT_AXONN, "axonn.json", false},
                    {FRAMEWORK_ANY, FORMAT_TORCHRUN, "torchrun.sh", false},
                    {FRAMEWORK_ANY, FORMAT_SBATCH, "job.sbatch", false},
                    {FRAMEWORK_ANY, FORMAT_TRY, "try.sh", false},
                    {FRAMEWORK_ANY, FORMAT_HOSTFILE, "hostfile", false}};

static enum framework planned_for(const struct problem *problem)
{
    enum framework framework = FRAMEWORK_MEGATRON;
    for (int i = FRAMEWORK_ANY + 1; problem && framework_names[i]; i++)
        if (framework_trainer((enum framework)i) == problem->job.trainer) return (enum framework)i;
    return framework;
}

// torchtitan-python is the form of torchtitan's plans; TOML goes with it where 0.2 has the model.
static enum status make_file(struct text *out, const struct launch_file *f, const struct plan *plan,
                             const struct problem *problem, struct options *o, struct error *err)
{
    const char *gaps[GAPS_MAX];
    if (f->format == FORMAT_TORCHTITAN && f->may_fail && problem &&
        framework_gaps(gaps, FRAMEWORK_TORCHTITAN_0_2, problem, out->arena))
        return refuse(err, "torchtitan 0.2.2, which reads TOML, cannot express the model");
    o->format = f->format;
    return make(out, plan, problem, o, err);
}

static enum status write_folder(const struct plan *plan, const struct problem *problem,
                                struct options *o, struct arena *arena, struct error *err)
{
    enum framework framework = o->framework == FRAMEWORK_ANY ? planned_for(problem)
                                                             : (enum framework)o->framework;
    if (!strcmp(o->to, "-")) return refuse(err, "-o: expected a folder for launch files");
    TRY(file_make_folder(o->to, err));
    for (size_t i = 0; i < ARRAY_LENGTH(launch_files); i++) {
        const struct launch_file *f = &launch_files[i];
        struct error refused = {OK, ""};
        struct text out;
        if (f->framework != FRAMEWORK_ANY && f->framework != framework) continue;
        text_begin(&out, arena);
        if (make_file(&out, f, plan, problem, o, f->may_fail ? &refused : err) == OK)
            TRY(file_write(arena_print(arena, "%s/%s", o->to, f->file), out.text, out.length, err));
        else if (!f->may_fail || refused.status != BAD_INPUT)
            return f->may_fail ? (*err = refused).status : err->status;
        else fprintf(stderr, "plumbline report: no %s: %s\n", f->file, refused.text);
    }
    const char *layer = framework == FRAMEWORK_MEGATRON ? report_megatron_layer(problem, arena)
                                                        : NULL;
    if (!layer) return OK;
    return file_write(arena_print(arena, "%s/plumbline_layer.py", o->to), layer, strlen(layer),
                      err);
}

COMMAND_RUN(run)
{
    struct options *o = options;
    struct plan plan;
    const struct problem *problem;
    struct text out;
    TRY(check_options(o, err));
    if (o->layouts && o->format != FORMAT_HTML)
        return write_layouts(o->layouts,
                             o->about.top < 0 && o->format == FORMAT_TEXT ? 20 : o->about.top,
                             o->format, o->to, arena, err);
    if (o->format == FORMAT_LATEX || o->format == FORMAT_CSV)
        return write_table(o->files.items, o->files.count, o->format == FORMAT_CSV, o->to, arena,
                           err);
    TRY(plan_load(&plan, o->files.items[0], arena, err));
    if (plan.in_turn)
        return refuse(err, "%s: its replicas take micro-batches in turn: no report shows that",
                      o->files.items[0]);
    if (o->verdict) TRY(take_verdict(&plan, o->verdict, arena, err));
    o->about.format = o->format;
    TRY(find_plan(&problem, &plan, o, exit_code, arena, err));
    if (*exit_code && *exit_code != EXIT_OPEN) return OK;
    if (o->about.top >= 0 && o->format != FORMAT_HTML &&
        (o->format != FORMAT_TEXT || !plan.placement))
        return refuse(err, "--top: requires --layouts or a plan with a placement");
    if (o->format == FORMAT_LAUNCH) return write_folder(&plan, problem, o, arena, err);
    text_begin(&out, arena);
    TRY(make(&out, &plan, problem, o, err));
    return file_write(o->to, out.text, out.length, err);
}

const struct command command_report = {
    .name = "report",
    .text = "plan -> text, page, trace, launcher flags; plans -> tables",
    .about = "Writes a plan for people (text, html), a trace viewer (trace) or a launcher "
             "(megatron, sbatch, hostfile, rankfile; launch: a folder of all files), or several "
             "plans and verdicts as a table (latex, csv).",
    .usage = "plumbline report [--format "
             "text|html|trace|megatron|sbatch|torchrun|torchtitan|torchtitan-python|"
             "pytorch-schedule|deepspeed|nemo|links|heatmap|hostfile|rankfile|hosts|try] "
             "[--verdict FILE] [-o FILE] PLAN\n"
             "       plumbline report --format launch [--for NAME] -o FOLDER PLAN\n"
             "       plumbline report --format latex|csv [-o FILE] PLAN|CHECKED...",
    READS(struct options, rows,
          {.about.top = -1,
           .cores = 1,
           .order = RANK_ORDER_DATA_FIRST,
           .to = "-",
           .nearest.time_limit_s = 45}),
    .run = run,
};
