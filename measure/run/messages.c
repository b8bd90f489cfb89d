// Messages between ranks while a plan is carried out.
#include <string.h>
#include <time.h>

#include "data/base/grow.h"
#include "measure/run/running.h"

int64_t run_wall_ns(const struct running *r)
{
    double since_s = clock_s() - r->wall_zero_s;
    return since_s > 0 ? (int64_t)(1e9 * since_s) : 0;
}

void run_note(struct running *r, struct run_event event)
{
    if (r->iteration < 0) return;
    if (r->replays) {
        struct run_event *noted = &r->carried.events[r->carried.at++];
        noted->start_ns = event.start_ns, noted->end_ns = event.end_ns;
        return;
    }
    event.iteration = r->iteration;
    event.replica = r->replica;
    event.rank = r->rank;
    event.tensor = r->tensor;
    *GROWN(r->arena, r->carried.events, r->carried.count, r->carried.capacity, 1024) = event;
}

// A buffer that no send uses any more.
static struct outgoing *free_buffer(struct running *r, int64_t bytes)
{
    for (int i = 0; i < r->outgoing_count; i++) {
        struct outgoing *o = &r->outgoing[i];
        if (o->send >= 0 && ranks_send_over(r->ranks, o->send)) o->send = -1;
        if (o->send < 0 && o->capacity == bytes) return o;
    }
    struct outgoing *o = GROWN(r->arena, r->outgoing, r->outgoing_count, r->outgoing_capacity, 16);
    *o = (struct outgoing){-1, bytes, TAKE(r->arena, bytes, unsigned char)};
    return o;
}

void run_send(struct running *r, struct stamp stamp, int to, int64_t bytes)
{
    int64_t all = (r->replays ? 0 : bytes) + (int64_t)sizeof stamp;
    struct outgoing *o = free_buffer(r, all);
    stamp.wall_ns = run_wall_ns(r);
    memcpy(o->data, &stamp, sizeof stamp);
    o->send = ranks_send_begin(r->ranks, o->data, (int)all, to, r->arena);
}

static bool is_of(const struct stamp *a, const struct stamp *b)
{
    return a->kind == b->kind && a->stage == b->stage && a->micro_batch == b->micro_batch &&
           a->slice == b->slice;
}

// The stamp of the wanted message, which others of the same sender may precede.
struct stamp run_await(struct running *r, const struct stamp *wanted, int from)
{
    for (int i = 0; i < r->early_count; i++) {
        struct stamp s = r->early[i];
        if (s.from != from || !is_of(&s, wanted)) continue;
        r->early_count--; // in the order in which they came
        memmove(&r->early[i], &r->early[i + 1], (size_t)(r->early_count - i) * sizeof s);
        return s;
    }
    for (;;) {
        struct stamp s;
        ranks_receive(r->ranks, r->in, (int)r->largest_bytes, from);
        memcpy(&s, r->in, sizeof s);
        s.from = from;
        if (is_of(&s, wanted)) return s;
        *GROWN(r->arena, r->early, r->early_count, r->early_capacity, 16) = s;
    }
}

int64_t run_answer(struct running *r, const struct stamp *wanted, int from)
{
    return run_await(r, wanted, from).ready_ns;
}

int64_t run_receive(struct running *r, const struct stamp *wanted, int from, int64_t bytes,
                    int unpack)
{
    struct stamp s = run_await(r, wanted, from);
    struct lane *l = run_lane(r, from, r->self, bytes);
    int64_t start = larger(larger(s.ready_ns, l->free_ns), wanted->ready_ns), wall = run_wall_ns(r);
    l->free_ns = start + l->occupied_ns;
    int64_t end = l->free_ns + l->latency_ns;
    if (unpack >= 0) end += (int64_t)(1e9 * run_repeat(r, unpack) + 0.5);
    run_note(r, (struct run_event){.kind = (enum run_event_kind)wanted->kind,
                                   .stage = wanted->stage,
                                   .micro_batch = wanted->micro_batch,
                                   .slice = wanted->slice,
                                   .start_ns = start - s.packing_ns,
                                   .end_ns = end,
                                   .wall_start_ns = smaller(s.wall_ns, wall),
                                   .wall_end_ns = wall});
    return end;
}

void run_settle(struct running *r)
{
    static const struct timespec pause = {0, 20000};
    for (int i = 0; i < r->outgoing_count; i++)
        while (r->outgoing[i].send >= 0) {
            if (ranks_send_over(r->ranks, r->outgoing[i].send)) r->outgoing[i].send = -1;
            else nanosleep(&pause, NULL);
        }
}
