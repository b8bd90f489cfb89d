// What one layer occupies on one device: parameters and states, activations kept for backward by recompute mode, what a
// layer needs beside them while it runs, and its message. docs/FORMULAS.md sections 4 and 5.
#include "formulate/pricing.h"

// Parameters of one layer on one device.
static double parameters_of(const struct pricing *x, const struct layer_run *run)
{
    const struct shape *shape = &x->problem->model.shape;
    double norm = shape->rms_norm ? x->h : 2 * x->h;
    if (run->kind == LAYER_EMBEDDING) return x->v * x->h / x->t + (double)shape->positions * x->h;
    if (run->kind == LAYER_HEAD) return (shape->tied_embeddings && x->p == 1 ? 0 : x->v * x->h / x->t) + norm;
    double sharded = x->h * (x->q + 2 * x->kv) + x->q * x->h + x->g * x->h * x->f;
    if (shape->qkv_bias) sharded += x->q + 2 * x->kv;
    if (shape->linear_bias) sharded += (x->g - 1) * x->f;
    return sharded / x->t + 2 * norm + (shape->linear_bias ? 2 * x->h : 0);
}

// Softmax output, dropout mask and dropout output of the scores, at two bytes a value; the fused kernel keeps none.
static double scores_kept(const struct pricing *x)
{
    if (x->problem->job.layout.fused_attention) return 0;
    return (x->problem->model.shape.dropout ? 5 : 2) * x->a * x->s * x->n;
}

static void stash_of_block(const struct pricing *x, struct layer_bytes *bytes)
{
    const struct shape *shape = &x->problem->model.shape;
    double width = x->e / 2, mask = shape->dropout ? 1 : 0, y = shape->gated_ffn ? 8 : 4;
    double unsharded = x->n * x->h * x->u * (8 + mask * 2) * width;
    double sharded = x->n * (2 * x->q + 2 * (x->q + 2 * x->kv) + y * x->f);
    bytes->stash[RECOMPUTE_NONE] = unsharded + (sharded + scores_kept(x)) * width / x->t;
    bytes->stash[RECOMPUTE_SELECTIVE] = unsharded + sharded * width / x->t;
    bytes->stash[RECOMPUTE_FULL] = x->e * x->n * x->h * x->u;
    for (int mode = 0; mode < 3; mode++) bytes->working[mode] = bytes->stash[RECOMPUTE_NONE] - bytes->stash[mode];
}

static void stash_of_ends(const struct pricing *x, const struct layer_run *run, struct layer_bytes *bytes)
{
    double logits = 4 * x->n * x->v / x->t;
    for (int mode = 0; mode < 3; mode++) {
        if (run->kind == LAYER_HEAD) {
            bytes->stash[mode] = 2 * x->e * x->n * x->h * x->u + logits;
            bytes->working[mode] = logits;
        } else {
            bytes->stash[mode] = x->problem->model.shape.dropout ? x->n * x->h * x->u * (x->e / 2) : 0;
        }
    }
}

static struct layer_bytes bytes_as_measured(const struct measured_bytes *m)
{
    struct layer_bytes bytes = {.weight = (double)m->weight_bytes,
                                .gradient = (double)m->gradient_bytes,
                                .optimizer = (double)m->optimizer_bytes,
                                .message = (double)m->boundary_bytes,
                                .matrix_rows = (double)m->matrix_rows,
                                .matrix_columns = (double)m->matrix_columns};
    for (int mode = 0; mode < 3; mode++) {
        bytes.stash[mode] = (double)m->stash_bytes[mode];
        bytes.working[mode] = (double)m->working_bytes[mode];
    }
    return bytes;
}

struct layer_bytes bytes_of_layer(const struct pricing *x, const struct layer_run *run)
{
    if (run->kind == LAYER_MEASURED) return bytes_as_measured(&run->measured);
    const struct job *job = &x->problem->job;
    double parameters = parameters_of(x, run);
    struct layer_bytes bytes = {.weight = x->e * parameters,
                                .gradient = x->e_g * parameters,
                                .message = x->e * x->n * x->h * x->u};
    if (job->adam) bytes.optimizer = (job->precision == FP32 ? 8 : 12) * parameters / (job->layout.zero ? x->R : 1);
    bytes.matrix_rows = bytes.message / (x->e * x->h);
    bytes.matrix_columns = x->h;
    if (run->kind == LAYER_BLOCK) stash_of_block(x, &bytes);
    else stash_of_ends(x, run, &bytes);
    return bytes;
}
