// The handcrafted zero-bubble schedules (2401.10241): backward is split, and weight gradients, for
// which nothing waits, fill the bubbles. Rank r does 1F1B with `ahead` forwards first and with its
// weight gradients `behind` micro-batches late. H1: p-r-1 ahead, r behind; no rank holds more than
// p micro-batches. H2: twice both; none holds more than 2p-1. With fewer micro-batches than that,
// the forwards run out first, and from then on weight gradients go with the backwards, in the order
// of the published scheduler.
#include "data/schedule/builder.h"

static void put_split(struct turn_list *list, int micro_batches, int ahead, int behind)
{
    if (ahead > micro_batches) ahead = micro_batches;
    for (int i = 0; i < ahead; i++) turn_put(list, PASS_FORWARD, i, 0, 0);
    for (int i = 0; i < micro_batches; i++) {
        if (ahead + i < micro_batches) turn_put(list, PASS_FORWARD, ahead + i, 0, 0);
        turn_put(list, PASS_BACKWARD, i, 0, 0);
        if (i >= behind) turn_put(list, PASS_WEIGHT, i - behind, 0, 0);
    }
    for (int i = micro_batches - behind; i < micro_batches; i++)
        if (i >= 0) turn_put(list, PASS_WEIGHT, i, 0, 0);
}

void zb_h1_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    put_split(list, request->micro_batches, request->rank_count - rank - 1, rank);
}

void zb_h2_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    int ahead = 2 * (request->rank_count - rank - 1), last = request->micro_batches - 1,
        runs_out = ahead < last ? last - ahead : 0; // the backward after the last forward
    put_split(list, request->micro_batches, ahead, 2 * rank < runs_out ? 2 * rank : runs_out);
}
