// Levanter (src/levanter/trainer.py, models/ at 1a64b1a6) and MaxText (configs/base.yml,
// pyconfig.py at 2024 and later). See internal.h.
#include "data/import/trainers/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/import/jobs/launch.h"

// ---- Levanter

static bool is_levanter(const struct settings *pairs)
{
    return setting_of(pairs, "trainer.train_batch_size") ||
           setting_of(pairs, "trainer.per_device_parallelism") || setting_of(pairs, "trainer.mp");
}

static const struct word levanter_words[] = {
    {"trainer.train_batch_size", "batch-of-all"},
    {"trainer.per_device_parallelism", "micro-batch-size"},
    {"trainer.model_axis_size", "tensor-parallel-size"},
    {"model.seq_len", "max-length"},
    {"model.max_seq_len", "max-length"},
    {"model.gradient_checkpointing", "gradient-checkpointing"},
    {"optimizer.type", "optim"},
    {"initialize_from_hf", "model"},
    {NULL, NULL}};

static enum status take_levanter(struct settings *s, const struct settings *pairs,
                                 struct error *err)
{
    static const char *const copies[] = {"trainer.replica_ici_axis_size",
                                         "trainer.replica_dcn_axis_size"};
    const char *type = settings_text(pairs, "model.type"), *mp = settings_text(pairs, "trainer.mp"),
               *axis = settings_text(pairs, "trainer.fsdp_axis"),
               *length = settings_text(pairs, "train_seq_len");
    const struct setting *micro = setting_of(s, "micro-batch-size"), *from = setting_of(s, "model"),
                         *batch = setting_of(s, "batch-of-all");
    bool none = from && (!strcasecmp(from->text, "false") || !strcasecmp(from->text, "true"));
    struct setting *again = (struct setting *)setting_of(s, "gradient-checkpointing");
    if (setting_of(pairs, "reward_model") || setting_of(pairs, "reference_model_path"))
        return refuse(err, "%s: " SETTING_OF_OTHERS, pairs->document.path);
    if (batch && strspn(batch->text, "-0123456789") != strlen(batch->text))
        return settings_refuse(pairs, "trainer.train_batch_size", err,
                               "expected one batch size, found \"%.40s\"", batch->text);
    if (!batch) TRY(dialect_default(s, "batch-of-all", "512", err));
    if (!micro || atoi(micro->text) < 0) settings_replace(s, "micro-batch-size", "0", 0);
    if (length) TRY(launch_set(s, "max-length", length, err));
    if (!from || none) settings_replace(s, "model", type ? type : "gpt2", 0);
    said_assume(&s->said, "the model's sizes are the section's: %.40s, written as a model",
                type ? type : "gpt2");
    if (!setting_of(s, "max-length") && !dialect_is_true(pairs, "use_hf_model_config"))
        TRY(dialect_default(s, "max-length", !type || strstr(type, "gpt2") ? "1024" : "2048", err));
    if (again && (!strcmp(again->text, "full") || !strcmp(again->text, "recompute")))
        again->text = "true";
    else if (again && !strcmp(again->text, "save_all")) again->text = "false";
    else if (again && strcasecmp(again->text, "false") && strcasecmp(again->text, "true"))
        return settings_refuse(pairs, "model.gradient_checkpointing", err,
                               "expected true, false, full or save_all, found \"%.40s\": state "
                               "what is kept in the job",
                               again->text);
    else if (!again) TRY(dialect_default(s, "gradient-checkpointing", "true", err));
    bool half = mp && (strstr(mp, "bf16") || strstr(mp, "bfloat16")),
         wide = !mp || !strcmp(mp, "f32");
    if (mp && !half && !wide && strcmp(mp, "fp32") != 0)
        return settings_refuse(pairs, "trainer.mp", err,
                               "expected p=f32,c=bfloat16 or f32, found \"%.60s\"", mp);
    TRY(launch_set(s, half ? "bf16" : "torch-dtype", half ? "true" : "float32", err));
    int64_t replicas = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(copies); i++) {
        const char *text = settings_text(pairs, copies[i]);
        if (text && atoi(text) > 1) replicas *= atoi(text) < 1 << 20 ? atoi(text) : 1 << 20;
    }
    if (replicas > 1)
        TRY(launch_set(s, "dp-replicate-size", arena_print(s->arena, "%lld", (long long)replicas),
                       err));
    if (half && !strstr(mp, "p=f32") && !strstr(mp, "params=float32") && strchr(mp, '='))
        TRY(launch_set(s, "pure-bf16", "", err));
    for (int i = 0; i < pairs->count; i++)
        if (strstr(pairs->items[i].key, "axis_resources.") && !pairs->items[i].text)
            return settings_refuse(pairs, pairs->items[i].key, err,
                                   "null: an axis that is not split: state the layout in the job");
    bool sharded = !setting_of(pairs, "trainer.fsdp_axis") || axis;
    said_assume(&s->said, "states are %s",
                sharded ? "sharded over data ranks, as by FSDP"
                        : "not sharded, as fsdp_axis is null");
    return launch_set(s, "fsdp", sharded ? "full_shard" : "no_shard", err);
}

