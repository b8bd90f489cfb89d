// Programs whose flags have other names: fms-fsdp's, ColossalAI's. See internal.h.
#include "data/import/trainers/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/import/jobs/launch.h"

// ---- fms-fsdp's main_training_*.py (fms_fsdp/config/training.py at 5a296afe42f9), by flags

enum status dialect_take_fms(struct settings *s, struct error *err)
{
    static const struct word names[] = {
        {"batch-size", "micro-batch-size"},     {"seq-length", "max-seq-length"},
        {"sharding-strategy", "fsdp"},          {"model-variant", "model"},
        {"use-torch-compile", "torch-compile"}, {"low-cpu-fsdp", "low-cpu-mem-usage"}};
    static const struct word defaults[] = {
        {"micro-batch-size", "2"}, {"max-seq-length", "4096"}, {"fsdp", "hsdp"}};
    static const struct word words[] = {
        {"fsdp", "full_shard"}, {"hsdp", "hybrid_shard"}, {"ddp", "no_shard"}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        settings_rename(s, names[i].key, names[i].flag);
    for (size_t i = 0; i < ARRAY_LENGTH(defaults); i++)
        TRY(dialect_default(s, defaults[i].key, defaults[i].flag, err));
    struct setting *shards = (struct setting *)setting_of(s, "fsdp"),
                   *part = (struct setting *)setting_of(s, "selective-checkpointing"),
                   *mixed = (struct setting *)setting_of(s, "mixed-precision");
    const struct setting *again = setting_of(s, "fsdp-activation-checkpointing");
    size_t i = 0;
    while (i < ARRAY_LENGTH(words) && strcmp(shards->text, words[i].key) != 0) i++;
    if (i < ARRAY_LENGTH(words)) shards->text = words[i].flag;
    bool recomputes = again && strcasecmp(again->text, "false") != 0;
    if (part && (!recomputes || !strcmp(part->text, "1"))) part->text = "false";
    if (mixed) mixed->text = strcasecmp(mixed->text, "false") ? "bf16" : "no";
    return mixed && !strcmp(mixed->text, "no") ? launch_set(s, "torch-dtype", "float32", err)
                                               : launch_set(s, "bf16", "true", err);
}

// ---- ColossalAI's programs (applications/Colossal-LLaMA/train.py, examples/language), by flags

enum status dialect_take_colossal(struct settings *s, struct error *err)
{
    static const struct word names[] = {{"batch-size", "per-device-train-batch-size"},
                                        {"accumulation-steps", "gradient-accumulation-steps"},
                                        {"max-len", "max-length"},
                                        {"tp", "tensor-parallel-size"},
                                        {"sp", "context-parallel-size"},
                                        {"use-grad-checkpoint", "gradient-checkpointing"},
                                        {"pretrained", "model"},
                                        {"pretrain", "model"},
                                        {"config", "model"}};
    static const struct {
        const char *plugin, *shards;
        const char *stage;
    } plugins[] = {{"zero2_cpu", "shard_grad_op offload", "2"},
                   {"zero2", "shard_grad_op", "2"},
                   {"zero1", "no_shard", "1"},
                   {"gemini", "full_shard", "3"},
                   {"fsdp", "full_shard", "3"},
                   {"ddp", "no_shard", "0"},
                   {"3d", "no_shard", "0"},
                   {"hybrid", "no_shard", "0"}};
    const struct setting *plugin = setting_of(s, "plugin"), *stage = setting_of(s, "zero-stage"),
                         *zero = stage ? stage : setting_of(s, "zero"),
                         *stages = setting_of(s, "pp");
    size_t i = 0;
    for (size_t k = 0; k < ARRAY_LENGTH(names); k++) {
        const struct setting *at = setting_of(s, names[k].key);
        if (at && (*at->text || strcmp(names[k].flag, "model") != 0))
            settings_rename(s, names[k].key, names[k].flag);
    }
    if (!setting_of(s, "per-device-train-batch-size") && !setting_of(s, "micro-batch-size"))
        return refuse(err,
                      "%s: --plugin: expected --batch_size beside it, as ColossalAI's programs of "
                      "language models have it, found none: it trains another model",
                      s->document.path);
    while (i < ARRAY_LENGTH(plugins) && !strstr(plugin->text, plugins[i].plugin)) i++;
    if (i == ARRAY_LENGTH(plugins))
        return refuse(err, "%s: --plugin: expected zero2, gemini, 3d or ddp, found \"%.40s\"",
                      s->document.path, script_shown(plugin->text, s->arena));
    bool three = i > 5;
    if (three && stages && atoi(stages->text) > 1)
        return refuse(err,
                      "%s: --pp: a job of such programs has no stages of layers here: state the "
                      "layout in the job",
                      s->document.path);
    const char *number = three && zero ? zero->text : plugins[i].stage;
    bool one = !strcmp(number, "1");
    settings_rename(s, "plugin", "plugin-of-states");
    if (one) said_assume(&s->said, "ZeRO 1: gradients are shared like its states");
    if (!setting_of(s, "mixed-precision") && !setting_of(s, "bf16") && !setting_of(s, "fp16"))
        TRY(dialect_default(s, "mixed-precision", "fp16", err));
    struct setting *own = (struct setting *)setting_of(s, "zero-stage");
    if (own) own->key = "zero-of-plugin";
    return launch_set(s, "fsdp",
                      one || !strcmp(number, "2") ? three ? "shard_grad_op" : plugins[i].shards
                                                  : plugins[i].shards,
                      err);
}
