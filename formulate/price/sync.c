// Gradient synchronisation: bytes and time of one layer by compression option, the latency of a
// stage, and the sync of tied embeddings between the end stages. docs/FORMULAS.md section 7.

#include "formulate/price/adapters.h"

enum { MATRICES_MAX = PRODUCTS_MAX + 3 };
struct matrix {
    real rows, columns;
};

// The weight matrices of a run that low-rank compression applies to.
static int matrices_of(const struct pricing *x, const struct layer_run *run,
                       struct matrix *matrices)
{
    int count = 0;
    struct pricing own;
    x = pricing_of_run(x, run, &own);
    if (run->frozen || run->shared_weights) return 0;
    if (is_layered(run)) {
        real ffn = ffn_of(x, run);
        struct product products[PRODUCTS_MAX];
        for (int all = attention_products(x, run, x->n, products); count < all; count++)
            matrices[count] = (struct matrix){products[count].depth, products[count].columns};
        for (int i = 1; i < (int)x->g && ffn > 0; i++)
            matrices[count++] = (struct matrix){x->h, ffn / x->t};
        if (ffn > 0) matrices[count++] = (struct matrix){ffn / x->t, x->h};
    } else if (run->kind == LAYER_MEASURED && find_measured(x, run)->matrix_rows > 0) {
        const struct measured_bytes *m = find_measured(x, run);
        matrices[count++] = (struct matrix){(real)m->matrix_rows, (real)m->matrix_columns};
    }
    return count;
}

// Bytes that a layer sends in its sync: gradients and weights, and separately those of its experts,
// which have their own ranks.
struct sent {
    real gradient, weight, expert_gradient, expert_weight;
};

// Embedding and head, or the embedding and its copy for further tokens.
static bool ends_share(const struct pricing *x)
{
    const struct model *model = &x->problem->model;
    return model->has_shape && x->p > 1 && (model->shape.tied_embeddings || x->predicted > 1);
}

// With fused embedding sync, the shared matrix is synchronised elsewhere.
static real shared_values(const struct pricing *x, const struct layer_run *run)
{
    bool shared = run->kind == LAYER_EMBEDDING || run->kind == LAYER_HEAD;
    return shared && ends_share(x) && x->problem->job.layout.fused_embedding_sync
               ? x->v * x->h_e / x->t
               : 0;
}

static struct sent sent_of(const struct pricing *x, const struct layer_run *run)
{
    const struct measured_bytes *m = find_measured(x, run);
    struct sent sent = {(real)m->gradient_bytes, (real)m->weight_bytes, 0, 0};
    if (run->kind != LAYER_MEASURED) {
        struct layer_parameters p = parameters_of(x, run);
        sent = (struct sent){x->e_g * fmaxl(0, p.dense - shared_values(x, run)), x->e * p.dense,
                             x->e_g * p.experts, x->e * p.experts};
    }
    return sent;
}

// The effect of an option on the sync of one layer.
struct compression {
    enum compression_method method;
    real saved_bytes, feedback_bytes;
    real flop, back_flop, traffic; // of the factors; traffic: there, and back as much
    real packed, unpacked;         // values, for the other forms
    int calls; // compressions and decompressions; 0: the gradient is not compressed
};

static struct compression factorise(const struct pricing *x, const struct layer_run *run, real rank)
{
    struct matrix matrices[MATRICES_MAX];
    struct compression all = {COMPRESS_LOW_RANK, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0, count = matrices_of(x, run, matrices); i < count; i++) {
        real rows = matrices[i].rows, columns = matrices[i].columns, values = rows * columns,
             sent = rank * (rows + columns);
        if (reaches(sent, values)) continue;
        all.saved_bytes += x->e_g * (values - sent);
        all.feedback_bytes += x->e_g * values;
        all.traffic += x->e_g * (values + sent);
        all.flop += 4 * rows * columns * rank + 2 * rows * rank * rank;
        all.back_flop += 2 * rows * columns * rank;
        all.calls += 2;
    }
    return all;
}

