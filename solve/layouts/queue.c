// A heap of candidates.
#include <assert.h>

#include "data/base/grow.h"
#include "solve/layouts/parts.h"

static bool before(const struct candidate *a, const struct candidate *b)
{
    return a->bound_ns != b->bound_ns ? a->bound_ns < b->bound_ns : a->number < b->number;
}

void queue_push(struct queue *q, struct candidate *c)
{
    GROW(q->arena, q->heap, q->count, q->capacity, 1024);
    assert(c->bound_ns >= 0 && c->number >= 0);
    int at = q->count++;
    for (; at > 0 && before(c, q->heap[(at - 1) / 2]); at = (at - 1) / 2) q->heap[at] = q->heap[(at - 1) / 2];
    q->heap[at] = c;
}

struct candidate *queue_first(const struct queue *q) { return q->count ? q->heap[0] : NULL; }

struct candidate *queue_pop(struct queue *q)
{
    assert(q->count > 0);
    struct candidate *first = q->heap[0], *moved = q->heap[--q->count];
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= q->count) break;
        if (child + 1 < q->count && before(q->heap[child + 1], q->heap[child])) child++;
        if (!before(q->heap[child], moved)) break;
        q->heap[at] = q->heap[child];
        at = child;
    }
    q->heap[at] = moved;
    assert(!q->count || !before(q->heap[0], first));        // bounds come in order
    return first;
}
