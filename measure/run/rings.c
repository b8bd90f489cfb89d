// Rings: sums, scatters and gathers of gradients, weights and activations, from neighbour to
// neighbour in the plan's order.
#include <time.h>

#include "data/base/grow.h"
#include "measure/run/running.h"

static int64_t run_ring_chunk(int64_t bytes, int members)
{
    int64_t values = (bytes + 3) / 4;
    return 4 * ((values + members - 1) / members);
}

// ---- who is in a ring

int run_ring_size(const struct running *r, enum ring_of of)
{
    switch (of) {
    case RING_OF_TENSOR: return r->tensor_count;
    case RING_OF_DATA: return r->replicas;
    case RING_OF_CONTEXT: return r->plan->layout.context;
    case RING_OF_PARTS: return run_expert_parts(r);
    case RING_OF_EXPERTS: return run_expert_degree(r);
    default: break;
    }
    return r->replicas * r->tensor_count / (run_expert_parts(r) * run_expert_degree(r));
}

// Of a stage's ranks, tensor ranks of one replica after another: parts of an expert are next to
// each other, all experts of a layer after one another, and then again.
static void expert_members(const struct running *r, int *members, enum ring_of of, int count,
                           int rank, int replica, int tensor)
{
    int parts = run_expert_parts(r), all = parts * run_expert_degree(r),
        own = replica * r->tensor_count + tensor, first = own % all,
        step = of == RING_OF_PARTS     ? 1
               : of == RING_OF_EXPERTS ? parts
                                       : all;
    if (of == RING_OF_PARTS) first = own - own % parts;
    if (of == RING_OF_EXPERTS) first = own - own % all + own % parts;
    for (int i = 0; i < count; i++, first += step)
        members[i] = run_process(r, first / r->tensor_count, rank, first % r->tensor_count);
}

// Of a stage's replicas, as placed; or of the tensor or context ranks of one of them. Returns their
// number.
static int members_of(const struct running *r, int *members, int stage, const struct action *ring,
                      int replica, int tensor)
{
    const struct plan_placement *p = r->plan->placement;
    int rank = schedule_rank_of(&r->schedule.request, stage), count = run_ring_size(r, ring->of),
        context = r->plan->layout.context;
    if (ring->of >= RING_OF_PARTS) {
        expert_members(r, members, ring->of, count, rank, replica, tensor);
        return count;
    }
    for (int i = 0; i < count; i++)
        members[i] = ring->of == RING_OF_DATA
                         ? run_process(r, p ? p->rings[stage * r->replicas + i] : i, rank, tensor)
                     : ring->of == RING_OF_TENSOR
                         ? run_process(r, replica, rank, i)
                         : run_process(r, replica - replica % context + i, rank, tensor);
    return count;
}

// The first and the last stage of a replica; fused: of all of them.
static int embedding_members(const struct running *r, int *members, int replica, int tensor)
{
    const struct schedule_request *q = &r->schedule.request;
    const struct plan_placement *p = r->plan->placement;
    int ends[2] = {schedule_rank_of(q, 0), schedule_rank_of(q, q->stage_count - 1)}, count = 0;
    bool fused = r->plan->layout.fused_embedding_sync;
    for (int i = 0; i < (fused ? 2 * r->replicas : 2); i++) {
        int at = !fused                   ? i
                 : p && p->embedding_ring ? p->embedding_ring[i]
                                          : i,
            of = fused ? at % r->replicas : replica, end = fused ? at / r->replicas : at;
        members[count++] = run_process(r, of, ends[end], tensor);
    }
    return count;
}

bool run_in_embedding_ring(const struct running *r)
{
    const struct schedule_request *q = &r->schedule.request;
    int first = schedule_rank_of(q, 0), last = schedule_rank_of(q, q->stage_count - 1);
    return q->embedding_sync && (r->rank == first || r->rank == last) &&
           (first != last || (r->plan->layout.fused_embedding_sync && r->replicas > 1));
}

// ---- their lanes

static void add_lanes(struct running *r, const int *members, int count, int64_t bytes, bool pairs)
{
    int64_t chunk = run_ring_chunk(bytes, count);
    for (int i = 0; i < count; i++)
        for (int step = 1; step <= (pairs ? count - 1 : 1); step++)
            run_add_lane(r, members[i], members[(i + step) % count], chunk);
}

