// The facts: rows in an order in which the first that applies counts. A row says which programs it
// is about, from when until when, what must hold of the run, the value, and which other values
// remain possible there: a range of four in five holds each of them whole, so what fewer than one
// in ten of its published runs did is none (docs/VALIDATION.md 6). Where a program leaves a switch
// to its user, the row has what its own recipes and examples set. To add one: put it before the
// more general ones of its trait.
#include "data/frameworks/defaults.h"

#define BIT(x) (1U << (x))

enum {
    P_UNKNOWN = BIT(PROGRAM_UNKNOWN),
    P_MEGATRON = BIT(PROGRAM_MEGATRON),
    P_NEMO = BIT(PROGRAM_NEMO),
    P_BRIDGE = BIT(PROGRAM_BRIDGE),
    P_MLPERF = BIT(PROGRAM_MLPERF),
    P_RECIPES = P_NEMO | P_BRIDGE | P_MLPERF, // Megatron-core with recipes of its makers
    P_CORE = P_MEGATRON | P_RECIPES | P_UNKNOWN,
    P_DEEPSPEED = BIT(PROGRAM_DEEPSPEED) | BIT(PROGRAM_MEGATRON_DEEPSPEED),
    P_TITAN = BIT(PROGRAM_TORCHTITAN),
    P_AUTOMODEL = BIT(PROGRAM_AUTOMODEL),
    P_FSDP2 = P_TITAN | P_AUTOMODEL,
    P_FOUNDRY = BIT(PROGRAM_FOUNDRY),
    P_NANOTRON = BIT(PROGRAM_NANOTRON),
    P_TRANSFORMERS = BIT(PROGRAM_TRANSFORMERS),
    P_INTERNEVO = BIT(PROGRAM_INTERNEVO),
    P_OTHER = BIT(PROGRAM_OTHER),
    P_ANY = BIT(PROGRAM_COUNT) - 1,
};

// What must hold of the run.
enum {
    N_FUSES = BIT(0), // the GPU has fused attention
    N_FP8 = BIT(1),
    N_TENSOR = BIT(2),
    N_REPLICAS = BIT(3),
    N_PIPELINE = BIT(4),
    N_CHUNKS = BIT(5),
    N_SCATTERED = BIT(6), // sequence parallel
    N_ZERO_3 = BIT(7),
    N_HALF = BIT(8), // computes in 16 bits or fewer
    N_ZERO_1 = BIT(9),
    N_MIXTURE = BIT(10),
    N_SPREAD = BIT(11), // experts over several ranks
    N_WIDE = BIT(12),   // links that join more GPUs than eight
    N_RINGS = BIT(13),  // of context ranks
    N_FLAT = BIT(14),   // replicas alone: neither tensor ranks nor a pipeline
    N_LATENT = BIT(15), // latent attention
    N_EIGHT = BIT(16),  // computes in 8 bits or fewer
    N_STEP = BIT(17),   // whole iterations are graphs
    N_PARTS = BIT(18),  // parts of a layer are
    N_DEEPSPEED = BIT(19),
    N_BLACKWELL = BIT(20),
    N_UNFUSED = BIT(21), // attention is not fused
    N_HOSTS = BIT(22),   // tensor ranks are on several hosts
    N_SPLIT = BIT(23),   // tensor ranks or a pipeline
    N_EAGER = BIT(24),   // states that it is not compiled
};

