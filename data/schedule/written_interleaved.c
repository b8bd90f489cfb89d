// Interleaved 1F1B (2104.04473, as in Megatron-LM): micro-batches in groups of g; a group goes
// through the first of the rank's V stages, then through the next; backward in the reverse order of
// the stages. Rank r does 2(p-r-1) + (V-1)g forwards in advance.
#include "data/schedule/builder.h"

static void put_nth(struct turn_list *list, const struct schedule_request *r, int group,
                    enum pass pass, int n)
{
    int round = group * r->virtual_stages, turn = n % round / group;
    turn_put(list, pass, n / round * group + n % group,
             pass == PASS_FORWARD ? turn : r->virtual_stages - 1 - turn, 0);
}

void interleaved_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    int group = schedule_group(request->micro_batches, request->rank_count),
        groups = (request->micro_batches + group - 1) / group,
        total = groups * group * request->virtual_stages,
        ahead = 2 * (request->rank_count - rank - 1) + (request->virtual_stages - 1) * group;
    if (ahead > total) ahead = total;
    for (int n = 0; n < ahead; n++) put_nth(list, request, group, PASS_FORWARD, n);
    for (int n = 0; n < total; n++) {
        if (ahead + n < total) put_nth(list, request, group, PASS_FORWARD, ahead + n);
        put_nth(list, request, group, PASS_BACKWARD, n);
    }
}
