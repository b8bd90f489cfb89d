// The objective of the published planner Pipette, recomputed by the judge from model, cluster and
// job with the plan's placement (docs/FORMULAS.md section 16). Layers are shared evenly, and the
// replicas that fill a node use one row of nodes. The objective adds the hops of the most
// expensive row, the ring through the rows' first nodes in the order of the replicas, and the ring
// within them.

#include "solve/judge/internal.h"

enum { FORWARD_AND_BACK = 2, SQUARES_OF_A_BLOCK = 16 };

struct pipette {
    struct audit *h;
    const int *node;               // [replica * ranks + rank]
    int ranks, rows, each;         // each: replicas in a row
    long double message, gradient; // bytes
};

static long double blocks_of(const struct model *m)
{
    long double blocks = 0;
    for (int i = 0; i < m->run_count; i++)
        blocks += m->runs[i].kind == LAYER_BLOCK ? m->runs[i].count : 0;
    return blocks;
}

static bool open_pipette(struct pipette *x, struct audit *h, const int *node)
{
    const struct layout *l = layout_of(&h->price_audit);
    const struct shape *shape = &h->problem->model.shape;
    long double hidden = shape->hidden, stage_blocks = blocks_of(&h->problem->model) / l->pipeline;
    *x = (struct pipette){.h = h,
                          .node = node,
                          .ranks = l->pipeline,
                          .each = h->problem->cluster.groups[0].gpus_per_node / l->tensor};
    if (x->each < 1 || l->data % x->each) {
        REJECT(h, "objective", -1, "%d replicas do not fill nodes of %d", l->data, x->each);
        return false;
    }
    x->rows = l->data / x->each;
    x->message = h->price_audit.value_bytes * l->micro_batch *
                 (long double)h->problem->job.sequence * hidden;
    x->gradient =
        h->price_audit.value_bytes *
        (hidden * shape->vocabulary + stage_blocks * SQUARES_OF_A_BLOCK * hidden * hidden) /
        l->tensor;
    return true;
}

static int node_of(const struct pipette *x, int row, int rank)
{
    return x->node[row * x->each * x->ranks + rank];
}

// Time to move so many bytes over the link of two nodes, or within one.
static int64_t passing_ns(const struct pipette *x, int from, int to, bool ring, long double bytes)
{
    static const int64_t alone[2] = {1, 1};
    const struct price_audit *a = &x->h->price_audit;
    struct joint joint = ring ? judged_ring_part(a, from, to, alone, OWN_KIND)
                              : judged_node_link(a, from, to);
    if (!joint.joined) {
        REJECT(x->h, "objective", -1, "no link connects node %d to node %d of the cluster", from,
               to);
        return 0;
    }
    return judged_nanoseconds(&x->h->price_audit, (struct computed){bytes / joint.bytes_per_s, 0});
}

static long double twice_but_one(int ranks) { return 2.0L * (ranks - 1) / ranks; }

static void audit_rows(const struct pipette *x)
{
    for (int i = 0; i < x->rows * x->each * x->ranks; i++) {
        int row = i / (x->each * x->ranks), rank = i % x->ranks;
        if (x->node[i] != node_of(x, row, rank))
            REJECT(x->h, "objective", rank,
                   "replica %d and replica %d must be on the same nodes, but are on different ones",
                   row * x->each, i / x->ranks);
    }
}

// Each stage has the same number of blocks.
static void audit_shares(const struct pipette *x)
{
    const struct plan *p = x->h->plan;
    int stage_blocks = (int)blocks_of(&x->h->problem->model) / x->ranks;
    for (int s = 0; s < p->stage_count; s++) {
        int blocks = 0;
        for (int layer = p->stages[s].first_layer;
             layer >= 0 && layer < p->stages[s].first_layer + p->stages[s].layer_count &&
             layer < x->h->problem->model.layer_count;
             layer++)
            blocks += run_of(&x->h->price_audit, judged_run(x->h, layer))->kind == LAYER_BLOCK;
        if (blocks != stage_blocks)
            REJECT(x->h, "objective", s, "%d blocks, every stage has %d", blocks, stage_blocks);
    }
}

static struct sum slowest_hops(const struct pipette *x)
{
    struct sum slowest = {0, 0};
    for (int row = 0; row < x->rows; row++) {
        struct sum hops = {0, 0};
        for (int rank = 0; rank + 1 < x->ranks; rank++)
            sum_add(&hops, passing_ns(x, node_of(x, row, rank), node_of(x, row, rank + 1), false,
                                      FORWARD_AND_BACK * x->message));
        if (!row || hops.value > slowest.value) slowest = hops;
    }
    return slowest;
}

static struct sum slowest_ring(const struct pipette *x, bool inside)
{
    struct sum slowest = {0, 1};
    int ranks = inside ? x->each : x->rows;
    for (int row = 0; row < x->rows && ranks > 1; row++) {
        int from = node_of(x, row, 0), to = inside ? from : node_of(x, (row + 1) % x->rows, 0);
        int64_t ns = passing_ns(x, from, to, true, twice_but_one(ranks) * x->gradient);
        if (ns > slowest.value) slowest.value = ns;
    }
    return slowest;
}

void audit_pipette(struct audit *h, const int *node)
{
    const struct plan_pipette *claims = h->plan->placement->pipette;
    struct pipette x;
    if (h->plan->objective != h->problem->job.objective)
        return; // reported where the bound is
                // audited
    if (!claims) {
        REJECT(h, "objective", -1, "the plan does not state its hops and rings");
        return;
    }
    if (!open_pipette(&x, h, node)) return;
    audit_rows(&x);
    audit_shares(&x);
    audit_claim(h, "objective", -1, "hops of the slowest pipeline", "ns", claims->hops_ns,
                slowest_hops(&x));
    audit_claim(h, "objective", -1, "ring of the first stages", "ns", claims->ring_ns,
                slowest_ring(&x, false));
    audit_claim(h, "objective", -1, "ring within a node", "ns", claims->inner_ns,
                slowest_ring(&x, true));
    int64_t sum = judged_later(judged_later(claims->hops_ns, claims->ring_ns), claims->inner_ns);
    if (h->plan->objective_ns != sum)
        REJECT(h, "objective", -1, "claimed %lld ns, hops and rings come to %lld ns",
               (long long)h->plan->objective_ns, (long long)sum);
}
