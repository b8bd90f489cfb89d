// Chains: their value, and the methods for few nodes (exact.c) or many (bound.c).
#include "solve/chains/chains.h"

#include <assert.h>

#include "data/base/least.h"
#include "solve/chains/internal.h"

int64_t chains_hop(const struct chains *c, int position, int from, int to)
{
    return c
        ->hop[((size_t)position * (size_t)c->node_count + (size_t)from) * (size_t)c->node_count +
              (size_t)to];
}

int64_t chain_value(const struct chains *c, const int *chain)
{
    int64_t sum = 0;
    for (int position = 0; position + 1 < c->length; position++)
        sum += chains_hop(c, position, chain[position], chain[position + 1]);
    return sum;
}

static int64_t ring_value(const struct chains *c, const int *order)
{
    int64_t slowest = 0;
    for (int chain = 0; chain < c->chain_count && chains_have_ring(c); chain++) {
        int next = (chain + 1) % c->chain_count;
        slowest = larger(
            slowest, c->ring[order[chain * c->length] * c->node_count + order[next * c->length]]);
    }
    return slowest;
}

int64_t chains_value(const struct chains *c, const int *order)
{
    int64_t slowest = 0;
    for (int chain = 0; chain < c->chain_count; chain++)
        slowest = larger(slowest, chain_value(c, order + chain * c->length));
    return slowest + ring_value(c, order);
}

struct chains_settings chains_settings_for(const struct chains *c, uint64_t seed)
{
    bool few = c->node_count <= CHAINS_EXACT_MAX;
    return (struct chains_settings){.starts = few                   ? 4
                                              : c->node_count <= 96 ? 16
                                                                    : 4,
                                    .moves = few ? 20000 : 10000 * c->node_count,
                                    .seed = seed};
}

void chains_solve(struct chains_result *r, const struct chains *c,
                  const struct chains_settings *settings, struct arena *arena)
{
    assert(c->chain_count >= 1 && c->length >= 1 && c->chain_count * c->length <= c->node_count);
    *r = (struct chains_result){.order = TAKE(arena, c->chain_count * c->length, int)};
    chains_search(r, c, settings, arena);
    if (c->node_count <= CHAINS_EXACT_MAX) chains_prove(r, c, settings, arena);
    else chains_bound(r, c, settings, arena);
    assert(chains_value(c, r->order) <= r->value && r->bound <= r->value);
}
