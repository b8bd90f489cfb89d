// Turns by the back end itself, or otherwise by repeating the two passes one after the other.
#include "measure/sampling/rounds.h"

#include "data/numbers/intervals.h"
#include "measure/sampling/host.h"

static bool goes_on(const struct turns *t, double begin_s, double now_s, double least_s)
{
    return t->count < t->most && now_s - begin_s < least_s && !interrupts_came();
}

// Every turn takes time by the back end's clock.
static void take_turns(const struct backend *b, void *session, const struct cell *pair,
                       struct turns *t)
{
    double begin_s = backend_seconds(b, session);
    while (goes_on(t, begin_s, backend_seconds(b, session), t->least_s))
        b->repeat(session, &pair[0]), b->repeat(session, &pair[1]);
    begin_s = backend_seconds(b, session);
    do {
        struct condition *now = &t->conditions[t->condition_count];
        now->first = t->count;
        t->condition_count += b->condition && b->condition(session, now);
        t->forward_s[t->count] = b->repeat(session, &pair[0]);
        t->backward_s[t->count++] = b->repeat(session, &pair[1]);
    } while (goes_on(t, begin_s, backend_seconds(b, session), t->least_s));
}

static void keep(struct cell *cell, const struct turns *t, double *seconds, struct arena *arena)
{
    struct sample *s = &cell->sample;
    s->before = BEFORE_LOAD;
    s->busy_devices = t->busy_devices;
    s->seconds = seconds;
    s->repetitions = t->count;
    s->conditions = TAKE_COPY(arena, t->conditions, t->condition_count);
    s->condition_count = t->condition_count;
    s->stopped_by = "count";
    sample_flag_outliers(s, arena);
}

enum status sustained_run(const struct backend *backend, void *session, struct cell *pairs,
                          int pair_count, double least_s, struct arena *arena, struct error *err)
{
    for (int i = 0; i < pair_count && !interrupts_came(); i++) {
        struct cell *pair = &pairs[2 * i];
        struct turns t = {.least_s = least_s,
                          .most = TURNS_MOST,
                          .busy_devices = 1,
                          .forward_s = TAKE(arena, TURNS_MOST, double),
                          .backward_s = TAKE(arena, TURNS_MOST, double),
                          .conditions = TAKE(arena, TURNS_MOST, struct condition)};
        if (backend->sustain) TRY(backend->sustain(session, &pair[1], &t, arena, err));
        else take_turns(backend, session, pair, &t);
        keep(&pair[0], &t, t.forward_s, arena);
        keep(&pair[1], &t, t.backward_s, arena);
    }
    return OK;
}
