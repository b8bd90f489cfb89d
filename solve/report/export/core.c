// A plan as a run of Megatron Core. Layout grammar: stages separated by '|', E embedding, t decoder
// layer, m layer that predicts a further token, L loss, x*n repeats; one E first, one L last, all m
// in one stage. Stage k of V p is chunk k / p of pipeline rank k mod p, as here.
#include <string.h>

#include "solve/report/export/internal.h"
#include "data/kinds/schedules.h"

static const char *layout_text(const struct export *e)
{
    struct text text;
    int last = e->plan->stage_count - 1;
    text_begin(&text, e->out->arena);
    for (int s = 0; s <= last; s++) {
        text_put(&text, "%s%s", s ? "|" : "", !s || e->holds_embedding[s] ? "E" : "");
        if (e->blocks[s] == 1) text_put(&text, "t");
        if (e->blocks[s] > 1) text_put(&text, "t*%d", e->blocks[s]);
        if (e->further[s]) text_put(&text, "m");
        if (e->further[s] > 1) text_put(&text, "*%d", e->further[s]);
        if (s == last || e->holds_head[s]) text_put(&text, "L");
    }
    return text.text;
}

// Of the mixtures, where all are alike; NULL: none, or they differ.
static const struct expert_shape *core_experts(const struct export *e, bool *differ)
{
    const struct expert_shape *found = NULL;
    *differ = false;
    for (int i = 0; e->problem && i < e->problem->model.run_count; i++) {
        const struct layer_run *run = &e->problem->model.runs[i];
        const struct expert_shape *x = &run->experts;
        if (run->kind != LAYER_MOE) continue;
        if (!found) found = x;
        *differ |= x->experts != found->experts || x->top_k != found->top_k ||
                   x->ffn != found->ffn || x->shared_ffn != found->shared_ffn;
    }
    return *differ ? NULL : found;
}

static bool is_mixture(const struct layer_run *run) { return run->kind == LAYER_MOE; }
static bool is_windowed(const struct layer_run *run) { return run->window > 0; }
static bool is_linear(const struct layer_run *run) { return run->linear; }

// Which decoder layers are of a kind: runs of zeros and ones as Python reads them, or a list.
static const char *layers_text(const struct export *e, bool (*is)(const struct layer_run *run))
{
    const struct model *model = &e->problem->model;
    const struct layer_run *alike = NULL;
    const char *before = e->flags ? "(" : "[";
    struct text text;
    int count = 0;
    text_begin(&text, e->out->arena);
    for (int i = 0; i < model->run_count; i++) {
        const struct layer_run *run = &model->runs[i];
        if ((run->kind != LAYER_BLOCK && run->kind != LAYER_MOE) || run->mtp) continue;
        if (e->flags && alike && is(run) != is(alike)) {
            text_put(&text, "%s[%d]*%d", before, is(alike), count);
            before = "+", count = 0;
        }
        alike = run, count += run->count;
        for (int k = 0; !e->flags && k < run->count; k++) {
            text_put(&text, "%s%d", before, is(run));
            before = ", ";
        }
    }
    if (e->flags) text_put(&text, "%s[%d]*%d", before, is(alike), count);
    text_put(&text, e->flags ? ")" : "]");
    return text.text;
}

// The n for which all layers but every n-th have a window; 0: it is no such number.
static int64_t whole_every(const struct export *e)
{
    const struct model *model = &e->problem->model;
    int64_t every = 0, layer = 0;
    for (int i = 0; i < model->run_count; i++) {
        const struct layer_run *run = &model->runs[i];
        if ((run->kind != LAYER_BLOCK && run->kind != LAYER_MOE) || run->mtp) continue;
        for (int k = 0; k < run->count; k++) {
            layer++;
            if (!every && !is_windowed(run)) every = layer;
            if (every && is_windowed(run) != (layer % every != 0)) return 0;
        }
    }
    return every;
}

