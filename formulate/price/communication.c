// Collectives inside a layer's pass: of tensor ranks, of context ranks, whose ring overlaps with
// attention, of experts' tokens and of a memory layer's pool. docs/FORMULAS.md section 3.

#include "data/kinds/schedules.h"
#include "formulate/price/pricing.h"

// Each rank gives the others their heads of its tokens, and gets them back after attention: two
// exchanges of queries, keys, values and sums, neither of them hidden.
static real heads_exchange_s(const struct pricing *x, const struct layer_run *run, int group,
                             real tokens)
{
    struct attention y = attention_of(x, run);
    struct link_price link = link_of_context_exchange(x, group);
    if (!is_at_level(x, &link)) return 0;
    real near =
        link.intra ? 1 : fmaxl(1, floorl(x->problem->cluster.groups[group].gpus_per_node / x->t));
    real values = y.count * (x->q + x->ctx) + y.sent,
         bytes = tokens * x->e * values / x->t * (x->c - near) / x->c;
    return bytes / link.bytes_per_s + 4 * y.count * (x->c - 1) * link.latency_s;
}

// Keys and values travel around the ring, one message per step. A step is exposed only where it
// takes longer than the attention that it overlaps with. Gathered, they are there before it.
// torchtitan keeps what it gathered, so that backward only gradients are scattered.
static real context_s(const struct pricing *x, const struct layer_run *run, int group,
                      const struct slice *slice, real messages, real attention_s)
{
    enum context_kind kind = run_has_linear(run) ? CONTEXT_RING : x->problem->job.context_kind;
    if (x->c <= 1 || run->no_attention) return 0;
    if (kind == CONTEXT_ALL_TO_ALL) return heads_exchange_s(x, run, group, slice->tokens);
    struct link_price link = link_of_context_ring(x, group);
    if (!is_at_level(x, &link)) return 0;
    if (keeps_keys(x, run)) messages = 1;
    real step = messages * (ring_bytes(x, run, slice->tokens) / link.bytes_per_s + link.latency_s);
    real hidden = x->problem->costs.context_overlap.value * attention_s / x->c;
    bool overlapped = attention_of(x, run).scores > 0 && kind == CONTEXT_RING && !x->level;
    return (x->c - 1) * fmaxl(0, step - (overlapped ? hidden : 0));
}

// The ways to take so many of some.
static real choices(real of, real taken)
{
    real ways = taken >= 0;
    for (real i = 0; i < taken; i++) ways *= (of - i) / (taken - i);
    return ways;
}

// The others of `places` that a token goes to which takes experts at random out of its groups. A
// place has so many whole groups and a part of another; a token's are so many of those, and that
// one or not.
static real others_taken(real places, const struct expert_shape *e)
{
    if (places <= 1) return 0;
    real groups = fmaxl(1, (real)e->router_groups), top = fmaxl(1, (real)e->router_top_groups),
         here = groups / places, whole = floorl(here), missed = 0;
    for (real i = 0; i <= fminl(whole, top); i++)
        for (real with = 0; with <= 1; with++)
            missed += choices(whole, i) * choices(groups - whole - 1, top - i - with) *
                      powl(1 - (i + with * (here - whole)) / top, (real)e->top_k);
    return (places - 1) * (1 - missed / choices(groups, top));
}

// One copy for each device that a token goes to, of which those of another node share one until
// they are there. Both legs run at the same time.
static real copies_s(const struct pricing *x, const struct link_price *link, int group, real bytes,
                     real near, const struct expert_shape *e)
{
    struct link_price within = link_of_near_experts(x, group);
    real inside = bytes * others_taken(x->x, e) / within.bytes_per_s,
         across = bytes * others_taken(x->x / near, e) / link->bytes_per_s;
    if (x->level == LEVEL_WITHIN && !link->intra) return 2 * inside;
    if (x->level == LEVEL_BETWEEN) return link->intra ? 0 : 2 * across + 2 * link->latency_s;
    return 2 * (link->intra ? inside : fmaxl(inside, across)) + 2 * link->latency_s;
}

// Rows are padded before they are sent where the capacity is fixed.
static real rows_sent(const struct pricing *x, const struct layer_run *run)
{
    return x->problem->job.fixed_capacity ? rows_multiplied(x, run)
                                          : fmaxl(1, run->experts.imbalance);
}

