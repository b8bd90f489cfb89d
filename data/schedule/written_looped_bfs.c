// Looped breadth-first (modular pipeline with layered gradient accumulation, 2211.05953,
// 2106.02679): a rank runs all micro-batches through one of its stages before the next; backward in
// the reverse order of the stages. It holds all micro-batches.
#include "data/schedule/builder.h"

void looped_bfs_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    (void)rank;
    for (int turn = 0; turn < request->virtual_stages; turn++)
        for (int i = 0; i < request->micro_batches; i++) turn_put(list, PASS_FORWARD, i, turn, 0);
    for (int turn = request->virtual_stages - 1; turn >= 0; turn--)
        for (int i = 0; i < request->micro_batches; i++) turn_put(list, PASS_BACKWARD, i, turn, 0);
}
