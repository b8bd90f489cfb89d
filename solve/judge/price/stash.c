// Activations of one layer and one micro-batch on one GPU, as the judge counts them
// (docs/FORMULAS.md, section 5): what is kept until the backward pass, by recomputation mode, and
// what is added while the layer runs.
#include "solve/judge/kinds/kinds.h"
#include "solve/judge/price/passes.h"

// What the scores of unfused attention keep: softmax, and with dropout its mask and its output.
long double score_stash(const struct price_audit *a, int run)
{
    const struct shape *s = &a->problem->model.shape;
    if (layout_of(a)->fused_attention) return 0;
    return (s->dropout ? 5 : 2) * judged_attention(a, run).scored * (long double)s->heads *
           (long double)a->problem->job.sequence * a->tokens * a->value_bytes / 2 / a->outer;
}

long double judged_rows(const struct price_audit *a, const struct layer_run *r, enum rows_of of)
{
    const struct job *j = &a->problem->job;
    long double most = greatest(1, (long double)r->experts.imbalance);
    bool padded = j->expert_padding > 0 && (of == MULTIPLIED || j->fixed_capacity);
    return padded ? most * (long double)j->expert_padding : most;
}

long double routed_tokens(const struct price_audit *a, const struct layer_run *r)
{
    return a->tokens * r->experts.top_k * judged_rows(a, r, MULTIPLIED);
}

long double judged_expert_reads(const struct price_audit *a, const struct layer_run *r)
{
    long double own = (long double)r->experts.latent;
    return own > 0 ? own : (long double)a->problem->model.shape.hidden;
}

long double gathered_tokens(const struct price_audit *a, const struct layer_run *r)
{
    return routed_tokens(a, r) * (long double)a->expert_parts / layout_of(a)->tensor;
}

// Two results of 16 bits where there is a gate, or as many of 8.
int activation_inputs(const struct price_audit *a)
{
    return a->problem->model.shape.gated_ffn && !a->problem->job.fp8_activation_input ? 2 : 1;
}

// What is kept of the feed-forward width, in tensors of 16 bits: the results of its first products,
// the input of the last, and where gate and activation are two operations, the result of the
// latter.
int inner_tensors(const struct price_audit *a)
{
    const struct job *j = &a->problem->job;
    if (!a->problem->model.shape.gated_ffn) return 1 + 1;
    return activation_inputs(a) + 1 +
           (j->trainer != TRAINER_MEGATRON || j->unfused[UNFUSED_ACTIVATION]);
}

// Whether a product's weights, or an adapter's beside it, need what it reads.
static bool is_learning(const struct layer_run *r) { return !r->frozen || r->kind != LAYER_BLOCK; }

int last_input_kept(const struct price_audit *a, const struct layer_run *r)
{
    if (is_learning(r)) return true;
    return !r->adapter_dropout && run_adapts(r, &a->problem->model.shape, ADAPTER_DOWN);
}

int adapted_inputs(const struct price_audit *a, const struct layer_run *r)
{
    struct adapted each[ADAPTER_MODULE_COUNT];
    int count = judged_adapters(a, r, each), attention = 0, ffn = 0;
    const struct shape *s = &a->problem->model.shape;
    for (int i = 0; i < count; i++)
        if (each[i].reads_token) *(each[i].in_ffn ? &ffn : &attention) = 1;
    bool same = s->parallel_residual && s->norms == 1;
    if (r->adapter_dropout) return 0; // the products of adapters read dropped copies
    return same && attention ? 1 : attention + ffn;
}

// Of a token: what stands between both factors of each adapter.
static long double adapter_states(const struct price_audit *a, const struct layer_run *r)
{
    struct adapted each[ADAPTER_MODULE_COUNT];
    return (long double)r->adapter_rank * judged_adapters(a, r, each);
}

long double expert_stash(const struct price_audit *a, const struct layer_run *r)
{
    const struct expert_shape *x = &r->experts;
    long double t = layout_of(a)->tensor, inner = inner_tensors(a);
    return a->value_bytes * gathered_tokens(a, r) *
               (2 * judged_expert_reads(a, r) + inner * x->ffn / (long double)a->expert_parts) +
           8 * a->tokens * (x->experts + x->top_k) / t;
}

// Of tokens with experts elsewhere, both exchanges' results; and the choice of experts.
static long double exchange_stash(const struct price_audit *a, const struct layer_run *r)
{
    const struct expert_shape *x = &r->experts;
    long double both = 2 * judged_expert_reads(a, r) * gathered_tokens(a, r);
    if (layout_of(a)->expert == 1) both = 0;
    return a->value_bytes * both +
           8 * a->tokens * (x->experts + x->top_k) / (long double)layout_of(a)->tensor;
}

