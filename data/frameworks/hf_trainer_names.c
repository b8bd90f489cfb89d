// Arguments of TrainingArguments of two versions of transformers.
#include "data/frameworks/setting.h"

const struct setting_names hf_trainer_names[] = {
    {"transformers", "5.24.0",
     "accelerator-config activation-checkpointing activation-checkpointing-kwargs "
     "adam-beta1 adam-beta2 adam-epsilon auto-find-batch-size average-tokens-across-devices "
     "batch-eval-metrics bf16 bf16-full-eval data-seed dataloader-drop-last "
     "dataloader-in-order dataloader-multiprocessing-context dataloader-num-workers "
     "dataloader-persistent-workers dataloader-pin-memory dataloader-prefetch-factor "
     "ddp-backend ddp-broadcast-buffers ddp-bucket-cap-mb ddp-find-unused-parameters "
     "ddp-static-graph ddp-timeout debug deepspeed disable-tqdm do-eval do-predict do-train "
     "enable-jit-checkpoint eval-accumulation-steps eval-delay eval-do-concat-batches "
     "eval-on-start eval-steps eval-strategy eval-use-gather-object fp16 fp16-full-eval "
     "fsdp fsdp-config full-determinism gradient-accumulation-steps gradient-checkpointing "
     "gradient-checkpointing-kwargs greater-is-better hub-always-push hub-model-id "
     "hub-private-repo hub-revision hub-strategy hub-token ignore-data-skip "
     "include-for-metrics include-num-input-tokens-seen label-names label-smoothing-factor "
     "learning-rate length-column-name liger-kernel-config load-best-model-at-end "
     "local-rank log-level log-level-replica log-on-each-node logging-first-step "
     "logging-nan-inf-filter logging-steps logging-strategy lr-scheduler-kwargs "
     "lr-scheduler-type max-grad-norm max-steps metric-for-best-model neftune-noise-alpha "
     "num-train-epochs optim optim-args optim-target-modules output-dir parallelism-config "
     "per-device-eval-batch-size per-device-train-batch-size prediction-loss-only project "
     "push-to-hub remove-unused-columns report-to restore-callback-states-from-checkpoint "
     "resume-from-checkpoint run-name save-on-each-node save-only-model save-steps "
     "save-strategy save-total-limit seed skip-memory-metrics tf32 torch-compile "
     "torch-compile-backend torch-compile-mode torch-empty-cache-steps trackio-bucket-id "
     "trackio-space-id trackio-static-space-id train-sampling-strategy use-cache use-cpu "
     "use-liger-kernel warmup-steps weight-decay"},
    {"transformers", "4.46.3",
     "adafactor dispatch-batches evaluation-strategy fp16-backend fp16-opt-level "
     "fsdp-min-num-params fsdp-transformer-layer-cls-to-wrap group-by-length "
     "half-precision-backend include-inputs-for-metrics include-tokens-per-second "
     "jit-mode-eval logging-dir mp-parameters no-cuda overwrite-output-dir past-index "
     "per-gpu-eval-batch-size per-gpu-train-batch-size push-to-hub-model-id "
     "push-to-hub-organization push-to-hub-token ray-scope save-safetensors split-batches "
     "torchdynamo tpu-metrics-debug tpu-num-cores use-ipex use-legacy-prediction-loop "
     "use-mps-device warmup-ratio"},
    {NULL, NULL, NULL}};
