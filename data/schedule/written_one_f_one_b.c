// 1F1B (PipeDream-flush, 2104.04473): rank r does min(m, p-r-1) warm-up forwards, then alternates
// forward and backward, then drains. It holds at most min(m, p-r) micro-batches. Where nothing is
// sent between segments, p-1 is the last rank of its own. Where the layout lists what is in flight,
// a rank has the forwards of its own number but one instead.
#include "data/schedule/builder.h"

void one_f_one_b_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    int m = request->micro_batches,
        behind = request->in_flight[0] ? request->in_flight[rank] - 1
                                       : schedule_segment_end(request, rank) - rank,
        warm_up = behind < m ? behind : m;
    for (int i = 0; i < warm_up; i++) turn_put(list, PASS_FORWARD, i, 0, 0);
    for (int i = 0; i < m; i++) {
        if (warm_up + i < m) turn_put(list, PASS_FORWARD, warm_up + i, 0, 0);
        turn_put(list, PASS_BACKWARD, i, 0, 0);
    }
}
