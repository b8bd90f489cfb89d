// One instance: solved, verified and checked by this program's own commands, each in a process;
// their output becomes the result once all of it is on disk.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "data/base/watch.h"
#include "data/results/plan.h"
#include "solve/batch/batch.h"

// These files are our own, so a plan of a million operations is no attack.
#define MEMORY "--memory-limit-mib", "16384"
enum { KILLED = 128, LOG_LINE_MAX = 400 };
static const char plan_name[] = "plan.json", certificate_name[] = "certificate.json",
                  saved_plan[] = "../saved/plan.json";

struct attempt {
    const struct batch *batch;
    const struct instance *instance;
    const char *folder; // of the attempt
    struct result result;
    bool resume, stopped;
    struct arena *arena;
};

static const char *file_of(const struct attempt *a, const char *name)
{
    return arena_print(a->arena, "%s/%s", a->folder, name);
}

static bool has(const struct attempt *a, const char *name)
{
    return !access(file_of(a, name), F_OK);
}

// ---- running commands

// The log names each command, with the words as one would type them in the folder.
static enum status run(struct attempt *a, const char *const *words, const char *output,
                       const char *enough, int *code, double *seconds, struct error *err)
{
    struct child_request r = {words, a->folder, output, "log", false, NULL};
    const char *line = "plumbline";
    pid_t id;
    for (int i = 0; words[i]; i++) line = arena_print(a->arena, "%s %s", line, words[i]);
    line = arena_print(a->arena, "$ %s\n", line);
    int log = open(file_of(a, "log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    bool told = log >= 0 && write(log, line, strlen(line)) == (ssize_t)strlen(line);
    if (log >= 0) close(log);
    if (!told)
        return fail(err, UNAVAILABLE, "%s: cannot be written: %s", file_of(a, "log"),
                    strerror(errno));
    double begin_s = clock_s();
    r.output = output ? output : "said";
    TRY(child_start(&id, &r, err));
    *code = child_wait(id, &a->stopped, enough);
    *seconds = clock_s() - begin_s;
    return OK;
}

// The search with objective pipette starts anew: it has no bound to continue from.
static bool goes_on_from_plans(const struct attempt *a)
{
    struct problem p;
    struct error unread = {OK, ""};
    const char *path = batch_path(a->batch, a->instance->id, "problem.json", a->arena);
    return problem_load(&p, path, a->arena, &unread) == OK && p.job.objective != OBJECTIVE_PIPETTE;
}

struct words {
    const char **items;
    int count;
};

static void add(struct words *w, const char *word) { w->items[w->count++] = word; }

// A part's files are in its own folder next to that of the whole.
static void add_part(struct words *w, const struct attempt *a)
{
    const struct instance *i = a->instance;
    add(w, arena_print(a->arena, "../../%s/problem.json", i->whole));
    add(w, "--part"), add(w, arena_print(a->arena, "%d/%d", i->part, i->parts));
    add(w, "--share"), add(w, arena_print(a->arena, "../../%s/share", i->whole));
}

// What parts have found and proven; nothing from one that failed.
static void add_results_of_parts(struct words *w, const struct attempt *a)
{
    const struct instance *i = a->instance;
    for (int k = 1; k <= i->parts; k++) {
        const struct instance *part = i + k;
        if (!batch_has(a->batch, part->id, "result", a->arena)) continue;
        add(w, "--resume"),
            add(w, arena_print(a->arena, "../../%s/result/%s", part->id, plan_name));
        if (!i->certified || !batch_has(a->batch, part->id, "result/certificate.json", a->arena))
            continue;
        add(w, "--join");
        add(w, arena_print(a->arena, "../../%s/result/%s", part->id, certificate_name));
    }
}

static enum status run_solve(struct attempt *a, int *code, struct error *err)
{
    const struct instance *i = a->instance;
    struct words w = {TAKE(a->arena, i->word_count + 4 * i->parts + 16, const char *), 0};
    bool saved = a->resume && batch_has(a->batch, i->id, "saved/plan.json", a->arena);
    add(&w, "solve");
    if (i->part) add_part(&w, a);
    else add(&w, "../problem.json");
    if (i->parts && !i->part) add_results_of_parts(&w, a);
    add(&w, "-o"), add(&w, plan_name);
    add(&w, "--progress");
    if (i->certified) add(&w, "--certificate"), add(&w, certificate_name);
    if (saved && (i->part || goes_on_from_plans(a))) add(&w, "--resume"), add(&w, saved_plan);
    for (int k = 0; k < i->word_count; k++) add(&w, i->words[k]);
    return run(a, w.items, NULL, file_of(a, plan_name), code, &a->result.solve_s, err);
}

static enum status run_verify(struct attempt *a, int *code, struct error *err)
{
    const char *words[] = {"verify", plan_name, "-o", "verdict.json", MEMORY, NULL, NULL, NULL};
    if (a->result.certificate_bytes) words[6] = "--certificate", words[7] = certificate_name;
    return run(a, words, NULL, NULL, code, &a->result.verify_s, err);
}

static enum status run_check(struct attempt *a, int *code, struct error *err)
{
    const char *const words[] = {"check", certificate_name, "../problem.json", MEMORY, NULL};
    return run(a, words, "checked.txt", NULL, code, &a->result.check_s, err);
}

// ---- their messages

// The last line of the log that is not one of our commands.
static const char *last_words(const struct attempt *a)
{
    struct error unread = {OK, ""};
    const char *text, *found = "no message", *end;
    size_t size;
    if (file_read(file_of(a, "log"), &text, &size, a->arena, &unread) != OK) return found;
    for (; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        int length = (int)(end - text);
        if (length && *text != '$')
            found =
                arena_print(a->arena, "%.*s", length < LOG_LINE_MAX ? length : LOG_LINE_MAX, text);
    }
    return found;
}

static void set_failure(struct attempt *a, const char *command, int code)
{
    a->result.outcome = "failed";
    a->result.verified = a->result.certified = false;
    a->result.reason = code >= KILLED ? arena_print(a->arena, "%s: ended by signal %d; %s", command,
                                                    code - KILLED, last_words(a))
                                      : arena_print(a->arena, "%s: exit code %d: %s", command, code,
                                                    last_words(a));
}

static enum status read_certificate(struct attempt *a, struct error *err)
{
    const char *text;
    size_t size;
    char hash[SHA256_TEXT];
    TRY(file_read(file_of(a, certificate_name), &text, &size, a->arena, err));
    sha256_text(text, size, hash);
    a->result.certificate_bytes = (int64_t)size;
    a->result.certificate_sha256 = arena_copy_text(a->arena, hash);
    return OK;
}

static enum status read_verdict(struct attempt *a, struct error *err)
{
    struct document d;
    const struct json_field fields[] = {
        FIELD_BOOL("accepted", REQUIRED, &a->result.verified),
        FIELD_BOOL("bound_judged", OPTIONAL, &a->result.certified),
        FIELD_COUNT("proven_bound_ns", OPTIONAL, &a->result.bound_ns, 0, JSON_COUNT_MAX),
    };
    TRY(document_read(&d, file_of(a, "verdict.json"), "plumbline.verdict", a->arena, err));
    return json_fields(&d.root, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, a->arena, err);
}

// ---- the steps

// The time of a whole includes that of its parts, as if run in sequence.
static void add_seconds_of_parts(struct attempt *a)
{
    const struct instance *i = a->instance;
    for (int k = 1; k <= i->parts && !i->part; k++) {
        struct result r;
        struct error unread = {OK, ""};
        const char *path = batch_path(a->batch, i[k].id, "result/status.json", a->arena);
        if (result_load(&r, path, a->arena, &unread) == OK) a->result.solve_s += r.solve_s;
    }
}

// There may be a plan although its bound could not be certified: then the bound is as stated.
static enum status solve(struct attempt *a, bool *goes_on, struct error *err)
{
    struct plan plan;
    int code;
    TRY(run_solve(a, &code, err));
    if (a->stopped) return OK;
    bool answered = code == 0 || (code >= EXIT_OPEN && code <= EXIT_NO_PLAN);
    bool uncertified = code == 1 && a->instance->certified && has(a, plan_name);
    if (!answered && !uncertified) return set_failure(a, "solve", code), OK;
    TRY(plan_load(&plan, file_of(a, plan_name), a->arena, err));
    add_seconds_of_parts(a);
    a->result.outcome = outcome_names[plan.outcome];
    if (uncertified) a->result.reason = last_words(a);
    if (has(a, certificate_name)) TRY(read_certificate(a, err));
    *goes_on = !a->instance->part && (plan.stage_count || (plan.outcome == OUTCOME_INFEASIBLE &&
                                                           a->result.certificate_bytes));
    return OK;
}

static enum status audit(struct attempt *a, struct error *err)
{
    int code;
    TRY(run_verify(a, &code, err));
    if (a->stopped) return OK;
    if (code) return set_failure(a, "verify", code), OK;
    TRY(read_verdict(a, err));
    if (!a->result.certificate_bytes) return OK;
    TRY(run_check(a, &code, err));
    if (code && !a->stopped) set_failure(a, "check", code);
    return OK;
}

static enum status make(struct attempt *a, struct error *err)
{
    bool goes_on = false;
    a->result = (struct result){.bound_ns = -1, .certificate_sha256 = ""};
    folder_remove_files(a->folder);
    folder_remove_files(batch_path(a->batch, a->instance->id, "draft", a->arena));
    TRY(file_make_folder(a->folder, err));
    if (a->instance->part)
        TRY(file_make_folder(batch_path(a->batch, a->instance->whole, "share", a->arena), err));
    TRY(solve(a, &goes_on, err));
    return goes_on ? audit(a, err) : OK;
}

// ---- completion

static bool is_full(const char *folder)
{
    struct statvfs s;
    return !statvfs(folder, &s) && s.f_bavail * s.f_frsize < 1 << 16;
}

static int64_t largest_process(void)
{
    struct rusage use;
    return getrusage(RUSAGE_CHILDREN, &use) ? 0 : (int64_t)use.ru_maxrss << 10;
}

// Commands flush the files that they write themselves, but not those that we opened for them.
static void flush_files(const struct attempt *a)
{
    static const char *const names[] = {"log", "checked.txt"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) folder_flush(file_of(a, names[i]));
    folder_flush(a->folder);
}

static enum status publish(struct attempt *a, const char *as, struct error *err)
{
    const char *place = batch_path(a->batch, a->instance->id, as, a->arena);
    flush_files(a);
    folder_remove_files(place); // an older failure, or an earlier save; never a result
    if (rename(a->folder, place))
        return fail(err, UNAVAILABLE, "%s: cannot be created: %s", place, strerror(errno));
    folder_flush(batch_path(a->batch, a->instance->id, "", a->arena));
    return OK;
}

static enum status finish(struct attempt *a, int *exit_code, struct error *err)
{
    bool failed = !strcmp(a->result.outcome, "failed");
    const char *id = a->instance->id;
    if (failed && is_full(a->folder))
        return fail(err, UNAVAILABLE, "%s: no space is left on the disk; %s", a->batch->folder,
                    a->result.reason);
    a->result.memory_bytes = largest_process();
    unlink(file_of(a, "said"));
    TRY(result_save(&a->result, a->instance, file_of(a, "status.json"), a->arena, err));
    TRY(publish(a, failed ? "failure" : "result", err));
    batch_note(a->batch, failed ? "failed" : "done", id, a->result.solve_s);
    if (!failed) {
        folder_remove_files(batch_path(a->batch, id, "failure", a->arena));
        folder_remove_files(batch_path(a->batch, id, "saved", a->arena));
    }
    *exit_code = failed ? BATCH_FAILED : 0;
    return OK;
}

// A plan found before the stop is kept.
static enum status stop(struct attempt *a, int *exit_code, struct error *err)
{
    *exit_code = BATCH_STOPPED;
    batch_note(a->batch, "stopped", a->instance->id, a->result.solve_s);
    if (!has(a, plan_name)) return folder_remove_files(a->folder), OK;
    a->result = (struct result){.outcome = "stopped",
                                .bound_ns = -1,
                                .solve_s = a->result.solve_s,
                                .certificate_sha256 = "",
                                .memory_bytes = largest_process()};
    unlink(file_of(a, "said"));
    TRY(result_save(&a->result, a->instance, file_of(a, "status.json"), a->arena, err));
    return publish(a, "saved", err);
}

enum status batch_solve_one(int *exit_code, const struct batch *b, const struct instance *i,
                            bool resume, struct arena *arena, struct error *err)
{
    struct attempt a = {.batch = b, .instance = i, .resume = resume, .arena = arena};
    int lock;
    TRY(lock_take(&lock, batch_path(b, i->id, "lock", arena), false, err));
    if (lock < 0) return *exit_code = BATCH_BUSY, OK;
    if (batch_has(b, i->id, "result", arena)) return *exit_code = 0, OK;
    a.folder = batch_path(b, i->id, "attempt", arena);
    batch_note(b, "begun", i->id, 0);
    TRY(make(&a, err));
    return a.stopped ? stop(&a, exit_code, err) : finish(&a, exit_code, err);
}
