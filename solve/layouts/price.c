// Prices for many layouts: what no price depends on (stages of a rank, usually the barrier) is left
// out of the cache key, and filled in again when prices are returned.
#include <assert.h>
#include <string.h>

#include "solve/layouts/work.h"

enum { ENTRIES = 1 << 13 };

struct cached_prices {
    bool used;
    struct layout key;
    struct priced priced;
    const char *why;
};

// Layouts with equal keys have equal prices.
static struct layout price_key(const struct layout *layout)
{
    struct layout key = *layout;
    key.virtual_stages = 1;
    // Sharded weights are gathered during the next iteration's forward only without a barrier.
    if (key.zero == 0 || key.gradient_sync == SYNC_EXPOSED) key.barrier = true;
    return key;
}

void price_cache_open(struct price_cache *c, const struct problem *problem, struct arena *prices,
                      struct arena *arena)
{
    *c = (struct price_cache){
        .problem = problem, .entries = TAKE(arena, ENTRIES, struct cached_prices), .arena = prices};
    c->empty = arena_set_mark(prices);
}

static unsigned hash_of(const struct layout *l)
{
    uint64_t h = (uint64_t)l->schedule;
    const int parts[] = {l->micro_batch,          l->sequence_parallel, l->zero,
                         (int)l->gradient_sync,   l->offload_optimizer, l->barrier,
                         l->fused_embedding_sync, l->local_loss_every,  l->slice_count,
                         l->grid_depth,           l->grid_rows};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        h = (h ^ (uint64_t)parts[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    for (int i = 0; i < l->slice_count && l->slice_count > 1; i++)
        h = (h ^ (uint64_t)l->slices[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    return (unsigned)h % ENTRIES;
}

const struct priced *price_cached(struct price_cache *c, const struct layout *layout,
                                  const char **why)
{
    struct layout key = price_key(layout);
    if (!same_degrees(layout, &c->degrees) || c->count > ENTRIES / 2) {
        arena_reset(c->arena, c->empty);
        for (int i = 0; i < ENTRIES; i++) c->entries[i].used = false;
        c->count = 0;
        c->degrees = *layout;
    }
    unsigned at = hash_of(&key);
    while (c->entries[at].used && !layout_equal(&c->entries[at].key, &key)) at = (at + 1) % ENTRIES;
    struct cached_prices *e = &c->entries[at];
    if (!e->used) {
        struct error err = {0};
        struct problem one = problem_with_layout(c->problem, layout);
        *e = (struct cached_prices){.used = true, .key = key};
        if ((c->links_free ? price_terms_of_free_links : price_terms)(&e->priced, &one, c->arena,
                                                                      &err) != OK)
            e->why = arena_copy_text(c->arena, err.text);
        c->count++;
        assert(c->count <= ENTRIES / 2 + 1); // probing ends
    }
    *why = e->why;
    if (e->why) return NULL;
    assert(e->priced.rank_count == layout->pipeline);
    c->patched = e->priced;
    c->patched.layout = *layout;
    c->patched.stage_count = layout_stage_count(layout);
    return &c->patched;
}
