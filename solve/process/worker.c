// A pool of worker processes.
#include "solve/process/worker.h"

#include "data/base/grow.h"
#include "data/base/watch.h"
#include "solve/process/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
    pid_t process; // 0: none
    int socket;    // both ways
    int request;   // being worked on, or -1
    int delivered; // number of the pool's messages sent to it
    char *answer;  // received so far, the length first
    size_t have, capacity;
    double since_s;
};

struct worker_pool {
    struct worker_settings settings;
    struct worker *workers;
    const struct message **broadcast;
    int broadcast_count, broadcast_capacity;
    struct arena *arena;
};

// No signal if the reader is gone: signals belong to the whole program.
static bool write_all(int socket, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = send(socket, bytes, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n, size -= (size_t)n;
    }
    return true;
}

static bool read_all(int file, char *bytes, size_t size)
{
    while (size) {
        ssize_t n = read(file, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n, size -= (size_t)n;
    }
    return true;
}

// ---- inside the worker

static void serve_one(const struct worker_settings *s, int socket)
{
    struct arena arena;
    jmp_buf exhausted;
    arena_open(&arena, &exhausted);
    if (setjmp(exhausted)) _exit(3);
    struct message request, answer;
    message_begin(&request, &arena);
    message_begin(&answer, &arena);
    char wants_answer;
    if (!read_all(socket, &wants_answer, 1) ||
        !read_all(socket, (char *)&request.used, sizeof request.used))
        _exit(0);
    request.bytes = arena_take(&arena, request.used, 1);
    if (!read_all(socket, request.bytes, request.used)) _exit(0);
    s->run(s->context, &request, wants_answer ? &answer : NULL, &arena);
    if (wants_answer && (!write_all(socket, (char *)&answer.used, sizeof answer.used) ||
                         !write_all(socket, answer.bytes, answer.used)))
        _exit(0);
    arena_close(&arena);
}

static void silence_file(int file)
{
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) dup2(nothing, file);
}

// The parent handles the signals that stop the program; GLPK's last messages are not shown to the
// user.
static void serve(const struct worker_pool *pool, int socket)
{
    const struct worker_settings *s = &pool->settings;
    jmp_buf exhausted;
    if (setjmp(exhausted)) _exit(3);
    pool->arena->exit =
        &exhausted; // the parent's exits must not lead back into the parent's frames
    struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGTERM, &usual, NULL);
    sigaction(SIGPIPE, &usual, NULL);
    silence_file(STDOUT_FILENO);
    silence_file(STDERR_FILENO);
    if (s->memory_limit_bytes > 0) {
        struct rlimit limit = {(rlim_t)s->memory_limit_bytes, (rlim_t)s->memory_limit_bytes};
        setrlimit(RLIMIT_AS, &limit);
    }
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (;;) serve_one(s, socket);
}

// ---- the parent

static void end_worker(struct worker *w)
{
    if (!w->process) return;
    kill(w->process, SIGKILL);
    while (waitpid(w->process, NULL, 0) < 0 && errno == EINTR) continue;
    close(w->socket);
    *w = (struct worker){.request = -1, .answer = w->answer, .capacity = w->capacity};
}

static void close_others(const struct worker_pool *pool)
{
    for (int i = 0; i < pool->settings.count; i++)
        if (pool->workers[i].process) close(pool->workers[i].socket);
}

static bool start_worker(struct worker_pool *pool, struct worker *w)
{
    int ends[2]; // the parent's, the worker's
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return false;
    fflush(stdout);
    fflush(stderr);
    pid_t parent = getpid(), process = fork();
    if (process == 0) {
        process_ends_with(parent);
        supervised_leave();
        close_others(pool);
        close(ends[0]);
        serve(pool, ends[1]);
    }
    close(ends[1]);
    if (process < 0) return close(ends[0]), false;
    supervised_worker(process);
    *w = (struct worker){.process = process,
                         .socket = ends[0],
                         .request = -1,
                         .delivered = pool->broadcast_count,
                         .answer = w->answer,
                         .capacity = w->capacity};
    return true;
}

static void close_pool(void *pool) { worker_pool_close(pool); }

enum status worker_pool_open(struct worker_pool **pool, const struct worker_settings *settings,
                             struct arena *arena, struct error *err)
{
    struct worker_pool *p = *pool = TAKE(arena, 1, struct worker_pool);
    p->settings = *settings;
    p->workers = TAKE(arena, settings->count, struct worker);
    p->arena = arena;
    arena_defer(arena, close_pool, p);
    for (int i = 0; i < settings->count; i++) {
        p->workers[i].request = -1;
        if (!start_worker(p, &p->workers[i]))
            return fail(err, SYSTEM, "a worker process cannot be started: %s", strerror(errno));
    }
    return OK;
}

void worker_pool_close(struct worker_pool *pool)
{
    for (int i = 0; i < pool->settings.count; i++) end_worker(&pool->workers[i]);
}

