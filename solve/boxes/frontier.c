// See frontier.h. The order is total: what comes next depends only on the boxes.
#include "solve/boxes/frontier.h"

#include "data/base/grow.h"
#include "data/base/heap.h"
#include "data/base/least.h"

static bool goes_before(const struct open_item *a, const struct open_item *b)
{
    return a->bound_ns != b->bound_ns ? a->bound_ns < b->bound_ns : a->order < b->order;
}

HEAP(heap, struct open_item, goes_before)

void frontier_push(struct frontier *f, int64_t bound_ns, int64_t order, void *content)
{
    assert(bound_ns >= 0 && content);
    GROW(f->arena, f->open, f->count, f->capacity, 256);
    heap_push(f->open, &f->count, &(struct open_item){bound_ns, order, content});
}

void *frontier_pop(struct frontier *f) { return heap_pop(f->open, &f->count).content; }

void *frontier_first(const struct frontier *f) { return f->count ? f->open[0].content : NULL; }

int64_t frontier_open_ns(const struct frontier *f)
{
    return f->count ? f->open[0].bound_ns : INT64_MAX;
}

int64_t frontier_closing_ns(const struct frontier *f)
{
    return bound_closing(f->best_ns, f->gap, f->cutoff_ns);
}

bool frontier_is_wanted(const struct frontier *f)
{
    return f->count && f->open[0].bound_ns < frontier_closing_ns(f);
}

void frontier_end(struct frontier *f, int64_t bound_ns)
{
    assert(bound_ns >= 0);
    f->ended_ns = smaller(f->ended_ns, bound_ns);
}

int64_t frontier_bound(const struct frontier *f)
{
    return smaller(smaller(f->best_ns, NEVER_NS), smaller(f->ended_ns, frontier_open_ns(f)));
}

int64_t frontier_tell(struct frontier *f, int64_t bound_ns)
{
    return f->reported_ns = bound_stated(bound_ns, 0, f->reported_ns);
}
