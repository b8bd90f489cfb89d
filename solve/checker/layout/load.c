// The loads of docs/FORMULAS.md 17, for the objective max_load: what one micro-batch occupies. A
// rank is occupied by the passes of its stages and, at both ends of a message, by the part that
// blocks and the work on it; the link from a rank to another by the link parts of what goes that
// way. Delays occupy nothing, and syncs, optimizer steps and the drain's way of sending belong to
// an iteration, not to a micro-batch.
#include "solve/checker/layout/plan.h"

struct list {
    struct check_loads *to;
    const struct check_problem *p;
};

static void occupy(struct list *l, int from, int to, int kind, int place, int slice)
{
    int n = l->to->count++;
    l->to->items[n].of = (struct check_load){from, to};
    l->to->items[n].symbol = check_symbol(l->p, kind, place, slice);
}

static void send(struct list *l, int kind, int boundary, int sender, int receiver, int slice)
{
    const int ends[] = {sender, receiver};
    for (int i = 0; i < 2; i++) {
        occupy(l, ends[i], ends[i], kind + PART_BLOCKS, boundary, slice);
        occupy(l, ends[i], ends[i], kind + PART_WORKS, boundary, slice);
    }
    occupy(l, sender, receiver, kind + PART_LINKS, boundary, slice);
}

void check_list_loads(struct check_loads *to, const struct check_problem *p, struct arena *arena)
{
    enum { OF_A_STAGE = 3 + 2 * 5 }; // three passes, and two messages
    struct list l = {to, p};
    *to = (struct check_loads){0};
    to->items = arena_take(arena, (size_t)(OF_A_STAGE * p->stages * p->slices), sizeof *to->items);
    for (int s = 0; s < p->stages; s++) {
        int rank = check_rank_of(p, s), after = s + 1 < p->stages ? check_rank_of(p, s + 1) : rank;
        occupy(&l, rank, rank, KIND_WEIGHT, s, 0);
        for (int i = 0; i < p->slices; i++) {
            occupy(&l, rank, rank, KIND_FORWARD, s, i);
            occupy(&l, rank, rank, KIND_BACKWARD, s, i);
            if (check_sends_forward(p, s)) send(&l, KIND_SEND_FORWARD, s, rank, after, i);
            if (check_sends_backward(p, s)) send(&l, KIND_SEND_BACKWARD, s, after, rank, i);
        }
    }
}

bool check_count_load(const struct check_loads *l, struct check_load of, int symbols, int *counts)
{
    bool any = false;
    for (int i = 0; i < symbols; i++) counts[i] = 0;
    for (int i = 0; i < l->count; i++) {
        if (l->items[i].of.from != of.from || l->items[i].of.to != of.to) continue;
        counts[l->items[i].symbol]++;
        any = true;
    }
    return any;
}
