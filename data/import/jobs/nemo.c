// plumbline import nemo CONFIG.yaml: a model and a job from a configuration of NeMo 1 (model: ...,
// trainer: ...), of NeMo 2's command line (model.config, trainer.strategy, data) or of
// Megatron-Bridge (run_config.yaml, overrides). All of them have names for Megatron's arguments.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/import/import.h"
#include "data/import/jobs/settings.h"
#include "data/import/megatron_arguments.h"
#include "data/inputs/model/size.h"

struct nemo {
    struct megatron_arguments a;
    int64_t vocabulary, virtual_stages, devices, nodes, data_sequence;
    const char *activation, *target, *precision, *gradients, *fp8, *mixture, *optimizer;
    bool tied, bias, gated, bf16, fp16, distributed, padded;
};

#define TO(name, kind, field)                                                                      \
    {                                                                                              \
        name, kind, offsetof(struct nemo, field)                                                   \
    }
// Keys of a section that has several names.
static const struct setting_known model_keys[] = {
    TO("num_layers", TAKE_COUNT, a.layers),
    TO("hidden_size", TAKE_COUNT, a.hidden),
    TO("ffn_hidden_size", TAKE_COUNT, a.ffn),
    TO("num_attention_heads", TAKE_COUNT, a.heads),
    TO("num_query_groups", TAKE_COUNT, a.groups),
    TO("kv_channels", TAKE_COUNT, a.head_width),
    TO("encoder_seq_length", TAKE_COUNT, a.sequence),
    TO("seq_length", TAKE_COUNT, a.sequence),
    TO("max_position_embeddings", TAKE_COUNT, a.positions),
    TO("position_embedding_type", TAKE_TEXT, a.position_type),
    TO("rotary_percentage", TAKE_NUMBER, a.rotary_share),
    TO("rotary_percent", TAKE_NUMBER, a.rotary_share),
    TO("rotary_base", TAKE_NUMBER, a.rotary_base),
    TO("rope_scaling", TAKE_FLAG, a.stretched),
    TO("rope_scaling_factor", TAKE_NUMBER, a.stretch),
    TO("seq_len_interpolation_factor", TAKE_NUMBER, a.interpolation),
    TO("rope_type", TAKE_TEXT, a.rope_type),
    TO("rotary_scaling_factor", TAKE_NUMBER, a.yarn),
    TO("yarn_rotary_scaling_factor", TAKE_NUMBER, a.yarn),
    TO("yarn_original_max_position_embeddings", TAKE_COUNT, a.yarn_positions),
    TO("yarn_beta_fast", TAKE_NUMBER, a.beta_fast),
    TO("beta_fast", TAKE_NUMBER, a.beta_fast),
    TO("yarn_beta_slow", TAKE_NUMBER, a.beta_slow),
    TO("beta_slow", TAKE_NUMBER, a.beta_slow),
    TO("yarn_mscale", TAKE_NUMBER, a.mscale),
    TO("mscale", TAKE_NUMBER, a.mscale),
    TO("yarn_mscale_all_dim", TAKE_NUMBER, a.mscale_all_dim),
    TO("mscale_all_dim", TAKE_NUMBER, a.mscale_all_dim),
    TO("mtp_num_layers", TAKE_COUNT, a.mtp),
    TO("mtp_loss_scaling_factor", TAKE_NUMBER, a.mtp_loss_scale),
    TO("vocab_size", TAKE_COUNT, vocabulary),
    TO("override_vocab_size", TAKE_COUNT, vocabulary),
    TO("make_vocab_size_divisible_by", TAKE_COUNT, a.vocabulary_multiple),
    TO("should_pad_vocab", TAKE_FLAG, padded),
    TO("cross_entropy_loss_fusion", TAKE_FLAG, a.fused_loss),
    TO("activation", TAKE_TEXT, activation),
    TO("activation_func", TAKE_TEXT, activation),
    TO("activation_func._target_", TAKE_TEXT, target),
    TO("gated_linear_unit", TAKE_FLAG, gated),
    TO("normalization", TAKE_TEXT, a.normalization),
    TO("layernorm_epsilon", TAKE_NUMBER, a.epsilon),
    TO("bias", TAKE_FLAG, bias),
    TO("add_bias_linear", TAKE_FLAG, bias),
    TO("add_qkv_bias", TAKE_FLAG, a.qkv_bias),
    TO("qk_layernorm", TAKE_FLAG, a.qk_norm),
    TO("share_embeddings_and_output_weights", TAKE_FLAG, tied),
    TO("hidden_dropout", TAKE_NUMBER, a.hidden_dropout),
    TO("attention_dropout", TAKE_NUMBER, a.attention_dropout),
    TO("multi_latent_attention", TAKE_FLAG, a.latent),
    TO("q_lora_rank", TAKE_COUNT, a.query_rank),
    TO("kv_lora_rank", TAKE_COUNT, a.kv_rank),
    TO("qk_head_dim", TAKE_COUNT, a.plain_width),
    TO("qk_pos_emb_head_dim", TAKE_COUNT, a.rotary_width),
    TO("v_head_dim", TAKE_COUNT, a.value_width),
    TO("num_moe_experts", TAKE_COUNT, a.experts),
    TO("moe_router_topk", TAKE_COUNT, a.top_k),
    TO("moe_ffn_hidden_size", TAKE_COUNT, a.expert_ffn),
    TO("moe_shared_expert_intermediate_size", TAKE_COUNT, a.shared_ffn),
    TO("moe_shared_expert_gate", TAKE_FLAG, a.shared_gate),
    TO("moe_layer_freq", TAKE_TEXT, mixture),
    TO("micro_batch_size", TAKE_COUNT, a.micro_batch),
    TO("global_batch_size", TAKE_COUNT, a.global_batch),
    TO("tensor_model_parallel_size", TAKE_COUNT, a.tensor),
    TO("pipeline_model_parallel_size", TAKE_COUNT, a.pipeline),
    TO("virtual_pipeline_model_parallel_size", TAKE_COUNT, virtual_stages),
    TO("microbatch_group_size_per_vp_stage", TAKE_COUNT, a.group),
    TO("pipeline_model_parallel_layout", TAKE_TEXT, a.layout),
    TO("context_parallel_size", TAKE_COUNT, a.context),
    TO("expert_model_parallel_size", TAKE_COUNT, a.expert),
    TO("sequence_parallel", TAKE_FLAG, a.sequence_parallel),
    TO("activations_checkpoint_granularity", TAKE_TEXT, a.granularity),
    TO("activations_checkpoint_method", TAKE_TEXT, a.method),
    TO("activations_checkpoint_num_layers", TAKE_COUNT, a.recomputed),
    TO("recompute_granularity", TAKE_TEXT, a.granularity),
    TO("recompute_method", TAKE_TEXT, a.method),
    TO("recompute_num_layers", TAKE_COUNT, a.recomputed),
    TO("fp8", TAKE_TEXT, fp8),
    TO("bf16", TAKE_FLAG, bf16),
    TO("fp16", TAKE_FLAG, fp16),
};
static const char *const model_sections[] = {"model", "model.config", "trainer.strategy"};
static const struct setting_known other_keys[] = {
    TO("trainer.devices", TAKE_COUNT, devices),
    TO("trainer.num_nodes", TAKE_COUNT, nodes),
    TO("trainer.precision", TAKE_TEXT, precision),
    TO("trainer.plugins.precision", TAKE_TEXT, precision),
    TO("trainer.plugins.grad_reduce_in_fp32", TAKE_TEXT, gradients),
    TO("trainer.strategy.ddp.use_distributed_optimizer", TAKE_FLAG, a.distributed_optimizer),
    TO("trainer.strategy.ddp.overlap_grad_reduce", TAKE_FLAG, a.overlapped),
    TO("trainer.strategy.ddp.grad_reduce_in_fp32", TAKE_TEXT, gradients),
    TO("model.data.seq_length", TAKE_COUNT, data_sequence),
    TO("model.optim.name", TAKE_TEXT, optimizer),
    TO("model.optim.overlap_grad_sync", TAKE_FLAG, a.overlapped),
    TO("model.optim.grad_sync_dtype", TAKE_TEXT, gradients),
    TO("data.micro_batch_size", TAKE_COUNT, a.micro_batch),
    TO("data.global_batch_size", TAKE_COUNT, a.global_batch),
    TO("data.seq_length", TAKE_COUNT, data_sequence),
    TO("optim.config.optimizer", TAKE_TEXT, optimizer),
    TO("optim.config.bf16", TAKE_FLAG, bf16),
    TO("optim.config.fp16", TAKE_FLAG, fp16),
    TO("optim.config.use_distributed_optimizer", TAKE_FLAG, distributed),
    TO("train.micro_batch_size", TAKE_COUNT, a.micro_batch),
    TO("train.global_batch_size", TAKE_COUNT, a.global_batch),
    TO("dataset.seq_length", TAKE_COUNT, data_sequence),
    TO("dataset.sequence_length", TAKE_COUNT, data_sequence),
    TO("tokenizer.vocab_size", TAKE_COUNT, vocabulary),
    TO("ddp.use_distributed_optimizer", TAKE_FLAG, a.distributed_optimizer),
    TO("ddp.overlap_grad_reduce", TAKE_FLAG, a.overlapped),
    TO("ddp.grad_reduce_in_fp32", TAKE_TEXT, gradients),
    TO("optimizer.optimizer", TAKE_TEXT, optimizer),
    TO("optimizer.use_distributed_optimizer", TAKE_FLAG, distributed),
    TO("optimizer.bf16", TAKE_FLAG, bf16),
    TO("optimizer.fp16", TAKE_FLAG, fp16),
    TO("mixed_precision", TAKE_TEXT, precision),
    TO("mixed_precision.bf16", TAKE_FLAG, bf16),
    TO("mixed_precision.fp16", TAKE_FLAG, fp16),
    TO("mixed_precision.fp8", TAKE_TEXT, fp8),
    TO("mixed_precision.grad_reduce_in_fp32", TAKE_TEXT, gradients),
    {"*", TAKE_NOT, 0},
};
enum {
    KEY_COUNT = ARRAY_LENGTH(model_sections) * ARRAY_LENGTH(model_keys) + ARRAY_LENGTH(other_keys)
};

