// Distinct paths, numbered in the order in which they are added. A path is its counts of symbols,
// followed by its laps (path_size in formulate/choices).
#pragma once

#include "data/base/arena.h"

struct path_pool {
    int size;                    // of a path
    int *paths, count, capacity; // [id * size]
    int *table, slots;           // open addressing: id + 1
    struct arena *arena;
};

void path_pool_open(struct path_pool *pool, int size, struct arena *arena);
// The path's id, or -1.
int path_pool_find(const struct path_pool *pool, const int *counts);
// The path's id, new or old; *is_new (may be NULL) says which.
int path_pool_add(struct path_pool *pool, const int *counts, bool *is_new);
// Replaces the paths by these, unchanged; of two equal ones, the later is found.
void path_pool_take(struct path_pool *pool, const int *counts, int count);
// Forgets all but the first `count` paths, which must be distinct.
void path_pool_forget(struct path_pool *pool, int count);

static inline const int *path_pool_at(const struct path_pool *pool, int id)
{
    return pool->paths + (size_t)id * (size_t)pool->size;
}
