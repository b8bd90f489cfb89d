// The members sleep between tasks: spinning would take time from the work being measured.
#include "measure/sampling/team.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

struct member {
    struct team *team;
    int index;
    pthread_t thread;
    double busy_s; // processor time of the last task
};

struct team {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    team_task *task;
    const void *argument;
    int64_t count;
    long round;  // counts the tasks; a member runs when it changes
    int running; // members that have not finished this round
    bool closing;
    int threads, started; // started: members to be joined, without the caller
    struct member *members;
    double reset_s,
        longer_s; // the caller's processor time at the reset; others' extra time since
};

static void run_own(const struct team *t, int member)
{
    t->task(t->argument, (struct share){t->count * member / t->threads,
                                        t->count * (member + 1) / t->threads, member});
}

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *serve(void *of_member)
{
    struct member *m = of_member;
    struct team *t = m->team;
    long seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->round == seen && !t->closing) pthread_cond_wait(&t->begin, &t->lock);
        if (t->closing) break;
        seen = t->round;
        pthread_mutex_unlock(&t->lock);
        double begin_s = thread_seconds();
        run_own(t, m->index);
        m->busy_s = thread_seconds() - begin_s;
        pthread_mutex_lock(&t->lock);
        if (--t->running == 0) pthread_cond_signal(&t->end);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void close_team(void *of_team)
{
    struct team *t = of_team;
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->begin);
    pthread_mutex_unlock(&t->lock);
    for (int i = 1; i <= t->started; i++) pthread_join(t->members[i].thread, NULL);
    pthread_cond_destroy(&t->begin);
    pthread_cond_destroy(&t->end);
    pthread_mutex_destroy(&t->lock);
}

enum status team_open(struct team **team, int threads, struct arena *arena, struct error *err)
{
    struct team *t = *team = TAKE(arena, 1, struct team);
    assert(threads >= 1);
    t->threads = threads;
    t->members = TAKE(arena, threads, struct member);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->begin, NULL);
    pthread_cond_init(&t->end, NULL);
    arena_defer(arena, close_team, t);
    for (int i = 1; i < threads; i++) {
        t->members[i] = (struct member){.team = t, .index = i};
        int code = pthread_create(&t->members[i].thread, NULL, serve, &t->members[i]);
        if (code)
            return fail(err, SYSTEM, "thread %d of %d cannot be started: %s", i + 1, threads,
                        strerror(code));
        t->started = i;
    }
    return OK;
}

int team_threads(const struct team *team) { return team->threads; }

void team_run(struct team *t, int64_t count, team_task *task, const void *argument)
{
    assert(count >= 0 && !t->running && !t->closing);
    t->task = task, t->argument = argument, t->count = count;
    if (t->threads == 1) {
        run_own(t, 0);
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->running = t->threads - 1;
    t->round++;
    pthread_cond_broadcast(&t->begin);
    pthread_mutex_unlock(&t->lock);
    double begin_s = thread_seconds();
    run_own(t, 0);
    double own_s = thread_seconds() - begin_s, longest_s = own_s;
    pthread_mutex_lock(&t->lock);
    while (t->running) pthread_cond_wait(&t->end, &t->lock);
    pthread_mutex_unlock(&t->lock);
    for (int i = 1; i < t->threads; i++)
        longest_s = t->members[i].busy_s > longest_s ? t->members[i].busy_s : longest_s;
    t->longer_s += longest_s - own_s;
}

void team_reset_busy(struct team *t)
{
    t->longer_s = 0;
    t->reset_s = thread_seconds();
}

double team_busy_s(const struct team *t) { return thread_seconds() - t->reset_s + t->longer_s; }
