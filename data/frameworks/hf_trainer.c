// Arguments of programs built on Hugging Face's Trainer: LLaMA-Factory (src/llamafactory/hparams at
// ff6d4d12eeb0), ms-swift's sft (swift/arguments at 3602360a562a), axolotl's YAML
// (src/axolotl/utils/schemas at 067b021c8), DeepSpeedExamples; with '-' for '_'.
#include "data/frameworks/setting.h"

static const struct setting_row rows[] = {
    TAKES("per-device-train-batch-size per-gpu-train-batch-size micro-batch-size "
          "train-micro-batch-size-per-gpu",
          COUNT, micro_batch),
    TAKES("gradient-accumulation-steps", COUNT, steps),
    TAKES("cutoff-len max-length max-seq-length max-seq-len model-max-length block-size "
          "max-token-length sequence-len",
          COUNT, job.sequence),
    TAKES("bf16 bfloat16", FLAG, bf16),
    TAKES("fp16 float16", FLAG, fp16),
    TAKES("torch-dtype dtype", TEXT, dtype),
    TAKES("pure-bf16", FLAG, narrow), // litgpt's and torchtune's, too
    TAKES("gradient-checkpointing activation-checkpointing grad-checkpoint "
          "enable-gradient-checkpointing fsdp-activation-checkpointing",
          FLAG, checkpointed),
    TAKES("disable-gradient-checkpointing", FLAG, waits),
    TAKES("deepspeed", TEXT, about),
    TAKES("zero-stage", INT, zero_stage),
    TAKES("offload", FLAG, job.layout.offload_optimizer), // of DeepSpeedExamples
    TAKES("fsdp fsdp-sharding-strategy", TEXT, sharding),
    TAKES("config-file", TEXT, accelerate),
    TAKES("optim optimizer", TEXT, optimizer),
    TAKES("flash-attn attn-impl attn-implementation", TEXT, backend),
    TAKES("use-flash-attn use-flash-attention use-flash-attention-2 flash-attention", FLAG, flash),
    TAKES("sequence-parallel-size cp-size", INT, ulysses),
    // axolotl's and Accelerate's
    TAKES("tensor-parallel-size parallelism-config-tp-size tp-size", INT, job.layout.tensor),
    TAKES("context-parallel-size sequence-parallel-degree parallelism-config-cp-size", INT,
          job.layout.context),
    TAKES("dp-shard-size parallelism-config-dp-shard-size", COUNT, shards),
    TAKES("dp-replicate-size parallelism-config-dp-replicate-size", COUNT, replicas),
    TAKES("mixed-precision", TEXT, number_format),
    TAKES("offload-optimizer-device", TEXT, offload),
    TAKES("fsdp-offload-params", FLAG, cpu_offload),
    TAKES("use-fsdp", FLAG, fsdp),
    TAKES("use-deepspeed", FLAG, deepspeed),
    TAKES("model-name-or-path model base-model", TEXT, model),
    TAKES("nproc-per-node num-processes global-world-size", COUNT, processes),
    TAKES("nnodes", COUNT, nodes),
    TAKES("finetuning-type tuner-type train-type adapter", TEXT, adapters.way),
    TAKES("use-lora use-peft lora-enable", SWITCH, adapters.on),
    TAKES("lora-rank lora-r lora-dim", COUNT, adapters.rank),
    TAKES("lora-alpha", TEXT, adapters.alpha),
    TAKES("lora-target lora-target-modules target-modules", TEXT, adapters.modules),
    TAKES("lora-dropout", NUMBER, adapters.dropout),
    TAKES("lora-target-linear", FLAG, adapters.all),
    TAKES("load-in-4bit q-lora use-qlora", FLAG, adapters.four),
    TAKES("load-in-8bit", FLAG, adapters.eight),
    TAKES("bits quantization-bit quant-bits", TEXT, adapters.bits),
    TAKES("openrlhf.batch batch-of-all", COUNT, global_batch), // of all GPUs
    LATER("max-new-tokens"),
    LATER("deepspeed-config"),
    LATER("optimizer.momentum"),
    TAKES("max-prompt-length", COUNT, rollout.prompt),
    TAKES("max-completion-length", COUNT, rollout.answer),
};

const struct setting_rows hf_trainer_rows = {.rows = rows,
                                             .count = ARRAY_LENGTH(rows),
                                             .effects = hf_trainer_effects,
                                             .names = {hf_trainer_names, hf_trainer_fork_names},
                                             .left = "*"};
