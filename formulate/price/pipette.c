// The terms of the objective of the published planner Pipette (docs/FORMULAS.md section 16): the
// time of a message from a stage's node to the next stage's node, and the gradient rings of the
// first stages, over nodes and within a node. There, only the bandwidth of a link counts, messages
// are not divided over tensor ranks, and every block has 16 h^2 parameters.
#include "formulate/price/pricing.h"

static const real parameters_of_block = 16; // x h^2, of a GPT

// Bytes that a tensor rank of the first stage sums up.
static real gradient_bytes(const struct pricing *x, int blocks_per_stage)
{
    real embedding = x->h * (real)x->shape->vocabulary;
    return (embedding + blocks_per_stage * parameters_of_block * x->h * x->h) / x->t * x->e;
}

static real passes_of_ring(real ranks) { return 2 * (ranks - 1) / ranks; }

static bool is_pair(const struct priced_places *p, int from, int to)
{
    return from != to && p->nodes[from].slots && p->nodes[to].slots;
}

static enum status price_pair(struct pricing *x, int from, int to, real message, real ring,
                              struct error *err)
{
    const struct priced_places *p = x->priced->places;
    size_t pair = (size_t)from * (size_t)p->node_count + (size_t)to;
    int64_t *hop_ns = &p->pipette->hop_ns[pair], *ring_ns = &p->pipette->ring_ns[pair];
    *hop_ns = *ring_ns = PRICE_NONE;
    if (!is_pair(p, from, to)) return OK;
    struct link_price there = link_of_nodes(x, from, to, false),
                      around = link_of_nodes(x, from, to, true);
    if (there.joined && link_of_nodes(x, to, from, false).joined)
        TRY(round_time(hop_ns, 2 * message / there.bytes_per_s, "hop of the objective pipette",
                       p->nodes[from].name, err));
    return around.joined ? round_time(ring_ns, ring / around.bytes_per_s,
                                      "ring of the objective pipette", p->nodes[from].name, err)
                         : OK;
}

enum status price_pipette(struct pricing *x, struct error *err)
{
    struct priced_places *p = x->priced->places;
    struct priced_pipette *to = p->pipette = TAKE(x->arena, 1, struct priced_pipette);
    size_t pairs = (size_t)p->node_count * (size_t)p->node_count;
    int blocks;
    model_blocks(&x->problem->model, &to->first_block, &blocks);
    to->blocks_per_stage = blocks / (int)x->p;
    to->replicas_per_node = pipette_replicas_per_node(x->problem);
    to->hop_ns = TAKE(x->arena, pairs, int64_t);
    to->ring_ns = TAKE(x->arena, pairs, int64_t);
    to->inner_ns = TAKE(x->arena, p->node_count, int64_t);
    real message = x->b * x->s * x->h * x->e, gradient = gradient_bytes(x, to->blocks_per_stage);
    real ring = passes_of_ring(x->d / to->replicas_per_node) * gradient,
         inner = passes_of_ring(to->replicas_per_node) * gradient;
    for (int from = 0; from < p->node_count; from++) {
        for (int next = 0; next < p->node_count; next++)
            TRY(price_pair(x, from, next, message, ring, err));
        real bytes_per_s = link_of_nodes(x, from, from, true).bytes_per_s;
        TRY(round_time(&to->inner_ns[from], inner / bytes_per_s,
                       "ring within a node of the objective pipette", p->nodes[from].name, err));
    }
    return OK;
}