// Applies to the whole dense gradient. The largest values of different ranks are at different
// positions, so an all-reduce gathers those of all ranks. Values in fewer bits are unpacked, added
// and packed again by the rank that owns the part.
static struct compression pack(const struct pricing *x, const struct layer_run *run,
                               const struct compression_form *form)
{
    struct compression all = {form->method, 0, 0, 0, 0, 0, 0, 0, 0};
    real gradient = sent_of(x, run).gradient, values = gradient / x->e_g,
         bytes = form_bytes(form, values, x->e_g), packed = values, unpacked = values;
    bool reduced = x->zero == 0; // every rank gets the whole sum, otherwise a part of it
    if (form->method == COMPRESS_TOP_K) {
        unpacked = values + (x->R - 1) * values * form->amount / 1000;
        if (reduced) bytes *= x->R / 2;
        else unpacked /= x->R;
    } else if (reduced) {
        packed += values / x->R;
        unpacked += values;
    }
    if (gradient <= 0 || reaches(bytes, gradient)) return all;
    all.saved_bytes = gradient - bytes;
    all.feedback_bytes = gradient;
    all.packed = packed, all.unpacked = unpacked, all.calls = 2;
    return all;
}

static struct compression compress(const struct pricing *x, const struct layer_run *run,
                                   const struct compression_form *form)
{
    if (!form->amount || x->zero >= 2)
        return (struct compression){form->method, 0, 0, 0, 0, 0, 0, 0, 0};
    return form->method == COMPRESS_LOW_RANK ? factorise(x, run, form->amount) : pack(x, run, form);
}

static real compression_s(const struct pricing *x, const struct compression *c, int group)
{
    const struct gpu_costs *gpu = x->gpus[group];
    struct form_rates rates = form_rates(gpu, c->method);
    if (!c->calls) return 0;
    struct back_rates back = c->method == COMPRESS_LOW_RANK ? low_rank_back(x->rates[group])
                                                            : (struct back_rates){1, 0};
    real work = c->method == COMPRESS_LOW_RANK
                    ? c->flop / x->rates[group]->low_rank_flop_per_s.value +
                          c->back_flop / back.flop_per_s +
                          low_rank_traffic_s(x, group, c->traffic) +
                          (back.bytes_per_s > 0 ? c->traffic / back.bytes_per_s : 0)
                    : c->packed / rates.there + c->unpacked / rates.back;
    return work + c->calls * gpu->compression_overhead_s.value;
}

static bool is_measured(const struct pricing *x, const struct layer_run *run, int group)
{
    return run->kind == LAYER_MEASURED ||
           find_layer_time(x, run->name, x->problem->cluster.groups[group].gpu);
}

// Measured layers were measured at ZeRO 1 at most.
static int zero_of(const struct pricing *x, const struct layer_run *run, int group)
{
    return x->zero > 1 && is_measured(x, run, group) ? 1 : x->zero;
}

static bool regathers(const struct pricing *x, const struct layer_run *run, int group)
{
    return x->regathers && !is_measured(x, run, group);
}

// Rings that leave their node pass through it, too, where several of their ranks are in it.
static real ring_held_s(const struct pricing *x, const struct link_price *link, real bytes,
                        real ranks, real apart, int group)
{
    if (is_at_level(x, link)) return scatter_s(x, link, bytes, ranks);
    bool passes = x->level == LEVEL_WITHIN && ranks > 1 &&
                  apart < x->problem->cluster.groups[group].gpus_per_node;
    return passes ? (ranks - 1) / ranks * bytes / link_of_node(x, group).bytes_per_s : 0;
}

// The same for the latency.
static real ring_latency_s(const struct pricing *x, const struct link_price *link, real ranks)
{
    return is_at_level(x, link) ? scatter_latency_s(x, link, ranks) : 0;
}

// Whether groups that have the same states sum what a backward pass left them, each time: PyTorch's
// FSDP, but not the engines that do so once, before the step.
static bool groups_sum_each_pass(const struct pricing *x)
{
    const enum trainer trainer = x->problem->job.trainer;
    return x->zero >= 2 && (trainer == TRAINER_TORCHTITAN || trainer == TRAINER_OTHER);
}

