// Lanes: every size that a process sends to another while the plan is carried out, and how long it
// takes alone.
#include <string.h>

#include "data/base/grow.h"
#include "data/base/least.h"
#include "measure/run/running.h"

struct lane *run_lane(struct running *r, int from, int to, int64_t bytes)
{
    for (int i = 0; i < r->lanes.count; i++) {
        struct lane *l = &r->lanes.items[i];
        if (l->from == from && l->to == to && l->bytes == bytes) return l;
    }
    return NULL;
}

static void add(struct running *r, int from, int to, int64_t bytes)
{
    struct lanes *all = &r->lanes;
    if (from == to || run_lane(r, from, to, bytes)) return;
    GROW(r->arena, all->items, all->count, all->capacity, 16);
    all->items[all->count++] = (struct lane){.from = from, .to = to, .bytes = bytes};
    r->largest_bytes = larger(r->largest_bytes, bytes);
}

int64_t run_ring_chunk(int64_t bytes, int members)
{
    int64_t values = (bytes + 3) / 4;
    return 4 * ((values + members - 1) / members);
}

// The replica that follows in a stage's ring: as placed, or the next one.
static int next_replica(const struct running *r, int stage, int replica)
{
    const struct plan_placement *p = r->plan->placement;
    if (!p) return (replica + 1) % r->replicas;
    const int *ring = &p->rings[stage * r->replicas];
    for (int i = 0; i < r->replicas; i++)
        if (ring[i] == replica) return ring[(i + 1) % r->replicas];
    return replica;
}

static void add_of_replica(struct running *r, int replica)
{
    const struct schedule_request *q = &r->schedule.request;
    for (int s = 0; s < r->plan->stage_count; s++) {
        int at = run_process(r, replica, schedule_rank_of(q, s));
        if (r->replicas > 1)
            add(r, at, run_process(r, next_replica(r, s, replica), schedule_rank_of(q, s)),
                run_ring_chunk(r->stages[s].gradient_bytes, r->replicas));
        if (s + 1 == r->plan->stage_count) break;
        int other = run_process(r, replica, schedule_rank_of(q, s + 1));
        add(r, at, other, r->stages[s].message_bytes);
        add(r, other, at, r->stages[s].message_bytes);
    }
    if (!q->embedding_sync) return;
    const struct shape *shape = &r->problem->model.shape;
    int64_t bytes = run_ring_chunk(
        shape->vocabulary * shape->hidden * r->problem->job.gradient_bytes_per_value, 2);
    int first = run_process(r, replica, schedule_rank_of(q, 0)),
        last = run_process(r, replica, schedule_rank_of(q, r->plan->stage_count - 1));
    add(r, first, last, bytes);
    add(r, last, first, bytes);
}

// A lane's message and an empty one in turn. The end that knows a time keeps it. On a busy machine
// the two ends may share a processor, where sleep is faster, or not: half of them are of each kind.
static enum status time_lane(struct running *r, struct lane *l, struct error *err)
{
    int ends = r->self == l->from ? 1 : r->self == l->to ? -1 : 0;
    for (int i = 0; i < LANE_REPETITIONS; i++)
        for (int full = 0; full < 2; full++) {
            double *seconds = full ? &l->seconds[i] : &l->empty_s[i];
            int bytes = full ? (int)l->bytes : 0;
            *seconds = -1;
            ranks_set_patience(r->ranks, i % 2 || !ends);
            if (ends > 0) TRY(wire_send(&r->wire, bytes, l->to, seconds, err));
            if (ends < 0) TRY(wire_receive(&r->wire, bytes, l->from, seconds, err));
        }
    return OK;
}

static double fastest(const double *seconds)
{
    double least = seconds[0];
    for (int i = 1; i < LANE_REPETITIONS; i++) least = least < seconds[i] ? least : seconds[i];
    return least;
}

enum status run_time_lanes(struct running *r, struct error *err)
{
    for (int d = 0; d < r->replicas; d++) add_of_replica(r, d);
    r->largest_bytes += (int64_t)sizeof(struct stamp);
    if (r->largest_bytes > INT32_MAX)
        return fail(err, BAD_INPUT, "%s: a message of %lld bytes: expected at most %d",
                    r->plan->document.path, (long long)r->largest_bytes, INT32_MAX);
    r->in = TAKE(r->arena, r->largest_bytes, unsigned char);
    r->wire = (struct wire){r->ranks, &r->roster, TAKE(r->arena, r->largest_bytes, unsigned char),
                            TAKE(r->arena, r->largest_bytes, unsigned char), NULL};
    for (int i = 0; i < r->lanes.count; i++) {
        struct lane *l = &r->lanes.items[i];
        ranks_meet(r->ranks);
        TRY(time_lane(r, l, err));
        ranks_set_patience(r->ranks, r->patient);
        ranks_maximum(r->ranks, l->seconds, LANE_REPETITIONS);
        ranks_maximum(r->ranks, l->empty_s, LANE_REPETITIONS);
        ranks_share(r->ranks, l->seconds, (int)sizeof l->seconds);
        ranks_share(r->ranks, l->empty_s, (int)sizeof l->empty_s);
        double whole = fastest(l->seconds), empty = fastest(l->empty_s);
        if (empty > whole) empty = whole;
        l->latency_ns = (int64_t)(1e9 * empty);
        l->occupied_ns = (int64_t)(1e9 * whole) - l->latency_ns;
    }
    return OK;
}
