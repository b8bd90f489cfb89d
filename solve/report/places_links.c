// Collects the links of a placed plan, and the best available. A ring is as fast as its slowest
// link. No ring of d device groups is faster than the greatest rate whose links, of at least that
// rate, form a cycle among nodes with d device groups: a strongly connected part of their graph.

#include <stdlib.h>

#include "solve/report/report.h"

const char *const link_use_names[] = {"forward", "backward", "ring", "embedding", NULL};

static bool is_usable(const struct problem *p, int node)
{
    return places_slots(p, node) > 0 &&
           costs_find_gpu(&p->costs, p->cluster.groups[p->cluster.places.nodes[node].group].gpu);
}

// ---- the best links

static struct report_best *best_of(const struct report_links *l, bool ring, int from, int to)
{
    const struct cluster *c = &l->problem.cluster;
    int groups = c->group_count;
    return &l->best[((ring * 2 + (from == to)) * groups + c->places.nodes[from].group) * groups +
                    c->places.nodes[to].group];
}

static void find_best(struct report_links *l)
{
    const struct problem *p = &l->problem;
    for (int ring = 0; ring < 2; ring++)
        for (int from = 0; from < p->cluster.places.node_count; from++)
            for (int to = 0; to < p->cluster.places.node_count; to++) {
                struct place_link link;
                if (!is_usable(p, from) || !is_usable(p, to) ||
                    (from == to && places_slots(p, from) < 2) ||
                    !places_used_link(&link, p, from, to, ring))
                    continue;
                struct report_best *best = best_of(l, ring, from, to);
                if (link.link.bytes_per_s > best->bytes_per_s)
                    *best = (struct report_best){link.link.bytes_per_s, from, to};
            }
}

static int descending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? 1 : *x > *y ? -1 : 0;
}

struct walk {
    const double *rates;
    int count;
    double least;
    bool *seen;
    int *order, *stack, *next, ordered;
};

// Depth-first search from a node along links of at least the rate (backwards: against them);
// records nodes in the order they are left.
static void walk_from(struct walk *w, int start, bool backwards)
{
    int depth = 0;
    w->stack[0] = start;
    w->next[0] = 0;
    w->seen[start] = true;
    while (depth >= 0) {
        int at = w->stack[depth], to = w->next[depth]++;
        if (to == w->count) {
            w->order[w->ordered++] = at;
            depth--;
        } else if (!w->seen[to] &&
                   w->rates[backwards ? to * w->count + at : at * w->count + to] >= w->least) {
            w->seen[to] = true;
            w->stack[++depth] = to;
            w->next[depth] = 0;
        }
    }
}

// Whether links of at least this rate form a cycle among nodes with so many device groups.
static bool goes_round(const double *rates, const int *slots, int count, double least, int wanted,
                       struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct walk out = {rates,
                       count,
                       least,
                       TAKE(arena, count, bool),
                       TAKE(arena, count, int),
                       TAKE(arena, count, int),
                       TAKE(arena, count, int),
                       0};
    struct walk back = out;
    back.seen = TAKE(arena, count, bool);
    back.order = TAKE(arena, count, int);
    bool found = false;
    for (int i = 0; i < count; i++)
        if (!out.seen[i]) walk_from(&out, i, false);
    for (int i = count - 1; i >= 0 && !found; i--) {
        if (back.seen[out.order[i]]) continue;
        int first = back.ordered, room = 0;
        walk_from(&back, out.order[i], true);
        for (int k = first; k < back.ordered; k++) room += slots[back.order[k]];
        bool inside = back.ordered - first == 1 &&
                      rates[out.order[i] * count + out.order[i]] < least; // one node, and too slow
        found = room >= wanted && !inside;
    }
    arena_reset(arena, mark);
    return found;
}

// Rates of rings; 0 where there is no link between two nodes or it cannot be used. The diagonal is
// inside a node.
static double best_ring(const struct problem *p, int replicas, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int count = p->cluster.places.node_count, *slots = TAKE(arena, count, int),
        pairs = count * count;
    double *rates = TAKE(arena, pairs, double), best = 0;
    for (int from = 0; from < count; from++) {
        slots[from] = is_usable(p, from) ? places_slots(p, from) : 0;
        for (int to = 0; to < count; to++) {
            struct place_link link;
            if (is_usable(p, from) && is_usable(p, to) &&
                places_used_link(&link, p, from, to, true))
                rates[from * count + to] = link.link.bytes_per_s;
        }
    }
    double *sorted = TAKE_COPY(arena, rates, pairs);
    qsort(sorted, (size_t)pairs, sizeof *sorted, descending);
    int low = -1, high = pairs - 1; // sorted[low] is too fast for any ring
    if (goes_round(rates, slots, count, sorted[high], replicas, arena)) {
        while (high - low > 1) {
            int middle = low + (high - low) / 2;
            if (goes_round(rates, slots, count, sorted[middle], replicas, arena)) high = middle;
            else low = middle;
        }
        best = sorted[high];
    }
    arena_reset(arena, mark);
    return best;
}

