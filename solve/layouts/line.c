// The queue of layouts: the scan of the space, the order by the bound that it gives, and the window
// of the next layouts, with their degrees.
#include <assert.h>
#include <stdlib.h>

#include "data/base/grow.h"
#include "solve/layouts/search.h"

enum { SCAN_CHUNK = 1 << 15, WINDOW = 1 << 16 };

// ---- scanning

static bool count_visit(void *search, int64_t number, const struct layout *layout)
{
    struct search *s = search;
    layouts_first_offer(&s->sensible, number, layout);
    return number < SPACE_COUNT_MAX;
}

enum status layouts_prepare_scan(struct search *s, struct error *err)
{
    struct layouts *l = s->layouts;
    layouts_first_open(&s->sensible, s->problem, s->arena);
    l->count = space_each(&s->problem->job.space, &s->limits, count_visit, s);
    assert(l->count >= 0);
    if (l->count > SPACE_COUNT_MAX)
        return fail(err, BAD_INPUT, "%s: space: more than %d layouts; fix some of its keys",
                    document_name(&s->problem->job.document, "job"), SPACE_COUNT_MAX);
    l->reason = TAKE(s->arena, l->count, uint16_t);
    l->value = TAKE(s->arena, l->count, int64_t);
    int unseen = layouts_reason(l, FATE_OPEN, "not looked at", s->arena);
    for (int64_t i = 0; i < l->count; i++) l->reason[i] = (uint16_t)unseen;
    return OK;
}

struct range {
    int64_t first, end;
};

// Runs of layouts of our part of which nothing is known, each at most a chunk.
static struct range *ranges_to_scan(const struct search *s, int *count)
{
    int64_t layouts = s->layouts->count, end,
            chunk = layouts / 64 > SCAN_CHUNK ? layouts / 64 : SCAN_CHUNK;
    struct range *ranges = NULL;
    int capacity = 0;
    *count = 0;
    for (int64_t first = 0; first < layouts; first = end) {
        bool wanted = layouts_is_unseen(s, first);
        for (end = first + 1; end < layouts && layouts_is_unseen(s, end) == wanted &&
                              (!wanted || end - first < chunk);)
            end++;
        if (!wanted) continue;
        GROW(s->arena, ranges, *count, capacity, 64);
        ranges[(*count)++] = (struct range){first, end};
    }
    return ranges;
}

// What was scanned is kept, even if not everything was.
bool layouts_scan(struct search *s)
{
    int count;
    const struct range *ranges = ranges_to_scan(s, &count);
    struct message *requests = TAKE(s->arena, count, struct message),
                   *answers = TAKE(s->arena, count, struct message);
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], s->arena);
        request_scan(&requests[i], ranges[i].first, ranges[i].end);
    }
    bool whole = layouts_ask(s, requests, count, answers) && !layouts_is_over(s);
    for (int i = 0; i < count; i++)
        if (answers[i].used && !answers[i].broken &&
            answer_scan(&answers[i], s->layouts, ranges[i].first, ranges[i].end, s->arena))
            layouts_note_own_range(s, s->layouts, ranges[i].first, ranges[i].end);
    return whole;
}

int waiting_by_bound(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    if (x->bound_ns != y->bound_ns) return x->bound_ns < y->bound_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void layouts_sort_open(struct search *s)
{
    const struct layouts *l = s->layouts;
    struct waiting *waiting = TAKE(s->arena, l->count, struct waiting);
    for (int64_t i = 0; i < l->count; i++)
        if (layouts_fate(l, i) == FATE_OPEN && layouts_is_here(s, i))
            waiting[s->order_count++] = (struct waiting){l->value[i], i};
    qsort(waiting, (size_t)s->order_count, sizeof *waiting, waiting_by_bound);
    s->order = TAKE(s->arena, s->order_count, int64_t);
    for (int64_t i = 0; i < s->order_count; i++) {
        assert(i == 0 || waiting[i - 1].bound_ns <= waiting[i].bound_ns);
        s->order[i] = waiting[i].number;
    }
}

// ---- the window: the next layouts in the queue, with their degrees

int candidates_by_number(const void *a, const void *b)
{
    const struct candidate *const *x = a, *const *y = b;
    return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

struct filling {
    struct candidate **next, **end;
};

static bool fill_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct filling *f = argument;
    if (f->next < f->end && (*f->next)->number == number) (*f->next++)->layout = *layout;
    return f->next < f->end;
}

void layouts_fill_in(const struct search *s, struct candidate **sorted, int64_t count)
{
    struct filling f = {sorted, sorted + count};
    space_each(&s->problem->job.space, &s->limits, fill_visit, &f);
    assert(f.next == f.end); // the space has every number
}

static void widen(struct search *s)
{
    int64_t left = s->order_count - s->order_next, count = left < WINDOW ? left : WINDOW;
    assert(left > 0);
    struct candidate *all = TAKE(s->arena, count, struct candidate),
                     **sorted = TAKE(s->arena, count, struct candidate *);
    for (int64_t i = 0; i < count; i++) {
        int64_t number = s->order[s->order_next++];
        all[i] = (struct candidate){.number = number, .bound_ns = s->layouts->value[number]};
        sorted[i] = &all[i];
    }
    qsort(sorted, (size_t)count, sizeof(struct candidate *), candidates_by_number);
    layouts_fill_in(s, sorted, count);
    for (int64_t i = 0; i < count; i++) layouts_put_in_line(s, &all[i]);
}

struct candidate *layouts_first_in_line(struct search *s)
{
    for (;;) {
        struct candidate *first = frontier_first(&s->frontier);
        if (s->order_next == s->order_count) return first;
        int64_t outside_ns = s->layouts->value[s->order[s->order_next]];
        if (first && first->bound_ns < outside_ns) return first;
        if (outside_ns >= layouts_closing_ns(s)) return first;
        widen(s);
    }
}

void layouts_set_fate(struct search *s, const struct candidate *c, enum layout_fate fate,
                      const char *text)
{
    s->layouts->reason[c->number] = (uint16_t)layouts_reason(s->layouts, fate, text, s->arena);
    assert(c->number >= 0 && c->number < s->layouts->count);
    assert(c->bound_ns >= s->layouts->value[c->number]); // no layout's bound falls
    s->layouts->value[c->number] = c->bound_ns;
}
