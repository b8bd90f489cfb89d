// Stages with widths of their own (docs/FORMULAS.md 23): each is judged by the prices of the layout
// in which all stages have its width; what two unlike neighbours send each other by both.
#include <string.h>

#include "solve/judge/internal.h"

// ---- the plan's groups

void state_widths(struct verdict *v, const struct plan *plan, const struct problem *problem,
                  struct arena *arena)
{
    struct {
        struct verdict *verdict;
        struct arena *arena;
    } s = {v, arena};
    struct seat *seats = NULL;
    int count = job_has_widths(&problem->job) ? problem_seats(problem, &seats, arena) : 0;
    if (!count || !plan->widths || plan->group_count != count) {
        REJECT(&s, "groups", -1, "groups: the plan lists %d%s, the job's widths give %d",
               plan->group_count, plan->widths ? "" : " without widths", count);
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct plan_width *w = &plan->widths[i];
        const struct node_group *g = &problem->cluster.groups[seats[i].group];
        if (strcmp(plan->group_names[i], seats[i].name) != 0 ||
            strcmp(w->node_group, g->name) != 0 || strcmp(plan->group_gpus[i], g->gpu) != 0 ||
            w->tensor != seats[i].tensor || w->context != seats[i].context ||
            w->data != seats[i].data)
            REJECT(&s, "groups", -1,
                   "groups[%d] is \"%.60s\" (%d x %d x %d of \"%.60s\"), the job's is \"%.60s\"", i,
                   plan->group_names[i], w->tensor, w->context, w->data, w->node_group,
                   seats[i].name);
    }
}

void match_widths(struct audit *h)
{
    const struct plan *p = h->plan;
    struct seat *seats;
    int count = problem_seats(h->problem, &seats, h->arena);
    struct price_audit *at = TAKE(h->arena, p->group_count, struct price_audit);
    h->group = TAKE(h->arena, p->group_count, int);
    for (int i = 0; i < p->group_count; i++) {
        int k = 0;
        while (k < count && strcmp(seats[k].name, p->group_names[i]) != 0) k++;
        h->group[i] = k < count ? seats[k].group : -1;
        if (k == count) continue;
        struct problem *one = TAKE(h->arena, 1, struct problem);
        *one = problem_at_seat(&h->judged, &seats[k]);
        at[i] = price_audit_over(one, &h->price_audit);
    }
    h->at = at;
}

// Where the job wants one width for all stages on a node group.
static void audit_one_width(struct audit *h)
{
    const struct plan *p = h->plan;
    if (h->problem->job.stage_degrees != DEGREES_PER_GROUP) return;
    for (int s = 1; s < p->stage_count; s++)
        for (int k = 0; k < s; k++) {
            int one = p->stages[s].group, other = p->stages[k].group;
            if (!h->sound[s] || !h->sound[k] || one == other || h->group[one] != h->group[other])
                continue;
            REJECT(h, "count", s, "it has another width than stage %d on the same node group: %s",
                   k, p->group_names[other]);
            return;
        }
}

void audit_devices(struct audit *h)
{
    audit_one_width(h);
    if (h->first_place) return; // audit_stand has counted, node by node
    const struct cluster *c = &h->problem->cluster;
    for (int g = 0; g < c->group_count; g++) {
        int64_t used = 0, all = (int64_t)c->groups[g].nodes * c->groups[g].gpus_per_node;
        for (int s = 0; s < h->plan->stage_count; s++)
            if (h->sound[s] && judged_group(h, s) == g) used += audit_at(h, s)->devices;
        if (used > all)
            REJECT(h, "count", -1, "the stages on node group '%s' take %lld GPUs, it has %lld",
                   c->groups[g].name, (long long)used, (long long)all);
    }
}

// ---- what neighbours send each other

static bool both_ways(const struct price_audit *a, int from, int to)
{
    return judged_stage_link(a, from, to).joined && judged_stage_link(a, to, from).joined;
}

