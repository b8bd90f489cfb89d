// A plan as Megatron-LM flags: a bash array to be sourced. What the flags cannot express follows
// as comments, so that an incomplete export is not mistaken for the plan. Layout grammar: stages
// separated by '|', E embedding, t decoder layer, m layer that predicts a further token, L loss,
// x*n repeats; one E first, one L last, all m in one stage. Stage k of V p is chunk k / p of
// pipeline rank k mod p, as here.
#include <inttypes.h>
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/report/megatron.h"

char report_layer_letter(const struct model *model, int layer)
{
    char by_place = layer == 0 ? 'E' : layer == model->layer_count - 1 ? 'L' : 't';
    const struct layer_run *run = &model->runs[model_run_of(model, layer)];
    if (run->shape || run->tokens) return '?';
    if (run->mtp) return 'm';
    switch (run->kind) {
    case LAYER_EMBEDDING: return 'E';
    case LAYER_BLOCK:
    case LAYER_MOE: return 't';
    case LAYER_MEMORY:
    case LAYER_PROJECTOR: return '?';
    case LAYER_HEAD: return 'L';
    case LAYER_MEASURED: return run->recomputable ? 't' : by_place == 't' ? '?' : by_place;
    }
    return '?';
}

static char letter_of(const struct megatron *e, int layer)
{
    if (e->problem) return report_layer_letter(&e->problem->model, layer);
    return layer == 0 ? 'E' : layer == e->layer_count - 1 ? 'L' : 't';
}

static void find_experts(struct megatron *e)
{
    for (int i = 0; e->problem && i < e->problem->model.run_count; i++) {
        const struct layer_run *run = &e->problem->model.runs[i];
        if (run->kind != LAYER_MOE) continue;
        const struct expert_shape *x = &run->experts;
        if (!e->experts) e->experts = x;
        e->experts_differ |= x->experts != e->experts->experts || x->top_k != e->experts->top_k ||
                             x->ffn != e->experts->ffn || x->shared_ffn != e->experts->shared_ffn;
    }
    if (e->experts_differ) e->experts = NULL;
}

static void count_layers(struct megatron *e, struct arena *arena)
{
    const struct plan *plan = e->plan;
    const struct plan_stage *last = &plan->stages[plan->stage_count - 1];
    e->layer_count = last->first_layer + last->layer_count;
    e->blocks = TAKE(arena, plan->stage_count, int);
    e->further = TAKE(arena, plan->stage_count, int);
    e->holds_embedding = TAKE(arena, plan->stage_count, bool);
    e->holds_head = TAKE(arena, plan->stage_count, bool);
    for (int s = 0; s < plan->stage_count; s++)
        for (int i = 0; i < plan->stages[s].layer_count; i++) {
            char letter = letter_of(e, plan->stages[s].first_layer + i);
            e->blocks[s] += letter == 't';
            e->further[s] += letter == 'm';
            e->holds_embedding[s] |= letter == 'E';
            e->holds_head[s] |= letter == 'L';
            e->unknown_layers += letter == '?';
        }
    e->ends_assumed = !e->problem || !e->holds_embedding[0] ||
                      !e->holds_head[plan->stage_count - 1];
    e->holds_embedding[0] = e->holds_head[plan->stage_count - 1] = true;
}

const char *megatron_layout_text(const struct megatron *e, struct arena *arena)
{
    struct report_out text;
    report_out_begin(&text, arena);
    for (int s = 0; s < e->plan->stage_count; s++) {
        report_print(&text, "%s%s", s ? "|" : "", e->holds_embedding[s] ? "E" : "");
        if (e->blocks[s] == 1) report_print(&text, "t");
        if (e->blocks[s] > 1) report_print(&text, "t*%d", e->blocks[s]);
        if (e->further[s]) report_print(&text, "m");
        if (e->further[s] > 1) report_print(&text, "*%d", e->further[s]);
        if (e->holds_head[s]) report_print(&text, "L");
    }
    return text.text;
}

enum megatron_activation megatron_activation_of(const struct shape *m)
{
    const char *name = m->activation;
    if (m->gated_ffn) return !name || !strcmp(name, "silu") ? ACTIVATION_SWIGLU : ACTIVATION_OTHER;
    if (!name || !strcmp(name, "gelu")) return ACTIVATION_GELU;
    if (!strcmp(name, "gelu_new") || !strcmp(name, "gelu_pytorch_tanh"))
        return ACTIVATION_OPENAI_GELU;
    return !strcmp(name, "relu2") ? ACTIVATION_SQUARED_RELU : ACTIVATION_OTHER;
}

