// What a trainer holds besides what its plan needs, where it ran out of memory: pairs and their
// reference model, copies of a step of PyTorch's, copies of a rank's weights (docs/FORMATS.md,
// logs).
#include <math.h>
#include <string.h>

#include "data/base/least.h"
#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

// DPO (trl f2cd5771, LLaMA-Factory ff6d4d12: concatenated_forward): what was chosen and what was
// rejected go through the model as one batch.
void explain_assume_pairs(struct explained *x)
{
    struct run_row *r = &x->asked;
    if (!x->log.has_pairs || !x->log.failure.out_of_memory || r->micro_batch < 1) return;
    r->micro_batch *= 2;
    if (r->global_batch > 0) r->global_batch *= 2;
    explain_assume(x, "micro_batch", arena_print(x->arena, "%lld", (long long)r->micro_batch),
                   "preference pairs: what was chosen and what was rejected are one batch");
}

// The reference's weights, sharded by ZeRO 3 as the trained ones are; adapters are switched off for
// it instead.
static int64_t reference_bytes(struct explained *x, const struct run_row *row,
                               const struct prediction *p)
{
    struct problem problem;
    struct placement placement;
    if (!x->log.has_pairs || told_count(&x->log, TOLD_ADAPTERS) > 0) return 0;
    predictor_problem(x->predictor, &problem, &placement, x->arena);
    double ranks = row->zero == 3 && p->gpus > 1 ? p->gpus : 1;
    return (int64_t)((double)model_size_of(&problem.model).all * p->value_bytes / ranks);
}

// PyTorch's Adam for all values at once (torch/optim/adamw.py _multi_tensor_adamw: the roots of
// exp_avg_sq, 4 bytes each of 12) holds them when a pass's activations are gone, and the 16-bit
// casts of its weights, which autocast keeps through a pass. Fused ones and DeepSpeed's do not.
static int64_t step_bytes(const struct explained *x, const struct prediction *p)
{
    const struct log *l = &x->log;
    const struct memory_parts *m = &p->memory;
    bool own = l->format == LOG_TRANSFORMERS || l->format == LOG_LLAMA_FACTORY,
         other = l->optimizer && (strstr(l->optimizer, "fused") || strstr(l->optimizer, "8bit") ||
                                  strstr(l->optimizer, "paged") || strstr(l->optimizer, "sgd"));
    if (!own || other || l->seen[LOG_DEEPSPEED] || told_count(l, TOLD_OFFLOAD) > 0) return 0;
    int64_t states = m->gradient_bytes + m->optimizer_bytes + m->constant_bytes;
    return larger(states + m->optimizer_bytes / 3 - memory_total(m), 0);
}

void explain_hold(struct explained *x, const struct run_row *row, struct prediction *p)
{
    if (!x->log.failure.out_of_memory || *p->reason) return;
    int64_t more = reference_bytes(x, row, p) + step_bytes(x, p);
    p->device_bytes += more;
    p->fits = p->device_bytes <= p->limit_bytes;
}

// A request of as many bytes as a rank's weights, while they are there: a copy of them (a merge, a
// checkpoint that is read or written, another order of dimensions).
bool explain_is_copy(const struct explained *x)
{
    double tried = (double)x->log.failure.tried_bytes, weights = (double)x->own.memory.weight_bytes;
    return tried > 0 && weights > 0 && fabs(tried / weights - 1) < 0.1;
}