// Their sum of one layer's shards, a message of its own; bytes: of a whole layer's gradients.
static real groups_sum_s(const struct pricing *x, real bytes, real expert_bytes, int group)
{
    if (x->R_C <= 1) return 0;
    struct link_price link = link_of_groups(x, group);
    real shard = bytes / x->R_S + expert_bytes / x->R_Se;
    if (shard <= 0) return 0;
    return is_at_level(x, &link) ? sum_price_s(x, &link, shard, x->R_C)
                                 : 2 * ring_held_s(x, &link, shard, x->R_C, x->D / x->R_C, group);
}

struct layer_gathers gathers_of_layer(const struct pricing *x, const struct layer_run *run,
                                      int group)
{
    struct layer_gathers gathers = {0, 0};
    if ((x->zero < 2 && !x->regathers) || !has_replicas(x) || run->kind == LAYER_MEASURED)
        return gathers;
    struct link_price link = link_of_shards(x, group, false),
                      expert_link = link_of_shards(x, group, true);
    struct layer_parameters p = parameters_of(x, run);
    bool dense = p.dense > 0, experts = p.experts > 0;
    real latency = (dense ? ring_latency_s(x, &link, x->R_S) : 0) +
                   (experts ? ring_latency_s(x, &expert_link, x->R_Se) : 0),
         apart = x->t_e * x->x; // those that have the same experts
    if (x->zero >= 2)
        gathers.gradients_s =
            ring_held_s(x, &link, x->e_w * p.dense, x->R_S, x->t, group) +
            ring_held_s(x, &expert_link, x->e_w * p.experts, x->R_Se, apart, group) + latency;
    if (groups_sum_each_pass(x))
        gathers.gradients_s += groups_sum_s(x, x->e_w * p.dense, x->e_w * p.experts, group);
    if (x->layered) gathers.gradients_s /= x->m;
    if (x->zero < 3 && !x->regathers) return gathers;
    if (!dense && p.frozen_bytes > 0) latency += ring_latency_s(x, &link, x->R_S);
    gathers.weights_s =
        ring_held_s(x, &link, x->e * p.dense + p.frozen_bytes, x->R_S, x->t, group) +
        ring_held_s(x, &expert_link, x->e * p.experts, x->R_Se, apart, group) + latency;
    if (x->layered) gathers.weights_s /= x->m;
    // A backward pass leaves them gathered, so of all 2 m passes m + 1 gather: the first, and those
    // behind a forward pass.
    if (x->regathers && run_has_gradient(x, run)) gathers.weights_s *= (x->m + 1) / (2 * x->m);
    return gathers;
}

// Whether every rank gets all sums, in fp32, and then updates its share; with DeepSpeed there are
// then no shares.
static bool sums_whole(const struct pricing *x, int zero)
{
    const struct job *job = &x->problem->job;
    return job->whole_gradient_sums && zero <= (job->trainer == TRAINER_DEEPSPEED ? 0 : 1);
}

// Tensors of a layer that are trained: matrices and norms, or two of each adapter.
static real tensors_of(const struct pricing *x, const struct layer_run *run)
{
    struct matrix matrices[MATRICES_MAX];
    struct pricing own;
    if (!run_is_trained(run)) return 0;
    if (!is_layered(run)) return 1;
    x = pricing_of_run(x, run, &own);
    return run->frozen ? 2 * adapters_of(x, run).count
                       : matrices_of(x, run, matrices) + norms_of(x, run);
}

// Without a barrier, the weights are gathered during the forward pass of the next iteration. Only
// the part that takes longer than the layer's forward pass leaves its link free is exposed.
static real gather_exposed_s(const struct pricing *x, const struct layer_run *run, int group,
                             const struct link_price *link, real gather)
{
    if (x->problem->job.layout.barrier || !x->overlapped) return gather;
    real idle = 0;
    for (int slice = 0; slice < x->problem->job.layout.slice_count; slice++)
        idle +=
            seconds_of_layer(x, run, group, slice).idle[link->intra ? LEVEL_WITHIN : LEVEL_BETWEEN];
    return fmaxl(0, gather - idle);
}

real pool_sum_s(const struct pricing *x, const struct layer_run *run,
                const struct layer_parameters *p, int group)
{
    if (!(p->pool > 0)) return 0;
    struct link_price link = link_of_pool_copies(x, run, group);
    real bytes = x->zero ? (x->e_g + x->e) / 2 * p->pool : x->e_g * p->pool;
    return all_reduce_price_s(&link, bytes, p->copies);
}

