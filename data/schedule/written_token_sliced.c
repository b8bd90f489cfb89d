// Token-sliced (TeraPipe, 2102.07988): the slices of a sequence follow each other through the
// pipeline. Causal attention needs the slices before a slice on the way forward, and the gradients
// of those after it on the way back. Micro-batches are ordered as in GPipe.
#include "data/schedule/builder.h"

void token_sliced_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    (void)rank;
    for (int i = 0; i < request->micro_batches; i++)
        for (int slice = 0; slice < request->slice_count; slice++)
            turn_put(list, PASS_FORWARD, i, 0, slice);
    for (int i = 0; i < request->micro_batches; i++)
        for (int slice = request->slice_count - 1; slice >= 0; slice--)
            turn_put(list, PASS_BACKWARD, i, 0, slice);
}
