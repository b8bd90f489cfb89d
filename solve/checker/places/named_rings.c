// Rings of stages that stand on nodes, or may stand on any of their group: see named_tree.h.
#include "data/base/least.h"
#include "solve/checker/layout/choices.h"
#include "solve/checker/places/named_tree.h"

static struct check_ring_link take_link(const struct check_named_tree *t, struct arena *arena)
{
    return (struct check_ring_link){TAKE(arena, 1, int64_t), TAKE(arena, t->p.run_count, int64_t)};
}

// What a link of a seat's ring takes, with so many rings at its ends. false in *joined: nothing
// joins the nodes for it.
static enum status ring_link(const struct check_named_tree *t, int seat, const int nodes[2],
                             const int64_t rings[2], bool *joined, struct check_ring_link *to,
                             const struct reader *r)
{
    const struct check_named_seat *own = &t->x->seats[seat];
    int kind = own->at->kind_of[1u << own->group];
    if (!own->at->link(own->at->context, kind, nodes[0], nodes[1], rings, joined, to))
        return check_refuse(r, "places", "a price beyond what can be counted");
    return OK;
}

// ---- the least of any nodes

static void lower(int64_t *least, int64_t ns)
{
    if (*least < 0 || ns < *least) *least = ns;
}

// A ring on several nodes leaves each of them, alone or with others; one that is on a single node
// takes what that node takes with itself.
enum status named_least_rings(struct check_named_tree *t, const struct reader *r, uint64_t *work)
{
    static const int64_t one[2] = {1, 1};
    struct check_ring_link link = take_link(t, t->arena);
    int pairs = t->node_count * t->node_count;
    for (int seat = 0; seat < t->p.group_count; seat++) {
        int64_t *constant = t->p.groups[seat].sync_constant;
        TRY(check_spend(&t->p, work, (uint64_t)(pairs * (1 + t->p.run_count))));
        *constant = -1;
        for (int run = 0; run < t->p.run_count; run++) t->p.runs[run].sync[0][seat] = -1;
        for (int pair = 0; pair < pairs; pair++) {
            const int nodes[2] = {pair / t->node_count, pair % t->node_count};
            bool joined = named_is_of(t, seat, nodes[0]) && named_is_of(t, seat, nodes[1]) &&
                          (nodes[0] == nodes[1]
                               ? t->nodes[nodes[0]].slots >= named_replicas(t, seat)
                               : named_replicas(t, seat) > 1);
            if (!joined) continue;
            TRY(ring_link(t, seat, nodes, one, &joined, &link, r));
            if (!joined) continue;
            lower(constant, link.constant[0]);
            for (int run = 0; run < t->p.run_count; run++)
                lower(&t->p.runs[run].sync[0][seat], link.layer[run]);
        }
        if (*constant >= 0) continue;
        t->p.groups[seat].excluded = true; // no nodes are joined for its ring
        *constant = 0;
        for (int run = 0; run < t->p.run_count; run++) t->p.runs[run].sync[0][seat] = 0;
    }
    return OK;
}

// ---- of a stage that stands

static bool is_on(const struct check_named_tree *t, const struct check_stand *at, int node)
{
    for (int i = 0; i < named_replicas(t, at->seat); i++)
        if (at->node[i] == node) return true;
    return false;
}

static bool is_elsewhere(const struct check_named_tree *t, const struct check_stand *at, int node)
{
    for (int i = 0; i < named_replicas(t, at->seat); i++)
        if (at->node[i] != node) return true;
    return false;
}

// Of the stages that stand; those that do not can only add to it.
static int64_t rings_that_leave(const struct check_named_tree *t,
                                const struct check_named_part *part, int node)
{
    int64_t count = 0;
    for (int s = 0; s < part->stands; s++)
        count += is_on(t, &part->at[s], node) && is_elsewhere(t, &part->at[s], node);
    return count;
}

// Each term takes as long as over the slowest link of the ring for it; steps within a node count
// where the ring never leaves it.
enum status named_put_ring(struct check_problem *to, const struct check_named_tree *t,
                           const struct check_named_part *part, int stage, const struct reader *r,
                           struct arena *arena)
{
    const struct check_stand *at = &part->at[stage];
    struct check_ring_link link = take_link(t, arena);
    int count = named_replicas(t, at->seat);
    bool leaves = is_elsewhere(t, at, at->node[0]);
    struct check_group *own = &to->groups[stage];
    *own->sync_constant = 0;
    for (int run = 0; run < to->run_count; run++) to->runs[run].sync[0][stage] = 0;
    for (int i = 0; i < count; i++) {
        const int nodes[2] = {at->node[i], at->node[i + 1 < count ? i + 1 : 0]};
        const int64_t rings[2] = {rings_that_leave(t, part, nodes[0]),
                                  rings_that_leave(t, part, nodes[1])};
        bool joined;
        if (leaves && nodes[0] == nodes[1]) continue;
        TRY(ring_link(t, at->seat, nodes, rings, &joined, &link, r));
        if (!joined) return own->excluded = true, OK;
        *own->sync_constant = larger(*own->sync_constant, link.constant[0]);
        for (int run = 0; run < to->run_count; run++)
            to->runs[run].sync[0][stage] = larger(to->runs[run].sync[0][stage], link.layer[run]);
    }
    return OK;
}

// ---- nodes that rings do not tell apart

struct likening {
    const struct check_named_tree *t;
    struct check_ring_link one, other;
    const struct reader *r;
};

static enum status same_link(bool *same, struct likening *l, int seat, const int a[2],
                             const int b[2])
{
    bool joined[2];
    for (int64_t k = 0; *same && k < (int64_t)l->t->p.stages * l->t->p.stages; k++) {
        const int64_t rings[2] = {1 + k / l->t->p.stages, 1 + k % l->t->p.stages};
        TRY(ring_link(l->t, seat, a, rings, &joined[0], &l->one, l->r));
        TRY(ring_link(l->t, seat, b, rings, &joined[1], &l->other, l->r));
        *same = joined[0] == joined[1];
        if (!joined[0] || !joined[1]) continue;
        *same = l->one.constant[0] == l->other.constant[0];
        for (int run = 0; run < l->t->p.run_count; run++)
            *same = *same && l->one.layer[run] == l->other.layer[run];
    }
    return OK;
}

enum status named_same_rings(bool *same, const struct check_named_tree *t, int a, int b,
                             const struct reader *r, uint64_t *work, struct arena *arena)
{
    struct likening l = {t, take_link(t, arena), take_link(t, arena), r};
    uint64_t each = (uint64_t)(t->p.stages * t->p.stages * (1 + t->p.run_count));
    TRY(check_spend(&t->p, work, each * (uint64_t)(t->p.group_count * (2 + 2 * t->node_count))));
    for (int seat = 0; *same && seat < t->p.group_count; seat++) {
        if (!named_is_of(t, seat, a)) continue;
        TRY(same_link(same, &l, seat, (int[2]){a, b}, (int[2]){b, a}));
        if (*same) TRY(same_link(same, &l, seat, (int[2]){a, a}, (int[2]){b, b}));
        for (int n = 0; *same && n < t->node_count; n++) {
            if (n == a || n == b || !named_is_of(t, seat, n)) continue;
            TRY(same_link(same, &l, seat, (int[2]){a, n}, (int[2]){b, n}));
            if (*same) TRY(same_link(same, &l, seat, (int[2]){n, a}, (int[2]){n, b}));
        }
    }
    return OK;
}
