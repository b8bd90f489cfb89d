// See internal.h. Every price is the least over the nodes that the ranks at its ends may still be
// on: a rank's own node if it has one, else any node with a free device group. A ring enters and
// leaves each of its nodes, over links that are no better than the best into it and the best out of
// it.
#include <string.h>

#include "data/base/least.h"
#include "data/inputs/places_use.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"

struct placed_views {
    struct placed *p;
    // Of syncs by themselves and queued, [queued][stage]; by [choice * prices + link], -1: not
    // computed yet; and by [choice] over the best of all rings.
    int64_t **sync[2], **sync_floor[2];
    size_t links, prices; // for one ring on its nodes' cards; for all levels of sharing them
    int *leaving;         // [node] rings that leave it, wherever ranks without nodes go
};

// ---- syncs by link

static int64_t sync_on(struct placed_views *x, bool queued, int stage, int choice, size_t link)
{
    assert(link < x->prices && choice >= 0 && choice < x->p->c->stages[stage].count);
    int64_t *known = &x->sync[queued][stage][(size_t)choice * x->prices + link];
    if (*known < 0) {
        bool joined = x->p->priced->places->ring_constant_ns[0][link] != PRICE_NONE;
        *known = joined ? choice_ring_sync_ns(x->p->c, stage, &x->p->c->stages[stage].items[choice],
                                              link, queued)
                        : CHAIN_NONE;
    }
    return *known;
}

// Over the transport for which it is least.
static int64_t sync_over(struct placed_views *x, bool queued, int stage, int choice, int from,
                         int to)
{
    size_t pair = (size_t)from * (size_t)x->p->nodes + (size_t)to;
    int64_t least = CHAIN_NONE;
    for (; pair < x->links; pair += (size_t)x->p->nodes * (size_t)x->p->nodes)
        least = smaller(least, sync_on(x, queued, stage, choice, pair));
    return least;
}

// usable[group * links + link]: links that a ring of that group may be limited by.
static void open_syncs(struct placed_views *x, bool queued, const bool *usable, struct arena *arena)
{
    const struct placed *p = x->p;
    x->sync[queued] = TAKE(arena, p->stages, int64_t *);
    x->sync_floor[queued] = TAKE(arena, p->stages, int64_t *);
    for (int s = 0; s < p->stages; s++) {
        const struct stage_choices *of = &p->c->stages[s];
        int64_t *floor = TAKE(arena, of->count, int64_t);
        x->sync[queued][s] = TAKE(arena, (size_t)of->count * x->prices, int64_t);
        x->sync_floor[queued][s] = floor;
        memset(x->sync[queued][s], -1, (size_t)of->count * x->prices * sizeof(int64_t));
        for (int i = 0; i < of->count; i++)
            floor[i] = queued ? of->items[i].queued_sync_ns : of->items[i].sync_ns;
        for (int i = 0; i < of->count && p->replicas > 1; i++) {
            const bool *counts = usable + (size_t)of->items[i].group * x->links;
            int64_t least = CHAIN_NONE;
            for (size_t link = 0; link < x->links; link++)
                if (counts[link]) least = smaller(least, sync_on(x, queued, s, i, link));
            if (least < CHAIN_NONE) floor[i] = larger(floor[i], least);
        }
    }
}

struct placed_views *placed_views_open(struct placed *p, struct arena *arena)
{
    struct placed_views *x = TAKE(arena, 1, struct placed_views);
    *x = (struct placed_views){.p = p, .links = priced_ring_links(p->priced->places)};
    x->prices = x->links * (size_t)p->priced->places->ring_level_count;
    x->leaving = TAKE(arena, p->nodes, int);
    bool *usable = TAKE(arena, (size_t)p->priced->group_count * x->links, bool);
    placed_ring_links(usable, p->priced, arena);
    for (int queued = 0; queued <= choices_queue_syncs(p->c); queued++)
        open_syncs(x, queued, usable, arena);
    return x;
}

// ---- one view

