// The supervisor and its child. See supervise.h.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "solve/process/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "data/base/file.h"
#include "data/base/command.h"
#include "data/base/watch.h"

static const double look_s = 0.1;  // at the clock
static const double nudge_s = 1;   // after its limit a search is also told by the flag
static const double reserve_s = 1; // of the grace, for what comes after a killed child

// Behind a limit processor time counts, since a busy machine must not cost a result; but so that
// everything ends, what waits is taken to use this share of a core.
static const double least_share = 1.0 / 16;
static const double taking_over_s = 60; // each step of judging and writing what a lost child left
enum { TAKING_OVER_LOOK_S = 5 };

// In memory shared by all processes of the program.
struct common {
    volatile int stop;
    char temporary[FILE_NAME_MAX]; // the file being written, or ""
};

enum { WORKERS_KNOWN = 256 };

// Shared by a supervisor and its child, which writes it.
struct stage {
    volatile int number; // counts changes of what, deadline and stoppable
    const char *volatile what;
    volatile double deadline_s; // by clock_s; 0: none
    volatile int stoppable, saved, exit_code;
    volatile int64_t bound_ns;
    volatile pid_t workers[WORKERS_KNOWN]; // the child's last ones
    volatile unsigned worker_count;        // so far
};

// What signal handlers need, and whose child this process is.
enum mode { PREPARING, WATCHING, TAKING_OVER, ALONE };
static volatile sig_atomic_t mode, asked; // asked: signals so far
static struct stage *volatile watched;    // the child's, and the signals since its last change
static volatile sig_atomic_t asked_number, asked_count;
static struct common *common;
static struct stage *own; // NULL: there is no supervisor
static int to_supervisor = -1;

// What this process has of a lost child's work.
static struct {
    volatile double used_s, seen_s; // of a step; by processor_s
    volatile sig_atomic_t saved, exit_code;
} taken;

static double processor_s(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? 0 : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double used_s(double processor_time_s, double passed_s)
{
    return processor_time_s > passed_s * least_share ? processor_time_s : passed_s * least_share;
}

// ---- signals

static _Noreturn void end_now(void)
{
    static const char nothing[] = "plumbline: stopped before there was a result\n";
    static const char saved[] = "plumbline: stopped; what came before it is saved\n";
    int code = taken.saved ? taken.exit_code : EXIT_NO_PLAN;
    if (write(STDERR_FILENO, taken.saved ? saved : nothing,
              (taken.saved ? sizeof saved : sizeof nothing) - 1) < 0)
        _exit(code);
    if (common && *common->temporary) unlink(common->temporary);
    _exit(code);
}

static void take_alarm(int signal)
{
    (void)signal;
    if (mode == PREPARING) end_now();
    if (mode != TAKING_OVER) return;
    double now_s = processor_s(CLOCK_PROCESS_CPUTIME_ID);
    taken.used_s = taken.used_s + used_s(now_s - taken.seen_s, TAKING_OVER_LOOK_S);
    taken.seen_s = now_s;
    if (taken.used_s > taking_over_s) end_now();
    alarm(TAKING_OVER_LOOK_S);
}

static void take_signal(int signal)
{
    (void)signal;
    asked = asked + 1;
    if (common) common->stop = 1;
    if (watched) {
        asked_count = watched->number == asked_number ? asked_count + 1 : 1;
        asked_number = watched->number;
    }
    if (mode == PREPARING && asked == 1) alarm(SUPERVISE_GRACE_S);
    else if (mode == TAKING_OVER || (mode != WATCHING && asked > 1)) end_now();
}

static void take_nothing(int signal) { (void)signal; }

static void on(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(signal, &action, NULL);
}

void supervision_listen(void)
{
    on(SIGALRM, take_alarm);
    on(SIGINT, take_signal);
    on(SIGTERM, take_signal);
}

static void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

enum status supervision_stop(const volatile int **stop, struct error *err)
{
    if (!common) {
        struct common *made = share(sizeof *made);
        if (!made) return fail(err, SYSTEM, "no memory to share with other processes");
        common = made;
        if (asked) common->stop = 1;
        file_note_temporaries(common->temporary);
        supervision_listen();
    }
    *stop = &common->stop;
    return OK;
}

void process_ends_with(int64_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != (pid_t)parent) _exit(1);
}

// ---- the child