static const struct setting_known *all_keys(struct arena *arena)
{
    struct setting_known *keys = TAKE(arena, KEY_COUNT, struct setting_known), *to = keys;
    for (size_t k = 0; k < ARRAY_LENGTH(model_sections); k++)
        for (size_t i = 0; i < ARRAY_LENGTH(model_keys); i++, to++) {
            *to = model_keys[i];
            to->key = arena_print(arena, "%s.%s", model_sections[k], model_keys[i].key);
        }
    memcpy(to, other_keys, sizeof other_keys);
    return keys;
}

// ---- keys with other names than Megatron's flags

static enum status set_activation(struct nemo *n, struct settings *s, struct error *err)
{
    static const struct {
        const char *name, *activation;
        bool gated;
    } names[] = {{"gelu", "gelu", false},          {"swiglu", "silu", true},
                 {"geglu", "gelu", true},          {"reglu", "relu", true},
                 {"squared-relu", "relu2", false}, {"relu", "relu", false},
                 {"silu", "silu", false},          {"squared_relu", "relu2", false},
                 {"quick_gelu", "gelu", false},    {"fast_gelu", "gelu", false}};
    const char *name = n->activation, *dot = n->target ? strrchr(n->target, '.') : NULL;
    if (n->target) name = dot ? dot + 1 : n->target;
    if (!name) name = "gelu";
    if (!strncmp(name, "fast-", 5)) name += 5;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcasecmp(name, names[i].name)) continue;
        n->a.activation = names[i].activation, n->a.gated = names[i].gated || n->gated;
        // As with Megatron's --swiglu, where the width has another default if it is not stated.
        n->a.swiglu = n->a.gated && !strcmp(n->a.activation, "silu");
        return OK;
    }
    return settings_refuse(s, n->target ? "model.activation_func" : "model.activation", err,
                           "there is no activation \"%.60s\"", name);
}

