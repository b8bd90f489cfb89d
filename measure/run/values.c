// How many values a layer has on one tensor rank (docs/FORMULAS.md section 4): what is
// synchronised, gathered and stepped.
#include "measure/run/running.h"

int64_t run_vocabulary(const struct running *r)
{
    const struct shape *s = &r->problem->model.shape;
    int64_t multiple = (s->vocabulary_multiple ? s->vocabulary_multiple : 1) * r->tensor_count;
    int64_t padded = (s->vocabulary + multiple - 1) / multiple * multiple;
    return padded / r->tensor_count;
}

static int64_t of_norm(const struct shape *s) { return s->rms_norm ? s->hidden : 2 * s->hidden; }

static int64_t run_shared_ffn(const struct running *r, const struct layer_run *layers)
{
    return layers->kind == LAYER_MOE ? layers->experts.shared_ffn : r->problem->model.shape.ffn;
}

int run_matrices(const struct running *r, const struct layer_run *layers,
                 int64_t matrices[BLOCK_MATRICES_MAX][2])
{
    const struct shape *s = &r->problem->model.shape;
    int64_t t = r->tensor_count, query = s->heads * s->head_width,
            key = s->kv_heads * s->head_width, ffn = run_shared_ffn(r, layers) / t;
    int count = 0;
    matrices[count][0] = s->hidden, matrices[count++][1] = (query + 2 * key) / t;
    matrices[count][0] = query / t, matrices[count++][1] = s->hidden;
    if (!ffn) return count;
    for (int i = 0; i < (s->gated_ffn ? 2 : 1); i++)
        matrices[count][0] = s->hidden, matrices[count++][1] = ffn;
    matrices[count][0] = ffn, matrices[count++][1] = s->hidden;
    return count;
}

int64_t run_expert_values(const struct running *r, const struct layer_run *layers)
{
    const struct shape *s = &r->problem->model.shape;
    const struct expert_shape *e = &layers->experts;
    if (layers->kind != LAYER_MOE) return 0;
    return (s->gated_ffn ? 3 : 2) * expert_width(s, e) * e->ffn / run_expert_parts(r) *
           (e->experts / run_expert_degree(r));
}

// Of a mixture its router, too, which every tensor rank has whole.
static int64_t of_block(const struct running *r, const struct layer_run *layers)
{
    const struct shape *s = &r->problem->model.shape;
    int64_t matrices[BLOCK_MATRICES_MAX][2], sum = 2 * of_norm(s), t = r->tensor_count,
                                             query = s->heads * s->head_width,
                                             key = s->kv_heads * s->head_width;
    for (int i = 0, count = run_matrices(r, layers, matrices); i < count; i++)
        sum += matrices[i][0] * matrices[i][1];
    if (s->qkv_bias) sum += (query + 2 * key) / t;
    if (s->linear_bias)
        sum += (s->gated_ffn ? 2 : 1) * run_shared_ffn(r, layers) / t + 2 * s->hidden;
    return sum + (layers->kind == LAYER_MOE ? s->hidden * layers->experts.experts : 0);
}

int64_t run_values(const struct running *r, const struct layer_run *layers)
{
    const struct shape *s = &r->problem->model.shape;
    int64_t matrix = run_vocabulary(r) * s->hidden;
    bool apart = !s->tied_embeddings || r->plan->layout.pipeline > 1,
         whole_module = s->tied_embeddings && r->plan->layout.pipeline > 1 &&
                        r->problem->job.trainer == TRAINER_DEEPSPEED;
    if (layers->kind == LAYER_BLOCK || layers->kind == LAYER_MOE) return of_block(r, layers);
    if (layers->kind == LAYER_EMBEDDING) return matrix + s->positions * s->hidden;
    return (apart ? matrix : 0) + of_norm(s) + (whole_module ? s->positions * s->hidden : 0);
}
