// The operations of paths, for callers that must show a path rather than use it. They are kept once
// for each distinct counts, by which the solver identifies a path.
#include <string.h>

#include "data/base/grow.h"
#include "formulate/graph/longest_graph.h"
#include "formulate/graph/pool.h"

struct kept_path {
    const int *operations;
    int operation_count;
};

struct path_memory {
    struct path_pool pool;
    struct kept_path *paths; // [id]
    int capacity;
    struct arena *arena;
};

// Uses an arena of its own: the caller may release what it allocated while paths were added.
void graph_keep_paths(struct graph *g, struct arena *arena)
{
    struct arena *own = arena_open_within(arena);
    g->memory = TAKE(arena, 1, struct path_memory);
    *g->memory = (struct path_memory){.arena = own};
    path_pool_open(&g->memory->pool, g->symbol_count + 1, own);
}

const int *graph_path_operations(const struct graph *g, const int *counts, int *operation_count)
{
    int id = g->memory ? path_pool_find(&g->memory->pool, counts) : -1;
    if (id < 0) return NULL;
    *operation_count = g->memory->paths[id].operation_count;
    return g->memory->paths[id].operations;
}

void path_memory_grow(struct graph *g)
{
    GROW(g->memory->arena, g->noted, g->noted_count, g->noted_capacity, 1024);
}

// The operations of the noted steps, forwards; returns their number.
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

// Stores the operations without a copy.
static void add_path(struct path_memory *m, const int *counts, const int *operations,
                     int operation_count)
{
    bool is_new;
    GROW(m->arena, m->paths, m->pool.count, m->capacity, 256);
    int id = path_pool_add(&m->pool, counts, &is_new);
    assert(is_new && operation_count >= 0);
    m->paths[id] = (struct kept_path){operations, operation_count};
}

void path_memory_end(struct graph *g, const int *counts)
{
    struct path_memory *m = g->memory;
    if (!m || path_pool_find(&m->pool, counts) >= 0) return;
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
    if (!m || path_pool_find(&m->pool, counts) >= 0) return;
    add_path(m, counts, TAKE_COPY(m->arena, operations, operation_count), operation_count);
}

void graph_note_paths(struct graph *g, const int64_t *durations, const int *paths, int count)
{
    g->known = (struct noted_paths){TAKE_COPY(g->own, durations, g->symbol_count),
                                    TAKE_COPY(g->own, paths, count * (g->symbol_count + 1)), count};
}

int graph_recall_paths(const struct graph *g, const int64_t *durations, const int **paths)
{
    const struct noted_paths *n = &g->known;
    size_t size = (size_t)g->symbol_count * sizeof *durations;
    if (!n->count || g->memory || memcmp(n->durations, durations, size) != 0) return 0;
    *paths = n->paths;
    return n->count;
}