static void set_precision(struct nemo *n)
{
    const char *words = n->precision ? n->precision : "", *off = n->gradients;
    bool eight = n->fp8 && strcasecmp(n->fp8, "false") && strcasecmp(n->fp8, "none");
    n->a.bf16 = n->bf16 || strstr(words, "bf16");
    n->a.fp16 = !n->a.bf16 && (n->fp16 || strstr(words, "fp16") || !strncmp(words, "16", 2));
    if (eight || strstr(words, "fp8")) n->a.fp8 = "hybrid";
    // The recipes fp16_mixed reduce gradients in fp16, those of bf16 in fp32.
    bool narrow = off ? !strcasecmp(off, "false") || strstr(off, "16") : n->a.fp16;
    n->a.gradients_in_bf16 = n->a.bf16 && narrow;
    n->a.gradients_in_fp32 = !narrow;
}

static void set_optimizer(struct nemo *n)
{
    const char *name = n->optimizer ? n->optimizer : "adam";
    bool distributed = strstr(name, "distributed") || n->distributed;
    n->a.optimizer = strstr(name, "adam") || !strcmp(name, "mcore_distributed_optim") ? "adam"
                                                                                      : name;
    n->a.distributed_optimizer = n->a.distributed_optimizer || distributed;
}

// A number, or a list of 0s and 1s.
static void set_mixtures(struct nemo *n, const struct settings *s)
{
    n->a.mixtures = n->mixture;
    for (size_t k = 0; k < ARRAY_LENGTH(model_sections); k++) {
        const char *key = arena_print(s->arena, "%s.moe_layer_freq", model_sections[k]);
        int count = setting_list_length(s, key);
        char *list = TAKE(s->arena, count + 3, char);
        for (int i = 0; i < count; i++) {
            const struct setting *at = setting_of(s, arena_print(s->arena, "%s[%d]", key, i));
            list[i + 1] = at && at->text && at->text[0] == '1' ? '1' : '0';
        }
        list[0] = '[', list[count + 1] = ']';
        if (count) n->a.mixtures = list;
    }
}