// A letter for each layer, a stroke between stages.
static void set_hybrid(struct run *r, const struct export *e)
{
    const struct model *model = &e->problem->model;
    const struct linear_shape *l = &model->shape.linear;
    struct text text;
    int stage = 0, left = e->blocks[0];
    text_begin(&text, r->arena);
    for (int i = 0; i < model->run_count; i++) {
        const struct layer_run *run = &model->runs[i];
        if (run->kind != LAYER_BLOCK && run->kind != LAYER_MOE) continue;
        for (int k = 0; k < run->count; k++, left--) {
            for (; !left && stage + 1 < e->plan->stage_count; left = e->blocks[++stage])
                text_put(&text, "|");
            text_put(&text, run->linear          ? "M"
                            : !run->no_attention ? "*"
                            : is_mixture(run)    ? "E"
                                                 : "-");
        }
        r->states |= run->linear;
    }
    for (; stage + 1 < e->plan->stage_count; stage++) text_put(&text, "|");
    r->hybrid = text.text, r->stages = NULL, r->stages_of_rank = 0, r->frequencies = NULL;
    r->spec = "megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec";
    if (!model->shape.rotary_base && !model->shape.positions) r->position_type = "none";
    r->state_heads = l->value_heads, r->state_head_width = l->value_width;
    r->state_width = l->key_width, r->state_groups = l->key_heads;
}

// Windows of one width, and linear attention.
static void set_kinds_of_attention(struct run *r, const struct export *e)
{
    const struct model *model = &e->problem->model;
    int64_t window = 0;
    bool all = true;
    for (int i = 0; i < model->run_count; i++) {
        const struct layer_run *run = &model->runs[i];
        if (run->kind != LAYER_BLOCK && run->kind != LAYER_MOE) continue;
        if (run->window) window = run->window;
        all &= run->window > 0;
        r->linear |= run->linear;
    }
    if (window)
        r->window =
            arena_print(r->arena, e->flags ? "%lld,0" : "[%lld, 0]", (long long)(window - 1));
    if (window && !all) {
        int64_t every = e->flags ? whole_every(e) : 0;
        r->windowed = every ? arena_print(r->arena, "%lld", (long long)every)
                            : layers_text(e, is_windowed);
    }
    if (model->shape.index_heads) r->variant = "dsa";
    if (!r->linear) return;
    r->variant = "gated_delta_net", r->linear_layers = layers_text(e, is_linear);
}

// ---- the model

static void set_rotary(struct run *r, const struct shape *s, const struct export *e)
{
    struct core_rotary x;
    core_rotary_of(s, !e->flags, &x, e->out->arena);
    bool yarn = x.way == ROTARY_YARN;
    if (!yarn) r->shape.rotary_scaling = (struct rotary_scaling){.type = NULL};
    r->rotary = !s->positions, r->plain_rotary = r->rotary && r->plain;
    r->position_type = s->positions ? "learned_absolute" : yarn && !s->kv_rank ? "yarn" : "rope";
    r->stretched = x.way == ROTARY_LLAMA3;
    *(x.way == ROTARY_LLAMA3   ? &r->stretch
      : x.way == ROTARY_LINEAR ? &r->interpolation
                               : &r->yarn) = x.way == ROTARY_PLAIN ? 0 : x.factor;
    if (yarn) r->rope_type = "yarn";
}

static void set_attention(struct run *r, const struct shape *s)
{
    r->latent = s->kv_rank > 0, r->plain = !r->latent;
    r->grouped = s->kv_heads != s->heads, r->groups = s->kv_heads;
    r->odd_heads = r->plain && s->head_width * s->heads != s->hidden;
    r->plain_width = r->latent ? s->head_width - s->rotary_width : 0;
    r->shape.value_width = shape_value_width(s);
    r->qk_norm = s->qk_norm == QK_NORM_HEAD || r->latent; // of the latents
}

static void set_activation(struct run *r, const struct shape *s)
{
    const char *name = s->activation ? s->activation : s->gated_ffn ? "silu" : "gelu";
    const struct activation_name *a = nemo_activations;
    while (a->name && strcmp(a->activation, name)) a++;
    r->activation = a->name;
    r->swiglu = s->gated_ffn && !strcmp(name, "silu");
    r->openai_gelu = !s->gated_ffn && a->name && !strcmp(a->name, "fast_gelu");
    r->squared_relu = !s->gated_ffn && !strcmp(name, "relu2");
}

// gpt-oss as Megatron Bridge configures it. Experts in one kernel have no biases that are fused
// with dropout; FlashAttention has no sinks, cuDNN's attention has.
static void set_sinks(struct run *r, const struct export *e)
{
    if (!model_has_sinks(&e->problem->model)) return;
    r->swiglu = false, r->quick_geglu = true, r->glu_offset = 1, r->clamp = 7;
    r->softmax = "learnable", r->separate_dropout = true;
    r->shape.linear_bias = true;
    r->unrounded_yarn = e->flags ? r->rope_type && !strcmp(r->rope_type, "yarn") : r->yarn > 0;
    if (!e->flags) {
        r->activation = "quick_gelu", r->dropout_fusion = "false";
        r->yarn_rounding = r->unrounded_yarn ? "false" : NULL;
        return;
    }
    r->unfused_gelu = r->job.unfused[UNFUSED_ACTIVATION];
    r->job.unfused[UNFUSED_ACTIVATION] = false;
    if (!strcmp(r->backend, "flash")) r->backend = "fused";
}

