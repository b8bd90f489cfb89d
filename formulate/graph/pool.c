// Distinct paths: see pool.h. The table has at least two slots for each path.
#include "formulate/graph/pool.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/base/grow.h"

enum { SLOTS_FIRST = 1024 };

static size_t bytes_of(const struct path_pool *pool)
{
    return (size_t)pool->size * sizeof *pool->paths;
}

// The slot of these counts, or the empty slot where they belong.
static int slot_of(const struct path_pool *pool, const int *counts)
{
    uint64_t hash = 1469598103934665603u, two;
    for (int i = 0; i + 1 < pool->size; i += 2) {
        memcpy(&two, counts + i, sizeof two);
        hash = (hash ^ two) * 1099511628211u;
        hash ^= hash >> 32;
    }
    hash = (hash ^ (uint64_t)counts[pool->size - 1]) * 1099511628211u;
    int mask = pool->slots - 1, slot = (int)((hash ^ hash >> 29) & (uint64_t)mask);
    while (pool->table[slot] &&
           memcmp(path_pool_at(pool, pool->table[slot] - 1), counts, bytes_of(pool)))
        slot = (slot + 1) & mask;
    return slot;
}

static void fill_table(struct path_pool *pool, int slots)
{
    pool->slots = slots;
    pool->table = TAKE(pool->arena, slots, int);
    for (int id = 0; id < pool->count; id++)
        pool->table[slot_of(pool, path_pool_at(pool, id))] = id + 1;
}

void path_pool_open(struct path_pool *pool, int size, struct arena *arena)
{
    assert(size > 1);
    *pool = (struct path_pool){.size = size, .arena = arena};
    fill_table(pool, SLOTS_FIRST);
}

int path_pool_find(const struct path_pool *pool, const int *counts)
{
    return pool->table[slot_of(pool, counts)] - 1;
}

int path_pool_add(struct path_pool *pool, const int *counts, bool *is_new)
{
    int slot = slot_of(pool, counts);
    bool fresh = !pool->table[slot];
    if (is_new) *is_new = fresh;
    if (!fresh) return pool->table[slot] - 1;
    assert(counts[pool->size - 1] >= 1); // laps
    GROW_ROWS(pool->arena, pool->paths, pool->count, pool->capacity, 64, bytes_of(pool));
    memcpy(pool->paths + (size_t)pool->count * (size_t)pool->size, counts, bytes_of(pool));
    pool->table[slot] = ++pool->count;
    if (2 * pool->count > pool->slots) fill_table(pool, 2 * pool->slots);
    return pool->count - 1;
}

void path_pool_take(struct path_pool *pool, const int *counts, int count)
{
    int slots = SLOTS_FIRST;
    while (slots < 2 * count) slots *= 2;
    pool->paths = arena_grow(pool->arena, counts, (size_t)count, (size_t)count, bytes_of(pool));
    pool->count = pool->capacity = count;
    fill_table(pool, slots);
}

// Removes the last path first: no remaining path was inserted after it, so no probe passes over its
// slot.
void path_pool_forget(struct path_pool *pool, int count)
{
    assert(count >= 0 && count <= pool->count);
    for (; pool->count > count; pool->count--)
        pool->table[slot_of(pool, path_pool_at(pool, pool->count - 1))] = 0;
}
