// How far the costs' intervals leave the plan's time open: the decision priced again with every
// number of the costs at its fast and at its slow end, and played.
#include "data/inputs/cost_keys.h"
#include "solve/judge/internal.h"

// The plan with room of its own for prices.
static struct plan copy_of(const struct plan *plan, struct arena *arena)
{
    struct plan copy = *plan;
    size_t count = (size_t)plan->stage_count, slices = (size_t)plan->layout.slice_count - 1;
    copy.stages = arena_grow(arena, plan->stages, count, count, sizeof *copy.stages);
    for (int s = 0; s < plan->stage_count && slices; s++)
        copy.stages[s].slices = arena_grow(arena, plan->stages[s].slices, slices, slices,
                                           sizeof *copy.stages[s].slices);
    return copy;
}

static int64_t time_at(const struct audit *h, const struct costs *costs, int64_t claimed_ns)
{
    struct verdict unused = {0};
    struct plan copy = copy_of(h->plan, h->arena);
    struct audit x = *h;
    x.verdict = &unused;
    x.judged.costs = *costs;
    x.price_audit = price_audit_over(&x.judged, &h->price_audit);
    x.plan = &copy;
    x.collect = true;
    audit_prices(&x);
    copy.embedding_sync_ns = x.embedding_sync_ns;
    copy.iteration_ns = claimed_ns;
    return judged_time(&h->schedule, &copy, h->arena);
}

static void audit_end(struct audit *h, const char *what, enum cost_end end, int64_t claimed_ns)
{
    struct arena_mark mark = arena_set_mark(h->arena);
    struct error unfit = {OK, ""};
    struct costs costs = costs_copy(&h->judged.costs, h->arena);
    costs_move_to(&costs, end);
    if (costs_check(&costs, &unfit) != OK) {
        REJECT(h, "range", -1, "%s: stated, but %s", what, unfit.text);
        return;
    }
    int64_t own_ns = time_at(h, &costs, claimed_ns);
    arena_reset(h->arena, mark);
    h->verdict->terms_checked++;
    if (claimed_ns != own_ns)
        REJECT(h, "range", -1, "%s: claimed %lld ns, the judge finds %lld (%+lld)", what,
               (long long)claimed_ns, (long long)own_ns, (long long)(claimed_ns - own_ns));
}

void audit_range(struct audit *h)
{
    const struct plan *p = h->plan;
    bool sound = true;
    for (int s = 0; s < p->stage_count; s++) sound = sound && h->sound[s];
    if (!sound || (!p->iteration_low_ns && !p->iteration_high_ns)) {
        if (p->runner_up_inside)
            REJECT(h, "range", -1,
                   "the runner-up is said to lie inside of a range that the plan does not state");
        return;
    }
    audit_end(h, "time at the fast end of the costs", COSTS_FAST, p->iteration_low_ns);
    audit_end(h, "time at the slow end of the costs", COSTS_SLOW, p->iteration_high_ns);
    bool inside = p->runner_up_ns > 0 && p->runner_up_ns >= p->iteration_low_ns &&
                  p->runner_up_ns <= p->iteration_high_ns;
    if (inside != p->runner_up_inside)
        REJECT(h, "range", -1, "the runner-up's %lld ns are said to lie %s of %lld to %lld ns",
               (long long)p->runner_up_ns, p->runner_up_inside ? "inside" : "outside",
               (long long)p->iteration_low_ns, (long long)p->iteration_high_ns);
}
