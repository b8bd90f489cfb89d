// Time of a layer on a device of a node group: as measured, else FLOP and bytes over rates, at
// least what the host needs to launch the kernels, with collectives and gathers (FORMULAS 3).

#include "data/kinds/schedules.h"
#include "formulate/price/adapters.h"

// Rates that products reach, in FLOP per second.
struct product_rates {
    real forward, data, weight, share; // share: of its rates that a misaligned head reaches
    real experts, experts_back;        // of experts' products; 0: as others
};

// Seconds of attention, and of the launches of elementwise kernels if products are priced by shape.
struct kernel_seconds {
    real attention, attention_back, elementwise;
};

static struct product_rates product_rates_of(const struct pricing *x, const struct layer_run *run,
                                             int group)
{
    const struct precision_costs *rates = rates_of_run(x, run, group);
    real forward = rates->gemm_flop_per_s.value, share = rates->misaligned_gemm_share.value;
    struct product_rates r = {
        forward,
        estimate_or(&rates->data_gradient_flop_per_s, forward),
        estimate_or(&rates->weight_gradient_flop_per_s, forward),
        1,
        rates->grouped_flop_per_s.value,
        estimate_or(&rates->backward_grouped_flop_per_s, rates->grouped_flop_per_s.value)};
    bool misaligned = run->kind == LAYER_HEAD && share > 0 && fmodl(x->v, 8 * x->t1) != 0;
    return misaligned
               ? (struct product_rates){r.forward * share, r.data * share, r.weight * share, share}
               : r;
}

static real elementwise_launches(const struct pricing *x, const struct layer_run *run)
{
    struct attention y = attention_of(x, run);
    real more = norms_of(x, run) + y.count + y.kernels + (run->mtp ? 2 : 0) +
                (x->problem->job.layout.fused_attention ? 0 : 2 * y.scores);
    switch (run->kind) {
    case LAYER_BLOCK: return (run->no_feed_forward ? 0 : 2) + more;
    case LAYER_MOE: return 6 + more;
    case LAYER_HEAD: return 5 * x->predicted;
    case LAYER_EMBEDDING: return 2;
    case LAYER_PROJECTOR: return run->projector.inner ? 1 : 0;
    default: return 0;
    }
}

// Fused: one exponential per score in addition to the FLOP, and the blocks on the diagonal in full.
static void add_fused_kernels(const struct pricing *x, const struct layer_run *run,
                              const struct layer_work *work, real rate, real rate_back, int group,
                              struct kernel_seconds *k)
{
    const struct gpu_costs *gpu = x->gpus[group];
    real cells = gpu->score_cells_per_s.value,
         launch = gpu->product_launch_s.value * (run->cross_attention ? 2 : 1),
         exponentials = cells > 0 ? work->cells * x->a / x->t1 / cells : 0;
    k->attention += work->wasted / rate + exponentials + launch;
    k->attention_back += 2.5L * work->wasted / rate_back + exponentials + 2 * launch;
}

// The share of the attention rates, which are those of the GPU maker's library.
static real library_share(const struct pricing *x, int group)
{
    const struct gpu_costs *g = x->gpus[group];
    const struct estimate *shares[] = {[ATTENTION_FLASH_2] = &g->open_attention_share,
                                       [ATTENTION_TRITON] = &g->triton_attention_share,
                                       [ATTENTION_MAKER_2024] = &g->earlier_attention_share};
    const struct estimate *share = shares[x->problem->job.attention_kernel];
    return share && x->problem->job.layout.fused_attention ? estimate_or(share, 1) * filled(x) : 1;
}

static real attention_share(const struct pricing *x, int group, bool back)
{
    return library_share(x, group) * array_attention_share(x, group, back);
}

