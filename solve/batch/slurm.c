// A batch on a cluster's scheduler: Slurm arrays whose tasks are `batch one`. The folder shows
// what is done, the queue what to wait for; instances in neither are submitted again.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/base/grow.h"
#include "data/base/least.h"
#include "data/base/shipped.h"
#include "data/base/watch.h"
#include "data/text/shell.h"
#include "solve/batch/batch.h"

enum { ARRAY_MOST = 1000 }; // Slurm's default limit, MaxArraySize, is 1001
static const double look_again_s = 1, tell_s = 10;

struct item {
    int rounds;
    bool queued, done;
};

struct array {
    const char *folder, *job;
    int *items, count; // its tasks in order; -1: an instance that is no longer requested
    bool over;
};

struct engine {
    const struct batch *batch;
    const struct slurm_request *request;
    const char *folder; // for the arrays
    struct item *items;
    struct array *arrays;
    int array_count, array_capacity, done;
    double reported_s;
    struct arena *arena;
};

static const char *in(struct engine *e, const char *folder, const char *name)
{
    return arena_print(e->arena, "%s/%s", folder, name);
}

// ---- calling Slurm

// *said: its standard output; *why: the last line of its standard error.
static enum status ask(struct engine *e, const char *const *words, int *code, const char **said,
                       const char **why, struct error *err)
{
    const char *output = arena_print(e->arena, "%s/said.%ld", e->folder, (long)getpid()),
               *log = arena_print(e->arena, "%s.err", output);
    struct child_request request = {words, NULL, output, log, true, words[0]};
    pid_t id;
    bool stopped;
    size_t size;
    unlink(log);
    TRY(child_start(&id, &request, err));
    *code = child_wait(id, &stopped, NULL);
    TRY(file_read(output, said, &size, e->arena, err));
    TRY(file_read(log, why, &size, e->arena, err));
    unlink(output), unlink(log);
    return OK;
}

// Which of its tasks Slurm still has. Only Slurm's own answer that there is no such job ends it;
// if a controller does not answer, we wait.
static enum status look_at_queue(struct engine *e, struct array *a, struct error *err)
{
    const char *const words[] = {"squeue", "--noheader",  "--array", "--jobs",
                                 a->job,   "--format=%K", NULL};
    const char *said, *why;
    int code;
    TRY(ask(e, words, &code, &said, &why, err));
    if (code && !strstr(why, "Invalid job id")) return OK;
    for (int k = 0; k < a->count; k++)
        if (a->items[k] >= 0) e->items[a->items[k]].queued = false;
    a->over = true;
    for (; !code && *said; said += strcspn(said, "\n"), said += *said == '\n') {
        char *end;
        long task = strtol(said, &end, 10);
        if (end == said || task < 0 || task >= a->count) continue;
        a->over = false;
        if (a->items[task] >= 0) e->items[a->items[task]].queued = true;
    }
    return OK;
}

// ---- arrays

static int index_of(const struct batch *b, const char *id)
{
    const struct instance *i = batch_find(b, id);
    return i ? (int)(i - b->items) : -1;
}

static struct array *add_array(struct engine *e, const char *folder)
{
    GROW(e->arena, e->arrays, e->array_count, e->array_capacity, 8);
    e->arrays[e->array_count] = (struct array){.folder = folder};
    return &e->arrays[e->array_count++];
}

// An array submitted by an earlier run; its job may have ended long ago. *more: there was one of
// this number.
static enum status read_array(struct engine *e, int number, bool *more, struct error *err)
{
    const char *folder = arena_print(e->arena, "%s/%d", e->folder, number), *tasks, *job;
    size_t size;
    *more = !access(folder, F_OK);
    if (!*more || access(in(e, folder, "job"), F_OK)) return OK;
    TRY(file_read(in(e, folder, "tasks"), &tasks, &size, e->arena, err));
    TRY(file_read(in(e, folder, "job"), &job, &size, e->arena, err));
    struct array *a = add_array(e, folder);
    a->job = arena_print(e->arena, "%.*s", (int)strcspn(job, ";\n"), job);
    a->items = TAKE(e->arena, size + strlen(tasks) / ID_SIZE + 1, int);
    for (; strlen(tasks) >= ID_SIZE; tasks += ID_SIZE)
        a->items[a->count++] =
            index_of(e->batch, arena_print(e->arena, "%.*s", ID_SIZE - 1, tasks));
    return look_at_queue(e, a, err);
}

