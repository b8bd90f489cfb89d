// Arguments of programs built on Hugging Face's Trainer: LLaMA-Factory (src/llamafactory/hparams at
// ff6d4d12eeb0), ms-swift's sft (swift/arguments at 3602360a562a), DeepSpeedExamples; with '-' for
// '_'.
#include "data/frameworks/setting.h"

static const struct setting_row rows[] = {
    TAKES("per-device-train-batch-size per-gpu-train-batch-size micro-batch-size "
          "train-micro-batch-size-per-gpu",
          COUNT, micro_batch),
    TAKES("gradient-accumulation-steps", COUNT, steps),
    TAKES("cutoff-len max-length max-seq-length max-seq-len model-max-length block-size "
          "max-token-length",
          COUNT, job.sequence),
    TAKES("bf16", FLAG, bf16),
    TAKES("fp16", FLAG, fp16),
    TAKES("torch-dtype dtype", TEXT, dtype),
    TAKES("gradient-checkpointing activation-checkpointing grad-checkpoint "
          "enable-gradient-checkpointing",
          FLAG, checkpointed),
    TAKES("disable-gradient-checkpointing", FLAG, waits),
    TAKES("deepspeed", TEXT, about),
    TAKES("zero-stage", INT, zero_stage),
    TAKES("offload", FLAG, job.layout.offload_optimizer), // of DeepSpeedExamples
    TAKES("fsdp fsdp-sharding-strategy", TEXT, sharding),
    TAKES("config-file", TEXT, accelerate),
    TAKES("optim", TEXT, optimizer),
    TAKES("flash-attn attn-impl attn-implementation", TEXT, backend),
    TAKES("use-flash-attn use-flash-attention use-flash-attention-2", FLAG, flash),
    TAKES("sequence-parallel-size cp-size", INT, ulysses),
    TAKES("model-name-or-path model", TEXT, model),
    TAKES("nproc-per-node num-processes global-world-size", COUNT, processes),
    TAKES("nnodes", COUNT, nodes),
    TAKES("max-prompt-length", COUNT, rollout.prompt),
    TAKES("max-completion-length", COUNT, rollout.answer),
};

static const struct setting_effect effects[] = {
    {"bits", EFFECT_ON_JOB, "16", "weights in fewer bits than 16: leave it out"},
    {"quantization-bit quant-bits load-in-4bit load-in-8bit q-lora use-qlora", EFFECT_ON_JOB, "0",
     "weights in fewer bits than 16: leave it out"},
    {"use-galore use-apollo use-badam use-adam-mini use-muon", EFFECT_ON_JOB, "",
     "an optimizer with other states than Adam's: leave it out"},
    {"stage", EFFECT_ON_JOB, "pt sft", SETTING_OF_OTHERS},
    {"task-type", EFFECT_ON_JOB, "causal_lm",
     "another head, and pairs or lists of sequences: a job has tokens and their loss"},
    // TRL's configurations of DPO, ORPO, CPO, KTO, GRPO and PPO (trl/trainer), which SFT's lacks.
    {"ref-model reward-model rlhf-type beta precompute-ref-log-probs ref-model-init-kwargs "
     "reference-free rpo-alpha sync-ref-model f-divergence-type simpo-gamma cpo-alpha "
     "desirable-weight undesirable-weight num-generations reward-weights reward-model-path kl-coef "
     "cliprange vf-coef",
     EFFECT_ON_OTHERS, "", SETTING_OF_OTHERS},
    {"pure-bf16", EFFECT_ON_JOB, "", "the optimizer's copies in bf16: leave it out"},
    {"tensor-model-parallel-size pipeline-model-parallel-size expert-model-parallel-size "
     "virtual-pipeline-model-parallel-size context-parallel-size hyper-parallel-cp-size "
     "deepspeed-autotp-size parallelism-config",
     EFFECT_ON_JOB, "1", "degrees of another engine than Trainer's: state them in the job"},
    {"split-batches", EFFECT_ON_JOB, "", "the batch of all GPUs: state it for each"},
    {"optimizer-cpu-offload mcore-adapter use-hyper-parallel mixture-of-depths "
     "lisa-activated-layers",
     EFFECT_ON_JOB, "0", "another engine or other layers than Trainer's: state them in the job"},
    {"fp8 fp8-format fp8-recipe", EFFECT_ASSUMED, "", "products are in 16 bits"},
    {"use-kt kt-use-lora-experts", EFFECT_ON_JOB, "", "experts on the host: leave it out"},
    {"auto-find-batch-size", EFFECT_ASSUMED, "", "the batch stated fits"},
    {"fsdp-config", EFFECT_ASSUMED, "", "no more than --fsdp says"},
    {"finetuning-type tuner-type train-type", EFFECT_ASSUMED, "full",
     "adapters and frozen weights are the model's: state them there"},
    {"use-lora use-peft", EFFECT_ASSUMED, "", "adapters are the model's: state them there"},
    {"packing neat-packing padding-free group-by-length", EFFECT_ASSUMED, "",
     "every sequence has the stated length"},
    {"freeze-vit freeze-vision-tower freeze-trainable-layers freeze-llm freeze-aligner "
     "freeze-mlp freeze-backbone freeze-model freeze-vision-model freeze-qllama freeze-parameters "
     "freeze-parameters-ratio freeze-parameters-regex freeze-extra-modules freeze-language-model "
     "freeze-multi-modal-projector unfreeze-lm-head unfreeze-vit-layers tune-mm-mlp-adapter",
     EFFECT_ASSUMED, "", "frozen parts are the model's: state them there"},
    {"vision-select-layer mm-vision-select-layer pretrain-mm-mlp-adapter mm-vision-tower",
     EFFECT_ASSUMED, "", "the tower for images is the model's: state it there"},
    {"lora-dim lora-rank lora-r lora-enable lora-target lora-alpha use-llm-lora use-backbone-lora "
     "reft-rank oft-rank "
     "vera-rank "
     "boft-block-size adapter-length",
     EFFECT_ASSUMED, "", "adapters are the model's: state them there"},
    {"enable-liger-kernel use-liger-kernel use-unsloth", EFFECT_ASSUMED, "",
     "kernels are PyTorch's"},
    {NULL, EFFECT_ASSUMED, NULL, NULL}};

const struct setting_rows hf_trainer_rows = {.rows = rows,
                                             .count = ARRAY_LENGTH(rows),
                                             .effects = effects,
                                             .names = {hf_trainer_names, hf_trainer_fork_names},
                                             .left = "*"};
