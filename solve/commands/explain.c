// plumbline explain LOG: a training log as a problem, predicted against measured, and the best
// change.

#include "solve/commands/commands.h"
#include "solve/commands/internal.h"
#include "solve/commands/verbs.h"
#include "solve/explain/explain.h"

enum { THEN_NOTHING, THEN_PLAN };

struct options {
    const char *log, *folder;
    struct explain_settings explain;
    struct option_texts set;
    double time_limit_s;
    int then;
    bool json;
};

static const char *const then_names[] = {"nothing", "plan", NULL};
static const struct option_row rows[] = {
    {"LOG", OPTION_PATH, OPT(log), .low = 1},
    {"--cluster", OPTION_CLUSTER, OPT(explain.cluster),
     "shipped name or file of the nodes that it ran on (default: the shipped cluster with the "
     "log's GPU)"},
    {"--gpu", OPTION_GPU, OPT(explain.gpu), "GPU, if the log does not name it"},
    {"--gpu-like", OPTION_GPU, OPT(explain.likeness.known),
     "shipped GPU in whose nodes and with whose costs the log's GPU is taken, if no cluster has "
     "it"},
    LIKENESS_ROWS(OPT(explain.likeness)),
    {"--gpus", OPTION_INT, OPT(explain.gpus), "number of GPUs, if the log does not state it", 1,
     1 << 24},
    {"--run", OPTION_TEXT, OPT(explain.run),
     "which run of a page is meant: of its tables by its first cell or its number, of those one "
     "after the other by its heading or its number"},
    {"--costs", OPTION_COSTS, OPT(explain.costs), "shipped name or file (default: kernels)"},
    {"--set", OPTION_TEXT, OPT(set),
     "column=value,... of a table of runs, instead of what the log states; may be repeated",
     .many = OPTION_ANY_NUMBER},
    {"--json", OPTION_FLAG, OPT(json), "print JSON instead of text"},
    {"--then", OPTION_NAME, OPT(then),
     "plan: go on with a search of any layout, which is never worse than the run",
     .names = then_names, .needs = "-o"},
    {"-o", OPTION_PATH, OPT(folder),
     "folder for the run as documents: model, cluster, job with its stages as rules, problem, and "
     "its plan run.json, which compare reads"},
    {"--time-limit-s", OPTION_NUMBER, OPT(time_limit_s),
     "time limit of that search in seconds (default: 45; 0: none)", 0, 1e9, .needs = "--then"},
};

static const char *joined(const struct option_texts *texts, struct arena *arena)
{
    const char *all = NULL;
    for (int i = 0; i < texts->count; i++)
        all = all ? arena_print(arena, "%s,%s", all, texts->items[i]) : texts->items[i];
    return all;
}

static enum status tell_gain(const struct explained *x, const char *folder, struct arena *arena,
                             struct error *err)
{
    struct plan best;
    TRY(plan_load(&best, arena_print(arena, "%s/plan.json", folder), arena, err));
    if (!best.stage_count) return OK;
    printf("\nany layout: %.3f s, %+.1f %% against the run as predicted, at most %.2f %% above the "
           "best of its space\n",
           (double)best.iteration_ns * 1e-9,
           100 * ((double)best.iteration_ns / (double)x->own.iteration_ns - 1),
           100 * plan_gap(&best));
    return OK;
}

// The search of any layout, from the run's own on.
static enum status plan_on(const struct options *o, struct explained *x, int *exit_code,
                           struct arena *arena, struct error *err)
{
    const struct job *j = &x->problem.job;
    const char *known = arena_print(arena, "%s/run.json", o->folder);
    struct plan_options plan = {.model = x->problem.model.document.path,
                                .cluster = x->problem.cluster.document.path,
                                .costs = x->problem.costs.document.path,
                                .folder = arena_print(arena, "%s/plan", o->folder),
                                .sequence = j->sequence,
                                .global_batch = j->global_batch,
                                .gradient_bytes = j->gradient_bytes_per_value,
                                .framework = (int)explained_runs_in(x),
                                .precision = (int)j->precision,
                                .trainer = UNSTATED,
                                .gap = 0.01,
                                .time_limit_s = o->time_limit_s,
                                .force = true,
                                .stated = {LAYOUT_UNSTATED},
                                .known = {&known, 1}};
    if (plan.framework == FRAMEWORK_ANY) plan.trainer = (int)j->trainer;
    plan.stated.uneven_stages = framework_is_uneven((enum framework)plan.framework, &j->layout,
                                                    x->problem.model.layer_count);
    TRY(plan_one(&plan, exit_code, arena, err));
    return tell_gain(x, plan.folder, arena, err);
}

