// The iteration time of the schedule's table with the plan's own durations, against the plan's
// claim and, where one holds, a closed form.
#include "solve/judge/internal.h"

static int64_t signs_of_parts(const int64_t *parts)
{
    int64_t signs = 0;
    for (int part = 0; part < PART_COUNT; part++) signs |= parts[part];
    return signs;
}

static bool has_negative_claim(const struct plan *p)
{
    int64_t signs = p->embedding_sync_ns;
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        signs |= x->weight_ns | x->sync_ns | x->queued_sync_ns | x->optimizer_ns | x->away_ns |
                 x->back_ns | signs_of_parts(x->send_epilogue_ns);
        for (int i = 0; i < p->layout.slice_count; i++)
            signs |= x->slices[i].forward_ns | x->slices[i].backward_ns |
                     signs_of_parts(x->slices[i].send_forward_ns) |
                     signs_of_parts(x->slices[i].send_backward_ns);
    }
    return signs < 0;
}

int64_t judged_time(const struct schedule *s, const struct plan *plan, struct arena *arena)
{
    return s->request.barrier ? judged_replay(s, plan, arena) : judged_period(s, plan, arena);
}

void audit_time(struct audit *h)
{
    const struct plan *p = h->plan;
    bool barrier = h->request.barrier;
    const char *means = barrier ? "the replay takes" : "the period is";
    int64_t ns = judged_time(&h->schedule, p, h->arena);
    h->verdict->replayed_ns = ns;
    if (ns < 0) {
        REJECT(h, "schedule", -1, "the table has a cycle: the replay comes to no end");
        return;
    }
    if (ns != p->iteration_ns)
        REJECT(h, "iteration", -1, "claimed %lld ns, %s %lld ns (%+lld)",
               (long long)p->iteration_ns, means, (long long)ns, (long long)(p->iteration_ns - ns));
    if (ns > (int64_t)1 << 53 || has_negative_claim(p)) return; // already reported with the prices
    struct closed_form form = closed_form_of(p, &h->request);
    h->verdict->closed_form = form.name;
    h->verdict->closed_form_ns = form.name ? form.ns : -1;
    if (form.name && form.ns != p->iteration_ns)
        REJECT(h, "closed_form", -1, "claimed %lld ns, %s gives %lld ns",
               (long long)p->iteration_ns, form.name, (long long)form.ns);
}
