// Bounds of groups of layouts, before any layout is priced: docs/PROOFS.md 8.17. The layouts of a
// group have the same member with the fastest passes, which may be none of the space; its mean of
// passes bounds every plan of each of them.
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/layouts/group.h"

enum { SLOTS = 1 << 12 };

// The schedule that stands for all with passes of the same price; its stages of a rank.
static int standing_for(const struct layout *l, bool sharded, int *virtual_stages)
{
    const struct schedule_properties *kind = &schedule_kinds[l->schedule];
    *virtual_stages = 1;
    if (kind->slices) return l->schedule;
    if (kind->splits_backward) return SCHEDULE_ZB_H1;
    if (!kind->layered || !sharded) return SCHEDULE_1F1B;
    *virtual_stages = 2;
    return SCHEDULE_LOOPED_BFS;
}

struct layout layout_group(const struct layout *l)
{
    struct layout g = *l;
    bool sharded = l->zero == 3; // weights are gathered during passes
    g.zero = sharded ? 3 : 0;
    if (!sharded) g.gradient_sync = SYNC_EXPOSED;
    g.offload_optimizer = g.fused_embedding_sync = false;
    g.barrier = true;
    g.recompute = g.recomputed_layers = 0;
    memset(g.in_flight, 0, sizeof g.in_flight);
    g.schedule = standing_for(l, sharded, &g.virtual_stages);
    return g;
}

void group_bounds_open(struct group_bounds *x, const struct problem *problem, struct arena *arena)
{
    *x = (struct group_bounds){.problem = problem,
                               .slots = TAKE(arena, SLOTS, struct group_slot),
                               .last = -1,
                               .memo = product_memo_open(arena)};
    arena_open(&x->prices, arena->exit);
}

void group_bounds_close(struct group_bounds *x) { arena_close(&x->prices); }

static int64_t find_bound_ns(struct group_bounds *x, const struct layout *group)
{
    struct error err = {0};
    struct priced priced;
    struct layout_sketch *sketch = &x->sketch;
    const char *why;
    struct problem one = problem_with_layout(x->problem, group);
    struct arena_mark mark = arena_set_mark(&x->prices);
    int64_t bound_ns = 0;
    if (job_mixes_layouts(&one.job)) return 0; // sketches are of one layout for all
    if (problem_check_layout(&one, &err) == OK &&
        price_terms_alike(&priced, &one, x->memo, &x->prices, &err) == OK &&
        layout_sketch_prices(sketch, &priced, &why))
        bound_ns = layout_mean_of_passes(sketch, &priced);
    arena_reset(&x->prices, mark);
    return bound_ns;
}

int64_t group_bound_ns(struct group_bounds *x, const struct layout *layout)
{
    struct layout group = layout_group(layout);
    if (x->last < 0 || !layout_equal(&x->slots[x->last].group, &group)) {
        x->last = (int)(layout_hash(&group) % SLOTS);
        struct group_slot *slot = &x->slots[x->last];
        if (!slot->used || !layout_equal(&slot->group, &group))
            *slot = (struct group_slot){true, group, find_bound_ns(x, &group)};
    }
    return x->slots[x->last].bound_ns;
}