static void put_count(struct report_out *out, const char *flag, int64_t value)
{
    report_print(out, "  --%s %" PRId64 "\n", flag, value);
}
static void put_flag(struct report_out *out, const char *flag, bool wanted)
{
    if (wanted) report_print(out, "  --%s\n", flag);
}

int megatron_group_of(const struct plan *plan)
{
    const struct layout *l = &plan->layout;
    if (!schedule_kinds[l->schedule].in_groups) return 0;
    int group = schedule_group(plan->micro_batches, l->pipeline);
    return group == l->pipeline ? 0 : group;
}

static void put_parallel(const struct megatron *e)
{
    const struct plan *plan = e->plan;
    const struct layout *l = &plan->layout;
    put_count(e->out, "tensor-model-parallel-size", l->tensor);
    put_count(e->out, "context-parallel-size", l->context);
    if (l->expert > 1) put_count(e->out, "expert-model-parallel-size", l->expert);
    put_count(e->out, "pipeline-model-parallel-size", l->pipeline);
    if (plan->stage_count > 1)
        report_print(e->out, "  --pipeline-model-parallel-layout '%s'\n",
                     megatron_layout_text(e, e->out->arena));
    if (megatron_group_of(plan))
        put_count(e->out, "microbatch-group-size-per-virtual-pipeline-stage",
                  megatron_group_of(plan));
    put_count(e->out, "micro-batch-size", l->micro_batch);
    put_count(e->out, "global-batch-size", plan_micro_batches_together(plan) * l->micro_batch);
    put_flag(e->out, "sequence-parallel", l->sequence_parallel && l->tensor > 1);
    put_flag(e->out, "use-distributed-optimizer", l->zero >= 1 || l->offload_optimizer);
    put_flag(e->out, "optimizer-cpu-offload", l->offload_optimizer);
    put_flag(e->out, "use-precision-aware-optimizer",
             l->offload_optimizer); // offloading requires both
    put_flag(e->out, "overlap-grad-reduce", l->gradient_sync == SYNC_OVERLAPPED);
    put_flag(e->out, "overlap-param-gather", l->gradient_sync == SYNC_OVERLAPPED && l->zero >= 1);
    put_flag(e->out, l->fused_attention ? "attention-backend flash" : "attention-backend unfused",
             true);
}

// Which decoder layers are mixtures: runs of zeros and ones, in the syntax of --moe-layer-freq.
static void put_mixture_pattern(const struct megatron *e)
{
    const struct model *model = &e->problem->model;
    const char *before = "";
    report_print(e->out, "  --moe-layer-freq '(");
    for (int i = 0; i < model->run_count; i++) {
        enum layer_kind kind = model->runs[i].kind;
        if ((kind != LAYER_BLOCK && kind != LAYER_MOE) || model->runs[i].mtp) continue;
        report_print(e->out, "%s[%d]*%d", before, kind == LAYER_MOE, model->runs[i].count);
        before = "+";
    }
    report_print(e->out, ")'\n");
}

static void put_experts(const struct megatron *e)
{
    const struct expert_shape *x = e->experts;
    if (!x) return;
    put_count(e->out, "num-experts", x->experts);
    put_count(e->out, "moe-router-topk", x->top_k);
    put_count(e->out, "moe-ffn-hidden-size", x->ffn);
    if (x->shared_ffn) put_count(e->out, "moe-shared-expert-intermediate-size", x->shared_ffn);
    put_flag(e->out, "moe-shared-expert-gate", x->shared_gate);
    put_flag(e->out, "moe-token-dispatcher-type alltoall", true);
    put_mixture_pattern(e);
}

static void put_number(struct report_out *out, const char *flag, double value, double usual)
{
    if (value > 0 && value != usual) report_print(out, "  --%s %.9g\n", flag, value);
}