// ---- what is on the critical path

// For the slowest replica: by boundary forward and backward, by stage its sync, and the
// embedding's at stage 0.
static void find_critical(int64_t *critical, const struct plan *plan, struct arena *arena)
{
    struct report_replay r;
    struct error unread = {OK, ""};
    if (report_replay(&r, plan, arena, &unread) != OK) return;
    for (int i = 0; i < r.path_length; i++) {
        int kind = symbol_base_kind(report_kind_of(&r, r.path[i])),
            stage = report_place_of(&r, r.path[i]);
        enum link_use use;
        if (kind >= SYMBOL_SEND_FORWARD && kind < SYMBOL_SEND_BACKWARD) use = USE_FORWARD;
        else if (kind >= SYMBOL_SEND_BACKWARD && kind < SYMBOL_EMBEDDING_SYNC) use = USE_BACKWARD;
        else if (kind == SYMBOL_SYNC || kind == SYMBOL_QUEUED_SYNC) use = USE_RING;
        else if (kind == SYMBOL_EMBEDDING_SYNC) use = USE_EMBEDDING;
        else continue;
        critical[(int)use * plan->stage_count + stage] += report_duration_of(&r, r.path[i]);
    }
}

// ---- the links in use

struct finding {
    struct report_links *l;
    const int64_t *critical;
    int transport;
    struct arena *arena;
    struct error *err;
}; // transport: of the current ring

static bool ring_link(const struct report_links *l, struct report_link *link, int transport)
{
    const int rings[2] = {l->leaving[link->from], l->leaving[link->to]};
    return places_ring_link(&link->link, &l->problem, link->from, link->to, rings, transport);
}

static struct report_link link_between(const struct report_links *l, enum link_use use, int stage,
                                       int replica, int to_replica, int from_rank, int to_rank)
{
    int ranks = l->plan->placement->rank_count, from = l->node[replica * ranks + from_rank],
        to = l->node[to_replica * ranks + to_rank];
    return (struct report_link){.use = use,
                                .stage = stage,
                                .replica = replica,
                                .to_replica = to_replica,
                                .ns = -1,
                                .from = from,
                                .to = to,
                                .best = best_of(l, use == USE_RING, from, to)};
}

static enum status add_link(struct finding *f, enum link_use use, int stage, int replica,
                            int to_replica, int from_rank, int to_rank)
{
    struct report_links *l = f->l;
    const struct plan_placement *x = l->plan->placement;
    struct report_link *link = &l->items[l->count];
    bool ring = use == USE_RING, shown = ring || replica == x->slowest;
    *link = link_between(l, use, stage, replica, to_replica, from_rank, to_rank);
    if (shown) link->critical_ns = f->critical[(int)use * l->plan->stage_count + stage];
    if (use == USE_FORWARD) link->ns = x->send_forward_ns[replica * l->plan->stage_count + stage];
    if (use == USE_BACKWARD) link->ns = x->send_backward_ns[replica * l->plan->stage_count + stage];
    if (use == USE_EMBEDDING && replica == x->slowest) link->ns = l->plan->embedding_sync_ns;
    bool joined = ring ? ring_link(l, link, f->transport)
                       : places_used_link(&link->link, &l->problem, link->from, link->to, false);
    if (!joined)
        return refuse(f->err, "%s: placement: no link connects node '%s' to node '%s'",
                      l->plan->document.path, l->problem.cluster.places.nodes[link->from].name,
                      l->problem.cluster.places.nodes[link->to].name);
    l->count++;
    return OK;
}

static enum status add_transfers(struct finding *f, const struct schedule_request *q,
                                 enum link_use use)
{
    const struct plan *plan = f->l->plan;
    for (int stage = 0; stage + 1 < plan->stage_count; stage++) {
        int ranks[2] = {schedule_rank_of(q, stage), schedule_rank_of(q, stage + 1)},
            back = use == USE_BACKWARD;
        if (schedule_is_inner(q, stage) || (back && schedule_is_local(q, stage))) continue;
        for (int replica = 0; replica < plan->placement->replica_count; replica++)
            TRY(add_link(f, use, stage, replica, replica, ranks[back], ranks[!back]));
    }
    return OK;
}

