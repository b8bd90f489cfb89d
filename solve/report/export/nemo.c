// A plan as YAML for NeMo's Megatron Bridge: sections and fields of its ConfigContainer, which a
// script merges into a recipe (process_config_with_overrides). The fields are those of Megatron
// Core (transformer_config.py, model_parallel_config.py) and of the provider
// (models/gpt_provider.py).
#include <inttypes.h>
#include <string.h>

#include "solve/report/export/internal.h"
#include "solve/report/megatron.h"

static void put_section(struct report_out *out, const char *name)
{
    report_print(out, "\n%s:\n", name);
}
static void put_word(struct report_out *out, const char *key, const char *value)
{
    report_print(out, "  %s: %s\n", key, value);
}
static void put_truth(struct report_out *out, const char *key, bool value)
{
    put_word(out, key, value ? "true" : "false");
}
static void put_count(struct report_out *out, const char *key, int64_t value)
{
    report_print(out, "  %s: %" PRId64 "\n", key, value);
}

// ---- model

static void put_parallel(const struct megatron *m)
{
    const struct layout *l = &m->plan->layout;
    struct report_out *out = m->out;
    put_count(out, "tensor_model_parallel_size", l->tensor);
    put_count(out, "context_parallel_size", l->context);
    put_count(out, "expert_model_parallel_size", l->expert);
    put_count(out, "pipeline_model_parallel_size", l->pipeline);
    if (l->virtual_stages > 1)
        put_count(out, "virtual_pipeline_model_parallel_size", l->virtual_stages);
    else put_word(out, "virtual_pipeline_model_parallel_size", "null");
    if (m->plan->stage_count > 1)
        report_print(out, "  pipeline_model_parallel_layout: \"%s\"\n",
                     megatron_layout_text(m, out->arena));
    else put_word(out, "pipeline_model_parallel_layout", "null");
    if (megatron_group_of(m->plan))
        put_count(out, "microbatch_group_size_per_vp_stage", megatron_group_of(m->plan));
    put_truth(out, "sequence_parallel", l->sequence_parallel && l->tensor > 1);
}

static bool put_recompute(const struct megatron *m)
{
    struct megatron_recompute r;
    bool said = megatron_recompute_of(m, &r);
    put_word(m->out, "recompute_granularity", r.granularity ? r.granularity : "null");
    put_word(m->out, "recompute_method", r.method ? r.method : "null");
    if (r.layers) put_count(m->out, "recompute_num_layers", r.layers);
    else put_word(m->out, "recompute_num_layers", "null");
    return said && !m->told;
}

static void put_real(struct report_out *out, const char *key, double value)
{
    if (value > 0) report_print(out, "  %s: %.6f\n", key, value);
}

// The provider's own fields; for latent attention, the transformer's.
static void put_rotary(struct report_out *out, const struct shape *s)
{
    struct megatron_rotary r;
    const struct rotary_scaling *x = &s->rotary_scaling;
    megatron_rotary_of(s, true, &r, out->arena);
    bool yarn = r.way == ROTARY_YARN, plain = !s->kv_rank;
    put_word(out, "position_embedding_type",
             s->positions    ? "learned_absolute"
             : yarn && plain ? "yarn"
                             : "rope");
    if (s->positions) return;
    if (plain) put_truth(out, "rope_scaling", r.way == ROTARY_LLAMA3);
    if (r.way == ROTARY_LLAMA3) put_real(out, "rope_scaling_factor", r.factor);
    if (r.way == ROTARY_LINEAR) put_real(out, "seq_len_interpolation_factor", r.factor);
    if (!plain) {
        put_word(out, "rope_type", "yarn"); // a factor of 1 scales nothing
        report_print(out, "  rotary_scaling_factor: %.6f\n", yarn ? r.factor : 1);
    }
    if (!yarn) return;
    if (plain) put_real(out, "yarn_rotary_scaling_factor", r.factor);
    if (x->original_positions)
        put_count(out,
                  plain ? "yarn_original_max_position_embeddings"
                        : "original_max_position_embeddings",
                  x->original_positions);
    put_real(out, plain ? "yarn_beta_fast" : "beta_fast", x->beta_fast);
    put_real(out, plain ? "yarn_beta_slow" : "beta_slow", x->beta_slow);
    put_real(out, plain ? "yarn_mscale" : "mscale", x->mscale);
    put_real(out, plain ? "yarn_mscale_all_dim" : "mscale_all_dim", x->mscale_all_dim);
}

