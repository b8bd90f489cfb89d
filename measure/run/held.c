// What a rank holds: states throughout, activations from a forward pass to the pass that frees
// them, working memory while a pass runs. The pages are really there, as in training; the operands
// of the kernels, which no training has, are not counted.
#include <sys/mman.h>

#include "data/base/grow.h"
#include "measure/run/running.h"
#include "measure/sampling/host.h"

enum { PAGE_BYTES = 4096, PROBE_BYTES = 1 << 24 };

// All of them resident; NULL: the system has none left.
static char *take_pages(int64_t bytes)
{
    char *at = pages_take((size_t)bytes);
    for (int64_t i = 0; at && i < bytes; i += PAGE_BYTES) at[i] = 1;
    return at;
}

static bool is_observed(const struct running *r)
{
    return r->backend->keeps && r->held.own_bytes && !r->held.off;
}

void run_hold(struct running *r, int stage, int micro_batch, int slice, int64_t bytes)
{
    struct held *h = &r->held;
    if (bytes <= 0 || r->replays || !is_observed(r)) return;
    bool there = bytes < PROBE_BYTES || bytes < pages_available_bytes();
    struct held_piece piece = {stage, micro_batch, slice, there ? take_pages(bytes) : NULL, bytes};
    if (!piece.at) {
        h->off = true;
        fprintf(stderr, "rank %d: %lld bytes more cannot be had: its memory is not observed\n",
                r->self, (long long)bytes);
        return;
    }
    *GROWN(r->arena, h->pieces, h->count, h->capacity, 64) = piece;
    h->bytes += bytes;
    if (h->bytes > h->peak_bytes) h->peak_bytes = h->bytes;
}

void run_release(struct running *r, int stage, int micro_batch, int slice)
{
    struct held *h = &r->held;
    for (int i = 0; i < h->count && !r->replays; i++) {
        struct held_piece *p = &h->pieces[i];
        if (p->stage != stage || p->micro_batch != micro_batch || p->slice != slice) continue;
        munmap(p->at, (size_t)p->bytes);
        h->bytes -= p->bytes;
        *p = h->pieces[--h->count];
        return;
    }
}

// Two messages at each of its boundaries, one in each direction.
void run_hold_stage(struct running *r, int stage)
{
    const struct stage_work *work = &r->stages[stage];
    int64_t bytes = work->state_bytes + work->feedback_bytes;
    for (int i = stage - 1; i <= stage; i++)
        for (int k = 0; i >= 0 && i + 1 < r->plan->stage_count && k < r->plan->layout.slice_count;
             k++)
            bytes += 2 * r->stages[i].message.bytes[k];
    run_hold(r, -1, stage, 0, bytes);
}

int64_t run_peak_bytes(const struct running *r)
{
    return is_observed(r) ? r->held.own_bytes + r->held.peak_bytes : 0;
}