static struct kernel_seconds kernels_of(const struct pricing *x, const struct layer_run *run,
                                        const struct layer_work *work, const struct slice *slice,
                                        int group)
{
    const struct precision_costs *rates = x->rates[group], *own = rates_of_run(x, run, group);
    bool shaped = own->product_flop_per_s.value > 0;
    real share = attention_share(x, group, false), share_back = attention_share(x, group, true),
         rate = share * rates->attention_flop_per_s.value,
         rate_back = share_back * estimate_or(&rates->backward_attention_flop_per_s,
                                              rates->attention_flop_per_s.value);
    // A step of a ring of context ranks is a kernel of its own, without a mask.
    const struct estimate *ring = &rates->ring_attention_flop_per_s;
    if (x->c > 1 && ring->value > 0) {
        rate = share * ring->value;
        rate_back = share_back *
                    estimate_or(&rates->backward_ring_attention_flop_per_s, ring->value);
    }
    struct kernel_seconds k = {.attention = work->attention / rate,
                               .attention_back = work->attention_back / rate_back};
    struct product_seconds scores;
    if (!shaped) return k;
    k.elementwise = elementwise_launches(x, run) * x->gpus[group]->elementwise_launch_s.value;
    if (!(work->attention > 0)) return k;
    if (work->fused) add_fused_kernels(x, run, work, rate, rate_back, group, &k);
    else if (score_times(x, run, slice, group, &scores))
        k.attention = scores.forward + work->states / rate,
        k.attention_back = scores.data + scores.weight + work->states_back / rate_back;
    return k;
}

// A pass over the layer's own matrices. Small batches with quantised weights are bound by reading
// these.
static real matrices_s(const struct pricing *x, const struct layer_run *run, real seconds,
                       int group)
{
    real values = 0;
    if (!run->weight_bits) return seconds;
    if (run->kind == LAYER_HEAD) values = x->v * x->h_e;
    if (is_layered(run))
        values = attention_of(x, run).matrices.sharded + x->g * x->h * ffn_of(x, run);
    if (run->kind == LAYER_MOE)
        values += x->g * (real)expert_width(x->shape, &run->experts) * (real)run->experts.ffn *
                  (real)run->experts.experts * x->t / (x->x * x->t_e);
    return fmaxl(seconds, values * frozen_value_bytes(x, run) / x->t /
                              x->gpus[group]->memory_bytes_per_s.value);
}

// Seconds of products forward and for gradients of inputs, and of those for gradients of weights.
struct operand_seconds {
    real products, learning;
};

static struct operand_seconds operands_of(const struct pricing *x, const struct layer_run *run,
                                          const struct layer_work *work, int group)
{
    const struct precision_costs *rates = rates_of_run(x, run, group);
    real rate = rates->operand_bytes_per_s.value,
         learning = estimate_or(&rates->weight_operand_bytes_per_s, rate);
    return (struct operand_seconds){rate > 0 ? work->operands / rate : 0,
                                    learning > 0 ? work->operands / learning : 0};
}

// All of a pass's products at one rate, or those of experts at their own; `without` FLOP.
static struct product_seconds seconds_by_rates(const struct layer_work *work,
                                               const struct product_rates *r, real without)
{
    real routed = r->experts > 0 ? work->routed : 0, others = work->linear - routed - without;
    struct product_seconds s = {others / r->forward, others / r->data, others / r->weight};
    for (int k = 0; k < READING_PARTS; k++)
        s.read_data[k] = work->reading[k] / r->data,
        s.read_weight[k] = work->reading[k] / r->weight;
    if (routed > 0) {
        s.forward += routed / r->experts;
        s.data += routed / r->experts_back, s.weight += routed / r->experts_back;
    }
    return s;
}