// Dispatch and combine. Of an all-to-all, traffic within the node overlaps with traffic that leaves
// it.
static real exchange_s(const struct pricing *x, const struct layer_run *run, int group, real tokens)
{
    if (x->x <= 1) return 0;
    struct link_price link = link_of_experts(x, group);
    real near =
        link.intra ? 1 : fmaxl(1, floorl(x->problem->cluster.groups[group].gpus_per_node / x->t_e));
    real each = tokens / x->t * rows_sent(x, run) * (real)expert_width(x->shape, &run->experts) *
                x->e;
    if (x->problem->job.dispatcher != DISPATCH_ALL_TO_ALL)
        return copies_s(x, &link, group, each, near, &run->experts);
    if (!is_at_level(x, &link)) return 0;
    real bytes = (real)run->experts.top_k * each * (x->x - near) / x->x;
    return 2 * (bytes / link.bytes_per_s + (x->x - 1) * link.latency_s);
}

static real pool_s(const struct pricing *x, const struct layer_run *run, int group,
                   const struct slice *slice)
{
    const struct pool_shape *pool = &run->pool;
    real parts = spread_of_pool(x, run).parts;
    if (parts <= 1) return 0;
    struct link_price link = link_of_pool(x, run, group);
    if (!is_at_level(x, &link)) return 0;
    real n = slice->tokens / x->t, found = 8 * n * (real)pool->heads * (real)pool->top_k,
         values = x->e * n * (real)pool->width;
    return (parts - 1) * found / link.bytes_per_s +
           (parts - 1) / parts * values / link.bytes_per_s + 2 * (parts - 1) * link.latency_s;
}

static real tensor_s(const struct pricing *x, const struct link_price *link, real bytes,
                     real start_s)
{
    return x->t > 1 && is_at_level(x, link) ? all_reduce_price_s(link, bytes, x->t) + start_s : 0;
}

// For what is a single all-reduce rather than a scatter and a gather.
static real tensor_sum_s(const struct pricing *x, const struct link_price *link, real bytes,
                         real start_s)
{
    return x->t > 1 && is_at_level(x, link) ? sum_price_s(x, link, bytes, x->t) + start_s : 0;
}

static real gather_s(const struct pricing *x, const struct link_price *link, real bytes,
                     real start_s)
{
    return x->t > 1 && is_at_level(x, link) ? all_reduce_price_s(link, bytes, x->t) / 2 + start_s
                                            : 0;
}

real tensor_all_reduce_s(const struct pricing *x, int group, const struct slice *slice)
{
    struct link_price tensor = link_of_tensor_ranks(x, group);
    return exposed_share(x) * tensor_s(x, &tensor, slice->tokens * x->h * x->e,
                                       x->gpus[group]->collective_launch_s.value);
}

static real checkpoint_gather_s(const struct pricing *x, int group, real bytes)
{
    struct link_price tensor = link_of_tensor_ranks(x, group);
    return exposed_share(x) *
           gather_s(x, &tensor, bytes, x->gpus[group]->collective_launch_s.value);
}

// More time of a layer that is fully recomputed, whose forward pass takes so long: its input comes
// from all tensor ranks, or goes to the host and comes back, beside the passes where the engine has
// a stream for that.
real checkpoint_s(const struct pricing *x, const struct layer_run *run, int group,
                  const struct slice *slice, real forward)
{
    const struct job *job = &x->problem->job;
    real bytes = x->e * slice->tokens * x->h * (run->cross_attention || run->mtp ? 2 : 1);
    if (job->checkpoints == CHECKPOINTS_PARTITIONED && !job->layout.sequence_parallel)
        return checkpoint_gather_s(x, group, bytes);
    if (job->checkpoints != CHECKPOINTS_HOST) return 0;
    real way = bytes * x->u / x->gpus[group]->host_link_bytes_per_s.value;
    return 2 * (job->trainer == TRAINER_MEGATRON ? fmaxl(0, way - forward) : way);
}

// A sum of activations; with sequence parallelism, a scatter and a gather.
static real activations_s(const struct pricing *x, int group, real bytes)
{
    struct link_price tensor = link_of_tensor_ranks(x, group);
    real exposed = exposed_share(x), start = x->gpus[group]->collective_launch_s.value;
    return exposed * (x->problem->job.layout.sequence_parallel
                          ? tensor_s(x, &tensor, bytes, start)
                          : tensor_sum_s(x, &tensor, bytes, start));
}