static const struct setting_effect levanter_effects[] = {
    {"trainer.mesh.* trainer.axis_resources trainer.axis_resources.* "
     "trainer.parameter_axis_resources trainer.parameter_axis_resources.*",
     EFFECT_ON_JOB, "", "which axes are split over which devices: state the layout in the job"},
    {"model.gradient_checkpointing.*", EFFECT_ON_JOB, "",
     "which values are kept, and where: state it in the job"},
    {"trainer.quantization trainer.quantization.*", EFFECT_ASSUMED, "",
     "products are in 16 bits, trainer.quantization aside"},
    {NULL, 0, NULL, NULL}};

const struct dialect dialect_levanter = {
    is_levanter,
    levanter_words,
    "data data.* model.* optimizer.* trainer.* use_hf_model_config hf_save_path hf_save_steps "
    "hf_upload data_seed eval_harness_steps eval_harness.* z_loss_weight out_of_domain_data "
    "log_entropy epoch tokenizer cache_dir train_urls validation_urls train_seq_len "
    "data_shuffle initialize_from_checkpoint_path fcm_prob",
    NULL,
    levanter_effects,
    take_levanter};

// ---- MaxText

static bool is_maxtext(const struct settings *pairs)
{
    static const char *const keys[] = {"max_target_length", "remat_policy",
                                       "base_config",       "ici_fsdp_parallelism",
                                       "base_emb_dim",      "enable_checkpointing"};
    bool any = false;
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) any |= setting_of(pairs, keys[i]) != NULL;
    return any && setting_of(pairs, "per_device_batch_size");
}

static const struct word maxtext_words[] = {
    {"max_target_length", "max-length"},
    {"gradient_accumulation_steps", "gradient-accumulation-steps"},
    {"model_name", "model"},
    {"opt_type", "optim"},
    {"lora_rank", "lora-rank"},
    {NULL, NULL}};

// The product of a kind of parallelism over both networks; *rest: it takes what is left over.
static int64_t degree(const struct settings *pairs, const char *name, bool *rest,
                      struct arena *arena)
{
    static const char *const networks[] = {"ici", "dcn"};
    int64_t product = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(networks); i++) {
        const char *text =
            settings_text(pairs, arena_print(arena, "%s_%s_parallelism", networks[i], name));
        int64_t own = text ? strtoll(text, NULL, 10) : 1;
        if (own < 0) *rest = true;
        else if (own > 1 && own <= 1 << 20 && product <= 1 << 20) product *= own;
    }
    return product;
}

#define MAXTEXT_DEGREES                                                                            \
    "base_config ici_data_parallelism ici_fsdp_parallelism ici_fsdp_transpose_parallelism "        \
    "ici_tensor_parallelism ici_sequence_parallelism ici_context_parallelism "                     \
    "dcn_data_parallelism dcn_fsdp_parallelism dcn_fsdp_transpose_parallelism "                    \
    "dcn_tensor_parallelism dcn_sequence_parallelism dcn_context_parallelism "                     \
    "per_device_batch_size remat_policy dtype attention weight_dtype "                             \
    "optimizer_memory_host_offload"

