// Programs built on Hugging Face's Trainer (LLaMA-Factory, ms-swift, axolotl, DeepSpeedExamples),
// OpenRLHF, torchtune, litgpt and LLM-Foundry: YAML or a launch script. The model is its
// checkpoint's, hence not read.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/launch.h"
#include "data/import/trainers/internal.h"

enum { ANSWER_DEFAULT = 512 }; // TRL's and ms-swift's max_completion_length

// Weights that are loaded in 16 bits are trained so, unless DeepSpeed or (with mixed precision)
// Accelerate's FSDP keeps fp32 ones; LLaMA-Factory's and adapters are made fp32 (pure_bf16: not).
static void set_narrow(struct run *r, struct settings *s)
{
    bool half = r->job.precision == BF16 || r->job.precision == FP16,
         loaded = find_in_any_case(r->dtype, "float16") || find_in_any_case(r->dtype, "bf16"),
         axolotl = setting_of(s, "base-model") && half,
         others = r->job.layout.zero && (r->bf16 || r->fp16 || r->number_format);
    r->narrow |= (loaded || axolotl) && !setting_of(s, "finetuning-type") && !run_has_adapters(r) &&
                 !others;
    r->narrow &= half && r->job.trainer != TRAINER_DEEPSPEED;
    if (r->narrow) said_assume(&s->said, "weights, gradients and states in 16 bits alone");
}

static void set_precision(struct run *r, struct settings *s)
{
    if (!r->bf16 && !r->fp16 && r->number_format && strcasecmp(r->number_format, "no") != 0)
        r->dtype = strcmp(r->number_format, "fp16") ? "bf16" : "float16";
    bool narrow = find_in_any_case(r->dtype, "bfloat16") || find_in_any_case(r->dtype, "bf16");
    if (!r->bf16 && !r->fp16 && (narrow || !r->dtype)) r->bf16 = true;
    if (!narrow && !setting_of(s, "bf16") && !setting_of(s, "fp16") && !r->dtype)
        said_assume(&s->said, "the precision is not stated: bf16");
    r->job.precision = r->bf16                                            ? BF16
                       : r->fp16 || find_in_any_case(r->dtype, "float16") ? FP16
                                                                          : FP32;
    set_narrow(r, s);
    r->job.gradient_bytes_per_value =
        r->narrow ? 2 : trainer_gradient_bytes(r->job.trainer, r->job.precision);
}

static void set_recompute(struct run *r, struct settings *s)
{
    bool factory = setting_of(s, "finetuning-type") || setting_of(s, "cutoff-len") ||
                   setting_of(s, "tuner-type") || setting_of(s, "train-type");
    bool stated = setting_of(s, "gradient-checkpointing") ||
                  setting_of(s, "disable-gradient-checkpointing");
    bool full = r->checkpointed || (factory && !stated) || (!r->checkpointed && stated && r->waits);
    if (r->waits) full = false;
    if (factory && !stated)
        said_assume(&s->said, "layers are recomputed, the default of LLaMA-Factory and ms-swift");
    if (full) r->job.recompute[RECOMPUTE_FULL] = true;
    r->job.layout.recompute = 1 + (full ? RECOMPUTE_FULL : RECOMPUTE_NONE);
}

static enum status check_program(const struct run *r, const struct settings *s, struct error *err)
{
    static const char *const others[] = {"reward", "dpo",  "ppo", "grpo",
                                         "rlhf",   "orpo", "kto", "train_rm"};
    const char *name = s->program ? s->program : "";
    if (!strcmp(name, "megatron"))
        return refuse(
            err, "%s: megatron: ms-swift's launch of Megatron: plumbline import megatron reads it",
            r->file);
    if (s->openrlhf) name = strstr(name, "openrlhf.") + strlen("openrlhf."); // "rlhf" of no task
    for (size_t i = 0; !s->policy_alone && i < ARRAY_LENGTH(others); i++)
        if (find_in_any_case(name, others[i]))
            return refuse(err, "%s: %.80s is not read: " SETTING_OF_OTHERS, r->file, s->program);
    return OK;
}

