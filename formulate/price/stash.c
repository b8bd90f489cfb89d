// Activations of one layer: what is kept for backward in each recompute mode, and what else the
// layer needs while it runs. docs/FORMULAS.md section 5.

#include "data/kinds/schedules.h"
#include "formulate/price/adapters.h"

// Softmax output, dropout mask and dropout output of the scores; the fused kernel keeps none.
static real scores_kept(const struct pricing *x, const struct layer_run *run)
{
    if (x->problem->job.layout.fused_attention) return 0;
    return (x->shape->dropout ? 5 : 2) * attention_of(x, run).scores * x->a * x->s * x->n * x->e /
           2 / x->t1;
}

// What the first products of the feed-forward part make, in tensors of its width at e bytes: a
// gated activation may keep its input in single bytes.
real made_of_ffn(const struct pricing *x)
{
    if (!x->shape->gated_ffn) return 1;
    return x->problem->job.fp8_activation_input ? 2 / x->e : 2;
}

// Tensors of the feed-forward width: what its first products make and what its last one reads, and
// with a gate the activation's result, unless one kernel applies both, as Megatron's does.
real kept_of_ffn(const struct pricing *x)
{
    const struct job *job = &x->problem->job;
    bool fused = job->trainer == TRAINER_MEGATRON && !job_unfused(job, UNFUSED_ACTIVATION);
    return made_of_ffn(x) + 1 + (x->shape->gated_ffn && !fused ? 1 : 0);
}

// Rows that tokens send to experts: to those of all tensor ranks together.
static real routed_of(const struct pricing *x, const struct layer_run *run)
{
    return run->kind == LAYER_MOE ? x->n * (real)run->experts.top_k * rows_multiplied(x, run) : 0;
}

// Of the rows that a rank gathers.
static real kept_by_experts(const struct pricing *x, const struct layer_run *run, real routed)
{
    const struct expert_shape *e = &run->experts;
    if (run->kind != LAYER_MOE) return 0;
    routed *= x->t_e / x->t;
    return x->e * routed *
               (2 * (real)expert_width(x->shape, e) + kept_of_ffn(x) * (real)e->ffn / x->t_e) +
           8 * x->n * (real)e->experts / x->t + 8 * x->n * (real)e->top_k / x->t;
}

// Inputs of the matrices that read a whole token, at two bytes per value: those of attention and of
// the feed-forward part, which are the same with a parallel residual and one norm; those of a
// second attention, and the encoder's output that it reads; for a further token's layer, a state
// next to an embedding.
static real inputs_kept(const struct pricing *x, const struct layer_run *run)
{
    const struct shape *s = x->shape;
    bool one = !run_is_whole(run) || (s->parallel_residual && shape_norms(s) == 1);
    if (run->frozen && run->kind == LAYER_BLOCK) return 2 * inputs_of_products(x, run);
    return (one ? 2 : 4) + (run->cross_attention ? 4 : 0) + (run->mtp ? 4 : 0);
}

// Inputs of products that Transformer Engine keeps in fewer bits; attention's output is kept in 16
// bits as well.
static real spared_by_narrow(const struct pricing *x, const struct layer_run *run, real routed)
{
    const struct job *job = &x->problem->job;
    bool moe = run->kind == LAYER_MOE;
    if (!precision_is_narrow(job->precision) || !job_like_megatron(job) || run->frozen) return 0;
    real kept = precision_narrow_bytes(job->precision), spare = x->e - kept,
         output = attention_of(x, run).narrowed;
    real ffn = ffn_of(x, run),
         inputs = moe && ffn == 0 ? 1 + (run->mtp ? 2 : 0) : inputs_kept(x, run) / 2,
         bytes = x->n * (spare * (inputs * x->h * x->u + ffn / x->t) +
                         (output < 0 ? kept : spare) * output / x->t);
    if (!moe) return bytes;
    real wide = (real)expert_width(x->shape, &run->experts) + (real)run->experts.ffn / x->t_e;
    return bytes + spare * routed * x->t_e / x->t * wide;
}

// For an RMS norm in single steps: its input in fp32 instead of the 16-bit one, and the values that
// are multiplied by its weights.
static real kept_by_steps(const struct pricing *x, const struct layer_run *run)
{
    bool steps = x->shape->rms_norm && job_unfused(&x->problem->job, UNFUSED_NORMS);
    return steps ? 4 * x->n * x->h * x->u * norms_of(x, run) : 0;
}