// torchtitan's per-operator checkpoints on one tensor rank: the layer's input; of its products,
// queries, values and gate; attention's output with one fp32 number per row; and, with several
// tensor ranks, the sum after attention.
static long double operator_stash(const struct price_audit *a, int run)
{
    const struct layout *l = layout_of(a);
    const struct shape *s = &a->problem->model.shape;
    const struct layer_run *r = run_of(a, run);
    struct judged_attention y = judged_attention(a, run);
    long double inputs = (l->tensor > 1 && judged_parts(r) > 1 ? 2 : 1) * s->hidden * a->share,
                products = y.held_split + shared_width(a, r);
    long double adapters = adapter_states(a, r);
    // A further token's layer: inputs of three norms, and of the projection of two tensors.
    if (r->mtp) inputs += (3 + 2) * s->hidden * a->share;
    return a->tokens * (a->value_bytes * (inputs + products / l->tensor + adapters) +
                        y.held_rows / l->tensor) +
           (r->kind == LAYER_MOE ? exchange_stash(a, r) : 0);
}

// Tensors that products read with all values of a token. Attention and the feed-forward part read
// one each, the same one in a parallel residual. A second attention adds its own and the encoder's
// output, a projection those of a state and an embedding.
static int inputs_read(const struct price_audit *a, const struct layer_run *r)
{
    if (!is_learning(r)) return adapted_inputs(a, r);
    const struct shape *s = &a->problem->model.shape;
    bool one = judged_parts(r) == 1 || (s->parallel_residual && s->norms == 1);
    return (one ? 1 : 2) + (attentions_of(r) == 2 ? 2 : 0) + (r->mtp ? 2 : 0);
}

// Whether those inputs stay whole on every tensor rank until the backward pass.
static bool inputs_stay_whole(const struct price_audit *a)
{
    const struct job *j = &a->problem->job;
    bool scattered = j->layout.sequence_parallel && j->layout.tensor > 1;
    return scattered && (j->gathered_inputs || j->trainer == TRAINER_TORCHTITAN);
}

// Megatron with Transformer Engine keeps each product's input in few bits instead of two bytes, and
// attention's output, which fused attention itself needs, in few bits more.
static long double narrowed_bytes(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    const struct job *j = &a->problem->job;
    const struct shape *s = &a->problem->model.shape;
    bool moe = r->kind == LAYER_MOE;
    long double t = j->layout.tensor;
    if (r->frozen || !precision_is_narrow(j->precision) || j->trainer == TRAINER_DEEPSPEED ||
        j->trainer == TRAINER_TORCHTITAN)
        return 0;
    long double few = precision_narrow_bytes(j->precision), less = a->value_bytes - few,
                output = judged_attention(a, run).narrowed;
    // Without shared experts the router's input is dispatched unchanged.
    int read = moe && !r->experts.shared_ffn ? (r->mtp ? 3 : 1) : inputs_read(a, r);
    long double wide = read * s->hidden * a->share;
    long double narrowed = a->tokens * less * (wide + shared_width(a, r) / t);
    // Attention's output is in 16 bits too, or a gate's product takes its place.
    narrowed += a->tokens * output / t * (output > 0 ? less : few);
    if (moe)
        narrowed += less * gathered_tokens(a, r) *
                    (judged_expert_reads(a, r) + r->experts.ffn / (long double)a->expert_parts);
    return narrowed;
}

// Of a token, bytes: what dropout gives each adapter is that adapter's alone, and which values it
// dropped stands in a byte for each of them.
static long double dropped_copies(const struct price_audit *a, const struct layer_run *r)
{
    struct adapted each[ADAPTER_MODULE_COUNT];
    int count = r->adapter_dropout ? judged_adapters(a, r, each) : 0;
    long double h = a->problem->model.shape.hidden, copies = 0, masks = 0;
    h *= inputs_stay_whole(a) ? 1 / a->inner : a->share;
    for (int i = 0; i < count; i++) {
        long double values = each[i].reads_token ? h : each[i].other / a->outer;
        copies += a->value_bytes * values, masks += values;
    }
    return copies + masks;
}