// GRPO's sequences: a prompt and its answer, each of full length.
static void take_answers(struct run *r, struct settings *s)
{
    struct job *j = &r->job;
    int64_t prompt = r->rollout.prompt ? r->rollout.prompt : j->sequence,
            answer = r->rollout.answer ? r->rollout.answer : ANSWER_DEFAULT;
    if (!s->policy_alone) return;
    if (!s->openrlhf || r->rollout.answer) j->sequence = prompt ? prompt + answer : 0;
    said_assume(&s->said,
                "an update of the policy alone: rollouts and other models are no part of the job, "
                "and every sequence is full");
}

// LLaMA-Factory and ms-swift adapt every matrix unless told; peft's own are those of Llama.
static void set_adapters(struct run *r, struct settings *s)
{
    bool every = setting_of(s, "finetuning-type") || setting_of(s, "tuner-type") ||
                 setting_of(s, "train-type") || setting_of(s, "lora-module-name");
    adapters_default(r, s, 8, every ? "all" : "q_proj, v_proj");
}

// bitsandbytes' optimizers in 8 bits (51294d90 optim/optimizer.py: moments of tensors of 4096
// values and more in uint8) are taken with fp32 weights beside 16-bit ones, as Adam in fp32 is.
static enum status set_optimizer(struct run *r, struct settings *s, struct error *err)
{
    const char *name = r->optimizer ? r->optimizer : "adam";
    bool eight = find_in_any_case(name, "8bit"), wide = r->job.precision != FP32 && !r->narrow;
    const char *keeps = optimizer_set(
        &r->job, name,
        &(struct optimizer_way){settings_number(s, "optimizer.momentum") > 0, !r->narrow,
                                eight       ? 1
                                : r->narrow ? 2
                                            : 0});
    enum narrow_optimizer narrow = optimizer_narrow(name);
    if (narrow >= NARROW_EIGHT_BITS) {
        if (keeps || eight)
            said_assume(&s->said, "optimizer %.40s: %s%s%s", name, keeps ? keeps : "moments",
                        eight ? " of one byte" : "", wide ? ", next to weights in fp32" : "");
        return OK;
    }
    if (narrow != NARROW_FOUR_BITS || keeps || !run_has_adapters(r))
        return settings_refuse(s, setting_of(s, "optim") ? "optim" : "optimizer", err,
                               "%.40s has other states than Adam's: leave it out", r->optimizer);
    said_assume(&s->said, "optimizer %.40s: Adam's states in fp32, of the adapters alone",
                r->optimizer);
    return OK;
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    TRY(check_program(r, s, err));
    TRY(settings_take_environment(r, s, err));
    settings_take_slurm(r, s);
    if (setting_of(s, "num-processes") || !r->nodes) r->nodes = 1; // Accelerate's are of all nodes
    int64_t gpus = r->gpus ? r->gpus : r->processes * r->nodes;
    take_answers(r, s);
    if (asked->sequence) j->sequence = asked->sequence;
    if (asked->micro_batch) r->micro_batch = asked->micro_batch;
    if (!r->micro_batch && !setting_of(s, "micro-batch-size"))
        return refuse(
            err,
            "%s: expected per_device_train_batch_size, found none: this is no training with "
            "Hugging Face's Trainer or OpenRLHF",
            r->file);
    const struct settings_lack of[] = {
        {!j->sequence, "the sequence length (cutoff_len, max_length)", "--sequence"},
        {!r->micro_batch, "the micro-batch", "--micro-batch"},
        {!gpus, "the number of GPUs", "--gpus"}};
    TRY(settings_ask(r->file, of, ARRAY_LENGTH(of), err));
    if (r->ulysses > 1) l->context = r->ulysses, j->context_kind = CONTEXT_ALL_TO_ALL;
    if (!l->tensor) l->tensor = 1;
    if (!l->context) l->context = 1;
    if (r->micro_batch > 1 << 16 || r->steps > 1 << 16)
        return refuse(err, "%s: expected batch sizes of at most 2^16", r->file);
    TRY(settings_divide(r->file, "GPUs over tensor x context", gpus,
                        (int64_t)l->tensor * l->context, &l->data, err));
    if (r->shards && l->data != r->shards * (r->replicas ? r->replicas : 1))
        return settings_refuse(s, "dp-shard-size", err, "times replicas: expected %d, found %lld",
                               l->data, (long long)(r->shards * (r->replicas ? r->replicas : 1)));
    if (r->replicas > 1)
        said_assume(&s->said, "shards over all data ranks, not %lld of each replica",
                    (long long)(l->data / r->replicas));
    j->gathered_logits = l->tensor > 1; // as transformers' plans have it
    l->micro_batch = (int)r->micro_batch;
    if (r->global_batch) {
        int steps;
        TRY(settings_divide(r->file, "the batch over data ranks and micro-batches", r->global_batch,
                            (int64_t)l->data * l->micro_batch, &steps, err));
        r->steps = steps;
    }
    j->global_batch = (int64_t)l->data * l->micro_batch * (r->steps ? r->steps : 1);
    TRY(trainer_sharding(r, s, err));
    set_precision(r, s);
    set_recompute(r, s);
    TRY(set_optimizer(r, s, err));
    set_adapters(r, s);
    l->fused_attention = r->backend ? (!find_in_any_case(r->backend, "eager") &&
                                       !find_in_any_case(r->backend, "disab"))
                                    : !s->openrlhf;
    if (r->model)
        said_assume(&s->said, "the model is %.80s: from its config.json (plumbline import hf)",
                    r->model);
    return OK;
}

