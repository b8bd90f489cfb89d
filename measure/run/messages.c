// Messages between ranks while a plan is carried out, and rings of gradients.
#include <string.h>
#include <time.h>

#include "data/base/grow.h"
#include "data/base/least.h"
#include "measure/run/running.h"

int64_t run_wall_ns(const struct running *r)
{
    double since_s = clock_seconds() - r->wall_zero_s;
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
    GROW(r->arena, r->carried.events, r->carried.count, r->carried.capacity, 1024);
    r->carried.events[r->carried.count++] = event;
}

// A buffer that no send uses any more.
static struct outgoing *free_buffer(struct running *r, int64_t bytes)
{
    for (int i = 0; i < r->outgoing_count; i++) {
        struct outgoing *o = &r->outgoing[i];
        if (o->send >= 0 && ranks_send_over(r->ranks, o->send)) o->send = -1;
        if (o->send < 0 && o->capacity == bytes) return o;
    }
    GROW(r->arena, r->outgoing, r->outgoing_count, r->outgoing_capacity, 16);
    struct outgoing *o = &r->outgoing[r->outgoing_count++];
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

// The stamp of the wanted message, which others of the same sender may precede.
static struct stamp await(struct running *r, const struct stamp *wanted, int from)
{
    for (int i = 0; i < r->early_count; i++) {
        struct stamp s = r->early[i];
        if (s.kind != wanted->kind || s.stage != wanted->stage ||
            s.micro_batch != wanted->micro_batch || s.unused != from)
            continue;
        r->early[i] = r->early[--r->early_count];
        return s;
    }
    for (;;) {
        struct stamp s;
        ranks_receive(r->ranks, r->in, (int)r->largest_bytes, from);
        memcpy(&s, r->in, sizeof s);
        s.unused = from;
        if (s.kind == wanted->kind && s.stage == wanted->stage &&
            s.micro_batch == wanted->micro_batch)
            return s;
        GROW(r->arena, r->early, r->early_count, r->early_capacity, 16);
        r->early[r->early_count++] = s;
    }
}

int64_t run_answer(struct running *r, const struct stamp *wanted, int from)
{
    return await(r, wanted, from).ready_ns;
}

int64_t run_receive(struct running *r, const struct stamp *wanted, int from, int64_t bytes)
{
    struct stamp s = await(r, wanted, from);
    struct lane *l = run_lane(r, from, r->self, bytes);
    int64_t start = larger(larger(s.ready_ns, l->free_ns), wanted->ready_ns), wall = run_wall_ns(r);
    l->free_ns = start + l->occupied_ns;
    run_note(r, (struct run_event){.kind = (enum run_event_kind)wanted->kind,
                                   .stage = wanted->stage,
                                   .micro_batch = wanted->micro_batch,
                                   .start_ns = start,
                                   .end_ns = l->free_ns + l->latency_ns,
                                   .wall_start_ns = smaller(s.wall_ns, wall),
                                   .wall_end_ns = wall});
    return l->free_ns + l->latency_ns;
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

static int64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1000000000 * (int64_t)t.tv_sec + t.tv_nsec;
}

// Adds what came to what is there: half of the steps of a ring.
static int64_t add_chunk(struct running *r, int64_t bytes)
{
    struct additions *a = &r->additions;
    if (r->replays) return a->ns[a->at++];
    int64_t begin = processor_ns();
    float *sum = (float *)(void *)r->wire.out;
    const float *more = (const float *)(const void *)(r->in + sizeof(struct stamp));
    for (int64_t i = 0; i < bytes / 4; i++) sum[i] += more[i];
    GROW(r->arena, a->ns, a->count, a->capacity, 64);
    return a->ns[a->count++] = processor_ns() - begin;
}

int64_t run_ring(struct running *r, const int *members, int count, int stage, int64_t bytes,
                 int64_t start_ns)
{
    int at = 0;
    while (members[at] != r->self) at++;
    int next = members[(at + 1) % count], before = members[(at + count - 1) % count];
    int64_t chunk = run_ring_chunk(bytes, count), now = start_ns;
    for (int step = 0; step < 2 * (count - 1); step++) {
        run_send(r,
                 (struct stamp){
                     .ready_ns = now, .kind = EVENT_SYNC, .stage = stage, .micro_batch = step},
                 next, chunk);
        struct stamp wanted = {.kind = EVENT_SYNC, .stage = stage, .micro_batch = step},
                     s = await(r, &wanted, before);
        struct lane *l = run_lane(r, before, r->self, chunk);
        int64_t start = larger(s.ready_ns, l->free_ns);
        l->free_ns = start + l->occupied_ns;
        now = larger(now, l->free_ns + l->latency_ns);
        if (step < count - 1) now += add_chunk(r, chunk);
    }
    return now;
}