// Latent attention: heads as produced by the projections up from the latents.
static void put_attention(struct report_out *out, const struct shape *m)
{
    if (m->kv_rank) {
        put_flag(out, "multi-latent-attention", true);
        if (m->query_rank) put_count(out, "q-lora-rank", m->query_rank);
        put_count(out, "kv-lora-rank", m->kv_rank);
        put_count(out, "qk-head-dim", m->head_width - m->rotary_width);
        put_count(out, "qk-pos-emb-head-dim", m->rotary_width);
        put_count(out, "v-head-dim", shape_value_width(m));
        put_flag(out, "qk-layernorm", true); // otherwise the latents have no norms
        return;
    }
    if (m->kv_heads != m->heads)
        report_print(out, "  --group-query-attention\n  --num-query-groups %" PRId64 "\n",
                     m->kv_heads);
    if (m->head_width * m->heads != m->hidden) put_count(out, "kv-channels", m->head_width);
    put_flag(out, "qk-layernorm", m->qk_norm == QK_NORM_HEAD);
}

static void put_rotary(struct report_out *out, const struct shape *m)
{
    struct megatron_rotary r;
    const struct rotary_scaling *x = &m->rotary_scaling;
    megatron_rotary_of(m, false, &r, out->arena);
    if (m->positions) return;
    put_flag(out,
             r.way == ROTARY_YARN && !m->kv_rank ? "position-embedding-type yarn"
                                                 : "position-embedding-type rope",
             true);
    put_number(out, "rotary-base", m->rotary_base, 10000);
    put_number(out, "rotary-percent", m->rotary_share, 1);
    put_flag(out, "use-rope-scaling", r.way == ROTARY_LLAMA3);
    if (r.way == ROTARY_LLAMA3) put_number(out, "rope-scaling-factor", r.factor, 0);
    if (r.way == ROTARY_LINEAR)
        put_count(out, "rotary-seq-len-interpolation-factor", (int64_t)r.factor);
    if (r.way != ROTARY_YARN) return;
    put_number(out, "rotary-scaling-factor", r.factor, 0);
    put_number(out, "mscale", x->mscale, 0);
    put_number(out, "mscale-all-dim", x->mscale_all_dim, 0);
    if (m->kv_rank) {
        put_flag(out, "rope-type yarn", true);
        return;
    }
    if (x->original_positions)
        put_count(out, "yarn-original-max-position-embeddings", x->original_positions);
    put_number(out, "yarn-beta-fast", x->beta_fast, 0);
    put_number(out, "yarn-beta-slow", x->beta_slow, 0);
}

// What affects no price, if the model states it.
static void put_functions(struct report_out *out, const struct shape *m)
{
    enum megatron_activation activation = megatron_activation_of(m);
    put_flag(out, "swiglu", activation == ACTIVATION_SWIGLU);
    put_flag(out, "openai-gelu", activation == ACTIVATION_OPENAI_GELU);
    put_flag(out, "squared-relu", activation == ACTIVATION_SQUARED_RELU);
    put_number(out, "norm-epsilon", m->norm_epsilon, 1e-5);
    put_rotary(out, m);
}

static void put_further(struct report_out *out, const struct model *m)
{
    int depth = model_mtp_depth(m);
    if (!depth) return;
    put_count(out, "mtp-num-layers", depth);
    put_number(out, "mtp-loss-scaling-factor", m->shape.mtp_loss_scale, 0);
}

static void put_vocabulary(const struct megatron *e, const struct shape *m)
{
    int64_t tensor = e->plan->layout.tensor;
    // The tokenizer's vocabulary is padded to a multiple of this and the tensor degree, giving the
    // model's.
    if (m->vocabulary_multiple > 1)
        put_count(e->out, "make-vocab-size-divisible-by", m->vocabulary_multiple);
    else if (m->vocabulary % tensor == 0)
        put_count(e->out, "make-vocab-size-divisible-by", m->vocabulary / tensor);
}

static void put_job(struct report_out *out, const struct job *job)
{
    bool wide = job->gradient_bytes_per_value == 4;
    put_count(out, "seq-length", job->sequence);
    put_flag(out, "bf16", job->precision == BF16 || job->precision == FP8);
    put_flag(out, "fp16", job->precision == FP16);
    put_flag(out, "fp8-format hybrid", job->precision == FP8);
    put_flag(out, "accumulate-allreduce-grads-in-fp32", job->precision != FP32 && wide);
    put_flag(out, "grad-reduce-in-bf16",
             (job->precision == BF16 || job->precision == FP8) && !wide);
    if (job->fused_loss)
        report_print(out, "  --cross-entropy-loss-fusion\n  --cross-entropy-fusion-impl native\n");
    put_flag(out, "no-rope-fusion", job->unfused[UNFUSED_ROTARY]);
    put_flag(out, "no-bias-swiglu-fusion", job->unfused[UNFUSED_ACTIVATION]);
    if (!job->adam) report_print(out, "  --optimizer sgd\n  --sgd-momentum 0\n");
}

