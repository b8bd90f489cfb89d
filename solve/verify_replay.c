// The iteration time: the schedule's table played event by event with the plan's own durations, and the closed forms where
// one holds. An operation starts when everything it waits for has ended; ends are taken from a queue in order of time.
#include <string.h>

#include "solve/verify_parts.h"

enum { TIME_LIMIT_BITS = 61 };

struct event { int64_t end_ns; int operation; };

struct queue { struct event *events; int count; };       // a binary heap, the earliest end on top

static void queue_add(struct queue *q, struct event e)
{
    int at = q->count++;
    for (int above = (at - 1) / 2; at > 0 && q->events[above].end_ns > e.end_ns; at = above, above = (at - 1) / 2)
        q->events[at] = q->events[above];
    q->events[at] = e;
}

static struct event queue_take(struct queue *q)
{
    struct event first = q->events[0], last = q->events[--q->count];
    int at = 0;
    for (int below = 1; below < q->count; below = 2 * at + 1) {
        if (below + 1 < q->count && q->events[below + 1].end_ns < q->events[below].end_ns) below++;
        if (q->events[below].end_ns >= last.end_ns) break;
        q->events[at] = q->events[below];
        at = below;
    }
    q->events[at] = last;
    return first;
}

// Who waits for whom: streams give an operation at most two successors, dependences any number.
struct waiting {
    int *open;              // [operation]: what it still waits for
    int *first;             // [operation + 1]: where its successors begin
    int *successors;
};

static void for_each_wait(const struct schedule *s, void (*note)(struct waiting *w, int before, int after),
                          struct waiting *w)
{
    for (int i = 0; i < s->dependence_count; i++) note(w, s->dependences[i].before, s->dependences[i].after);
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            note(w, s->streams[i].operations[k - 1], s->streams[i].operations[k]);
}

static void count_wait(struct waiting *w, int before, int after)
{
    w->first[before + 1]++;
    w->open[after]++;
}

static void list_wait(struct waiting *w, int before, int after) { w->successors[w->first[before]++] = after; }

static struct waiting waiting_of(const struct schedule *s, struct arena *arena)
{
    struct waiting w = {TAKE(arena, s->operation_count, int), TAKE(arena, s->operation_count + 1, int), NULL};
    for_each_wait(s, count_wait, &w);
    for (int i = 0; i < s->operation_count; i++) w.first[i + 1] += w.first[i];
    w.successors = TAKE(arena, w.first[s->operation_count], int);
    for_each_wait(s, list_wait, &w);
    // Listing moved each beginning to the next one's.
    memmove(w.first + 1, w.first, (size_t)s->operation_count * sizeof *w.first);
    w.first[0] = 0;
    return w;
}

static int64_t duration_of(const struct plan *plan, const struct operation *o)
{
    int stages = plan->stage_count, kind = o->symbol / stages;
    const struct plan_stage *x = &plan->stages[o->symbol % stages];
    switch (kind) {
    case SYMBOL_FORWARD: return x->forward_ns;
    case SYMBOL_BACKWARD: return x->backward_ns;
    case SYMBOL_SYNC: return x->sync_ns;
    case SYMBOL_OPTIMIZER: return x->optimizer_ns;
    case SYMBOL_EMBEDDING_SYNC: return plan->embedding_sync_ns;
    default: break;
    }
    int part = (kind - SYMBOL_SEND_FORWARD) % PART_COUNT;
    if (kind < SYMBOL_SEND_BACKWARD) return x->send_forward_ns[part];
    return kind < SYMBOL_SEND_EPILOGUE ? x->send_backward_ns[part] : x->send_epilogue_ns[part];
}

// Absurd claims of a damaged plan must not overflow; they stay absurd.
static int64_t later(int64_t start, int64_t duration)
{
    int64_t limit = (int64_t)1 << TIME_LIMIT_BITS;
    if (duration < 0) duration = 0;
    return duration > limit - start ? limit : start + duration;
}

int64_t judged_replay(const struct schedule *s, const struct plan *plan, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct waiting w = waiting_of(s, arena);
    struct queue q = {TAKE(arena, s->operation_count, struct event), 0};
    int64_t now = 0;
    int ended = 0;
    for (int i = 0; i < s->operation_count; i++)
        if (w.open[i] == 0) queue_add(&q, (struct event){later(0, duration_of(plan, &s->operations[i])), i});
    for (; q.count; ended++) {
        struct event e = queue_take(&q);
        now = e.end_ns;
        for (int i = w.first[e.operation]; i < w.first[e.operation + 1]; i++) {
            int next = w.successors[i];
            if (--w.open[next] == 0)
                queue_add(&q, (struct event){later(now, duration_of(plan, &s->operations[next])), next});
        }
    }
    arena_reset(arena, mark);
    return ended == s->operation_count ? now : -1;
}

