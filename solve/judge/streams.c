// No time is below the work of a stream. A rank's compute stream, each direction of a link between
// two ranks, its sync stream and each way of its link to the host do one thing at a time, so an
// iteration (without a barrier: the period, in which each of them does this work once) takes at
// least what each has to do, counted before anything is taken off as hidden behind something else.
// Counted from the layout and the judge's prices alone, not from the schedule's table
// (docs/FORMULAS.md 9).
#include "solve/judge/internal.h"

struct streams {
    struct audit *h;
    int64_t ns; // of the iteration, or period
};

static int64_t times(int64_t count, int64_t ns)
{
    int64_t sum = 0;
    for (; count > 0; count /= 2, ns = judged_later(ns, ns))
        if (count % 2) sum = judged_later(sum, ns);
    return sum;
}

// spare: nanoseconds by which roundings of prices may let the work seem longer.
static void compare(const struct streams *w, int rank, const char *stream, int64_t work_ns,
                    int64_t spare_ns)
{
    if (work_ns > w->ns + spare_ns)
        REJECT(w->h, "stream", schedule_stage_of(&w->h->request, rank, 0),
               "rank %d: %s has %lld ns of work, more than the %lld ns of %s", rank, stream,
               (long long)work_ns, (long long)w->ns,
               w->h->request.barrier ? "an iteration" : "the period");
}

static int64_t passing_of(const struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int64_t once = x->weight_ns;
    for (int slice = 0; slice < h->request.slice_count; slice++)
        once = judged_later(judged_later(once, x->slices[slice].forward_ns),
                            x->slices[slice].backward_ns);
    return times(h->request.micro_batches, once);
}

// One part of all messages over a boundary in one direction. Of the last ones backward, of the
// first slice, the drain's time counts where it is a time of its own.
static int64_t messages_of(const struct audit *h, int boundary, bool forward, int part)
{
    const struct plan_stage *x = &h->plan->stages[boundary];
    const struct schedule_request *r = &h->request;
    int64_t sum = 0, drain = r->epilogue ? r->rank_count - boundary % r->rank_count : 0;
    if (!(forward ? sends_over(h, boundary) : sends_back_over(h, boundary)) || !r->parts[part])
        return 0;
    if (drain > r->micro_batches) drain = r->micro_batches;
    for (int slice = 0; slice < r->slice_count; slice++) {
        const struct plan_slice *y = &x->slices[slice];
        int64_t apart = forward || slice ? 0 : drain,
                each = forward ? y->send_forward_ns[part] : y->send_backward_ns[part];
        sum = judged_later(sum, times(r->micro_batches - apart, each));
        sum = judged_later(sum, times(apart, x->send_epilogue_ns[part]));
    }
    return sum;
}

// What a boundary keeps the compute stream of either of its ranks busy with.
static int64_t held_by(const struct audit *h, int boundary)
{
    int64_t sum = 0;
    for (int forward = 0; forward < 2 && boundary >= 0; forward++)
        sum = judged_later(judged_later(sum, messages_of(h, boundary, forward, PART_BLOCKING)),
                           messages_of(h, boundary, forward, PART_OVERHEAD));
    return sum;
}

static void audit_rank(const struct streams *w, int rank)
{
    const struct audit *h = w->h;
    int64_t compute = 0, sync = 0, out = 0, layers = 0;
    for (int k = 0; k < h->request.virtual_stages; k++) {
        int stage = schedule_stage_of(&h->request, rank, k);
        compute = judged_later(compute, passing_of(h, stage));
        compute = judged_later(compute, h->plan->stages[stage].optimizer_ns);
        compute = judged_later(compute, judged_later(held_by(h, stage - 1), held_by(h, stage)));
        sync = judged_later(sync, h->sync_work_ns[stage]);
        out = judged_later(out, times(h->request.micro_batches, swap_work_of(h, stage)));
        layers += judged_layers(h, stage);
    }
    compare(w, rank, "its compute stream", compute, 0);
    // What a gather hides behind a layer's forward passes is rounded, and so are those.
    compare(w, rank, "its sync stream", sync,
            h->request.barrier ? 0 : layers * (1 + h->request.slice_count));
    compare(w, rank, "its link to what is swapped", out, 0);
}

static void audit_link(const struct streams *w, int from, int to)
{
    const struct audit *h = w->h;
    int64_t sum = 0;
    for (int boundary = 0; boundary + 1 < h->request.stage_count; boundary++) {
        int before = schedule_rank_of(&h->request, boundary),
            after = schedule_rank_of(&h->request, boundary + 1);
        for (int forward = 0; forward < 2; forward++)
            if ((forward ? before : after) == from && (forward ? after : before) == to)
                sum = judged_later(sum, messages_of(h, boundary, forward, PART_LINK));
    }
    if (sum) compare(w, from, arena_print(h->arena, "its link to rank %d", to), sum, 0);
}

void audit_streams(struct audit *h, int64_t ns)
{
    const struct streams w = {h, ns};
    int ranks = h->request.rank_count;
    for (int rank = 0; rank < ranks; rank++) {
        audit_rank(&w, rank);
        // Messages go to the ranks beside it, round a ring.
        audit_link(&w, rank, (rank + 1) % ranks);
        if (ranks > 2) audit_link(&w, rank, (rank + ranks - 1) % ranks);
    }
}
