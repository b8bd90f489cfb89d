// All instances of a batch on this machine: each in a process, the longest first, as many at a
// time as cores and memory allow. Their times and memory are estimated from those that have ended.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/base/least.h"
#include "data/base/watch.h"
#include "solve/batch/batch.h"

enum stand { TODO, BUSY, RUNNING, DONE, FAILED };
static const double look_again_s = 0.5, tell_s = 10, tell_terminal_s = 0.5, tell_same_s = 60;

// Measurements of the instances of one problem, or of all.
struct measured {
    const char *problem;
    double estimate, seconds; // sums
    int64_t memory_bytes;     // maximum
};

struct item {
    enum stand stand;
    pid_t process;
    double begun_s, again_s; // again_s: when BUSY is checked again
    int64_t taken_bytes;     // reserved while it runs, as expected at its start
    struct measured *like;
};

struct pool {
    const struct batch *batch;
    const char *const *varying;
    struct item *items;
    struct measured *classes, all;
    int class_count, jobs, running, threads, counts[FAILED + 1], before;
    int64_t available_bytes, taken_bytes; // INT64_MAX: unknown
    double reported_s;
    int reported_over;
    bool quiet, resume, broken; // broken: the folder is no longer usable
    struct arena *arena;
};

// ---- estimates

static double seconds_of(const struct pool *p, int i)
{
    const struct measured *m = p->items[i].like;
    if (!(m->estimate > 0)) m = &p->all;
    return p->batch->items[i].estimate * (m->estimate > 0 ? m->seconds / m->estimate : 1e-9);
}

static int64_t memory_of(const struct pool *p, int i)
{
    const struct measured *m = p->items[i].like;
    return (m->memory_bytes ? m->memory_bytes : p->all.memory_bytes) * p->batch->items[i].threads;
}

static void learn(struct measured *m, double estimate, const struct result *r)
{
    m->estimate += estimate;
    m->seconds += r->solve_s + r->verify_s + r->check_s;
    m->memory_bytes = larger(m->memory_bytes, r->memory_bytes);
}

static bool learn_from(struct pool *p, int i, const char *folder, struct result *r)
{
    struct error unread = {OK, ""};
    const struct instance *of = &p->batch->items[i];
    const char *path = batch_path(p->batch, of->id, folder, p->arena);
    if (result_load(r, arena_print(p->arena, "%s/status.json", path), p->arena, &unread) != OK)
        return false;
    learn(p->items[i].like, of->estimate, r);
    learn(&p->all, of->estimate, r);
    return true;
}

static struct measured *class_of(struct pool *p, const char *problem)
{
    for (int c = 0; c < p->class_count; c++)
        if (!strcmp(p->classes[c].problem, problem)) return &p->classes[c];
    p->classes[p->class_count].problem = problem;
    return &p->classes[p->class_count++];
}

// Bytes stated by a line "NAME   N kB", or by a file of one number; -1: none.
static int64_t number_in(const char *path, const char *name, int64_t unit)
{
    FILE *file = fopen(path, "r");
    char line[256];
    long long n;
    int64_t found = -1;
    while (file && found < 0 && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)) && sscanf(line + strlen(name), "%lld", &n) == 1)
            found = n * unit;
    if (file) fclose(file);
    return found;
}

static int64_t memory_available(void)
{
    int64_t machine = number_in("/proc/meminfo", "MemAvailable:", 1024),
            most = number_in("/sys/fs/cgroup/memory.max", "", 1),
            used = number_in("/sys/fs/cgroup/memory.current", "", 1);
    if (machine < 0) machine = INT64_MAX;
    return most >= 0 && used >= 0 ? smaller(machine, larger(most - used, 0)) : machine;
}

// ---- starting

static void set_stand(struct pool *p, int i, enum stand stand)
{
    p->counts[p->items[i].stand]--;
    p->items[i].stand = stand;
    p->counts[stand]++;
}

// A whole waits for its parts.
static bool is_ready(const struct pool *p, int i)
{
    const struct instance *of = &p->batch->items[i];
    for (int k = 1; k <= of->parts && !of->part; k++)
        if (p->items[i + k].stand != DONE && p->items[i + k].stand != FAILED) return false;
    return true;
}