static void add_of_actions(struct running *r, const struct actions *all, int stage)
{
    int *members = r->members;
    for (int i = 0; i < all->count; i++) {
        const struct action *a = &all->items[i];
        if (a->cell >= 0) continue;
        // Each ring once: by the ranks that are no members of one another's.
        int step = a->of == RING_OF_CONTEXT ? r->plan->layout.context : 1;
        for (int d = 0; d < (a->of == RING_OF_DATA ? 1 : r->replicas); d += step)
            for (int t = 0; t < (a->of == RING_OF_TENSOR ? 1 : r->tensor_count); t++) {
                int count = members_of(r, members, stage, a, d, t);
                add_lanes(r, members, count, a->bytes, a->rounds == RING_EXCHANGE);
            }
    }
}

static void add_of_embeddings(struct running *r, const struct actions *all)
{
    int *members = r->members;
    bool fused = r->plan->layout.fused_embedding_sync;
    for (int i = 0; i < all->count; i++)
        for (int d = 0; d < (fused ? 1 : r->replicas); d++)
            for (int t = 0; t < r->tensor_count; t++) {
                int count = embedding_members(r, members, d, t);
                if (members[0] != members[1])
                    add_lanes(r, members, count, all->items[i].bytes, false);
            }
}

void run_add_ring_lanes(struct running *r)
{
    for (int s = 0; s < r->plan->stage_count; s++) {
        const struct stage_work *w = &r->stages[s];
        for (int pass = 0; pass <= EVENT_WEIGHT; pass++)
            for (int slice = 0; slice < r->plan->layout.slice_count; slice++)
                add_of_actions(r, &w->passes[pass][slice], s);
        add_of_actions(r, &w->sync, s);
        if (!s) add_of_embeddings(r, &w->embedding_sync);
    }
}

// ---- going around

static int64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1000000000 * (int64_t)t.tv_sec + t.tv_nsec;
}

// Adds what came to what is there: half of the steps of a sum.
static int64_t add_chunk(struct running *r, int64_t bytes)
{
    struct additions *a = &r->additions;
    if (r->replays) return a->ns[a->at++];
    int64_t begin = processor_ns();
    float *sum = (float *)(void *)r->wire.out;
    const float *more = (const float *)(const void *)(r->in + sizeof(struct stamp));
    for (int64_t i = 0; i < bytes / 4; i++) sum[i] += more[i];
    GROW(r->arena, a->ns, a->count, a->capacity, 64);
    return a->ns[a->count++] = r->stated ? 0 : processor_ns() - begin;
}

static int64_t go_around(struct running *r, int count, int stage, const struct action *ring,
                         int64_t start_ns)
{
    const int *members = r->members;
    int at = 0;
    while (members[at] != r->self) at++;
    int64_t chunk = run_ring_chunk(ring->bytes, count), now = start_ns,
            hides = ring->hides ? (int64_t)(1e9 * run_repeat(r, ring->hides - 1) + 0.5) : 0;
    bool pairs = ring->rounds == RING_EXCHANGE;
    int steps = (ring->rounds == RING_SUM ? 2 : 1) * (count - 1),
        adding = ring->rounds <= RING_SCATTER ? count - 1 : 0;
    r->ring_begun_ns = start_ns;
    for (int step = 0; step < steps; step++) {
        int away = pairs ? step + 1 : 1, next = members[(at + away) % count],
            before = members[(at + count - away) % count];
        struct stamp own = {.ready_ns = now,
                            .begun_ns = r->ring_begun_ns,
                            .kind = EVENT_SYNC,
                            .stage = stage,
                            .micro_batch = step};
        run_send(r, own, next, chunk);
        struct stamp s = run_await(r, &own, before);
        r->ring_begun_ns = larger(r->ring_begun_ns, s.begun_ns);
        struct lane *l = run_lane(r, before, r->self, chunk);
        int64_t start = larger(s.ready_ns, l->free_ns);
        l->free_ns = start + l->occupied_ns;
        now = larger(now + hides, l->free_ns + l->latency_ns);
        if (step < adding) now += add_chunk(r, chunk);
    }
    now -= steps * hides;
    if (!hides) run_note_ring(r, ring, count, now);
    return now;
}

int64_t run_ring(struct running *r, int stage, const struct action *ring, int64_t start_ns)
{
    int count = members_of(r, r->members, stage, ring, r->replica, r->tensor);
    return go_around(r, count, stage, ring, start_ns);
}

int64_t run_embedding_ring(struct running *r, const struct action *ring, int64_t start_ns)
{
    int count = embedding_members(r, r->members, r->replica, r->tensor);
    return go_around(r, count, STAGES_MAX, ring, start_ns);
}
