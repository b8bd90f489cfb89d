// Documents -> the prices of Pipette's objective (docs/FORMULAS.md 16), from the judge's links of
// nodes: a block has 16 h^2 parameters, a message is not divided over tensor ranks, and of a link
// only the bandwidth counts.
#include "solve/checker/prices/prices.h"
#include "solve/judge/places.h"

struct traffic {
    const struct price_audit *whole;
    long double hop, ring, inner; // bytes
    bool too_large;
};

static int64_t price(struct traffic *t, struct joint way, long double bytes)
{
    if (!way.joined || way.bytes_per_s <= 0) return -1;
    int64_t ns = judged_nanoseconds(t->whole, (struct computed){bytes / way.bytes_per_s, 0});
    t->too_large = t->too_large || ns >= WHOLE_MAX - 1;
    return ns;
}

// 2 (k - 1) / k of the gradients go over each link of a ring of k.
static long double round_a_ring(long double gradients, int members)
{
    return 2 * gradients * (members - 1) / members;
}

static struct traffic traffic_of(const struct price_audit *whole, const struct check_rows *rows)
{
    const struct problem *p = whole->problem;
    const struct layout *l = &p->job.layout;
    long double h = p->model.shape.hidden, blocks = rows->stage_blocks,
                values = h * p->model.shape.vocabulary + 16 * blocks * h * h,
                gradients = whole->value_bytes * values / l->tensor,
                message = whole->value_bytes * h * p->job.sequence * l->micro_batch;
    return (struct traffic){.whole = whole,
                            .hop = 2 * message,
                            .ring = round_a_ring(gradients, l->data / rows->each),
                            .inner = round_a_ring(gradients, rows->each)};
}

static void count_blocks(struct check_rows *to, const struct model *m, int stages)
{
    int blocks = 0, layers = 0;
    for (int i = 0; i < m->run_count; layers += m->runs[i++].count) {
        if (m->runs[i].kind != LAYER_BLOCK) continue;
        if (!blocks) to->first_block = layers;
        blocks += m->runs[i].count;
    }
    to->stage_blocks = blocks / stages;
}

bool space_rows(struct check_rows *to, const struct price_audit *whole, struct arena *arena)
{
    static const int64_t alone[2] = {1, 1};
    const struct problem *p = whole->problem;
    const struct layout *l = &p->job.layout;
    int nodes = p->cluster.places.node_count;
    *to = (struct check_rows){.each = p->cluster.groups[0].gpus_per_node / l->tensor,
                              .hop_ns = TAKE(arena, nodes * nodes, int64_t),
                              .ring_ns = TAKE(arena, nodes * nodes, int64_t),
                              .inner_ns = TAKE(arena, nodes, int64_t)};
    count_blocks(to, &p->model, l->pipeline);
    struct traffic t = traffic_of(whole, to);
    for (int from = 0; from < nodes; from++) {
        for (int next = 0; next < nodes; next++) {
            int at = from * nodes + next;
            bool back = judged_node_link(whole, next, from).joined;
            to->hop_ns[at] = to->ring_ns[at] = -1;
            if (from == next) continue;
            if (back) to->hop_ns[at] = price(&t, judged_node_link(whole, from, next), t.hop);
            to->ring_ns[at] =
                price(&t, judged_ring_part(whole, from, next, alone, OWN_KIND), t.ring);
        }
        to->inner_ns[from] =
            price(&t, judged_ring_part(whole, from, from, alone, OWN_KIND), t.inner);
    }
    return !t.too_large;
}