// Sequence-parallel tensor ranks gather the inputs of products. Megatron gathers them again for the
// backward pass; what PyTorch's parallel modules gather, a product saves.
static bool keeps_gathered(const struct pricing *x)
{
    const struct job *job = &x->problem->job;
    return x->t > 1 && job->layout.sequence_parallel &&
           (job->trainer == TRAINER_TORCHTITAN || job->gathered_inputs);
}

// Of a token, behind dropout: each adapter's own copy of what it reads, and a mask of bytes.
static real kept_by_dropout(const struct pricing *x, const struct layer_run *run)
{
    struct adapters all = adapters_of(x, run);
    real share = keeps_gathered(x) ? 1 / x->t2 : x->u;
    if (!run->adapter_dropout) return 0;
    return (x->e + 1) * (all.readers * x->h * share + all.narrower / x->t1);
}

// For mode none, without the scores.
static real stash_of_block(const struct pricing *x, const struct layer_run *run)
{
    struct attention attention = attention_of(x, run);
    real width = x->e / 2, y = 2 * (kept_of_ffn(x) - !keeps_last_input(x, run)),
         norms = norms_of(x, run), masks = x->shape->dropout ? parts_of(run) : 0,
         inputs = 2 * norms + inputs_kept(x, run);
    real ffn = ffn_of(x, run), routed = routed_of(x, run);
    real gathered = keeps_gathered(x) ? inputs - 2 * norms : 0;
    real bytes = x->n * x->h * (x->u * (inputs + masks) + (1 / x->t2 - x->u) * gathered) * width +
                 x->n * (2 * attention.kept.sharded + y * ffn) * width / x->t1 +
                 x->e * x->n * attention.kept.whole + kept_by_steps(x, run);
    if (keeps_keys(x, run)) bytes += (x->c - 1) * ring_bytes(x, run, x->n);
    return bytes - spared_by_narrow(x, run, routed) + kept_by_experts(x, run, routed) +
           x->n * kept_by_dropout(x, run) +
           x->e * x->n * run->adapter_rank * adapters_of(x, run).count;
}

// In tensors of the FFN's width. Where it runs in single steps, what is kept goes as soon as it has
// been read: gate, up and the activation's output are there with the gradients of product,
// activation and up. torchtitan's peaks hold without that, compiled or not.
static real wide_gradients(const struct pricing *x, const struct layer_run *run)
{
    const struct job *job = &x->problem->job;
    bool gated = x->shape->gated_ffn, steps = run->kind == LAYER_BLOCK &&
                                              job->trainer != TRAINER_TORCHTITAN &&
                                              job->unfused[UNFUSED_ACTIVATION];
    return steps ? (gated ? 2 : 1) : gated ? 8 : 4;
}

// Gradients of a block's activations during backward, and its buffers.
static real transient_of_block(const struct pricing *x, const struct layer_run *run,
                               bool has_gradient)
{
    real y = wide_gradients(x, run), routed = routed_of(x, run);
    real wide = run->kind == LAYER_MOE
                    ? x->n * (real)run->experts.shared_ffn + routed * (real)run->experts.ffn
                    : x->n * ffn_of(x, run);
    real bytes = x->e * x->n * x->h * x->u + x->e * y * wide / x->t1;
    bytes += attention_working_bytes(x, run, has_gradient);
    // Two buffers for what another trainer's sequence-parallel ranks gather.
    if (x->problem->job.trainer == TRAINER_OTHER && x->problem->job.layout.sequence_parallel &&
        x->t1 > 1)
        bytes += 2 * x->e * x->n * x->h / x->t2;
    if (run->kind == LAYER_MOE && x->x > 1)
        bytes += x->e * (real)expert_width(x->shape, &run->experts) * (routed + routed * x->t_e) /
                 x->t;
    return bytes;
}

bool is_fully_sharded(const struct pricing *x)
{
    const struct job *job = &x->problem->job;
    return job->trainer == TRAINER_TORCHTITAN && job->precision != FP32 && job->layout.zero >= 2 &&
           x->zero && x->R > 1;
}

// What a torchtitan that checkpoints single operators keeps of experts: what came and what went
// back, if they are on several ranks, and which expert each token took. Grouped products are run
// again.
static real exchanged_with_experts(const struct pricing *x, const struct layer_run *run)
{
    const struct expert_shape *e = &run->experts;
    if (run->kind != LAYER_MOE) return 0;
    real each = (real)expert_width(x->shape, e),
         moved = x->x > 1 ? 2 * x->e * each * routed_of(x, run) * x->t_e / x->t : 0;
    return moved + 8 * x->n * (real)e->experts / x->t + 8 * x->n * (real)e->top_k / x->t;
}

