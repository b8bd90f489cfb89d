// Plans whose ranks stand on nodes. Each replica is audited as a plan of its own, on a cluster
// whose node groups are its ranks' device groups. The links of that cluster are what joins the
// nodes, by the judge's own reading of places (docs/FORMULAS.md, section 15). The stages' claims
// are those of the slowest replica; the others are replayed with the judge's prices.
#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "data/places/places.h"
#include "solve/judge/internal.h"

// ---- one replica as a problem and a plan of its own

static const double unlimited = 1e18; // bytes per second

struct replica {
    struct problem problem;
    struct plan plan;
    struct joint *joints;        // [link], first those of each group with itself
    struct summed_by *summed_by; // [group]
    struct ring_links *rings;
    const int *node; // [rank]
};

// A device group is a node group with room for one rank. After those of the ranks come the
// cluster's own groups, in the same form: rings lead to GPUs of other replicas.
static void make_groups(struct replica *r, const struct audit *h)
{
    const struct cluster *c = &h->problem->cluster;
    int ranks = h->request.rank_count, count = ranks + c->group_count;
    struct node_group *groups = TAKE(h->arena, count, struct node_group);
    r->summed_by = TAKE(h->arena, count, struct summed_by);
    for (int i = 0; i < count; i++) {
        groups[i] = c->groups[i < ranks ? c->places.nodes[r->node[i]].group : i - ranks];
        groups[i].nodes = layout_of(&h->price_audit)->data;
        groups[i].gpus_per_node = (int)h->price_audit.collective;
        groups[i].nic_count = 0; // what joins nodes is stated, or they are not joined
        r->summed_by[i] =
            judged_sums(&h->price_audit, i < ranks ? c->places.nodes[r->node[i]].group : i - ranks);
    }
    r->problem.cluster.groups = groups;
    r->problem.cluster.group_count = count;
    r->problem.cluster.places = (struct places){0};
}

// What joins two ranks' nodes; a group's link with itself is set to each link of a ring in turn.
static void make_links(struct replica *r, const struct audit *h)
{
    int ranks = h->request.rank_count, groups = r->problem.cluster.group_count, count = 0;
    struct group_link *links = TAKE(h->arena, ranks * ranks + groups, struct group_link);
    r->joints = TAKE(h->arena, ranks * ranks + groups, struct joint);
    for (; count < groups; count++) {
        links[count] = (struct group_link){.from = count, .to = count};
        r->joints[count] = (struct joint){true, false, true, unlimited, 0, 1};
    }
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++) {
            if (from == to) continue;
            r->joints[count] = judged_node_link(&h->price_audit, r->node[from], r->node[to]);
            links[count] = (struct group_link){.from = from, .to = to};
            count += r->joints[count].joined;
        }
    r->problem.cluster.links = links;
    r->problem.cluster.link_count = count;
}

static int micro_batches_of(const struct audit *h, int replica)
{
    const struct plan_placement *x = h->plan->placement;
    return x->micro_batches ? x->micro_batches[replica] : h->plan->micro_batches;
}

static void make_plan(struct replica *r, const struct audit *h, int replica)
{
    const struct plan_placement *x = h->plan->placement;
    size_t count = (size_t)h->plan->stage_count, slices = (size_t)h->plan->layout.slice_count;
    int ranks = h->request.rank_count;
    r->plan = *h->plan;
    r->plan.placement = NULL;
    r->plan.micro_batches = micro_batches_of(h, replica);
    r->plan.stages = TAKE_COPY(h->arena, h->plan->stages, count);
    r->plan.group_names = TAKE(h->arena, ranks, const char *);
    r->plan.group_count = ranks;
    for (int rank = 0; rank < ranks; rank++)
        r->plan.group_names[rank] = r->problem.cluster.groups[rank].name;
    for (int s = 0; s < h->plan->stage_count; s++) {
        struct plan_stage *stage = &r->plan.stages[s];
        stage->slices = TAKE_COPY(h->arena, stage->slices, slices);
        stage->group = schedule_rank_of(&h->request, s);
        stage->recompute = (enum recompute)x->recompute[replica * h->plan->stage_count + s];
        stage->recomputed_layers = x->recomputed_layers[replica * h->plan->stage_count + s];
    }
}

// ---- the audit