static void put_attention(struct report_out *out, const struct shape *s)
{
    put_count(out, "num_attention_heads", s->heads);
    if (s->kv_rank) {
        put_truth(out, "multi_latent_attention", true);
        if (s->query_rank) put_count(out, "q_lora_rank", s->query_rank);
        else put_word(out, "q_lora_rank", "null");
        put_count(out, "kv_lora_rank", s->kv_rank);
        put_count(out, "qk_head_dim", s->head_width - s->rotary_width);
        put_count(out, "qk_pos_emb_head_dim", s->rotary_width);
        put_count(out, "v_head_dim", shape_value_width(s));
    } else {
        put_count(out, "num_query_groups", s->kv_heads);
        put_count(out, "kv_channels", s->head_width);
    }
    put_truth(out, "qk_layernorm", s->qk_norm == QK_NORM_HEAD || s->kv_rank); // of the latents
    put_rotary(out, s);
    if (s->positions) return;
    if (s->rotary_base > 0) put_count(out, "rotary_base", (int64_t)s->rotary_base);
    if (s->rotary_share > 0) report_print(out, "  rotary_percent: %.6f\n", s->rotary_share);
}

// A name in its map of activations (utils/activation_map.py), gated or not; NULL: none.
static const char *activation_of(const struct shape *s)
{
    static const char *const names[][2] = {
        {"silu", "silu"},          {"gelu", "gelu"},
        {"gelu_new", "fast_gelu"}, {"gelu_pytorch_tanh", "fast_gelu"},
        {"relu", "relu"},          {"relu2", "squared_relu"}};
    if (!s->activation) return s->gated_ffn ? "silu" : "gelu";
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (!strcmp(s->activation, names[i][0])) return names[i][1];
    return NULL;
}

static void put_functions(struct report_out *out, const struct shape *s)
{
    const char *activation = activation_of(s), *dropped = s->dropout ? "0.1" : "0.0";
    put_truth(out, "gated_linear_unit", s->gated_ffn);
    if (activation) put_word(out, "activation_func", activation);
    put_word(out, "normalization", s->rms_norm ? "RMSNorm" : "LayerNorm");
    // Without a decimal point YAML 1.1 reads it as a string.
    if (s->norm_epsilon > 0) report_print(out, "  layernorm_epsilon: %.3e\n", s->norm_epsilon);
    put_truth(out, "add_bias_linear", s->linear_bias);
    put_truth(out, "add_qkv_bias", s->qkv_bias || s->linear_bias);
    put_word(out, "attention_dropout", dropped);
    put_word(out, "hidden_dropout", dropped);
}

// The model's vocabulary, padded to its own multiple, which the tensor degree must divide.
static void put_vocabulary(const struct megatron *m, const struct shape *s)
{
    int64_t tensor = m->plan->layout.tensor,
            multiple = s->vocabulary_multiple > 1 ? s->vocabulary_multiple
                       : s->vocabulary % tensor   ? 1
                                                  : s->vocabulary / tensor;
    put_count(m->out, "vocab_size", s->vocabulary);
    put_truth(m->out, "should_pad_vocab", true);
    put_count(m->out, "make_vocab_size_divisible_by", multiple);
    put_truth(m->out, "share_embeddings_and_output_weights", s->tied_embeddings);
}

static void put_mixtures(const struct megatron *m)
{
    const struct expert_shape *x = m->experts;
    const struct model *model = &m->problem->model;
    const char *before = "";
    if (!x) return;
    put_count(m->out, "num_moe_experts", x->experts);
    put_count(m->out, "moe_router_topk", x->top_k);
    put_count(m->out, "moe_ffn_hidden_size", x->ffn);
    if (x->shared_ffn) put_count(m->out, "moe_shared_expert_intermediate_size", x->shared_ffn);
    put_truth(m->out, "moe_shared_expert_gate", x->shared_gate);
    put_word(m->out, "moe_token_dispatcher_type", "alltoall");
    report_print(m->out, "  moe_layer_freq: [");
    for (int i = 0; i < model->layer_count; i++) {
        enum layer_kind kind = model->runs[model_run_of(model, i)].kind;
        if ((kind != LAYER_BLOCK && kind != LAYER_MOE) || model->runs[model_run_of(model, i)].mtp)
            continue;
        report_print(m->out, "%s%d", before, kind == LAYER_MOE);
        before = ", ";
    }
    report_print(m->out, "]\n");
}