// Whatever shares states: over all ranks that have the same layers.
static real scatter_over_all_s(const struct pricing *x, real bytes, real expert_bytes, int group)
{
    struct link_price link = link_of_gradient_sync(x, group),
                      expert_link = link_of_expert_sync(x, group);
    return scatter_s(x, &link, bytes, x->R) + scatter_s(x, &expert_link, expert_bytes, x->R_e);
}

static real sync_s(const struct pricing *x, const struct layer_run *run,
                   const struct compression *compression, int group)
{
    int zero = zero_of(x, run, group);
    struct layer_parameters p = {0};
    if (run->kind == LAYER_MEMORY) p = parameters_of(x, run);
    real pool = pool_sum_s(x, run, &p, group);
    if (!has_replicas(x)) return pool;
    struct sent sent = sent_of(x, run);
    real gradient = fmaxl(0, sent.gradient - compression->saved_bytes);
    bool owners = x->problem->job.owner_broadcasts && zero == 1,
         groups_sum = zero && !owners && (zero == 1 || !groups_sum_each_pass(x));
    if (groups_sum) pool += groups_sum_s(x, gradient, sent.expert_gradient, group);
    if (zero == 3) return pool;
    struct link_price link = link_of_shards(x, group, false),
                      expert_link = link_of_shards(x, group, true);
    real scatter = owners ? scatter_over_all_s(x, gradient, sent.expert_gradient, group)
                          : scatter_s(x, &link, gradient, x->R_S) +
                                scatter_s(x, &expert_link, sent.expert_gradient, x->R_Se);
    real times = zero == 0 || owners ? 2 : zero == 1 ? 1 : 0;
    bool whole = sums_whole(x, zero);
    if (whole) times = 2 * 4 / x->e_g;
    real seconds = times * scatter;
    if (whole) // concatenated, converted to fp32, divided, converted back, copied back
        seconds += 28 * (sent.gradient + sent.expert_gradient) / x->e_g /
                   x->gpus[group]->memory_bytes_per_s.value;
    real gather = scatter_s(x, &link, sent.weight, x->R_S) +
                  scatter_s(x, &expert_link, sent.expert_weight, x->R_Se);
    if (zero && !regathers(x, run, group))
        seconds += gather_exposed_s(x, run, group, &link, gather);
    return seconds + pool + (x->R > 1 ? compression_s(x, compression, group) : 0);
}

real layer_sync_s(const struct pricing *x, const struct layer_run *run, int option, int group)
{
    struct compression compression = compress(x, run, &x->priced->gradient_options[option].form);
    return sync_s(x, run, &compression, group);
}

enum status price_gradient_syncs(struct pricing *x, int run, struct error *err)
{
    struct priced *priced = x->priced;
    const struct layer_run *layers = &x->problem->model.runs[run];
    for (int option = 0; option < priced->gradient_option_count; option++) {
        const struct compression_option *o = &priced->gradient_options[option];
        struct compression compression = compress(x, layers, &o->form);
        TRY(round_bytes(&priced->runs[run].feedback_bytes[option],
                        o->forgets ? 0 : compression.feedback_bytes, "gradient feedback",
                        layers->name, err));
        for (int group = 0; group < priced->group_count; group++) {
            if (priced->groups[group].excluded || x->problem->cluster.places.node_count)
                continue; // see nodes.c
            TRY(round_time(&priced->runs[run].sync_ns[option][group],
                           sync_s(x, layers, &compression, group), "gradient sync time",
                           layers->name, err));
        }
    }
    return OK;
}

// How many times a stage's sync goes around the ranks: twice for an all-reduce, or for a scatter
// and a gather; three times for an all-reduce and a gather.
static int rounds_of(const struct pricing *x, int group, bool experts)
{
    static const int by_zero[] = {2, 2, 1, 0};
    int most = 0;
    for (int i = 0; i < x->problem->model.run_count; i++) {
        const struct layer_run *run = &x->problem->model.runs[i];
        if (experts ? run->kind != LAYER_MOE || run->frozen : !run_is_trained(run)) continue;
        int zero = zero_of(x, run, group), rounds = by_zero[zero] + (zero && sums_whole(x, zero));
        if (regathers(x, run, group)) rounds--; // no gather
        if (rounds > most) most = rounds;
    }
    return most;
}