// Whether two replicas have a sample of a micro-batch in common: of so many equal parts each, in
// order, the one's and the other's overlap.
static bool share_samples(int part, int of, int other, int of_other)
{
    int begins = part * of_other, ends = begins + of_other, from = other * of, to = from + of;
    return begins < to && from < ends;
}

static int replicas_at(const struct audit *h, int stage)
{
    return layout_of(audit_at(h, stage))->data;
}

static bool named_joined(const struct audit *h, int from, int to)
{
    bool joined = true;
    for (int i = 0; i < replicas_at(h, from); i++)
        for (int k = 0; k < replicas_at(h, to); k++) {
            int one = h->first_place[from] + i, other = h->first_place[to] + k;
            if (share_samples(i, replicas_at(h, from), k, replicas_at(h, to)))
                joined = joined && both_ways(audit_at(h, from), one, other) &&
                         both_ways(audit_at(h, to), one, other);
        }
    return joined;
}

// The slowest of the messages between replicas that have samples in common, part by part.
static bool named_transfer(const struct audit *h, int from, int to, struct sending s,
                           int64_t parts[PART_COUNT])
{
    int64_t own[PART_COUNT];
    for (int k = 0; k < PART_COUNT; k++) parts[k] = 0;
    for (int i = 0; i < replicas_at(h, from); i++)
        for (int r = 0; r < replicas_at(h, to); r++) {
            if (!share_samples(i, replicas_at(h, from), r, replicas_at(h, to))) continue;
            s.sender = h->first_place[from] + i, s.receiver = h->first_place[to] + r;
            if (!resharded_price(audit_at(h, from), audit_at(h, to), s, own)) return false;
            for (int k = 0; k < PART_COUNT; k++)
                if (own[k] > parts[k]) parts[k] = own[k];
        }
    return true;
}

bool stages_joined(const struct audit *h, int from, int to)
{
    if (h->first_place) return named_joined(h, from, to);
    int one = judged_group(h, from), other = judged_group(h, to);
    return both_ways(audit_at(h, from), one, other) && both_ways(audit_at(h, to), one, other);
}

bool stage_transfer(const struct audit *h, int from, int to, struct sending s,
                    int64_t parts[PART_COUNT])
{
    return h->first_place ? named_transfer(h, from, to, s, parts)
                          : resharded_price(audit_at(h, from), audit_at(h, to), s, parts);
}

bool ends_embedding_price(const struct audit *h, int64_t *ns)
{
    int last = h->plan->stage_count - 1, one = judged_group(h, 0), other = judged_group(h, last);
    int64_t second = 0;
    if (!embedding_sync_price(audit_at(h, 0), one, other, ns)) return false;
    if (h->at && !embedding_sync_price(audit_at(h, last), one, other, &second)) return false;
    if (second > *ns) *ns = second;
    return true;
}

// ---- replicas that take whole micro-batches in turn: what one of them has, over their number

bool is_in_turn(const struct audit *h) { return h->problem->job.replicas == REPLICAS_IN_TURN; }

static int replicas_of(const struct audit *h, int stage)
{
    return h->group[h->plan->stages[stage].group] < 0 ? 1 : layout_of(audit_at(h, stage))->data;
}

int64_t turned_in_flight(const struct audit *h, int stage)
{
    int64_t own = replicas_of(h, stage), all = 0, most = h->price_audit.micro_batches / own;
    for (int s = stage; s < h->plan->stage_count; s++) all += replicas_of(h, s);
    int64_t needed = all / own + (all % own > 0);
    return needed < most ? needed : most;
}

// The first layer of a stage may state what comes in; else it is what the layer before sends.
static long double stated_entry(const struct audit *h, int stage)
{
    const struct price_audit *a = audit_at(h, stage);
    const struct layer_run *r =
        &a->problem->model.runs[judged_run(h, h->plan->stages[stage].first_layer)];
    return r->kind == LAYER_MEASURED ? (long double)stated_bytes(a, r)->entry_bytes : 0;
}

