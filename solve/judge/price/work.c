// The work of one pass of one slice over one layer on one GPU, as the judge counts it
// (docs/FORMULAS.md, section 3), and the durations of passes, which also include communication
// (talk.c) and gathers.
#include "solve/judge/price/passes.h"

// ---- rates

// All three kinds of products of so many FLOP, and further ones without a weight gradient;
// `slower`: the share of the rates that is reached.
static void products(const struct precision_costs *r, long double learning, long double weightless,
                     long double operands, long double slower, struct work *w)
{
    long double rate = r->gemm_flop_per_s.value,
                for_weights = estimate_or(&r->weight_gradient_flop_per_s, rate) * slower,
                flop = learning + weightless;
    w->linear = flop / (rate * slower);
    w->data = flop / (estimate_or(&r->data_gradient_flop_per_s, rate) * slower);
    w->weight = learning / for_weights;
    w->weightless = weightless / for_weights;
    long double moved = r->operand_bytes_per_s.value,
                moved_learning = estimate_or(&r->weight_operand_bytes_per_s, moved);
    w->operands = moved > 0 ? operands / moved : 0;
    w->learning_operands = moved_learning > 0 ? operands / moved_learning : 0;
}

// A part's first product, at one rate as well.
static struct first_product first_of(const struct precision_costs *r, long double flop,
                                     long double slower)
{
    long double rate = r->gemm_flop_per_s.value;
    return (struct first_product){flop / (estimate_or(&r->data_gradient_flop_per_s, rate) * slower),
                                  flop /
                                      (estimate_or(&r->weight_gradient_flop_per_s, rate) * slower)};
}

// Experts' products together, at rates of their own.
static void add_grouped(const struct precision_costs *r, long double flop, struct work *w)
{
    if (!(flop > 0)) return;
    long double rate = r->grouped_flop_per_s.value,
                back = estimate_or(&r->backward_grouped_flop_per_s, rate);
    w->linear += flop / rate, w->data += flop / back, w->weight += flop / back;
}

// One product of n tokens: FLOP, and bytes read and written.
struct effort {
    long double flop, bytes;
};
static void add_effort(struct effort *sum, long double n, long double inputs, long double outputs)
{
    sum->flop += 2 * n * inputs * outputs;
    sum->bytes += n * (inputs + outputs) + inputs * outputs;
}

// The products of attention, and of a feed-forward part of this width.
static struct effort block_effort(const struct price_audit *a, int run, long double n,
                                  long double ffn)
{
    struct judged_matrix m[ATTENTION_MATRICES_MAX];
    long double h = a->problem->model.shape.hidden / a->inner, part = ffn / a->outer;
    struct effort sum = {0, 0};
    for (int i = judged_matrices(a, run, m); i > 0; i--)
        add_effort(&sum, n, m[i - 1].inputs, m[i - 1].outputs);
    if (run_of(a, run)->mtp) add_effort(&sum, n, 2 * h, h / layout_of(a)->tensor);
    if (run_of(a, run)->more_products)
        add_effort(&sum, n, h, (long double)run_of(a, run)->more_products / h);
    if (!(ffn > 0)) return sum;
    add_effort(&sum, n, h, (a->gates - 1) * part);
    add_effort(&sum, n, part, h);
    return sum;
}

// ---- seconds by kind

// Where products have shapes: launches; for fused attention also an exponential per score, and the
// upper halves of the 128 x 128 blocks on the diagonal.
static void add_attention_kernels(const struct price_audit *a, int run, int group, struct piece p,
                                  const struct attending *y, long double rate_back, struct work *w)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    const struct layer_run *r = run_of(a, run);
    const struct layout *l = layout_of(a);
    long double launch = attentions_of(r) * (long double)gpu->product_launch_s.value, t = a->outer;
    if (!(y->flop > 0)) return; // bound by memory, or there is none
    if (!y->fused) {
        if (judged_wide_rates(a, group)->product_flop_per_s.value > 0)
            unfused_products(a, run, group, judged_wide_rates(a, group), p, w);
        else return;
        w->attention += y->states / judged_attention_rate(a, group, false);
        w->attention_back += y->states_back / rate_back;
        return;
    }
    long double heads = a->problem->model.shape.heads / t,
                exponentials = gpu->score_cells_per_s.value > 0
                                   ? heads * y->cells / gpu->score_cells_per_s.value
                                   : 0,
                thrown = a->sequences * p.length * (64.0L / l->context),
                thrown_flop = r->bidirectional || !(y->cells > 0)
                                  ? 0
                                  : 2 * thrown * (a->query + a->summed) / t;
    w->attention += thrown_flop / judged_attention_rate(a, group, false) + exponentials + launch;
    w->attention_back += 2.5L * thrown_flop / rate_back + exponentials + 2 * launch;
}

