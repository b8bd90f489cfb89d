// plumbline batch run|status|collect|plot|lines|one: many problems, and tables of what came out.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/base/names.h"
#include "data/text/shell.h"
#include "data/base/commands.h"
#include "solve/batch/commands.h"
#include "solve/batch/result.h"
#include "solve/batch/table.h"

// ---- run

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
    int64_t jobs = cores();
    bool quiet = false, helped;
    const struct option options[] = {
        {"-o", OPTION_PATH, &b.folder, 0, 0, NULL, "folder of the results, created if missing"},
        {"--jobs", OPTION_INT, &jobs, 1, 4096, NULL, "threads at a time (cores of the machine)"},
        {"--quiet", OPTION_FLAG, &quiet, 0, 0, NULL, "no progress on standard error"},
    };
    TRY(options_read(argc, argv, "plumbline batch run MANIFEST.jsonl -o FOLDER", options,
                     ARRAY_LENGTH(options), &manifest, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (!b.folder) return fail(err, BAD_INPUT, "-o FOLDER is missing");
    TRY(batch_read(&b, manifest, arena, err));
    TRY(batch_save(&b, arena, err));
    return batch_solve_all(exit_code, &b, (int)jobs, quiet, arena, err);
}

// ---- one

static enum status one(int argc, char **argv, int *exit_code, struct arena *arena,
                       struct error *err)
{
    struct batch b;
    const char *folder, *id = NULL;
    bool helped;
    const struct option options[] = {
        {"--id", OPTION_TEXT, &id, 0, 0, NULL, "of the instance, as batch status tells it"},
    };
    TRY(options_read(argc, argv, "plumbline batch one FOLDER --id ID", options,
                     ARRAY_LENGTH(options), &folder, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (!id) return fail(err, BAD_INPUT, "--id ID is missing");
    TRY(batch_load(&b, folder, arena, err));
    const struct instance *i = batch_find(&b, id);
    if (!i) return fail(err, BAD_INPUT, "--id: expected one of %s, found '%.40s'", folder, id);
    signals_listen();
    return batch_solve_one(exit_code, &b, i, arena, err);
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
        {"-o", OPTION_TEXT, &b.folder, 0, 0, NULL, "folder of the results, created if missing"},
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
         .text = "solves, verifies and checks what has no result yet (exit codes: 0 "
                 "every instance has a result; 1 some failed; 30 stopped by a signal, "
                 "the same command goes on)"},
        {"status", tell_status, .text = "a line for each instance"},
        {"collect", batch_collect, .text = "a row for each instance, as CSV, LaTeX or a page"},
        {"plot", batch_plot, .text = "a drawing of time, gap, scaling or time against price"},
        {"lines", tell_lines, .text = "what is to do as command lines, as for GNU parallel"},
        {"one", one, .text = "one instance; what the others start"},
    };
    static const struct command_table table = {
        "plumbline batch", "command", "COMMAND [ARGUMENT ...]", commands, ARRAY_LENGTH(commands)};
    return commands_run(&table, argc, argv, exit_code, arena, err);
}