// Without recomputation and without the scores.
static long double layered_stash(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    const struct judged_attention y = judged_attention(a, run);
    const struct shape *s = &a->problem->model.shape;
    bool moe = r->kind == LAYER_MOE;
    long double n = a->tokens, h = s->hidden, e = a->value_bytes, t = a->outer;
    // A frozen block keeps the inputs of its norms and of its activation function, and of matrices
    // those that an adapter reads.
    int read = inputs_read(a, r);
    long double narrow = 2 * judged_norms(a, r) + 2 * read + (s->dropout ? judged_parts(r) : 0),
                inner = (inner_tensors(a) - 1 + last_input_kept(a, r)) * shared_width(a, r);
    long double stash = n * h * a->share * narrow * e / 2 +
                        e * n * ((y.kept_split + inner) / t + y.kept_whole);
    if (moe) stash += expert_stash(a, r);
    if (inputs_stay_whole(a)) stash += e * n * h * read * (1 / a->inner - a->share);
    // Each step of a norm keeps its input: fp32 values, and the normalised ones in their own type.
    bool eager = a->problem->job.trainer == TRAINER_TORCHTITAN && !a->problem->job.compiled;
    if (s->rms_norm && (eager || a->problem->job.unfused[UNFUSED_NORMS]))
        stash += n * h * a->share * judged_norms(a, r) * ((4 - e) + e);
    if (judged_keys_kept(a, run)) // its own are among those that were gathered
        stash += judged_ring_bytes(a, run, n) * (long double)(a->problem->job.layout.context - 1);
    stash -= narrowed_bytes(a, run);
    return stash + n * (e * adapter_states(a, r) + dropped_copies(a, r));
}

// Gradients of activations in transit, and the buffers of exchanges.
static long double layered_gradients(const struct price_audit *a, int run, bool scores)
{
    const struct shape *s = &a->problem->model.shape;
    const struct layout *l = layout_of(a);
    const struct layer_run *r = run_of(a, run);
    bool moe = r->kind == LAYER_MOE;
    long double n = a->tokens, h = s->hidden, e = a->value_bytes, t = a->outer;
    long double ffn = shared_width(a, r);
    if (moe) ffn += routed_tokens(a, r) / n * r->experts.ffn;
    // Operation by operation, six tensors of a gated FFN are there at once at most, three of a
    // plain one; four and two of them were kept. Not so in torchtitan, whichever way it runs.
    int made = s->gated_ffn ? 8 : 4;
    const struct job *job = &a->problem->job;
    bool steps = job->unfused[UNFUSED_ACTIVATION] && job->trainer != TRAINER_TORCHTITAN;
    if (!moe && steps) made = s->gated_ffn ? 6 - 4 : 3 - 2;
    long double bytes = e * n * h * a->share + e * n * made * ffn / t;
    bytes += judged_attention_working(a, run, scores);
    // Trainers that are not known gather scattered tokens into two buffers.
    bool unknown = a->problem->job.trainer == TRAINER_OTHER;
    if (unknown && l->sequence_parallel && a->outer > 1) bytes += 2 * (e * n * h) / a->inner;
    if (moe && l->expert > 1)
        bytes += e * judged_expert_reads(a, r) * (routed_tokens(a, r) / t + gathered_tokens(a, r));
    return bytes;
}

// What a layer is recomputed from, of all tensor ranks' tokens.
long double judged_checkpoint_bytes(const struct price_audit *a, const struct layer_run *r,
                                    long double tokens)
{
    return (r->mtp || r->cross_attention ? 2 : 1) * a->value_bytes * tokens *
           a->problem->model.shape.hidden;
}

struct needs {
    long double stash[RECOMPUTE_COUNT], working[RECOMPUTE_COUNT];
};