// Passes of memory over a token's values: two for each norm, three for each residual; a further
// token's embedding is read and written, then read and written again beside a state.
static long double token_passes(const struct price_audit *a, const struct layer_run *r)
{
    long double passes = 3 * judged_parts(r) + 2 * judged_norms(a, r);
    return r->mtp ? passes + 2 + 2 * 2 : passes;
}

// Extra traffic of unfused kernels: norms of mean squares move 36 bytes a value instead of 4,
// rotations 20, gated activations 10 instead of 6; all for two-byte values.
static long double uncompiled_bytes(const struct price_audit *a, int run, long double tokens,
                                    long double inner)
{
    const struct layer_run *r = run_of(a, run);
    const struct job *job = &a->problem->job;
    const struct shape *s = &a->problem->model.shape;
    long double each = 0, scale = a->value_bytes / 2;
    const bool *stated = job->unfused,
               always = job->trainer == TRAINER_TORCHTITAN && !job->compiled;
    if (s->gated_ffn && (always || stated[UNFUSED_ACTIVATION])) each += (10 - 6) * inner;
    if (!s->positions && (always || stated[UNFUSED_ROTARY]))
        each += 20 * judged_attention(a, run).rotated;
    each /= a->outer;
    if (s->rms_norm && (always || stated[UNFUSED_NORMS]))
        each += (36 - 4) * judged_norms(a, r) * s->hidden * a->share;
    return scale * tokens * each;
}

// A pass over quantised values: bound by the products or by reading the values.
static void read_in_bits(const struct price_audit *a, const struct layer_run *r, int group,
                         long double values, struct work *w)
{
    long double read = values * kept_bytes(a, r) / gpu_of(a, group)->memory_bytes_per_s.value;
    if (!r->weight_bits) return;
    w->linear = greatest(w->linear, read);
    w->data = greatest(w->data, read);
}

// Bytes that a value moves until products can read it in few bits: read, written and read again;
// scales of blocks are of both directions, and NVFP4 has one of the whole matrix, found before.
static long double moved_to_narrow(enum precision p)
{
    return p == FP8 ? 2 + 1 + 1 : p == NVFP4 ? 2 + 2 + 3 : 2 + 2 * (1 + 1);
}

// x A and (x A) B of each adapter, B's result scaled and added. Back: the scaled gradient, from it
// those of B and of x A, from the latter those of A and of x, which is added.
static void adapter_work(const struct price_audit *a, int run, int group, long double n,
                         struct work *w)
{
    const struct layer_run *r = run_of(a, run);
    const struct precision_costs *rates = rates_of(a, group);
    const struct gpu_costs *gpu = gpu_of(a, group);
    struct adapted each[ADAPTER_MODULE_COUNT];
    int count = judged_adapters(a, r, each);
    long double h = a->problem->model.shape.hidden, t = a->outer,
                memory = gpu->memory_bytes_per_s.value,
                memory_back = estimate_or(&gpu->backward_memory_bytes_per_s, memory),
                rate = rates->gemm_flop_per_s.value, flop = 0, forward = 0, data = 0, weight = 0;
    for (int i = 0; i < count; i++) {
        long double token = a->value_bytes * n * h * a->share,
                    other = a->value_bytes * n * each[i].other / t,
                    x = each[i].reads_token ? token : other,
                    y = each[i].reads_token ? other : token;
        flop += 2 * n * r->adapter_rank * (h + each[i].other) / t;
        forward += x + y + 2 * y + 3 * y;
        data += 2 * y + y + x + 3 * x;
        weight += y + x;
    }
    w->adapters = flop / rate + forward / memory;
    w->adapter_data = flop / estimate_or(&rates->data_gradient_flop_per_s, rate) +
                      data / memory_back;
    w->adapter_weight = flop / estimate_or(&rates->weight_gradient_flop_per_s, rate) +
                        weight / memory_back;
    if (!(rates->product_flop_per_s.value > 0)) return;
    long double product = count * (long double)gpu->product_launch_s.value,
                step = count * (long double)gpu->elementwise_launch_s.value;
    w->adapters += 2 * product + 2 * step;
    w->adapter_data += 2 * product + 2 * step;
    w->adapter_weight += 2 * product;
}