// Where the job lets replicas take different numbers: each takes at least one, interleaved
// schedules take multiples of the ranks, the sum is the whole batch, and the plan's number is the
// slowest replica's. (Equal numbers are audited with the layout.)
static bool audit_micro_batches(struct audit *h)
{
    const struct job *j = &h->problem->job;
    const struct plan_placement *x = h->plan->placement;
    int64_t sum = 0, wanted = j->global_batch / j->layout.micro_batch;
    int before = h->verdict->violation_count;
    if (x->micro_batches && !j->placement.uneven_micro_batches)
        REJECT(h, "micro_batches", -1,
               "replicas have different micro-batch counts, which the job does not permit");
    for (int i = 0; i < x->replica_count && j->placement.uneven_micro_batches; i++) {
        int each = micro_batches_of(h, i);
        sum += each;
        if (each < 1)
            REJECT(h, "micro_batches", -1, "replica %d has %d micro-batches, expected 1 or more", i,
                   each);
        if (judged_kinds[j->layout.schedule].in_groups && each % j->layout.pipeline)
            REJECT(h, "micro_batches", -1,
                   "replica %d has %d micro-batches, %s expects a multiple of pipeline %d", i, each,
                   schedule_names[j->layout.schedule], j->layout.pipeline);
    }
    if (j->placement.uneven_micro_batches && sum != wanted)
        REJECT(h, "micro_batches", -1,
               "the replicas have %lld micro-batches together, the job has %lld", (long long)sum,
               (long long)wanted);
    if (micro_batches_of(h, x->slowest) != h->plan->micro_batches)
        REJECT(h, "micro_batches", -1, "the plan has %d micro-batches, its slowest replica %d",
               h->plan->micro_batches, micro_batches_of(h, x->slowest));
    return h->verdict->violation_count == before;
}

// What the plan states about its stages is the slowest replica's.
static void audit_slowest(struct audit *h, const int *node)
{
    const struct plan_placement *x = h->plan->placement;
    for (int s = 0; s < h->plan->stage_count; s++) {
        const struct plan_stage *stage = &h->plan->stages[s];
        int at = x->slowest * h->plan->stage_count + s,
            group = h->problem->cluster.places
                        .nodes[node[x->slowest * x->rank_count + schedule_rank_of(&h->request, s)]]
                        .group;
        bool known = stage->group >= 0 && stage->group < h->plan->group_count;
        if (!known || h->group[stage->group] != group)
            REJECT(h, "placement", s,
                   "the slowest replica's node is of group '%s', the plan says '%s'",
                   h->problem->cluster.groups[group].name,
                   known ? h->plan->group_names[stage->group] : "none");
        if ((int)stage->recompute != x->recompute[at] ||
            stage->recomputed_layers != x->recomputed_layers[at])
            REJECT(h, "recompute", s,
                   "recompute and recomputed_layers are not those of the slowest replica");
    }
}

// Every name is that of a node, and no node holds more ranks than it has device groups.
static bool audit_nodes(struct audit *h, int *node)
{
    const struct plan_placement *x = h->plan->placement;
    const struct places *p = &h->problem->cluster.places;
    int *used = TAKE(h->arena, p->node_count, int), before = h->verdict->violation_count;
    for (int i = 0; i < x->replica_count * x->rank_count; i++) {
        node[i] = places_find(p, x->nodes[i]);
        if (node[i] < 0)
            REJECT(h, "placement", -1, "nodes: '%s' is not in the cluster", x->nodes[i]);
        else used[node[i]]++;
    }
    for (int i = 0; i < p->node_count; i++)
        if (used[i] > judged_slots_on(&h->price_audit, p->nodes[i].group))
            REJECT(h, "placement", -1, "%d ranks on node '%s', it has room for %lld", used[i],
                   p->nodes[i].name,
                   (long long)judged_slots_on(&h->price_audit, p->nodes[i].group));
    return h->verdict->violation_count == before;
}

// If the job requires it, all nodes of a ring have the same kinds of card.
static void audit_kinds(struct audit *h, int stage, int from, int to)
{
    const struct cluster_node *a = &h->problem->cluster.places.nodes[from],
                              *b = &h->problem->cluster.places.nodes[to];
    if (!judged_may_ring(&h->price_audit, a->group, b->group))
        REJECT(h, "homogeneous", stage,
               "the ring goes from node '%s' to node '%s', which has other kinds of network card",
               a->name, b->name);
}

