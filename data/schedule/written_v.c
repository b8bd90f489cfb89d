// V-Half and V-Min (2405.15362): two stages per rank, folded, with backward split as in ZB-V, but
// less memory. The passes of one micro-batch are placed into slots of equal length as a *block*.
// The block repeats every six slots, each time for the next micro-batch, and a rank runs its passes
// in the order of their slots. Slots in which nothing has to wait are removed by running each pass
// as early as possible.
//   From rank to rank, the block takes `step` slots on the way down and one on the way up; in
// backward, `step` along the way up and one along the way down. The shorter the block, the less is
// held: steps of one hold (p+4)/3 micro-batches of the rank's layers, steps of two hold (p+2)/2. A
// gap before backward keeps the ways from meeting in a slot.

#include "data/schedule/builder.h"

enum { DOWN, UP, WAYS, PERIOD = 6 };

struct block {
    int slot[PASS_COUNT][WAYS]; // of micro-batch 0
};

static int free_slot(const bool taken[PERIOD], int from)
{
    while (taken[from % PERIOD]) from++;
    return from;
}

// Forward and backward leave two of six slots free. Each weight gradient takes the first free slot
// after its backward; if both want the same one, it goes to the one whose backward is earlier.
static void put_weights(struct block *b)
{
    bool taken[PERIOD] = {false};
    int *back = b->slot[PASS_BACKWARD], *weight = b->slot[PASS_WEIGHT];
    for (int way = 0; way < WAYS; way++)
        taken[b->slot[PASS_FORWARD][way] % PERIOD] = taken[back[way] % PERIOD] = true;
    for (int way = 0; way < WAYS; way++) weight[way] = free_slot(taken, back[way] + 1);
    if ((weight[DOWN] - weight[UP]) % PERIOD) return;
    int nearer = weight[DOWN] - back[DOWN] < weight[UP] - back[UP] ? DOWN : UP;
    taken[weight[nearer] % PERIOD] = true;
    weight[nearer] = free_slot(taken, weight[nearer]);
}

static struct block block_of(int ranks, int rank, int step, int gap)
{
    int last = ranks - 1, to_last = last - rank;
    int turn = step * last + 1, loss = turn + last + 1 + gap, fold = loss + step * last + step;
    struct block b = {{{step * rank, turn + to_last}, {fold + to_last, loss + step * rank}}};
    put_weights(&b);
    return b;
}

static void put_blocks(struct turn_list *list, const struct block *b)
{
    for (int slot = 0; list->count < list->capacity; slot++)
        for (int pass = 0; pass < PASS_COUNT; pass++)
            for (int way = 0; way < WAYS; way++) {
                int since = slot - b->slot[pass][way];
                if (since >= 0 && since % PERIOD == 0)
                    turn_put(list, (enum pass)pass, since / PERIOD, way, 0);
            }
}

void v_half_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    int p = request->rank_count;
    struct block b = block_of(p, rank, 2, p % 2 ? 0 : 3);
    put_blocks(list, &b);
}

void v_min_turns(struct turn_list *list, const struct schedule_request *request, int rank)
{
    int p = request->rank_count;
    struct block b = block_of(p, rank, 1, p % 3 ? 0 : 2);
    put_blocks(list, &b);
}