// torchtitan's selective mode keeps the layer's input and the outputs of every second product
// (queries, values, gate), of fused attention and of the first reduce-scatter, and what experts
// exchange.
static real stash_of_operators(const struct pricing *x, const struct layer_run *run)
{
    real wide = attention_of(x, run).chosen + ffn_of(x, run);
    real bytes = x->e * x->n *
                 (x->h * x->u * (x->t > 1 && run_is_whole(run) ? 2 : 1) + wide / x->t);
    if (run->mtp) bytes += 5 * x->e * x->n * x->h * x->u; // all that it has in addition to a block
    return bytes + exchanged_with_experts(x, run) +
           x->e * x->n * run->adapter_rank * adapters_of(x, run).count;
}

static void block(const struct pricing *x, const struct layer_run *run, bool has_gradient,
                  struct layer_bytes *bytes)
{
    real kept = stash_of_block(x, run), scores = scores_kept(x, run),
         transient = transient_of_block(x, run, has_gradient);
    enum checkpoints where = x->problem->job.checkpoints;
    bool away = where == CHECKPOINTS_HOST; // one leaves and one comes meanwhile
    real input = x->e * x->n * x->h * x->u * (run->cross_attention || run->mtp ? 2 : 1),
         parts = where == CHECKPOINTS_PARTITIONED ? x->t1 * x->t2 * x->u : 1; // scattered: 1
    real stash[RECOMPUTE_COUNT] = {kept + scores, kept, away ? 0 : input / parts},
         again[RECOMPUTE_COUNT] = {0, scores, kept + scores + (away ? 2 * input : 0)};
    if (x->problem->job.trainer == TRAINER_TORCHTITAN) {
        stash[RECOMPUTE_SELECTIVE] = stash_of_operators(x, run);
        again[RECOMPUTE_SELECTIVE] = fmaxl(0, stash[0] - stash[RECOMPUTE_SELECTIVE]);
    }
    module_bytes(x, run, scores, stash, again);
    // The next micro-batch's forward pass of a layer runs beside this one's backward pass.
    bool beside = x->problem->job.overlapped_dispatch && x->x > 1;
    for (int mode = 0; mode < x->modes; mode++) {
        bytes->stash[mode] = has_gradient ? stash[mode] : 0;
        bytes->working[mode] = transient + (has_gradient ? again[mode] : 0) +
                               (beside ? bytes->stash[mode] : 0);
    }
}

// Bytes for each value of the logits. torchtitan's loss makes its fp32 copies one after the other,
// and one more over tensor ranks; the gap that the 16-bit logits leave in memory is too small for
// them.
static real bytes_of_loss(const struct pricing *x)
{
    const struct job *job = &x->problem->job;
    real logits = job->precision == FP32 ? 0 : x->e;
    if (job->loss_in_place) return x->e;
    bool own = job->trainer == TRAINER_DEEPSPEED; // its models' loss may be PyTorch's
    if (own && !job->unfused[UNFUSED_LOSS]) return 8;
    if (job->trainer == TRAINER_MEGATRON) return logits + (job->fused_loss ? 8 : 4);
    if (job->fused_loss && !own) return 2 * x->e;
    if (x->t == 1 || job->gathered_logits) return logits + 12;
    return logits + (job->trainer == TRAINER_TORCHTITAN ? 16 : 8);
}

// A loss that makes its logits in chunks of n h values, and in the forward pass also the gradients
// of what it reads and of its matrix: only these wait.
static void chunked_head(const struct pricing *x, bool waits, struct layer_bytes *bytes)
{
    bool gathered = x->t > 1 && x->problem->job.layout.sequence_parallel;
    real once = x->e * x->n * x->h, kept = 2 * once * x->u,
         made = once * (gathered ? 3 : 2) + x->e * x->v * x->h_e / x->t1;
    for (int mode = 0; mode < x->modes; mode++) {
        bytes->stash[mode] = waits ? x->predicted * kept : 0;
        bytes->working[mode] = x->predicted * (kept + made) - bytes->stash[mode];
    }
}