// For a layer that predicts a further token. Forward: the sum of its embedding, the gather of its
// projection's output and, where tokens are scattered, of its input. Backward: the gather of the
// input again, for the gradient of weights, and the scatter; where tokens are not scattered, the
// sum instead.
static void add_projection(const struct pricing *x, const struct link_price *tensor,
                           real activation, real start, real embedding, real *forward_s,
                           real *backward_s)
{
    real exposed = exposed_share(x), output = exposed * gather_s(x, tensor, activation, start),
         input = exposed * gather_s(x, tensor, 2 * activation, start);
    *forward_s += embedding + output;
    if (x->problem->job.layout.sequence_parallel) {
        *forward_s += input;
        *backward_s += output + 2 * input;
    } else {
        *backward_s += exposed * tensor_sum_s(x, tensor, 2 * activation, start);
    }
}

// The engine passes chunks around the ranks within a node while it multiplies others.
static bool sums_beside_products(const struct pricing *x, const struct layer_run *run,
                                 const struct link_price *tensor)
{
    return x->problem->job.overlapped_tensor && x->problem->job.layout.sequence_parallel &&
           x->t > 1 && tensor->intra && run->kind == LAYER_BLOCK;
}

// Megatron starts the sum of a product's input gradients, with scattered tokens their scatter, and
// computes those of its weights meanwhile; scattered tokens are gathered once more for these,
// beside the product for the input gradients. Of attention's latents or a second attention nothing
// is.
static void put_beside_gradients(const struct pricing *x, const struct layer_run *run, real once,
                                 real gather, struct layer_talk *talk)
{
    const struct job *job = &x->problem->job;
    bool scattered = job->layout.sequence_parallel, head = run->kind == LAYER_HEAD;
    if (job->trainer != TRAINER_MEGATRON || job->exposed_input_gradients || x->t <= 1 || x->grid ||
        talk->beside_s > 0 || run->frozen || schedule_splits_backward(job->layout.schedule) ||
        x->shape->parallel_residual)
        return;
    talk->reads[READS_ATTENTION] = !head && !run->no_attention && !run->linear &&
                                   !run->linear_beside && !x->shape->kv_rank;
    talk->reads[READS_FFN] = head || ffn_of(x, run) > 0;
    talk->summed_s = once * (scattered ? 0.5L : 1), talk->gathered_s = once - talk->summed_s;
    if (head || !scattered) return; // a head's gather is the other half of its sum
    talk->gathered_s = gather;
    for (int k = 0; k < READING_PARTS; k++) talk->backward_s += talk->reads[k] ? gather : 0;
}

// The ranks that have parts of one expert gather its rows and scatter their sums.
static real parts_s(const struct pricing *x, const struct layer_run *run, int group, real tokens)
{
    struct link_price parts = link_of_expert_parts(x, group);
    real routed = tokens * (real)run->experts.top_k * rows_sent(x, run), exposed = exposed_share(x),
         start = x->gpus[group]->collective_launch_s.value,
         rows = routed * (real)expert_width(x->shape, &run->experts) * x->e * x->t_e / x->t;
    return x->t_e > 1 && is_at_level(x, &parts)
               ? exposed * (all_reduce_price_s(&parts, rows, x->t_e) + start)
               : 0;
}

// Until the host knows how many tokens came, the device has nothing to do.
static real wait_s(const struct pricing *x, int group)
{
    const struct job *job = &x->problem->job;
    bool knows = job->fixed_capacity || job->graphs == GRAPHS_STEP;
    const struct gpu_costs *gpu = x->gpus[group];
    real wait = gpu->dispatch_wait_s.value;
    if (job->dispatcher == DISPATCH_ALL_TO_ALL) wait = stated_or(&gpu->all_to_all_wait_s, wait);
    return knows || x->level ? 0 : wait; // no link is held meanwhile
}

real ffn_communication_s(const struct pricing *x, const struct layer_run *run, int group,
                         const struct slice *slice)
{
    real once = activations_s(x, group, slice->tokens * x->h * x->e);
    if (run->kind != LAYER_MOE) return once;
    return once * (run->experts.shared_ffn > 0) + parts_s(x, run, group, slice->tokens) +
           exchange_s(x, run, group, slice->tokens) + wait_s(x, group);
}

