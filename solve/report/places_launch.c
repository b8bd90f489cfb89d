// Which host gets which rank. A framework numbers its ranks by its own rule, without regard to
// links, so a placement is realised by assigning hosts to global ranks (rank orders of
// Megatron-LM, S: parallel_state). The assignment of replicas to data-parallel ranks is free and
// determines the rings: NCCL joins the nodes of a communicator in the order of their ranks.
#include <string.h>

#include "solve/report/report.h"

const char *const rank_order_names[] = {"tp-cp-ep-dp-pp", "tp-pp-dp", NULL};

struct launch {
    const struct plan *plan;
    enum rank_order order;
    const int *replica; // [data-parallel rank]; NULL: no placement
    const char **names; // [rank in data-first order], without a placement
    int64_t ranks;
};

// ---- rings as launched

// Whether the stage's ring has this cyclic order, wherever it begins.
static bool goes_like(const struct plan_placement *x, int stage, const int *order)
{
    const int *ring = x->rings + stage * x->replica_count;
    int first = 0;
    while (ring[first] != order[0]) first++;
    for (int at = 0; at < x->replica_count; at++)
        if (ring[(first + at) % x->replica_count] != order[at]) return false;
    return true;
}

const int *report_data_ranks(const struct plan *plan, struct arena *arena)
{
    const struct plan_placement *x = plan->placement;
    int *best = TAKE(arena, x->replica_count, int), *order = TAKE(arena, x->replica_count, int);
    int64_t best_ns = 0;
    for (int at = 0; at < x->replica_count; at++) best[at] = at;
    for (int stage = 0; stage < plan->stage_count; stage++) {
        const int *ring = x->rings + stage * x->replica_count;
        int64_t ns = 0;
        int zero = 0;
        while (ring[zero] != 0) zero++;
        for (int at = 0; at < x->replica_count; at++)
            order[at] = ring[(zero + at) % x->replica_count];
        for (int other = 0; other < plan->stage_count; other++)
            ns += goes_like(x, other, order) ? plan->stages[other].sync_ns + 1 : 0;
        if (ns <= best_ns) continue;
        best_ns = ns;
        memcpy(best, order, (size_t)x->replica_count * sizeof *best);
    }
    return best;
}

bool report_ring_is_launched(const struct plan *plan, int stage, const int *replicas)
{
    return goes_like(plan->placement, stage, replicas);
}

// ---- ranks

// The node of a global rank.
static const char *host_of(const struct launch *l, int64_t global)
{
    const struct plan_placement *x = l->plan->placement;
    const struct layout *y = &l->plan->layout;
    int64_t together = (int64_t)y->tensor * y->context, group = global / together;
    bool data_first = l->order == RANK_ORDER_DATA_FIRST;
    int64_t replicas = x ? x->replica_count : y->data, ranks = x ? x->rank_count : y->pipeline;
    int64_t data = data_first ? group % replicas : group / ranks,
            rank = data_first ? group / replicas : group % ranks;
    if (!x) return l->names[(rank * replicas + data) * together + global % together];
    return x->nodes[l->replica[data] * x->rank_count + rank];
}

// Nodes in the order in which their groups' ranks fill them.
static enum status name_nodes(struct launch *l, const struct launch_request *r, struct arena *arena,
                              struct error *err)
{
    const struct problem *p = r->problem;
    struct schedule_request schedule = plan_request(l->plan);
    int64_t *filled = TAKE(arena, p->cluster.group_count, int64_t);
    const char **last = TAKE(arena, p->cluster.group_count, const char *);
    int nodes = 0;
    l->names = TAKE(arena, l->ranks, const char *);
    for (int64_t i = 0; i < l->ranks; i++) {
        int stage = schedule_stage_of(&schedule, (int)(i / l->plan->devices_per_stage), 0),
            g = l->plan->stages[stage].group;
        int64_t each = p->cluster.groups[g].gpus_per_node, at = filled[g]++;
        if (at % each == 0) {
            last[g] = r->hosts && nodes < r->host_count
                          ? r->hosts[nodes]
                          : arena_print(arena, "%s-%lld", p->cluster.groups[g].name,
                                        (long long)(at / each));
            nodes++;
        }
        l->names[i] = last[g];
    }
    if (r->hosts && nodes != r->host_count)
        return refuse(err, "--hosts: expected the names of the plan's %d nodes, found %d", nodes,
                      r->host_count);
    return OK;
}