static struct compute compute_of(const struct pricing *x, const struct layer_run *run,
                                 const struct layer_work *work, const struct slice *slice,
                                 int group)
{
    real memory = x->gpus[group]->memory_bytes_per_s.value,
         back = estimate_or(&x->gpus[group]->backward_memory_bytes_per_s, memory);
    struct operand_seconds operands = operands_of(x, run, work, group);
    struct product_rates rates = product_rates_of(x, run, group);
    struct kernel_seconds kernels = kernels_of(x, run, work, slice, group);
    struct product_seconds products;
    real learning;
    if (product_times(x, run, slice, group, rates.share, &products)) {
        operands = (struct operand_seconds){0, 0}, learning = products.weight;
    } else {
        products = seconds_by_rates(work, &rates, 0);
        learning = seconds_by_rates(work, &rates, work->weightless).weight;
    }
    real casts = work->casts / estimate_or(&x->rates[group]->cast_bytes_per_s, memory);
    struct compute c = {.attention = kernels.attention};
    for (int k = 0; k < READING_PARTS; k++)
        c.read_data[k] = products.read_data[k], c.read_weight[k] = products.read_weight[k];
    struct product_seconds adapters = adapter_times(x, run, work, group);
    c.forward = matrices_s(x, run, products.forward, group) + operands.products + adapters.forward +
                c.attention + work->memory / memory + casts + kernels.elementwise;
    c.backward = matrices_s(x, run, products.data, group) + operands.products + adapters.data +
                 adapters.weight + kernels.attention_back +
                 (2 * work->memory + work->memory_back) / back + casts + 2 * kernels.elementwise;
    if (run->frozen) c.weight = adapters.weight;
    else if (run->kind != LAYER_EMBEDDING) c.weight = learning + operands.learning;
    if (!run->frozen) c.backward += products.weight + operands.learning + work->gathered / memory;
    return c;
}

static real step_factor(const struct pricing *x, int group)
{
    return estimate_or(step_factor_of(x, group), 1);
}

// Kernels in sequence take another time than single ones added up; a layer has overheads, too.
static void finish_compute(const struct pricing *x, const struct layer_run *run, int group,
                           struct compute *c)
{
    const struct gpu_costs *gpu = x->gpus[group];
    real forward = 1, backward = 1;
    switch (run->kind) {
    case LAYER_BLOCK:
    case LAYER_MOE:
        forward = estimate_or(&gpu->forward_factor, 1),
        backward = estimate_or(&gpu->backward_factor, 1);
        break;
    case LAYER_HEAD:
        forward = estimate_or(&gpu->head_forward_factor, 1);
        backward = estimate_or(&gpu->head_backward_factor, 1);
        break;
    case LAYER_EMBEDDING:
        forward = estimate_or(&gpu->embedding_forward_factor, 1);
        backward = estimate_or(&gpu->embedding_backward_factor, 1);
        break;
    default: break;
    }
    real overhead = gpu->layer_overhead_s.value,
         after = stated_or(&gpu->backward_overhead_s, overhead), step = step_factor(x, group);
    overhead *= times_of(x, run), after *= times_of(x, run);
    if (run->kind == LAYER_EMBEDDING) overhead = after = 0;
    c->forward = step * (forward * c->forward + overhead);
    c->backward = step * (backward * c->backward + after);
    c->weight *= step * backward;
    for (int k = 0; k < READING_PARTS; k++)
        c->read_data[k] *= step * backward, c->read_weight[k] *= step * backward;
}

bool price_layer_kernels(struct layer_kernels *to, const struct problem *problem, int run,
                         int group)
{
    struct pricing x = pricing_of(problem, NULL, NULL);
    const struct layer_run *layers = &problem->model.runs[run];
    if (!x.gpus[group] || !x.rates[group] || layers->kind == LAYER_MEASURED) return false;
    struct pricing own;
    const struct pricing *y = pricing_of_run(&x, layers, &own);
    struct slice whole = slice_of(y, 0);
    struct layer_work work = work_of_layer(y, layers, &whole);
    struct compute c = compute_of(y, layers, &work, &whole, group);
    *to = (struct layer_kernels){
        (double)(work.linear + work.adapters + work.attention), (double)c.forward,
        (double)c.backward,
        (double)(c.attention + work.scores / x.gpus[group]->memory_bytes_per_s.value)};
    return true;
}

// Overlapped, which slows both down.
static real beside(const struct pricing *x, real pass, real gather)
{
    return fmaxl(pass, gather) + x->problem->costs.overlap_slowdown.value * fminl(pass, gather);
}

// How long a pass holds the links of one level, and what is gathered and scattered beside it.
struct share {
    real held, gathered;
};
struct shares {
    struct share forward, backward, weight;
    real again; // of the forward pass without what a grid gathers
};

