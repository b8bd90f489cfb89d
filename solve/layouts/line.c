// The queue of layouts: bounds of groups, the scan of those that leave room, the order by the bound
// that these give, and the window of the next layouts, with their degrees.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/base/least.h"
#include "solve/layouts/search.h"

// Layouts that are scanned at once; those that enter the queue at once; those that are scanned
// before any is looked at.
enum { SCAN_CHUNK = 1 << 15, WINDOW = 1 << 17, AHEAD = 1 << 18, AHEAD_STEPS = 4 };

// ---- scanning

static bool count_visit(void *search, int64_t number, const struct layout *layout)
{
    struct search *s = search;
    layouts_first_offer(&s->sensible, number, layout);
    space_index_add(&s->index, number, layout);
    return number < SPACE_COUNT_MAX;
}

enum status layouts_prepare_scan(struct search *s, struct error *err)
{
    struct layouts *l = s->layouts;
    s->index.arena = s->arena;
    layouts_first_open(&s->sensible, s->problem, s->arena);
    l->count = space_each(&s->problem->job.space, &s->limits, count_visit, s);
    assert(l->count >= 0);
    if (l->count > SPACE_COUNT_MAX)
        return refuse(err, "%s: space: more than %d layouts; fix some of its keys",
                      document_name(&s->problem->job.document, "job"), SPACE_COUNT_MAX);
    l->reason = TAKE(s->arena, l->count, uint16_t);
    l->value = TAKE(s->arena, l->count, int64_t);
    s->scanned = TAKE(s->arena, l->count, unsigned char);
    int unseen = layouts_reason(l, FATE_OPEN, "not looked at", s->arena);
    for (int64_t i = 0; i < l->count; i++) l->reason[i] = (uint16_t)unseen;
    return OK;
}

// Ascending ranges in pieces of about `piece` layouts, a request for each.
struct pieces {
    struct message *requests, *answers;
    const struct space_range **ranges; // each piece's first
    int64_t *layouts;                  // of each piece
    int *range_counts, count;
};

static struct pieces cut(struct search *s, enum layouts_request request,
                         const struct space_range *ranges, int64_t range_count, int64_t piece)
{
    struct pieces p = {TAKE(s->arena, range_count, struct message),
                       TAKE(s->arena, range_count, struct message),
                       TAKE(s->arena, range_count, const struct space_range *),
                       TAKE(s->arena, range_count, int64_t),
                       TAKE(s->arena, range_count, int),
                       0};
    for (int64_t at = 0; at < range_count; p.count++) {
        int i = p.count;
        p.ranges[i] = &ranges[at];
        for (; at < range_count && p.layouts[i] < piece; at++, p.range_counts[i]++)
            p.layouts[i] += ranges[at].end - ranges[at].first;
        message_begin(&p.requests[i], s->arena);
        request_ranges(&p.requests[i], request, p.ranges[i], p.range_counts[i]);
    }
    return p;
}

// Runs of layouts that may have a plan and a value below `below`, each at most `piece` long.
static struct space_range *ranges_below(const struct search *s, int64_t below, int64_t piece,
                                        int64_t *count)
{
    const struct layouts *l = s->layouts;
    struct space_range *ranges = NULL;
    int64_t capacity = 0;
    *count = 0;
    for (int64_t i = 0; i < l->count; i++) {
        if (s->scanned[i] || layouts_fate(l, i) != FATE_OPEN || l->value[i] >= below ||
            !layouts_is_here(s, i))
            continue;
        struct space_range *last = *count ? &ranges[*count - 1] : NULL;
        if (last && last->end == i && i - last->first < piece) last->end++;
        else {
            GROW(s->arena, ranges, *count, capacity, 64);
            ranges[(*count)++] = (struct space_range){i, i + 1};
        }
    }
    return ranges;
}

static void take_scanned(struct search *s, int64_t number, const struct scanned *x)
{
    struct layouts *l = s->layouts;
    bool open = l->reasons[x->reason].fate == FATE_OPEN;
    s->scanned[number] = true;
    layouts_note_own(s, number, open ? x->value : INT64_MAX);
    l->reason[number] = x->reason;
    if (!open || x->value > l->value[number]) l->value[number] = x->value;
}

// What was scanned is kept, even if not everything was.
bool layouts_scan_ranges(struct search *s, const struct space_range *ranges, int64_t count)
{
    struct pieces p = cut(s, REQUEST_SCAN, ranges, count, SCAN_CHUNK);
    bool whole = layouts_ask(s, p.requests, p.count, p.answers) && !layouts_is_over(s);
    for (int i = 0; i < p.count; i++) {
        struct scanned *found = TAKE(s->arena, p.layouts[i], struct scanned);
        if (!p.answers[i].used || p.answers[i].broken ||
            !answer_scan(&p.answers[i], s->layouts, found, p.layouts[i], s->arena)) {
            whole = false;
            continue;
        }
        for (int r = 0, at = 0; r < p.range_counts[i]; r++)
            for (int64_t k = p.ranges[i][r].first; k < p.ranges[i][r].end; k++)
                take_scanned(s, k, &found[at++]);
    }
    return whole;
}

