// The operations of paths, for whoever has to show a path rather than use it: kept once for each
// distinct counts, which is what the solver knows a path by.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/base/grow.h"
#include "formulate/graph/longest_graph.h"

struct kept_path {
    const int *counts, *operations;
    int operation_count;
};

struct path_memory {
    struct kept_path *paths;
    int count, capacity;
    int *table, table_size; // open addressing: path + 1
    int stride;
    struct arena *arena;
};

enum { TABLE_FIRST = 1024 };

// An arena of its own: the caller may give back what it took while paths were added.
void graph_keep_paths(struct graph *g, struct arena *arena)
{
    struct arena *own = arena_open_within(arena);
    g->memory = TAKE(arena, 1, struct path_memory);
    *g->memory = (struct path_memory){.table = TAKE(own, TABLE_FIRST, int),
                                      .table_size = TABLE_FIRST,
                                      .stride = g->symbol_count + 1,
                                      .arena = own};
}

static uint64_t hash_of(const int *counts, int count)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < count; i++) h = (h ^ (uint64_t)(uint32_t)counts[i]) * 1099511628211u;
    return h ^ h >> 29;
}

// The slot of these counts, or the empty one where they belong.
static int slot_of(const struct path_memory *m, const int *counts)
{
    int mask = m->table_size - 1, slot = (int)(hash_of(counts, m->stride) & (uint64_t)mask);
    for (; m->table[slot]; slot = (slot + 1) & mask)
        if (!memcmp(m->paths[m->table[slot] - 1].counts, counts,
                    (size_t)m->stride * sizeof *counts))
            break;
    return slot;
}

const int *graph_path_operations(const struct graph *g, const int *counts, int *operation_count)
{
    const struct path_memory *m = g->memory;
    int slot = m ? slot_of(m, counts) : 0;
    if (!m || !m->table[slot]) return NULL;
    const struct kept_path *path = &m->paths[m->table[slot] - 1];
    *operation_count = path->operation_count;
    return path->operations;
}

void path_memory_grow(struct graph *g)
{
    GROW(g->memory->arena, g->noted, g->noted_count, g->noted_capacity, 1024);
}

// The operations of the noted steps, forwards; how many.
static int list_operations(const struct graph *g, int *operations)
{
    int count = 0;
    for (int i = g->noted_count - 1; i >= 0; i--) {
        int node = g->noted[i] / 2, edge = g->noted[i] % 2 ? g->edge_operation[node] : -1;
        if (edge >= 0) operations[count++] = edge;
        if (g->operation[node] >= 0) operations[count++] = g->operation[node];
    }
    return count;
}

static void grow_table(struct path_memory *m)
{
    m->table_size *= 2;
    m->table = TAKE(m->arena, m->table_size, int);
    assert((m->table_size & (m->table_size - 1)) == 0 && m->count < m->table_size);
    for (int i = 0; i < m->count; i++) m->table[slot_of(m, m->paths[i].counts)] = i + 1;
}

// Takes the operations as they are.
static void add_path(struct path_memory *m, const int *counts, const int *operations,
                     int operation_count)
{
    GROW(m->arena, m->paths, m->count, m->capacity, 256);
    const int *copy =
        arena_grow(m->arena, counts, (size_t)m->stride, (size_t)m->stride, sizeof *counts);
    int slot = slot_of(m, counts);
    assert(!m->table[slot] && operation_count >= 0);
    m->paths[m->count++] = (struct kept_path){copy, operations, operation_count};
    m->table[slot] = m->count;
    if (2 * m->count > m->table_size) grow_table(m);
}

void path_memory_end(struct graph *g, const int *counts)
{
    struct path_memory *m = g->memory;
    if (!m || m->table[slot_of(m, counts)]) return;
    int *operations = TAKE(m->arena, 2 * g->noted_count, int),
        operation_count = list_operations(g, operations);
    assert(operation_count <= 2 * g->noted_count);
    add_path(m, counts, operations, operation_count);
}

bool graph_keeps_paths(const struct graph *g) { return g->memory != NULL; }

void graph_remember_path(struct graph *g, const int *counts, const int *operations,
                         int operation_count)
{
    struct path_memory *m = g->memory;
    if (!m || m->table[slot_of(m, counts)]) return;
    add_path(m, counts,
             arena_grow(m->arena, operations, (size_t)operation_count, (size_t)operation_count,
                        sizeof *operations),
             operation_count);
}