void supervised_begins(const char *what, double limit_s, bool stoppable)
{
    taken.used_s = 0;
    if (!own) return;
    own->what = what;
    own->deadline_s = limit_s > 0 ? clock_s() + limit_s : 0;
    own->stoppable = stoppable;
    own->number = own->number + 1;
}

void supervised_saves(int exit_code)
{
    if (mode == TAKING_OVER) taken.exit_code = exit_code, taken.saved = 1;
    if (!own) return;
    own->exit_code = exit_code;
    own->saved = 1;
}

void supervised_bounds(int64_t bound_ns)
{
    if (own && bound_ns > own->bound_ns) own->bound_ns = bound_ns;
}

bool supervised_is(void) { return own != NULL; }

void supervised_worker(int64_t process)
{
    if (own) own->workers[own->worker_count++ % WORKERS_KNOWN] = (pid_t)process;
}

static bool send_all(const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t n = write(to_supervisor, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, size -= (size_t)n;
    }
    return true;
}

void supervised_keeps(const struct message *m)
{
    if (own && send_all(&m->used, sizeof m->used)) send_all(m->bytes, m->used);
}

void supervised_leave(void)
{
    if (to_supervisor >= 0) close(to_supervisor);
    to_supervisor = -1;
    own = NULL;
}

static void become_child(struct stage *stage, int file, pid_t parent)
{
    on(SIGINT, SIG_IGN); // the supervisor's
    on(SIGTERM, SIG_IGN);
    process_ends_with(parent);
    supervised_leave(); // of an outer supervisor: ours reports to it
    own = stage;
    to_supervisor = file;
}

// ---- the supervisor

struct watching {
    struct stage *stage;
    pid_t child;
    int file;
    struct message arriving, *kept;
    double grace_s, late_s, seen_s; // late_s: since it was told to end, while we ran ourselves
    double processor_s;             // of the child and its workers, when it was seen
    int number;
    bool late, nudged; // nudged: we set the flag ourselves
    sigset_t before;
    struct arena *arena;
};

// Takes in whole messages; the last one counts.
static void take_messages(struct watching *w)
{
    size_t size;
    struct message *m = &w->arriving;
    while (m->used >= sizeof size) {
        memcpy(&size, m->bytes, sizeof size);
        if (m->used - sizeof size < size) return;
        message_begin(w->kept, w->arena);
        message_put(w->kept, m->bytes + sizeof size, size);
        m->used -= sizeof size + size;
        memmove(m->bytes, m->bytes + sizeof size + size, m->used);
    }
}

// false: no more will come now.
static bool read_some(struct watching *w)
{
    char bytes[1 << 16];
    ssize_t n = read(w->file, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    message_put(&w->arriving, bytes, (size_t)n);
    take_messages(w);
    return true;
}

static double processor_s_of(pid_t process)
{
    clockid_t clock;
    return clock_getcpuclockid(process, &clock) ? 0 : processor_s(clock);
}

static double child_processor_s(const struct watching *w)
{
    const struct stage *s = w->stage;
    unsigned count = s->worker_count < WORKERS_KNOWN ? s->worker_count : WORKERS_KNOWN;
    double all_s = processor_s_of(w->child);
    for (unsigned i = 0; i < count; i++) all_s += processor_s_of(s->workers[i]);
    return all_s;
}

// Counts only time in which this process ran: a program that was suspended, with its child, is not
// late for that. After a signal it is the user's time, after a limit the processor's.
static bool is_late(struct watching *w)
{
    const struct stage *s = w->stage;
    double now = clock_s(), passed = now - w->seen_s;
    double processor = child_processor_s(w), worked = processor - w->processor_s;
    if (passed > 2 * look_s) passed = 2 * look_s;
    if (worked > passed) worked = passed; // of several workers
    int number = s->number, own_asked = asked_number == number ? asked_count : 0;
    if (number != w->number) w->number = number, w->late_s = 0;
    w->seen_s = now, w->processor_s = processor;
    bool stopping = s->stoppable ? common->stop && !w->nudged : own_asked > 0;
    w->late = !stopping && s->deadline_s > 0 && now > s->deadline_s;
    if (!stopping && !w->late) return false;
    w->late_s += w->late ? used_s(worked, passed) : passed;
    if (w->late && w->late_s > nudge_s && s->stoppable) w->nudged = true, common->stop = 1;
    return (stopping && !s->stoppable) || own_asked > 1 || w->late_s > w->grace_s;
}

static void wait_a_while(struct watching *w)
{
    fd_set files;
    struct timespec time = {0, (long)(look_s * 1e9)};
    FD_ZERO(&files);
    FD_SET(w->file, &files);
    if (pselect(w->file + 1, &files, NULL, NULL, &time, &w->before) > 0 && !read_some(w))
        pselect(0, NULL, NULL, NULL, &time,
                &w->before); // it has closed its end, or is about to end
}

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGALRM);
    sigaddset(&all, SIGCHLD);
    sigprocmask(SIG_BLOCK, &all, before);
}

