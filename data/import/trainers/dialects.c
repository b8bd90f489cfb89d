// See internal.h: torchtune (recipes/ at c0f1c5e58130), litgpt (litgpt/ at 26857050fe3f) and
// LLM-Foundry (llmfoundry/ at 4d13f6877b6e).
#include "data/import/trainers/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/jobs/launch.h"

bool dialect_is_true(const struct settings *pairs, const char *key)
{
    const char *text = settings_text(pairs, key);
    return text && !strcasecmp(text, "true");
}

// The list with one more name.
static const char *listed(struct settings *s, const char *list, const char *name)
{
    return arena_print(s->arena, "%s%s%s", list, *list ? ", " : "", name);
}

const char *dialect_list(struct settings *s, const struct settings *pairs, const char *key)
{
    const char *text = "";
    for (int i = 0; i < setting_list_length(pairs, key); i++) {
        const char *name = settings_text(pairs, arena_print(s->arena, "%s[%d]", key, i));
        if (name) text = listed(s, text, name);
    }
    return text;
}

enum status dialect_default(struct settings *s, const char *flag, const char *value,
                            struct error *err)
{
    if (setting_of(s, flag)) return OK;
    said_assume(&s->said, "%s %s, the program's own", flag, value);
    return launch_set(s, flag, value, err);
}

enum status dialect_mixed(struct settings *s, const struct settings *pairs, const char *key,
                          struct error *err)
{
    static const struct {
        const char *part, *flag;
    } kinds[] = {{"bf16", "bf16"}, {"bfloat16", "bf16"},  {"fp8", "bf16"},
                 {"fp16", "fp16"}, {"float16", "fp16"},   {"half", "fp16"},
                 {"16-", "fp16"},  {"32", "torch-dtype"}, {"full", "torch-dtype"}};
    const char *text = settings_text(pairs, key);
    size_t i = 0;
    while (i < ARRAY_LENGTH(kinds) && !find_in_any_case(text, kinds[i].part)) i++;
    if (i == ARRAY_LENGTH(kinds))
        return settings_refuse(pairs, key, err, "expected 16 or 32 bits, found \"%.40s\"", text);
    return launch_set(s, kinds[i].flag, *kinds[i].flag == 't' ? "float32" : "true", err);
}

// ---- torchtune

static bool is_torchtune(const struct settings *pairs)
{
    for (int i = 0; i < pairs->count; i++) {
        const char *key = pairs->items[i].key, *text = pairs->items[i].text,
                   *end = strstr(key, "._component_");
        if (end && text && strstr(text, "torchtune.")) return true;
    }
    return false;
}

static const struct word torchtune_words[] = {
    {"batch_size", "per-device-train-batch-size"},
    {"gradient_accumulation_steps", "gradient-accumulation-steps"},
    {"tokenizer.max_seq_len", "max-seq-len"},
    {"dtype", "torch-dtype"},
    {"enable_activation_checkpointing", "gradient-checkpointing"},
    {"enable_activation_offloading", "activation-offloading"},
    {"tensor_parallel_dim", "tensor-parallel-size"},
    {"context_parallel_dim", "context-parallel-size"},
    {"data_parallel_replicate_dim", "dp-replicate-size"},
    {"optimizer._component_", "optim"},
    {"optimizer.momentum", "optimizer.momentum"},
    {"optimizer_in_bwd", "optimizer-in-bwd"},
    {"compile", "torch-compile"},
    {"dataset.packed", "packing"},
    {"model.lora_rank", "lora-rank"},
    {"model.lora_alpha", "lora-alpha"},
    {"model.lora_dropout", "lora-dropout"},
    {"model.quantize_base", "load-in-4bit"},
    {"model.use_dora", "use-dora"},
    {NULL, NULL}};

static const char torchtune_left[] =
    "output_dir seed shuffle epochs max_steps max_steps_per_epoch log_every_n_steps log_level "
    "log_peak_memory_stats resume_from_checkpoint save_adapter_weights_only device num_workers "
    "checkpointer.* dataset.* dataset_val.* metric_logger.* profiler.* lr_scheduler.* optimizer.* "
    "tokenizer.* loss.* model.* collate_fn clip_grad_norm run_val_every_n_steps batch_size_val "
    "save_every_n_steps save_every_n_epochs tokenizer_dir warmup_steps min_lr_ratio ignore_index "
    "enable_fsdp fsdp_reshard_after_forward fsdp_cpu_offload data_parallel_shard_dim "
    "custom_sharded_layers tensor_parallel_plan.* dist_backend cudnn_deterministic_mode "
    "enable_async_checkpointing async_checkpointing base_model_path load_balancing_loss_weight";

