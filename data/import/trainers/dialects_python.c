// XTuner's configurations in Python: those of 0.1 (xtuner/configs, xtuner/model at 9bcd19e3) and
// the TrainerConfig of 1.0 (xtuner/v1). See internal.h.
#include "data/import/trainers/internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/jobs/launch.h"

// ---- 0.1

static bool is_xtuner(const struct settings *pairs)
{
    return setting_of(pairs, "model.type") &&
           (setting_of(pairs, "accumulative_counts") || setting_of(pairs, "optim_wrapper.type"));
}

static const struct word xtuner_words[] = {
    {"batch_size", "per-device-train-batch-size"},
    {"train_dataloader.batch_size", "per-device-train-batch-size"},
    {"accumulative_counts", "gradient-accumulation-steps"},
    {"optim_wrapper.accumulative_counts", "gradient-accumulation-steps"},
    {"max_length", "max-length"},
    {"max_position_embeddings", "max-length"},
    {"sequence_parallel_size", "sequence-parallel-size"},
    {"pack_to_max_length", "packing"},
    {"model.llm.pretrained_model_name_or_path", "model"},
    {"model.llm.quantization_config.load_in_4bit", "load-in-4bit"},
    {"model.llm.quantization_config.load_in_8bit", "load-in-8bit"},
    {"model.use_activation_checkpointing", "gradient-checkpointing"},
    {"model.lora.r", "lora-rank"},
    {"model.llm_lora.r", "lora-rank"},
    {"model.lora.lora_alpha", "lora-alpha"},
    {"model.lora.lora_dropout", "lora-dropout"},
    {"model.lora.use_dora", "use-dora"},
    {"model.freeze_llm", "freeze-llm"},
    {"optim_wrapper.optimizer.type", "optim"},
    {"strategy.config.zero_optimization.stage", "zero-stage"},
    {"strategy.zero_optimization.stage", "zero-stage"},
    {"strategy.config.zero_optimization.offload_optimizer.device", "offload-optimizer-device"},
    {"strategy.zero_optimization.offload_optimizer.device", "offload-optimizer-device"},
    {NULL, NULL}};

static enum status take_xtuner(struct settings *s, const struct settings *pairs, struct error *err)
{
    static const char *const others[] = {"DPO", "ORPO", "Reward", "PPO", NULL};
    static const char *const read[] = {"model.type",
                                       "optim_wrapper.dtype",
                                       "model.llm.torch_dtype",
                                       "model.lora.target_modules",
                                       "model.visual_encoder.type",
                                       "pretrained_model_name_or_path",
                                       "strategy.type"};
    const char *type = settings_text(pairs, "model.type"),
               *strategy = settings_text(pairs, "strategy.type"),
               *dtype = settings_text(pairs, "optim_wrapper.dtype"),
               *products = dialect_list(s, pairs, "model.lora.target_modules"),
               *model = settings_text(pairs, "pretrained_model_name_or_path");
    for (size_t i = 0; i < ARRAY_LENGTH(read); i++) TRY(python_check_known(pairs, read[i], err));
    if (type && has_one_of(type, others))
        return settings_refuse(pairs, "model.type", err, "%.60s: " SETTING_OF_OTHERS, type);
    if (setting_of(pairs, "model.visual_encoder.type"))
        said_assume(&s->said, "%.60s: the tower for images is the model's: state it there", type);
    if (dtype) TRY(dialect_mixed(s, pairs, "optim_wrapper.dtype", err));
    else if (settings_text(pairs, "model.llm.torch_dtype"))
        TRY(launch_set(s, "torch-dtype", settings_text(pairs, "model.llm.torch_dtype"), err));
    if (strategy && strstr(strategy, "FSDP")) TRY(launch_set(s, "fsdp", "full_shard", err));
    if (model && !setting_of(s, "model")) TRY(launch_set(s, "model", model, err));
    if (settings_text(pairs, "model.lora.type") || settings_text(pairs, "model.llm_lora.type"))
        TRY(dialect_default(s, "lora-rank", "8", err));
    bool lora = setting_of(s, "lora-rank") != NULL;
    TRY(launch_set(s, "adapter", lora ? "lora" : "none", err));
    if (lora) TRY(launch_set(s, "lora-target-modules", *products ? products : "all", err));
    return dialect_default(s, "gradient-checkpointing", "true", err);
}

// Other names of a file in Python are its own variables.
const struct dialect dialect_xtuner = {is_xtuner, xtuner_words, "*", NULL, NULL, take_xtuner};

// ---- 1.0

static bool is_xtuner_1(const struct settings *pairs)
{
    const char *text = settings_text(pairs, "trainer");
    return text && strstr(text, "TrainerConfig") != NULL;
}

static const struct word xtuner_1_words[] = {
    {"trainer.global_batch_size", "batch-of-all"},
    {"trainer.dataloader_cfg.pack_max_length", "max-length"},
    {"trainer.sp_size", "sequence-parallel-size"},
    {"trainer.fsdp_cfg.tp_size", "tensor-parallel-size"},
    {"trainer.fsdp_cfg.ep_size", "expert-parallel-size"},
    {"trainer.fsdp_cfg.param_dtype", "dtype"},
    {"trainer.load_from", "model"},
    {NULL, NULL}};

static enum status take_xtuner_1(struct settings *s, const struct settings *pairs,
                                 struct error *err)
{
    static const char *const read[] = {"trainer.fsdp_cfg", "trainer.model_cfg"};
    for (size_t i = 0; i < ARRAY_LENGTH(read); i++) TRY(python_check_known(pairs, read[i], err));
    const char *share = settings_text(pairs, "trainer.fsdp_cfg.recompute_ratio"),
               *again = settings_text(pairs, "trainer.fsdp_cfg.reshard_after_forward"),
               *model = settings_text(pairs, "trainer.model_cfg");
    if (share && atof(share) != 0 && atof(share) != 1)
        return settings_refuse(pairs, "trainer.fsdp_cfg.recompute_ratio", err,
                               "%.20s: which layers are recomputed: state it in the job", share);
    if (model && !setting_of(s, "model")) TRY(launch_set(s, "model", model, err));
    TRY(launch_set(s, "per-device-train-batch-size", "1", err));
    said_assume(&s->said, "a micro-batch is one sequence of pack_max_length tokens, and states are "
                          "sharded by FSDP, as XTuner does");
    TRY(launch_set(s, "gradient-checkpointing", share && atof(share) == 0 ? "false" : "true", err));
    return launch_set(s, "fsdp",
                      again && !strcmp(again, "false") ? "shard_grad_op"
                      : dialect_is_true(pairs, "trainer.fsdp_cfg.cpu_offload")
                          ? "full_shard offload"
                          : "full_shard",
                      err);
}

const struct dialect dialect_xtuner_1 = {is_xtuner_1, xtuner_1_words, "*",
                                         NULL,        NULL,           take_xtuner_1};