static enum status read_log(struct explained *x, struct options *o, struct arena *arena,
                            struct error *err)
{
    o->explain.set = joined(&o->set, arena);
    return explain_log(x, o->log, &o->explain, arena, err);
}

// ---- a run of plumbline run

// A log may be long, and is read once, line by line.
static bool begins_as_document(const char *path, struct arena *arena)
{
    FILE *file;
    struct error unread = {OK, ""};
    int first = 0;
    if (file_open(&file, path, arena, &unread) != OK) return false;
    while ((first = fgetc(file)) == ' ' || first == '\n' || first == '\t' || first == '\r')
        continue;
    return first == '{';
}

static bool is_run(const char *path, struct arena *arena)
{
    struct document d;
    struct error unread = {OK, ""};
    if (!begins_as_document(path, arena)) return false;
    return document_read(&d, path, "plumbline.run", arena, &unread) == OK;
}

static enum status explain_carried(const struct options *o, struct arena *arena, struct error *err)
{
    struct text out;
    if (o->json || o->folder)
        return refuse(err, "%s: expected neither --json nor -o with a run of plumbline run",
                      o->log);
    text_begin(&out, arena);
    TRY(make_explained_run(&out, o->log, err));
    return file_write("-", out.text, out.length, err);
}

COMMAND_RUN(run)
{
    struct options *o = options;
    struct explained *x = TAKE(arena, 1, struct explained);
    size_t length;
    if (is_run(o->log, arena)) return explain_carried(o, arena, err);
    TRY(read_log(x, o, arena, err));
    const char *text = o->json ? explained_json(x, &length) : explained_text(x, &length);
    TRY(file_write("-", text, length, err));
    if (!o->folder) return OK;
    TRY(explained_save(x, o->folder, err));
    return o->then == THEN_PLAN ? plan_on(o, x, exit_code, arena, err) : OK;
}

const struct command command_explain = {
    .name = "explain",
    .text = "training log -> what it did, why it took so long, what to change",
    .about =
        "Reads a training log as people have it (Megatron-LM, Megatron-DeepSpeed, DeepSpeed, NeMo, "
        "Megatron-Bridge, torchtitan, transformers, LLaMA-Factory, MLPerf), or a post with parts "
        "of one. Prints on one page what the log states and what was assumed, whether the FLOP of "
        "a token certify the reading, measured against predicted time and memory, the fullest "
        "rank, the idle time, what most probably explains the difference, and the best change of "
        "one flag, of one degree, and of the layout, each the best of all that were priced. Of a "
        "run.json of plumbline run it says what most probably costs time: a slow rank or link, "
        "recomputation, an unbalanced split. Nothing is searched unless --then plan asks for it. "
        "Names of hosts, users and paths in the log are not printed.",
    .usage = "plumbline explain LOG [OPTION ...]",
    READS(struct options, rows, {.time_limit_s = 45, .explain.margin = MEMORY_FRACTION_DEFAULT}),
    .run = run,
};

enum status explain_words(struct explained *x, int argc, char **argv, struct arena *arena,
                          struct error *err)
{
    struct options o;
    TRY(command_read_options(&command_explain, &o, argc, argv, arena, err));
    if (o.then != THEN_NOTHING)
        return refuse(err, "--then: nothing is searched here: solve what -o writes");
    TRY(read_log(x, &o, arena, err));
    return o.folder ? explained_save(x, o.folder, err) : OK;
}
