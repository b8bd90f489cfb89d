// ZB-V (2401.10241): two stages per rank, folded: rank r holds stage r of the way down and stage
// 2p-1-r of the way up, and backward is split. Written for passes of equal length: the rank fills
// with 2(p-r)-1 forwards of the way down, alternates up and down r times, then turns around p-r
// times on the way up. In the steady state, each way in turn does a forward and a backward with its
// weight gradient; at the end, the weight gradients wait. No rank holds more than 2p halves.
#include "data/schedule/builder.h"

enum { DOWN, UP };

struct counts {
    int forward[2], backward[2], weight[2];
};

static void put_forward(struct turn_list *list, struct counts *n, int way)
{
    turn_put(list, PASS_FORWARD, n->forward[way]++, way, 0);
}

static void put_backward(struct turn_list *list, struct counts *n, int way)
{
    turn_put(list, PASS_BACKWARD, n->backward[way]++, way, 0);
}

static void put_weight(struct turn_list *list, struct counts *n, int way)
{
    turn_put(list, PASS_WEIGHT, n->weight[way]++, way, 0);
}

static void put_whole_backward(struct turn_list *list, struct counts *n, int way)
{
    put_backward(list, n, way);
    put_weight(list, n, way);
}

void zb_v_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    int p = request->rank_count,
        m = request->micro_batches > 2 * p - 1 ? request->micro_batches : 2 * p - 1;
    struct counts n = {{0}, {0}, {0}};
    for (int i = 0; i < 2 * (p - rank) - 1; i++) put_forward(list, &n, DOWN);
    for (int i = 0; i < rank; i++) {
        put_forward(list, &n, UP);
        put_forward(list, &n, DOWN);
    }
    for (int i = 0; i < p - rank; i++) {
        put_forward(list, &n, UP);
        put_whole_backward(list, &n, UP);
    }
    while (n.forward[UP] < m) {
        if (n.forward[DOWN] < m) put_forward(list, &n, DOWN);
        put_whole_backward(list, &n, DOWN);
        put_forward(list, &n, UP);
        put_whole_backward(list, &n, UP);
    }
    for (int i = 0; i < rank; i++) {
        put_backward(list, &n, DOWN);
        put_backward(list, &n, UP);
    }
    for (int i = 0; i < p - rank; i++) put_whole_backward(list, &n, DOWN);
    while (n.weight[UP] < m) put_weight(list, &n, UP);
    while (n.weight[DOWN] < m) put_weight(list, &n, DOWN);
}