// Products by torchtune's names.
static const char *torchtune_products(struct settings *s, const struct settings *pairs)
{
    const char *text = "";
    int count = setting_list_length(pairs, "model.lora_attn_modules");
    for (int i = 0; i < count; i++) {
        const char *name =
            settings_text(pairs, arena_print(s->arena, "model.lora_attn_modules[%d]", i));
        if (name && !strcmp(name, "output_proj")) name = "o_proj";
        if (name) text = listed(s, text, name);
    }
    if (dialect_is_true(pairs, "model.apply_lora_to_mlp"))
        text = listed(s, text, "gate_proj, up_proj, down_proj");
    if (dialect_is_true(pairs, "model.apply_lora_to_output")) text = listed(s, text, "lm_head");
    return text;
}

static enum status take_torchtune(struct settings *s, const struct settings *pairs,
                                  struct error *err)
{
    static const char *const others[] = {"DPO", "RSO", "SimPO", "PPO", "GRPO", "KL", "KD", NULL};
    static const char sections[] = "teacher_model kd_loss policy_model reward_and_value_model "
                                   "grpo_samples ppo_epochs reward_functions vllm_url kd_ratio";
    const char *model = settings_text(pairs, "model._component_"),
               *dtype = settings_text(pairs, "dtype"),
               *loss = settings_text(pairs, "loss._component_"),
               *shards = settings_text(pairs, "data_parallel_shard_dim");
    for (int i = 0; i < pairs->count; i++) {
        const char *key = pairs->items[i].key;
        if (name_is_listed(sections, key, strcspn(key, ".[")))
            return settings_refuse(pairs, key, err, "is not read: " SETTING_OF_OTHERS);
    }
    if (loss && has_one_in_any_case(strrchr(loss, '.') ? strrchr(loss, '.') : loss, others))
        return settings_refuse(pairs, "loss._component_", err, "%.80s: " SETTING_OF_OTHERS, loss);
    if (!model)
        return refuse(err, "%s: expected model with its _component_, found none",
                      pairs->document.path);
    if (strrchr(model, '.')) model = strrchr(model, '.') + 1;
    if (strstr(model, "classifier"))
        return settings_refuse(pairs, "model._component_", err, "%.80s: " SETTING_OF_OTHERS, model);
    bool quantized = !strncmp(model, "qlora_", 6), lora = quantized || !strncmp(model, "lora_", 5);
    TRY(launch_set(s, "model", model + (quantized ? 6 : lora ? 5 : 0), err));
    TRY(launch_set(s, "adapter", lora ? "lora" : "none", err));
    if (quantized) TRY(launch_set(s, "load-in-4bit", "true", err));
    if (lora) TRY(launch_set(s, "lora-target-modules", torchtune_products(s, pairs), err));
    if (strstr(model, "vision"))
        said_assume(&s->said, "%.60s: the tower for images and what is frozen are the model's",
                    model);
    if (dtype && strstr(dtype, "16")) TRY(launch_set(s, "pure-bf16", "", err));
    if (shards && atoi(shards) > 0) TRY(launch_set(s, "dp-shard-size", shards, err));
    const char *again = settings_text(pairs, "fsdp_reshard_after_forward");
    said_assume(&s->said, "states are sharded by FSDP, as torchtune's distributed recipes do");
    return launch_set(
        s, "fsdp",
        arena_print(s->arena, "%s%s",
                    again && !strcasecmp(again, "false") ? "shard_grad_op" : "full_shard",
                    dialect_is_true(pairs, "fsdp_cpu_offload") ? " offload" : ""),
        err);
}

// ---- litgpt

static bool is_litgpt(const struct settings *pairs)
{
    return setting_of(pairs, "train.micro_batch_size") && setting_of(pairs, "precision");
}

static const struct word litgpt_words[] = {{"train.micro_batch_size", "micro-batch-size"},
                                           {"train.global_batch_size", "batch-of-all"},
                                           {"train.max_seq_length", "max-seq-length"},
                                           {"devices", "nproc-per-node"},
                                           {"num_nodes", "nnodes"},
                                           {"checkpoint_dir", "model"},
                                           {"model_name", "model"},
                                           {"optimizer.class_path", "optim"},
                                           {"lora_r", "lora-rank"},
                                           {"lora_alpha", "lora-alpha"},
                                           {"lora_dropout", "lora-dropout"},
                                           {NULL, NULL}};

