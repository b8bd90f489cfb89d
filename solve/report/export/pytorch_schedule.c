// The order of passes on each rank, as torch.distributed.pipelining reads it. PyTorch itself
// inserts what comes between passes (messages, syncs).
#include "data/kinds/schedules.h"
#include "solve/report/export/internal.h"

// Letter of a pass; 0: no pass.
static char letter_of(const struct schedule_request *r, int kind)
{
    bool splits = schedule_splits_backward(r->kind);
    return kind == SYMBOL_FORWARD    ? 'F'
           : kind == SYMBOL_BACKWARD ? splits ? 'I' : 'B'
           : kind == SYMBOL_WEIGHT   ? 'W'
                                     : 0;
}

static const struct stream *compute_stream(const struct schedule *s, int rank)
{
    const struct stream *found = s->streams;
    while (found->kind != STREAM_COMPUTE || found->rank != rank) found++;
    return found;
}

static void put_rank(struct text *out, const struct schedule *s, int rank)
{
    const struct stream *stream = compute_stream(s, rank);
    const char *before = "";
    for (int i = 0; i < stream->count; i++) {
        const struct operation *o = &s->operations[stream->operations[i]];
        char letter = letter_of(&s->request, o->symbol / s->request.stage_count);
        if (!letter) continue;
        text_put(out, "%s%d%c%d", before, o->stage, letter, o->micro_batch);
        before = ",";
    }
    text_put(out, "\n");
}

enum status report_pytorch_schedule(struct text *out, const struct plan *plan,
                                    const struct problem *problem, struct error *err)
{
    struct schedule schedule;
    (void)problem;
    TRY(report_expect_stages(plan, err));
    if (plan->layout.slice_count > 1 || plan->layout.local_loss_every)
        return refuse(err,
                      "%s: layout: PyTorch's schedules have neither slices of a sequence nor local "
                      "losses",
                      plan->document.path);
    struct schedule_request request = plan_request(plan);
    TRY(schedule_build(&schedule, &request, out->arena, err));
    for (int rank = 0; rank < request.rank_count; rank++) put_rank(out, &schedule, rank);
    return OK;
}