// Whether anything of a pass runs beside something else, so that a link could be promised twice.
static bool anything_hides(const struct pricing *x)
{
    const struct job *job = &x->problem->job;
    bool moves = x->regathers || x->zero >= (job->layout.barrier ? 2 : 1);
    return (x->overlapped && moves && has_replicas(x)) || x->c > 1 ||
           x->problem->costs.tensor_overlap.value > 0 || job->overlapped_tensor ||
           job->overlapped_dispatch;
}

// apart: gradients are scattered in a pass of their own.
static struct shares shares_at(const struct pricing *x, const struct layer_run *run, int group,
                               const struct slice *slice, enum level level, bool apart)
{
    if (!anything_hides(x) || leaves_level(x, run, group, level))
        return (struct shares){.again = 0};
    struct pricing own = *x;
    struct layer_talk talk;
    struct grid_collectives grid = {0};
    bool split = schedule_splits_backward(x->problem->job.layout.schedule);
    own.level = level, communication_of_layer(&own, run, group, slice, 0, &talk);
    if (x->grid) grid = collectives_of_grid(&own, run, group, slice);
    struct layer_gathers moved = gathers_of_layer(&own, run, group);
    real forward = talk.forward_s + talk.dispatch_s + grid.forward_s,
         backward = talk.backward_s + talk.dispatch_back_s + grid.backward_s + grid.products_s +
                    grid.gather_back_s + (apart ? 0 : grid.scatter_s);
    return (struct shares){{forward + grid.gather_s, moved.weights_s},
                           {backward, moved.weights_s + (split ? 0 : moved.gradients_s)},
                           {apart ? grid.scatter_s : 0, moved.gradients_s},
                           forward};
}

// A pass is no shorter than it holds the links of a level, whatever these sums hide under. What is
// gathered beside it has those links for the rest of the pass.
static real joined(const struct pricing *x, real pass, real gather, struct share within,
                   struct share between)
{
    pass = fmaxl(pass, fmaxl(within.held, between.held));
    if (!x->overlapped) return pass + gather;
    return fmaxl(within.held + beside(x, pass - within.held, within.gathered),
                 between.held + beside(x, pass - between.held, between.gathered));
}

// The host starts a block's collectives together with its kernels, and the GPU may be waiting for
// all of them; the collectives of the end layers come afterwards.
static real floored(const struct layer_run *run, real compute, real launch, real communication)
{
    return is_end(run) ? fmaxl(compute, launch) + communication
                       : fmaxl(compute + communication, launch);
}

// A pass that waits for what a grid's third axis moves, or, if that is faster, runs beside it while
// links are idle: collectives take turns, also those under products.
static real moving(const struct pricing *x, const struct layer_run *run, real compute, real launch,
                   real communication, real under, real moved)
{
    real after = floored(run, compute, launch, communication + moved), busy = communication + under,
         idle = floored(run, compute, launch, communication) - busy;
    if (!x->grid || !x->problem->job.overlapped_tensor) return after;
    return fminl(after, busy + beside(x, idle, moved));
}

// Of t chunks multiplied and sent, one message is not overlapped: max(C + T/t, T + C/t).
static real hidden_s(const struct pricing *x, real beside, real compute)
{
    return (1 - 1 / x->t) * fminl(beside, compute);
}

// Of what is gathered and summed beside the products for a part's gradients.
static real hidden_by_gradients_s(const struct pricing *x, const struct layer_talk *talk,
                                  const struct compute *c)
{
    real seconds = 0;
    for (int k = 0; k < READING_PARTS; k++)
        if (talk->reads[k])
            seconds += fminl(talk->gathered_s, c->read_data[k]) +
                       fminl(talk->summed_s, c->read_weight[k]);
    return (1 - x->problem->costs.overlap_slowdown.value) * seconds;
}

// Dispatch that another micro-batch's passes hide in part, of which this one is as long.
static real dispatch_shown_s(const struct pricing *x, real dispatch, real compute)
{
    if (!x->problem->job.overlapped_dispatch || x->x == 1) return dispatch;
    real share = x->problem->costs.dispatch_overlap.value;
    if (x->problem->job.dispatcher == DISPATCH_ALL_TO_ALL)
        share = stated_or(&x->problem->costs.all_to_all_overlap, share);
    return dispatch - share * fminl(dispatch, compute);
}