// Whether the rank's replicas also stand on other nodes.
static bool goes_on(const struct plan_placement *x, const int *node, int rank, int here)
{
    for (int i = 0; i < x->replica_count; i++)
        if (node[i * x->rank_count + rank] != here) return true;
    return false;
}

// Ranks with one replica on the node and others elsewhere.
static int64_t rings_leaving(const struct plan_placement *x, const int *node, int here)
{
    int64_t rings = 0;
    for (int rank = 0; rank < x->rank_count; rank++) {
        bool there = false;
        for (int i = 0; i < x->replica_count; i++)
            there = there || node[i * x->rank_count + rank] == here;
        rings += there && goes_on(x, node, rank, here);
    }
    return rings;
}

// The link from one place of the ring to the next; false: there is none, within a node that the
// ring leaves.
static bool audit_ring_link(struct audit *h, int stage, const int *node, const int64_t *leaving,
                            int from, int to, int kind, struct ring_link *link)
{
    const struct plan_placement *x = h->plan->placement;
    const struct cluster_node *nodes = h->problem->cluster.places.nodes;
    if (from == to && goes_on(x, node, schedule_rank_of(&h->request, stage), from)) return false;
    const int64_t rings[2] = {leaving[from], leaving[to]};
    link->ends[0] = x->rank_count + nodes[from].group;
    link->ends[1] = x->rank_count + nodes[to].group;
    audit_kinds(h, stage, from, to);
    link->joint = judged_ring_part(&h->price_audit, from, to, rings, kind);
    if (!link->joint.joined)
        REJECT(h, "joined", stage,
               "the ring goes from node '%s' to node '%s', which no link connects",
               nodes[from].name, nodes[to].name);
    return true;
}

static bool audit_rings(struct audit *h, const int *node, struct ring_links *rings)
{
    const struct plan_placement *x = h->plan->placement;
    int before = h->verdict->violation_count, *members = TAKE(h->arena, x->replica_count, int),
        nodes = h->problem->cluster.places.node_count;
    int64_t *leaving = TAKE(h->arena, nodes, int64_t);
    for (int i = 0; i < nodes; i++) leaving[i] = rings_leaving(x, node, i);
    for (int s = 0; s < h->plan->stage_count; s++) {
        const int *ring = x->rings + s * x->replica_count;
        int rank = schedule_rank_of(&h->request, s);
        struct ring_link *links = TAKE(h->arena, x->replica_count, struct ring_link);
        rings[s] = (struct ring_links){links, 0};
        for (int at = 0; at < x->replica_count; at++) members[at] = node[at * x->rank_count + rank];
        int kind = judged_ring_kind(&h->price_audit, members, x->replica_count);
        for (int at = 0; at < x->replica_count; at++)
            rings[s].count += audit_ring_link(h, s, node, leaving, members[ring[at]],
                                              members[ring[(at + 1) % x->replica_count]], kind,
                                              &links[rings[s].count]);
    }
    return h->verdict->violation_count == before;
}

// The node of one member of the fused embedding sync's ring: first stages' replicas, then last
// stages'.
static int member_node(const struct audit *h, const int *node, int member)
{
    const struct plan_placement *x = h->plan->placement;
    bool first = member < x->replica_count;
    int replica = first ? member : member - x->replica_count,
        stage = first ? 0 : h->plan->stage_count - 1;
    return node[replica * x->rank_count + schedule_rank_of(&h->request, stage)];
}

