// Flags that change the model, the layout or the memory, and that a run here cannot state: refused
// by name where what they change is asked for, or assumed not to matter, which is said. From
// Megatron-LM's arguments.py of the versions in names/megatron.txt, and its forks'.
#include "data/frameworks/setting.h"

#define MODEL                                                                                      \
    "write only the job (--job, without -o), and take the model from its config.json "             \
    "(plumbline import hf) or from plumbline models"
#define JOB "write only the model (-o, without --job)"

const struct setting_effect megatron_effects[] = {
    // ---- of the model
    {"dsa-indexer-topk-freq", EFFECT_ON_MODEL, "1",
     "layers that share what they attend to: " MODEL},
    {"mtp-hybrid-override-pattern", EFFECT_ON_MODEL, "", "layers of several kinds: " MODEL},
    {"heterogeneous-layers-config-path heterogeneous-layers-config-encoded-json", EFFECT_ON_MODEL,
     "", "every layer has a shape of its own: " MODEL},
    {"mtp-use-repeated-layer mtp-shared-weights", EFFECT_ON_MODEL, "",
     "all depths share one layer: " MODEL},
    {"decoder-num-layers decoder-seq-length", EFFECT_ON_MODEL, "",
     "an encoder and a decoder: " MODEL},
    {"retro-add-retriever", EFFECT_ON_MODEL, "", "cross attention to retrieved text: " MODEL},
    {"enable-mhc-connections", EFFECT_ON_MODEL, "", "several residual streams: " MODEL},
    {"language-model-type vision-model-type vision-tower image-size", EFFECT_ON_MODEL, "",
     "the shape is in the program, with a tower for images: " MODEL},
    {"freeze-all-layers freeze-LM freeze-llm freeze-ViT freeze-clip-vision-tower freeze-parameters "
     "freeze-parameters-ratio freeze-parameters-regex trainable-parameters "
     "trainable-parameters-regex",
     EFFECT_ON_MODEL, "0 0.0", "frozen layers: " MODEL},
    {"mlp-type", EFFECT_ON_MODEL, "standard", "a dense part beside the experts: " MODEL},
    {"tuner-type train-type", EFFECT_ON_MODEL, "full", "frozen weights and adapters: " MODEL},
    {"kd mos memory-centric-tiled-linear", EFFECT_ON_MODEL, "", "another model beside it: " MODEL},
    {"moe-input-feature-slicing", EFFECT_ON_MODEL, "", "experts over slices of tokens: " MODEL},
    {"xielu xiprelu xiprelup no-attn-layernorm no-final-layernorm no-mlp-layernorm "
     "post-layer-norm",
     EFFECT_ON_MODEL, "", "another activation or other norms: " MODEL},
    {"use-bridge bridge-hf-model", EFFECT_ON_MODEL, "", "the model of a config.json: " MODEL},
    {"noop-layers", EFFECT_ON_MODEL, "", "layers that do nothing: " MODEL},
    {"expansion-factor num-unique-layers", EFFECT_ON_MODEL, "1",
     "layers of other kinds or shared ones: " MODEL},
    {"attn-sliding-window sliding-window-size sink-sliding-window interleave-sliding-window "
     "use-sink-attention attn-sink use-moba-attn kv-compress compress-ratios index-n-heads "
     "index-head-dim index-topk index-topk-pattern attn-res-block-size",
     EFFECT_ON_MODEL, "0", "attention of another kind: " MODEL},
    {"full-attention-interval lfm-layer-types "
     "n-hash-layers num-hash-layers mtp-layer-type",
     EFFECT_ON_MODEL, "0 0.0", "layers of several kinds: " MODEL},
    {"mamba-d-ssm mamba-expand mamba-d-conv mla-use-output-gate kda-use-full-rank-gate "
     "latent-downsample-factor routed-expert-hidden-size o-groups o-lora-rank "
     "mhc-num-residual-streams head-size dim-att",
     EFFECT_ON_MODEL, "0", "a width that is not read: " MODEL},
    {"multi-head-latent-attention num-nextn-predict-layers num-shared-experts num-zero-experts "
     "num-experts-switch moe-model-type",
     EFFECT_ON_MODEL, "0",
     "state multi-latent-attention, mtp-num-layers, num-experts or "
     "moe-shared-expert-intermediate-size in its place"},
    {"num-layers-teacher hidden-size-teacher num-experts-teacher", EFFECT_ON_MODEL, "1",
     "another model beside it: " MODEL},
    {"freeze-weights freeze-params-name-list", EFFECT_ON_MODEL, "", "frozen layers: " MODEL},
    // ---- of layout and memory
    {"data-parallel-replicate-degree", EFFECT_ON_JOB, "1",
     "states sharded by a part of the "
     "replicas: leave it out for the smallest memory"},
    {"outer-dp-sharding-strategy", EFFECT_ON_JOB, "no_shard",
     "states sharded by a part of the replicas: leave it out for the smallest memory"},
    {"zero-bubble-v-schedule patch-zero-bubble patch-primus-pipeline automated-pipeline",
     EFFECT_ON_JOB, "", "another schedule: leave it out, and state the job's (zb-h1, zb-v)"},
    {"pipeline-num-transformer-layers", EFFECT_ON_JOB, "",
     "layers of each stage: state pipeline-model-parallel-layout"},
    {"cpu-offload optimizer-offload-policy compress-optimizer quant-states use-bnb-optimizer "
     "o2-optimizer virtual-optimizer",
     EFFECT_ON_JOB, "none", "states in fewer bits or on the host: leave it out"},
    {"activation-offload-fraction", EFFECT_ON_JOB, "0 0.0 1 1.0",
     "a part of the activations on the host: leave it out, and allow swap in the job's recompute"},
    {"swap-layer-input compress-activation compress-dense adaptive-recompute-device-swap",
     EFFECT_ON_JOB, "", "activations on the host or compressed: leave it out"},
    {"enable-expert-tensor-parallelism", EFFECT_ON_JOB, "",
     "state expert-tensor-parallel-size in its place"},
    {"fp4 fp4-param", EFFECT_ON_JOB, "", "FP4: leave it out, and state fp8-format"},
    {"zero-optimization.offload-param.device zero-optimization.offload-optimizer.device",
     EFFECT_ON_JOB, "none", "states on the host: " JOB},
    {"train-impl", EFFECT_ON_JOB, "normal", SETTING_OF_OTHERS},
    {"rlhf-type teacher-model teacher-model-server reward-model mcore-ref-model", EFFECT_ON_OTHERS,
     "", SETTING_OF_OTHERS},
    {"task-type", EFFECT_ON_JOB, "causal_lm",
     "another head, and pairs or lists of sequences: a job has tokens and their loss"},
    {"moe-weight-parallelism", EFFECT_ON_JOB, "", "experts cut over data ranks: " JOB},
    {"schedules-method moe-fb-overlap", EFFECT_ON_JOB, "",
     "another schedule: leave it out, and state the job's"},
    {"decoder-pipeline-manual-split-list", EFFECT_ON_JOB, "",
     "layers of each stage: state pipeline-model-parallel-layout"},
    {"enable-zero-bubble enable-zbh1-pipeline enable-1f1b-v", EFFECT_ON_JOB, "",
     "another schedule: leave it out, and state the job's (zb-h1, zb-v)"},
    {"encoder-tensor-model-parallel-size encoder-pipeline-model-parallel-size", EFFECT_ON_JOB, "0",
     "ranks of their own for an encoder: " JOB},
    {"pipeline-model-parallel-split-rank standalone-embedding-stage", EFFECT_ON_JOB, "",
     "a stage of its own for embeddings or encoder: " JOB},
    {"tensor-parallel-num-weight-shards expert-tensor-parallel-num-weight-shards", EFFECT_ON_JOB,
     "1", "weights sharded once more over tensor ranks: " JOB},
    {"hierarchical-context-parallel-sizes hybrid-context-parallel", EFFECT_ON_JOB, "",
     "context ranks of two levels: state one of cp-comm-type's p2p, a2a, all_gather"},
    {"cpu-offloading-num-layers", EFFECT_ON_JOB, "0",
     "activations of layers on the host: leave it out, and allow swap in the job's recompute"},
    {"fine-grained-activation-offloading", EFFECT_ASSUMED, "",
     "what offload-modules keep stays on the GPU: memory is planned above the run's, and no copy "
     "takes time"},
    {"cpu-offloading moe-paged-stash checkpoint-in-cpu", EFFECT_ON_JOB, "",
     "activations on the host: leave it out, and allow swap in the job's recompute"},
    {"remote-device", EFFECT_ON_JOB, "none", "weights on the host: " JOB},
    {"num-distributed-optimizer-instances", EFFECT_ON_JOB, "1",
     "states shared by a part of the replicas: leave it out for the smallest memory"},
    {"moe-extended-tp", EFFECT_ON_JOB, "", "experts over tensor and expert ranks together: " JOB},
    {"fp32-residual-connection", EFFECT_ON_JOB, "", "residuals in fp32: " JOB},
    {"fp4-format", EFFECT_ON_JOB, "", "FP4: leave it out, and state fp8-format"},
    {"ds-sequence-parallel-fpdt", EFFECT_ON_JOB, "", "sequences in chunks on the host: " JOB},
    {"train-backend", EFFECT_ON_JOB, "megatron", "a policy trained by another program: " JOB},
    {"rl-prompts-per-eval perform-rl-step grpo-prompts-per-step", EFFECT_ASSUMED, "",
     "the job is one update of the policy: rollouts are no part of it"},
    // ---- assumed
    {"lora lora-r lora-rank lora-alpha lora-target-modules peft peft-dim peft-alpha mcore-adapter "
     "mcore-ref-adapter ref-adapters modules-to-save target-modules",
     EFFECT_ASSUMED, "", "adapters are the model's: state them there"},
    {"freeze-vit freeze-aligner", EFFECT_ASSUMED, "", "a tower is the model's: state it there"},
    {"recompute-activation-function recompute-norm recompute-layer-ids recompute-in-bubble "
     "recompute-in-advance recompute-mla-up-proj recompute-type mhc-recompute-layer-num "
     "moe-adaptive-recompute-activation moe-zero-memory mla-zero-memory checkpoint-factor "
     "partition-activations distribute-saved-activations distribute-checkpointed-activations "
     "enable-recompute-layers-per-pp-rank recompute-granularity-per-stage "
     "recompute-method-per-stage recompute-num-layers-per-stage custom-recompute-layers-per-stage",
     EFFECT_ASSUMED, "0 disable", "recomputation is what recompute-granularity says"},
    {"main-grads-dtype megatron-fsdp-main-grads-dtype megatron-fsdp-main-params-dtype",
     EFFECT_ASSUMED, "fp32 torch.float32 auto", "states have the bytes that other flags say"},
    {"adaptive-seq-len packed-sequence use-packed-attention enable-packed-sequences neat-pack pack",
     EFFECT_ASSUMED, "", "every sequence is full"},
    {"moe-capacity-factor moe-train-capacity-factor moe-token-dropping", EFFECT_ASSUMED, "",
     "no token is dropped"},
    {"shared-expert-gate add-dense-bias add-output-layer-bias conv-bias input-embeds-norm "
     "use-bias-in-norms mamba-use-bias-in-linears disable-bias-attn-fc disable-bias-linear-fc",
     EFFECT_ASSUMED, "", "those weights, less than a thousandth, are not counted"},
    {"mtp-standalone", EFFECT_ASSUMED, "", "prediction layers are in the last stage"},
    {"data-types.grad-accum-dtype communication-data-type fp32-allreduce", EFFECT_ASSUMED, "",
     "gradients are summed as the precision has them"},
    {"te-columnparallel te-rowparallel te-layernorm-mlp te-mha", EFFECT_ASSUMED, "",
     "no layer is in FP8"},
    {"curriculum-learning.enabled", EFFECT_ASSUMED, "", "sequences have their full length"},
    {"tp-2d", EFFECT_ON_JOB, "", "products over two axes of tensor ranks: " JOB},
    {"swap-attention swap-optimizer swap-modules smart-swap use-nanopipe-swap "
     "mla-swap-core-attn-out moe-unperm2-mem-optim-swap "
     "recompute-norm-num-layers recompute-activation-function-num-layers "
     "moe-zero-memory-num-layers",
     EFFECT_ASSUMED, "0",
     "what it moves or makes again is kept: memory is planned above the run's"},
    {"packing-seq-length total-seq-length", EFFECT_ASSUMED, "0", "every sequence is full"},
    {"padding-free packing group-by-length", EFFECT_ASSUMED, "", "every sequence is full"},
    {"exp-avg-dtype exp-avg-sq-dtype main-params-dtype", EFFECT_ASSUMED, "fp32",
     "the optimizer's state has 12 bytes a parameter"},
    {"fp8-param-gather fp4-param-gather", EFFECT_ASSUMED, "", "weights are gathered in 16 bits"},
    {"first-last-layers-bf16 num-layers-at-start-in-bf16 num-layers-at-end-in-bf16", EFFECT_ASSUMED,
     "0", "all layers are in FP8"},
    {"rampup-batch-size step-batch-size-schedule", EFFECT_ASSUMED, "",
     "the batch has its final size"},
    {"transformer-impl", EFFECT_ASSUMED, "transformer_engine", "kernels are Transformer Engine's"},
    {"use-legacy-models", EFFECT_ASSUMED, "", "kernels are Transformer Engine's"},
    {"fp16-lm-cross-entropy", EFFECT_ASSUMED, "", "the loss is in fp32"},
    {"reuse-fp32-param", EFFECT_ASSUMED, "", "weights have a copy in 16 bits of their own"},
    {"rope-scaling-type rope-scaling", EFFECT_ASSUMED, "", "rotary positions are not stretched"},
    {"post-norm post-self-attn-layernorm post-mlp-layernorm", EFFECT_ASSUMED, "",
     "layers have no norms behind their parts"},
    {"context-parallel-algo", EFFECT_ASSUMED, "megatron_cp_algo",
     "context ranks pass keys and values around a ring"},
    {"no-rope-freq", EFFECT_ASSUMED, "", "every layer has rotary positions"},
    {"qk-l2-norm", EFFECT_ASSUMED, "", "queries and keys have no norm"},
    {"delay-wgrad-compute moe-shared-expert-overlap defer-embedding-wgrad-compute "
     "overlap-param-gather-with-optimizer-step overlap-dispatch-backward-with-experts-wgrad",
     EFFECT_ASSUMED, "", "that overlap is not priced"},
    {"moe-expert-rank-capacity-factor", EFFECT_ASSUMED, "", "no rank drops tokens"},
    {"spec", EFFECT_ASSUMED, "", "the layers are what the other flags say"},
    {"use-checkpoint-args use-mp-args-from-checkpoint-args", EFFECT_ASSUMED, "",
     "the checkpoint has the sizes of the flags"},
    {"embed-layernorm", EFFECT_ASSUMED, "", "the embedding has no norm"},
    {"extra-vocab-size", EFFECT_ASSUMED, "0", "the vocabulary given includes it"},
    {"sliding-window", EFFECT_ASSUMED, "", "attention has no window; state window-size"},
    {"random-ltd data-efficiency-curriculum-learning", EFFECT_ASSUMED, "",
     "every layer has all tokens"},
    {"max-seqlen-per-dp-cp-rank", EFFECT_ASSUMED, "", "micro-batches have the size stated"},
    {"ademamix-alpha", EFFECT_ASSUMED, "", "the optimizer has two states"},
    {NULL, EFFECT_ASSUMED, NULL, NULL}};
