// Lanes: every size that a process sends to another while the plan is carried out, and how long it
// takes alone.

#include "data/base/grow.h"
#include "measure/run/running.h"

struct lane *run_lane(struct running *r, int from, int to, int64_t bytes)
{
    for (int i = 0; i < r->lanes.count; i++) {
        struct lane *l = &r->lanes.items[i];
        if (l->from == from && l->to == to && l->bytes == bytes) return l;
    }
    return NULL;
}

void run_add_lane(struct running *r, int from, int to, int64_t bytes)
{
    struct lanes *all = &r->lanes;
    if (from == to || run_lane(r, from, to, bytes)) return;
    GROW(r->arena, all->items, all->count, all->capacity, 16);
    all->items[all->count++] = (struct lane){.from = from, .to = to, .bytes = bytes};
    r->largest_bytes = larger(r->largest_bytes, bytes);
}

static void add_messages(struct running *r, int replica, int tensor)
{
    const struct schedule_request *q = &r->schedule.request;
    for (int s = 0; s + 1 < r->plan->stage_count; s++) {
        const struct message_work *m = &r->stages[s].message;
        int at = run_process(r, replica, schedule_rank_of(q, s), tensor),
            other = run_process(r, replica, schedule_rank_of(q, s + 1), tensor);
        for (int i = 0; i < q->slice_count; i++) {
            run_add_lane(r, at, other, m->bytes[i]);
            run_add_lane(r, other, at, m->bytes[i]);
        }
        if (m->packed_bytes) run_add_lane(r, other, at, m->packed_bytes);
    }
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

// What the sender's link states; the other processes know no time.
static void state_lane(const struct running *r, struct lane *l)
{
    double latency_s = -1, occupied_s = 0;
    if (r->self == l->from) r->backend->message(r->session, l->bytes, &latency_s, &occupied_s);
    for (int i = 0; i < LANE_REPETITIONS; i++) {
        l->empty_s[i] = latency_s;
        l->seconds[i] = latency_s + occupied_s;
    }
}

// What the first process says holds for all.
static bool states_links(const struct running *r)
{
    double latency_s, occupied_s;
    int stated = r->backend->message && r->backend->message(r->session, 0, &latency_s, &occupied_s);
    ranks_share(r->ranks, &stated, (int)sizeof stated);
    return stated;
}

static double fastest(const double *seconds)
{
    double least = seconds[0];
    for (int i = 1; i < LANE_REPETITIONS; i++) least = least < seconds[i] ? least : seconds[i];
    return least;
}

enum status run_time_lanes(struct running *r, struct error *err)
{
    for (int d = 0; d < r->replicas; d++)
        for (int t = 0; t < r->tensor_count; t++) add_messages(r, d, t);
    run_add_ring_lanes(r);
    r->largest_bytes += (int64_t)sizeof(struct stamp);
    if (r->largest_bytes > INT32_MAX)
        return refuse(err, "%s: a message of %lld bytes: expected at most %d",
                      r->plan->document.path, (long long)r->largest_bytes, INT32_MAX);
    r->in = TAKE(r->arena, r->largest_bytes, unsigned char);
    r->wire = (struct wire){r->ranks, &r->roster, TAKE(r->arena, r->largest_bytes, unsigned char),
                            TAKE(r->arena, r->largest_bytes, unsigned char), NULL};
    r->stated = states_links(r);
    for (int i = 0; i < r->lanes.count; i++) {
        struct lane *l = &r->lanes.items[i];
        ranks_meet(r->ranks);
        if (r->stated) state_lane(r, l);
        else TRY(time_lane(r, l, err));
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
