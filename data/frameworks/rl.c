// Keys of programs of reinforcement learning (and of tuning in the same programs) that state how
// their policy is trained: veRL's overrides (verl/trainer/config at b178a3cd56f5), NeMo RL's YAML
// (examples/configs), ChatLearn's overrides (template). The first rows have Megatron's names, in
// the section of the policy's trainer.
#include "data/frameworks/setting.h"

#define ACTOR "actor_rollout_ref.actor."
static const struct setting_row rows[] = {
    TAKES("tensor_model_parallel_size tensor_parallel_size", INT, job.layout.tensor),
    TAKES("pipeline_model_parallel_size", INT, job.layout.pipeline),
    TAKES("virtual_pipeline_model_parallel_size", COUNT, stages_of_rank),
    TAKES("context_parallel_size", INT, job.layout.context),
    TAKES("expert_model_parallel_size", INT, job.layout.expert),
    TAKES("expert_tensor_parallel_size", COUNT, expert_tensor),
    TAKES("sequence_parallel", FLAG, job.layout.sequence_parallel),
    TAKES("use_distributed_optimizer distributed_data_parallel_config.use_distributed_optimizer",
          SWITCH, job.layout.zero),
    TAKES("activation_checkpointing", FLAG, checkpointed),
    TAKES("recompute_granularity", TEXT, granularity),
    TAKES("recompute_method", TEXT, method),
    TAKES("recompute_num_layers", COUNT, recomputed),
    TAKES("moe_token_dispatcher_type", TEXT, dispatcher),
    TAKES("moe_flex_dispatcher_backend", TEXT, dispatch_kernels),
    TAKES("moe_enable_deepep", FLAG, deepep),
    TAKES("bf16", FLAG, bf16),
    TAKES("num_gpu", COUNT, processes),

    TAKES(ACTOR "strategy model.strategy runtime_args.train_backend", TEXT, sharding),
    TAKES(ACTOR "ppo_mini_batch_size policy.train_global_batch_size "
                "runtime_args.train_global_batch_size",
          COUNT, global_batch),
    TAKES("data.train_batch_size", COUNT, rollout.batch),
    TAKES("actor_rollout_ref.rollout.n", COUNT, rollout.answers),
    TAKES(ACTOR "ppo_micro_batch_size_per_gpu policy.train_micro_batch_size "
                "runtime_args.train_micro_batch_size data.micro_batch_size_per_gpu",
          COUNT, micro_batch),
    TAKES(ACTOR "use_dynamic_bsz data.use_dynamic_bsz", FLAG, rollout.packs),
    TAKES(ACTOR "ppo_max_token_len_per_gpu data.max_token_len_per_gpu", COUNT, rollout.packed),
    TAKES("data.max_prompt_length models.policy.max_prompt_tokens_length", COUNT, rollout.prompt),
    TAKES("data.max_response_length models.policy.max_response_tokens_length", COUNT,
          rollout.answer),
    TAKES("data.max_length policy.max_total_sequence_length", COUNT, job.sequence),
    TAKES(ACTOR "ulysses_sequence_parallel_size " ACTOR
                "fsdp_config.ulysses_sequence_parallel_size "
                "ulysses_sequence_parallel_size engine.ulysses_sequence_parallel_size",
          INT, ulysses),
    TAKES("actor_rollout_ref.model.enable_gradient_checkpointing "
          "model.enable_gradient_checkpointing",
          FLAG, checkpointed),
    TAKES("actor_rollout_ref.model.path model.path model.partial_pretrain policy.model_name "
          "models.policy.load",
          TEXT, model),
    TAKES(ACTOR "optim.override_optimizer_config.optimizer_cpu_offload", FLAG,
          job.layout.offload_optimizer),
    TAKES(ACTOR "optim.override_optimizer_config.optimizer_offload_fraction", NUMBER,
          offload_share),
    TAKES("policy.precision", TEXT, dtype),
    TAKES("trainer.n_gpus_per_node cluster.gpus_per_node", COUNT, processes),
    TAKES("trainer.nnodes cluster.num_nodes", COUNT, nodes),
};

static const char *const sections[] = {ACTOR "megatron",
                                       ACTOR "megatron.override_transformer_config",
                                       "policy.megatron_cfg",
                                       "policy.dtensor_cfg",
                                       "models.policy_trainer",
                                       "engine",
                                       NULL};

static const struct setting_effect effects[] = {
    {"actor_rollout_ref.model.lora_rank model.lora_rank actor_rollout_ref.model.lora.rank",
     EFFECT_ASSUMED, "0", "adapters are the model's: state them there"},
    {"policy.megatron_cfg.peft.enabled policy.dtensor_cfg.lora_cfg.enabled", EFFECT_ASSUMED, "",
     "adapters are the model's: state them there"},
    {ACTOR "megatron.param_offload " ACTOR "megatron.grad_offload " ACTOR
           "megatron.optimizer_offload " ACTOR "fsdp_config.param_offload " ACTOR
           "fsdp_config.optimizer_offload models.policy_trainer.offload_weights",
     EFFECT_ASSUMED, "", "what is on the host between updates is back while one runs"},
    {ACTOR
     "fsdp_config.offload_policy policy.dtensor_cfg.cpu_offload model.fsdp_config.cpu_offload",
     EFFECT_ON_JOB, "", "states on the host: leave it out"},
    {ACTOR "fsdp_config.fsdp_size", EFFECT_ASSUMED, "-1", "states are sharded over all replicas"},
    {ACTOR "megatron.override_transformer_config.num_layers_in_first_pipeline_stage " ACTOR
           "megatron.override_transformer_config.num_layers_in_last_pipeline_stage "
           "policy.megatron_cfg.num_layers_in_first_pipeline_stage "
           "policy.megatron_cfg.num_layers_in_last_pipeline_stage",
     EFFECT_ASSUMED, "", "stages may have any number of layers"},
    {"policy.sequence_packing.enabled models.policy_trainer.packing", EFFECT_ASSUMED, "",
     "every sequence has the stated length"},
    {NULL, EFFECT_ASSUMED, NULL, NULL}};

