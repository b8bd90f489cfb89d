// Files and launches of trainers as flags of Hugging Face's: YAML, JSON, Python, and what a script
// names, Accelerate's configuration among it. See internal.h.
#include "data/import/trainers/internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/file.h"
#include "data/base/names.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/launch.h"

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
    if (dialect_is_true(pairs, "fsdp_config.activation_checkpointing") ||
        dialect_is_true(pairs, "fsdp_config.fsdp_activation_checkpointing"))
        TRY(launch_set(s, "gradient-checkpointing", "true", err));
    const char *words = setting_lists(pairs, "fsdp", "full_shard")      ? "full_shard"
                        : setting_lists(pairs, "fsdp", "shard_grad_op") ? "shard_grad_op"
                        : setting_lists(pairs, "fsdp", "hybrid_shard")  ? "hybrid_shard"
                                                                        : NULL;
    bool offloads = setting_lists(pairs, "fsdp", "offload");
    if (setting_of(pairs, "fsdp") && setting_of(pairs, "fsdp")->text) return OK; // in one word
    if (strategy && strategy->text) words = strategy->text;
    else if (!words && again)
        words = dialect_is_true(pairs, again->key) ? "full_shard" : "shard_grad_op";
    else if (!words &&
             (setting_of(pairs, "fsdp_version") || setting_of(pairs, "fsdp_config.fsdp_version")))
        words = "full_shard"; // version 2's
    for (size_t i = 0; i < ARRAY_LENGTH(hosts); i++) offloads |= dialect_is_true(pairs, hosts[i]);
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
        {"parallelism_config.parallelism_config_dp_replicate_size", "dp-replicate-size"},
        {"parallelism_config.parallelism_config_dp_shard_size", "dp-shard-size"},
        {"parallelism_config.parallelism_config_tp_size", "tp-size"},
        {"parallelism_config.parallelism_config_cp_size", "parallelism-config-cp-size"},
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
    if (path_ends_with(path, ".py")) return settings_read_python_file(to, path, arena, err);
    TRY(settings_read_yaml_raw(to, path, arena, err));
    return dialect_is(to) ? settings_read_yaml(to, path, arena, err) : OK;
}

// Flags that are a launcher's, or a program's whose own have other names.
static bool is_launchers(const char *key)
{
    static const char names[] = "nproc-per-node nnodes num-processes deepspeed zero-stage";
    return name_is_listed(names, key, strlen(key));
}

// Flags of a program with keys of its own, as its file has them.
static void take_own_flags(struct settings *pairs, const struct settings *flags)
{
    static const char files[] = "config-path config launcher";
    for (int i = 0; i < flags->count; i++) {
        const struct setting *at = &flags->items[i];
        char *key = arena_copy_text(pairs->arena, at->key);
        if (is_launchers(key) || name_is_listed(files, key, strlen(key))) continue;
        for (char *c = key; *c; c++)
            if (*c == '-') *c = '_';
        settings_replace(pairs, key, *at->text ? at->text : "true", 0);
    }
}

// The file of settings that a launch names, under what its command states; c NULL: none.
static enum status take_config(struct settings *s, const struct asked *asked,
                               const struct script_command *c, struct error *err)
{
    const struct settings flags = *s;
    struct settings yaml = settings_empty(s->arena);
    bool states = false;
    yaml.document = s->document;
    for (int i = 0; i < s->count; i++) states |= strstr(s->items[i].key, "batch-size") != NULL;
    for (int i = 0; c && i < c->count; i++) states |= strstr(c->words[i], "batch_size=") != NULL;
    bool absent = c && !c->config_path && states;
    if (absent) said_assume(&s->said, "what is not here is in %.80s, another file", c->config);
    else if (c) TRY(launch_check_file(s, asked->import.path, err));
    if (c && !absent) TRY(read_pairs(&yaml, c->config_path, s->arena, err));
    for (int i = 0; c && i < c->count; i++) { // NAME=value, over the file's
        size_t name = strcspn(c->words[i], "=");
        if (!isalpha((unsigned char)*c->words[i]) || !c->words[i][name]) continue;
        settings_replace(&yaml, arena_print(s->arena, "%.*s", (int)name, c->words[i]),
                         c->words[i] + name + 1, c->line);
    }
    struct settings own = yaml;
    own.items = TAKE(s->arena, yaml.count, struct setting), own.capacity = yaml.count;
    if (yaml.count) memcpy(own.items, yaml.items, (size_t)yaml.count * sizeof *own.items);
    take_own_flags(&own, &flags);
    dialect_complete(&own, s->program);
    bool dialect = dialect_is(&own);
    if (absent && !dialect) return OK;
    s->items = NULL, s->count = s->capacity = 0;
    TRY(take_yaml(s, dialect ? &own : &yaml, err));
    for (int i = 0; i < flags.count; i++)
        if (!dialect || is_launchers(flags.items[i].key))
            settings_replace(s, flags.items[i].key, flags.items[i].text, 0);
    if (c && !absent) said_assume(&s->said, "settings of %.80s, which the launch names", c->config);
    return OK;
}

static enum status refuse_python(const struct settings *pairs, struct error *err)
{
    const char *whose = setting_of(pairs, "data.micro_bsz") || setting_of(pairs, "data.seq_len")
                            ? "InternEvo's, which plumbline import megatron reads"
                        : setting_of(pairs, "parallel.tensor.mode") ||
                                setting_of(pairs, "parallel.pipeline") ||
                                setting_of(pairs, "fp16.mode") ||
                                setting_of(pairs, "gradient_accumulation")
                            ? "ColossalAI's, whose model and optimizer are the program's: give "
                              "its launch's flags, or state model and job"
                            : "another program's: torchtitan's is read by import torchtitan, "
                              "InternEvo's by import megatron";
    return refuse(err, "%s: expected XTuner's configuration in Python, found %s",
                  pairs->document.path, whose);
}

enum status trainer_files(struct settings *s, const struct asked *asked, struct error *err)
{
    const char *path = asked->import.path;
    const struct launch_asked of = {.rows = asked->importer->rows,
                                    .set = asked->set,
                                    .arguments = asked->arguments,
                                    .launch = asked->launch,
                                    .configs = true};
    if (!path_ends_with(path, ".json") && !path_ends_with(path, ".py") && !path_is_yaml(path)) {
        TRY(launch_read(s, path, &of, asked->import.arena, err));
        if (s->launch || (s->program && !strncmp(s->program, "litgpt ", 7)))
            TRY(take_config(s, asked, s->launch, err));
        if (s->accelerate) TRY(take_accelerate(s, err));
        if (s->program && strstr(s->program, LAUNCH_OF_FMS)) return dialect_take_fms(s, err);
        if (setting_of(s, "plugin")) return dialect_take_colossal(s, err);
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
    if (path_ends_with(path, ".py") && !dialect_is(&yaml)) return refuse_python(&yaml, err);
    return take_yaml(s, &yaml, err);
}
