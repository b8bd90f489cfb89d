// What a trainer holds besides what its plan needs, where it ran out of memory: pairs and their
// reference model, the other models of PPO, copies of a step of PyTorch's, copies of a rank's
// weights; what other processes hold; what is there before weights are shared (docs/FORMATS.md,
// logs).
#include <math.h>
#include <stdlib.h>
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

void explain_assume_models(struct explained *x)
{
    int64_t batch = told_count(&x->log, TOLD_ROLLOUT);
    if (!x->log.failure.out_of_memory) return;
    if (x->log.has_critic)
        explain_assume(
            x, "models", "4",
            "PPO: a critic is trained, too, a reference and a reward model are read, all "
            "as large and on each GPU");
    if (x->log.has_engine)
        explain_assume(x, "engine", x->log.engine_sleeps ? "sleeps" : "waits",
                       x->log.engine_sleeps
                           ? "it writes answers on the same GPUs: all weights over its tensor "
                             "ranks, beside the trainer's share of them"
                           : "it writes answers on the same GPUs, and keeps its share of the card");
    if (batch)
        explain_assume(x, "rollout_batch", arena_print(x->arena, "%lld", (long long)batch),
                       "logits of so many answers, as long as they may be, in a forward pass");
}

// The model of the last prediction.
static struct model model_of(struct explained *x)
{
    struct problem problem;
    struct placement placement;
    predictor_problem(x->predictor, &problem, &placement, x->arena);
    return problem.model;
}

// All of the model's weights, in the width in which they are computed with.
static double model_bytes(struct explained *x, const struct prediction *p)
{
    struct model model = model_of(x);
    return (double)model_size_of(&model).all * p->value_bytes;
}

// Weights that are only read: the reference's of pairs, reference's and reward's of PPO, sharded by
// ZeRO 3 as the trained ones are (adapters are switched off for a reference instead); and PPO's
// critic, which is trained as the model is.
static int64_t others_bytes(struct explained *x, const struct run_row *row,
                            const struct prediction *p)
{
    const struct memory_parts *m = &p->memory;
    bool adapters = told_count(&x->log, TOLD_ADAPTERS) > 0;
    int read = (!adapters && (x->log.has_pairs || x->log.has_critic)) + x->log.has_critic;
    double ranks = row->zero == 3 && p->gpus > 1 ? p->gpus : 1;
    int64_t trained = m->weight_bytes + m->gradient_bytes + m->optimizer_bytes;
    return (read ? (int64_t)(read * model_bytes(x, p) / ranks) : 0) +
           (x->log.has_critic ? trained : 0);
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

// OpenRLHF's forward pass over answers (15d31511, models/actor.py: the logits in 16 bits, and their
// fp32 copy), where no gradients are and no activations stay; sequences are as long as they may be.
static int64_t rollout_bytes(struct explained *x, const struct run_row *row,
                             const struct prediction *p)
{
    const struct memory_parts *m = &p->memory;
    int64_t batch = told_count(&x->log, TOLD_ROLLOUT);
    if (batch < 1 || row->seq < 1) return 0;
    double logits = (double)batch * (double)row->seq * (double)model_of(x).shape.vocabulary;
    int64_t held = m->weight_bytes + m->optimizer_bytes + m->constant_bytes +
                   (int64_t)(logits * (p->value_bytes + 4));
    return larger(held - memory_total(m), 0);
}

// An engine on the same GPU has all weights, over its own tensor ranks, beside the trainer's; one
// that does not sleep keeps its share of the card while the model is trained.
static int64_t engine_bytes(struct explained *x, const struct prediction *p)
{
    const struct log *l = &x->log;
    int64_t ranks = told_count(l, TOLD_ENGINE_RANKS), total = memory_total(&p->memory);
    if (!l->has_engine) return 0;
    double weights = model_bytes(x, p) / (double)larger(ranks, 1),
           share = told(l, TOLD_ENGINE_SHARE) ? strtod(l->told[TOLD_ENGINE_SHARE].text, NULL) : 0;
    if (share > 1 || share < 0) share = 0;
    int64_t begins = p->memory.weight_bytes + (int64_t)weights - total;
    if (l->engine_sleeps) return larger(begins, 0);
    return (int64_t)fmax(weights, share * (double)p->capacity_bytes);
}

void explain_hold(struct explained *x, const struct run_row *row, struct prediction *p)
{
    if (!x->log.failure.out_of_memory || *p->reason) return;
    int64_t more = others_bytes(x, row, p) + larger(step_bytes(x, p), rollout_bytes(x, row, p)) +
                   engine_bytes(x, p);
    p->device_bytes += more;
    p->limit_bytes = larger(p->limit_bytes - explain_others(x), 1);
    p->fits = p->device_bytes <= p->limit_bytes;
}

int64_t explain_others(const struct explained *x)
{
    const struct log_failure *f = &x->log.failure;
    int64_t other = f->other_bytes;
    if (!other && f->card_bytes && f->process_bytes)
        other = f->card_bytes - f->free_bytes - f->process_bytes;
    return (double)other < 0.05 * (double)f->card_bytes ? 0 : other;
}

// DeepSpeed shares out at once only what is made under zero.Init: it moves any other model to the
// GPU first (edaa7221, runtime/engine.py _configure_distributed_model), and so does who calls FSDP
// behind model.to(device).
int64_t explain_unshared(struct explained *x)
{
    struct prediction p;
    if (x->row.zero != 3 || !(x->own.gpus > 1) || x->log.has_init || !explain_try(x, &x->row, &p))
        return 0;
    double bits = told_count(&x->log, TOLD_ADAPTERS) > 0 && told_count(&x->log, TOLD_WEIGHT_BITS)
                      ? (double)told_count(&x->log, TOLD_WEIGHT_BITS)
                      : 8 * p.value_bytes;
    double all = model_bytes(x, &p) * bits / (8 * p.value_bytes);
    return all > (double)x->own.limit_bytes ? (int64_t)all : 0;
}

// A request of as many bytes as a rank's weights, while they are there: a copy of them (a merge, a
// checkpoint that is read or written, another order of dimensions).
bool explain_is_copy(const struct explained *x)
{
    double tried = (double)x->log.failure.tried_bytes, weights = (double)x->own.memory.weight_bytes;
    return tried > 0 && weights > 0 && fabs(tried / weights - 1) < 0.1;
}
