// Keys of torchtitan 0.2 (torchtitan/config/job_config.py), the last release configured by TOML.
// `toml` and `python` are those that only 0.2 or only 0.3 (config/configs.py) has; 0.3's functions
// are written with the keys of training and parallelism.
#include "data/frameworks/setting.h"
#include "data/kinds/schedules.h"

static const struct setting_row rows[] = {
    SAYS("model.name", TEXT, model),
    SAYS("model.flavor", TEXT, flavor),
    SAYS("model.converters", RAW, converters),
    WRITES("quantize.linear.float8.filter_fqns", RAW, filters),
    TAKES("float8.enable_float8_linear", FLAG, fp8_flag), // until 0.1
    SAYS("optimizer.name", TEXT, optimizer),
    TAKES("optimizer.early_step_in_backward", FLAG, early_step),
    SAYS("training.seq_len", COUNT, job.sequence),
    SAYS("training.local_batch_size training.batch_size", COUNT, local_batch),
    SAYS("training.global_batch_size", WHOLE, global_batch),
    SAYS("training.dtype", TEXT, dtype),
    SAYS("training.mixed_precision_param", TEXT, precision),
    WRITES("training.mixed_precision_reduce", TEXT, sums),
    TAKES("training.enable_cpu_offload", FLAG, cpu_offload),
    SAYS("parallelism.data_parallel_replicate_degree training.data_parallel_replicate_degree",
         COUNT, replicas),
    SAYS("parallelism.data_parallel_shard_degree training.data_parallel_shard_degree", WHOLE,
         shards),
    SAYS("parallelism.fsdp_reshard_after_forward", TEXT, reshard),
    SAYS("parallelism.tensor_parallel_degree training.tensor_parallel_degree", INT,
         job.layout.tensor),
    SAYS("parallelism.context_parallel_degree experimental.context_parallel_degree", INT,
         job.layout.context),
    SAYS_IF(toml, "parallelism.context_parallel_rotate_method", TEXT, rotate),
    SAYS_IF(python, "parallelism.enable_sequence_parallel", FLAG, job.layout.sequence_parallel),
    SAYS_IF(toml, "parallelism.disable_loss_parallel", FLAG, job.gathered_logits),
    SAYS_IF(toml,
            "parallelism.enable_async_tensor_parallel compile.enable_async_tensor_parallel "
            "experimental.enable_async_tensor_parallel",
            FLAG, job.overlapped_tensor),
    SAYS("parallelism.pipeline_parallel_degree experimental.pipeline_parallel_degree", INT,
         job.layout.pipeline),
    SAYS("parallelism.pipeline_parallel_schedule experimental.pipeline_parallel_schedule", TEXT,
         schedule),
    SAYS("parallelism.pipeline_parallel_schedule_csv", TEXT, csv),
    SAYS("parallelism.pipeline_parallel_microbatch_size", COUNT, micro_batch),
    SAYS("parallelism.module_fqns_per_model_part", RAW, stages),
    TAKES("parallelism.pipeline_parallel_first_stage_less_layers", COUNT, first_less),
    TAKES("parallelism.pipeline_parallel_last_stage_less_layers", COUNT, last_less),
    TAKES("parallelism.pipeline_parallel_layers_per_stage", COUNT, layers_of_stage),
    SAYS("parallelism.expert_parallel_degree", INT, job.layout.expert),
    SAYS("parallelism.expert_tensor_parallel_degree", COUNT, expert_tensor),
    SAYS("activation_checkpoint.mode", TEXT, granularity),
    SAYS("activation_checkpoint.selective_ac_option", TEXT, method),
    SAYS("compile.enable training.compile", FLAG, compile),
    SAYS("compile.components", RAW, components),
    TAKES("experimental.pipeline_parallel_microbatches parallelism.pipeline_parallel_microbatches",
          COUNT, micro_batches),
    LATER("experimental.pipeline_parallel_split_points"),
    LATER("parallelism.pipeline_parallel_split_points"),
};
// Nothing for a job.
static const char left[] =
    "model.norm_type float8.* training.warmup_steps model.hf_assets_path model.tokenizer_path "
    "model.print_after_conversion quantize.* optimizer.lr optimizer.beta1 optimizer.beta2 "
    "optimizer.eps optimizer.weight_decay optimizer.implementation training.dataset "
    "training.dataset_path training.max_norm training.steps training.gc_freq training.gc_debug "
    "training.dataloader.* parallelism.pipeline_parallel_expert_parallel_overlap "
    "parallelism.context_parallel_load_balancer parallelism.expert_parallel_comm_backend "
    "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns "
    "activation_checkpoint.early_stop activation_checkpoint.memory_budget "
    "activation_checkpoint.visualize_memory_budget_pareto activation_checkpoint.preserve_rng_state "
    "activation_checkpoint.determinism_check activation_checkpoint.debug compile.backend job.* "
    "profiling.* metrics.* lr_scheduler.* model_spec model_spec.* optimizer loss loss.* training "
    "parallelism compile activation_checkpoint hf_assets_path dump_folder dataloader dataloader.* "
    "tokenizer tokenizer.* lr_scheduler metrics checkpoint profiler profiler.* validator "
    "validator.* comm debug override override.* training.disable_cuda_graphs "
    "training.max_context_length training.num_tokens_per_microbatch_per_dp_rank "
    "training.num_tokens_per_train_step parallelism.num_pp_microbatches parallelism.spmd_backend "
    "parallelism.enable_fsdp_symm_mem optimizer.* checkpoint.* comm.* memory_estimation.* "
    "fault_tolerance.* experimental.* validation.* debug.*";