static bool fits(const struct pool *p, int i)
{
    if (!p->running) return true;
    return p->threads + p->batch->items[i].threads <= p->jobs &&
           p->taken_bytes + memory_of(p, i) <= p->available_bytes;
}

// The longest that fits in memory; -1: none.
static int next_of(const struct pool *p)
{
    int best = -1;
    for (int i = 0; i < p->batch->count; i++)
        if (p->items[i].stand == TODO && is_ready(p, i) && fits(p, i) &&
            (best < 0 || seconds_of(p, i) > seconds_of(p, best)))
            best = i;
    return best;
}

static enum status start(struct pool *p, int i, struct error *err)
{
    const char *const words[] = {"batch",
                                 "one",
                                 p->batch->folder,
                                 "--id",
                                 p->batch->items[i].id,
                                 p->resume ? "--resume" : NULL,
                                 NULL};
    const struct child_request request = {words, NULL, NULL, NULL, true, NULL};
    TRY(child_start(&p->items[i].process, &request, err));
    p->items[i].begun_s = clock_s();
    p->running++;
    p->threads += p->batch->items[i].threads;
    p->items[i].taken_bytes = memory_of(p, i);
    p->taken_bytes += p->items[i].taken_bytes;
    set_stand(p, i, RUNNING);
    return OK;
}

static enum status start_more(struct pool *p, struct error *err)
{
    for (int i; p->threads < p->jobs && !stop_count && !p->broken && (i = next_of(p)) >= 0;)
        TRY(start(p, i, err));
    return OK;
}

// ---- ending