// As Megatron's own recipes of such models have it. Kernels of grouped products need a GPU of
// compute capability 8, as bfloat16 does.
static void set_router(struct run *r)
{
    const struct expert_shape *e = &r->experts;
    r->grouped_gemm = r->permute_fusion = r->bf16;
    r->router_dtype = "fp32";
    r->router_score = e->router_score == ROUTER_SIGMOID ? "sigmoid" : NULL;
    r->balancing = e->router_bias ? "seq_aux_loss" : "aux_loss";
    r->balancing_weight = e->router_bias ? 1e-4 : 1e-3;
}

static void set_dispatch(struct run *r)
{
    bool flex = r->job.dispatcher != DISPATCH_ALL_TO_ALL;
    r->dispatcher = flex ? "flex" : "alltoall";
    if (flex) r->dispatch_kernels = dispatcher_names[r->job.dispatcher];
    if (r->job.fixed_capacity) r->capacity = job_expert_padding(&r->job);
}

static void set_model(struct run *r, const struct export *e)
{
    const struct shape *s = &e->problem->model.shape;
    int64_t tensor = e->plan->layout.tensor;
    bool differ;
    const struct expert_shape *experts = core_experts(e, &differ);
    r->shape = *s, r->shaped = true;
    r->positions = s->positions ? s->positions : r->job.sequence;
    set_attention(r, s);
    set_rotary(r, s, e);
    set_activation(r, s);
    if (!model_is_hybrid(&e->problem->model)) set_kinds_of_attention(r, e);
    set_sinks(r, e);
    const char *layer = e->flags ? core_layer(&e->problem->model, r->arena) : NULL;
    if (layer) r->spec = arena_print(r->arena, "%s %s", CORE_LAYER_FILE, layer);
    r->swiglu |= layer && s->gated_ffn; // the layer puts another activation in silu's place
    r->shape.qkv_bias |= s->linear_bias;
    r->attention_dropout = r->hidden_dropout = s->dropout ? 0.1 : 0;
    // The tokenizer's vocabulary is padded to a multiple of this and the tensor degree, giving the
    // model's.
    r->padded = true;
    r->padding = s->vocabulary_multiple > 1 ? s->vocabulary_multiple
                                            : (s->vocabulary + tensor - 1) / tensor;
    if (!experts) return;
    r->mixtures = true, r->experts = *experts;
    r->expert_tensor = e->plan->layout.expert_tensor;
    set_dispatch(r);
    r->frequencies = layers_text(e, is_mixture);
    set_router(r);
    const struct known_model *known = known_model(&e->problem->model, r->arena);
    if (!known || !known->llama4) return;
    r->unturned = LLAMA4_INTERVAL, r->weighs_inputs = true, r->router_score = "sigmoid";
    r->unit_norms = known->unit_norms;
}

// ---- the job

static void set_job(struct run *r)
{
    const struct job *job = &r->job;
    bool wide = job->gradient_bytes_per_value == 4;
    r->data_sequence = job->sequence;
    r->bf16 = job->precision == BF16 || precision_is_narrow(job->precision);
    r->fp16 = job->precision == FP16;
    if (job->precision == FP8) r->fp8 = "hybrid";
    if (job->precision == FP8_BLOCK) r->fp8 = "e4m3", r->fp8_recipe = "blockwise";
    if (job->precision == MXFP8) r->fp8 = "e4m3", r->fp8_recipe = "mxfp8";
    if (job->precision == NVFP4) r->fp4 = "e2m1";
    r->gradients_in_fp32 = job->precision != FP32 && wide;
    r->gradients_in_bf16 = r->bf16 && !wide;
    if (job->fused_loss) r->fusion = "native";
    if (job->loss_in_place) r->job.fused_loss = true, r->fusion = "te";
    r->optimizer = job->adam ? "adam" : "sgd";
    if (!job->adam) r->momentum = "0";
}