static const struct setting_effect effects[] = {
    {"model.norm_type", EFFECT_ASSUMED, "rmsnorm", "norms are the shipped model's"},
    {"float8.enable_fsdp_float8_all_gather quantize.linear.float8.enable_fsdp_float8_all_gather",
     EFFECT_ASSUMED, "", "weights are gathered in 16 bits"},
    {"fault_tolerance.enable", EFFECT_ASSUMED, "",
     "one group of replicas, whose gradients are summed in every step"},
    {"parallelism.pipeline_parallel_expert_parallel_overlap", EFFECT_ASSUMED, "",
     "that overlap is not priced"},
    {"parallelism.expert_parallel_comm_backend", EFFECT_ASSUMED, "standard",
     "tokens travel by all-to-all"},
    {NULL, EFFECT_ASSUMED, NULL, NULL}};
const struct setting_rows torchtitan_rows = {
    .rows = rows, .count = ARRAY_LENGTH(rows), .effects = effects, .left = left};

// The whole models have as many parameters as the shipped documents. A recipe may be of another
// size: the flavor replaces its model.
const struct torchtitan_flavor torchtitan_flavors[] = {
    {"llama3", "debugmodel", NULL, NULL, 6, NULL, false},
    {"llama3", "1B", "llama-3.2-1b", "llama3_8b", 16, "0.3", false},
    {"llama3", "3B", "llama-3.2-3b", "llama3_8b", 28, "0.3", false},
    {"llama3", "8B", "llama-3.1-8b", "llama3_8b", 32, NULL, true},
    {"llama3", "70B", "llama-3.1-70b", "llama3_70b", 80, NULL, false},
    {"llama3", "405B", "llama-3.1-405b", "llama3_405b", 126, NULL, false},
    {"llama4", "17bx16e_irope", "llama-4-scout", NULL, 48, "0.2", false},
    {"llama4", "17bx128e_irope", "llama-4-maverick", NULL, 48, "0.2", false},
    {"deepseek_v3", "debugmodel", NULL, NULL, 6, NULL, false},
    {"deepseek_v3", "16B", "deepseek-v2-lite", "deepseek_v3_16b", 27, NULL, false},
    {"deepseek_v3", "236B", "deepseek-v2", "deepseek_v3_671b", 60, NULL, false},
    {"deepseek_v3", "671B", "deepseek-v3", "deepseek_v3_671b", 61, NULL, true},
    {"qwen3", "8B", "qwen3-8b", "qwen3_14b", 36, NULL, true},
    {"qwen3", "32B", "qwen3-32b", "qwen3_32b", 64, NULL, false},
    {"qwen3", "30B-A3B", "qwen3-30b-a3b", "qwen3_30b_a3b", 48, NULL, true},
    {"qwen3", "235B-A22B", "qwen3-235b-a22b", "qwen3_30b_a3b", 94, NULL, false},
    {"gpt_oss", "20b", "gpt-oss-20b", "gpt_oss_20b", 24, NULL, false},
    {"gpt_oss", "120b", "gpt-oss-120b", "gpt_oss_120b", 36, NULL, false},
    {NULL, NULL, NULL, NULL, 0, NULL, false}};

// Those that torch has a class of. Its LoopedBFS runs backwards from the last micro-batch to the
// first; ours starts with the first.
const struct torchtitan_schedule torchtitan_schedules[] = {
    {"1F1B", SCHEDULE_1F1B, WRITTEN_BY_NAME},
    {"GPipe", SCHEDULE_GPIPE, WRITTEN_BY_NAME},
    {"Interleaved1F1B", SCHEDULE_INTERLEAVED, WRITTEN_BY_NAME},
    {"LoopedBFS", SCHEDULE_LOOPED_BFS, WRITTEN_BY_TABLE},
    {"ZBVZeroBubble", SCHEDULE_ZB_V, WRITTEN_BY_NAME},
    {"InterleavedZeroBubble", SCHEDULE_INTERLEAVED, READ_AS_NEAREST},
    {"DualPipeV", SCHEDULE_ZB_V, READ_AS_NEAREST},
    {"GPipe", SCHEDULE_TOKEN_SLICED, WRITTEN_BY_NAME},
    {NULL, SCHEDULE_KIND_COUNT, WRITTEN_BY_NAME}};