static void layered_work(const struct price_audit *a, int run, int group, struct piece p,
                         struct work *w)
{
    const struct layer_run *r = run_of(a, run);
    const struct shape *s = &a->problem->model.shape;
    const struct layout *l = layout_of(a);
    const struct precision_costs *rates = rates_of(a, group);
    const struct expert_shape *x = &r->experts;
    bool moe = r->kind == LAYER_MOE;
    long double n = p.tokens, h = s->hidden, e = a->value_bytes, t = a->outer,
                ffn = shared_width(a, r),
                inner = ffn; // of one token, including its experts
    struct effort dense = block_effort(a, run, n, ffn);
    struct judged_biases biases = judged_biases_of(a, r);
    struct judged_attention y = judged_attention(a, run);
    struct attending pass = judged_attending(a, run, p);
    long double operands = e * dense.bytes, flop = dense.flop, grouped = 0,
                bytes = token_passes(a, r) * n * h * e * a->share +
                        n * e * ((a->gates * ffn + y.moved_split) / t + y.moved_whole);
    if (has_split_gate(a, r))
        operands += e * n * h / a->inner; // read by the gate and by the up product
    if (moe) {
        long double routed = n * x->top_k * judged_rows(a, r, MULTIPLIED);
        inner += routed / n * x->ffn;
        long double read = judged_expert_reads(a, r),
                    multiplied = 2 * a->gates * read * x->ffn * routed / t;
        flop += 2 * n * h * x->experts / t + multiplied;
        if (rates->grouped_flop_per_s.value > 0) grouped = multiplied;
        long double experts = x->experts, parts = (long double)a->expert_parts,
                    wide = x->ffn / parts, rows = routed * parts / t;
        bytes += a->gates * rows * wide * e + judged_row_copies(a, x) * rows * read * e +
                 rows * (biases.clamped + biases.added) + 8 * n * x->experts / t;
        long double here = experts / (l->expert > 1 ? l->expert : 1);
        operands += e * (n * h + n * experts / t + h * experts / t); // the router
        operands += e * (rows * (read + (a->gates - 1) * wide) + rows * (wide + read) +
                         here * a->gates * read * wide);
    }
    bytes += uncompiled_bytes(a, run, n, inner);
    long double memory = gpu_of(a, group)->memory_bytes_per_s.value,
                rate_back = judged_attention_rate(a, group, true);
    w->attention = pass.flop / judged_attention_rate(a, group, false);
    w->attention_back = pass.flop_back / rate_back;
    w->scores = pass.score_bytes / memory;
    products(rates, flop - grouped, 0, operands, 1, w);
    struct judged_matrix m[ATTENTION_MATRICES_MAX];
    if (judged_matrices(a, run, m) > 0)
        w->first[0] = first_of(rates, 2 * n * m[0].inputs * m[0].outputs, 1);
    w->first[1] = first_of(rates, 2 * n * (h / a->inner) * (a->gates - 1) * ffn / t, 1);
    add_grouped(rates, grouped, w);
    bool shaped = shaped_products(a, run, group, rates, p, 1, w);
    if (shaped) add_attention_kernels(a, run, group, p, &pass, rate_back, w);
    if (precision_is_narrow(a->problem->job.precision))
        w->narrowing =
            moved_to_narrow(a->problem->job.precision) * n *
            ((judged_parts(r) + (r->mtp ? 2 : 0)) * h + y.read_whole + (y.read_split + inner) / t) /
            estimate_or(&rates->cast_bytes_per_s, memory);
    long double each = moe ? a->gates * judged_expert_reads(a, r) * (long double)x->ffn *
                                 (long double)x->experts
                           : 0;
    read_in_bits(a, r, group,
                 matrix_values(a, ffn) / t + each / l->expert / (long double)a->expert_parts, w);
    adapter_work(a, run, group, n, w);
    w->memory = bytes / memory + w->scores;
    w->memory_back = n * e * y.back_split / t / memory; // beyond twice
    w->repeated = pass.cells > 0 ? w->attention + w->scores : 0;
    w->dropped = pass.fused && pass.cells > 0 ? 0 : w->attention;
}