// The ring visits its places in order and takes as long as its slowest link. Links within a node
// count only if the ring is entirely on that node.
static bool audit_embedding_ring(struct audit *h, const int *node)
{
    const struct plan_placement *x = h->plan->placement;
    const struct cluster_node *nodes = h->problem->cluster.places.nodes;
    bool wanted = h->price_audit.embedding_sync && h->plan->layout.fused_embedding_sync,
         leaves = false;
    int count = 2 * x->replica_count, before = h->verdict->violation_count;
    int64_t most = 0;
    if (wanted != (x->embedding_ring != NULL)) {
        REJECT(
            h, "placement", -1,
            wanted
                ? "the embedding sync is fused, but the plan does not state the order of its ring"
                : "the plan has a ring for a fused embedding sync that does not exist");
        return false;
    }
    for (int i = 1; i < count && wanted; i++)
        leaves = leaves || member_node(h, node, i) != member_node(h, node, 0);
    for (int at = 0; at < count && wanted; at++) {
        int from = member_node(h, node, x->embedding_ring[at]),
            to = member_node(h, node, x->embedding_ring[(at + 1) % count]);
        struct joint way = judged_node_link(&h->price_audit, from, to);
        if (from == to && leaves) continue;
        if (!way.joined) {
            REJECT(h, "joined", -1,
                   "the ring of the embedding sync goes from node '%s' to node '%s', which no link "
                   "connects",
                   nodes[from].name, nodes[to].name);
            continue;
        }
        most = larger(most, embedding_link_price(&h->price_audit, way));
    }
    h->price_audit.embedding_ring = wanted;
    h->price_audit.embedding_ring_ns = most;
    return h->verdict->violation_count == before;
}

// With the schedule for the replica's own number of micro-batches.
static enum status begin_audit(struct audit *x, struct replica *r, const struct audit *h,
                               int *groups, struct error *err)
{
    *x = *h;
    x->problem = &r->problem;
    x->request.micro_batches = r->plan.micro_batches;
    x->judged = judged_problem(&r->problem, &h->plan->layout);
    x->price_audit = price_audit_over(&x->judged, &h->price_audit);
    x->plan = &r->plan;
    x->group = groups;
    x->rings = r->rings;
    x->price_audit.joints = x->joints = r->joints;
    x->price_audit.summed_by = r->summed_by;
    x->price_audit.embedding_ring = h->price_audit.embedding_ring;
    x->price_audit.embedding_ring_ns = h->price_audit.embedding_ring_ns;
    x->sound = TAKE(h->arena, h->plan->stage_count, bool);
    for (int s = 0; s < h->plan->stage_count; s++) x->sound[s] = true;
    x->sync_work_ns = TAKE(h->arena, h->plan->stage_count, int64_t);
    return r->plan.micro_batches == h->schedule.request.micro_batches
               ? OK
               : schedule_build(&x->schedule, &x->request, h->arena, err);
}

// Iteration time at the judge's own prices, which are stored in the replica's plan.
static int64_t play(struct replica *r, const struct audit *replica)
{
    struct verdict unused = {0};
    struct audit x = *replica;
    x.verdict = &unused;
    x.collect = true;
    audit_prices(&x);
    r->plan.embedding_sync_ns = x.embedding_sync_ns;
    return judged_time(&x.schedule, &r->plan, x.arena);
}

// Copies the violations found in one replica to the plan's verdict. Returns their number.
static int pass_on(struct audit *h, int replica, const struct verdict *found)
{
    for (int i = 0; i < found->violation_count; i++)
        REJECT(h, found->violations[i].rule, found->violations[i].stage, "replica %d: %s", replica,
               found->violations[i].text);
    return found->violation_count;
}

// Groups, options, rules, graph, schedule table and memory of a replica about which the plan
// claims nothing else.
static int audit_decision(struct audit *h, const struct audit *own, int replica)
{
    struct verdict found = {0};
    struct audit x = *own;
    x.verdict = &found;
    x.collect = true;
    audit_groups(&x);
    audit_options(&x);
    audit_rules(&x);
    audit_graph(&x);
    if (!found.violation_count) audit_schedule(&found, &x.schedule, &x.request, x.arena);
    if (!found.violation_count) audit_memory(&x);
    return pass_on(h, replica, &found);
}

static int64_t from_end_to_end(const int64_t *parts)
{
    int64_t sum = parts[PART_OVERHEAD];
    for (int part = 0; part < PART_COUNT; part++) sum += parts[part];
    return sum;
}

// The replica's messages as the plan states them, against the judge's prices; the last stage sends
// none.
static void audit_messages(struct audit *h, int replica, const struct plan *own)
{
    const struct plan_placement *x = h->plan->placement;
    for (int s = 0; s < h->plan->stage_count; s++) {
        const int64_t claims[2] = {x->send_forward_ns[replica * h->plan->stage_count + s],
                                   x->send_backward_ns[replica * h->plan->stage_count + s]};
        const int64_t own_ns[2] = {from_end_to_end(own->stages[s].slices->send_forward_ns),
                                   from_end_to_end(own->stages[s].slices->send_backward_ns)};
        for (int way = 0; way < 2; way++) {
            if (claims[way] < 0) continue;
            audit_claim(h, "price", s,
                        arena_print(h->arena, "replica %d: %s", replica,
                                    way ? "send_backward_ns" : "send_forward_ns"),
                        "ns", claims[way], (struct sum){own_ns[way], 1});
        }
    }
}

