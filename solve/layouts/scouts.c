// Plans found early: of sensible layouts before the space is scanned, and of dissimilar layouts
// before the queue is processed.
#include <assert.h>
#include <stdlib.h>

#include "solve/layouts/search.h"

// ---- scouts: plans of some dissimilar layouts before the queue is processed, so that bounds close
// the rest

enum { SCOUTS_MAX = 1 << 16, SCOUTS_LOOKED_AT = 32, SCOUTS_PER_DEGREES = 4 };
// Limit for a scout: passes of a graph times the square of its ranks (paths begin and end at any
// two). Larger ones take longer to look at than a first plan is worth.
enum { SCOUTS_COST_MAX = 5 * 1000 * 1000 };
struct scouts {
    const struct search *search;
    const struct layouts *layouts;
    struct candidate *all;
    int count;
};

static bool same_kind(const struct layout *a, const struct layout *b)
{
    return same_degrees(a, b) && a->schedule == b->schedule &&
           a->virtual_stages == b->virtual_stages && a->micro_batch == b->micro_batch &&
           a->grid_depth == b->grid_depth && a->grid_rows == b->grid_rows &&
           a->sequence_parallel == b->sequence_parallel && a->zero == b->zero;
}

// Layouts that differ only in the inner switches are adjacent in the space: takes the first of each
// such kind with the least bound.
static bool scout_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct scouts *x = argument;
    if (!x->search->scanned[number] || layouts_fate(x->layouts, number) != FATE_OPEN) return true;
    int64_t micro_batches = x->layouts->global_batch / layout->data / layout->micro_batch;
    int64_t passes = micro_batches * layout_stage_count(layout) * layout->slice_count;
    if (passes * layout->pipeline * layout->pipeline > SCOUTS_COST_MAX) return true;
    struct candidate *last = x->count ? &x->all[x->count - 1] : NULL;
    int64_t bound_ns = x->layouts->value[number];
    if (last && same_kind(&last->layout, layout)) {
        if (bound_ns < last->bound_ns)
            *last = (struct candidate){.number = number, .bound_ns = bound_ns, .layout = *layout};
        return true;
    }
    if (x->count < SCOUTS_MAX)
        x->all[x->count++] =
            (struct candidate){.number = number, .bound_ns = bound_ns, .layout = *layout};
    return true;
}

static int candidates_by_bound(const void *a, const void *b)
{
    const struct candidate *const *x = a, *const *y = b;
    if ((*x)->bound_ns != (*y)->bound_ns) return (*x)->bound_ns < (*y)->bound_ns ? -1 : 1;
    return candidates_by_number(a, b);
}

// Moves the best to the front, at most a few of each tuple of degrees; returns their number.
static int spread(struct candidate **round, int count)
{
    int chosen = 0;
    for (int i = 0; i < count && chosen < SCOUTS_LOOKED_AT; i++) {
        int alike = 0;
        for (int k = 0; k < chosen; k++)
            alike += same_degrees(&round[k]->layout, &round[i]->layout);
        if (alike < SCOUTS_PER_DEGREES && round[i]->bound_ns < LAYOUT_TOO_SLOW)
            round[chosen++] = round[i];
    }
    return chosen;
}

void layouts_scout(struct search *s)
{
    struct scouts x = {s, s->layouts, TAKE(s->arena, SCOUTS_MAX, struct candidate), 0};
    struct candidate **round = TAKE(s->arena, SCOUTS_MAX, struct candidate *);
    struct message requests[SCOUTS_LOOKED_AT], answers[SCOUTS_LOOKED_AT] = {{0}};
    space_each(&s->problem->job.space, &s->limits, scout_visit, &x);
    for (int i = 0; i < x.count; i++) round[i] = &x.all[i];
    int64_t enough = s->first.stage_count ? s->first.iteration_ns : INT64_MAX;
    if (!layouts_sharpen(s, enough, round, x.count)) return;
    qsort(round, (size_t)x.count, sizeof *round, candidates_by_bound);
    int count = spread(round, x.count);
    assert(count <= SCOUTS_LOOKED_AT);
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], s->arena);
        request_look(&requests[i], REQUEST_SCOUT, &round[i]->layout, 0, 0, 0);
    }
    layouts_ask(s, requests, count, answers);
    for (int i = 0; i < count; i++) {
        struct layout_answer a;
        if (!layout_answer_get(&answers[i], &a, s->problem, s->arena) || !a.plan.stage_count)
            continue;
        layouts_take_plan(s, &a.plan, round[i]->number);
        layouts_note_work(s, round[i]->number, a.plan.iteration_ns, -1, a.plan.effort.boxes);
    }
}