struct view_making {
    struct placed_view *v;
    struct placed_views *x;
    const struct placed_part *part;
    int replica;
    struct arena *arena;
};

static int node_of(const struct view_making *m, int replica, int rank)
{
    return m->part->node[replica * m->x->p->ranks + rank];
}

// Whether the rank may be on the node.
static bool may_stand(const struct view_making *m, int replica, int rank, int node)
{
    int placed = node_of(m, replica, rank);
    return placed >= 0 ? placed == node : m->part->left[node] > 0;
}

// Whether two ranks without places can both be there, if both are on the same node.
static bool has_room(const struct view_making *m, int a, int b, int from, int to)
{
    int wanted = (node_of(m, m->replica, a) < 0) + (node_of(m, m->replica, b) < 0);
    return from != to || m->part->left[from] >= wanted;
}

// The least of every part over the pairs of nodes that the ranks a and b may be on, by the groups
// of the two.
static void least_pairs(const struct view_making *m, int a, int b, int64_t *to, const int64_t *from,
                        int slices, int parts)
{
    const struct placed *p = m->x->p;
    const struct priced_places *places = p->priced->places;
    int groups = p->priced->group_count, nodes = p->nodes;
    for (int i = 0; i < slices * groups * groups * parts; i++) to[i] = PRICE_NONE;
    for (int u = 0; u < nodes; u++) {
        if (!may_stand(m, m->replica, a, u)) continue;
        for (int v = 0; v < nodes; v++) {
            if (!may_stand(m, m->replica, b, v) || !has_room(m, a, b, u, v)) continue;
            for (int slice = 0; slice < slices; slice++) {
                const int64_t *price =
                    from +
                    (((size_t)slice * (size_t)nodes + (size_t)u) * (size_t)nodes + (size_t)v) *
                        (size_t)parts;
                int64_t *least = to + ((slice * groups + places->nodes[u].group) * groups +
                                       places->nodes[v].group) *
                                          parts;
                for (int part = 0; part < parts && price[0] != PRICE_NONE; part++)
                    least[part] = least[part] == PRICE_NONE ? price[part]
                                                            : smaller(least[part], price[part]);
            }
        }
    }
}

static struct priced_cut *boundary_cuts(const struct view_making *m, int boundary)
{
    const struct priced *priced = m->x->p->priced;
    int a = choices_rank_of(m->x->p->c, boundary), b = choices_rank_of(m->x->p->c, boundary + 1);
    size_t size = (size_t)(priced->slice_count * priced->group_count * priced->group_count) *
                  PART_COUNT;
    struct priced_cut *cuts = TAKE_COPY(m->arena, priced->cuts, priced->cut_count);
    for (int cut = 0; cut < priced->cut_count; cut++) {
        cuts[cut].forward_ns = TAKE(m->arena, size, int64_t);
        cuts[cut].backward_ns = TAKE(m->arena, priced->boundary_option_count, int64_t *);
        least_pairs(m, a, b, cuts[cut].forward_ns, priced->places->cuts[cut].forward_ns,
                    priced->slice_count, PART_COUNT);
        for (int option = 0; option < priced->boundary_option_count; option++) {
            cuts[cut].backward_ns[option] = TAKE(m->arena, size, int64_t);
            least_pairs(m, a, b, cuts[cut].backward_ns[option],
                        priced->places->cuts[cut].backward_ns[option], priced->slice_count,
                        PART_COUNT);
        }
    }
    return cuts;
}

// The best link into or out of a member of the ring: from the members that have nodes, or from free
// nodes.
static int64_t best_beside(const struct view_making *m, bool queued, int stage, int choice,
                           int member, bool into)
{
    const struct placed *p = m->x->p;
    int rank = choices_rank_of(p->c, stage), node = node_of(m, member, rank);
    int64_t best = CHAIN_NONE;
    bool open = false;
    for (int r = 0; r < p->replicas; r++) {
        int other = node_of(m, r, rank);
        open = open || other < 0;
        if (r != member && other >= 0)
            best = smaller(best, sync_over(m->x, queued, stage, choice, into ? other : node,
                                           into ? node : other));
    }
    for (int other = 0; other < p->nodes && open; other++) {
        if (m->part->left[other] > 0)
            best = smaller(best, sync_over(m->x, queued, stage, choice, into ? other : node,
                                           into ? node : other));
    }
    return best;
}

