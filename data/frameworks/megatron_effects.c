// Flags that change the model, the layout or the memory, and that a run here cannot state: refused
// by name where what they change is asked for, or assumed not to matter, which is said. From
// Megatron-LM's arguments.py of the versions in megatron_names.c, and its forks'.
#include "data/frameworks/setting.h"

#define MODEL                                                                                      \
    "write only the job (--job, without -o), and take the model from its config.json "             \
    "(plumbline import hf) or from plumbline models"
#define JOB "write only the model (-o, without --job)"

const struct setting_effect megatron_effects[] = {
    // ---- of the model
    {"hybrid-override-pattern hybrid-layer-pattern is-hybrid-model mtp-hybrid-override-pattern",
     EFFECT_ON_MODEL, "", "layers of several kinds, with state spaces: " MODEL},
    {"hybrid-attention-ratio hybrid-mlp-ratio", EFFECT_ON_MODEL, "0 0.0",
     "layers of several kinds, with state spaces: " MODEL},
    {"heterogeneous-layers-config-path heterogeneous-layers-config-encoded-json", EFFECT_ON_MODEL,
     "", "every layer has a shape of its own: " MODEL},
    {"moe-latent-size", EFFECT_ON_MODEL, "0", "experts work on a latent: " MODEL},
    {"mtp-use-repeated-layer", EFFECT_ON_MODEL, "", "all depths share one layer: " MODEL},
    {"decoder-num-layers decoder-seq-length", EFFECT_ON_MODEL, "",
     "an encoder and a decoder: " MODEL},
    {"retro-add-retriever", EFFECT_ON_MODEL, "", "cross attention to retrieved text: " MODEL},
    {"enable-mhc-connections", EFFECT_ON_MODEL, "", "several residual streams: " MODEL},
    {"language-model-type vision-model-type vision-tower image-size", EFFECT_ON_MODEL, "",
     "the shape is in the program, with a tower for images: " MODEL},
    {"freeze-all-layers freeze-LM freeze-llm freeze-ViT freeze-clip-vision-tower", EFFECT_ON_MODEL,
     "", "frozen layers: " MODEL},
    {"mlp-type", EFFECT_ON_MODEL, "standard", "a dense part beside the experts: " MODEL},
    {"tuner-type train-type", EFFECT_ON_MODEL, "full", "frozen weights and adapters: " MODEL},
    {"kd mos memory-centric-tiled-linear", EFFECT_ON_MODEL, "", "another model beside it: " MODEL},
    {"moe-input-feature-slicing", EFFECT_ON_MODEL, "", "experts over slices of tokens: " MODEL},
    {"xielu xiprelu xiprelup no-attn-layernorm no-final-layernorm no-mlp-layernorm "
     "post-layer-norm",
     EFFECT_ON_MODEL, "", "another activation or other norms: " MODEL},
    // ---- of layout and memory
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
    {"cpu-offloading fine-grained-activation-offloading moe-paged-stash checkpoint-in-cpu",
     EFFECT_ON_JOB, "",
     "activations on the host: leave it out, and allow swap in the job's recompute"},
    {"remote-device", EFFECT_ON_JOB, "none", "weights on the host: " JOB},
    {"num-distributed-optimizer-instances", EFFECT_ON_JOB, "1",
     "states shared by a part of the replicas: leave it out for the smallest memory"},
    {"moe-extended-tp", EFFECT_ON_JOB, "", "experts over tensor and expert ranks together: " JOB},
    {"fp32-residual-connection", EFFECT_ON_JOB, "", "residuals in fp32: " JOB},
    {"fp4-format", EFFECT_ON_JOB, "", "FP4: leave it out, and state fp8-format"},
    {"ds-sequence-parallel-fpdt", EFFECT_ON_JOB, "", "sequences in chunks on the host: " JOB},
    {"rollout-batch-size actor-num-nodes actor-num-gpus-per-node rl-prompts-per-eval "
     "perform-rl-step "
     "grpo-prompts-per-step",
     EFFECT_ON_JOB, "", "reinforcement learning, with rollouts beside the training: " JOB},
    {"lora-rank lora-alpha", EFFECT_ASSUMED, "", "adapters are the model's: state them there"},
    // ---- assumed
    {"padding-free packing", EFFECT_ASSUMED, "", "every sequence is full"},
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
    {"use-dynamic-batch-size max-tokens-per-gpu max-seqlen-per-dp-cp-rank", EFFECT_ASSUMED, "",
     "micro-batches have the size stated"},
    {"ademamix-alpha", EFFECT_ASSUMED, "", "the optimizer has two states"},
    {NULL, EFFECT_ASSUMED, NULL, NULL}};
