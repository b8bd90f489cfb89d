// Closed forms of the iteration time (docs/FORMULAS.md, section 9) for schedules whose stages are
// alike and whose messages take no time: an independent check of the replay. Where no form holds
// exactly, there is none.
#include "data/kinds/schedules.h"
#include "solve/judge/internal.h"

struct totals {
    int64_t forward, backward, weight; // sums over the stages, for one micro-batch
    int64_t sync, optimizer;
    int64_t messages; // both ways, for one micro-batch
    bool equal, silent, ending,
        moves; // all stages alike; no message ever takes time; any sync or optimizer;
               // swapped layers are in transfer besides the passes
};

static void add_messages(struct totals *t, const struct plan_stage *x,
                         const struct schedule_request *r, int boundary)
{
    if (boundary == r->stage_count - 1 || schedule_is_inner(r, boundary)) return;
    for (int part = 0; part < PART_COUNT; part++) {
        if (!r->parts[part]) continue;
        int64_t last = r->epilogue ? x->send_epilogue_ns[part]
                                   : x->slices[0].send_backward_ns[part];
        t->messages += (part == PART_OVERHEAD ? 2 : 1) *
                       (x->slices[0].send_forward_ns[part] + last); // at both ends
        t->silent = t->silent && !last;
        for (int i = 0; i < r->slice_count; i++)
            t->silent = t->silent && !x->slices[i].send_forward_ns[part] &&
                        !x->slices[i].send_backward_ns[part];
    }
}

// Each sum is the length of a path or of a lap, so none exceeds the replayed time.
static struct totals totals_of(const struct plan *p, const struct schedule_request *r)
{
    struct totals t = {
        .equal = r->slice_count == 1, .silent = true, .ending = p->embedding_sync_ns > 0};
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s], *first = &p->stages[0];
        t.weight += x->weight_ns;
        t.moves = t.moves || x->away_ns || x->back_ns;
        t.sync += x->sync_ns;
        t.optimizer += x->optimizer_ns;
        t.equal = t.equal && x->weight_ns == first->weight_ns;
        for (int i = 0; i < r->slice_count; i++) {
            const struct plan_slice *y = &x->slices[i];
            t.forward += y->forward_ns;
            t.backward += y->backward_ns;
            t.equal = t.equal && y->forward_ns == first->slices[i].forward_ns &&
                      y->backward_ns == first->slices[i].backward_ns;
        }
        add_messages(&t, x, r, s);
    }
    t.ending = t.ending || t.sync > 0 || t.optimizer > 0;
    return t;
}

// On one rank everything runs in sequence, whatever the schedule: all passes, then the end of the
// iteration. With several stages, one stage's sync may overlap another's passes or optimizer step.
static struct closed_form one_rank(const struct plan *p, const struct schedule_request *r,
                                   const struct totals *t)
{
    if (r->stage_count > 1 && t->sync > 0 && (r->sync_overlapped || t->optimizer > 0))
        return (struct closed_form){0};
    return (struct closed_form){"one rank: m (sum F + sum B) + sync + optimizer",
                                p->micro_batches * (t->forward + t->backward + t->weight) +
                                    t->sync + p->embedding_sync_ns + t->optimizer};
}

struct closed_form closed_form_of(const struct plan *p, const struct schedule_request *r)
{
    struct totals t = totals_of(p, r);
    if (t.moves) return (struct closed_form){0};
    if (r->rank_count == 1) return one_rank(p, r, &t);
    if (t.ending || r->local_loss_every) return (struct closed_form){0};
    bool whole = r->slice_count == 1 && !schedule_splits_backward(r->kind);
    if (p->micro_batches == 1 && r->barrier && whole)
        return (struct closed_form){"one micro-batch: sum F + sum B + all messages",
                                    t.forward + t.backward + t.messages};
    if (!t.silent) return (struct closed_form){0};
    judged_form *form = judged_forms[r->kind];
    bool holds = form && (t.equal || judged_kinds[r->kind].form_of_unlike);
    return holds ? form(p, r) : (struct closed_form){0};
}