static const struct fact {
    enum trait trait;
    unsigned programs, needs;
    int from, until; // YYYYMM: from <= date < until; 0: any
    int value;
    unsigned open;
    const char *why;
    bool by_memory;
    const char *model; // a word in its name; NULL: any
} facts[] = {
    // arguments.py: --bf16, --fp16; recipes: bf16_mixed; MLPerf's config_*.sh: FP8=True
    {TRAIT_PRECISION, P_MLPERF, N_FP8, 202311, 0, FP8, 0, "MLPerf's configurations"},
    {TRAIT_PRECISION, P_NEMO | P_BRIDGE, N_FP8, 0, 0, BF16, BIT(FP8), "recipes have bf16 and fp8"},
    {TRAIT_PRECISION, P_ANY, N_FUSES, 0, 0, BF16, 0, "bf16 from A100 on"},
    {TRAIT_PRECISION, P_ANY, 0, 0, 0, FP16, 0, "no bf16 before A100"},

    // megatron/training/arguments.py: --transformer-impl transformer_engine; --use-flash-attn
    // before. FlashAttention's first release was in 2022-10, Transformer Engine's use of it 0.8.
    // Its rings are "only implemented with Flash Attention" at first (transformer_engine/pytorch/
    // attention.py), later with cuDNN's, too: see te_chooses below.
    {TRAIT_ATTENTION, P_NEMO | P_MEGATRON, N_FUSES | N_RINGS, 202306, 202406, FUSED_OPEN, 0,
     "transformer-engine's rings of the time"},
    // transformer_engine/common/fused_attn/fused_attn.cpp (015d346d): heads of 192 and 128 are
    // fused
    // backward on Blackwell from cuDNN 9.11 on. NVIDIA/dgxc-benchmarking's launch scripts recompute
    // core_attn there until NeMo 25.04, not with 25.07 (v25.07, v25.08).
    {TRAIT_ATTENTION, P_CORE, N_FUSES | N_BLACKWELL | N_LATENT, 0, 202507, UNFUSED_ATTENTION, 0,
     "no fused kernel of such heads before cuDNN 9.11"},
    // NVIDIA/cudnn-frontend, benchmark/sdpa_benchmark_training: Hopper's kernels since 2024
    {TRAIT_ATTENTION, P_RECIPES, N_FUSES | N_FP8, 202306, 202501, FUSED_EARLIER, 0,
     "transformer-engine of 2024"},
    {TRAIT_ATTENTION, P_MEGATRON, N_FUSES | N_FP8, 202312, 202501, FUSED_EARLIER, 0,
     "transformer-engine of 2024"},
    // NVIDIA/TransformerEngine, release 0.6 (2023-03): cuDNN's fused attention
    {TRAIT_ATTENTION, P_MLPERF, N_FUSES, 202304, 202306, FUSED_EARLIER, 0,
     "transformer-engine since 0.6"},
    {TRAIT_ATTENTION, P_RECIPES, N_FUSES, 202306, 0, FUSED_FASTEST, 0, "transformer-engine"},
    {TRAIT_ATTENTION, P_MEGATRON, N_FUSES, 202312, 0, FUSED_FASTEST, 0, "transformer-engine"},
    // Of 300 published runs of dense models with tensor ranks or a pipeline on H100 and newer 29
    // had FlashAttention, none whole optimizers; 1 of 220 waited for messages.
    {TRAIT_ATTENTION, P_UNKNOWN, N_FUSES | N_FP8 | N_SPLIT, 0, 202501, FUSED_EARLIER, 0, "cuDNN's"},
    {TRAIT_ATTENTION, P_UNKNOWN, N_FUSES | N_FP8 | N_SPLIT, 0, 0, FUSED_FASTEST, 0, "cuDNN's"},
    {TRAIT_ATTENTION, P_UNKNOWN | P_OTHER, N_FUSES | N_FP8, 0, 202501, FUSED_EARLIER,
     BIT(FUSED_OPEN), "cuDNN's or FlashAttention"},
    {TRAIT_ATTENTION, P_UNKNOWN | P_OTHER, N_FUSES | N_FP8, 0, 0, FUSED_FASTEST, BIT(FUSED_OPEN),
     "cuDNN's or FlashAttention"},
    // PyTorch 2.0 (2023-03): scaled_dot_product_attention; no published run of someone's own
    // program since was without
    {TRAIT_ATTENTION, P_OTHER, N_FUSES, 202401, 0, FUSED_OPEN, 0, "PyTorch's own since 2.0"},
    {TRAIT_ATTENTION, P_MEGATRON | P_UNKNOWN | P_OTHER, N_FUSES, 202210, 0, FUSED_OPEN,
     BIT(UNFUSED_ATTENTION), "FlashAttention since 2022-10"},
    // llm-foundry: attn_impl triton until 0.5 (2024-01), flash since
    {TRAIT_ATTENTION, P_FOUNDRY, N_FUSES, 0, 202401, FUSED_TRITON, 0, "attn_impl: triton"},
    {TRAIT_ATTENTION, P_FOUNDRY, N_FUSES, 202401, 0, FUSED_OPEN, 0, "attn_impl: flash"},
    // NVIDIA-NeMo/Automodel 36044ad3, examples/llm_benchmark: of its own models, mixtures, te
    {TRAIT_ATTENTION, P_AUTOMODEL, N_FUSES | N_MIXTURE, 0, 0, FUSED_FASTEST, 0, "attn: te"},
    // torchtitan/models/attention.py: scaled_dot_product_attention; nanotron: flash_attn
    {TRAIT_ATTENTION, P_FSDP2 | P_NANOTRON | P_INTERNEVO, N_FUSES, 0, 0, FUSED_OPEN, 0, "flash"},
    // transformers 4.36 (2023-12): attn_implementation sdpa where torch has it
    {TRAIT_ATTENTION, P_TRANSFORMERS, N_FUSES, 202312, 0, FUSED_OPEN, BIT(UNFUSED_ATTENTION),
     "sdpa since 4.36"},
    // Megatron-DeepSpeed: --use-flash-attn-v2 (2023-08)
    {TRAIT_ATTENTION, P_DEEPSPEED, N_FUSES, 202308, 0, FUSED_OPEN, BIT(UNFUSED_ATTENTION),
     "--use-flash-attn-v2"},
    {TRAIT_ATTENTION, P_ANY, 0, 0, 0, UNFUSED_ATTENTION, 0, "before fused attention"},

    // --sequence-parallel (2022-05, arXiv 2205.05198); recipes: sequence_parallel with tensor ranks
    {TRAIT_SEQUENCE_PARALLEL, P_RECIPES | P_TITAN, N_TENSOR, 202205, 0, 1, 0, "recipes"},
    {TRAIT_SEQUENCE_PARALLEL, P_UNKNOWN, N_TENSOR | N_FP8, 202301, 0, 1, 0,
     "usual with tensor ranks"},
    {TRAIT_SEQUENCE_PARALLEL, P_MEGATRON | P_UNKNOWN | P_NANOTRON | P_OTHER, N_TENSOR, 202301, 0, 1,
     BIT(0), "usual with tensor ranks"},
    {TRAIT_SEQUENCE_PARALLEL, P_ANY, 0, 0, 0, 0, 0, ""},

    // --use-distributed-optimizer (2022-03); recipes: use_distributed_optimizer
    {TRAIT_ZERO, P_RECIPES, N_REPLICAS, 202301, 0, 1, 0, "distributed optimizer"},
    // torchtitan: reshard_after_forward "default": not within a pipeline
    {TRAIT_ZERO, P_TITAN, N_REPLICAS | N_PIPELINE, 0, 0, 2, 0, "reshard_after_forward: default"},
    // Automodel's moe/parallelizer.py; defer_fsdp_grad_sync: scattered behind the last micro-batch
    {TRAIT_ZERO, P_AUTOMODEL, N_REPLICAS | N_MIXTURE, 0, 0, 1, 0, "reshard_after_forward: false"},
    {TRAIT_ZERO, P_FSDP2, N_REPLICAS, 0, 0, 3, 0, "FSDP"},
    {TRAIT_ZERO, P_FOUNDRY, N_REPLICAS, 0, 0, 3, 0, "FULL_SHARD"},
    {TRAIT_ZERO, P_DEEPSPEED, N_REPLICAS | N_PIPELINE, 202210, 0, 1, BIT(0),
     "with a pipeline 1 at most"},
    // Megatron-DeepSpeed's arguments.py: --zero-stage 1
    {TRAIT_ZERO, BIT(PROGRAM_MEGATRON_DEEPSPEED), N_REPLICAS, 202210, 0, 1, BIT(0) | BIT(2),
     "--zero-stage 1"},
    {TRAIT_ZERO, BIT(PROGRAM_DEEPSPEED), N_REPLICAS, 202210, 0, 2, BIT(1) | BIT(3),
     "its user's choice"},
    {TRAIT_ZERO, P_TRANSFORMERS, N_REPLICAS | N_DEEPSPEED, 0, 0, 2, BIT(0) | BIT(1) | BIT(3),
     "DeepSpeed is run for what it shards; its user's choice"},
    {TRAIT_ZERO, P_TRANSFORMERS, N_REPLICAS, 0, 0, 0, BIT(2) | BIT(3), "its user's choice"},
    {TRAIT_ZERO, P_NANOTRON, N_REPLICAS, 0, 0, 0, BIT(1), "zero_stage: 0 or 1"},
    // Replicas alone that do not fit with whole weights are FSDP or ZeRO 3, whoever runs them.
    {TRAIT_ZERO, P_INTERNEVO, N_REPLICAS, 0, 0, 1, 0, "zero1"},
    {TRAIT_ZERO, P_UNKNOWN, N_REPLICAS | N_FLAT, 202301, 0, 1, BIT(3), "as little as fits", true},
    {TRAIT_ZERO, P_UNKNOWN, N_REPLICAS | N_FP8 | N_SPLIT, 0, 0, 1, 0, "distributed optimizer"},
    {TRAIT_ZERO, P_MEGATRON | P_UNKNOWN | P_OTHER, N_REPLICAS, 202301, 0, 1, BIT(0),
     "distributed optimizer"},
    {TRAIT_ZERO, P_ANY, 0, 0, 0, 0, 0, ""},

    // NeMo 2's recipes (nemo/collections/llm/recipes, mixtral_8x7b.py) and scripts/performance
    // (7a8f1cc7, pretrain_deepseek_v3.py): MegatronTokenDropCallback, a capacity factor of 1 to
    // which experts' inputs are padded; Megatron-LM: --moe-expert-capacity-factor, else None
    // pretrain_deepseek_v3.py since ba1ff161 (2025-07-09): DeepEP, which drops none, but on
    // Blackwell
    {TRAIT_FIXED_CAPACITY, P_NEMO, N_MIXTURE | N_LATENT | N_BLACKWELL, 202507, 0, 1, 0,
     "recipes: MegatronTokenDropCallback"},
    {TRAIT_FIXED_CAPACITY, P_NEMO, N_MIXTURE | N_LATENT, 202507, 0, 0, 0, "recipes: DeepEP"},
    {TRAIT_FIXED_CAPACITY, P_NEMO, N_MIXTURE, 202409, 0, 1, 0,
     "recipes: MegatronTokenDropCallback"},
    // DeepSpeed, moe/layer.py: drop_tokens, a capacity_factor of 1 to which experts' rows are
    // padded
    {TRAIT_FIXED_CAPACITY, P_DEEPSPEED, N_MIXTURE, 0, 0, 1, 0, "drop_tokens, a capacity of 1"},
    {TRAIT_FIXED_CAPACITY, P_ANY, 0, 0, 0, 0, 0, ""},

    // torchtitan: grouped_mm since dbb34ccbd, not before Hopper (89cdc43b7 to b301dfa02). DeepSpeed
    // has a loop (moe/experts.py); transformers: grouped_mm since 0642963ba (v5)
    {TRAIT_EXPERT_PRODUCTS, P_TITAN, N_MIXTURE | N_FP8, 202504, 0, EXPERTS_GROUPED, 0, "grouped"},
    {TRAIT_EXPERT_PRODUCTS, P_TITAN, N_MIXTURE, 0, 202605, EXPERTS_SINGLE, 0, "a loop"},
    {TRAIT_EXPERT_PRODUCTS, P_TRANSFORMERS, N_MIXTURE, 202601, 0, EXPERTS_GROUPED,
     BIT(EXPERTS_SINGLE), "grouped_mm since v5"},
    {TRAIT_EXPERT_PRODUCTS, P_ANY, 0, 0, 0, EXPERTS_BY_TRAINER, 0, ""},

    // Megatron-Bridge, scripts/performance/configs of each release, then perf_recipes:
    // cuda_graph_scope attn moe_router moe_preprocess; whole iterations of MXFP8 on GB200 and GB300
    // since 26.06 (v0.5.0), on B300 of some models
    {TRAIT_GRAPHS, P_BRIDGE, N_MIXTURE | N_WIDE | N_EIGHT, 202606, 0, GRAPHS_STEP, 0, "recipes"},
    {TRAIT_GRAPHS, P_BRIDGE, N_MIXTURE | N_EIGHT, 202606, 0, GRAPHS_PARTS,
     BIT(GRAPHS_NONE) | BIT(GRAPHS_STEP), "recipes"},
    {TRAIT_GRAPHS, P_BRIDGE, N_MIXTURE | N_WIDE, 0, 0, GRAPHS_PARTS, 0, "recipes"},
    {TRAIT_GRAPHS, P_RECIPES, N_MIXTURE | N_WIDE, 0, 0, GRAPHS_PARTS, BIT(GRAPHS_NONE), "recipes"},
    {TRAIT_GRAPHS, P_CORE, N_MIXTURE, 202508, 0, GRAPHS_NONE, BIT(GRAPHS_PARTS),
     "off unless stated"},
    {TRAIT_GRAPHS, P_ANY, 0, 0, 0, GRAPHS_NONE, 0, ""},

    // LLaMA-Factory and its like turn gradient_checkpointing on; torchtitan: mode selective, op
    {TRAIT_RECOMPUTE, P_TRANSFORMERS, 0, 0, 0, RECOMPUTE_FULL, BIT(RECOMPUTE_NONE),
     "gradient checkpointing"},
    // its train configurations: selective for 8B, full for 70B and 405B
    {TRAIT_RECOMPUTE, P_TITAN, 0, 0, 0, RECOMPUTE_SELECTIVE, BIT(RECOMPUTE_FULL),
     "activation_checkpoint: selective, full where that does not fit", true},
    {TRAIT_RECOMPUTE, P_FOUNDRY, 0, 0, 0, RECOMPUTE_FULL, BIT(RECOMPUTE_NONE),
     "activation_checkpointing: true"},
    // Megatron-Bridge's recipes of each release: recompute_modules; with FSDP activations go to the
    // host (cpu_offloading_num_layers)
    // NVIDIA/dgxc-benchmarking v25.05 to v25.08, deepseek_v3/*/launch.sh: core_attn where attention
    // is not fused, else mla_up_proj
    {TRAIT_RECOMPUTE, P_NEMO | P_BRIDGE, N_LATENT | N_UNFUSED, 0, 0, RECOMPUTE_SELECTIVE, 0,
     "recipes"},
    {TRAIT_RECOMPUTE, P_NEMO, N_MIXTURE | N_LATENT | N_BLACKWELL, 0, 0, REPEAT_MLA,
     BIT(RECOMPUTE_FULL), "recipes", true},
    // model_configs_h100.csv since 99e5dac6 (2025-07-31)
    {TRAIT_RECOMPUTE, P_NEMO, N_MIXTURE | N_LATENT, 202507, 0, REPEAT_MLA_MLP_MOE, 0, "recipes"},
    {TRAIT_RECOMPUTE, P_NEMO, N_MIXTURE | N_LATENT, 0, 0, REPEAT_MLA, BIT(RECOMPUTE_FULL),
     "recipes", true},
    {TRAIT_RECOMPUTE, P_BRIDGE, N_MIXTURE | N_LATENT, 0, 0, REPEAT_MLA, BIT(RECOMPUTE_NONE),
     "recipes"},
    {TRAIT_RECOMPUTE, P_BRIDGE, N_STEP, 0, 0, RECOMPUTE_NONE, 0, "recipes", false, "gpt-oss"},
    {TRAIT_RECOMPUTE, P_BRIDGE, N_PARTS, 0, 0, RECOMPUTE_NONE, 0, "recipes", false, "gpt-oss"},
    {TRAIT_RECOMPUTE, P_BRIDGE, 0, 0, 0, REPEAT_NORMS_ACT, BIT(RECOMPUTE_NONE), "recipes", false,
     "gpt-oss"},
    {TRAIT_RECOMPUTE, P_BRIDGE, N_ZERO_3, 0, 0, RECOMPUTE_NONE, 0, "recipes"},
    {TRAIT_RECOMPUTE, P_ANY, 0, 0, 0, RECOMPUTE_NONE,
     BIT(RECOMPUTE_SELECTIVE) | BIT(RECOMPUTE_FULL), "as little as fits", true},

    // arguments.py: bf16 sets accumulate_allreduce_grads_in_fp32; recipes of NeMo 2 and Bridge:
    // grad_reduce_in_fp32=False; torchtitan: mixed_precision_reduce float32
    {TRAIT_GRADIENT_BYTES, P_NEMO, N_FP8, 202410, 0, 2, 0, "recipes: grad_reduce_in_fp32 false"},
    {TRAIT_GRADIENT_BYTES, P_NEMO, N_FP8, 202405, 0, 2, BIT(4), "grad_reduce_in_fp32: false"},
    {TRAIT_GRADIENT_BYTES, P_BRIDGE | P_MLPERF, 0, 202311, 0, 2, 0, "gradients are summed in bf16"},
    {TRAIT_GRADIENT_BYTES, P_UNKNOWN, N_FP8, 0, 0, 4, BIT(2), "fp32 sums"},
    // transformers calls an engine: with `deepspeed`, DeepSpeed's, for which accelerate sets 16
    // bits; else autocast over fp32 weights, whose gradients are fp32
    {TRAIT_GRADIENT_BYTES, P_TRANSFORMERS, N_HALF | N_DEEPSPEED, 0, 0, 2, 0,
     "DeepSpeed: the weights' precision"},
    {TRAIT_GRADIENT_BYTES, P_DEEPSPEED | P_AUTOMODEL | P_INTERNEVO, N_HALF, 0, 0, 2, 0,
     "as weights"},
    {TRAIT_GRADIENT_BYTES, P_ANY, 0, 0, 0, 4, 0, "fp32 sums"},

    // --overlap-grad-reduce (2023-07); CommOverlapConfig of the recipes; FSDP's and DDP's hooks;
    // DeepSpeed: overlap_comm false, at ZeRO 3 true
    // Bridge's DeepSeek-V3 and Kimi K2 on H100, v0.2.0 to v0.6.0: overlap_grad_reduce = False
    {TRAIT_OVERLAP, P_BRIDGE, N_REPLICAS | N_SPREAD | N_BLACKWELL, 0, 0, 1, 0,
     "overlap_grad_reduce"},
    {TRAIT_OVERLAP, P_BRIDGE, N_REPLICAS | N_SPREAD | N_LATENT, 0, 0, 0, 0,
     "recipes: not of latent attention on H100"},
    {TRAIT_OVERLAP, P_RECIPES, N_REPLICAS, 202307, 0, 1, 0, "overlap_grad_reduce"},
    {TRAIT_OVERLAP, P_FSDP2 | P_FOUNDRY | P_TRANSFORMERS | P_INTERNEVO, N_REPLICAS, 0, 0, 1, 0,
     "FSDP, DDP"},
    {TRAIT_OVERLAP, P_DEEPSPEED, N_REPLICAS | N_ZERO_3, 0, 0, 1, 0, "overlap_comm at ZeRO 3"},
    {TRAIT_OVERLAP, P_DEEPSPEED, N_REPLICAS, 202301, 0, 0, BIT(1), "overlap_comm: false"},
    // nanotron/trainer.py: with fp32 sums and ZeRO 1 no DDP; sync_gradients_across_dp after the
    // passes, all of it (reduce_scatter=False: "too memory hungry")
    {TRAIT_OVERLAP, P_NANOTRON, N_REPLICAS | N_ZERO_1, 0, 0, 0, 0, "ZeRO 1 without DDP"},
    {TRAIT_OVERLAP, P_NANOTRON, N_REPLICAS, 0, 0, 0, BIT(1), "sums after the last micro-batch"},
    {TRAIT_OVERLAP, P_UNKNOWN, N_REPLICAS | N_FP8, 202307, 0, 1, 0, "overlap of gradient sums"},
    // PyTorch 2.0, torch/distributed/fsdp: gathers in their own stream, BACKWARD_PRE unless stated
    {TRAIT_OVERLAP, P_MEGATRON | P_UNKNOWN | P_OTHER, N_REPLICAS | N_ZERO_3, 202303, 0, 1, 0,
     "weights are gathered ahead"},
    {TRAIT_OVERLAP, P_MEGATRON | P_UNKNOWN | P_OTHER, N_REPLICAS, 202307, 0, 1, BIT(0),
     "overlap of gradient sums"},
    {TRAIT_OVERLAP, P_ANY, 0, 0, 0, 0, 0, ""},

    // overlap_p2p_comm: with interleaved stages since 2023-05; torch's schedules do not wait
    {TRAIT_OVERLAP_MESSAGES, P_MEGATRON | P_RECIPES, N_CHUNKS, 202305, 0, 1, 0, "overlap_p2p_comm"},
    {TRAIT_OVERLAP_MESSAGES, P_UNKNOWN, N_CHUNKS | N_FP8, 0, 0, 1, 0, "overlap of messages"},
    {TRAIT_OVERLAP_MESSAGES, P_UNKNOWN, N_CHUNKS, 202305, 0, 1, BIT(0), "overlap of messages"},
    {TRAIT_OVERLAP_MESSAGES, P_FSDP2, N_PIPELINE, 0, 0, 1, 0, "torch's schedules"},
    {TRAIT_OVERLAP_MESSAGES, P_ANY, 0, 0, 0, 0, 0, ""},

    // Transformer Engine's buffers of these collectives were a host's alone until 2.2 (NVIDIA/
    // TransformerEngine #1470, merged in 2025-03), since then where links and containers let them
    // be more
    {TRAIT_OVERLAP_TENSOR, P_CORE, N_SCATTERED | N_HOSTS, 0, 202504, 0, 0,
     "not over hosts before transformer-engine 2.2"},
    {TRAIT_OVERLAP_TENSOR, P_CORE, N_SCATTERED | N_HOSTS, 202504, 0, 0, BIT(1),
     "over hosts only where buffers are"},
    // --tp-comm-overlap (2023-07): the recipes' CommOverlapConfig(tp_comm_overlap=True)
    {TRAIT_OVERLAP_TENSOR, P_BRIDGE, N_SCATTERED, 0, 0, 0, 0, "recipes", false, "moonlight"},
    {TRAIT_OVERLAP_TENSOR, P_BRIDGE | P_MLPERF, N_SCATTERED | N_FP8, 0, 0, 1, 0, "tp_comm_overlap"},
    {TRAIT_OVERLAP_TENSOR, P_NEMO, N_SCATTERED, 202410, 0, 1, 0, "recipes: tp_comm_overlap"},
    {TRAIT_OVERLAP_TENSOR, P_NEMO, N_SCATTERED, 202307, 0, 1, BIT(0), "tp_comm_overlap"},
    {TRAIT_OVERLAP_TENSOR, P_UNKNOWN, N_SCATTERED | N_FP8, 0, 0, 1, BIT(0),
     "overlap of tensor collectives"},
    {TRAIT_OVERLAP_TENSOR, P_MEGATRON, N_SCATTERED | N_FP8, 202307, 0, 0, BIT(1),
     "--tp-comm-overlap is off unless stated"},
    {TRAIT_OVERLAP_TENSOR, P_ANY, 0, 0, 0, 0, 0, ""},

    // Megatron-LM's mpu/layers.py, async_op=True, after v2.6 (f5345dfa, 2021-10: on unless
    // --no-async-tensor-model-parallel-allreduce; with sequence parallelism, 02bb1f5c, always), for
    // which arguments.py requires CUDA_DEVICE_MAX_CONNECTIONS=1; Transformer Engine's linear.py the
    // same. DeepSpeed turns it off (Megatron-DeepSpeed's arguments.py: "if args.deepspeed").
    {TRAIT_OVERLAP_INPUT_GRADIENTS, P_CORE, N_TENSOR, 202110, 0, 1, 0,
     "input gradients are summed beside weight gradients"},
    {TRAIT_OVERLAP_INPUT_GRADIENTS, P_ANY, 0, 0, 0, 0, 0, ""},

    // torchtitan: compile.enable false; components/quantization/float8.md (b5bcd76c): compile is
    // "required for competitive performance", and all its published float8 runs are compiled
    {TRAIT_COMPILED, P_TITAN, N_EIGHT, 0, 0, 1, 0, "float8 is meant for compiled models"},
    {TRAIT_COMPILED, P_TITAN, 0, 0, 0, 0, BIT(1), "compile is off unless stated"},
    {TRAIT_COMPILED, P_AUTOMODEL, 0, 0, 0, 1, 0, "backend te or enable_compile"},
    {TRAIT_COMPILED, P_ANY, 0, 0, 0, 0, 0, ""},

    {TRAIT_WHOLE_SUMS, P_NANOTRON, N_REPLICAS | N_ZERO_1, 0, 0, 1, 0,
     "ZeRO 1: an all-reduce in fp32"},
    {TRAIT_WHOLE_SUMS, P_ANY, 0, 0, 0, 0, 0, ""},
    // InternEvo c628a8c, hybrid_zero_optim.py: ranks own tensors; the rest is its configs/7B_sft.py
    {TRAIT_OWNER_BROADCASTS, P_INTERNEVO, N_REPLICAS | N_ZERO_1, 0, 0, 1, 0, "owners broadcast"},
    {TRAIT_OWNER_BROADCASTS, P_ANY, 0, 0, 0, 0, 0, ""},

    // transformers' models are eager: LlamaRMSNorm, apply_rotary_pos_emb, act_fn
    {TRAIT_UNFUSED, P_TRANSFORMERS, 0, 0, 0, BIT(UNFUSED_COUNT) - 1, 0, "eager modules"},
    {TRAIT_UNFUSED, P_OTHER, N_EAGER, 0, 0, BIT(UNFUSED_COUNT) - 1, 0, "eager modules"},
    // Megatron-LM's CHANGELOG, core 0.13 (2025-07): "MLA RoPE fusion kernel"; NeMo's DeepSeekConfig
    // before: apply_rope_fusion False
    {TRAIT_UNFUSED, P_CORE, N_LATENT, 0, 202507, BIT(UNFUSED_ROTARY), 0, "before core 0.13"},
    {TRAIT_UNFUSED, P_ANY, 0, 0, 0, 0, 0, ""},

    // Megatron-Bridge, scripts/performance/configs, then perf_recipes: GB200 and GB300 hybridep
    // since v0.2.0 (25.11); x86 nodes alltoall until 26.02, then deepep or hybridep (v0.3.1); a
    // few keep alltoall (moonlight_16b.py). Elsewhere --moe-token-dispatcher-type alltoall.
    {TRAIT_DISPATCHER, P_BRIDGE, N_TENSOR, 0, 0, DISPATCH_ALL_TO_ALL, 0, "recipe", false,
     "moonlight"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD | N_STEP, 0, 0, DISPATCH_HYBRIDEP, 0, "recipes"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD, 0, 202603, DISPATCH_ALL_TO_ALL, BIT(DISPATCH_HYBRIDEP),
     "recipes", false, "gpt-oss"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD | N_WIDE, 0, 0, DISPATCH_ALL_TO_ALL, 0, "recipes", false,
     "gpt-oss"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD | N_LATENT, 202602, 0, DISPATCH_HYBRIDEP, 0, "recipes"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD | N_WIDE, 0, 0, DISPATCH_HYBRIDEP, 0, "recipes"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD | N_LATENT | N_BLACKWELL, 202511, 202602,
     DISPATCH_ALL_TO_ALL, BIT(DISPATCH_HYBRIDEP), "recipes"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD | N_LATENT, 202511, 202602, DISPATCH_DEEPEP, 0,
     "recipes"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD, 202603, 0, DISPATCH_HYBRIDEP, BIT(DISPATCH_ALL_TO_ALL),
     "recipes since 26.02.01", false, "gpt-oss"},
    {TRAIT_DISPATCHER, P_BRIDGE, N_SPREAD, 202603, 0, DISPATCH_HYBRIDEP, 0,
     "recipes since 26.02.01"},
    {TRAIT_DISPATCHER, P_AUTOMODEL, N_SPREAD, 0, 0, DISPATCH_DEEPEP, 0, "dispatcher: deepep"},
    // NeMo: pretrain_deepseek_v3.py since ba1ff161
    {TRAIT_DISPATCHER, P_NEMO, N_SPREAD | N_BLACKWELL, 202507, 0, DISPATCH_ALL_TO_ALL, 0,
     "recipes"},
    {TRAIT_DISPATCHER, P_NEMO, N_SPREAD | N_LATENT, 202507, 0, DISPATCH_DEEPEP, 0, "recipes"},
    {TRAIT_DISPATCHER, P_CORE, N_SPREAD, 202508, 0, DISPATCH_ALL_TO_ALL, BIT(DISPATCH_HYBRIDEP),
     "alltoall, or flex"},
    {TRAIT_DISPATCHER, P_ANY, 0, 0, 0, DISPATCH_ALL_TO_ALL, 0, ""},

    // overlap_moe_expert_parallel_comm (2025-06), off unless stated. Bridge's moe_a2a_overlap on
    // H100: of Qwen3 235B, of DeepSeek-V3 in v0.2.0; recipe_says has those that are known
    {TRAIT_OVERLAP_DISPATCH, P_BRIDGE, N_SPREAD | N_STEP, 0, 0, 1, 0, "recipes"},
    {TRAIT_OVERLAP_DISPATCH, P_RECIPES, N_SPREAD | N_WIDE, 0, 0, 0, 0, "recipes"},
    {TRAIT_OVERLAP_DISPATCH, P_BRIDGE, N_SPREAD | N_BLACKWELL, 0, 0, 0, BIT(1), "recipes"},
    {TRAIT_OVERLAP_DISPATCH, P_BRIDGE, N_SPREAD, 202511, 202603, 1, 0, "recipes", false,
     "235b-a22b"},
    {TRAIT_OVERLAP_DISPATCH, P_BRIDGE, N_SPREAD | N_LATENT, 202511, 202602, 1, 0, "recipes"},
    {TRAIT_OVERLAP_DISPATCH, P_CORE, N_SPREAD, 202506, 0, 0, BIT(1), "off unless stated"},
    {TRAIT_OVERLAP_DISPATCH, P_ANY, 0, 0, 0, 0, 0, ""},

    // NeMo 2's GPTConfig, Bridge's gpt_provider.py: cross_entropy_loss_fusion=True; Megatron-LM:
    // --cross-entropy-loss-fusion
    {TRAIT_FUSED_LOSS, P_RECIPES, 0, 202405, 0, 1, 0, "cross_entropy_loss_fusion"},
    {TRAIT_FUSED_LOSS, P_ANY, 0, 0, 0, 0, 0, ""},

    // torch/distributed/pipelining/stage.py: output_chunks of the last stage, which step() merges
    // and returns; torchtitan e5ef99aab (2025-10-22, #1922): return_outputs=False
    {TRAIT_KEPT_LOGITS, P_TITAN, N_PIPELINE, 0, 202511, 1, 0, "step() returns outputs"},
    {TRAIT_KEPT_LOGITS, P_ANY, 0, 0, 0, 0, 0, ""},

    // Bridge's scripts/performance/utils/overrides.py: cross_entropy_fusion_impl = "te"
    {TRAIT_LOSS_IN_PLACE, P_BRIDGE, 0, 202506, 0, 1, 0, "cross_entropy_fusion_impl: te"},
    {TRAIT_LOSS_IN_PLACE, P_ANY, 0, 0, 0, 0, 0, ""},

    // llm-foundry's yamls: activation_checkpointing_reentrant: false; torch/utils/checkpoint.py:
    // early_stop, recomputation ends with the last tensor that was saved
    // torchtitan's and Automodel's are NO_REENTRANT; torchtitan's early_stop is off since 25413d224
    {TRAIT_STOPPED_RECOMPUTE, P_FOUNDRY | P_AUTOMODEL, 0, 0, 0, 1, 0,
     "checkpoints without re-entry"},
    {TRAIT_STOPPED_RECOMPUTE, P_TITAN, 0, 0, 202509, 1, 0, "checkpoints without re-entry"},
    {TRAIT_STOPPED_RECOMPUTE, P_ANY, 0, 0, 0, 0, 0, ""},

    // torchtitan's context_parallel_rotate_method (c97876e7d, 2024-12, a month after its first
    // context ranks): allgather
    {TRAIT_CONTEXT_KIND, P_TITAN, N_RINGS, 0, 0, CONTEXT_ALL_GATHER, 0, "allgather"},
    {TRAIT_CONTEXT_KIND, P_ANY, 0, 0, 0, CONTEXT_RING, 0, ""},
};