static void memory_work(const struct price_audit *a, int run, int group, struct piece p,
                        struct work *w)
{
    const struct pool_shape *x = &run_of(a, run)->pool;
    const struct gpu_costs *gpu = gpu_of(a, group);
    long double n = p.tokens / layout_of(a)->tensor, h = a->problem->model.shape.hidden,
                e = a->value_bytes, keys = (long double)x->heads * x->key_width,
                half = half_keys(x), width = x->width;
    long double read = (long double)x->heads * x->top_k * width, gate = x->gated ? 2 : 1;
    products(rates_of(a, group), 2 * n * (h * keys + keys * half + width * h * gate), 2 * n * read,
             0, 1, w);
    long double found = read * kept_bytes(a, run_of(a, run));
    w->memory = (2 * p.tokens * h * e * a->share + n * (found + 8 * x->heads * half + width * e) +
                 half * keys * e) /
                gpu->memory_bytes_per_s.value;
    w->gather = n * found / gpu->memory_bytes_per_s.value;
}

static void projector_work(const struct price_audit *a, int run, int group, struct piece p,
                           struct work *w)
{
    const struct projector_shape *x = &run_of(a, run)->projector;
    const struct precision_costs *rates = judged_wide_rates(a, group);
    long double between = (long double)x->inner / layout_of(a)->tensor;
    struct effort effort = {0, 0};
    if (x->inner > 0) {
        add_effort(&effort, p.tokens, x->inputs, between);
        add_effort(&effort, p.tokens, between, x->outputs);
    } else {
        add_effort(&effort, p.tokens, x->inputs, x->outputs);
    }
    products(rates, effort.flop, 0, a->value_bytes * effort.bytes, 1, w);
    shaped_products(a, run, group, rates, p, 1, w);
    w->memory = p.tokens * a->value_bytes *
                (((long double)x->inputs + x->outputs) * a->share + 2 * between) /
                gpu_of(a, group)->memory_bytes_per_s.value;
}

static void end_work(const struct price_audit *a, int run, int group, struct piece p,
                     struct work *w)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    long double shard = a->vocabulary / a->outer, h = a->problem->model.shape.hidden,
                bytes = 2 * p.tokens * h * a->value_bytes * a->share;
    if (run_of(a, run)->kind == LAYER_HEAD) {
        const struct precision_costs *rates = judged_wide_rates(a, group);
        long double slower = 1;
        bool aligned = (int64_t)a->vocabulary % (8 * (int64_t)a->outer) == 0;
        if (!aligned && rates->misaligned_gemm_share.value > 0)
            slower = rates->misaligned_gemm_share.value;
        struct effort logits = {0, 0};
        if (a->problem->model.shape.embedding_width) add_effort(&logits, p.tokens, h, a->row);
        add_effort(&logits, p.tokens, a->row / a->inner, shard);
        products(rates, a->asked * logits.flop, 0, a->asked * a->value_bytes * logits.bytes, slower,
                 w);
        w->first[1] = first_of(rates, a->asked * 2 * p.tokens * a->row / a->inner * shard, slower);
        shaped_products(a, run, group, rates, p, slower, w);
        read_in_bits(a, run_of(a, run), group, a->row * shard, w);
        bytes += 12 * p.tokens * (a->problem->job.gathered_logits ? a->vocabulary : shard);
        bytes *= a->asked;
    }
    w->memory = bytes / gpu->memory_bytes_per_s.value;
}

// Norms, residuals, activations and similar kernels, where kernels are counted at all.
static long double small_kernels_s(const struct price_audit *a, int run, int group)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    const struct precision_costs *rates = rates_of(a, group);
    const struct layer_run *r = run_of(a, run);
    const struct judged_attention y = judged_attention(a, run);
    long double unfused = layout_of(a)->fused_attention ? 0 : 2 * y.scored, kernels = 0,
                block = judged_norms(a, r) + judged_parts(r) + (r->no_feed_forward ? 0 : 1) +
                        y.kernels; // residuals; activation
    enum layer_kind kind = r->kind;
    if (kind == LAYER_HEAD || kind == LAYER_PROJECTOR) rates = judged_wide_rates(a, group);
    if (kind == LAYER_BLOCK) kernels = block + unfused;
    if (kind == LAYER_MOE) kernels = block + 4 + unfused;
    if (run_of(a, run)->mtp) kernels += 2; // lookup and concatenation
    if (kind == LAYER_HEAD) kernels = 5 * a->asked;
    if (kind == LAYER_EMBEDDING) kernels = 2;
    if (kind == LAYER_PROJECTOR) kernels = r->projector.inner > 0; // the activation
    return rates->product_flop_per_s.value > 0 ? kernels * gpu->elementwise_launch_s.value : 0;
}