static enum status set_arguments(struct nemo *n, struct settings *s, struct error *err)
{
    struct megatron_arguments *a = &n->a;
    a->file = s->document.path;
    a->vocabulary = n->vocabulary, a->untied = !n->tied, a->no_bias = !n->bias;
    a->grouped = a->groups > 0 && !a->latent;
    if (a->latent || a->groups == a->heads) a->groups = 0, a->grouped = false;
    if (n->virtual_stages > 1)
        *(a->layout ? &a->stages_beside_layout : &a->virtual_stages) = n->virtual_stages;
    if (a->normalization && !strncasecmp(a->normalization, "rms", 3)) a->normalization = "RMSNorm";
    if (!a->positions) a->positions = a->sequence;
    if (!n->padded) a->vocabulary_multiple = 1;
    // The length used in training; the model may be made for more.
    if (n->data_sequence && a->sequence && n->data_sequence != a->sequence)
        settings_note(
            s, "sequences of %lld tokens in the data, of %lld in the model: the data's are used",
            (long long)n->data_sequence, (long long)a->sequence);
    if (n->data_sequence) a->sequence = n->data_sequence;
    if (!a->experts) a->shared_ffn = 0, a->mixtures = NULL;
    else set_mixtures(n, s);
    if (!a->granularity || !strcasecmp(a->granularity, "none"))
        a->granularity = NULL, a->recomputed = 0;
    a->processes = n->devices, a->nodes = n->nodes;
    set_precision(n);
    set_optimizer(n);
    return set_activation(n, s, err);
}

// ---- the command

static enum status check_sizes(const struct nemo *n, bool model, struct error *err)
{
    const struct megatron_arguments *a = &n->a;
    if (model && (!a->layers || !a->hidden || !a->heads))
        return fail(err, BAD_INPUT,
                    "%s: model: num_layers, hidden_size, num_attention_heads are missing: write "
                    "only the job (--job, without -o), and use a model from plumbline models",
                    a->file);
    if (model && !a->vocabulary)
        return fail(err, BAD_INPUT,
                    "%s: vocab_size is missing (the tokenizer sets it): give it with --vocabulary",
                    a->file);
    if (!a->sequence || !a->micro_batch)
        return fail(err, BAD_INPUT, "%s: %s is missing: give it with %s", a->file,
                    a->sequence ? "micro_batch_size" : "the sequence length (seq_length)",
                    a->sequence ? "--micro-batch" : "--sequence");
    return OK;
}

// Errors of Megatron's flags, with the names used in the file.
static enum status in_own_names(enum status status, const char *file, struct error *err)
{
    size_t length = strlen(file);
    char *to = err->text + (status != OK && !strncmp(err->text, file, length) ? length : 0);
    if (status == OK) return OK;
    for (const char *from = to; *from;) {
        bool flag = !strncmp(from, "--", 2) && islower((unsigned char)from[2]);
        from += flag ? 2 : 0;
        for (; flag && (islower((unsigned char)*from) || *from == '-'); from++)
            *to++ = *from == '-' ? '_' : *from;
        if (!flag) *to++ = *from++;
    }
    *to = '\0';
    return status;
}

