// How many values a layer has on one tensor rank (docs/FORMULAS.md section 4): what is
// synchronised, gathered and stepped.
#include "measure/run/running.h"

int64_t run_vocabulary(const struct running *r)
{
    const struct shape *s = &r->problem->model.shape;
    int64_t multiple = s->vocabulary_multiple > 1 ? s->vocabulary_multiple * r->tensor_count : 1;
    int64_t padded = (s->vocabulary + multiple - 1) / multiple * multiple;
    return padded / r->tensor_count;
}

static int64_t of_norm(const struct shape *s) { return s->rms_norm ? s->hidden : 2 * s->hidden; }

int run_matrices(const struct running *r, int64_t matrices[BLOCK_MATRICES_MAX][2])
{
    const struct shape *s = &r->problem->model.shape;
    int64_t t = r->tensor_count, query = s->heads * s->head_width,
            key = s->kv_heads * s->head_width, ffn = s->ffn / t;
    int count = 0;
    matrices[count][0] = s->hidden, matrices[count++][1] = (query + 2 * key) / t;
    matrices[count][0] = query / t, matrices[count++][1] = s->hidden;
    for (int i = 0; i < (s->gated_ffn ? 2 : 1); i++)
        matrices[count][0] = s->hidden, matrices[count++][1] = ffn;
    matrices[count][0] = ffn, matrices[count++][1] = s->hidden;
    return count;
}

static int64_t of_block(const struct running *r)
{
    const struct shape *s = &r->problem->model.shape;
    int64_t matrices[BLOCK_MATRICES_MAX][2], sum = 2 * of_norm(s), t = r->tensor_count,
                                             query = s->heads * s->head_width,
                                             key = s->kv_heads * s->head_width;
    for (int i = 0, count = run_matrices(r, matrices); i < count; i++)
        sum += matrices[i][0] * matrices[i][1];
    if (s->qkv_bias) sum += (query + 2 * key) / t;
    if (s->linear_bias) sum += (s->gated_ffn ? 2 : 1) * s->ffn / t + 2 * s->hidden;
    return sum;
}

int64_t run_values(const struct running *r, const struct layer_run *layers)
{
    const struct shape *s = &r->problem->model.shape;
    int64_t matrix = run_vocabulary(r) * s->hidden;
    bool apart = !s->tied_embeddings || r->plan->layout.pipeline > 1,
         whole_module = s->tied_embeddings && r->plan->layout.pipeline > 1 &&
                        r->problem->job.trainer == TRAINER_DEEPSPEED;
    if (layers->kind == LAYER_BLOCK) return of_block(r);
    if (layers->kind == LAYER_EMBEDDING) return matrix + s->positions * s->hidden;
    return (apart ? matrix : 0) + of_norm(s) + (whole_module ? s->positions * s->hidden : 0);
}
