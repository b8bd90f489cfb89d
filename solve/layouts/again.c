// What a search that takes over the results of an earlier one (--resume) derives again. Each layout
// has two bounds: the one that is used, and its own, which no file had a part in. Where the own
// ones reach the answer, it rests on nothing that was taken over.
#include <stdlib.h>

#include "data/base/least.h"
#include "solve/layouts/search.h"

enum { PROBE = 16, AGAIN_ROUND = 4096 };

void layouts_open_own(struct search *s)
{
    s->own_ns = s->task.known ? TAKE(s->arena, s->layouts->count, int64_t) : NULL;
}

void layouts_note_own(struct search *s, int64_t number, int64_t bound_ns)
{
    if (bound_ns == LAYOUT_TOO_SLOW) bound_ns = INT64_MAX;
    if (s->own_ns && bound_ns > s->own_ns[number]) s->own_ns[number] = bound_ns;
}

// The answer's bound so far; INT64_MAX: no layout has a plan.
static int64_t least_ns(const struct layouts *l)
{
    int64_t least = INT64_MAX;
    for (int64_t i = 0; i < l->count; i++)
        if (!layout_fate_has_no_plan(layouts_fate(l, i))) least = smaller(least, l->value[i]);
    return least;
}

bool layouts_rest_on_known(const struct search *s)
{
    int64_t bound_ns = s->own_ns ? least_ns(s->layouts) : 0;
    for (int64_t i = 0; s->own_ns && i < s->layouts->count; i++)
        if (s->own_ns[i] < bound_ns) return true;
    return false;
}

// ---- deriving

// The scan of the layouts with these ascending numbers.
static bool scan_again(struct search *s, struct layouts *again, struct candidate **all, int count)
{
    struct message request, answer = {0};
    struct space_range *ranges = TAKE(s->arena, count, struct space_range);
    struct scanned *found = TAKE(s->arena, count, struct scanned);
    for (int i = 0; i < count; i++)
        ranges[i] = (struct space_range){all[i]->number, all[i]->number + 1};
    message_begin(&request, s->arena);
    request_ranges(&request, REQUEST_SCAN, ranges, count);
    if (!layouts_ask(s, &request, 1, &answer) || layouts_is_over(s) || !answer.used ||
        answer.broken || !answer_scan(&answer, again, found, count, s->arena))
        return false;
    for (int i = 0; i < count; i++) {
        bool open = again->reasons[found[i].reason].fate == FATE_OPEN;
        layouts_note_own(s, all[i]->number, open ? found[i].value : INT64_MAX);
    }
    return true;
}

// Cheap bounds of these: those of the scan, then where these are below bound_ns those of filled
// ranks. false: stopped, or some of them are below bound_ns still.
static bool derive(struct search *s, struct layouts *again, struct candidate **all, int count,
                   int64_t bound_ns)
{
    int below = 0;
    qsort(all, (size_t)count, sizeof *all, candidates_by_number);
    if (!scan_again(s, again, all, count)) return false;
    for (int i = 0; i < count; i++)
        if (s->own_ns[all[i]->number] < bound_ns) all[below++] = all[i];
    if (!below) return true;
    layouts_fill_in(s, all, below);
    if (!layouts_sharpen(s, bound_ns, all, below)) return false;
    for (int i = 0; i < below; i++)
        if (s->own_ns[all[i]->number] < bound_ns) return false;
    return true;
}

static struct layouts empty_like(const struct search *s)
{
    struct layouts again = {.count = s->layouts->count};
    again.reason = TAKE(s->arena, again.count, uint16_t);
    again.value = TAKE(s->arena, again.count, int64_t);
    return again;
}

// Those with the least bounds first: where they need more than cheap bounds, the others are spared.
void layouts_derive_again(struct search *s)
{
    const struct layouts *l = s->layouts;
    int64_t bound_ns = s->own_ns ? least_ns(l) : 0, count = 0;
    if (!bound_ns || layouts_is_over(s)) return;
    struct waiting *waiting = TAKE(s->arena, l->count, struct waiting);
    for (int64_t i = 0; i < l->count; i++)
        if (s->own_ns[i] < bound_ns) waiting[count++] = (struct waiting){l->value[i], i};
    qsort(waiting, (size_t)count, sizeof *waiting, waiting_by_bound);
    struct layouts again = empty_like(s);
    for (int64_t at = 0, taken; at < count; at += taken) {
        taken = smaller(count - at, at ? AGAIN_ROUND : PROBE);
        struct candidate *items = TAKE(s->arena, taken, struct candidate),
                         **all = TAKE(s->arena, taken, struct candidate *);
        for (int64_t i = 0; i < taken; i++)
            items[i].number = waiting[at + i].number, all[i] = &items[i];
        if (!derive(s, &again, all, (int)taken, bound_ns)) return;
    }
}
