// Rings in their best orders. If syncs are overlapped, the cost of one to a replica depends on the
// replica's own backwards, so one order may be better for some replicas and another for others;
// which is better depends on the slowest replica, and on the rings of the other stages. Orders that
// are no better for any replica are left out; of the others all combinations are tried that may be
// faster than the best so far.
#include <string.h>

#include "data/base/least.h"
#include "solve/places/internal.h"

// For one stage: the cost of its sync to each replica, then that of the queued sync where there is
// one, order by order.
struct orders {
    int stage, count, capacity, width;
    int64_t *syncs; // [order * width + replica]
    int *rings;
};

struct ringing {
    struct placed *p;
    struct placed_plan *plan;
    int64_t *links;        // [replica][from * replicas + to], of the current stage
    struct orders *stages; // those whose replicas' syncs differ
    int count;
    int64_t best_ns;
    int *best; // [of stages]: order
    int *now;
};

// ---- orders of one stage

static void keep_order(struct ringing *x, struct orders *o, const int *ring)
{
    int d = x->p->replicas, kept = 0;
    int64_t each[PLACED_RING_EXACT + 1] = {0};
    for (int r = 0; r < o->width; r++)
        for (int at = 0; at < d; at++) {
            int64_t ns = x->links[(r * d + ring[at]) * d + ring[(at + 1) % d]];
            if (ns < 0) return;
            each[r] = larger(each[r], ns);
        }
    for (int i = 0; i < o->count; i++) {
        bool no_better = true, no_worse = true;
        for (int r = 0; r < o->width; r++) {
            no_better = no_better && each[r] >= o->syncs[i * o->width + r];
            no_worse = no_worse && each[r] <= o->syncs[i * o->width + r];
        }
        if (no_better) return;
        if (no_worse) continue;
        memmove(o->syncs + kept * o->width, o->syncs + i * o->width,
                (size_t)o->width * sizeof *o->syncs);
        memmove(o->rings + kept++ * d, o->rings + i * d, (size_t)d * sizeof *o->rings);
    }
    assert(kept <= o->count && o->count <= o->capacity);
    o->count = kept;
    if (o->count == o->capacity) {
        size_t before = (size_t)(o->capacity * d), after = 2 * before,
               syncs = (size_t)(o->capacity * o->width);
        o->syncs = arena_grow(x->p->arena, o->syncs, syncs, 2 * syncs, sizeof *o->syncs);
        o->rings = arena_grow(x->p->arena, o->rings, before, after, sizeof *o->rings);
        o->capacity *= 2;
    }
    memcpy(o->syncs + o->count * o->width, each, (size_t)o->width * sizeof *each);
    memcpy(o->rings + o->count++ * d, ring, (size_t)d * sizeof *ring);
}

static void list_orders(struct ringing *x, struct orders *o, int *ring, int at)
{
    if (at == x->p->replicas) keep_order(x, o, ring);
    for (int i = at; i < x->p->replicas; i++) {
        int kept = ring[at];
        ring[at] = ring[i], ring[i] = kept;
        list_orders(x, o, ring, at + 1);
        ring[i] = ring[at], ring[at] = kept;
    }
}

static bool is_mixed(const struct ringing *x, int stage)
{
    const struct choice *first = placed_choice_of(x->p, x->plan, 0, stage);
    for (int r = 1; r < x->p->replicas; r++)
        if (placed_choice_of(x->p, x->plan, r, stage) != first) return true;
    return false;
}

static void take_stage(struct ringing *x, int stage)
{
    struct placed *p = x->p;
    int d = p->replicas, ring[PLACED_RING_EXACT];
    struct orders *o = &x->stages[x->count];
    placed_fill_links(p, x->plan, stage, x->links);
    *o = (struct orders){.stage = stage,
                         .capacity = 4,
                         .width = d + choices_queue_syncs(p->c),
                         .syncs = TAKE(p->arena, 4 * (d + 1), int64_t),
                         .rings = TAKE(p->arena, 4 * d, int)};
    for (int r = 0; r < d; r++) ring[r] = r;
    list_orders(x, o, ring, 1);
    assert(placed_is_order(ring, d) && o->count > 0); // unchanged; the plan has one
    x->count++;
}