// Sections of LLaMA-Factory's version 1.
static enum status take_sections(struct settings *s, const struct settings *yaml, struct error *err)
{
    static const struct {
        const char *key, *of_script;
    } adapters[] = {{"peft_config.name", "finetuning-type"},
                    {"peft_config.r", "lora-rank"},
                    {"peft_config.target_modules", "lora-target-modules"},
                    {"quant_config.quantization_bit", "quantization-bit"}};
    const struct setting *engine = setting_of(yaml, "dist_config.name"),
                         *file = setting_of(yaml, "dist_config.config_file");
    const struct setting *data = setting_of(yaml, "train_dataset");
    if (data && find_in_any_case(data->text, "dpo"))
        return settings_refuse(yaml, data->key, err, "%.60s: " SETTING_OF_OTHERS, data->text);
    if (data) said_assume(&s->said, "tokens are trained (llamafactory-cli sft), not pairs");
    for (size_t i = 0; i < ARRAY_LENGTH(adapters); i++) {
        const struct setting *at = setting_of(yaml, adapters[i].key);
        if (at && at->text) TRY(launch_set(s, adapters[i].of_script, at->text, err));
    }
    if (setting_of(yaml, "quant_config.name") && !setting_of(s, "quantization-bit"))
        said_assume(&s->said, "quant_config: frozen weights in fewer bits are the model's: state "
                              "them there (weight_bits)");
    if (!engine || !engine->text) return OK;
    if (!strcmp(engine->text, "fsdp2")) return launch_set_value(s, "fsdp", "full_shard", err);
    if (!strcmp(engine->text, "deepspeed") && file && file->text)
        return launch_set_value(s, "deepspeed", file->text, err);
    return settings_refuse(yaml, engine->key, err,
                           "expected fsdp2 or deepspeed, found \"%.40s\": leave the section out, "
                           "and state the job's layout",
                           engine->text);
}

static bool is_true(const struct settings *pairs, const char *key)
{
    const struct setting *at = setting_of(pairs, key);
    return at && at->text && !strcasecmp(at->text, "true");
}

