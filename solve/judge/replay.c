// The iteration time of a graph with a barrier: the schedule's table replayed event by event with
// the plan's own durations. An operation starts when everything it waits for has ended; ends are
// taken from a queue in order of time.
#include <string.h>

#include "data/base/heap.h"
#include "solve/judge/internal.h"

enum { TIME_LIMIT_BITS = 61 };

struct event {
    int64_t end_ns;
    int operation;
};

static bool ends_before(const struct event *a, const struct event *b)
{
    return a->end_ns < b->end_ns;
}

HEAP(queue, struct event, ends_before)

static void for_each_wait(const struct schedule *s,
                          void (*note)(struct waiting *w, int before, int after), struct waiting *w)
{
    for (int i = 0; i < s->dependence_count; i++)
        note(w, s->dependences[i].before, s->dependences[i].after);
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            note(w, s->streams[i].operations[k - 1], s->streams[i].operations[k]);
}

static void count_wait(struct waiting *w, int before, int after)
{
    w->first[before + 1]++;
    w->open[after]++;
}

static void list_wait(struct waiting *w, int before, int after)
{
    w->successors[w->first[before]++] = after;
}

struct waiting judged_waiting(const struct schedule *s, struct arena *arena)
{
    struct waiting w = {TAKE(arena, s->operation_count, int),
                        TAKE(arena, s->operation_count + 1, int), NULL};
    for_each_wait(s, count_wait, &w);
    for (int i = 0; i < s->operation_count; i++) w.first[i + 1] += w.first[i];
    w.successors = TAKE(arena, w.first[s->operation_count], int);
    for_each_wait(s, list_wait, &w);
    // Filling the lists moved each beginning to the next one's.
    memmove(w.first + 1, w.first, (size_t)s->operation_count * sizeof *w.first);
    w.first[0] = 0;
    return w;
}

int64_t judged_duration(const struct plan *plan, const struct operation *o)
{
    int stages = plan->stage_count, kind = o->symbol / stages;
    const struct plan_stage *x = &plan->stages[o->symbol % stages];
    const struct plan_slice *y = &x->slices[symbol_slice(kind)];
    kind = symbol_base_kind(kind);
    switch (kind) {
    case SYMBOL_FORWARD: return y->forward_ns;
    case SYMBOL_BACKWARD: return y->backward_ns;
    case SYMBOL_WEIGHT: return x->weight_ns;
    case SYMBOL_SYNC: return x->sync_ns;
    case SYMBOL_QUEUED_SYNC: return x->queued_sync_ns;
    case SYMBOL_OPTIMIZER: return x->optimizer_ns;
    case SYMBOL_EMBEDDING_SYNC: return plan->embedding_sync_ns;
    case SYMBOL_AWAY: return x->away_ns;
    case SYMBOL_BACK: return x->back_ns;
    default: break;
    }
    int part = (kind - SYMBOL_SEND_FORWARD) % PART_COUNT;
    if (kind < SYMBOL_SEND_BACKWARD) return y->send_forward_ns[part];
    return kind < SYMBOL_SEND_EPILOGUE ? y->send_backward_ns[part] : x->send_epilogue_ns[part];
}

// Absurd claims of a damaged plan saturate instead of overflowing.
int64_t judged_later(int64_t start, int64_t duration)
{
    int64_t limit = (int64_t)1 << TIME_LIMIT_BITS;
    if (duration < 0) duration = 0;
    return duration > limit - start ? limit : start + duration;
}

static void start(struct event *queue, int *running, const struct schedule *s,
                  const struct plan *plan, int64_t now, int operation)
{
    int64_t duration = judged_duration(plan, &s->operations[operation]);
    queue_push(queue, running, &(struct event){judged_later(now, duration), operation});
}

int64_t judged_replay(const struct schedule *s, const struct plan *plan, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct waiting w = judged_waiting(s, arena);
    struct event *queue = TAKE(arena, s->operation_count, struct event);
    int64_t now = 0;
    int running = 0, ended = 0;
    for (int i = 0; i < s->operation_count; i++)
        if (w.open[i] == 0) start(queue, &running, s, plan, 0, i);
    for (; running; ended++) {
        struct event e = queue_pop(queue, &running);
        now = e.end_ns;
        for (int i = w.first[e.operation]; i < w.first[e.operation + 1]; i++) {
            int next = w.successors[i];
            if (--w.open[next] == 0) start(queue, &running, s, plan, now, next);
        }
    }
    arena_reset(arena, mark);
    return ended == s->operation_count ? now : -1;
}