// ---- what a program cannot have

static const struct {
    unsigned programs;
    enum trait trait;
    unsigned values; // bits
} never[] = {
    // torchtitan 0.3, models/*/model: FeedForward is w2(silu(w1 x) w3 x) in all; parallelize.py:
    // tensor ranks are SequenceParallel; FSDP2 has no way to gather or scatter in turn
    {P_TITAN, TRAIT_GATED, BIT(0)},
    {P_TITAN, TRAIT_SEQUENCE_PARALLEL, BIT(0)},
    {P_FSDP2 | P_FOUNDRY, TRAIT_OVERLAP, BIT(0)},
    {P_FSDP2, TRAIT_OVERLAP_MESSAGES, BIT(0)},
    // Tensor collectives in parallel with products: Transformer Engine's, and torchtitan's
    {P_DEEPSPEED | P_FOUNDRY | P_TRANSFORMERS, TRAIT_OVERLAP_TENSOR, BIT(1)},
    {P_ANY & ~(P_FSDP2 | P_OTHER | P_UNKNOWN), TRAIT_COMPILED, BIT(1)},
};

bool program_may(enum program program, enum trait trait, int value)
{
    for (size_t i = 0; i < ARRAY_LENGTH(never); i++)
        if ((never[i].programs & BIT(program)) && never[i].trait == trait &&
            (never[i].values & BIT(value)))
            return false;
    return true;
}