// How axolotl's and Accelerate's lists and sections say that states are sharded.
static enum status take_fsdp(struct settings *s, const struct settings *pairs, struct error *err)
{
    static const char *const hosts[] = {
        "fsdp_config.offload_params", "fsdp_config.fsdp_offload_params", "fsdp_config.cpu_offload"};
    static const char *const again_keys[] = {"fsdp_config.reshard_after_forward",
                                             "fsdp_config.fsdp_reshard_after_forward"};
    const struct setting *strategy = setting_of(pairs, "fsdp_config.fsdp_sharding_strategy"),
                         *again = setting_of(pairs, again_keys[0]);
    if (!again) again = setting_of(pairs, again_keys[1]);
    if (is_true(pairs, "fsdp_config.activation_checkpointing") ||
        is_true(pairs, "fsdp_config.fsdp_activation_checkpointing"))
        TRY(launch_set(s, "gradient-checkpointing", "true", err));
    const char *words = setting_lists(pairs, "fsdp", "full_shard")      ? "full_shard"
                        : setting_lists(pairs, "fsdp", "shard_grad_op") ? "shard_grad_op"
                        : setting_lists(pairs, "fsdp", "hybrid_shard")  ? "hybrid_shard"
                                                                        : NULL;
    bool offloads = setting_lists(pairs, "fsdp", "offload");
    if (setting_of(pairs, "fsdp") && setting_of(pairs, "fsdp")->text) return OK; // in one word
    if (strategy && strategy->text) words = strategy->text;
    else if (!words && again) words = is_true(pairs, again->key) ? "full_shard" : "shard_grad_op";
    else if (!words &&
             (setting_of(pairs, "fsdp_version") || setting_of(pairs, "fsdp_config.fsdp_version")))
        words = "full_shard"; // version 2's
    for (size_t i = 0; i < ARRAY_LENGTH(hosts); i++) offloads |= is_true(pairs, hosts[i]);
    if (!words) return OK;
    return launch_set(s, "fsdp", arena_print(s->arena, "%s%s", words, offloads ? " offload" : ""),
                      err);
}

// Accelerate's configuration, under what the launch states.
static enum status take_accelerate(struct settings *s, struct error *err)
{
    static const char *const names[][2] = {
        {"num_processes", "num-processes"},
        {"mixed_precision", "mixed-precision"},
        {"deepspeed_config.zero_stage", "zero-stage"},
        {"deepspeed_config.deepspeed_config_file", "deepspeed"},
        {"deepspeed_config.offload_optimizer_device", "offload-optimizer-device"},
        {"deepspeed_config.gradient_accumulation_steps", "gradient-accumulation-steps"}};
    struct settings yaml;
    bool stated = setting_of(s, "deepspeed") || setting_of(s, "zero-stage") ||
                  setting_of(s, "fsdp") || setting_of(s, "use-fsdp") ||
                  setting_of(s, "fsdp-sharding-strategy");
    TRY(settings_read_yaml_raw(&yaml, s->accelerate, s->arena, err));
    const struct setting *kind = setting_of(&yaml, "distributed_type");
    const char *way = kind && kind->text ? kind->text : "";
    bool counted = setting_of(s, "num-processes") || setting_of(s, "nproc-per-node") ||
                   s->processes;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const struct setting *at = setting_of(&yaml, names[i][0]);
        bool shards = !strncmp(names[i][0], "deepspeed_config.", 17);
        if (!at || !at->text || setting_of(s, names[i][1]) || (!i && counted)) continue;
        if (shards && (stated || strcasecmp(way, "deepspeed") != 0)) continue;
        TRY(launch_set_value(s, names[i][1], at->text, err));
    }
    if (stated || !strcasecmp(way, "deepspeed")) return OK;
    if (!strcasecmp(way, "fsdp")) TRY(take_fsdp(s, &yaml, err));
    if (setting_of(s, "fsdp")) return OK;
    return launch_set(s, "fsdp", strcasecmp(way, "fsdp") ? "no_shard" : "full_shard", err);
}

// Sections and lists that are not read are said by their names.
static enum status take_section_names(struct settings *s, const struct settings *pairs,
                                      struct error *err)
{
    static const char read[] = "fsdp lora-target-modules target-modules lora-target peft-config "
                               "quant-config dist-config deepspeed";
    for (int i = 0; i < pairs->count; i++) {
        const char *key = pairs->items[i].key, *end = strpbrk(key, ".[");
        char *name = end && end > key ? arena_print(s->arena, "%.*s", (int)(end - key), key) : NULL;
        for (char *at = name; at && *at; at++)
            if (*at == '_') *at = '-';
        if (name && pairs->items[i].text && !name_is_listed(read, name, strlen(name)) &&
            !setting_of(s, name) && !launch_is_read(&hf_trainer_rows, name))
            TRY(launch_set(s, name, "", err));
    }
    return OK;
}