// false: stopped.
static bool bound_groups(struct search *s)
{
    struct layouts *l = s->layouts;
    int64_t chunk = larger(l->count / 64, SCAN_CHUNK), count;
    const struct space_range *ranges = ranges_below(s, INT64_MAX, chunk, &count);
    struct pieces p = cut(s, REQUEST_GROUPS, ranges, count, 1);
    int64_t *values = TAKE(s->arena, chunk, int64_t);
    bool whole = layouts_ask(s, p.requests, p.count, p.answers) && !layouts_is_over(s);
    for (int i = 0; i < p.count && whole; i++) {
        int64_t first = p.ranges[i]->first;
        whole = p.answers[i].used && !p.answers[i].broken &&
                answer_groups(&p.answers[i], values, p.layouts[i]);
        for (int64_t k = 0; k < p.layouts[i] && whole; k++) {
            layouts_note_own(s, first + k, values[k]);
            l->value[first + k] = larger(l->value[first + k], values[k]);
        }
    }
    return whole;
}

static bool scan_below(struct search *s, int64_t below)
{
    int64_t count;
    const struct space_range *ranges = ranges_below(s, below, SCAN_CHUNK, &count);
    return layouts_scan_ranges(s, ranges, count);
}

// The bounds that quarters of the AHEAD groups' layouts that are next stay below; INT64_MAX from
// where there are fewer.
static void bounds_ahead_ns(const struct search *s, int64_t below[AHEAD_STEPS])
{
    const struct layouts *l = s->layouts;
    int64_t *values = TAKE(s->arena, l->count, int64_t), count = 0;
    for (int64_t i = 0; i < l->count; i++)
        if (!s->scanned[i] && layouts_fate(l, i) == FATE_OPEN && layouts_is_here(s, i))
            values[count++] = l->value[i];
    qsort(values, (size_t)count, sizeof *values, int64_ascending);
    for (int64_t i = 0; i < AHEAD_STEPS; i++) {
        int64_t at = AHEAD / AHEAD_STEPS * (i + 1);
        below[i] = at < count ? values[at] : INT64_MAX;
    }
}

// Groups without a bound come first: nearly all of their layouts are refused. Then those with the
// least bounds, among which the scouts of a small space are chosen.
bool layouts_scan(struct search *s)
{
    if (!bound_groups(s) || !scan_below(s, 1)) return false;
    layouts_report_groups(s, "groups of layouts are bounded");
    if (layouts_is_large(s)) layouts_scout_around_best(s);
    int64_t below[AHEAD_STEPS];
    bounds_ahead_ns(s, below);
    for (int i = 0; i < AHEAD_STEPS; i++) {
        if (!scan_below(s, smaller(below[i], layouts_closing_anyway_ns(s)))) return false;
        if (i + 1 < AHEAD_STEPS) layouts_report_groups(s, "those with the least are priced");
    }
    return true;
}

int waiting_by_bound(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    if (x->bound_ns != y->bound_ns) return x->bound_ns < y->bound_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// Those that the best plan closes come last, in any order: the queue ends before them.
void layouts_sort_open(struct search *s)
{
    const struct layouts *l = s->layouts;
    struct waiting *waiting = TAKE(s->arena, l->count, struct waiting);
    int64_t closed = 0, closing_ns = layouts_closing_ns(s);
    s->order = TAKE(s->arena, l->count, int64_t);
    for (int64_t i = 0; i < l->count; i++)
        if (layouts_fate(l, i) == FATE_OPEN && layouts_is_here(s, i)) {
            if (l->value[i] < closing_ns)
                waiting[s->order_count++] = (struct waiting){l->value[i], i};
            else s->order[l->count - ++closed] = i;
        }
    qsort(waiting, (size_t)s->order_count, sizeof *waiting, waiting_by_bound);
    for (int64_t i = 0; i < s->order_count; i++) {
        assert(i == 0 || waiting[i - 1].bound_ns <= waiting[i].bound_ns);
        s->order[i] = waiting[i].number;
    }
    memmove(s->order + s->order_count, s->order + l->count - closed,
            (size_t)closed * sizeof *s->order);
    s->order_count += closed;
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
    struct space_range *ranges = TAKE(s->arena, count, struct space_range);
    for (int64_t i = 0; i < count; i++)
        ranges[i] = (struct space_range){sorted[i]->number, sorted[i]->number + 1};
    space_each_of(&s->problem->job.space, &s->limits, &s->index, ranges, count, fill_visit, &f);
    assert(f.next == f.end); // the space has every number
}

// Layouts whose group left no room for a better plan are priced when the queue reaches them.
static void scan_window(struct search *s, struct candidate **sorted, int64_t count)
{
    struct space_range *ranges = TAKE(s->arena, count, struct space_range);
    int64_t unscanned = 0;
    for (int64_t i = 0; i < count; i++)
        if (!s->scanned[sorted[i]->number])
            ranges[unscanned++] = (struct space_range){sorted[i]->number, sorted[i]->number + 1};
    if (unscanned) layouts_scan_ranges(s, ranges, unscanned);
}

static void widen(struct search *s)
{
    int64_t left = s->order_count - s->order_next, most = left < WINDOW ? left : WINDOW, count = 1;
    assert(left > 0);
    while (count < most &&
           s->layouts->value[s->order[s->order_next + count]] < layouts_closing_ns(s))
        count++;
    struct candidate *all = TAKE(s->arena, count, struct candidate),
                     **sorted = TAKE(s->arena, count, struct candidate *);
    for (int64_t i = 0; i < count; i++) {
        all[i] = (struct candidate){.number = s->order[s->order_next++]};
        sorted[i] = &all[i];
    }
    qsort(sorted, (size_t)count, sizeof(struct candidate *), candidates_by_number);
    scan_window(s, sorted, count);
    layouts_fill_in(s, sorted, count);
    for (int64_t i = 0; i < count; i++) {
        all[i].bound_ns = s->layouts->value[all[i].number];
        bool open = layouts_fate(s->layouts, all[i].number) == FATE_OPEN;
        if (open) layouts_put_in_line(s, &all[i]);
    }
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