// ---- what applies

static unsigned holds(const struct run_facts *f, const struct run_default *t)
{
    unsigned bits = 0;
    if (f->origin.fuses) bits |= N_FUSES;
    if (f->origin.tensor_cores_fp8) bits |= N_FP8;
    if (f->tensor > 1) bits |= N_TENSOR;
    if (f->tensor > (f->origin.wide ? 4 : 8)) bits |= N_HOSTS;
    if (f->replicas > 1) bits |= N_REPLICAS;
    if (f->context > 1) bits |= N_RINGS;
    if (f->pipeline > 1) bits |= N_PIPELINE;
    bits |= f->pipeline == 1 && f->tensor == 1 ? N_FLAT : N_SPLIT;
    if (f->pipeline > 1 && f->chunks > 1) bits |= N_CHUNKS;
    if (t[TRAIT_PRECISION].value != FP32) bits |= N_HALF;
    if (t[TRAIT_PRECISION].value >= FP8) bits |= N_EIGHT;
    if (t[TRAIT_GRAPHS].value == GRAPHS_STEP) bits |= N_STEP;
    if (t[TRAIT_GRAPHS].value == GRAPHS_PARTS) bits |= N_PARTS;
    if (f->latent) bits |= N_LATENT;
    if (f->mixture) bits |= N_MIXTURE;
    if (f->mixture && f->spread) bits |= N_SPREAD;
    if (f->origin.wide) bits |= N_WIDE;
    if (f->origin.blackwell) bits |= N_BLACKWELL;
    if (t[TRAIT_ATTENTION].value == UNFUSED_ATTENTION) bits |= N_UNFUSED;
    if (f->origin.deepspeed) bits |= N_DEEPSPEED;
    if (f->values[TRAIT_COMPILED] == 0) bits |= N_EAGER;
    if (f->tensor > 1 && t[TRAIT_SEQUENCE_PARALLEL].value > 0) bits |= N_SCATTERED;
    if (t[TRAIT_ZERO].value == 1) bits |= N_ZERO_1;
    if (t[TRAIT_ZERO].value == 3) bits |= N_ZERO_3;
    return bits;
}

