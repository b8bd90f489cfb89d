// Rings that share a node, where no replica crosses from one group to another (docs/PROOFS.md 11,
// by reaches). Then a group that has n of the replicas has n device groups of every rank. A rank
// that is alone on its nodes leaves the others' device groups on the rest of the group's nodes.
#include "solve/checker/places/relaxing.h"

enum { REPLICAS_MOST = 1 << 14 };

static int64_t group_room(const struct relaxing *m, int group)
{
    int64_t room = 0;
    for (int i = 0; i < m->x->node_count; i++)
        if (m->x->nodes[i].group == group && relaxing_is_usable(m, i)) room += m->x->nodes[i].slots;
    return room;
}

// filled[s]: some of the group's nodes have s device groups together.
static void fill_nodes(const struct relaxing *m, int group, int64_t room, bool *filled)
{
    filled[0] = true;
    for (int i = 0; i < m->x->node_count; i++) {
        int own = m->x->nodes[i].slots;
        if (m->x->nodes[i].group != group || !relaxing_is_usable(m, i)) continue;
        for (int64_t s = room; s >= own; s--) filled[s] = filled[s] || filled[s - own];
    }
}

// The most device groups that nodes have whose rest has room for `rest`; -1: all nodes have less.
static int64_t most_beside(const bool *filled, int64_t room, int64_t rest)
{
    int64_t most = room - rest;
    while (most >= 0 && !filled[most]) most--;
    return most;
}

enum status check_crowds(bool *crowds, const struct relaxing *m, unsigned reach)
{
    int d = m->x->replicas;
    *crowds = false;
    if (d > REPLICAS_MOST) return OK;
    struct arena_mark mark = arena_set_mark(m->arena);
    bool *sums = TAKE(m->arena, d + 1, bool); // of replicas in the groups so far, some rank alone
    sums[0] = true;
    for (int g = 0; g < m->p->group_count; g++) {
        int64_t room = group_room(m, g);
        if (!(reach >> g & 1)) continue;
        TRY(check_spend(m->to, m->work,
                        (uint64_t)(room + 1) * (uint64_t)(m->x->node_count + d) +
                            (uint64_t)d * (uint64_t)d));
        bool *filled = TAKE(m->arena, room + 1, bool), *next = TAKE(m->arena, d + 1, bool);
        fill_nodes(m, g, room, filled);
        for (int n = 1; n <= d; n++) {
            if (most_beside(filled, room, (int64_t)(m->p->ranks - 1) * n) < n) continue;
            for (int before = 0; before + n <= d; before++)
                if (sums[before]) next[before + n] = true;
        }
        sums = next;
    }
    *crowds = !sums[d];
    arena_reset(m->arena, mark);
    return OK;
}

enum status check_lower_crowded(struct relaxing *m, int kind, int first, int end)
{
    static const int64_t rings[][2] = {{1, 2}, {2, 1}};
    const struct check_places *x = m->x;
    for (int pair = 0; pair < 2 * x->node_count * x->node_count; pair++) {
        bool joined = false;
        if (m->weights[pair / 2] < 0) continue;
        TRY(check_spend(m->to, m->work, (uint64_t)(m->p->gradient_count * (m->p->run_count + 1))));
        if (!x->link(x->context, kind, pair / 2 / x->node_count, pair / 2 % x->node_count,
                     rings[pair % 2], &joined, &m->link))
            return relaxing_refuse_price(m);
        for (int t = first; t < end && joined; t++) check_lower_sync(m, t);
    }
    return OK;
}
