// An order of a schedule's operations that respects streams and dependences, or the deadlock that
// prevents one. Kahn's algorithm: operations that wait for nothing come first; ties are broken by
// the operations' numbers.
#include "data/schedule/schedule.h"

// Successors of every operation: next[first[i] .. first[i + 1]).
struct successors {
    int *first, *next, *waits_for;
};

// Calls take(before, after) for every edge of the graph: neighbours on a stream, and dependences.
#define EACH_EDGE(s, before, after, body)                                                          \
    do {                                                                                           \
        for (int stream_i = 0; stream_i < (s)->stream_count; stream_i++)                           \
            for (int place = 1; place < (s)->streams[stream_i].count; place++) {                   \
                int before = (s)->streams[stream_i].operations[place - 1];                         \
                int after = (s)->streams[stream_i].operations[place];                              \
                body;                                                                              \
            }                                                                                      \
        for (int i = 0; i < (s)->dependence_count; i++) {                                          \
            int before = (s)->dependences[i].before;                                               \
            int after = (s)->dependences[i].after;                                                 \
            body;                                                                                  \
        }                                                                                          \
    } while (0)

static struct successors find_successors(const struct schedule *s, struct arena *arena)
{
    struct successors e = {TAKE(arena, s->operation_count + 2, int), NULL,
                           TAKE(arena, s->operation_count, int)};
    EACH_EDGE(s, before, after, (e.first[before + 2]++, e.waits_for[after]++));
    for (int i = 2; i <= s->operation_count; i++) e.first[i + 1] += e.first[i];
    e.next = TAKE(arena, e.first[s->operation_count + 1], int);
    EACH_EDGE(s, before, after, (e.next[e.first[before + 1]++] = after));
    return e;
}

static enum status refuse_cycle(const struct schedule *s, const int *waits_for, struct error *err)
{
    int stuck = 0;
    while (!waits_for[stuck]) stuck++;
    const struct operation *o = &s->operations[stuck];
    return refuse(err, "schedule: deadlock: %s of stage %d, micro-batch %d can never start",
                  symbol_kind_name(o->symbol / s->request.stage_count), o->stage, o->micro_batch);
}

enum status schedule_order(const struct schedule *s, int *order, struct arena *arena,
                           struct error *err)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct successors e = find_successors(s, arena);
    int count = 0;
    assert(s->operation_count > 0);
    for (int i = 0; i < s->operation_count; i++)
        if (!e.waits_for[i]) order[count++] = i;
    for (int done = 0; done < count; done++)
        for (int k = e.first[order[done]]; k < e.first[order[done] + 1]; k++)
            if (--e.waits_for[e.next[k]] == 0) order[count++] = e.next[k];
    enum status status = count == s->operation_count ? OK : refuse_cycle(s, e.waits_for, err);
    arena_reset(arena, mark);
    return status;
}