static void put_model(const struct megatron *e)
{
    int blocks = 0;
    for (int s = 0; s < e->plan->stage_count; s++) blocks += e->blocks[s];
    put_count(e->out, "num-layers", blocks);
    if (!e->problem) return;
    const struct job *job = &e->problem->job;
    put_job(e->out, job);
    if (!e->problem->model.has_shape) return;
    const struct shape *m = &e->problem->model.shape;
    put_count(e->out, "max-position-embeddings", m->positions ? m->positions : job->sequence);
    put_count(e->out, "hidden-size", m->hidden);
    put_count(e->out, "ffn-hidden-size", m->ffn);
    put_count(e->out, "num-attention-heads", m->heads);
    put_attention(e->out, m);
    put_functions(e->out, m);
    put_flag(e->out, "normalization RMSNorm", m->rms_norm);
    put_flag(e->out, "disable-bias-linear", !m->linear_bias);
    put_flag(e->out, "add-qkv-bias", m->qkv_bias && !m->linear_bias);
    put_flag(e->out, "untie-embeddings-and-output-weights", !m->tied_embeddings);
    if (!m->dropout) report_print(e->out, "  --attention-dropout 0\n  --hidden-dropout 0\n");
    put_vocabulary(e, m);
    put_experts(e);
    put_further(e->out, &e->problem->model);
}

// Layers of a stage that may be recomputed.
static int all_layers_of(const struct megatron *e, int s) { return e->blocks[s] + e->further[s]; }

static const struct plan_stage *told_stage(const struct megatron *e, int s)
{
    return &(e->told ? e->told : e->plan)->stages[s];
}

// The number that are recomputed in full; -1 for selective.
static int full_layers(const struct megatron *e, int s)
{
    const struct plan_stage *stage = told_stage(e, s);
    if (stage->recompute == RECOMPUTE_SELECTIVE) return -1;
    if (stage->recompute == RECOMPUTE_FULL) return all_layers_of(e, s);
    return stage->recompute == RECOMPUTE_FIRST_LAYERS ? stage->recomputed_layers : 0;
}

// One setting for stages first, first + step ...: all selective, or the first k layers of every
// stage (fewer where a stage has fewer). Recomputation by blocks includes no layer that predicts a
// further token.
static bool setting_of(const struct megatron *e, int first, int step, struct megatron_recompute *r)
{
    int most = 0, selective = 0, count = 0;
    bool all_layers = true, uniform = true;
    *r = (struct megatron_recompute){NULL, NULL, 0};
    for (int s = first; s < e->plan->stage_count; s += step, count++) {
        if (told_stage(e, s)->recompute == RECOMPUTE_SWAP) return false;
        int full = full_layers(e, s);
        selective += full < 0;
        if (full > most) most = full;
        all_layers &= full == all_layers_of(e, s);
    }
    for (int s = first; s < e->plan->stage_count && !all_layers; s += step)
        uniform &= full_layers(e, s) == (most < e->blocks[s] ? most : e->blocks[s]);
    if (selective == count) {
        r->granularity = "selective";
        return true;
    }
    if (!most && !selective) return true;
    if (selective || !uniform) return false;
    *r = all_layers ? (struct megatron_recompute){"full", "uniform", 1}
                    : (struct megatron_recompute){"full", "block", most};
    return true;
}

bool megatron_recompute_of(const struct megatron *e, struct megatron_recompute *r)
{
    return setting_of(e, 0, 1, r);
}

// Stage k is a chunk of rank k mod p, so each rank has one setting.
static bool ranks_have_settings(const struct megatron *e)
{
    struct megatron_recompute r;
    int ranks = (int)e->plan->layout.pipeline;
    for (int rank = 0; rank < ranks; rank++)
        if (!setting_of(e, rank, ranks, &r)) return false;
    return true;
}

