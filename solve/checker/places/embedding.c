// The least time of a fused embedding sync, whose ring has two device groups of each replica, one
// at either end of the model (docs/PROOFS.md 11).
#include "solve/checker/places/internal.h"

static int64_t greater(int64_t a, int64_t b)
{
    if (a < 0 || b < 0) return -1;
    return a > b ? a : b;
}

static int64_t lesser(int64_t a, int64_t b)
{
    if (a < 0 || b < 0) return a < 0 ? b : a;
    return a < b ? a : b;
}

// A ring that leaves a node enters it over one link and leaves over another.
static int64_t around(const struct check_places *x, const int64_t *links, int node)
{
    int64_t in = -1, out = -1;
    for (int i = 0; i < x->node_count; i++) {
        if (i == node) continue;
        in = lesser(in, links[i * x->node_count + node]);
        out = lesser(out, links[node * x->node_count + i]);
    }
    return greater(in, out);
}

void check_least_embeddings(int64_t *least, const struct check_places *x, const int64_t *links,
                            struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int n = x->node_count;
    int64_t *through = TAKE(arena, n, int64_t);
    for (int i = 0; i < n; i++) through[i] = around(x, links, i);
    for (int first = 0; first < n; first++)
        for (int last = 0; last < n; last++) {
            int64_t *to = &least[first * n + last];
            *to = greater(through[first], through[last]);
            if (x->replicas == 1 && first == last) *to = -1;
            if (x->replicas == 1 && first != last)
                *to = greater(links[first * n + last], links[last * n + first]);
            if (first == last && x->nodes[first].slots >= 2 * x->replicas)
                *to = lesser(*to, links[first * n + first]);
        }
    arena_reset(arena, mark);
}