// A grouped product takes all experts of a device at once, as torchtitan's does if nothing is said.
long double judged_expert_kernels(const struct price_audit *a, long double experts)
{
    switch (a->problem->job.expert_products) {
    case EXPERTS_GROUPED: return 1;
    case EXPERTS_SINGLE: return experts;
    default: return a->problem->job.trainer == TRAINER_TORCHTITAN ? 1 : experts;
    }
}

// The host's time for the kernels of a forward pass that no graph replays.
static long double launching_s(const struct price_audit *a, int run, int group)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    const struct layer_run *r = run_of(a, run);
    long double seconds = gpu->layer_launch_s.value;
    enum graphs graphs = a->problem->job.graphs;
    if (graphs == GRAPHS_STEP) return 0;
    if (graphs == GRAPHS_PARTS && is_layered(a, run)) seconds = 0;
    if (r->kind != LAYER_MOE) return seconds;
    seconds += gpu->mixture_launch_s.value;
    seconds += (long double)rates_of(a, group)->expert_launch_s.value *
               judged_expert_kernels(a, (long double)r->experts.experts / layout_of(a)->expert);
    bool in_turn = a->problem->job.overlapped_dispatch && layout_of(a)->expert > 1;
    return in_turn ? seconds * estimate_or(&gpu->paired_launch_factor, 1) : seconds;
}

struct work work_of(const struct price_audit *a, int run, int group, struct piece slice)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    struct work w = {.overhead = gpu->layer_overhead_s.value,
                     .launch = launching_s(a, run, group),
                     .forward_factor = 1,
                     .backward_factor = 1};
    w.overhead_back = stated_or(&gpu->backward_overhead_s, w.overhead);
    if (is_layered(a, run)) {
        w.forward_factor = estimate_or(&gpu->forward_factor, 1);
        w.backward_factor = estimate_or(&gpu->backward_factor, 1);
    }
    if (run_of(a, run)->kind == LAYER_HEAD) {
        w.forward_factor = estimate_or(&gpu->head_forward_factor, 1);
        w.backward_factor = estimate_or(&gpu->head_backward_factor, 1);
    }
    if (run_of(a, run)->kind == LAYER_EMBEDDING) {
        w.forward_factor = estimate_or(&gpu->embedding_forward_factor, 1);
        w.backward_factor = estimate_or(&gpu->embedding_backward_factor, 1);
    }
    assert(rates_of(a, group) && has_shape(a, run));
    if (is_layered(a, run)) layered_work(a, run, group, slice, &w);
    else if (run_of(a, run)->kind == LAYER_MEMORY) memory_work(a, run, group, slice, &w);
    else if (is_projector(a, run)) projector_work(a, run, group, slice, &w);
    else end_work(a, run, group, slice, &w);
    w.small = small_kernels_s(a, run, group);
    w.step_factor = estimate_or(a->problem->job.trainer == TRAINER_DEEPSPEED
                                    ? &gpu->deepspeed_step_factor
                                    : &gpu->megatron_step_factor,
                                1);
    if (a->problem->job.trainer == TRAINER_OTHER)
        w.step_factor = estimate_or(&gpu->other_step_factor, w.step_factor);
    if (a->zero == 3 || a->problem->job.trainer == TRAINER_TORCHTITAN)
        w.step_factor = estimate_or(&gpu->sharded_step_factor, w.step_factor);
    w.memory_back = (2 * w.memory + w.memory_back) * gpu->memory_bytes_per_s.value /
                    estimate_or(&gpu->backward_memory_bytes_per_s, gpu->memory_bytes_per_s.value);
    if (run_of(a, run)->kind == LAYER_HEAD)
        w.overhead *= a->asked, w.overhead_back *= a->asked, w.launch *= a->asked;
    if (run_of(a, run)->kind != LAYER_EMBEDDING) return w;
    w.overhead = w.overhead_back = 0;
    w.launch *= gpu->embedding_launch_share.value;
    return w;
}