// Each process reads its own flags, those of its pipeline rank, which is the outermost in the rank
// order.
static void put_rank_recompute(const struct megatron *e)
{
    int ranks = (int)e->plan->layout.pipeline;
    report_print(
        e->out, "\n# Recomputation differs between ranks of the pipeline: torchrun runs this file, "
                "which adds their own flags.\nMEGATRON_RECOMPUTE=(\n");
    for (int rank = 0; rank < ranks; rank++) {
        struct megatron_recompute r;
        setting_of(e, rank, ranks, &r);
        report_print(e->out, "  '");
        if (r.granularity) report_print(e->out, "--recompute-granularity %s", r.granularity);
        if (r.method)
            report_print(e->out, " --recompute-method %s --recompute-num-layers %d", r.method,
                         r.layers);
        report_print(e->out, "'\n");
    }
    report_print(e->out,
                 ")\nMEGATRON_RUN=(--no-python bash \"$(realpath \"${BASH_SOURCE[0]}\")\")\n"
                 "if [ \"${BASH_SOURCE[0]}\" = \"$0\" ]; then\n"
                 "    read -r -a own <<<\"${MEGATRON_RECOMPUTE[RANK * %d / WORLD_SIZE]}\"\n"
                 "    exec \"${PYTHON:-python3}\" -u \"$@\" \"${own[@]}\"\n"
                 "fi\n",
                 ranks);
}

static bool put_recompute(const struct megatron *e)
{
    struct megatron_recompute r;
    bool said = megatron_recompute_of(e, &r);
    if (r.granularity) report_print(e->out, "  --recompute-granularity %s\n", r.granularity);
    if (r.method)
        report_print(e->out, "  --recompute-method %s\n  --recompute-num-layers %d\n", r.method,
                     r.layers);
    return said;
}

bool report_megatron_recomputes(const struct plan *plan, const struct problem *problem,
                                bool by_rank, struct arena *arena)
{
    struct megatron_recompute r;
    struct megatron e;
    megatron_begin(&e, NULL, plan, problem, arena);
    return megatron_recompute_of(&e, &r) || (by_rank && ranks_have_settings(&e));
}

// An edited plan may name layers that the model lacks.
static bool fits(const struct problem *problem, const struct plan *plan)
{
    for (int s = 0; s < plan->stage_count; s++)
        if (plan->stages[s].first_layer + plan->stages[s].layer_count > problem->model.layer_count)
            return false;
    return true;
}

void megatron_begin(struct megatron *e, struct report_out *out, const struct plan *plan,
                    const struct problem *problem, struct arena *arena)
{
    *e = (struct megatron){
        .out = out, .plan = plan, .problem = problem && fits(problem, plan) ? problem : NULL};
    count_layers(e, arena);
    find_experts(e);
}

enum status report_megatron_told(const struct plan *plan, const struct plan *told,
                                 const struct problem *problem, const char **text, size_t *length,
                                 struct arena *arena, struct error *err)
{
    struct report_out out;
    if (!plan->stage_count)
        return fail(err, BAD_INPUT, "the plan has no stages (%s): there is nothing to launch",
                    outcome_names[plan->outcome]);
    report_out_begin(&out, arena);
    struct megatron e;
    megatron_begin(&e, &out, plan, problem, arena);
    e.told = told;
    struct megatron_recompute one;
    e.by_rank = !megatron_recompute_of(&e, &one) && ranks_have_settings(&e);
    const char *bound = report_time(plan->bound_ns, arena);
    if (plan->objective != OBJECTIVE_ITERATION_TIME)
        bound = arena_print(arena, "%s of %s", bound, objective_names[plan->objective]);
    report_print(
        &out,
        "# Megatron-LM flags of the plan %s: %s per iteration, at least %s (%s). By plumbline %s.\n"
        "# In bash: source this file, then run %spretrain_gpt.py \"${MEGATRON_ARGS[@]}\" with "
        "data, "
        "tokenizer and learning rate\n"
        "# on %" PRId64 " GPUs.\nMEGATRON_ARGS=(\n",
        plan->name ? plan->name : "", report_time(plan->iteration_ns, arena), bound,
        plan_claim_words(plan, arena), PLUMBLINE_VERSION,
        e.by_rank ? "torchrun OPTION ... \"${MEGATRON_RUN[@]}\" " : "",
        plan->layout.pipeline * plan->devices_per_stage);
    put_parallel(&e);
    put_model(&e);
    bool said = put_recompute(&e);
    report_print(&out, ")\n");
    if (e.by_rank) put_rank_recompute(&e);
    megatron_put_placement(&e);
    report_print(&out, "\n# Not expressed by these flags:\n");
    megatron_put_notes(&e, !told && (said || e.by_rank), "");
    *text = out.text;
    *length = out.length;
    return OK;
}