// Whether its value is among what must hold of other facts.
static bool decides_others(enum trait trait)
{
    return trait == TRAIT_PRECISION || trait == TRAIT_ATTENTION ||
           trait == TRAIT_SEQUENCE_PARALLEL || trait == TRAIT_ZERO || trait == TRAIT_GRAPHS;
}

static bool applies(const struct fact *x, const struct run_facts *f, unsigned held, int date)
{
    return (x->programs & BIT(f->origin.program)) && !(x->needs & ~held) && x->from <= date &&
           (!x->until || date < x->until) && (!x->model || names_model(f->model, x->model));
}

// Transformer Engine states no kernel, but that it chooses one: with what it had.
static bool te_chooses(const struct run_facts *f, unsigned held, int date)
{
    for (size_t i = 0; i < ARRAY_LENGTH(facts); i++)
        if (facts[i].trait == TRAIT_ATTENTION && applies(&facts[i], f, held, date))
            return facts[i].needs & N_RINGS;
    return false;
}

void run_defaults(struct run_default traits[TRAIT_COUNT], const struct run_facts *facts_of_run)
{
    const struct run_facts *f = facts_of_run;
    const char *why;
    const int *family = family_traits(f, &why);
    // Attention that is stated to be unfused where it could be fused: code of the time before.
    // Latent attention is younger.
    bool old = f->origin.fuses && !f->latent && f->values[TRAIT_ATTENTION] == UNFUSED_ATTENTION;
    int date = old && f->origin.date > 202209 ? 202209 : f->origin.date;
    for (int i = 0; i < TRAIT_COUNT; i++)
        traits[i] = (struct run_default){
            .value = f->values[i], .assumed = f->values[i] == NOT_STATED, .why = ""};
    for (int i = 0; i <= TRAIT_LEARNED_POSITIONS; i++)
        if (traits[i].assumed) traits[i].value = family[i], traits[i].why = why;
    unsigned held = holds(f, traits);
    if (f->values[TRAIT_ATTENTION] == FUSED_FASTEST && te_chooses(f, held, date))
        traits[TRAIT_ATTENTION].assumed = true;
    int done = TRAIT_LEARNED_POSITIONS;
    for (size_t i = 0; i < ARRAY_LENGTH(facts); i++) {
        const struct fact *x = &facts[i];
        if ((int)x->trait <= done || !traits[x->trait].assumed || !applies(x, f, held, date))
            continue;
        done = (int)x->trait;
        int recipe;
        traits[done] = recipe_says(f, (enum trait)done, held & N_EIGHT, &recipe)
                           ? (struct run_default){recipe, true, 0, false, "its recipe"}
                           : (struct run_default){x->value, true, x->open, x->by_memory, x->why};
        if (decides_others((enum trait)done)) held = holds(f, traits);
    }
    struct run_default *attention = &traits[TRAIT_ATTENTION];
    if (!attention->assumed && attention->value == FUSED_FASTEST && (held & N_FP8) && date < 202501)
        *attention = (struct run_default){FUSED_EARLIER, true, 0, false, "of its date"};
}