// Of the message over a boundary, there and back, as long as between two stages of this one's
// width: adds what occupies the rank; *link_ns is at least what occupies a link.
static void add_own_end(const struct audit *h, int stage, int boundary, int64_t *rank_ns,
                        int64_t *link_ns)
{
    const struct plan_stage *before = &h->plan->stages[boundary];
    int group = judged_group(h, stage),
        run = judged_run(h, before->first_layer + before->layer_count - 1);
    for (int back = 0; back < 2; back++) {
        int64_t parts[PART_COUNT] = {0};
        struct sending s = {.run = run, .sender = group, .receiver = group, .backward = back};
        if (boundary < stage) s.stated_bytes = stated_entry(h, stage);
        if (!transfer_price(audit_at(h, stage), s, parts)) continue;
        *rank_ns = judged_later(*rank_ns, judged_later(parts[PART_BLOCKING], parts[PART_OVERHEAD]));
        if (parts[PART_LINK] > *link_ns) *link_ns = parts[PART_LINK];
    }
}

int64_t turned_load(const struct audit *h)
{
    int64_t most = 0;
    for (int s = 0; s < h->plan->stage_count; s++) {
        const struct plan_stage *x = &h->plan->stages[s];
        int64_t replicas = replicas_of(h, s), link = 0;
        if (!h->sound[s]) continue;
        int64_t rank = judged_later(x->slices[0].forward_ns, x->slices[0].backward_ns);
        if (s > 0) add_own_end(h, s, s - 1, &rank, &link);
        if (s + 1 < h->plan->stage_count) add_own_end(h, s, s, &rank, &link);
        if (link > rank) rank = link;
        int64_t load = rank / replicas + (rank % replicas > 0);
        if (load > most) most = load;
    }
    return most;
}

void audit_turned_time(struct audit *h, int64_t load_ns)
{
    int64_t all = load_ns * h->price_audit.micro_batches;
    h->verdict->replayed_ns = all;
    audit_claim(h, "iteration", -1, "micro-batches x greatest load", "ns", h->plan->iteration_ns,
                (struct sum){all, 1});
}

// ---- which operations have a price at all

static void raise_pair(const struct audit *h, int from, int to, struct largest_prices *largest)
{
    const struct price_audit *a = &h->at[from], *b = &h->at[to];
    int64_t parts[PART_COUNT];
    int one = h->group[from], other = h->group[to];
    if (h->first_place && one == other) return; // one replica
    if (!both_ways(a, one, other) || !both_ways(b, one, other)) return;
    for (int run = 0; run < a->problem->model.run_count; run++)
        for (int back = 0; back < 2; back++) {
            struct sending s = {.run = run,
                                .sender = back ? other : one,
                                .receiver = back ? one : other,
                                .backward = back};
            if (!resharded_price(back ? b : a, back ? a : b, s, parts)) continue;
            for (int k = 0; k < PART_COUNT; k++) raise_to(&largest->parts_ns[k], parts[k]);
        }
}

struct largest_prices largest_of_widths(const struct audit *h)
{
    struct largest_prices largest = {{0}, 0, 0};
    for (int i = 0; i < h->plan->group_count; i++) {
        const struct price_audit *a = &h->at[i];
        if (h->group[i] < 0 || exclusion_of(a, h->group[i])) continue;
        raise_to(&largest.sync_ns, sync_constant_ns(a, h->group[i]));
        for (int run = 0; run < a->problem->model.run_count; run++) {
            raise_to(&largest.sync_ns,
                     layer_sync_ns(a, run, h->group[i], (struct compression_form){0}));
            raise_to(&largest.optimizer_ns,
                     shared_step_ns(a, run, h->group[i], job_tiering(&a->problem->job, 0)));
        }
        for (int k = 0; k < h->plan->group_count; k++)
            if (h->group[k] >= 0 && !exclusion_of(&h->at[k], h->group[k]))
                raise_pair(h, i, k, &largest);
    }
    return largest;
}

