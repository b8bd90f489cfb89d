// Walks some layouts of a space: tuples of degrees without any of them are passed over.
#include <assert.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/inputs/space.h"

static const enum space_key degree_keys[] = {SPACE_TENSOR, SPACE_CONTEXT, SPACE_PIPELINE,
                                             SPACE_DATA};

void space_index_add(struct space_index *x, int64_t number, const struct layout *layout)
{
    const struct space_tuple own = {
        number,
        {layout->tensor, layout->context, layout->pipeline, layout->data},
        {layout->grid_depth, layout->grid_rows}};
    const struct space_tuple *last = x->tuple_count ? &x->tuples[x->tuple_count - 1] : NULL;
    assert(number == x->count);
    x->count++;
    if (last && !memcmp(last->degrees, own.degrees, sizeof own.degrees) &&
        !memcmp(last->grid, own.grid, sizeof own.grid))
        return;
    GROW(x->arena, x->tuples, x->tuple_count, x->capacity, 64);
    x->tuples[x->tuple_count++] = own;
}

struct choosing {
    const struct space_tuple *tuple;
    int64_t seen; // of its layouts
    const struct space_range *range, *end;
    space_visitor *visit;
    void *argument;
    bool stopped;
};

static bool choose(void *argument, int64_t number, const struct layout *layout)
{
    struct choosing *c = argument;
    if (layout->grid_depth != c->tuple->grid[0] || layout->grid_rows != c->tuple->grid[1])
        return true;
    number = c->tuple->first + c->seen++;
    while (c->range < c->end && number >= c->range->end) c->range++;
    if (c->range == c->end) return false;
    if (number >= c->range->first) c->stopped = !c->visit(c->argument, number, layout);
    return !c->stopped;
}

void space_each_of(const struct space *space, const struct space_limits *limits,
                   const struct space_index *index, const struct space_range *ranges,
                   int64_t range_count, space_visitor *visit, void *argument)
{
    struct choosing c = {
        .range = ranges, .end = ranges + range_count, .visit = visit, .argument = argument};
    struct space one = *space;
    for (int i = 0; i < index->tuple_count && !c.stopped; i++) {
        struct space_tuple *t = &index->tuples[i];
        int64_t end = i + 1 < index->tuple_count ? t[1].first : index->count;
        while (c.range < c.end && c.range->end <= t->first) c.range++;
        if (c.range == c.end) return;
        if (c.range->first >= end) continue;
        for (int k = 0; k < 4; k++) {
            struct space_axis *axis = &one.axes[degree_keys[k]];
            axis->kind = AXIS_LIST, axis->count = 1, axis->values = &t->degrees[k];
        }
        c.tuple = t, c.seen = 0;
        space_each(&one, limits, choose, &c);
    }
}