static const char litgpt_left[] =
    "out_dir seed logger_name eval.* data data.* optimizer.* resume train.* initial_checkpoint_dir "
    "tokenizer_dir download_dir access_token model_config.* log.* precision quantize lora_query "
    "lora_key lora_value lora_projection lora_mlp lora_head compiler executors strategy";

static enum status take_litgpt(struct settings *s, const struct settings *pairs, struct error *err)
{
    static const struct word products[] = {{"lora_query", "q_proj"},
                                           {"lora_key", "k_proj"},
                                           {"lora_value", "v_proj"},
                                           {"lora_projection", "o_proj"},
                                           {"lora_mlp", "gate_proj, up_proj, down_proj"},
                                           {"lora_head", "lm_head"}};
    const char *precision = settings_text(pairs, "precision"),
               *bits = settings_text(pairs, "quantize"), *devices = settings_text(pairs, "devices"),
               *nodes = settings_text(pairs, "num_nodes"), *text = "";
    bool lora = settings_text(pairs, "lora_r") != NULL,
         trains = setting_of(pairs, "model_name") || setting_of(pairs, "initial_checkpoint_dir"),
         one = devices && atoi(devices) == 1 && (!nodes || atoi(nodes) == 1);
    for (size_t i = 0; lora && i < ARRAY_LENGTH(products); i++)
        if (dialect_is_true(pairs, products[i].key)) text = listed(s, text, products[i].flag);
    TRY(launch_set(s, "adapter", lora ? "lora" : "none", err));
    if (lora) TRY(launch_set(s, "lora-target-modules", text, err));
    if (bits)
        TRY(launch_set(s, strstr(bits, "int8") ? "load-in-8bit" : "load-in-4bit", "true", err));
    if (precision) TRY(dialect_mixed(s, pairs, "precision", err));
    if (precision && strstr(precision, "16-true")) TRY(launch_set(s, "pure-bf16", "", err));
    if (one) return launch_set(s, "fsdp", "no_shard", err);
    said_assume(&s->said, trains ? "states are sharded by FSDP, as litgpt does"
                                 : "states are sharded by FSDP, and blocks recomputed, as litgpt "
                                   "does on several GPUs");
    if (!trains) TRY(launch_set(s, "gradient-checkpointing", "true", err));
    return launch_set(s, "fsdp", trains ? "hybrid_shard" : "full_shard", err);
}

// litgpt's own values (litgpt/finetune/lora.py, full.py, pretrain.py), of flags on its command.
static void complete_litgpt(struct settings *pairs, const char *verb)
{
    static const char *const values[][2] = {{"precision", "bf16-mixed"},
                                            {"devices", "1"},
                                            {"train.micro_batch_size", "1"},
                                            {"train.global_batch_size", "16"}},
                             *const pretrains[][2] = {{"precision", "bf16-mixed"},
                                                      {"train.micro_batch_size", "4"},
                                                      {"train.global_batch_size", "512"}},
                             *const lora[][2] = {{"lora_r", "8"},
                                                 {"lora_alpha", "16"},
                                                 {"lora_dropout", "0.05"},
                                                 {"lora_query", "true"},
                                                 {"lora_value", "true"}};
    bool pretrain = !strncmp(verb, "pretrain", 8),
         whole = pretrain || !strncmp(verb, "finetune_full", 13);
    const char *const(*from)[2] = pretrain ? pretrains : values, *name = strchr(verb, ' ');
    size_t count = pretrain ? ARRAY_LENGTH(pretrains) : ARRAY_LENGTH(values);
    for (size_t i = 0; i < count; i++) {
        if (setting_of(pairs, from[i][0])) continue;
        settings_replace(pairs, from[i][0], from[i][1], 0);
        said_assume(&pairs->said, "%s %s, litgpt's own", from[i][0], from[i][1]);
    }
    for (size_t i = 0; !whole && i < ARRAY_LENGTH(lora); i++)
        if (!setting_of(pairs, lora[i][0])) settings_replace(pairs, lora[i][0], lora[i][1], 0);
    if (name) settings_replace(pairs, pretrain ? "model_name" : "checkpoint_dir", name + 1, 0);
}

void dialect_complete(struct settings *pairs, const char *program)
{
    static const char name[] = "litgpt ";
    if (program && !strncmp(program, name, sizeof name - 1))
        complete_litgpt(pairs, program + sizeof name - 1);
}