static bool put_model(const struct megatron *m)
{
    int blocks = 0;
    struct report_out *out = m->out;
    const struct job *job = &m->problem->job;
    const struct shape *s = &m->problem->model.shape;
    put_section(out, "model");
    put_parallel(m);
    bool said = put_recompute(m);
    for (int i = 0; i < m->plan->stage_count; i++) blocks += m->blocks[i];
    put_count(out, "num_layers", blocks);
    put_count(out, "seq_length", job->sequence);
    put_truth(out, "cross_entropy_loss_fusion", job->fused_loss);
    if (job->fused_loss) put_word(out, "cross_entropy_fusion_impl", "native");
    if (!m->problem->model.has_shape) return said;
    put_count(out, "hidden_size", s->hidden);
    put_count(out, "ffn_hidden_size", s->ffn);
    put_attention(out, s);
    put_functions(out, s);
    put_vocabulary(m, s);
    put_mixtures(m);
    if (model_mtp_depth(&m->problem->model)) {
        put_count(out, "mtp_num_layers", model_mtp_depth(&m->problem->model));
        put_real(out, "mtp_loss_scaling_factor", s->mtp_loss_scale);
    }
    return said;
}

// ---- what does not belong to the model

// The registered mixed-precision recipe, which sets the width of gradients regardless of ddp.
static void put_precision(struct export *e)
{
    static const char *const names[] = {[BF16] = "bf16_mixed",
                                        [FP16] = "fp16_mixed",
                                        [FP8] = "bf16_with_fp8_delayed_scaling_mixed",
                                        [FP32] = "null"};
    const struct job *job = &e->problem->job;
    bool wide = job->gradient_bytes_per_value == 4, own = job->precision != FP16;
    report_print(e->out, "\nmixed_precision: %s\n", names[job->precision]);
    if (wide != own)
        export_note(e,
                    "gradients of %d bytes: mixed_precision.grad_reduce_in_fp32=%s in the script, "
                    "which sets it after %s",
                    job->gradient_bytes_per_value, wide ? "True" : "False", names[job->precision]);
}

static void put_training(struct export *e)
{
    const struct plan *plan = e->plan;
    const struct layout *l = &plan->layout;
    bool overlapped = l->gradient_sync == SYNC_OVERLAPPED,
         sharded = l->zero >= 1 || l->offload_optimizer;
    put_section(e->out, "train");
    put_count(e->out, "micro_batch_size", l->micro_batch);
    put_count(e->out, "global_batch_size", plan_micro_batches_together(plan) * l->micro_batch);
    put_section(e->out, "dataset");
    put_count(e->out, "seq_length", e->problem->job.sequence);
    put_section(e->out, "ddp");
    put_truth(e->out, "use_distributed_optimizer", sharded);
    put_truth(e->out, "overlap_grad_reduce", overlapped);
    put_truth(e->out, "overlap_param_gather", overlapped && sharded);
    put_section(e->out, "optimizer");
    put_word(e->out, "optimizer", e->problem->job.adam ? "adam" : "sgd");
    put_truth(e->out, "use_distributed_optimizer", sharded);
    put_truth(e->out, "optimizer_cpu_offload", l->offload_optimizer);
    put_truth(e->out, "use_precision_aware_optimizer", l->offload_optimizer);
    put_precision(e);
    if (!l->fused_attention)
        export_note(e, "attention that keeps its scores: model.attention_backend is set in Python");
}

enum status report_nemo(const struct plan *plan, const struct plan *told,
                        const struct problem *problem, const char **text, size_t *length,
                        struct arena *arena, struct error *err)
{
    struct report_out out;
    struct megatron m;
    struct export e = {.framework = "NeMo", .trainer = TRAINER_MEGATRON};
    TRY(export_begin(&e, &out, plan, problem, arena, err));
    report_print(&out,
                 "# %s\n# Of Megatron Bridge: --config-file of a script that merges it into a "
                 "recipe (process_config_with_overrides),\n# with data, tokenizer and learning "
                 "rate.\n",
                 export_headline(&e));
    megatron_begin(&m, &out, plan, problem, arena);
    m.told = told;
    m.says_fractions = true;
    m.says_activation = activation_of(&problem->model.shape) != NULL;
    bool recompute_said = put_model(&m);
    put_training(&e);
    megatron_put_placement(&m);
    report_print(&out, "\n# Not expressed by this configuration:\n");
    megatron_put_notes(&m, recompute_said, e.notes.text);
    *text = out.text;
    *length = out.length;
    return OK;
}