// ---- the first plan, before the space is scanned

// A few tuples of degrees of each tier; if no tier has a plan, all of them.
enum { FIRST_LOOKS = 6, FIRST_LOOKS_AGAIN = 256 };

// Layouts without a price or room have no bound; those with the same degrees mostly fail for the
// same reason.
static bool worth_a_look(const struct candidate *c, struct candidate *const *looked, int count)
{
    for (int i = 0; i < count; i++)
        if (same_degrees(&looked[i]->layout, &c->layout)) return false;
    return c->bound_ns > 0 && c->bound_ns < LAYOUT_TOO_SLOW;
}

static void look_first(struct search *s, struct candidate *c)
{
    struct message request, answer = {0};
    struct layout_answer a;
    message_begin(&request, s->arena);
    request_look(&request, REQUEST_FIRST, &c->layout, 0, 0, 0);
    if (!layouts_ask(s, &request, 1, &answer) ||
        !layout_answer_get(&answer, &a, s->problem, s->arena) || !a.plan.stage_count)
        return;
    if (s->first.stage_count && a.plan.iteration_ns >= s->first.iteration_ns) return;
    s->first = a.plan, s->first_number = c->number;
    layouts_keep_plan(s, &a.plan);
    layouts_report_scan(s, "a first plan, before the layouts are priced");
}

// One after the other, so that the first plan is available as soon as it is found. true: there is
// one.
static bool look_at_tier(struct search *s, struct candidate **round, int count, bool again)
{
    struct candidate *looked[FIRST_LOOKS_AGAIN];
    int looks = 0, most = again ? FIRST_LOOKS_AGAIN : FIRST_LOOKS;
    for (int i = 0; i < count && looks < most && !layouts_is_over(s); i++) {
        if (!worth_a_look(round[i], looked, looks)) continue;
        looked[looks++] = round[i];
        if (!again || looks > FIRST_LOOKS) look_first(s, round[i]);
    }
    return s->first.stage_count != 0;
}

void layouts_find_first(struct search *s)
{
    for (int i = 0; i < 2 * FIRST_TIERS && !layouts_is_over(s); i++) {
        struct first_tier *tier = &s->sensible.tiers[i % FIRST_TIERS];
        bool again = i >= FIRST_TIERS;
        struct candidate **round = TAKE(s->arena, tier->count, struct candidate *);
        for (int k = 0; k < tier->count; k++) round[k] = &tier->layouts[k];
        if (!layouts_sharpen(s, INT64_MAX, round, tier->count)) return;
        if (tier->count) qsort(round, (size_t)tier->count, sizeof *round, candidates_by_bound);
        if (look_at_tier(s, round, tier->count, again)) return;
    }
}

void layouts_take_first(struct search *s)
{
    const struct plan *first = &s->first;
    if (!first->stage_count || (s->best.stage_count && first->iteration_ns >= s->best.iteration_ns))
        return;
    assert(s->first_number >= 0 && s->first_number < s->layouts->count);
    s->best = *first, s->best_number = s->first_number;
    s->frontier.best_ns = first->iteration_ns;
    for (int i = 0; i < s->work_count; i++)
        if (s->work[i].number == s->first_number) {
            s->work[i].iteration_ns = first->iteration_ns;
            return;
        }
    layouts_note_work(s, s->first_number, first->iteration_ns, -1, first->effort.boxes);
}