// ---- LLM-Foundry

static bool is_foundry(const struct settings *pairs)
{
    return setting_of(pairs, "device_train_microbatch_size") ||
           setting_of(pairs, "device_train_grad_accum");
}

static const struct word foundry_words[] = {
    {"max_seq_len", "max-seq-len"},
    {"model.max_sequence_length", "max-seq-len"}, // OLMo's
    {"activation_checkpointing", "gradient-checkpointing"},
    {"global_train_batch_size", "batch-of-all"},
    {"device_train_microbatch_size", "micro-batch-size"},
    {"fsdp_config.activation_checkpointing", "gradient-checkpointing"},
    {"fsdp_config.activation_cpu_offload", "activation-offloading"},
    {"optimizer.name", "optim"},
    {"peft_config.r", "lora-rank"},
    {"peft_config.lora_alpha", "lora-alpha"},
    {"peft_config.lora_dropout", "lora-dropout"},
    {"peft_config.use_dora", "use-dora"},
    {"model.peft_config.r", "lora-rank"},
    {"model.peft_config.lora_alpha", "lora-alpha"},
    {"model.peft_config.lora_dropout", "lora-dropout"},
    {"compile_config", "torch-compile"},
    {"fsdp.hybrid_sharding_num_model_replicas", "dp-replicate-size"}, // OLMo's
    {NULL, NULL}};

static const char foundry_left[] =
    "variables.* run_name tokenizer.* tokenizer_name train_loader.* eval_loader.* scheduler.* "
    "optimizer.* algorithms.* max_duration eval_interval eval_first eval_subset_num_batches seed "
    "global_seed device_eval_batch_size progress_bar log_to_console console_log_interval "
    "callbacks.* loggers.* fsdp_config.* model.* peft_config.* precision save_folder save_interval "
    "save_num_checkpoints_to_keep save_overwrite save_weights_only save_filename load_path "
    "load_weights_only load_strict_model_weights autoresume dist_timeout python_log_level "
    "icl_tasks icl_seq_len icl_max_seq_len icl_tasks.* eval_gauntlet.* data_local data_remote "
    "fsdp.* ddp.* distributed_strategy dry_run softmax_auxiliary_loss auxiliary_loss_multiplier "
    "fused_loss save_interval_ephemeral save_num_unsharded_checkpoints_to_keep wandb.* data.* "
    "save_interval_unsharded sharded_checkpointer max_grad_norm max_grad_norm_ratio evaluators.* "
    "speed_monitor.* gen1_gc_interval remote_save_folder try_load_latest_save stop_at "
    "restore_dataloader "
    "reset_optimizer_state reset_trainer_state load_path_sharded_checkpointer compile.* "
    "expandable_segments max_split_size_mb profiler.* metadata.* code_paths log_config "
    "only_hf_checkpoint";

static enum status take_foundry(struct settings *s, const struct settings *pairs, struct error *err)
{
    static const char *const lists[] = {"peft_config.target_modules",
                                        "model.peft_config.target_modules"};
    const char *precision = settings_text(pairs, "precision"), *text = "",
               *shards = settings_text(pairs, "fsdp_config.sharding_strategy"),
               *model = settings_text(pairs, "model.pretrained_model_name_or_path");
    if (setting_of(pairs, "device_train_grad_accum"))
        return settings_refuse(pairs, "device_train_grad_accum", err,
                               "expected device_train_microbatch_size: state it in place of it");
    if (model) TRY(launch_set(s, "model", model, err));
    else
        said_assume(&s->said, "the model's sizes are the section's: %.40s, written as a model",
                    settings_text(pairs, "model.name") ? settings_text(pairs, "model.name")
                                                       : "model");
    for (size_t k = 0; k < ARRAY_LENGTH(lists) && !*text; k++)
        text = dialect_list(s, pairs, lists[k]);
    bool lora = setting_of(s, "lora-rank") != NULL;
    TRY(launch_set(s, "adapter", lora ? "lora" : "none", err));
    if (*text) TRY(launch_set(s, "lora-target-modules", text, err));
    if (precision) TRY(dialect_mixed(s, pairs, "precision", err));
    if (precision && strstr(precision, "fp8"))
        said_assume(&s->said, "precision %.20s: products are in 16 bits", precision);
    if (dialect_is_true(pairs, "fsdp_config.cpu_offload"))
        return settings_refuse(pairs, "fsdp_config.cpu_offload", err,
                               "weights on the host: leave it out");
    struct setting *again = (struct setting *)setting_of(s, "gradient-checkpointing");
    if (again && !strcmp(again->text, "whole_layer")) again->text = "true";
    else if (again && strcasecmp(again->text, "true") != 0 && strcasecmp(again->text, "false") != 0)
        return settings_refuse(pairs, "activation_checkpointing", err,
                               "%.40s: which layers are recomputed: state it in the job",
                               again->text);
    const char *copies = settings_text(pairs, "fsdp_config.device_mesh[0]"),
               *each = settings_text(pairs, "fsdp_config.device_mesh[1]");
    if (copies && each) {
        TRY(launch_set(s, "dp-replicate-size", copies, err));
        TRY(launch_set(s, "dp-shard-size", each, err));
    }
    if (!shards) shards = settings_text(pairs, "fsdp.sharding_strategy");
    bool sharded = false;
    for (int i = 0; i < pairs->count; i++)
        sharded |= !strncmp(pairs->items[i].key, "fsdp_config.", 12) ||
                   !strncmp(pairs->items[i].key, "fsdp.", 5);
    return launch_set(s, "fsdp", shards ? shards : sharded ? "full_shard" : "no_shard", err);
}

