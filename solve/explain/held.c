// What a trainer holds besides what its plan needs, where it ran out of memory: pairs and their
// reference model, the other models of PPO, copies of a step of PyTorch's, copies of a rank's
// weights; what other processes hold; what is there before weights are shared (docs/FORMATS.md,
// logs).
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
    int64_t group = told_count(&x->log, TOLD_GROUP), of = x->log.has_pairs ? 2 : group;
    if (of < 2 || !x->log.failure.out_of_memory || r->micro_batch < 1) return;
    r->micro_batch *= of;
    if (r->global_batch > 0) r->global_batch *= of;
    explain_assume(x, "micro_batch", arena_print(x->arena, "%lld", (long long)r->micro_batch),
                   x->log.has_pairs
                       ? "preference pairs: what was chosen and what was rejected are one batch"
                       : "all passages of a group are one batch");
}

// Of what failed the micro-batch alone decides: a batch of all that no replicas make of it is
// another run's, or of prompts.
void explain_leave_out_batch(struct explained *x)
{
    struct run_row *r = &x->asked;
    struct prediction p;
    int64_t replica = larger(r->tp, 1) * larger(r->pp, 1) * larger(r->cp, 1), stated;
    if (!x->log.failure.out_of_memory || r->global_batch < 1 || r->micro_batch < 1 ||
        r->num_gpus < 1 || explain_try(x, r, &p))
        return;
    stated = r->global_batch;
    r->global_batch = r->micro_batch * larger(r->num_gpus / replica, 1);
    if (!explain_try(x, r, &p)) r->global_batch = stated;
    else
        explain_assume(
            x, "global_batch", arena_print(x->arena, "%lld", (long long)r->global_batch),
            arena_print(x->arena, "%lld are no micro-batches of all replicas", (long long)stated));
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
    if (told_count(&x->log, TOLD_ADAPTERS) > 0 && x->log.shows_reading && explain_reads_wide(x))
        explain_assume(x, "weights_fp32", "all",
                       "the code that reads them states no type (transformers before 5: 4 bytes)");
    if (batch)
        explain_assume(x, "rollout_batch", arena_print(x->arena, "%lld", (long long)batch),
                       "logits of that many answers of the longest length, in a forward pass");
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

// Adapters on a mixture's experts, which no plan prices: each rank trains those of its own, in the
// width of products, with gradients of 4 bytes and Adam's 12.
static int64_t expert_adapters(struct explained *x, const struct run_row *row)
{
    static const double bytes = 2 + 4 + 12;
    const struct log *l = &x->log;
    int64_t rank = told_count(l, TOLD_ADAPTERS);
    double values = 0, ranks = (double)larger(row->ep, 1) * (double)larger(row->pp, 1);
    if (rank < 1) return 0;
    const struct model m = model_of(x);
    for (int i = 0; i < m.run_count; i++) {
        const struct layer_run *run = &m.runs[i];
        bool on[ADAPTER_MODULE_COUNT] = {false};
        const struct shape *s = run_shape(&m, run);
        if (run->kind != LAYER_MOE || (explain_finds_modules(x, s, on) && adapters_spare_ffn(on)))
            continue;
        int matrices = s->gated_ffn ? 3 : 2;
        double both = (double)(expert_width(s, &run->experts) + run->experts.ffn);
        values += (double)run->count * (double)run->experts.experts * matrices * both;
    }
    return (int64_t)(bytes * values * (double)(rank > 1 ? rank : 8) / ranks);
}

bool explain_has_trainer(const struct log *l)
{
    return l->format == LOG_TRANSFORMERS || l->format == LOG_LLAMA_FACTORY ||
           l->format == LOG_DEEPSPEED || l->format == LOG_UNKNOWN;
}

static bool is_in(const char *text, const char *word) { return strstr(text, word) != NULL; }

// transformers before 5 reads weights in 4 bytes unless it is given a type, which DeepSpeed's
// engine makes narrow, and LLaMA-Factory's and ms-swift's configurations state.
bool explain_reads_wide(const struct explained *x)
{
    const struct log *l = &x->log;
    bool own = l->format == LOG_TRANSFORMERS || l->format == LOG_UNKNOWN;
    return own && !l->recomputes && !l->seen[LOG_DEEPSPEED] && !l->typed_weights &&
           !told(l, TOLD_WEIGHT_BITS) && strcmp(l->told[TOLD_PRECISION].text, "fp32") != 0;
}

// Weights of the model before ZeRO 3 shares them, where nothing says that they are made in shares.
static int64_t unshared_bytes(struct explained *x, const struct run_row *row,
                              const struct prediction *p)
{
    int64_t bits = told_count(&x->log, TOLD_WEIGHT_BITS);
    bool narrow = told_count(&x->log, TOLD_ADAPTERS) > 0 && bits > 0;
    if (row->zero != 3 || !(p->gpus > 1) || x->log.has_init) return 0;
    return (int64_t)(model_bytes(x, p) * (narrow ? (double)bits / (8 * p->value_bytes) : 1));
}

// What is on a GPU at the moment at which it failed, where that is none of a training pass; 0: it
// is. An evaluation has logits, in the width of products and in fp32, of a batch of its own (of
// transformers' 8 unless told; Megatron's and torchtitan's a micro-batch); FSDP saves whole weights
// in fp32, and what is loaded is there besides what it replaces; what writes answers under ZeRO 3
// gathers all weights first (trl's ds3_gather_for_generation).
static int64_t moment_bytes(struct explained *x, const struct run_row *row,
                            const struct prediction *p)
{
    const struct memory_parts *m = &p->memory;
    const char *shards = x->log.told[TOLD_ZERO].key;
    int64_t states = m->weight_bytes + m->optimizer_bytes + m->constant_bytes, batch;
    double logits;
    bool shared = row->zero == 3 && p->gpus > 1;
    switch (x->log.failure.phase) {
    case PHASE_LOADING:
    case PHASE_PLACING:
        return larger(unshared_bytes(x, row, p), m->weight_bytes) *
                   (x->log.shows_reading && explain_reads_wide(x) ? 2 : 1) +
               m->constant_bytes;
    case PHASE_RESUMING: return states + m->optimizer_bytes;
    case PHASE_SAVING:
        return shared && (is_in(shards, "fsdp") || is_in(shards, "FSDP"))
                   ? states + (int64_t)(model_bytes(x, p) * 4 / p->value_bytes)
                   : states;
    case PHASE_EVALUATION:
        batch = told(&x->log, TOLD_EVAL_BATCH) ? told_count(&x->log, TOLD_EVAL_BATCH)
                : explain_has_trainer(&x->log) ? 8
                                               : larger(row->micro_batch, 1);
        logits = (double)batch * (double)row->seq * (double)model_of(x).shape.vocabulary;
        return states + (int64_t)(logits * (p->value_bytes + 4));
    case PHASE_ANSWERS:
        return states + (shared && !x->log.has_engine ? (int64_t)model_bytes(x, p) : 0);
    default: return 0;
    }
}

int64_t explain_moment(struct explained *x)
{
    struct prediction p;
    return explain_try(x, &x->row, &p) ? moment_bytes(x, &x->row, &p) : 0;
}

// Frozen weights that the text's own code reads without a type.
static int64_t wide_bytes(const struct explained *x, const struct prediction *p)
{
    bool frozen = told_count(&x->log, TOLD_ADAPTERS) > 0;
    return frozen && x->log.shows_reading && explain_reads_wide(x) ? p->memory.weight_bytes : 0;
}

void explain_hold(struct explained *x, const struct run_row *row, struct prediction *p)
{
    if (!x->log.failure.out_of_memory || *p->reason) return;
    int64_t more = others_bytes(x, row, p) + larger(step_bytes(x, p), rollout_bytes(x, row, p)) +
                   engine_bytes(x, p) + expert_adapters(x, row) + wide_bytes(x, p);
    more = larger(more, moment_bytes(x, row, p) - memory_total(&p->memory));
    p->device_bytes += more;
    p->limit_bytes = larger(p->limit_bytes - explain_others(x) - explain_pieces(x), 1);
    p->fits = p->device_bytes <= p->limit_bytes;
}

// The allocator gives whole segments back before it fails: what it still has reserved are pieces of
// those in use.
int64_t explain_pieces(const struct explained *x)
{
    const struct log_failure *f = &x->log.failure;
    bool stated = f->reserved_bytes && f->allocated_bytes && f->tried_bytes;
    return stated ? larger(f->reserved_bytes - f->allocated_bytes, 0) : 0;
}

int64_t explain_others(const struct explained *x)
{
    const struct log_failure *f = &x->log.failure;
    static const int64_t context = 1 << 30; // its own, which older reports leave out
    int64_t other = f->other_bytes, own = f->process_bytes;
    bool older = !own && !f->listed && f->reserved_bytes && f->free_bytes;
    if (older) own = f->reserved_bytes + context;
    if (!other && f->card_bytes && own) other = f->card_bytes - f->free_bytes - own;
    return (double)other < (older ? 0.1 : 0.05) * (double)f->card_bytes ? 0 : other;
}

// DeepSpeed shares out at once only what is made under zero.Init: it moves any other model to the
// GPU first (edaa7221, runtime/engine.py _configure_distributed_model), and so does who calls FSDP
// behind model.to(device).
int64_t explain_unshared(struct explained *x)
{
    struct prediction p;
    int64_t all = explain_try(x, &x->row, &p) ? unshared_bytes(x, &x->row, &p) : 0;
    return all > x->own.limit_bytes ? all : 0;
}

// A request of as many bytes as a rank's weights, while they are there: a copy of them (a merge, a
// checkpoint that is read or written, another order of dimensions).
bool explain_is_copy(const struct explained *x)
{
    double tried = (double)x->log.failure.tried_bytes, weights = (double)x->own.memory.weight_bytes;
    return tried > 0 && weights > 0 && fabs(tried / weights - 1) < 0.1;
}