static enum status take_maxtext(struct settings *s, const struct settings *pairs, struct error *err)
{
    const char *policy = settings_text(pairs, "remat_policy"),
               *each = settings_text(pairs, "per_device_batch_size"),
               *weights = settings_text(pairs, "weight_dtype");
    bool rest = false, open = false;
    if (dialect_is_true(pairs, "optimizer_memory_host_offload"))
        TRY(launch_set(s, "offload-optimizer-device", "cpu", err));
    int64_t tensor = degree(pairs, "tensor", &rest, s->arena),
            context = degree(pairs, "context", &rest, s->arena) *
                      degree(pairs, "sequence", &rest, s->arena),
            shards = degree(pairs, "fsdp", &open, s->arena) *
                     degree(pairs, "fsdp_transpose", &open, s->arena);
    if (rest || tensor > 1 << 16 || context > 1 << 16)
        return refuse(err, "%s: expected tensor and context parallelism as numbers",
                      pairs->document.path);
    double together = (each ? atof(each) : 12) * (double)tensor * (double)context;
    if (!(together >= 1) || together > 1 << 16 || together != (double)(int64_t)together)
        return settings_refuse(pairs, "per_device_batch_size", err,
                               "times tensor and context ranks: expected whole sequences, found %g",
                               together);
    TRY(launch_set(s, "micro-batch-size", arena_print(s->arena, "%.0f", together), err));
    if (tensor > 1)
        TRY(launch_set(s, "tensor-parallel-size", arena_print(s->arena, "%lld", (long long)tensor),
                       err));
    if (context > 1)
        TRY(launch_set(s, "context-parallel-size",
                       arena_print(s->arena, "%lld", (long long)context), err));
    if (!policy || !strcmp(policy, "full") || !strcmp(policy, "minimal_offloaded") ||
        !strcmp(policy, "none")) {
        bool full = !policy || !strcmp(policy, "full");
        if (policy && *policy == 'm')
            return settings_refuse(pairs, "remat_policy", err,
                                   "activations on the host: leave it out");
        if (!policy) said_assume(&s->said, "remat_policy full, the program's own");
        TRY(launch_set(s, "gradient-checkpointing", full ? "true" : "false", err));
    } else
        return settings_refuse(pairs, "remat_policy", err,
                               "expected full or none, found \"%.40s\": which products are kept: "
                               "state it in the job",
                               policy);
    TRY(dialect_default(s, "max-length", "2048", err));
    if (settings_text(pairs, "dtype")) TRY(dialect_mixed(s, pairs, "dtype", err));
    else TRY(dialect_default(s, "bf16", "true", err));
    if (weights && strstr(weights, "16")) TRY(launch_set(s, "pure-bf16", "", err));
    const char *kernel = settings_text(pairs, "attention");
    if (kernel && !strcmp(kernel, "dot_product")) TRY(launch_set(s, "flash-attn", "eager", err));
    int64_t copies = degree(pairs, "data", &rest, s->arena);
    if (copies > 1)
        TRY(launch_set(s, "dp-replicate-size", arena_print(s->arena, "%lld", (long long)copies),
                       err));
    if (shards > 1 && !open)
        TRY(launch_set(s, "dp-shard-size", arena_print(s->arena, "%lld", (long long)shards), err));
    bool sharded = open || shards > 1 || !setting_of(pairs, "ici_fsdp_parallelism");
    said_assume(&s->said, sharded ? "states are sharded over the ranks of fsdp, as by FSDP"
                                  : "states are not sharded, as without fsdp_parallelism");
    return launch_set(s, "fsdp", sharded ? "full_shard" : "no_shard", err);
}

const struct dialect dialect_maxtext = {is_maxtext,    maxtext_words,   MAXTEXT_DEGREES,
                                        maxtext_names, maxtext_effects, take_maxtext};