// ---- all

static const struct dialect torchtune = {is_torchtune, torchtune_words, torchtune_left, NULL,
                                         NULL,         take_torchtune},
                            litgpt = {is_litgpt, litgpt_words, litgpt_left,
                                      NULL,      NULL,         take_litgpt},
                            foundry = {is_foundry, foundry_words, foundry_left,
                                       NULL,       NULL,          take_foundry};

static const struct dialect *dialect_of(const struct settings *pairs)
{
    static const struct dialect *const all[] = {
        &torchtune,      &litgpt,           &foundry,        &dialect_levanter,
        &dialect_xtuner, &dialect_xtuner_1, &dialect_maxtext};
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
        if (all[i]->is(pairs)) return all[i];
    return NULL;
}

bool dialect_is(const struct settings *pairs) { return dialect_of(pairs) != NULL; }

// What a key changes that has no flag; *known: that is known.
static enum status take_effect(struct settings *s, const struct settings *pairs,
                               const struct dialect *d, const struct setting *at, bool *known,
                               struct error *err)
{
    const struct setting_effect *e = d->effects;
    while (e && e->keys && !name_is_listed(e->keys, at->key, settings_base_length(at->key))) e++;
    *known = e && e->keys;
    if (!*known || !setting_has_effect(e, at)) return OK;
    if (e->kind != EFFECT_ASSUMED)
        return settings_refuse(pairs, at->key, err, "is not read: %s", e->text);
    if (!s->said.assumed || !strstr(s->said.assumed, e->text)) said_assume(&s->said, "%s", e->text);
    return OK;
}

static enum status take_key(struct settings *s, const struct settings *pairs,
                            const struct dialect *d, const struct setting *at, struct error *err)
{
    bool known;
    TRY(take_effect(s, pairs, d, at, &known, err));
    if (known) return OK;
    size_t length = settings_base_length(at->key), section = strcspn(at->key, ".");
    const struct word *w = d->words;
    while (w->key && (strlen(w->key) != length || strncmp(w->key, at->key, length) != 0)) w++;
    if (w->key && at->key[length])
        return settings_refuse(pairs, at->key, err, "expected one value, found a list or a call");
    if (w->key) return at->text ? launch_set(s, w->flag, at->text, err) : OK;
    if (*d->left == '*' || name_is_listed(d->left, at->key, length) ||
        (d->names && name_is_listed(d->names->names, at->key, length)))
        return said_ignore(&s->said,
                           arena_print(s->arena, "%.*s", (int)(section < length ? section : length),
                                       at->key)),
               OK;
    const char *key = arena_print(s->arena, "%.*s", (int)length, at->key);
    return at->text && !setting_of(s, key) ? launch_set(s, key, at->text, err) : OK;
}

enum status dialect_take(struct settings *s, const struct settings *pairs, struct error *err)
{
    const struct dialect *d = dialect_of(pairs);
    if (pairs->said.assumed && *pairs->said.assumed)
        said_assume(&s->said, "%s", pairs->said.assumed);
    for (const struct word *w = d->words; w->key; w++) TRY(python_check_known(pairs, w->key, err));
    for (int i = 0; i < pairs->count; i++) TRY(take_key(s, pairs, d, &pairs->items[i], err));
    return d->take(s, pairs, err);
}
