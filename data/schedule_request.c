// Which operations a priced problem's graph has: what no price could make longer than zero is left out.
#include "data/priced.h"
#include "data/schedule.h"

struct schedule_request schedule_request_of(const struct priced *p)
{
    struct schedule_request r = {
        .kind = p->layout.schedule, .stage_count = p->stage_count, .micro_batches = p->micro_batches, .epilogue = priced_uses_epilogue(p),
        .sync = priced_uses_sync(p), .optimizer = priced_uses_optimizer(p), .embedding_sync = p->has_embedding_sync,
    };
    for (int part = 0; part < PART_COUNT; part++) r.parts[part] = priced_uses_part(p, (enum transfer_part)part);
    return r;
}