// Each owner sends what it has by itself, around all ranks: of a mean stage's tensors each, or
// where it has more of them than ranks, as many pieces as there are owners.
static real broadcasts_of(const struct pricing *x, int group)
{
    const struct model *m = &x->problem->model;
    real tensors = 0;
    for (int i = 0; i < m->run_count && x->problem->job.owner_broadcasts; i++)
        if (zero_of(x, &m->runs[i], group) == 1)
            tensors += m->runs[i].count * tensors_of(x, &m->runs[i]);
    return fminl(x->R_S, tensors / x->p);
}

real stage_sync_s(const struct pricing *x, int group)
{
    real shared = shared_pool_step_s(x, group) + shared_weight_step_s(x, group);
    if (!has_replicas(x)) return shared;
    bool owners = x->problem->job.owner_broadcasts; // who sum over all ranks
    struct link_price shards = link_of_shards(x, group, false),
                      link = owners ? link_of_gradient_sync(x, group) : shards,
                      expert_link = owners ? link_of_expert_sync(x, group)
                                           : link_of_shards(x, group, true);
    real latency = rounds_of(x, group, false) *
                       scatter_latency_s(x, &link, owners ? x->R : x->R_S) +
                   broadcasts_of(x, group) * scatter_latency_s(x, &shards, x->R_S);
    if (x->has_trained_experts)
        latency += rounds_of(x, group, true) *
                   scatter_latency_s(x, &expert_link, owners ? x->R_e : x->R_Se);
    return latency + shared;
}

enum status price_sync_constants(struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    for (int group = 0; group < priced->group_count; group++) {
        struct priced_group *to = &priced->groups[group];
        for (int option = 0; option < priced->gradient_option_count && !to->excluded &&
                             !x->problem->cluster.places.node_count;
             option++)
            TRY(round_time(&to->sync_constant_ns[option], stage_sync_s(x, group),
                           "gradient sync latency", to->name, err));
    }
    return OK;
}

// Both end stages train the matrix that they share.
static bool embeddings_are_trained(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].frozen &&
            (m->runs[i].kind == LAYER_EMBEDDING || m->runs[i].kind == LAYER_HEAD))
            return false;
    return true;
}

bool sums_fused_embeddings(const struct pricing *x)
{
    return x->priced->has_embedding_sync && x->problem->job.layout.fused_embedding_sync;
}

real embedding_sum_s(const struct pricing *x, struct link_price link)
{
    real bytes = x->e_g * x->v * x->h_e / x->t;
    link.table = NULL;
    return sum_price_s(x, &link, bytes, sums_fused_embeddings(x) ? 2 * x->R : 2);
}

// For the fused sum, over all ranks of both ends: the sum among the ranks of one end, if these
// leave their node.
static real among_replicas_s(const struct pricing *x, int group)
{
    if (!sums_fused_embeddings(x) || link_of_gradient_sync(x, group).intra) return 0;
    struct link_price own = ends_of_stages(x, group, group).there;
    return own.joined ? embedding_sum_s(x, own) : 0;
}

enum status price_embedding_sync(struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    priced->has_embedding_sync = ends_share(x) && embeddings_are_trained(&x->problem->model);
    priced->embedding_sync_ns = TAKE(x->arena, priced->group_count * priced->group_count, int64_t);
    for (int from = 0; from < priced->group_count; from++)
        for (int to = 0; to < priced->group_count; to++) {
            int64_t *ns = &priced->embedding_sync_ns[from * priced->group_count + to];
            struct message_ends ends = ends_of_stages(x, from, to);
            *ns = ends.there.joined ? 0 : PRICE_NONE;
            if (!ends.there.joined || !priced->has_embedding_sync) continue;
            real between = fmaxl(embedding_sum_s(x, ends.there), embedding_sum_s(x, ends.back)),
                 seconds =
                     fmaxl(between, fmaxl(among_replicas_s(x, from), among_replicas_s(x, to)));
            TRY(round_time(ns, seconds, "embedding sync time", priced->groups[from].name, err));
        }
    return OK;
}