static const char *script_of(struct engine *e, const struct array *a, int threads)
{
    const char *program = program_file(e->arena);
    return arena_print(
        e->arena,
        "#!/bin/sh\n"
        "#SBATCH --job-name=plumbline\n"
        "#SBATCH --array=0-%d%%%d\n"
        "#SBATCH --cpus-per-task=%d\n"
        "#SBATCH --signal=B:TERM@%lld\n"
        "exec %s batch one %s --tasks %s --index \"$SLURM_ARRAY_TASK_ID\"%s\n",
        a->count - 1, e->request->jobs, threads, (long long)e->request->before_limit_s,
        shell_word(program ? program : "plumbline", e->arena),
        shell_word(e->batch->folder, e->arena), shell_word(in(e, a->folder, "tasks"), e->arena),
        e->request->resume ? " --resume" : "");
}

// A folder's name where Slurm reads patterns.
static const char *pattern_of(const char *folder, struct arena *arena)
{
    char *pattern = TAKE(arena, 2 * strlen(folder) + 1, char), *to = pattern;
    for (; *folder; *to++ = *folder++)
        if (*folder == '%') *to++ = '%';
    return pattern;
}

static enum status hand_in(struct engine *e, struct array *a, struct error *err)
{
    const struct option_texts *more = &e->request->sbatch;
    const char **words = TAKE(e->arena, more->count + 8, const char *), *said, *why;
    int count = 0, code;
    words[count++] = "sbatch";
    words[count++] = "--parsable";
    words[count++] = arena_print(e->arena, "--output=%s/%%a.log", pattern_of(a->folder, e->arena));
    for (int i = 0; i < more->count; i++) words[count++] = more->items[i];
    words[count++] = in(e, a->folder, "array.sbatch");
    TRY(ask(e, words, &code, &said, &why, err));
    if (code)
        return fail(err, UNAVAILABLE, "sbatch: exit code %d: %.*s", code, (int)strcspn(why, "\n"),
                    why);
    a->job = arena_print(e->arena, "%.*s", (int)strcspn(said, ";\n"), said);
    fprintf(stderr, "job %s: an array of %d\n", a->job, a->count);
    return file_write(in(e, a->folder, "job"), said, strlen(said), err);
}

static enum status submit(struct engine *e, const int *items, int count, struct error *err)
{
    const char *folder, *tasks = "";
    int number = 0, threads = 1;
    do folder = arena_print(e->arena, "%s/%d", e->folder, number++);
    while (!access(folder, F_OK));
    struct array *a = add_array(e, folder);
    a->items = TAKE(e->arena, count, int);
    a->count = count;
    char *list = TAKE(e->arena, count * ID_SIZE + 1, char), *end = list;
    for (int k = 0; k < count; k++) {
        struct item *item = &e->items[items[k]];
        const struct instance *i = &e->batch->items[items[k]];
        a->items[k] = items[k];
        item->rounds++, item->queued = true;
        threads = larger_int(threads, i->threads);
        end += snprintf(end, ID_SIZE + 1, "%s\n", i->id);
    }
    tasks = list;
    TRY(file_make_folder(folder, err));
    const char *script = script_of(e, a, threads);
    TRY(file_write(in(e, folder, "tasks"), tasks, (size_t)(end - list), err));
    TRY(file_write(in(e, folder, "array.sbatch"), script, strlen(script), err));
    return hand_in(e, a, err);
}

// ---- remaining work

static bool has_failed(const struct engine *e, int i)
{
    return e->items[i].rounds && batch_has(e->batch, e->batch->items[i].id, "failure", e->arena);
}

// A whole waits for its parts.
static bool is_ready(const struct engine *e, int i)
{
    const struct instance *of = &e->batch->items[i];
    for (int k = 1; k <= of->parts && !of->part; k++)
        if (!e->items[i + k].done && !has_failed(e, i + k) &&
            e->items[i + k].rounds < e->request->submissions)
            return false;
    return true;
}

