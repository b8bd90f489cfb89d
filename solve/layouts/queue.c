// A heap of candidates.
#include <assert.h>

#include "data/base/grow.h"
#include "data/base/heap.h"
#include "solve/layouts/work.h"

static bool before(struct candidate *const *a, struct candidate *const *b)
{
    return (*a)->bound_ns != (*b)->bound_ns ? (*a)->bound_ns < (*b)->bound_ns
                                            : (*a)->number < (*b)->number;
}

HEAP(heap, struct candidate *, before)

void queue_push(struct queue *q, struct candidate *c)
{
    GROW(q->arena, q->heap, q->count, q->capacity, 1024);
    assert(c->bound_ns >= 0 && c->number >= 0);
    heap_push(q->heap, &q->count, &c);
}

struct candidate *queue_first(const struct queue *q) { return q->count ? q->heap[0] : NULL; }

struct candidate *queue_pop(struct queue *q) { return heap_pop(q->heap, &q->count); }