// Sections of what is no part of an update.
const struct setting_rows rl_rows = {
    .rows = rows,
    .count = ARRAY_LENGTH(rows),
    .effects = effects,
    .sections = sections,
    .beyond = ACTOR "strategy model.strategy runtime_args.train_backend",
    .names = {nemo_names},
    .last_parts = true,
    .left =
        "algorithm.* reward.* reward_model.* reward_manager.* custom_reward_function.* critic.* "
        "actor_rollout_ref.rollout.* actor_rollout_ref.ref.* global_profiler.* ray_kwargs.* "
        "transfer_queue.* trainer.* data.* optim.* grpo.* ppo.* sft.* dpo.* rm.* "
        "distillation.* loss_fn.* checkpointing.* env.* logger.* cluster.* defaults "
        "policy.generation.* policy.tokenizer.* policy.optimizer.* policy.scheduler.* "
        "models.policy_trainer.free_gpu_memory.* models.ref_policy.* models.reward.* "
        "models.policy.* runtime_args.* runtime_env.* " ACTOR "optim.* " ACTOR "checkpoint.* " ACTOR
        "policy_loss.* " ACTOR "profiler.* " ACTOR "router_replay.* " ACTOR "clip_ratio " ACTOR
        "clip_ratio_low " ACTOR "clip_ratio_high " ACTOR "clip_ratio_c " ACTOR "tau_pos " ACTOR
        "tau_neg " ACTOR "loss_agg_mode " ACTOR "loss_scale_factor " ACTOR "entropy_coeff " ACTOR
        "calculate_entropy " ACTOR "use_kl_loss " ACTOR "use_prefix_grouper " ACTOR
        "use_torch_compile " ACTOR "kl_loss_coef " ACTOR "kl_loss_type " ACTOR "ppo_epochs " ACTOR
        "shuffle " ACTOR "data_loader_seed " ACTOR "grad_clip " ACTOR "load_weight " ACTOR
        "use_fused_kernels " ACTOR "entropy_from_logits_with_chunking " ACTOR
        "entropy_checkpointing " ACTOR "freeze_vision_tower " ACTOR "use_remove_padding " ACTOR
        "use_rollout_log_probs " ACTOR "fsdp_config.* " ACTOR "megatron.use_mbridge " ACTOR
        "megatron.vanilla_mbridge " ACTOR "megatron.use_dist_checkpointing " ACTOR
        "megatron.dist_checkpointing_path " ACTOR "megatron.seed " ACTOR "megatron.dtype " ACTOR
        "megatron.load_weight "
        "actor_rollout_ref.model.use_remove_padding actor_rollout_ref.model.use_shm "
        "actor_rollout_ref.model.trust_remote_code actor_rollout_ref.model.external_lib "
        "actor_rollout_ref.model.lora_alpha actor_rollout_ref.model.target_modules "
        "actor_rollout_ref.model.use_fused_kernels actor_rollout_ref.hybrid_engine "
        "actor_rollout_ref.nccl_timeout actor_rollout_ref.model.custom_chat_template "
        "policy.max_grad_norm policy.make_sequence_length_divisible_by "
        "policy.hf_config_overrides.* "
        "policy.logprob_batch_size policy.dynamic_batching.* policy.sequence_packing.* "
        "policy.generation_batch_size policy.offload_optimizer_for_logprob _override_ "
        "policy.megatron_cfg.optimizer.* policy.megatron_cfg.scheduler.* "
        "policy.megatron_cfg.env_vars.* policy.megatron_cfg.checkpoint.* "
        "policy.dtensor_cfg.env_vars.* policy.dtensor_cfg.lora_cfg.* policy.megatron_cfg.peft.* "
        "policy.dtensor_cfg.custom_parallel_plan policy.dtensor_cfg._v2 policy.dtensor_cfg.enabled "
        "policy.megatron_cfg.enabled policy.dtensor_cfg.cpu_offload policy.is_vlm policy.draft.* "
        "policy.megatron_cfg.freeze_moe_router policy.megatron_cfg.defer_fp32_logits "
        "policy.megatron_cfg.use_fused_linear_logprobs policy.logprob_chunk_size "
        "policy.megatron_cfg.fused_linear_logprobs_chunk_size "
        "policy.megatron_cfg.force_reconvert_from_hf policy.megatron_cfg.converter_type "
        "policy.megatron_cfg.track_moe_metrics "
        "value.* value_loss_fn.* reward_penalties.* data_plane.*"};