// Queries, keys and values of all heads, where tensor ranks share KV heads; backward the scatter of
// their gradients.
static real shared_heads_s(const struct pricing *x, const struct layer_run *run,
                           const struct link_price *tensor, int group, real tokens)
{
    real shared = attention_of(x, run).shared;
    return shared > 0 ? exposed_share(x) * gather_s(x, tensor, tokens * shared * x->e,
                                                    x->gpus[group]->collective_launch_s.value)
                      : 0;
}

// Of the layer's collectives there are at most the tensor ranks', on the other level's links.
static bool talks_elsewhere(const struct pricing *x, const struct layer_run *run, int group,
                            enum level level)
{
    bool plain = run->kind == LAYER_BLOCK || is_end(run);
    if (!plain || x->c > 1 || x->grid) return false;
    return x->t <= 1 || (level && link_of_tensor_ranks(x, group).intra != (level == LEVEL_WITHIN));
}

bool leaves_level(const struct pricing *x, const struct layer_run *run, int group, enum level level)
{
    return talks_elsewhere(x, run, group, level) &&
           ((x->zero < 2 && !x->regathers) || !has_replicas(x));
}

void communication_of_layer(const struct pricing *x, const struct layer_run *run, int group,
                            const struct slice *slice, real attention_s, struct layer_talk *talk)
{
    real *forward_s = &talk->forward_s, *backward_s = &talk->backward_s;
    *talk = (struct layer_talk){0};
    if (x->grid || talks_elsewhere(x, run, group, x->level)) return; // grid.c
    struct link_price tensor = link_of_tensor_ranks(x, group);
    real exposed = exposed_share(x), activation = slice->tokens * x->h * x->e;
    real start = x->gpus[group]->collective_launch_s.value,
         once = activations_s(x, group, activation);
    if (run->kind == LAYER_EMBEDDING) {
        *forward_s = once;
    } else if (run->kind == LAYER_HEAD) {
        *forward_s = x->problem->job.gathered_logits
                         ? exposed * gather_s(x, &tensor, x->e * slice->tokens * x->v, start)
                         : exposed * 3 * tensor_sum_s(x, &tensor, 4 * slice->tokens, start);
        *forward_s *= x->predicted, *backward_s = x->predicted * once;
        put_beside_gradients(x, run, *backward_s, 0, talk);
    } else if (run->kind == LAYER_PROJECTOR) {
        // Both matrices are split along the inner width, so outputs are summed, and inputs'
        // gradients.
        const struct projector_shape *p = &run->projector;
        if (!p->inner) return;
        *forward_s = activations_s(x, group, slice->tokens * (real)p->outputs * x->e);
        *backward_s = activations_s(x, group, slice->tokens * (real)p->inputs * x->e);
    } else if (run->kind == LAYER_MEMORY) {
        *forward_s = *backward_s = once + pool_s(x, run, group, slice);
    } else {
        // With a parallel residual, both parts are summed before they are sent.
        real parts = parts_of(run) - (x->shape->parallel_residual ? 1 : 0);
        real both = parts * once, beta = x->problem->job.layout.fused_attention ? 2.5 : 2;
        if (run->kind == LAYER_MOE)
            both = once * ((run->no_attention ? 0 : 1) + (run->experts.shared_ffn > 0 ? 1 : 0)) +
                   parts_s(x, run, group, slice->tokens);
        if (run->kind == LAYER_MOE) {
            talk->dispatch_back_s = exchange_s(x, run, group, slice->tokens);
            talk->dispatch_s = talk->dispatch_back_s + wait_s(x, group);
        }
        both += shared_heads_s(x, run, &tensor, group, slice->tokens);
        talk->beside_s = sums_beside_products(x, run, &tensor) ? parts * once : 0;
        *forward_s = both + context_s(x, run, group, slice, 1, attention_s);
        if (keeps_keys(x, run)) talk->keys_s = *forward_s - both;
        *backward_s = both + context_s(x, run, group, slice, 2, beta * attention_s);
        put_beside_gradients(x, run, once, checkpoint_gather_s(x, group, activation), talk);
        if (splits_gate(x, run) && !x->problem->job.layout.sequence_parallel) *backward_s += once;
        if (run->mtp) add_projection(x, &tensor, activation, start, once, forward_s, backward_s);
    }
}
