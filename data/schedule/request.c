// What a layout determines of the graph: the operations of a priced problem's graph (without those
// that no price could make longer than zero), and the ranks of the stages.
#include <string.h>

#include "data/kinds/schedules.h"
#include "data/priced/priced.h"
#include "data/schedule/schedule.h"

struct schedule_request schedule_request_of(const struct priced *p)
{
    const struct layout *l = &p->layout;
    struct schedule_request r = {
        .kind = l->schedule,
        .stage_count = p->stage_count,
        .rank_count = p->rank_count,
        .virtual_stages = l->virtual_stages,
        .slice_count = p->slice_count,
        .micro_batches = p->micro_batches,
        .local_loss_every = l->local_loss_every,
        .stored_inputs = l->stored_inputs,
        .barrier = l->barrier,
        .sync_overlapped = l->gradient_sync == SYNC_OVERLAPPED,
        .epilogue = priced_uses_epilogue(p),
        .sync = priced_uses_sync(p),
        .optimizer = priced_uses_optimizer(p),
        .embedding_sync = p->has_embedding_sync,
        .across_passes = priced_swaps_across(p),
    };
    for (int part = 0; part < PART_COUNT; part++)
        r.parts[part] = priced_uses_part(p, (enum transfer_part)part);
    memcpy(r.in_flight, l->in_flight, sizeof r.in_flight);
    return r;
}

enum status schedule_build_priced(struct schedule *s, const struct priced *p, struct arena *arena,
                                  struct error *err)
{
    struct schedule_request request = schedule_request_of(p);
    return schedule_build(s, &request, arena, err);
}

// A pipeline that folds turns around at its end; all others wrap around the ranks.
int schedule_rank_of(const struct schedule_request *r, int stage)
{
    if (r->virtual_stages == 1) return stage;
    int turn = stage / r->rank_count, place = stage % r->rank_count;
    return schedule_kinds[r->kind].folds && turn % 2 ? r->rank_count - 1 - place : place;
}

int schedule_stage_of(const struct schedule_request *r, int rank, int turn)
{
    int place = turn % 2 && schedule_kinds[r->kind].folds ? r->rank_count - 1 - rank : rank;
    return turn * r->rank_count + place;
}

int schedule_segment_end(const struct schedule_request *r, int rank)
{
    int every = r->local_loss_every, end = r->rank_count - 1;
    if (!r->stored_inputs) return end;
    int own = (rank / every + 1) * every - 1;
    return own < end ? own : end;
}
