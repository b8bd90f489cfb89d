// Draws random schedule requests.
#include "data/kinds/schedules.h"
#include "tests/support/requests.h"

void request_shape(struct schedule_request *r, int kind, int ranks, int virtual_stages, int slices)
{
    const struct schedule_properties *is = &schedule_kinds[kind];
    r->kind = kind;
    r->rank_count = ranks;
    r->virtual_stages = is->virtual_stages ? is->virtual_stages : virtual_stages;
    r->stage_count = r->rank_count * r->virtual_stages;
    r->slice_count = is->slices ? slices : 1;
}

struct schedule_request request_random(struct random *rng, int ranks_max, int micro_batches_max)
{
    struct schedule_request r = {.barrier = random_chance(rng, 50)};
    int kind = (int)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1);
    int ranks = (int)random_between(rng, 1, ranks_max), stages = (int)random_between(rng, 1, 4),
        slices = (int)random_between(rng, 1, 4);
    request_shape(&r, kind, ranks, stages, slices);
    r.micro_batches = (int)random_between(rng, 1, micro_batches_max);
    r.local_loss_every = random_chance(rng, 70) ? 0 : (int)random_between(rng, 1, 3);
    struct random own = *rng;
    r.stored_inputs = r.local_loss_every && kind <= SCHEDULE_1F1B && random_chance(&own, 50);
    r.sync_overlapped = random_chance(rng, 50);
    for (int i = 0; i < PART_COUNT; i++) r.parts[i] = random_chance(rng, 60);
    r.epilogue = random_chance(rng, 50);
    r.sync = random_chance(rng, 50);
    r.optimizer = random_chance(rng, 50);
    r.embedding_sync = r.stage_count > 1 && random_chance(rng, 40);
    return r;
}