static int64_t sync_of_whole_ring(const struct view_making *m, bool queued, int stage, int choice)
{
    const struct placed *p = m->x->p;
    int rank = choices_rank_of(p->c, stage), count = p->replicas, all[PLACED_RING_EXACT],
        ring[PLACED_RING_EXACT], nodes[PLACED_RING_EXACT];
    int64_t links[PLACED_RING_EXACT * PLACED_RING_EXACT], bottleneck = 0;
    bool leaves = false;
    for (int a = 0; a < count; a++) {
        nodes[a] = node_of(m, a, rank);
        leaves = leaves || nodes[a] != nodes[0];
    }
    size_t transport = priced_ring_offset(p->priced->places, nodes, count);
    for (int a = 0; a < count; a++) {
        all[a] = a;
        for (int b = 0; b < count; b++) {
            size_t link =
                priced_ring_link(p->priced->places, transport, nodes[a], nodes[b], m->x->leaving);
            links[a * count + b] = a == b ? CHAIN_NONE
                                   : nodes[a] == nodes[b] && leaves
                                       ? 0
                                       : sync_on(m->x, queued, stage, choice, link);
        }
    }
    ring_through(ring, links, count, all, count, m->arena);
    for (int at = 0; at < count; at++)
        bottleneck = larger(bottleneck, links[ring[at] * count + ring[(at + 1) % count]]);
    return bottleneck;
}

// CHAIN_NONE or more: no link connects the ring.
static int64_t least_sync(const struct view_making *m, bool queued, int stage, int choice)
{
    const struct placed *p = m->x->p;
    int rank = choices_rank_of(p->c, stage), group = p->c->stages[stage].items[choice].group,
        members = 0;
    int64_t least = CHAIN_NONE, floor = m->x->sync_floor[queued][stage][choice];
    if (p->replicas == 1) {
        for (int v = 0; v < p->nodes; v++)
            if (may_stand(m, 0, rank, v) && p->priced->places->nodes[v].group == group)
                least = smaller(least, sync_over(m->x, queued, stage, choice, v, v));
        return least;
    }
    for (int r = 0; r < p->replicas; r++) members += node_of(m, r, rank) >= 0;
    if (members == p->replicas && members <= PLACED_RING_EXACT)
        return larger(floor, sync_of_whole_ring(m, queued, stage, choice));
    for (int r = 0; r < p->replicas; r++)
        if (node_of(m, r, rank) >= 0)
            floor = larger(floor, larger(best_beside(m, queued, stage, choice, r, true),
                                         best_beside(m, queued, stage, choice, r, false)));
    return floor;
}

// Whether the replicas that have a node for the stage's rank have an equivalent choice there.
static bool goes_with_others(const struct view_making *m, int stage, int choice)
{
    const struct placed *p = m->x->p;
    int rank = choices_rank_of(p->c, stage), group = p->c->stages[stage].items[choice].group;
    for (int r = 0; r < p->replicas; r++) {
        int node = node_of(m, r, rank);
        if (node < 0) continue;
        int other = p->priced->places->nodes[node].group;
        if (r == m->replica ? other != group : placed_choice_on(p, stage, choice, other) < 0)
            return false;
    }
    return true;
}