// ---- closed forms (docs/FORMULAS.md, section 9)

struct totals {
    int64_t forward, backward, forward_max, backward_max;
    int64_t messages;           // one micro-batch's way there and back
    bool equal, silent, ending; // all stages alike; no message ever takes time; any sync or optimizer
};

// Every sum here is the length of a path, so none exceeds the replayed time.
static struct totals totals_of(const struct hearing *h)
{
    const struct plan *p = h->plan;
    struct totals t = {.equal = true, .silent = true, .ending = p->embedding_sync_ns > 0};
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        t.forward += x->forward_ns;
        t.backward += x->backward_ns;
        if (x->forward_ns > t.forward_max) t.forward_max = x->forward_ns;
        if (x->backward_ns > t.backward_max) t.backward_max = x->backward_ns;
        t.equal = t.equal && x->forward_ns == p->stages[0].forward_ns && x->backward_ns == p->stages[0].backward_ns;
        t.ending = t.ending || x->sync_ns > 0 || x->optimizer_ns > 0;
        for (int part = 0; part < PART_COUNT && s < p->stage_count - 1; part++) {
            if (!h->request.parts[part]) continue;
            int64_t last = h->request.epilogue ? x->send_epilogue_ns[part] : x->send_backward_ns[part];
            t.messages += x->send_forward_ns[part] + last;
            t.silent = t.silent && !x->send_forward_ns[part] && !x->send_backward_ns[part] && !last;
        }
    }
    return t;
}

static void find_closed_form(struct hearing *h)
{
    const struct plan *p = h->plan;
    struct totals t = totals_of(h);
    int64_t m = p->micro_batches, ns = -1;
    const char *name = NULL;
    if (p->stage_count == 1) {
        name = "one stage: m (F + B) + sync + optimizer";
        ns = m * (t.forward + t.backward) + p->stages[0].sync_ns + p->stages[0].optimizer_ns;
    } else if (m == 1 && !t.ending) {
        name = "one micro-batch: sum F + sum B + all messages";
        ns = t.forward + t.backward + t.messages;
    } else if (p->layout.schedule == SCHEDULE_GPIPE && t.silent && !t.ending) {
        name = "GPipe without messages: sum F + (m-1) max F + sum B + (m-1) max B";
        ns = t.forward + (m - 1) * t.forward_max + t.backward + (m - 1) * t.backward_max;
    } else if (p->layout.schedule == SCHEDULE_1F1B && t.equal && t.silent && !t.ending) {
        name = "1F1B, equal stages without messages: (m + p - 1) (F + B)";
        ns = (m + p->stage_count - 1) * (t.forward_max + t.backward_max);
    }
    h->verdict->closed_form = name;
    h->verdict->closed_form_ns = ns;
}

static bool has_negative_claim(const struct plan *p)
{
    int64_t signs = p->embedding_sync_ns;
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        signs |= x->forward_ns | x->backward_ns | x->sync_ns | x->optimizer_ns;
        for (int part = 0; part < PART_COUNT; part++)
            signs |= x->send_forward_ns[part] | x->send_backward_ns[part] | x->send_epilogue_ns[part];
    }
    return signs < 0;
}

void hear_time(struct hearing *h, const struct schedule *s)
{
    const struct plan *p = h->plan;
    int64_t ns = judged_replay(s, p, h->arena);
    h->verdict->replayed_ns = ns;
    if (ns < 0) {
        verdict_add(h->verdict, h->arena, "schedule", -1, "the table has a cycle: the replay comes to no end");
        return;
    }
    if (ns != p->iteration_ns)
        verdict_add(h->verdict, h->arena, "iteration", -1, "claimed %lld ns, the replay takes %lld ns (%+lld)",
                    (long long)p->iteration_ns, (long long)ns, (long long)(p->iteration_ns - ns));
    if (ns > (int64_t)1 << 53 || has_negative_claim(p)) return;        // the prices have said so
    find_closed_form(h);
    if (h->verdict->closed_form_ns >= 0 && h->verdict->closed_form_ns != p->iteration_ns)
        verdict_add(h->verdict, h->arena, "closed_form", -1, "claimed %lld ns, %s gives %lld ns",
                    (long long)p->iteration_ns, h->verdict->closed_form, (long long)h->verdict->closed_form_ns);
}