// ---- stages that stand on nodes: each replica is a group of the judged cluster

struct stand {
    const struct audit *h;          // the plan's, on the cluster with places
    int place_count, *node, *first; // [place], [stage]
};

static int place_named(const struct audit *h, int stage, int replica)
{
    const struct places *p = &h->problem->cluster.places;
    const char *name = h->plan->stages[stage].nodes[replica];
    for (int i = 0; i < p->node_count; i++)
        if (!strcmp(p->nodes[i].name, name)) {
            if (p->nodes[i].group == judged_group(h, stage)) return i;
            REJECT(h, "placement", stage, "node '%s' is not of its width's node group", name);
            return -1;
        }
    REJECT(h, "placement", stage, "nodes: '%s' is not in the cluster", name);
    return -1;
}

// Every replica has a node of its width's group, and none holds more than it has room for.
static bool audit_stand(struct audit *h, struct stand *t)
{
    const struct places *p = &h->problem->cluster.places;
    int64_t *used = TAKE(h->arena, p->node_count, int64_t);
    int before = h->verdict->violation_count;
    for (int s = 0; s < h->plan->stage_count; s++) {
        const struct plan_stage *x = &h->plan->stages[s];
        bool known = x->group >= 0 && x->group < h->plan->group_count && h->group[x->group] >= 0;
        t->first[s] = t->place_count;
        if (!known || x->node_count != replicas_at(h, s)) {
            REJECT(h, "placement", s, "it states %d nodes, its width has %d replicas",
                   x->node_count, known ? replicas_at(h, s) : 0);
            return false;
        }
        for (int i = 0; i < x->node_count; i++) {
            int node = t->node[t->place_count++] = place_named(h, s, i);
            if (node >= 0) used[node] += audit_at(h, s)->collective;
        }
    }
    for (int i = 0; i < p->node_count; i++) {
        int room = h->problem->cluster.groups[p->nodes[i].group].gpus_per_node;
        if (used[i] > room)
            REJECT(h, "placement", -1, "%lld GPUs of node '%s' are taken, it has %d",
                   (long long)used[i], p->nodes[i].name, room);
    }
    return h->verdict->violation_count == before;
}

// The problem with a group for each place, then the cluster's own, in which all ranks that share a
// layer's work are of one node; and what joins them for this stage's width.
static void stand_on(struct audit *x, const struct stand *t, int stage, struct price_audit *to)
{
    const struct price_audit *own = audit_at(t->h, stage);
    const struct cluster *c = &t->h->problem->cluster;
    struct problem *p = TAKE(x->arena, 1, struct problem);
    int n = t->place_count, all = n + c->group_count, count = 0;
    struct node_group *groups = TAKE(x->arena, all, struct node_group);
    struct group_link *links = TAKE(x->arena, all + n * n, struct group_link);
    struct joint *joints = TAKE(x->arena, all + n * n, struct joint);
    struct summed_by *summed_by = TAKE(x->arena, all, struct summed_by);
    for (int g = 0; g < all; g++) {
        int of = g < n ? c->places.nodes[t->node[g]].group : g - n;
        groups[g] = c->groups[of];
        groups[g].nodes = replicas_at(t->h, stage);
        groups[g].gpus_per_node = (int)own->collective;
        groups[g].nic_count = 0;
        summed_by[g] = judged_sums(own, of);
        links[count] = (struct group_link){.from = g, .to = g};
        joints[count++] = (struct joint){true, false, true, 1e18, 0, 1};
    }
    for (int pair = 0; pair < n * n; pair++) {
        if (pair / n == pair % n) continue;
        joints[count] = judged_node_link(own, t->node[pair / n], t->node[pair % n]);
        links[count] = (struct group_link){.from = pair / n, .to = pair % n};
        count += joints[count].joined;
    }
    *p = *own->problem;
    p->cluster.groups = groups, p->cluster.group_count = all;
    p->cluster.links = links, p->cluster.link_count = count;
    p->cluster.places = (struct places){0};
    *to = price_audit_over(p, &t->h->price_audit);
    to->joints = x->stage_joints[stage] = joints;
    to->summed_by = summed_by;
}

