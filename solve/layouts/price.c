// Prices for many layouts: what no price depends on (stages of a rank, most schedules, the setting
// of recomputation, usually the barrier, mostly the fusing of the embedding sync) is left out of
// the cache key, and filled in again when prices are returned.
#include <string.h>

#include "solve/layouts/work.h"

enum { ENTRIES = 1 << 13 };

struct cached_prices {
    struct layout key;
    struct priced priced;
    const char *why;
    // By the layout's setting of recomputation; NULL: not asked for yet, or there is none.
    struct layout_sketch **sketches;
    const char *why_no_sketch;
};

static bool sends_beside(const struct problem *p, int schedule)
{
    struct layout layout = p->job.layout;
    layout.schedule = schedule;
    return problem_with_layout(p, &layout).job.overlapped_messages;
}

// Schedules whose prices are equal: the first of them in the table. The judge of this list is
// test_layouts.c, which prices layouts with and without the cache.
static int priced_like(const struct problem *p, int schedule)
{
    const struct costs *costs = &p->costs;
    const struct schedule_properties *own = &schedule_kinds[schedule];
    for (int kind = 0; kind < schedule; kind++) {
        const struct schedule_properties *k = &schedule_kinds[kind];
        if (k->splits_backward == own->splits_backward && k->turns_at_once == own->turns_at_once &&
            sends_beside(p, kind) == sends_beside(p, schedule) && k->layered == own->layered &&
            costs_transfer_share(costs, kind) == costs_transfer_share(costs, schedule))
            return kind;
    }
    return schedule;
}

// Layouts with equal keys have equal prices. What all stages of a rank share is priced by stage.
static struct layout price_key(const struct price_cache *c, const struct layout *layout)
{
    struct layout key = *layout;
    const struct model *model = &c->problem->model;
    if (!model_shared_pool(model) && !model_shares_weights(model)) key.virtual_stages = 1;
    key.schedule = c->priced_like[layout->schedule];
    key.recompute = key.recomputed_layers = 0;
    memset(key.in_flight, 0, sizeof key.in_flight);
    // Without a matrix at both ends there is no sync to fuse.
    bool shares = !model->has_shape || model->shape.tied_embeddings || model_mtp_depth(model);
    if (!shares) key.fused_embedding_sync = false;
    // Sharded weights are gathered during the next iteration's forward only without a barrier.
    if (key.zero == 0 || key.gradient_sync == SYNC_EXPOSED) key.barrier = true;
    return key;
}

void price_cache_open(struct price_cache *c, const struct problem *problem, struct arena *prices,
                      struct arena *arena)
{
    *c = (struct price_cache){.problem = problem,
                              .entries = TAKE(arena, ENTRIES, struct cached_prices *),
                              .arena = prices,
                              .memo = product_memo_open(arena)};
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        c->priced_like[kind] = priced_like(problem, kind);
    c->empty = arena_set_mark(prices);
}

static struct cached_prices *entry_of(struct price_cache *c, const struct layout *layout)
{
    struct layout key = price_key(c, layout);
    if (!same_degrees(layout, &c->degrees) || c->count > ENTRIES / 2) {
        arena_reset(c->arena, c->empty);
        memset(c->entries, 0, ENTRIES * sizeof *c->entries);
        c->count = 0;
        c->degrees = *layout;
    }
    unsigned at = (unsigned)(layout_hash(&key) % ENTRIES);
    while (c->entries[at] && !layout_equal(&c->entries[at]->key, &key)) at = (at + 1) % ENTRIES;
    struct cached_prices *e = c->entries[at];
    if (!e) {
        struct error err = {0};
        struct problem one = problem_with_layout(c->problem, layout);
        e = c->entries[at] = TAKE(c->arena, 1, struct cached_prices);
        e->key = key;
        if ((c->links_free ? price_terms_of_free_links(&e->priced, &one, c->arena, &err)
                           : price_terms_alike(&e->priced, &one, c->memo, c->arena, &err)) != OK)
            e->why = arena_copy_text(c->arena, err.text);
        c->count++;
        assert(c->count <= ENTRIES / 2 + 1); // probing ends
    }
    return e;
}

// The entry's prices with the layout's own stages.
static const struct priced *patch(struct price_cache *c, const struct cached_prices *e,
                                  const struct layout *layout)
{
    assert(e->priced.rank_count == layout->pipeline);
    c->patched = e->priced;
    c->patched.layout = *layout;
    c->patched.stage_count = layout_stage_count(layout);
    return &c->patched;
}

const struct priced *price_cached(struct price_cache *c, const struct layout *layout,
                                  const char **why)
{
    const struct cached_prices *e = entry_of(c, layout);
    *why = e->why;
    return e->why ? NULL : patch(c, e, layout);
}

const struct layout_sketch *sketch_cached(struct price_cache *c, const struct layout *layout,
                                          struct kept_cache *kept, const char **why)
{
    struct cached_prices *e = entry_of(c, layout);
    *why = e->why;
    if (*why) return NULL;
    const struct priced *priced = patch(c, e, layout);
    if (!e->sketches) e->sketches = TAKE(c->arena, 1 + RECOMPUTE_COUNT, struct layout_sketch *);
    struct layout_sketch **of = &e->sketches[layout->recompute];
    if (!*of && !e->why_no_sketch) {
        struct layout_sketch *sketch = TAKE(c->arena, 1, struct layout_sketch);
        if (layout_sketch_prices(sketch, priced, &e->why_no_sketch)) *of = sketch;
    }
    *why = e->why_no_sketch;
    if (*why) return NULL;
    layout_sketch_turns(*of, priced, kept);
    return *of;
}