// Whether the link's ring also has other nodes than the one from which it sends.
static bool leaves(const struct report_links *l, const struct report_link *x)
{
    const struct plan_placement *at = l->plan->placement;
    struct schedule_request request = plan_request(l->plan);
    bool embedding = x->use == USE_EMBEDDING;
    int rank = embedding ? 0 : schedule_rank_of(&request, x->stage),
        other = embedding ? at->rank_count - 1 : rank;
    for (int replica = 0; replica < at->replica_count; replica++)
        if (l->node[replica * at->rank_count + rank] != x->from ||
            l->node[replica * at->rank_count + other] != x->from)
            return true;
    return false;
}

static double embedding_bytes(const struct report_links *l)
{
    const struct shape *s = &l->problem.model.shape;
    double width = (double)(s->embedding_width ? s->embedding_width : s->hidden);
    return (double)l->problem.job.gradient_bytes_per_value * (double)s->vocabulary * width /
           l->plan->layout.tensor;
}

// The time of a ring whose links are all like this one, counting only the terms of latency and
// bandwidth: of a stage's sync, or of the fused embedding sync, which first and last stage share.
// A link within a node that the ring leaves does not count.
static double ring_s(const struct report_links *l, const struct report_link *x)
{
    const struct layout *layout = &l->plan->layout;
    bool embedding = x->use == USE_EMBEDDING;
    double ranks = (embedding ? 2.0 : 1.0) * layout->data * layout->context,
           bytes = embedding ? embedding_bytes(l)
                             : (double)l->plan->stages[x->stage].memory.gradient_bytes;
    if (x->from == x->to && leaves(l, x)) return 0;
    return 2 * (ranks - 1) * (x->link.link.latency_s + bytes / ranks / x->link.link.bytes_per_s);
}

// Only the slowest of a ring's links, those from `first` on, has the time of its sync.
static void mark_bottleneck(const struct finding *f, int first, int64_t sync_ns)
{
    struct report_link *begin = f->l->items + first, *end = f->l->items + f->l->count,
                       *bottleneck = begin;
    for (struct report_link *x = begin; x < end; x++)
        if (ring_s(f->l, x) > ring_s(f->l, bottleneck)) bottleneck = x;
    for (struct report_link *x = begin; x < end; x++) x->ns = -1, x->critical_ns = 0;
    bottleneck->bottleneck = true;
    bottleneck->ns = sync_ns;
    bottleneck->critical_ns =
        f->critical[(int)bottleneck->use * f->l->plan->stage_count + bottleneck->stage];
}

// A ring uses what all its nodes have in common.
static int ring_transport(const struct report_links *l, int rank, struct arena *arena)
{
    const struct plan_placement *x = l->plan->placement;
    int *nodes = TAKE(arena, x->replica_count, int);
    for (int replica = 0; replica < x->replica_count; replica++)
        nodes[replica] = l->node[replica * x->rank_count + rank];
    return places_transport(&l->problem, nodes, x->replica_count);
}

static enum status add_rings(struct finding *f, const struct schedule_request *q)
{
    const struct report_links *l = f->l;
    const struct plan_placement *x = l->plan->placement;
    for (int stage = 0; stage < l->plan->stage_count && x->replica_count > 1; stage++) {
        const int *ring = x->rings + stage * x->replica_count;
        int rank = schedule_rank_of(q, stage), first = l->count;
        f->transport = ring_transport(l, rank, f->arena);
        for (int at = 0; at < x->replica_count; at++)
            TRY(add_link(f, USE_RING, stage, ring[at], ring[(at + 1) % x->replica_count], rank,
                         rank));
        mark_bottleneck(f, first, l->plan->stages[stage].sync_ns);
    }
    return OK;
}

static enum status add_embedding_ring(struct finding *f, int last)
{
    const struct plan_placement *x = f->l->plan->placement;
    int count = 2 * x->replica_count, first = f->l->count;
    for (int at = 0; at < count; at++) {
        int from = x->embedding_ring[at], to = x->embedding_ring[(at + 1) % count];
        TRY(add_link(f, USE_EMBEDDING, 0, from % x->replica_count, to % x->replica_count,
                     from < x->replica_count ? 0 : last, to < x->replica_count ? 0 : last));
    }
    mark_bottleneck(f, first, f->l->plan->embedding_sync_ns);
    return OK;
}