static real launch_of(const struct pricing *x, const struct layer_run *run, int group)
{
    const struct gpu_costs *gpu = x->gpus[group];
    enum graphs graphs = x->problem->job.graphs;
    real launch = gpu->layer_launch_s.value * times_of(x, run);
    if (graphs == GRAPHS_STEP || (graphs == GRAPHS_PARTS && is_layered(run))) launch = 0;
    if (run->kind == LAYER_EMBEDDING) launch *= gpu->embedding_launch_share.value;
    bool mixture = run->kind == LAYER_MOE && graphs != GRAPHS_STEP;
    return mixture ? mixture_launch_s(x, run, group, launch) : launch;
}

// What selective recomputation repeats: attention; torchtitan's single operators: what is bound by
// memory, every second product, a layer's second reduce-scatter, but not fused attention.
static real selective_s(const struct pricing *x, const struct layer_run *run, int group,
                        const struct slice *slice, const struct layer_work *work, real attention)
{
    real memory = x->gpus[group]->memory_bytes_per_s.value,
         factor = step_factor(x, group) * estimate_or(&x->gpus[group]->forward_factor, 1);
    if (x->problem->job.trainer != TRAINER_TORCHTITAN)
        return work->cells > 0 ? factor * (attention + work->scores / memory) : 0;
    real seconds = repeated_products_s(x, run, slice->tokens, group) + work->memory / memory;
    if (!work->fused || !(work->cells > 0)) seconds += attention;
    if (x->rates[group]->product_flop_per_s.value > 0)
        seconds += elementwise_launches(x, run) * x->gpus[group]->elementwise_launch_s.value;
    return factor * seconds + tensor_all_reduce_s(x, group, slice);
}

// Compute, of the work that is put into *own or was kept; with the numbers of the same GPU it takes
// the same time.
static struct compute kept_compute(const struct pricing *x, const struct layer_run *run, int group,
                                   const struct slice *slice, struct layer_work *own,
                                   const struct layer_work **work)
{
    struct kept_layer *kept = kept_of(x, run, group, slice->index);
    *work = kept ? &kept->work : own;
    if (!kept || !kept->gpu) *(kept ? &kept->work : own) = work_of_layer(x, run, slice);
    if (kept && kept->gpu == x->gpus[group]) return kept->compute;
    struct compute c = compute_of(x, run, *work, slice, group);
    finish_compute(x, run, group, &c);
    if (kept && !kept->gpu) kept->gpu = x->gpus[group], kept->compute = c;
    return c;
}

// Of the modes that are priced; the others are not even cleared, thousands of times a second.
static struct layer_seconds no_seconds(const struct pricing *x)
{
    struct layer_seconds s;
    s.forward = s.backward = s.weight = 0;
    for (int level = 0; level < LEVEL_COUNT; level++) s.idle[level] = 0;
    for (int mode = 0; mode < x->modes; mode++) s.again[mode] = 0;
    return s;
}