// axolotl's YAML: a batch of all GPUs is none of each.
static enum status take_axolotl(struct settings *s, const struct settings *pairs, struct error *err)
{
    const struct setting *adapter = setting_of(pairs, "adapter");
    if (!adapter || !adapter->text) TRY(launch_set(s, "adapter", "none", err));
    if (setting_of(pairs, "batch_size") && !setting_of(pairs, "gradient_accumulation_steps"))
        return settings_refuse(pairs, "batch_size", err,
                               "expected gradient_accumulation_steps: state it in place of it");
    return OK;
}

// The elements of a list of products that have an adapter, as one text.
static enum status take_products(struct settings *s, const struct setting *at, struct error *err)
{
    static const char *const keys[] = {"lora_target_modules", "target_modules", "lora_target",
                                       "peft_config.target_modules"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        size_t length = strlen(keys[i]);
        if (strncmp(at->key, keys[i], length) || at->key[length] != '[' || !at->text) continue;
        struct setting *before = (struct setting *)setting_of(s, "lora-target-modules");
        if (!before) return launch_set(s, "lora-target-modules", at->text, err);
        before->text = arena_print(s->arena, "%s, %s", before->text, at->text);
    }
    return OK;
}

// YAML, or the arguments that ms-swift saves (args.json).
static enum status take_pairs(struct settings *s, const struct settings *pairs, struct error *err)
{
    const struct setting *stage = setting_of(pairs, "deepspeed.zero_optimization.stage"),
                         *tuner = setting_of(pairs, "tuner_type");
    bool whole = tuner && tuner->text && !strcmp(tuner->text, "full");
    for (int i = 0; i < pairs->count; i++) {
        const struct setting *at = &pairs->items[i];
        TRY(take_products(s, at, err));
        if (strpbrk(at->key, ".[") || (whole && !strncmp(at->key, "lora", 4))) continue;
        if (!strcmp(at->key, "gradient_checkpointing") && at->text)
            TRY(launch_set(s, "gradient-checkpointing", at->text, err)); // false is a statement
        else TRY(launch_set_value(s, at->key, at->text, err));
    }
    TRY(take_fsdp(s, pairs, err));
    TRY(take_section_names(s, pairs, err));
    if (setting_of(pairs, "base_model") &&
        (setting_of(pairs, "micro_batch_size") || setting_of(pairs, "sequence_len")))
        TRY(take_axolotl(s, pairs, err));
    return stage && stage->text ? launch_set(s, "zero-stage", stage->text, err) : OK;
}

// config.yaml of a run that Weights & Biases saves: each argument stands below its name, as
// "value".
static void take_values(struct settings *pairs)
{
    int kept = 0;
    for (int i = 0; i < pairs->count; i++) {
        struct setting at = pairs->items[i];
        size_t name = strcspn(at.key, ".");
        bool generates = !strcmp(at.key, "max_length.value") && at.text && !strcmp(at.text, "20");
        if (strncmp(at.key + name, ".value", 6) || generates) continue; // 20: of texts it generates
        at.key = arena_print(pairs->arena, "%.*s%s", (int)name, at.key, at.key + name + 6);
        pairs->items[kept++] = at;
    }
    pairs->count = kept;
}

static enum status take_yaml(struct settings *s, struct settings *yaml, struct error *err)
{
    bool saved = setting_of(yaml, "_wandb.value.cli_version");
    if (saved) take_values(yaml);
    s->saved = saved;
    if (dialect_is(yaml)) return dialect_take(s, yaml, err);
    TRY(take_pairs(s, yaml, err));
    return take_sections(s, yaml, err);
}

// YAML, with references only in those whose programs follow them; or JSON.
static enum status read_pairs(struct settings *to, const char *path, struct arena *arena,
                              struct error *err)
{
    if (path_ends_with(path, ".json")) return settings_read_json(to, path, arena, err);
    TRY(settings_read_yaml_raw(to, path, arena, err));
    return dialect_is(to) ? settings_read_yaml(to, path, arena, err) : OK;
}