void worker_pool_tell(struct worker_pool *pool, const struct message *message)
{
    GROW(pool->arena, pool->broadcast, pool->broadcast_count, pool->broadcast_capacity, 64);
    pool->broadcast[pool->broadcast_count++] = message;
}

static bool tell(const struct worker *w, const struct message *m, char wants_answer)
{
    return write_all(w->socket, &wants_answer, 1) &&
           write_all(w->socket, (const char *)&m->used, sizeof m->used) &&
           write_all(w->socket, m->bytes, m->used);
}

static bool hand_out(struct worker_pool *pool, struct worker *w, const struct message *request,
                     int index)
{
    if (!w->process && !start_worker(pool, w)) return false;
    w->request = index;
    w->have = 0;
    w->since_s = clock_s();
    bool sent = true;
    while (sent && w->delivered < pool->broadcast_count)
        sent = tell(w, pool->broadcast[w->delivered++], 0);
    return sent && tell(w, request, 1);
}

// 1: the answer is whole; 0: more will come; -1: the worker is gone.
static int take_in(struct worker *w, struct arena *arena)
{
    if (w->capacity - w->have < 65536) {
        size_t capacity = 2 * w->capacity + 131072;
        w->answer = arena_grow(arena, w->answer, w->have, capacity, 1);
        w->capacity = capacity;
    }
    ssize_t n = read(w->socket, w->answer + w->have, w->capacity - w->have);
    if (n < 0 && errno == EINTR) return 0;
    if (n <= 0) return -1;
    w->have += (size_t)n;
    size_t size;
    if (w->have < sizeof size) return 0;
    memcpy(&size, w->answer, sizeof size);
    return w->have - sizeof size >= size;
}

static void settle_answer(struct worker *w, struct message *answers, bool whole,
                          struct arena *arena)
{
    struct message *answer = &answers[w->request];
    message_begin(answer, arena);
    if (whole) message_put(answer, w->answer + sizeof(size_t), w->have - sizeof(size_t));
    else answer->broken = true;
    w->request = -1;
}

// ---- without processes

// The caller already has in memory what it told.
static bool answer_here(const struct worker_settings *s, struct message *request,
                        struct message *answer, struct arena *arena)
{
    struct arena own;
    struct message out;
    jmp_buf exhausted;
    volatile bool whole = false;
    arena_open(&own, &exhausted);
    message_begin(answer, arena);
    message_begin(&out, &own);
    if (!setjmp(exhausted)) {
        s->run(s->context, request, &out, &own);
        whole = true;
    }
    if (whole) message_put(answer, out.bytes, out.used);
    answer->broken = !whole;
    arena_close(&own);
    return whole;
}

static bool run_here(const struct worker_pool *pool, struct message *requests, int count,
                     struct message *answers, bool (*stop_asked)(void *), void *argument,
                     const char **why, struct arena *arena)
{
    for (int i = 0; i < count; i++) {
        if (stop_asked && stop_asked(argument)) return false;
        if (!answer_here(&pool->settings, &requests[i], &answers[i], arena))
            *why = "GLPK gave up, or memory was exhausted";
    }
    return true;
}

bool worker_pool_run(struct worker_pool *pool, struct message *requests, int count,
                     struct message *answers, bool (*stop_asked)(void *), void *argument,
                     const char **why, struct arena *arena)
{
    struct pollfd *files = TAKE(arena, pool->settings.count, struct pollfd);
    if (!pool->settings.count)
        return run_here(pool, requests, count, answers, stop_asked, argument, why, arena);
    for (int next = 0, left = count; left > 0;) {
        for (int i = 0; i < pool->settings.count; i++) {
            struct worker *w = &pool->workers[i];
            if (w->request < 0 && next < count && !hand_out(pool, w, &requests[next], next)) {
                w->request = next;
                settle_answer(w, answers, false, arena);
                end_worker(w);
                *why = "a worker process could not be started or fed";
                left--;
            }
            if (w->request == next) next++;
            else if (next < count && answers[next].broken) next++;
            files[i] = (struct pollfd){.fd = w->request < 0 ? -1 : w->socket, .events = POLLIN};
        }
        if (stop_asked && stop_asked(argument)) return worker_pool_close(pool), false;
        if (poll(files, (nfds_t)pool->settings.count, 20) < 0 && errno != EINTR)
            return worker_pool_close(pool), false;
        for (int i = 0; i < pool->settings.count; i++) {
            struct worker *w = &pool->workers[i];
            if (w->request < 0) continue;
            int state = files[i].revents ? take_in(w, pool->arena) : 0;
            bool silent = pool->settings.silence_limit_s > 0 &&
                          clock_s() - w->since_s > pool->settings.silence_limit_s;
            if (!state && !silent) continue;
            if (state <= 0) *why = silent ? "a worker process hung" : "a worker process died";
            settle_answer(w, answers, state > 0, arena);
            if (state <= 0) end_worker(w);
            left--;
        }
    }
    return true;
}
