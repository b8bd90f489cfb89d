// GPipe: all forwards, then all backwards, both in the order of the micro-batches. Every stage holds the activations of
// all micro-batches at its turning point.
#include "data/schedules/turns.h"

void gpipe_turns(struct turn *turns, int stage, int stage_count, int micro_batches)
{
    (void)stage, (void)stage_count;
    for (int i = 0; i < micro_batches; i++) {
        turns[i] = (struct turn){PASS_FORWARD, i};
        turns[micro_batches + i] = (struct turn){PASS_BACKWARD, i};
    }
}