static void clear_line(const struct pool *p)
{
    if (!p->quiet && isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
}

static void tell_failure(const struct pool *p, int i, const char *reason)
{
    clear_line(p);
    fprintf(stderr, "%s (%s): %s\n", instance_label(&p->batch->items[i], p->varying, p->arena),
            p->batch->items[i].id, reason);
}

static void take_end(struct pool *p, int i, int code)
{
    struct result r;
    struct item *item = &p->items[i];
    if (code == 0 && learn_from(p, i, "result", &r)) set_stand(p, i, DONE);
    else if (code == BATCH_BUSY) set_stand(p, i, BUSY), item->again_s = clock_s() + look_again_s;
    else if (code == BATCH_STOPPED && stop_count) set_stand(p, i, TODO);
    else {
        p->broken |= code == 2;
        set_stand(p, i, FAILED);
        if (code == BATCH_FAILED && learn_from(p, i, "failure", &r)) tell_failure(p, i, r.reason);
        else if (!p->broken)
            tell_failure(p, i, arena_print(p->arena, "its process ended with exit code %d", code));
    }
}

static void look_at_running(struct pool *p)
{
    for (int i = 0; i < p->batch->count; i++) {
        int code;
        if (p->items[i].stand != RUNNING || !child_ended(p->items[i].process, &code)) continue;
        p->running--;
        p->threads -= p->batch->items[i].threads;
        p->taken_bytes -= p->items[i].taken_bytes;
        take_end(p, i, code);
    }
}

// Those that another batch is working on.
static void look_at_busy(struct pool *p)
{
    double now = clock_s();
    for (int i = 0; i < p->batch->count && p->counts[BUSY]; i++) {
        struct item *item = &p->items[i];
        const char *holder;
        if (item->stand != BUSY || now < item->again_s) continue;
        enum state state = batch_state(p->batch, p->batch->items[i].id, &holder, p->arena);
        item->again_s = now + look_again_s;
        if (state == STATE_DONE) set_stand(p, i, DONE);
        else if (state != STATE_RUNNING) set_stand(p, i, TODO);
    }
}

static void pass_stops(const struct pool *p, int *passed)
{
    if (stop_count == *passed) return;
    for (int i = 0; i < p->batch->count; i++)
        if (p->items[i].stand == RUNNING)
            kill(*passed ? -p->items[i].process : p->items[i].process, *passed ? SIGKILL : SIGTERM);
    if (!*passed && p->running)
        fprintf(stderr,
                "stopping: %d running instances save what they have; interrupt again to end them "
                "at once\n",
                p->running);
    *passed = stop_count;
}

// ---- progress

static double seconds_left(const struct pool *p)
{
    double sum = 0, most = 0;
    for (int i = 0; i < p->batch->count; i++) {
        double rest = seconds_of(p, i);
        if (p->items[i].stand == DONE || p->items[i].stand == FAILED) continue;
        double gone = clock_s() - p->items[i].begun_s;
        if (p->items[i].stand == RUNNING) rest = gone < rest ? rest - gone : gone; // as long again
        sum += rest;
        most = larger_double(most, rest);
    }
    return larger_double(sum / p->jobs, most);
}

static const char *duration(double s, struct arena *arena)
{
    if (s < 100) return arena_print(arena, "%.0f s", ceil(s));
    if (s < 6000) return arena_print(arena, "%.0f min", ceil(s / 60));
    return arena_print(arena, "%.1f h", s / 3600);
}

static void tell(struct pool *p)
{
    bool terminal = isatty(STDERR_FILENO);
    int over = p->counts[DONE] + p->counts[FAILED];
    double now = clock_s(), wait_s = terminal                   ? tell_terminal_s
                                     : over == p->reported_over ? tell_same_s
                                                                : tell_s;
    if (p->quiet || now - p->reported_s < wait_s) return;
    p->reported_s = now;
    p->reported_over = over;
    clear_line(p);
    fprintf(stderr, "%d of %d done", p->counts[DONE], p->batch->count);
    if (p->counts[FAILED]) fprintf(stderr, ", %d failed", p->counts[FAILED]);
    fprintf(stderr, ", %d running", p->running);
    if (p->counts[BUSY]) fprintf(stderr, ", %d by another batch", p->counts[BUSY]);
    if (over < p->batch->count && p->all.estimate > 0)
        fprintf(stderr, ", about %s left", duration(seconds_left(p), p->arena));
    fprintf(stderr, terminal ? "" : "\n");
}

// ---- all of it

static void begin(struct pool *p)
{
    const struct batch *b = p->batch;
    struct result r;
    p->items = TAKE(p->arena, b->count, struct item);
    p->classes = TAKE(p->arena, b->count, struct measured);
    p->available_bytes = memory_available();
    p->counts[TODO] = b->count;
    p->reported_s = clock_s();
    for (int i = 0; i < b->count; i++) {
        p->items[i].like = class_of(p, b->items[i].problem);
        if (!batch_has(b, b->items[i].id, "result", p->arena)) continue;
        set_stand(p, i, DONE);
        learn_from(p, i, "result", &r);
    }
    p->before = p->counts[DONE];
}

static void tell_end(const struct pool *p)
{
    int rest = p->counts[TODO] + p->counts[BUSY];
    printf("%d instances: %d done", p->batch->count, p->counts[DONE]);
    if (p->before) printf(" (%d of them before)", p->before);
    printf(", %d failed", p->counts[FAILED]);
    if (rest) printf(", %d to do", rest);
    printf("\n");
}

enum status batch_solve_all(int *exit_code, const struct batch *b, int jobs, bool resume,
                            bool quiet, struct arena *arena, struct error *err)
{
    int passed = 0;
    struct pool p = {.batch = b,
                     .jobs = jobs,
                     .resume = resume,
                     .quiet = quiet,
                     .arena = arena,
                     .varying = batch_varying(b, arena)};
    signals_listen();
    begin(&p);
    const struct arena_mark mark = arena_set_mark(arena);
    for (;;) {
        arena_reset(arena, mark);
        look_at_running(&p);
        look_at_busy(&p);
        pass_stops(&p, &passed);
        TRY(start_more(&p, err));
        bool more = !stop_count && !p.broken && p.counts[TODO] + p.counts[BUSY] > 0;
        if (!p.running && !more) break;
        tell(&p);
        signals_sleep(look_again_s);
    }
    clear_line(&p);
    if (p.broken)
        return fail(err, UNAVAILABLE, "%s: an instance could not be written, so the batch ends",
                    b->folder);
    tell_end(&p);
    *exit_code = p.counts[TODO] + p.counts[BUSY] ? BATCH_STOPPED
                 : p.counts[FAILED]              ? BATCH_FAILED
                                                 : 0;
    return OK;
}