// The file of settings that a launch names, under what its command states.
static enum status take_config(struct settings *s, const struct asked *asked, struct error *err)
{
    const struct script_command *c = s->launch;
    const struct settings flags = *s;
    struct settings yaml;
    bool states = false;
    for (int i = 0; i < s->count; i++) states |= strstr(s->items[i].key, "batch-size") != NULL;
    if (!c->config_path && states)
        return said_assume(&s->said, "what is not here is in %.80s, another file", c->config), OK;
    TRY(launch_check_file(s, asked->import.path, err));
    TRY(read_pairs(&yaml, c->config_path, s->arena, err));
    for (int i = 0; i < c->count; i++) { // NAME=value, over the file's
        size_t name = strcspn(c->words[i], "=");
        if (!isalpha((unsigned char)*c->words[i]) || !c->words[i][name]) continue;
        settings_replace(&yaml, arena_print(s->arena, "%.*s", (int)name, c->words[i]),
                         c->words[i] + name + 1, c->line);
    }
    s->items = NULL, s->count = s->capacity = 0;
    TRY(take_yaml(s, &yaml, err));
    for (int i = 0; i < flags.count; i++)
        settings_replace(s, flags.items[i].key, flags.items[i].text, 0);
    said_assume(&s->said, "settings of %.80s, which the launch names", c->config);
    return OK;
}

static enum status read_files(struct settings *s, const struct asked *asked, struct error *err)
{
    const char *path = asked->import.path;
    const struct launch_asked of = {.rows = asked->importer->rows,
                                    .set = asked->set,
                                    .arguments = asked->arguments,
                                    .launch = asked->launch,
                                    .configs = true};
    if (!path_ends_with(path, ".json") && !path_is_yaml(path)) {
        TRY(launch_read(s, path, &of, asked->import.arena, err));
        if (s->launch) TRY(take_config(s, asked, err));
        if (s->accelerate) TRY(take_accelerate(s, err));
        if (s->program && strstr(s->program, LAUNCH_OF_FMS)) return dialect_take_fms(s, err);
        // A flag alone: the stage is that of a file beside it, else another one's, 0 unless stated.
        struct setting *deepspeed = (struct setting *)setting_of(s, "deepspeed");
        const struct setting *file = setting_of(s, "deepspeed-config");
        if (file && !deepspeed && !setting_of(s, "zero-stage"))
            TRY(launch_set(s, "deepspeed", file->text, err));
        if (deepspeed && !*deepspeed->text)
            deepspeed->text = file && !setting_of(s, "zero-stage") ? file->text : "z0";
        return launch_take_openrlhf(s, err);
    }
    struct settings yaml;
    TRY(read_pairs(&yaml, path, asked->import.arena, err));
    *s = settings_empty(asked->import.arena);
    s->document = yaml.document, s->flags = true;
    return take_yaml(s, &yaml, err);
}

static enum status read_settings(struct settings *s, const struct asked *asked, struct error *err)
{
    TRY(read_files(s, asked, err));
    if (!settings_take_policy(s)) s->policy_alone = s->openrlhf && strstr(s->program, "train_ppo");
    return OK;
}

static const struct run defaults = {.mode = RECOMPUTE_NONE, .adapters.on = -1};

static const struct importer importer = {.name = "trainer",
                                         .framework = FRAMEWORK_ANY,
                                         .defaults = &defaults,
                                         .read = read_settings,
                                         .rows = &hf_trainer_rows,
                                         .run = read_run};

static const struct option_row option_rows[] = {
    ASK_GPUS, ASK_IGNORE, ASK_SEQUENCE, ASK_MICRO_BATCH, ASK_SET, ASK_ARGUMENTS, ASK_LAUNCH,
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_trainer = {
    .name = "trainer",
    .text = "LLaMA-Factory, axolotl, torchtune ... YAML, HF's Trainer, OpenRLHF -> job",
    .usage = "plumbline import trainer CONFIG.yaml|FILE.sh --gpus N [-o job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
