// 1F1B (PipeDream-flush, 2104.04473): stage s does min(m, p-s-1) warm-up forwards, then alternates forward and backward,
// then drains. It holds at most min(m, p-s) micro-batches.
#include "data/schedules/turns.h"

void one_f_one_b_turns(struct turn *turns, int stage, int stage_count, int micro_batches)
{
    int behind = stage_count - stage - 1, warm_up = behind < micro_batches ? behind : micro_batches, next = 0;
    for (int i = 0; i < warm_up; i++) turns[next++] = (struct turn){PASS_FORWARD, i};
    for (int i = 0; i < micro_batches; i++) {
        if (warm_up + i < micro_batches) turns[next++] = (struct turn){PASS_FORWARD, warm_up + i};
        turns[next++] = (struct turn){PASS_BACKWARD, i};
    }
}