static enum status add_embeddings(struct finding *f, const struct schedule_request *q)
{
    const struct plan *plan = f->l->plan;
    int last = schedule_rank_of(q, plan->stage_count - 1);
    if (plan->placement->embedding_ring) return add_embedding_ring(f, last);
    for (int replica = 0;
         replica < plan->placement->replica_count && plan->embedding_sync_ns && last; replica++) {
        TRY(add_link(f, USE_EMBEDDING, 0, replica, replica, 0, last));
        TRY(add_link(f, USE_EMBEDDING, 0, replica, replica, last, 0));
    }
    return OK;
}

enum status report_links_find(struct report_links *l, const struct plan *plan,
                              const struct problem *problem, struct arena *arena, struct error *err)
{
    const struct plan_placement *x = plan->placement;
    int groups = problem->cluster.group_count, ranks = x->replica_count * x->rank_count;
    struct schedule_request request = plan_request(plan);
    *l = (struct report_links){.problem = problem_with_layout(problem, &plan->layout),
                               .plan = plan,
                               .node = TAKE(arena, ranks, int),
                               .leaving = TAKE(arena, problem->cluster.places.node_count, int)};
    for (int i = 0; i < ranks; i++) {
        l->node[i] = places_find(&problem->cluster.places, x->nodes[i]);
        if (l->node[i] < 0)
            return refuse(err, "%s: placement: node '%s' is not in the cluster %s",
                          plan->document.path, x->nodes[i], problem->cluster.document.path);
    }
    places_leaving_rings(l->leaving, problem->cluster.places.node_count, l->node, x->replica_count,
                         x->rank_count);
    l->best = TAKE(arena, 4 * groups * groups, struct report_best);
    find_best(l);
    if (x->replica_count > 1)
        l->best_ring_bytes_per_s = best_ring(&l->problem, x->replica_count, arena);
    int64_t *critical = TAKE(arena, LINK_USE_COUNT * plan->stage_count, int64_t);
    find_critical(critical, plan, arena);
    l->items = TAKE(arena, (3 * plan->stage_count + 2) * x->replica_count, struct report_link);
    struct finding f = {l, critical, TRANSPORT_OWN, arena, err};
    TRY(add_transfers(&f, &request, USE_FORWARD));
    TRY(add_transfers(&f, &request, USE_BACKWARD));
    TRY(add_rings(&f, &request));
    return add_embeddings(&f, &request);
}

// ---- queries

const struct report_link *report_bottleneck(const struct report_links *l, int stage)
{
    for (int i = 0; i < l->count; i++)
        if (l->items[i].use == USE_RING && l->items[i].stage == stage && l->items[i].bottleneck)
            return &l->items[i];
    return NULL;
}

bool report_bottleneck_in_order(const struct report_links *l, int stage, const int *replicas,
                                struct report_link *bottleneck, struct arena *arena)
{
    const struct plan_placement *x = l->plan->placement;
    struct schedule_request request = plan_request(l->plan);
    int rank = schedule_rank_of(&request, stage), transport = ring_transport(l, rank, arena);
    for (int at = 0; at < x->replica_count; at++) {
        struct report_link link = link_between(l, USE_RING, stage, replicas[at],
                                               replicas[(at + 1) % x->replica_count], rank, rank);
        if (!ring_link(l, &link, transport)) return false;
        if (!at || ring_s(l, &link) > ring_s(l, bottleneck)) *bottleneck = link;
    }
    return true;
}

double report_ring_excess(const struct report_links *l, const struct report_link *bottleneck)
{
    double own = ring_s(l, report_bottleneck(l, bottleneck->stage)), other = ring_s(l, bottleneck);
    return own > 0 && other > own ? other / own : 1;
}

static int by_time(const void *a, const void *b)
{
    const struct report_link *x = *(const struct report_link *const *)a,
                             *y = *(const struct report_link *const *)b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->link.link.bytes_per_s < y->link.link.bytes_per_s) return -1;
    if (x->link.link.bytes_per_s > y->link.link.bytes_per_s) return 1;
    return x < y ? -1 : x > y;
}

int report_links_sorted(const struct report_links *l, enum link_use first, enum link_use last,
                        const struct report_link **sorted)
{
    int count = 0;
    for (int i = 0; i < l->count; i++)
        if (l->items[i].use >= first && l->items[i].use <= last) sorted[count++] = &l->items[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_time);
    return count;
}
