// Interleaved 1F1B (2104.04473, as in Megatron-LM): micro-batches in groups of p; a group goes
// through the first of the rank's V stages, then through the next; backward in the reverse order of
// the stages. Rank r does 2(p-r-1) + (V-1)p forwards in advance. A last group that is not full is
// written as if it were.
#include "data/schedule/schedule.h"
#include "data/schedule/written.h"

static void put_nth(struct turn_list *list, const struct schedule_request *r, enum pass pass, int n)
{
    int p = r->rank_count, round = p * r->virtual_stages, turn = n % round / p;
    turn_put(list, pass, n / round * p + n % p,
             pass == PASS_FORWARD ? turn : r->virtual_stages - 1 - turn, 0);
}

void interleaved_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    int p = request->rank_count, groups = (request->micro_batches + p - 1) / p,
        total = groups * p * request->virtual_stages,
        ahead = 2 * (p - rank - 1) + (request->virtual_stages - 1) * p;
    if (ahead > total) ahead = total;
    for (int n = 0; n < ahead; n++) put_nth(list, request, PASS_FORWARD, n);
    for (int n = 0; n < total; n++) {
        if (ahead + n < total) put_nth(list, request, PASS_FORWARD, ahead + n);
        put_nth(list, request, PASS_BACKWARD, n);
    }
}