// ---- all stages together

static void put_sync(const struct ringing *x, const struct orders *o, int r, int64_t ns)
{
    struct placed *p = x->p;
    if (r < p->replicas) p->syncs[r * p->stages + o->stage] = ns;
    for (int i = 0; i < p->replicas && r == p->replicas; i++)
        p->queued_syncs[i * p->stages + o->stage] = ns;
}

static void put_order(const struct ringing *x, int k, int order)
{
    const struct orders *o = &x->stages[k];
    for (int r = 0; r < o->width; r++) put_sync(x, o, r, o->syncs[order * o->width + r]);
}

// Gives each replica the sync that is best for it.
static void put_least(const struct ringing *x, int k)
{
    const struct orders *o = &x->stages[k];
    for (int r = 0; r < o->width; r++) {
        int64_t least = o->syncs[r];
        for (int i = 1; i < o->count; i++) least = smaller(least, o->syncs[i * o->width + r]);
        put_sync(x, o, r, least);
    }
}

// The slowest replica's time with the current syncs; at_least or more as soon as it is known to be
// that.
static int64_t slowest_ns(const struct ringing *x, int64_t at_least)
{
    int64_t slowest = 0;
    for (int i = 0; i < x->p->replicas && slowest < at_least; i++)
        slowest = larger(
            slowest,
            placed_replica_ns(x->p, x->plan, (x->plan->slowest + i) % x->p->replicas, at_least));
    return slowest;
}

static void try_orders(struct ringing *x, int k)
{
    for (int i = k; i < x->count; i++) put_least(x, i);
    int64_t ns = slowest_ns(x, x->best_ns);
    if (ns >= x->best_ns) return;
    if (k == x->count) {
        x->best_ns = ns;
        memcpy(x->best, x->now, (size_t)x->count * sizeof *x->now);
        return;
    }
    for (int i = 0; i < x->stages[k].count; i++) {
        put_order(x, k, i);
        x->now[k] = i;
        for (int later = k + 1; later < x->count; later++) put_least(x, later);
        try_orders(x, k + 1);
    }
}

static bool any_mixed(const struct ringing *x)
{
    for (int stage = 0; stage < x->p->stages; stage++)
        if (is_mixed(x, stage)) return true;
    return false;
}

// The plan with its rings as they are.
static void evaluate_as_is(struct placed *p, struct placed_plan *plan)
{
    p->keep_rings = true;
    placed_evaluate(p, plan, INT64_MAX);
    p->keep_rings = false;
}

void placed_improve_rings(struct placed *p, struct placed_plan *plan)
{
    struct ringing x = {.p = p, .plan = plan};
    int d = p->replicas;
    if (p->priced->layout.gradient_sync != SYNC_OVERLAPPED || d < 3 || d > PLACED_RING_EXACT ||
        plan->time_ns == INT64_MAX || p->keep_rings)
        return;
    if (!any_mixed(&x)) return;
    evaluate_as_is(p, plan);
    x.best_ns = plan->time_ns;
    struct arena_mark mark = arena_set_mark(p->arena);
    x.links = TAKE(p->arena, (d + 1) * d * d, int64_t);
    x.stages = TAKE(p->arena, p->stages, struct orders);
    x.best = TAKE(p->arena, p->stages, int);
    x.now = TAKE(p->arena, p->stages, int);
    for (int stage = 0; stage < p->stages; stage++)
        if (is_mixed(&x, stage)) take_stage(&x, stage);
    if (x.count) try_orders(&x, 0);
    for (int k = 0; k < x.count && x.best_ns < plan->time_ns; k++)
        memcpy(plan->ring + x.stages[k].stage * d, x.stages[k].rings + x.best[k] * d,
               (size_t)d * sizeof *plan->ring);
    if (x.best_ns < plan->time_ns) evaluate_as_is(p, plan);
    assert(plan->time_ns == x.best_ns);
    arena_reset(p->arena, mark);
}
