// plumbline batch run|status|collect|plot|lines|one: many problems, and tables of their results.
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/text/shell.h"
#include "solve/batch/commands.h"
#include "solve/batch/table.h"

// ---- run

enum { ENGINE_LOCAL, ENGINE_SLURM, SLURM_TASKS = 1000 };
static const char *const engine_names[] = {"local", "slurm", NULL};

static int cores(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

struct run_options {
    const char *manifest, *out;
    int jobs, engine;
    struct slurm_request slurm;
};
#define AT(member) offsetof(struct run_options, member)

static const struct option_row run_rows[] = {
    {"MANIFEST.jsonl", OPTION_PATH, AT(manifest), .low = 1},
    {"-o", OPTION_PATH, AT(out), "folder for the results, created if missing"},
    {"--jobs", OPTION_COUNT, AT(jobs),
     "maximum concurrent threads (default: the machine's cores); slurm: concurrent tasks (default: "
     "1000)",
     1, 4096},
    {"--engine", OPTION_NAME, AT(engine), "run as processes on this machine or as Slurm job arrays",
     .names = engine_names},
    {"--sbatch", OPTION_TEXT, AT(slurm.sbatch),
     "slurm: option to pass to sbatch, as in --sbatch=--time=60; may be repeated",
     .many = OPTION_ANY_NUMBER},
    {"--before-limit-s", OPTION_COUNT, AT(slurm.before_limit_s),
     "slurm: seconds before a job's time limit at which its instance is asked to stop (default: "
     "60)",
     1, 65535},
    {"--submissions", OPTION_COUNT, AT(slurm.submissions),
     "slurm: maximum submissions of one instance whose jobs end without a result (default: 5)", 1,
     1000},
    {"--resume", OPTION_FLAG, AT(slurm.resume),
     "start from the plans of attempts that were asked to stop"},
    {"--quiet", OPTION_FLAG, AT(slurm.quiet), "print no progress on stderr"},
};
#undef AT

COMMAND_RUN(run)
{
    struct run_options *o = options;
    struct batch b = {.folder = o->out};
    TRY(batch_read(&b, o->manifest, arena, err));
    TRY(batch_save(&b, arena, err));
    if (o->engine == ENGINE_LOCAL)
        return batch_solve_all(exit_code, &b, o->jobs ? o->jobs : cores(), o->slurm.resume,
                               o->slurm.quiet, arena, err);
    o->slurm.jobs = o->jobs ? o->jobs : SLURM_TASKS;
    return batch_slurm(exit_code, &b, &o->slurm, arena, err);
}

static const struct command run_command = {
    .name = "run",
    .text = "solve, verify and check every instance without a result (exit codes: 0 every instance "
            "has a result; 1 some failed; 30 stopped by a signal, rerun to continue)",
    .usage = "plumbline batch run MANIFEST.jsonl -o FOLDER",
    READS(struct run_options, run_rows,
          {.engine = ENGINE_LOCAL, .slurm = {.before_limit_s = 60, .submissions = 5}}),
    .needs = "-o",
    .run = run,
};

// ---- one

// The line of the file, from 0: an array names its tasks by it.
static enum status id_of_task(const char **id, const char *tasks, int64_t index,
                              struct arena *arena, struct error *err)
{
    const char *text;
    size_t size;
    TRY(file_read(tasks, &text, &size, arena, err));
    for (int64_t i = 0; i < index && *text; i++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (!*text)
        return refuse(err, "--index: expected a line of %s, found %lld", tasks, (long long)index);
    *id = arena_print(arena, "%.*s", (int)strcspn(text, "\n"), text);
    return OK;
}

struct one_options {
    const char *folder, *id, *tasks;
    int64_t index;
    bool resume;
};
#define AT(member) offsetof(struct one_options, member)

static const struct option_row one_rows[] = {
    {"FOLDER", OPTION_PATH, AT(folder), .low = 1},
    {"--id", OPTION_TEXT, AT(id), "ID of the instance, as printed by batch status",
     .excludes = "--tasks"},
    {"--tasks", OPTION_TEXT, AT(tasks), "file of IDs, one per line, instead of --id",
     .needs = "--index"},
    {"--index", OPTION_INT, AT(index), "with --tasks: line of the file, from 0", 0, 1 << 24,
     .needs = "--tasks"},
    {"--resume", OPTION_FLAG, AT(resume),
     "start from the plan of an attempt that was asked to stop"},
};
#undef AT

COMMAND_RUN(one)
{
    const struct one_options *o = options;
    const char *id = o->id;
    struct batch b;
    if (o->tasks) TRY(id_of_task(&id, o->tasks, o->index, arena, err));
    TRY(batch_load(&b, o->folder, arena, err));
    const struct instance *i = batch_find(&b, id);
    if (!i) return refuse(err, "--id: expected one of %s, found '%.40s'", o->folder, id);
    signals_listen();
    return batch_solve_one(exit_code, &b, i, o->resume, arena, err);
}

static const struct command one_command = {
    .name = "one",
    .text = "run one instance (used by the other commands)",
    .usage = "plumbline batch one FOLDER --id ID",
    READS(struct one_options, one_rows, {.index = -1}),
    .needs = "--id|--tasks",
    .run = one,
};

// ---- status, lines

static const char *state_detail(const struct batch *b, const char *id, enum state state,
                                const char *holder, struct arena *arena)
{
    struct result r;
    struct error unread = {OK, ""};
    if (state == STATE_RUNNING) return holder;
    if (state == STATE_WAITING) return batch_has(b, id, "saved", arena) ? "stopped before" : "";
    const char *path = batch_path(b, id, state == STATE_DONE ? "result" : "failure", arena);
    if (result_load(&r, arena_print(arena, "%s/status.json", path), arena, &unread) != OK)
        return unread.text[0] ? arena_copy_text(arena, unread.text) : "";
    return state == STATE_DONE ? r.outcome : r.reason;
}

struct folder_options {
    const char *manifest, *folder;
};
#define AT(member) offsetof(struct folder_options, member)

static const struct option_row status_rows[] = {
    {"FOLDER", OPTION_PATH, AT(folder), .low = 1},
};

COMMAND_RUN(tell_status)
{
    const struct folder_options *o = options;
    struct batch b;
    int counts[STATE_FAILED + 1] = {0};
    TRY(batch_load(&b, o->folder, arena, err));
    const char *const *varying = batch_varying(&b, arena);
    for (int i = 0; i < b.count; i++) {
        const struct instance *of = &b.items[i];
        const char *holder;
        enum state state = batch_state(&b, of->id, &holder, arena);
        const char *detail = state_detail(&b, of->id, state, holder, arena);
        counts[state]++;
        printf("%s  %-7s  %s%s%s\n", of->id, batch_state_names[state],
               instance_label(of, varying, arena), *detail ? ": " : "", detail);
    }
    printf("%d instances: %d done, %d failed, %d running, %d waiting\n", b.count,
           counts[STATE_DONE], counts[STATE_FAILED], counts[STATE_RUNNING], counts[STATE_WAITING]);
    return OK;
}

static const struct command status_command = {
    .name = "status",
    .text = "print one line per instance",
    .usage = "plumbline batch status FOLDER",
    READS(struct folder_options, status_rows, {0}),
    .run = tell_status,
};

static const struct option_row lines_rows[] = {
    {"MANIFEST.jsonl", OPTION_PATH, AT(manifest), .low = 1},
    {"-o", OPTION_TEXT, AT(folder), "folder for the results, created if missing"},
};

COMMAND_RUN(tell_lines)
{
    const struct folder_options *o = options;
    struct batch b = {.folder = o->folder};
    TRY(batch_read(&b, o->manifest, arena, err));
    TRY(batch_save(&b, arena, err));
    for (int i = 0; i < b.count; i++)
        if (!batch_has(&b, b.items[i].id, "result", arena))
            printf("plumbline batch one %s --id %s\n", shell_word(b.folder, arena), b.items[i].id);
    return OK;
}

static const struct command lines_command = {
    .name = "lines",
    .text = "print the remaining work as command lines, e.g. for GNU parallel",
    .usage = "plumbline batch lines MANIFEST.jsonl -o FOLDER",
    READS(struct folder_options, lines_rows, {0}),
    .needs = "-o",
    .run = tell_lines,
};

// ---- which

static const struct command *const kinds[] = {&run_command, &status_command, &batch_collect,
                                              &batch_plot,  &lines_command,  &one_command};

const struct command command_batch = {
    .name = "batch",
    .text = "many problems -> all solved and checked, tables, plots",
    .about = "Solves, verifies and checks each problem of a manifest in its own process, resumes "
             "after an interruption, and makes tables and plots of the results.",
    .program = "plumbline batch",
    .what = "command",
    .usage = "plumbline batch COMMAND [ARGUMENT ...]",
    COMMAND_KINDS(kinds),
};