// Logits and their gradient. A last stage that turns at once has one micro-batch at a time, whose
// logits are freed before a block's backward begins. Gathered logits are kept in addition to a
// rank's own. The logits of all predictions are kept until the backward pass.
static void head(const struct pricing *x, bool has_gradient, struct layer_bytes *bytes)
{
    const struct job *job = &x->problem->job;
    bool whole = job->trainer == TRAINER_TORCHTITAN && job->layout.sequence_parallel && x->t > 1;
    real own = x->n * x->v / x->t1, input = x->e * x->n * x->h * (2 * x->u + whole);
    bool gathered = x->t > 1 && job->gathered_logits,
         one = schedule_kinds[job->layout.schedule].turns_at_once;
    real logits = gathered ? x->n * x->v : own,
         all = bytes_of_loss(x) * logits + (gathered ? x->e * own : 0) + input,
         stash = one || !has_gradient ? 0 : input + fminl(4, bytes_of_loss(x)) * logits;
    if (job->chunked_loss) {
        chunked_head(x, has_gradient && !one, bytes);
        return;
    }
    for (int mode = 0; mode < x->modes; mode++) {
        bytes->stash[mode] = x->predicted * stash;
        bytes->working[mode] = x->predicted * (all - stash);
    }
}

static void pool(const struct pricing *x, const struct pool_shape *p, bool has_gradient,
                 struct layer_bytes *bytes)
{
    real n = x->n / x->t, message = x->e * x->n * x->h * x->u, width = (real)p->width;
    real stash = message +
                 n * ((real)p->heads * (real)p->key_width * x->e +
                      8 * (real)p->heads * (real)p->top_k + width * x->e * (p->gated ? 3 : 1));
    for (int mode = 0; mode < x->modes; mode++) {
        bytes->stash[mode] = has_gradient ? stash : 0;
        bytes->working[mode] = message + n * width * x->e;
    }
}

// Inputs of both matrices and of the activation between them; for a frozen layer, only of the
// activation.
static void projector(const struct pricing *x, const struct layer_run *run, bool has_gradient,
                      struct layer_bytes *bytes)
{
    const struct projector_shape *p = &run->projector;
    real inner = (real)p->inner / x->t,
         kept = run->frozen ? inner : (real)p->inputs * x->u + 2 * inner;
    for (int mode = 0; mode < x->modes; mode++) {
        bytes->stash[mode] = has_gradient ? x->e * x->n * kept : 0;
        bytes->working[mode] = x->e * x->n * ((real)p->outputs * x->u + 2 * inner);
    }
}

void stash_of_layer(const struct pricing *x, const struct layer_run *run,
                    const struct layer_parameters *parameters, struct layer_bytes *bytes)
{
    bool has_gradient = run_has_gradient(x, run);
    real whole = parameters->dense + parameters->experts, sharded = 0;
    if (is_layered(run)) block(x, run, has_gradient, bytes);
    else if (run->kind == LAYER_HEAD) head(x, has_gradient, bytes);
    else if (run->kind == LAYER_MEMORY) pool(x, &run->pool, has_gradient, bytes);
    else if (run->kind == LAYER_PROJECTOR) projector(x, run, has_gradient, bytes);
    else if (has_gradient && x->shape->dropout)
        for (int mode = 0; mode < x->modes; mode++)
            bytes->stash[mode] = x->n * x->h * x->u * (x->e / 2);
    // Sharded values are whole while the layer runs; overlapped gathers are one layer ahead. For
    // FSDP2's end layers, gathers are not working memory. If layered, the values of all layers of a
    // stage are whole.
    bool all = is_fully_sharded(x), end = is_end(run);
    if (has_replicas(x) && (x->zero >= 2 || all) && !(all && end)) sharded = x->e_w * whole;
    if (has_replicas(x) && (x->zero >= 3 || all) && !(all && end))
        sharded += (x->e * whole + parameters->frozen_bytes) * (x->overlapped ? 2 : 1);
    if (x->layered) {
        sharded += x->overlapped && has_replicas(x) ? x->e_w * whole : 0;
        bytes->unsharded = sharded, sharded = 0;
    }
    // Outputs of the last stage that a schedule returns.
    if (run->kind == LAYER_HEAD && x->problem->job.kept_logits && x->p > 1)
        bytes->unsharded += x->e * x->n * x->v * x->predicted *
                            job_micro_batches(&x->problem->job) /
                            (x->problem->job.gathered_logits ? 1 : x->t1);
    if (x->t3 > 1) {
        // Gathers beside the passes are one layer ahead.
        real matrices = grid_matrices(x, run), once = x->e * matrices;
        bool kept = grid_keeps(x, run), ahead = x->problem->job.overlapped_tensor;
        sharded += x->e_g * matrices + (kept ? 0 : ahead ? 2 * once : once);
        bytes->unsharded += kept ? once : 0;
    }
    // A gradient that is added to an existing one is freed at the end of the pass.
    real table = sums_apart(x) ? 0 : table_gradient_bytes(x, run);
    for (int mode = 0; mode < x->modes; mode++)
        bytes->working[mode] = fmaxl(bytes->working[mode] + sharded, table);
}