static bool make_stage(const struct view_making *m, int stage, bool *const *barred)
{
    const struct placed *p = m->x->p;
    const struct stage_choices *from = &p->c->stages[stage];
    struct stage_choices *to = &m->v->choices.stages[stage];
    to->items = TAKE(m->arena, from->count, struct choice);
    to->count = 0;
    m->v->number[stage] = TAKE(m->arena, from->count, int);
    for (int i = 0; i < from->count; i++) {
        if ((barred && barred[stage][i]) || !goes_with_others(m, stage, i)) continue;
        int64_t sync = least_sync(m, false, stage, i);
        if (sync >= CHAIN_NONE) continue;
        assert(sync >= m->x->sync_floor[false][stage][i] || p->replicas == 1);
        m->v->number[stage][to->count] = i;
        to->items[to->count] = from->items[i];
        if (choices_queue_syncs(p->c))
            to->items[to->count].queued_sync_ns = least_sync(m, true, stage, i);
        to->items[to->count++].sync_ns = sync;
    }
    return to->count > 0;
}

// Device groups that the replica may have: its own, and free ones.
static void make_groups(const struct view_making *m)
{
    const struct placed *p = m->x->p;
    const struct priced *priced = p->priced;
    m->v->priced.groups = TAKE_COPY(m->arena, priced->groups, priced->group_count);
    for (int g = 0; g < priced->group_count; g++) m->v->priced.groups[g].slots = 0;
    for (int i = 0; i < p->nodes; i++) {
        assert(m->part->left[i] >= 0 && m->part->left[i] <= priced->places->nodes[i].slots);
        m->v->priced.groups[priced->places->nodes[i].group].slots += m->part->left[i];
    }
    for (int rank = 0; rank < p->ranks; rank++)
        if (node_of(m, m->replica, rank) >= 0) {
            int g = priced->places->nodes[node_of(m, m->replica, rank)].group;
            m->v->priced.groups[g].slots += priced_seat_slots(priced, g);
        }
}

// For each replica the fused sync takes as long as the whole ring, which has others in it.
static void raise_embeddings(const struct view_making *m)
{
    const struct placed *p = m->x->p;
    int64_t *ns = m->v->priced.embedding_sync_ns,
            least = placed_embedding_floor(p, m->part->node, m->arena);
    for (int i = 0; i < p->priced->group_count * p->priced->group_count; i++)
        if (ns[i] != PRICE_NONE) ns[i] = least >= CHAIN_NONE ? PRICE_NONE : larger(ns[i], least);
}

bool placed_view_make(struct placed_view *v, struct placed_views *views,
                      const struct placed_part *part, int replica, bool *const *barred,
                      struct arena *arena)
{
    const struct placed *p = views->p;
    const struct view_making m = {v, views, part, replica, arena};
    places_leaving_rings(views->leaving, p->nodes, part->node, p->replicas, p->ranks);
    *v = (struct placed_view){.choices = *p->c, .priced = *p->priced};
    v->choices.priced = &v->priced;
    v->choices.arena = arena;
    v->choices.stages = TAKE(arena, p->stages, struct stage_choices);
    v->number = TAKE(arena, p->stages, int *);
    make_groups(&m);
    for (int s = 0; s < p->stages; s++)
        if (!make_stage(&m, s, barred)) return false;
    const struct priced_cut **cuts = TAKE(arena, p->stages, const struct priced_cut *);
    for (int s = 0; s + 1 < p->stages; s++) cuts[s] = boundary_cuts(&m, s);
    v->choices.boundary_cuts = cuts;
    if (p->stages == p->ranks)
        v->choices.joint =
            placed_joint_make(p, &v->choices, part->node + replica * p->ranks, part->left, arena);
    if (p->priced->has_embedding_sync &&
        choices_rank_of(p->c, 0) != choices_rank_of(p->c, p->stages - 1)) {
        v->priced.embedding_sync_ns =
            TAKE(arena, p->priced->group_count * p->priced->group_count, int64_t);
        least_pairs(&m, choices_rank_of(p->c, 0), choices_rank_of(p->c, p->stages - 1),
                    v->priced.embedding_sync_ns, p->priced->places->embedding_sync_ns, 1, 1);
        if (placed_fuses_embeddings(p)) raise_embeddings(&m);
    }
    return true;
}
