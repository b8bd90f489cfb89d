// The start of a search over a space: its part of the space, what is already known, and the
// exchange of plans with others.

#include "solve/layouts/search.h"

bool layouts_is_here(const struct search *s, int64_t number)
{
    return space_part_has(&s->task.part, number, s->layouts->count);
}

static void take_layouts(struct search *s, const struct layouts *known)
{
    const struct layouts *l = s->layouts;
    layouts_take(s->layouts, known, s->arena);
    for (int64_t i = 0; i < known->work_count; i++) {
        const struct layouts_work *w = &known->work[i];
        bool holds = w->other != w->number &&
                     (!w->iteration_ns || (layouts_fate(l, w->number) == FATE_OPEN &&
                                           l->value[w->number] <= w->iteration_ns));
        if (holds) layouts_note_work(s, w->number, w->iteration_ns, w->other, w->boxes);
    }
}

// A plan of a layout that is said to have none, or none this fast, shows that what is known is
// false.
static void take_plan(struct search *s, const struct plan *plan)
{
    int64_t number;
    if (!plan->stage_count) return;
    if (!space_contains(&s->problem->job.space, &s->limits, &plan->layout, &number)) {
        assert(false); // the caller has checked it against the job
        return;
    }
    bool refuted = layout_fate_has_no_plan(layouts_fate(s->layouts, number)) ||
                   s->layouts->value[number] > plan->iteration_ns;
    assert(!refuted || s->task.known); // our own bounds hold
    if (refuted) s->false_bound = number;
    else layouts_take_plan(s, plan, number);
}

enum status layouts_take_known(struct search *s, struct error *err)
{
    const struct layouts *known = s->task.known;
    TRY(layouts_check_known(known, s->layouts->count, err));
    layouts_open_own(s);
    if (known) take_layouts(s, known);
    take_plan(s, &s->task.plan);
    layouts_exchange_plans(s);
    return layouts_refuse_false(s, err);
}

void layouts_exchange_plans(struct search *s)
{
    struct plan theirs = {0};
    if (!s->task.exchange) return;
    const struct plan *best = &s->best;
    if (s->first.stage_count && (!best->stage_count || s->first.iteration_ns < best->iteration_ns))
        best = &s->first;
    if (s->task.exchange(s->task.argument, best, &theirs, s->arena)) take_plan(s, &theirs);
}

enum status layouts_refuse_false(const struct search *s, struct error *err)
{
    return s->false_bound < 0 ? OK : layouts_refuse_known(s->task.known, s->false_bound, err);
}

enum status layouts_refuse_known(const struct layouts *known, int64_t number, struct error *err)
{
    return refuse(
        err, "%s: its bound of layout %lld is wrong: a plan takes less; solve again without it",
        document_name(&known->document, "layouts"), (long long)number);
}

enum status layouts_check_known(const struct layouts *known, int64_t count, struct error *err)
{
    if (!known || known->count == count) return OK;
    return refuse(err, "%s: count: expected this space's %lld layouts, found %lld",
                  document_name(&known->document, "layouts"), (long long)count,
                  (long long)known->count);
}