static struct needs layered_needs(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    bool learns = passes_gradient(a, run);
    long double kept = layered_stash(a, run), scores = score_stash(a, run),
                moving = layered_gradients(a, run, learns);
    struct needs x = {0};
    x.stash[RECOMPUTE_NONE] = kept + scores;
    x.stash[RECOMPUTE_SELECTIVE] = kept;
    long double input = judged_checkpoint_bytes(a, r, a->tokens) * a->share, moved = 0;
    x.stash[RECOMPUTE_FULL] = input;
    if (a->problem->job.checkpoints == CHECKPOINTS_PARTITIONED)
        x.stash[RECOMPUTE_FULL] = input / (a->share * a->outer * a->inner);
    if (a->problem->job.checkpoints == CHECKPOINTS_HOST)
        x.stash[RECOMPUTE_FULL] = 0, moved = 2 * input;
    x.working[RECOMPUTE_NONE] = moving;
    long double again = scores;
    if (a->problem->job.trainer == TRAINER_TORCHTITAN) {
        x.stash[RECOMPUTE_SELECTIVE] = operator_stash(a, run);
        again = greatest(0, kept + scores - x.stash[RECOMPUTE_SELECTIVE]);
    }
    x.working[RECOMPUTE_SELECTIVE] = moving + (learns ? again : 0);
    x.working[RECOMPUTE_FULL] = moving + (learns ? kept + scores + moved : 0);
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++) {
        if (!a->problem->job.recompute[mode]) continue;
        struct judged_set set = judged_set_bytes(a, run, (enum recompute)mode);
        x.stash[mode] = kept + scores - set.freed;
        x.working[mode] = moving + (learns ? set.most : 0);
    }
    // Two micro-batches are at work, one layer of each: the other one keeps its own.
    bool two = a->problem->job.overlapped_dispatch && layout_of(a)->expert > 1;
    for (int mode = 0; mode < RECOMPUTE_COUNT && two && learns; mode++)
        x.working[mode] += x.stash[mode];
    return x;
}

static struct needs even_needs(long double stash, long double working)
{
    struct needs x;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        x.stash[mode] = stash, x.working[mode] = working;
    return x;
}

// A chunk of the logits has as many values as the tokens' states. What reads the tokens has its
// gradient with it, and so has the matrix; where tokens are scattered, they are gathered for it.
static struct needs chunked_needs(const struct price_audit *a, bool waits)
{
    const struct job *j = &a->problem->job;
    long double e = a->value_bytes, states = e * a->tokens * a->problem->model.shape.hidden,
                scattered = 2 * states * a->share, matrix = e * a->vocabulary * a->row / a->outer;
    int whole = j->layout.sequence_parallel && j->layout.tensor > 1 ? 3 : 2;
    long double made = a->asked * (whole * states + matrix), kept = a->asked * scattered;
    return waits ? even_needs(kept, made) : even_needs(0, kept + made);
}

static struct needs head_needs(const struct price_audit *a, bool learns)
{
    const struct job *j = &a->problem->job;
    bool apart = j->layout.tensor > 1 && !j->gathered_logits; // each rank has its vocabulary's
    long double e = a->value_bytes, logits = a->tokens * a->vocabulary / (apart ? a->outer : 1),
                own = j->layout.tensor > 1 && !apart
                          ? e * a->tokens * a->vocabulary / j->layout.tensor
                          : 0,
                input = 2 * e * a->tokens * a->problem->model.shape.hidden * a->share;
    // torchtitan keeps what it gathers from sequence-parallel ranks for the product's gradient.
    if (j->trainer == TRAINER_TORCHTITAN && j->layout.tensor > 1 && j->layout.sequence_parallel)
        input += e * a->tokens * a->problem->model.shape.hidden;
    // Where the last stage runs backward at once, nothing waits.
    bool waits = learns && !judged_kinds[j->layout.schedule].turns_at_once;
    if (j->chunked_loss) return chunked_needs(a, waits);
    long double loss = j->precision == FP32 ? 4 : e + 4;
    // Over tensor ranks an unknown trainer has a loss of its own: fp32 logits, a softmax.
    if (j->trainer == TRAINER_DEEPSPEED)
        // Models that bring PyTorch's loss with them copy the logits to fp32, and again.
        loss = !j->unfused[UNFUSED_LOSS] ? 8 : apart ? loss + 4 : loss + 8;
    else if (j->trainer == TRAINER_TORCHTITAN || j->trainer == TRAINER_OTHER)
        loss = j->fused_loss                 ? 2 * e
               : !apart                      ? loss + 8
               : j->trainer == TRAINER_OTHER ? loss + 4
                                             : loss + 12;
    else if (j->loss_in_place) loss = e;
    else if (j->fused_loss) loss += 4;
    // What waits does not count as working memory: the input, and four of the loss's bytes.
    long double asked = a->asked;
    long double left = loss < 4 ? loss : 4; // of the loss, while it waits
    return waits
               ? even_needs(asked * (input + left * logits), asked * ((loss - left) * logits + own))
               : even_needs(0, asked * (loss * logits + input + own));
}

// What PyTorch's schedules hand back at the end of a step: logits of the weights' precision.
static long double returned_logits(const struct price_audit *a)
{
    const struct job *j = &a->problem->job;
    long double words = a->vocabulary / (j->gathered_logits ? 1 : a->outer),
                passes = (long double)(j->global_batch / j->layout.data / j->layout.micro_batch);
    if (!j->kept_logits || a->pipeline == 1) return 0;
    return passes * a->asked * words * a->tokens * a->value_bytes;
}