static void audit_streams_of(struct audit *h, const struct audit *own, struct replica *r,
                             int replica, int64_t ns)
{
    struct verdict found = {0};
    struct audit x = *own;
    x.verdict = &found;
    x.plan = &r->plan;
    audit_streams(&x, ns);
    pass_on(h, replica, &found);
}

// A replica that is not the slowest: decision and memory as usual, with the judge's own prices.
static void audit_other(struct audit *h, struct replica *r, const struct audit *own, int replica,
                        int64_t *load_ns)
{
    if (audit_decision(h, own, replica)) return;
    int64_t claimed = h->plan->placement->iteration_ns[replica], own_ns = play(r, own);
    raise_to(load_ns, judged_load(own, &r->plan));
    audit_messages(h, replica, &r->plan);
    audit_claim(h, "iteration", -1, arena_print(h->arena, "replica %d", replica), "ns", claimed,
                (struct sum){own_ns, 1});
    if (!h->verdict->violation_count) audit_streams_of(h, own, r, replica, own_ns);
    if (claimed > h->plan->iteration_ns)
        REJECT(h, "iteration", -1, "replica %d takes %lld ns, the plan claims %lld", replica,
               (long long)claimed, (long long)h->plan->iteration_ns);
}

// The slowest replica: all claims. *sound is false if its layers are such that others cannot be
// priced.
static enum status audit_first(struct audit *h, struct replica *r, struct audit *own, int replica,
                               bool *sound, int64_t *load_ns, struct error *err)
{
    const struct plan_placement *x = h->plan->placement;
    TRY(audit_plan(own, err));
    audit_messages(h, replica, &r->plan);
    raise_to(load_ns, judged_load(own, &r->plan));
    if (x->iteration_ns[replica] != h->plan->iteration_ns)
        REJECT(h, "iteration", -1, "the slowest replica takes %lld ns, the plan claims %lld",
               (long long)x->iteration_ns[replica], (long long)h->plan->iteration_ns);
    *sound = true;
    for (int s = 0; s < h->plan->stage_count; s++) *sound = *sound && own->sound[s];
    return OK;
}

enum status audit_placement(struct audit *h, struct error *err)
{
    const struct plan_placement *x = h->plan->placement;
    int ranks = h->request.rank_count, *node, *groups = TAKE(h->arena, ranks, int);
    if (!x || !h->problem->cluster.places.node_count) {
        REJECT(h, "placement", -1,
               x ? "the cluster has no places"
                 : "the cluster has places, but the plan does not state where its ranks are");
        return OK;
    }
    if (!audit_micro_batches(h)) return OK;
    node = TAKE(h->arena, x->replica_count * x->rank_count, int);
    struct ring_links *rings = TAKE(h->arena, h->plan->stage_count, struct ring_links);
    TRY(schedule_build(&h->schedule, &h->request, h->arena, err));
    if (!audit_nodes(h, node) || !audit_rings(h, node, rings) || !audit_embedding_ring(h, node))
        return OK;
    if (h->problem->job.objective == OBJECTIVE_PIPETTE) audit_pipette(h, node);
    int64_t load_ns = 0;
    audit_slowest(h, node);
    for (int rank = 0; rank < ranks; rank++) groups[rank] = rank;
    bool sound = true;
    for (int i = 0; i < x->replica_count && sound; i++) {
        int replica = (x->slowest + i) % x->replica_count;
        struct replica *r = TAKE(h->arena, 1, struct replica);
        struct audit own;
        *r = (struct replica){
            .problem = h->judged, .rings = rings, .node = node + replica * x->rank_count};
        make_groups(r, h);
        make_links(r, h);
        make_plan(r, h, replica);
        TRY(begin_audit(&own, r, h, groups, err));
        if (i) audit_other(h, r, &own, replica, &load_ns);
        else TRY(audit_first(h, r, &own, replica, &sound, &load_ns, err));
    }
    audit_load(h, load_ns);
    return OK;
}
