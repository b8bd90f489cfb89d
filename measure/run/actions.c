// Actions of a rank: kernels and rings, and where each begins on the virtual clock.
#include "data/base/grow.h"
#include "measure/run/running.h"

double run_repeat(struct running *r, int cell)
{
    struct cell_times *t = &r->times[cell];
    if (r->replays) return t->lower_s;
    GROW(r->arena, t->seconds, t->count, t->capacity, 64);
    return t->seconds[t->count++] = r->backend->repeat(r->session, &r->cells[cell]);
}

void run_add_cell(struct running *r, struct actions *to, int cell)
{
    *GROWN(r->arena, to->items, to->count, to->capacity, 8) = (struct action){.cell = cell};
}

void run_add_ring(struct running *r, struct actions *to, struct action ring)
{
    if (ring.bytes <= 0 || run_ring_size(r, ring.of) < 2) return;
    ring.cell = -1;
    *GROWN(r->arena, to->items, to->count, to->capacity, 8) = ring;
}

// Once an iteration: where the schedule completes a stage's micro-batches before the next stage's,
// and where a sync goes on beside the last pass.
static bool is_due(const struct running *r, const struct action *a, const struct run_event *of)
{
    const struct stage_work *w = &r->stages[of->stage];
    bool gathers = a->by_stage && a->rounds == RING_GATHER;
    struct turn_of_stage at = gathers ? w->first[of->kind] : w->last[of->kind];
    return !(a->by_stage || a->in_sync) ||
           (at.micro_batch == of->micro_batch && at.slice == of->slice);
}

static int64_t run_one(struct running *r, const struct action *a, int stage, int64_t start_ns)
{
    return a->cell < 0 ? run_ring(r, stage, a, start_ns)
                       : start_ns + (int64_t)(1e9 * run_repeat(r, a->cell) + 0.5);
}

// Whether a layer's weights are gathered beside what runs before it.
static bool gathers(const struct running *r, const struct actions *all, int at,
                    const struct run_event *of)
{
    if (at < 0 || at >= all->count) return false;
    const struct action *a = &all->items[at];
    return a->beside && !a->in_sync && a->rounds == RING_GATHER && is_due(r, a, of);
}

// The next layer's gathers from *at on, begun after all that runs beside so far; *at is then behind
// them.
static int64_t gather_next(struct running *r, const struct actions *all, int *at,
                           const struct run_event *of)
{
    while (*at < all->count && !gathers(r, all, *at, of)) ++*at;
    for (; gathers(r, all, *at, of); ++*at)
        r->beside_ns = run_one(r, &all->items[*at], of->stage, r->beside_ns);
    return r->beside_ns;
}

// A layer's weights are gathered while the layer before runs, so in front of what that scatters.
void run_actions(struct running *r, const struct actions *all, struct run_event of)
{
    int ahead = 0; // gathers in front of it have begun
    r->beside_ns = r->now_ns;
    int64_t next_ns = gather_next(r, all, &ahead, &of);
    for (int i = 0; i < all->count; i++) {
        const struct action *a = &all->items[i];
        if (!is_due(r, a, &of)) continue;
        if (gathers(r, all, i, &of)) {
            if (gathers(r, all, i - 1, &of)) continue;
            r->now_ns = larger(r->now_ns, next_ns);
            next_ns = gather_next(r, all, &ahead, &of);
        } else if (a->in_sync) {
            r->sync_ns = run_one(r, a, of.stage, larger(r->sync_ns, r->now_ns));
            r->beside_synced_ns[of.stage] = r->sync_ns;
        } else if (a->beside) {
            r->beside_ns = run_one(r, a, of.stage, larger(r->beside_ns, r->now_ns));
        } else {
            r->now_ns = run_one(r, a, of.stage, r->now_ns);
        }
    }
    r->now_ns = larger(r->now_ns, r->beside_ns);
}

void run_sync(struct running *r, const struct actions *all, int stage, int64_t *begun_ns)
{
    bool waited = false;
    for (int i = 0; i < all->count; i++) {
        int64_t start = r->sync_ns;
        r->sync_ns = run_one(r, &all->items[i], stage, start);
        if (all->items[i].cell >= 0 || waited) continue;
        *begun_ns += r->ring_begun_ns - start;
        waited = true;
    }
}