// Hosts with their numbers of ranks, in the order that a launcher needs which numbers ranks host
// by host.
static enum status print_hosts(struct text *out, const struct launch *l, struct error *err)
{
    for (int64_t global = 0, next; global < l->ranks; global = next) {
        const char *host = host_of(l, global);
        for (next = global + 1; next < l->ranks && !strcmp(host, host_of(l, next));) next++;
        for (int64_t before = 0; before < global; before++)
            if (!strcmp(host, host_of(l, before)))
                return refuse(
                    err,
                    "%s: ranks are numbered host by host, and those of '%s' are not consecutive "
                    "in the order %s; expected another --rank-order, or --format hostfile or "
                    "rankfile, which give each rank its host",
                    l->plan->document.path, host, rank_order_names[l->order]);
        text_put(out, "%s slots=%lld\n", host, (long long)(next - global));
    }
    return OK;
}

// Ranks of a host get its cores in the order of their numbers.
static void print_rankfile(struct text *out, const struct launch *l, int cores)
{
    for (int64_t global = 0; global < l->ranks; global++) {
        int64_t first = 0;
        for (int64_t before = 0; before < global; before++)
            first += !strcmp(host_of(l, before), host_of(l, global)) ? cores : 0;
        text_put(out, "rank %lld=%s slot=%lld", (long long)global, host_of(l, global),
                 (long long)first);
        text_put(out, cores > 1 ? "-%lld\n" : "\n", (long long)(first + cores - 1));
    }
}

// Launchers and scripts take names as words: nothing in them may be a blank, a bracket or a quote.
static enum status check_host(const char *host, struct error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._:-";
    if (*host && *host != '-' && strspn(host, letters) == strlen(host)) return OK;
    return refuse(err,
                  "expected names of hosts (letters, digits, '.', '_', ':', '-'), found '%s'; "
                  "without places, --hosts FILE names the plan's nodes",
                  host);
}

static enum status begin(struct launch *l, const struct plan *plan,
                         const struct launch_request *request, struct arena *arena,
                         struct error *err)
{
    *l = (struct launch){.plan = plan,
                         .order = request->order,
                         .ranks = (int64_t)plan->layout.tensor * plan->layout.context *
                                  plan->layout.data * plan->layout.pipeline};
    if (!plan->placement) TRY(report_expect_stages(plan, err));
    if (plan->placement && request->hosts)
        return refuse(err, "--hosts: expected a cluster without node names, but %s names its nodes",
                      plan->document.path);
    if (!plan->placement && !request->problem)
        return refuse(
            err,
            "%s: its problem is missing or has changed since: it gives the number of GPUs per node",
            plan->document.path);
    if (plan->placement) l->replica = report_data_ranks(plan, arena);
    else TRY(name_nodes(l, request, arena, err));
    for (int64_t global = 0; global < l->ranks; global++) TRY(check_host(host_of(l, global), err));
    return OK;
}

enum status report_launch(struct text *out, const struct plan *plan,
                          const struct launch_request *request, struct error *err)
{
    struct launch l;
    TRY(begin(&l, plan, request, out->arena, err));
    if (request->format == LAUNCH_HOSTS) TRY(print_hosts(out, &l, err));
    if (request->format == LAUNCH_RANKFILE) print_rankfile(out, &l, request->cores_per_rank);
    for (int64_t global = 0; global < l.ranks && request->format == LAUNCH_HOSTFILE; global++)
        text_put(out, "%s\n", host_of(&l, global));
    return OK;
}

// ---- nodes and their runs of ranks

static int64_t node_of(struct launch_nodes *n, const char *host)
{
    for (int64_t i = n->count; i > 0; i--)
        if (!strcmp(n->items[i - 1].host, host)) return i - 1;
    n->items[n->count] = (struct launch_node){.host = host, .group = -1};
    return n->count++;
}

enum status report_nodes(struct launch_nodes *n, const struct plan *plan,
                         const struct problem *problem, struct arena *arena, struct error *err)
{
    struct launch l;
    const struct launch_request request = {.problem = problem};
    TRY(begin(&l, plan, &request, arena, err));
    struct schedule_request schedule = plan_request(plan);
    *n = (struct launch_nodes){.items = TAKE(arena, l.ranks, struct launch_node),
                               .runs = TAKE(arena, l.ranks, struct launch_run)};
    for (int64_t global = 0; global < l.ranks; global++) {
        const char *host = host_of(&l, global);
        struct launch_run *last = &n->runs[n->run_count - 1];
        if (!n->run_count || strcmp(host, n->items[last->node].host)) {
            int64_t node = node_of(n, host);
            last = &n->runs[n->run_count++];
            *last = (struct launch_run){.node = node, .first = n->items[node].ranks};
        }
        last->count++, n->items[last->node].ranks++;
        if (!plan->placement)
            n->items[last->node].group =
                plan->stages[schedule_stage_of(&schedule, (int)(global / plan->devices_per_stage),
                                               0)]
                    .group;
        if (n->items[last->node].ranks > n->most_ranks) n->most_ranks = n->items[last->node].ranks;
    }
    return OK;
}
