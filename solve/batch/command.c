// plumbline batch run|status|collect|plot|lines|one: many problems, and tables of their results.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/base/names.h"
#include "data/text/shell.h"
#include "data/base/commands.h"
#include "solve/batch/commands.h"
#include "solve/batch/result.h"
#include "solve/batch/slurm.h"
#include "solve/batch/table.h"

// ---- run

enum { ENGINE_LOCAL, ENGINE_SLURM, SLURM_TASKS = 1000 };
static const char *const engine_names[] = {"local", "slurm", NULL};

static int cores(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

static enum status run(int argc, char **argv, int *exit_code, struct arena *arena,
                       struct error *err)
{
    struct batch b = {0};
    const char *manifest;
    int64_t jobs = 0;
    int engine = ENGINE_LOCAL;
    struct slurm_request slurm = {.before_limit_s = 60, .submissions = 5};
    bool helped;
    slurm.sbatch = (struct option_texts){TAKE(arena, argc, const char *), 0, argc};
    const struct option options[] = {
        {"-o", OPTION_PATH, &b.folder, 0, 0, NULL, "folder for the results, created if missing"},
        {"--jobs", OPTION_INT, &jobs, 1, 4096, NULL,
         "maximum concurrent threads (default: the machine's cores); slurm: concurrent tasks "
         "(default: 1000)"},
        {"--engine", OPTION_NAME, &engine, 0, 0, engine_names,
         "run as processes on this machine or as Slurm job arrays"},
        {"--sbatch", OPTION_TEXTS, &slurm.sbatch, 0, 0, NULL,
         "slurm: option to pass to sbatch, as in --sbatch=--time=60; may be repeated"},
        {"--before-limit-s", OPTION_INT, &slurm.before_limit_s, 1, 65535, NULL,
         "slurm: seconds before a job's time limit at which its instance is told to stop (default: "
         "60)"},
        {"--submissions", OPTION_INT, &slurm.submissions, 1, 1000, NULL,
         "slurm: maximum submissions of one instance whose jobs end without a result (default: 5)"},
        {"--resume", OPTION_FLAG, &slurm.resume, 0, 0, NULL,
         "start from the plans of attempts that were told to stop"},
        {"--quiet", OPTION_FLAG, &slurm.quiet, 0, 0, NULL, "print no progress on stderr"},
    };
    TRY(options_read(argc, argv, "plumbline batch run MANIFEST.jsonl -o FOLDER", options,
                     ARRAY_LENGTH(options), &manifest, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (!b.folder) return fail(err, BAD_INPUT, "-o FOLDER is missing");
    TRY(batch_read(&b, manifest, arena, err));
    TRY(batch_save(&b, arena, err));
    if (engine == ENGINE_LOCAL)
        return batch_solve_all(exit_code, &b, jobs ? (int)jobs : cores(), slurm.resume, slurm.quiet,
                               arena, err);
    slurm.jobs = jobs ? (int)jobs : SLURM_TASKS;
    return batch_slurm(exit_code, &b, &slurm, arena, err);
}

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
        return fail(err, BAD_INPUT, "--index: expected a line of %s, found %lld", tasks,
                    (long long)index);
    *id = arena_print(arena, "%.*s", (int)strcspn(text, "\n"), text);
    return OK;
}

static enum status one(int argc, char **argv, int *exit_code, struct arena *arena,
                       struct error *err)
{
    struct batch b;
    const char *folder, *id = NULL, *tasks = NULL;
    int64_t index = -1;
    bool resume = false, helped;
    const struct option options[] = {
        {"--id", OPTION_TEXT, &id, 0, 0, NULL, "ID of the instance, as printed by batch status"},
        {"--tasks", OPTION_TEXT, &tasks, 0, 0, NULL, "file of IDs, one per line, instead of --id"},
        {"--index", OPTION_INT, &index, 0, 1 << 24, NULL, "with --tasks: line of the file, from 0"},
        {"--resume", OPTION_FLAG, &resume, 0, 0, NULL,
         "start from the plan of an attempt that was told to stop"},
    };
    TRY(options_read(argc, argv, "plumbline batch one FOLDER --id ID", options,
                     ARRAY_LENGTH(options), &folder, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (!id == !tasks || !tasks != (index < 0))
        return fail(err, BAD_INPUT, "expected --id ID, or --tasks FILE and --index N");
    if (tasks) TRY(id_of_task(&id, tasks, index, arena, err));
    TRY(batch_load(&b, folder, arena, err));
    const struct instance *i = batch_find(&b, id);
    if (!i) return fail(err, BAD_INPUT, "--id: expected one of %s, found '%.40s'", folder, id);
    signals_listen();
    return batch_solve_one(exit_code, &b, i, resume, arena, err);
}

// ---- status, lines

static const char *const state_names[] = {"waiting", "running", "done", "failed"};

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

static enum status tell_status(int argc, char **argv, int *exit_code, struct arena *arena,
                               struct error *err)
{
    struct batch b;
    const char *folder;
    int counts[STATE_FAILED + 1] = {0};
    bool helped;
    (void)exit_code;
    TRY(options_read(argc, argv, "plumbline batch status FOLDER", NULL, 0, &folder, 1, 1, NULL,
                     &helped, err));
    if (helped) return OK;
    TRY(batch_load(&b, folder, arena, err));
    const char *const *varying = batch_varying(&b, arena);
    for (int i = 0; i < b.count; i++) {
        const struct instance *of = &b.items[i];
        const char *holder;
        enum state state = batch_state(&b, of->id, &holder, arena);
        const char *detail = state_detail(&b, of->id, state, holder, arena);
        counts[state]++;
        printf("%s  %-7s  %s%s%s\n", of->id, state_names[state], instance_label(of, varying, arena),
               *detail ? ": " : "", detail);
    }
    printf("%d instances: %d done, %d failed, %d running, %d waiting\n", b.count,
           counts[STATE_DONE], counts[STATE_FAILED], counts[STATE_RUNNING], counts[STATE_WAITING]);
    return OK;
}

static enum status tell_lines(int argc, char **argv, int *exit_code, struct arena *arena,
                              struct error *err)
{
    struct batch b = {0};
    const char *manifest;
    bool helped;
    (void)exit_code;
    const struct option options[] = {
        {"-o", OPTION_TEXT, &b.folder, 0, 0, NULL, "folder for the results, created if missing"},
    };
    TRY(options_read(argc, argv, "plumbline batch lines MANIFEST.jsonl -o FOLDER", options,
                     ARRAY_LENGTH(options), &manifest, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (!b.folder) return fail(err, BAD_INPUT, "-o FOLDER is missing");
    TRY(batch_read(&b, manifest, arena, err));
    TRY(batch_save(&b, arena, err));
    for (int i = 0; i < b.count; i++)
        if (!batch_has(&b, b.items[i].id, "result", arena))
            printf("plumbline batch one %s --id %s\n", shell_word(b.folder, arena), b.items[i].id);
    return OK;
}

// ---- which

enum status command_batch(int argc, char **argv, int *exit_code, struct arena *arena,
                          struct error *err)
{
    static const struct command commands[] = {
        {"run", run,
         .text =
             "solve, verify and check every instance without a result (exit codes: 0 every "
             "instance has a result; 1 some failed; 30 stopped by a signal, rerun to continue)"},
        {"status", tell_status, .text = "print one line per instance"},
        {"collect", batch_collect,
         .text = "make a table with one row per instance: CSV, LaTeX or HTML"},
        {"plot", batch_plot, .text = "plot time, gap, scaling, or time against price"},
        {"lines", tell_lines,
         .text = "print the remaining work as command lines, e.g. for GNU parallel"},
        {"one", one, .text = "run one instance (used by the other commands)"},
    };
    static const struct command_table table = {
        "plumbline batch", "command", "COMMAND [ARGUMENT ...]", commands, ARRAY_LENGTH(commands)};
    return commands_run(&table, argc, argv, exit_code, arena, err);
}
