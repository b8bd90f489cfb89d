// GPipe: all forwards, then all backwards, both in the order of the micro-batches. At its turning
// point, every stage holds the activations of all micro-batches.
#include "data/schedule/builder.h"

void gpipe_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    (void)rank;
    for (int i = 0; i < request->micro_batches; i++) turn_put(list, PASS_FORWARD, i, 0, 0);
    for (int i = 0; i < request->micro_batches; i++) turn_put(list, PASS_BACKWARD, i, 0, 0);
}