static struct layer_seconds by_formula(const struct pricing *x, const struct layer_run *run,
                                       int group, const struct slice *slice)
{
    struct layer_work own;
    const struct layer_work *work;
    struct compute c = kept_compute(x, run, group, slice, &own, &work);
    struct layer_gathers gathers = gathers_of_layer(x, run, group);
    real launch = launch_of(x, run, group),
         twice = run->kind == LAYER_EMBEDDING ? launch : 2 * launch;
    struct layer_talk talk;
    struct grid_collectives grid = {0};
    communication_of_layer(x, run, group, slice, c.attention, &talk);
    bool split = schedule_splits_backward(x->problem->job.layout.schedule);
    real back = split ? c.backward - c.weight : c.backward,
         lost = x->c > 1 ? x->gpus[group]->context_tensor_loss.value : 0,
         hidden = (1 - lost) * hidden_by_gradients_s(x, &talk, &c),
         forward_comm = talk.forward_s - (1 - lost) * hidden_s(x, talk.beside_s, c.forward) +
                        dispatch_shown_s(x, talk.dispatch_s, c.forward),
         backward_comm = talk.backward_s - (1 - lost) * hidden_s(x, talk.beside_s, back) - hidden +
                         dispatch_shown_s(x, talk.dispatch_back_s, back);
    if (is_end(run)) twice += hidden; // what the host bounds hides nothing
    if (x->grid) grid = collectives_of_grid(x, run, group, slice);
    // Sums of inputs' gradients run beside the products for those of the weights.
    real under = x->problem->job.overlapped_tensor && !split ? fminl(grid.products_s, c.weight) : 0;
    forward_comm += grid.forward_s;
    backward_comm += grid.backward_s + grid.products_s - under;
    bool apart = split && c.weight > 0; // gradients are scattered in the pass that computes them
    struct shares within = shares_at(x, run, group, slice, LEVEL_WITHIN, apart),
                  between = shares_at(x, run, group, slice, LEVEL_BETWEEN, apart);
    real forward = floored(run, c.forward, launch, forward_comm),
         gathering = moving(x, run, c.forward, launch, forward_comm, 0, grid.gather_s);
    struct layer_seconds seconds = no_seconds(x);
    seconds.forward = joined(x, gathering, gathers.weights_s, within.forward, between.forward);
    forward = fmaxl(forward, fmaxl(within.again, between.again));
    seconds.idle[LEVEL_WITHIN] = seconds.forward - within.forward.held;
    seconds.idle[LEVEL_BETWEEN] = seconds.forward - between.forward.held;
    if (!run_has_gradient(x, run)) return seconds;
    real moved = grid.gather_back_s + (apart ? 0 : grid.scatter_s),
         gathered = gathers.weights_s + (split ? 0 : gathers.gradients_s),
         pass = moving(x, run, back, apart ? launch : twice, backward_comm, under, moved);
    seconds.backward = joined(x, pass, gathered, within.backward, between.backward);
    if (split) {
        real again = x->gpus[group]->split_overhead_s.value,
             weight = moving(x, run, fmaxl(c.weight + again, launch), 0, 0, 0, grid.scatter_s);
        seconds.weight =
            joined(x, apart ? weight : 0, gathers.gradients_s, within.weight, between.weight);
    }
    if (is_layered(run)) {
        seconds.again[RECOMPUTE_SELECTIVE] = selective_s(x, run, group, slice, work, c.attention) +
                                             talk.keys_s;
        real factor = step_factor(x, group) * estimate_or(&x->gpus[group]->forward_factor, 1),
             needed = c.forward - factor * unneeded_product_s(x, run, slice->tokens, group),
             again = floored(run, needed, launch, forward_comm);
        seconds.again[RECOMPUTE_FULL] = fmaxl(again, fmaxl(within.again, between.again)) +
                                        checkpoint_s(x, run, group, slice, forward);
        if (job_like_megatron(&x->problem->job))
            module_seconds(x, run, group, slice, factor, seconds.again);
    }
    return seconds;
}

static struct layer_seconds as_measured(const struct pricing *x, const struct layer_time *t,
                                        real share)
{
    bool split = schedule_splits_backward(x->problem->job.layout.schedule);
    real weight = !split ? 0 : t->weight_s > 0 ? t->weight_s : t->backward_s / 2;
    struct layer_seconds seconds = no_seconds(x);
    seconds.forward = share * t->forward_s, seconds.weight = share * weight;
    seconds.backward = share * (t->backward_s - weight);
    seconds.again[RECOMPUTE_SELECTIVE] = share * t->selective_s;
    for (int level = 0; level < LEVEL_COUNT; level++) seconds.idle[level] = seconds.forward;
    // No module was measured: each set takes as long as all.
    for (int mode = RECOMPUTE_FULL; mode < x->modes; mode++)
        if (recompute_of_layer((enum recompute)mode)) seconds.again[mode] = share * t->full_s;
    return seconds;
}

struct layer_seconds seconds_of_layer(const struct pricing *x, const struct layer_run *run,
                                      int group, int slice)
{
    struct pricing own;
    x = pricing_of_run(x, run, &own);
    struct slice part = slice_of(x, slice);
    const struct layer_time *measured =
        find_layer_time(x, run->name, x->problem->cluster.groups[group].gpu);
    if (measured) return as_measured(x, measured, part.share);
    return by_formula(x, run, group, &part);
}