static struct needs memory_needs(const struct price_audit *a, const struct layer_run *r)
{
    const struct pool_shape *p = &r->pool;
    long double e = a->value_bytes, tokens = a->tokens / layout_of(a)->tensor, width = p->width,
                input = e * a->tokens * a->problem->model.shape.hidden * a->share;
    long double kept = (long double)p->heads * p->key_width * e +
                       8 * (long double)p->heads * p->top_k + width * e * (p->gated ? 3 : 1);
    return even_needs(input + tokens * kept, input + tokens * width * e);
}

// One layer's full gradients before they are scattered; its gathered weights, and the next
// layer's. Where whole stages are gathered, both also for the next layer.
static long double unsharded_bytes(const struct price_audit *a, int run)
{
    struct layer_weight w = layer_weight_of(a, run);
    long double bytes = 0;
    bool full = shards_fully(a), end = is_end(run_of(a, run));
    if ((a->ranks <= 1 && a->expert_ranks <= 1) || (full && end)) return 0;
    if (a->zero >= 2 || full)
        bytes += scattered_gradient_bytes(a) * (w.dense + w.experts) *
                 (a->by_stages && a->overlapped ? 2 : 1);
    if (a->zero == 3 || full)
        bytes += (a->value_bytes * (w.dense + w.experts) + w.frozen_bytes) *
                 (a->overlapped ? 2 : 1);
    return bytes;
}

// Kept: the inputs of its products and the activation between two products; a frozen one keeps
// only that activation. Working: its gradients.
static struct needs projector_needs(const struct price_audit *a, const struct layer_run *r)
{
    const struct projector_shape *p = &r->projector;
    long double each = a->value_bytes * a->tokens, between = each * p->inner / layout_of(a)->tensor,
                kept = r->frozen ? between : each * p->inputs * a->share + 2 * between;
    return even_needs(kept, each * p->outputs * a->share + 2 * between);
}

// For a run with a shape.
static struct needs needs_of(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    const struct shape *s = &a->problem->model.shape;
    if (is_layered(a, run)) return layered_needs(a, run);
    if (r->kind == LAYER_HEAD) return head_needs(a, passes_gradient(a, run));
    if (r->kind == LAYER_MEMORY) return memory_needs(a, r);
    if (r->kind == LAYER_PROJECTOR) return projector_needs(a, r);
    return even_needs(s->dropout ? a->tokens * s->hidden * a->share * a->value_bytes / 2 : 0, 0);
}

void activations_of(const struct price_audit *a, int run, struct layer_bytes *b)
{
    const struct layer_run *r = run_of(a, run);
    struct needs x = needs_of(a, run);
    long double unsharded = unsharded_bytes(a, run), dense = 0, gathered = 0;
    struct layer_weight w = layer_weight_of(a, run);
    long double together = a->by_stages ? unsharded : 0;
    unsharded -= together;
    if (r->kind == LAYER_HEAD) together += returned_logits(a);
    // A grid's third axis: the layer's matrices, while it runs or until they are gathered anew, and
    // their gradients before they are scattered.
    if (a->gridded && layout_of(a)->grid_rows > 1) {
        long double values = gathered_matrices(a, run), weights = values * a->value_bytes;
        gathered = values * a->problem->job.gradient_bytes_per_value;
        if (keeps_gathered_matrices(a, run)) together += weights;
        else gathered += (a->problem->job.overlapped_tensor ? 2 : 1) * weights; // the next layer's
    }
    b->unsharded = judged_whole(a, together);
    // Unless it is kept for the fp32 sums, it lives only during the pass.
    if (!keeps_two_gradients(a)) dense = dense_table_bytes(a, r, &w);
    for (int i = 0; i < RECOMPUTE_COUNT; i++) {
        b->stash[i] = passes_gradient(a, run) ? judged_whole(a, x.stash[i]) : 0;
        b->working[i] = judged_whole(a, greatest(x.working[i] + unsharded + gathered, dense));
    }
}

long double judged_kept_bytes(const struct price_audit *of_all, int run)
{
    struct own_audit own;
    const struct price_audit *a = audit_of_run(of_all, run, &own);
    if (!has_shape(a, run)) return stated_bytes(a, run_of(a, run))->stash_bytes[RECOMPUTE_NONE];
    return passes_gradient(a, run) ? needs_of(a, run).stash[RECOMPUTE_NONE] : 0;
}