static const struct batch *sorted_batch; // for qsort, which passes no context
static int longest_first(const void *a, const void *b)
{
    double x = sorted_batch->items[*(const int *)a].estimate,
           y = sorted_batch->items[*(const int *)b].estimate;
    return (x < y) - (x > y);
}

// Instances in no queue that may be tried (again); *submitted: there were some.
static enum status submit_more(struct engine *e, bool *submitted, struct error *err)
{
    int *items = TAKE(e->arena, e->batch->count, int), count = 0;
    for (int i = 0; i < e->batch->count; i++) {
        const struct item *item = &e->items[i];
        if (!item->done && !item->queued && item->rounds < e->request->submissions &&
            !has_failed(e, i) && is_ready(e, i))
            items[count++] = i;
    }
    sorted_batch = e->batch;
    qsort(items, (size_t)count, sizeof *items, longest_first);
    for (int k = 0; k < count; k += ARRAY_MOST)
        TRY(submit(e, items + k, smaller_int(count - k, ARRAY_MOST), err));
    *submitted = count > 0;
    return OK;
}

static enum status look(struct engine *e, bool *waiting, struct error *err)
{
    *waiting = false;
    for (int a = 0; a < e->array_count; a++) {
        if (!e->arrays[a].over) TRY(look_at_queue(e, &e->arrays[a], err));
        *waiting |= !e->arrays[a].over;
    }
    e->done = 0;
    for (int i = 0; i < e->batch->count; i++) {
        struct item *item = &e->items[i];
        item->done = item->done || batch_has(e->batch, e->batch->items[i].id, "result", e->arena);
        e->done += item->done;
    }
    return OK;
}

static void tell(struct engine *e)
{
    int queued = 0;
    if (e->request->quiet || clock_s() - e->reported_s < tell_s) return;
    e->reported_s = clock_s();
    for (int i = 0; i < e->batch->count; i++) queued += e->items[i].queued && !e->items[i].done;
    fprintf(stderr, "%d of %d done, %d in the queue\n", e->done, e->batch->count, queued);
}

static void tell_rest(struct engine *e)
{
    const char *const *varying = batch_varying(e->batch, e->arena);
    for (int i = 0; i < e->batch->count; i++) {
        struct result r;
        struct error unread = {OK, ""};
        const char *id = e->batch->items[i].id, *reason;
        if (e->items[i].done) continue;
        bool failed = result_load(&r, batch_path(e->batch, id, "failure/status.json", e->arena),
                                  e->arena, &unread) == OK;
        reason = failed
                     ? r.reason
                     : arena_print(e->arena, "no result after %d submissions", e->items[i].rounds);
        fprintf(stderr, "%s (%s): %s\n", instance_label(&e->batch->items[i], varying, e->arena), id,
                reason);
    }
}

enum status batch_slurm(int *exit_code, const struct batch *b, const struct slurm_request *request,
                        struct arena *arena, struct error *err)
{
    struct engine e = {.batch = b, .request = request, .arena = arena};
    int lock;
    bool more = true, waiting = true, submitted;
    e.folder = arena_print(arena, "%s/slurm", b->folder);
    e.items = TAKE(arena, b->count, struct item);
    TRY(file_make_folder(e.folder, err));
    TRY(lock_take(&lock, in(&e, e.folder, "lock"), false, err));
    if (lock < 0)
        return refuse(err, "%s: another batch is managing jobs of this folder", b->folder);
    signals_listen();
    for (int number = 0; more; number++) TRY(read_array(&e, number, &more, err));
    TRY(look(&e, &waiting, err));
    TRY(submit_more(&e, &submitted, err));
    for (waiting |= submitted; waiting && e.done < b->count && !stop_count;) {
        tell(&e);
        signals_sleep(look_again_s);
        TRY(look(&e, &waiting, err));
        if (!waiting && !stop_count) TRY(submit_more(&e, &waiting, err));
    }
    if (!stop_count) tell_rest(&e);
    printf("%d instances: %d done, %d %s\n", b->count, e.done, b->count - e.done,
           stop_count ? "to do; jobs stay in the queue, rerun the command to wait for them"
                      : "failed");
    *exit_code = e.done == b->count ? 0 : stop_count ? BATCH_STOPPED : BATCH_FAILED;
    return OK;
}