// Returns its status, as waitpid gives it. *killed: we ended it.
static int wait_for_end(struct watching *w, bool *killed)
{
    int status = 0;
    *killed = false;
    while (waitpid(w->child, &status, *killed ? 0 : WNOHANG) != w->child) {
        if (!*killed && is_late(w)) *killed = !kill(w->child, SIGKILL);
        else if (!*killed) wait_a_while(w);
    }
    while (read_some(w)) continue;
    return status;
}

static void release_temporary(void)
{
    if (*common->temporary) unlink(common->temporary);
    *common->temporary = '\0';
}

static void tell_end(struct supervised *s, const struct watching *w, int status, bool killed)
{
    const struct stage *stage = w->stage;
    bool ended = WIFEXITED(status);
    s->as = ended ? SUPERVISED_ENDED : SUPERVISED_LOST;
    s->exit_code = ended ? WEXITSTATUS(status) : stage->exit_code;
    s->died_of = ended || killed ? 0 : WTERMSIG(status);
    s->late = w->late;
    s->saved = stage->saved;
    s->what = stage->what;
    s->bound_ns = stage->bound_ns;
    if (!ended) release_temporary();
}

static void watch_child(struct supervised *s, struct watching *w)
{
    double begin_s = clock_s();
    bool killed;
    alarm(0);
    mode = WATCHING;
    fcntl(w->file, F_SETFL, O_NONBLOCK);
    on(SIGCHLD, take_nothing);
    w->seen_s = begin_s;
    asked_count = asked_number = 0;
    watched = w->stage;
    int status = wait_for_end(w, &killed);
    watched = NULL;
    close(w->file);
    tell_end(s, w, status, killed);
    s->seconds = clock_s() - begin_s;
    mode = s->as == SUPERVISED_LOST ? TAKING_OVER : PREPARING;
    taken.used_s = 0, taken.seen_s = processor_s(CLOCK_PROCESS_CPUTIME_ID);
    if (mode == TAKING_OVER) alarm(TAKING_OVER_LOOK_S);
    on(SIGCHLD, SIG_DFL);
}

enum status supervise(struct supervised *s, const struct supervise_settings *settings,
                      struct arena *arena, struct error *err)
{
    const volatile int *stop;
    int ends[2]; // ours, the child's
    pid_t parent = getpid();
    *s = (struct supervised){.as = SUPERVISED_CHILD};
    TRY(supervision_stop(&stop, err));
    struct stage *stage = share(sizeof *stage);
    if (!stage) return fail(err, SYSTEM, "no memory to share with other processes");
    *stage = (struct stage){.what = settings->what, .stoppable = 1};
    if (settings->limit_s > 0) stage->deadline_s = clock_s() + settings->limit_s;
    struct watching w = {
        .stage = stage, .kept = &s->kept, .grace_s = settings->grace_s - reserve_s, .arena = arena};
    if (w.grace_s <= 0) w.grace_s = settings->grace_s;
    message_begin(&w.arriving, arena);
    message_begin(&s->kept, arena);
    supervised_begins(settings->what, 0, true); // an outer supervisor leaves the limit to us
    if (pipe(ends)) return mode = ALONE, OK;
    fflush(stdout);
    fflush(stderr);
    block_signals(&w.before);
    w.child = fork(), w.file = ends[0];
    if (w.child > 0) {
        close(ends[1]);
        watch_child(s, &w);
    } else {
        close(ends[0]);
        if (w.child < 0) close(ends[1]), mode = ALONE;
        else become_child(stage, ends[1], parent);
    }
    sigprocmask(SIG_SETMASK, &w.before, NULL);
    if (w.child > 0) munmap(stage, sizeof *stage);
    return OK;
}
