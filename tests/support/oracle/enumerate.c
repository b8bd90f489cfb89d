// Enumerates every decision of a set of choices.
#include "tests/support/oracle/enumerate.h"

#include <string.h>

struct walk {
    struct enumeration *e;
    const struct choices *c;
    struct graph *g;
    void (*visit)(void *argument, const int *chosen, const int64_t *durations);
    void *argument;
    int *chosen;
    int64_t *durations;
};

static void take_plan(struct walk *w)
{
    struct enumeration *e = w->e;
    int stages = w->c->priced->stage_count;
    if (!choices_fit_together(w->c, w->chosen) || !choices_durations(w->c, w->chosen, w->durations))
        return;
    int64_t time = graph_longest(w->g, w->durations, NULL);
    e->plans++;
    if (time < e->best_ns) {
        e->best_ns = time;
        e->best_plans = 0;
        memcpy(e->best, w->chosen, (size_t)stages * sizeof *e->best);
    }
    e->best_plans += time == e->best_ns;
    for (int s = 0; s < stages; s++)
        if (time < e->best_with_ns[s][w->chosen[s]]) e->best_with_ns[s][w->chosen[s]] = time;
    if (w->visit) w->visit(w->argument, w->chosen, w->durations);
}

// Layers are the only early test: a sum that cannot be the model's.
static void walk_stage(struct walk *w, int s, int covered)
{
    if (s == w->c->priced->stage_count) {
        if (covered == w->c->priced->layer_count) take_plan(w);
        return;
    }
    for (int i = 0; i < w->c->stages[s].count; i++) {
        const struct choice *c = &w->c->stages[s].items[i];
        if (covered + c->layer_count > w->c->priced->layer_count ||
            (c->first_layer >= 0 ? c->first_layer != covered : covered < -1 - c->first_layer))
            continue;
        w->chosen[s] = i;
        walk_stage(w, s + 1, covered + c->layer_count);
    }
}

void enumerate(struct enumeration *e, const struct choices *c, struct graph *g,
               void (*visit)(void *argument, const int *chosen, const int64_t *durations),
               void *argument, struct arena *arena)
{
    int stages = c->priced->stage_count;
    *e = (struct enumeration){.best_ns = INT64_MAX,
                              .best = TAKE(arena, stages, int),
                              .best_with_ns = TAKE(arena, stages, int64_t *)};
    for (int s = 0; s < stages; s++) {
        e->best_with_ns[s] = TAKE(arena, c->stages[s].count, int64_t);
        for (int i = 0; i < c->stages[s].count; i++) e->best_with_ns[s][i] = INT64_MAX;
    }
    struct walk w = {.e = e,
                     .c = c,
                     .g = g,
                     .visit = visit,
                     .argument = argument,
                     .chosen = TAKE(arena, stages, int),
                     .durations = TAKE(arena, graph_symbol_count(g), int64_t)};
    walk_stage(&w, 0, 0);
}