static bool ring_leaves(const struct stand *t, int stage, int node)
{
    bool there = false, elsewhere = false;
    for (int i = 0; i < replicas_at(t->h, stage); i++) {
        bool here = t->node[t->first[stage] + i] == node;
        there = there || here, elsewhere = elsewhere || !here;
    }
    return there && elsewhere;
}

// A stage's ring runs from each replica to the next; within a node only if it never leaves it.
static struct ring_links ring_of(struct audit *h, const struct stand *t, int stage)
{
    const struct price_audit *own = audit_at(h, stage);
    const struct places *p = &h->problem->cluster.places;
    const int *node = t->node + t->first[stage];
    int count = replicas_at(h, stage), kind = judged_ring_kind(own, node, count);
    struct ring_link *links = TAKE(h->arena, count, struct ring_link);
    struct ring_links ring = {links, 0};
    for (int i = 0; i < count; i++) {
        int from = node[i], to = node[(i + 1) % count];
        int64_t rings[2] = {0, 0};
        if (from == to && ring_leaves(t, stage, from)) continue;
        for (int s = 0; s < h->plan->stage_count; s++) {
            rings[0] += ring_leaves(t, s, from);
            rings[1] += ring_leaves(t, s, to);
        }
        struct ring_link *link = &links[ring.count++];
        link->ends[0] = t->place_count + p->nodes[from].group;
        link->ends[1] = t->place_count + p->nodes[to].group;
        link->joint = judged_ring_part(own, from, to, rings, kind);
        if (!link->joint.joined)
            REJECT(h, "joined", stage, "no link connects node '%s' with node '%s' for its ring",
                   p->nodes[from].name, p->nodes[to].name);
    }
    return ring;
}

enum status audit_named(struct audit *h, struct error *err)
{
    int stages = h->plan->stage_count, before = h->verdict->violation_count;
    struct stand t = {h, 0, TAKE(h->arena, NAMED_DATA_MAX * stages, int),
                      TAKE(h->arena, stages, int)};
    if (h->plan->placement || !h->problem->cluster.places.node_count) {
        REJECT(h, "placement", -1,
               "stages with widths of their own state their nodes, on a cluster with places alone");
        return OK;
    }
    if (!audit_stand(h, &t)) return OK;
    struct ring_links *rings = TAKE(h->arena, stages, struct ring_links);
    for (int s = 0; s < stages; s++) rings[s] = ring_of(h, &t, s);
    if (h->verdict->violation_count > before) return OK;
    struct audit x = *h;
    struct plan plan = *h->plan;
    struct price_audit *at = TAKE(h->arena, stages, struct price_audit);
    plan.group_count = stages;
    plan.group_names = TAKE(h->arena, stages, const char *);
    plan.widths = TAKE(h->arena, stages, struct plan_width);
    plan.stages = TAKE_COPY(h->arena, plan.stages, stages);
    x.stage_joints = TAKE(h->arena, stages, struct joint *);
    x.group = TAKE_COPY(h->arena, t.first, stages);
    for (int s = 0; s < stages; s++) {
        int had = plan.stages[s].group;
        stand_on(&x, &t, s, &at[s]);
        plan.group_names[s] = h->plan->group_names[had], plan.widths[s] = h->plan->widths[had];
        plan.stages[s].group = s;
    }
    struct problem judged = *h->problem;
    judged.cluster = at[0].problem->cluster;
    x.problem = &judged, x.judged = judged_problem(&judged, &plan.layout);
    x.price_audit = price_audit_over(&x.judged, &h->price_audit);
    x.plan = &plan, x.at = at, x.rings = rings, x.first_place = t.first;
    return audit_plan(&x, err);
}