static enum status write_model(struct nemo *n, const char *name, const char *output,
                               struct arena *arena, struct error *err)
{
    struct model model = {.name = name, .document.path = n->a.file};
    TRY(in_own_names(megatron_check(&n->a, err), n->a.file, err));
    TRY(in_own_names(megatron_model(&model, &n->a, arena, err), n->a.file, err));
    TRY(model_save(&model, output, arena, err));
    fprintf(stderr, "%s: %lld parameters\n", name, (long long)model_size_of(&model).all);
    return OK;
}

// As in trainer.precision.
static const char *const precision_words[] = {
    [FP32] = "32", [FP16] = "16", [BF16] = "bf16", [FP8] = "bf16 fp8"};

enum status import_nemo(int argc, char **argv, int *exit_code, struct arena *arena,
                        struct error *err)
{
    const char *output = NULL, *job_output = NULL, *name = "nemo", *path;
    struct nemo n = {.a = megatron_defaults, .tied = true, .bias = true, .padded = true};
    int64_t gpus = 0, vocabulary = 0, sequence = 0, micro_batch = 0;
    int precision = -1;
    bool helped;
    struct settings s;
    const struct option options[] = {
        {"-o", OPTION_PATH, &output, 0, 0, NULL,
         "output file for the model (default: -, standard output, unless --job is given)"},
        {"--job", OPTION_PATH, &job_output, 0, 0, NULL, "output file for the job (default: none)"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL, "name of model and job (default: nemo)"},
        {"--gpus", OPTION_INT, &gpus, 1, 1e9, NULL,
         "GPUs of the run (default: trainer.devices x num_nodes)"},
        {"--vocabulary", OPTION_INT, &vocabulary, 1, 1 << 26, NULL,
         "vocabulary size, if the file has no vocab_size"},
        {"--sequence", OPTION_INT, &sequence, 1, 1 << 24, NULL,
         "tokens per sequence, instead of seq_length"},
        {"--micro-batch", OPTION_INT, &micro_batch, 1, 1 << 20, NULL,
         "sequences per micro-batch, instead of micro_batch_size"},
        {"--precision", OPTION_NAME, &precision, 0, 0, precision_names,
         "precision of the recipe whose settings the file changes (default: as in the file)"},
    };
    (void)exit_code;
    TRY(options_read(argc, argv,
                     "plumbline import nemo CONFIG.yaml [-o model.json] [--job job.json]", options,
                     ARRAY_LENGTH(options), &path, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (!output && !job_output) output = "-";
    if (path_ends_with(path, ".py"))
        return fail(err, BAD_INPUT,
                    "%s: recipes in Python are not read; write theirs as YAML "
                    "(config.to_yaml(...), or run_config.yaml of a checkpoint)",
                    path);
    TRY(settings_read_yaml(&s, path, arena, err));
    TRY(settings_take(&s, all_keys(arena), KEY_COUNT, &n, err));
    if (vocabulary) n.vocabulary = vocabulary;
    if (sequence) n.data_sequence = sequence;
    if (micro_batch) n.a.micro_batch = micro_batch;
    if (precision >= 0) n.precision = precision_words[precision], n.bf16 = n.fp16 = false;
    TRY(set_arguments(&n, &s, err));
    if (!n.precision && !n.a.bf16 && !n.a.fp16)
        settings_note(
            &s, "the precision is missing: fp32 is assumed; recipes use bf16 (--precision bf16)");
    TRY(check_sizes(&n, output != NULL, err));
    struct job job = job_imported(name, &s);
    if (job_output && !gpus && !n.devices)
        return fail(
            err, BAD_INPUT,
            "%s: the number of GPUs is missing (trainer.devices, num_nodes): give it with --gpus",
            n.a.file);
    if (job_output) TRY(in_own_names(megatron_job(&job, &n.a, gpus, err), n.a.file, err));
    if (output) TRY(write_model(&n, name, output, arena, err));
    if (job_output) return settings_save_job(&s, &job, job_output, err);
    settings_tell(&s);
    return OK;
}