// Types of the state in which a value has the job's bytes, if some have; `typed`: they can be said.
static void set_state(struct run *r, bool typed)
{
    static const char *const types[] = {NULL, "bf16", "fp8"}, *const weights[] = {NULL, "fp16"};
    int bytes = job_state_bytes(&r->job), ways = typed ? 18 : 1;
    if (!r->job.adam || !r->distributed || r->precision_aware || bytes == megatron_state_bytes(r))
        return;
    r->precision_aware = true;
    for (int i = 0; i < ways; i++) {
        r->state_types[0] = weights[i / 9];
        r->state_types[1] = types[i % 3], r->state_types[2] = types[i / 3 % 3];
        if (megatron_state_bytes(r) == bytes) return;
    }
    r->precision_aware = false;
    for (int i = 0; i < 3; i++) r->state_types[i] = NULL;
}

// 0: as many as pipeline ranks, Megatron's default.
static int group_of(const struct plan *plan)
{
    const struct layout *l = &plan->layout;
    if (!schedule_kinds[l->schedule].in_groups) return 0;
    int group = schedule_group(plan->micro_batches, l->pipeline);
    return group == l->pipeline ? 0 : group;
}

// The experts of a dropless mixture have no fixed sizes, so parts are all but these.
static void set_graphs(struct run *r)
{
    if (r->job.graphs == GRAPHS_NONE) return;
    bool step = r->job.graphs == GRAPHS_STEP;
    r->graphs = step ? "full_iteration" : "transformer_engine", r->unchecked = step;
    if (step) return;
    r->graph_modules = r->mixtures ? "attn moe_router moe_preprocess" : "attn mlp";
    r->graph_module_list = r->mixtures ? "[attn, moe_router, moe_preprocess]" : "[attn, mlp]";
}

struct run core_run(const struct export *e)
{
    struct run r = export_run(e);
    r.arena = e->out->arena;
    struct layout *l = &r.job.layout;
    for (int s = 0; s < e->plan->stage_count; s++) r.layers += e->blocks[s], r.mtp += e->further[s];
    r.further = r.mtp > 0;
    if (e->plan->stage_count > 1) r.stages = layout_text(e);
    if (l->virtual_stages > 1) r.stages_of_rank = l->virtual_stages;
    r.group = group_of(e->plan);
    l->sequence_parallel &= l->tensor > 1;
    r.spread = l->context > 1;
    // Offloading requires the distributed optimizer.
    l->zero = l->zero >= 1 || l->offload_optimizer;
    r.distributed = l->zero, r.precision_aware = l->offload_optimizer;
    if (layout_data_shard(l) < l->data) r.instances = l->data / l->data_shard;
    r.gathers = l->gradient_sync == SYNC_OVERLAPPED && l->zero;
    struct job *job = &r.job;
    job->overlapped_tensor &= l->sequence_parallel;
    job->overlapped_dispatch &= export_hides_dispatch(e);
    job->overlapped_messages &= l->schedule == SCHEDULE_INTERLEAVED;
    r.waits = l->schedule == SCHEDULE_INTERLEAVED && !job->overlapped_messages;
    r.in_batches = l->pipeline > 1 && !job->overlapped_messages;
    r.backend = l->fused_attention ? "flash" : "unfused";
    r.unmasked = l->fused_attention;
    if (e->problem) set_job(&r), set_state(&r, e->flags);
    if (e->problem && e->problem->model.has_shape) set_model(&r, e);
    if (e->problem && e->problem->model.has_shape && e->flags &&
        model_is_hybrid(&e->problem->model))
        set_hybrid(&r, e);
    set_graphs(&r);
    return r;
}

void core_set_recompute(struct run *r, struct recompute_setting setting)
{
    const struct megatron_mode *m = megatron_modes;
    enum recompute mode = setting.mode >= RECOMPUTE_SETS ? RECOMPUTE_SELECTIVE : setting.mode;
    while (m->mode != mode) m++;
    r->granularity = m->granularity, r->method = m->method;
    for (int module = 0; module < MODULE_COUNT; module++) {
        if (!recompute_repeats(setting.mode, (enum recompute_module)module)) continue;
        const char *name = recompute_module_names[module];
        r->modules = r->modules ? arena_print(r->arena, "%s %s", r->modules, name) : name;
        r->module_list = r->module_list ? arena_print(r->arena, "%s, %s", r->module_list, name)
                                        : name;
    }
    if (r->module_list) r->module_list = arena_print(r->arena, "[%s]", r->module_list);
    r->recomputed = setting.layers ? setting.layers : m->method ? 1 : 0;
}
