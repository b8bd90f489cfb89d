// Keys of programs of reinforcement learning (and of tuning in the same programs) that state how
// their policy is trained: veRL's overrides (verl/trainer/config at b178a3cd56f5), NeMo RL's YAML
// (examples/configs), ChatLearn's overrides (template), ROLL's YAML (roll/configs at 8eb27cc2dc34),
// AReaL's YAML (areal/api/cli_args.py at 4aef98d8d818). The first rows have Megatron's names, in
// the section of the policy's trainer.
#include "data/frameworks/setting.h"

#define ACTOR "actor_rollout_ref.actor."
#define EASY "worker.actor." // EasyR1's, a fork of veRL (examples/config.yaml at b44b311)
#define ROLL(key) "actor_train." key " sft_train." key
#define PRIME(key) "trainer.model." key " model." key
// Sections of ROLL's and AReaL's files that are no part of an update.
#define ROLL_REST                                                                                  \
    "hydra.* actor_infer.* reference.* rewards.* reward.* validation.* checkpoint_config.* "       \
    "tracker_kwargs.* system_envs.* train_env_manager.* val_env_manager.* custom_envs.* "          \
    "reward_normalization.* num_gpus_per_node rollout_batch_size reward_pretrain "                 \
    "num_return_sequences_in_group val_sequence_length val_prompt_length max_grad_norm "           \
    "reward_clip reward_norm reward_shift reward_scale norm_mean_type norm_std_type "              \
    "batch_adjust_mode step_reward_gamma step_reward_weight episode_reward_weight lora_alpha "     \
    "lora_target enable_old_logprobs_recompute "
#define ROLL_STRATEGY "strategy_args.strategy_config."
#define ROLL_TRAINER(of)                                                                           \
    of "training_args.* " of "data_args.* " of "model_args.* " of ROLL_STRATEGY                    \
       "param_dtype " of ROLL_STRATEGY "reduce_dtype " of ROLL_STRATEGY                            \
       "reshard_after_forward " of ROLL_STRATEGY "wrap_policy.* " of ROLL_STRATEGY                 \
       "moe_use_grouped_mm " of "system_envs.* " of "sequence_length_round_in_train " of           \
       "sequence_length_round_in_infer " of "sequence_packing_args.* " of "infer_batch_size " of   \
       "max_tokens_per_microbatch_in_infer " of "use_dynamic_batching_in_infer " of                \
       "worker_cls " of "name"
#define AREAL_REST                                                                                 \
    "rollout.* gconfig.* ref.* teacher.* sglang.* vllm.* train_dataset.* valid_dataset.* saver.* " \
    "recover.* evaluator.* stats_logger.* perf_tracer.* scheduler.* launcher.* eval_gconfig.* "    \
    "actor.optimizer.* actor.scheduling_spec.* actor.rejection_sampling.* actor.reward_norm.* "    \
    "actor.adv_norm.* actor.lr_scheduler.* actor.mb_spec.* actor.megatron.ddp.* "                  \
    "actor.scheduling_strategy.* actor.max_new_tokens actor.recompute_logprob actor.lora_alpha "   \
    "actor.lora_rank actor.target_modules actor.peft_type actor.init_from_scratch "                \
    "actor.reward_scaling actor.reward_bias actor.reward_clip actor.overlong_reward_penalty "      \
    "actor.overlong_tokens actor.archon.attn_type "                                                \
    "actor.weight_update_mode actor.group_size actor.dynamic_sampling actor.log_agent_stats_keys " \
    "tokenizer_path"
#define EASY_REST                                                                                  \
    "config worker.rollout.* worker.ref.* worker.reward.* worker.critic.* "                        \
    "worker.hybrid_engine worker.actor.optim.lr worker.actor.optim.weight_decay "                  \
    "worker.actor.optim.betas worker.actor.optim.lr_warmup_ratio "                                 \
    "worker.actor.optim.lr_warmup_steps worker.actor.optim.min_lr_ratio "                          \
    "worker.actor.optim.lr_scheduler_type worker.actor.optim.warmup_style "                        \
    "worker.actor.fsdp.enable_rank0_init worker.actor.fsdp.use_orig_params "                       \
    "worker.actor.fsdp.mp_buffer_dtype "                                                           \
    "worker.actor.model.trust_remote_code worker.actor.model.tokenizer_path "                      \
    "worker.actor.model.lora.alpha worker.actor.model.lora.target_modules "                        \
    "worker.actor.model.lora.exclude_modules "                                                     \
    "worker.actor.micro_batch_size_per_device_for_experience "                                     \
    "worker.actor.max_grad_norm worker.actor.clip_ratio_low "                                      \
    "worker.actor.clip_ratio_high worker.actor.clip_ratio_dual "                                   \
    "worker.actor.loss_avg_mode worker.actor.loss_type worker.actor.ppo_epochs "                   \
    "worker.actor.use_torch_compile worker.actor.tau_positive "                                    \
    "worker.actor.tau_negative worker.actor.is_entropy_reg worker.actor.entropy_coef"

static const struct setting_row rows[] = {
    TAKES("tensor_model_parallel_size tensor_parallel_size", INT, job.layout.tensor),
    TAKES("pipeline_model_parallel_size", INT, job.layout.pipeline),
    TAKES("virtual_pipeline_model_parallel_size", COUNT, stages_of_rank),
    TAKES("context_parallel_size", INT, job.layout.context),
    TAKES("expert_model_parallel_size expert_parallel_size", INT, job.layout.expert),
    TAKES("expert_tensor_parallel_size", COUNT, expert_tensor),
    TAKES("sequence_parallel", FLAG, job.layout.sequence_parallel),
    TAKES("use_distributed_optimizer "
          "distributed_data_parallel_config.use_distributed_optimizer "
          "ddp.use_distributed_optimizer",
          SWITCH, job.layout.zero),
    TAKES("activation_checkpointing", FLAG, checkpointed),
    TAKES("recompute_granularity", TEXT, granularity),
    TAKES("recompute_method", TEXT, method),
    TAKES("recompute_num_layers", COUNT, recomputed),
    TAKES("recompute_modules", RAW, module_list),
    TAKES("fp8", TEXT, fp8),
    TAKES("fp8_recipe", TEXT, fp8_recipe),
    TAKES("tp_comm_overlap", FLAG, job.overlapped_tensor),
    TAKES("overlap_moe_expert_parallel_comm", FLAG, job.overlapped_dispatch),
    TAKES("cross_entropy_loss_fusion", FLAG, job.fused_loss),
    TAKES("cross_entropy_fusion_impl", TEXT, fusion),
    TAKES("cuda_graph_impl", TEXT, graphs),
    TAKES("cuda_graph_modules cuda_graph_scope", RAW, graph_module_list),
    TAKES("moe_token_dispatcher_type", TEXT, dispatcher),
    TAKES("moe_flex_dispatcher_backend", TEXT, dispatch_kernels),
    TAKES("moe_enable_deepep", FLAG, deepep),
    TAKES("bf16", FLAG, bf16),
    TAKES("num_gpu", COUNT, processes),

    TAKES(ACTOR "strategy model.strategy runtime_args.train_backend", TEXT, sharding),
    TAKES(ROLL("strategy_args.strategy_name"), TEXT, sharding),
    LATER("actor.backend allocation_mode"),
    LATER(ROLL("device_mapping")),
    TAKES(ROLL("strategy_args.strategy_config"), TEXT, about),
    TAKES(ROLL("training_args.gradient_accumulation_steps"), COUNT, steps),
    TAKES(ROLL("model_args.disable_gradient_checkpointing"), UNLESS, checkpointed),
    TAKES("actor.ppo_n_minibatches", COUNT, micro_batches),
    TAKES(ACTOR "ppo_mini_batch_size " EASY "global_batch_size policy.train_global_batch_size "
                "runtime_args.train_global_batch_size",
          COUNT, global_batch),
    TAKES("data.train_batch_size data.rollout_batch_size train_dataset.batch_size", COUNT,
          rollout.batch),
    TAKES("actor_rollout_ref.rollout.n worker.rollout.n gconfig.n_samples", COUNT, rollout.answers),
    TAKES(ACTOR "ppo_micro_batch_size_per_gpu " EASY
                "micro_batch_size_per_device_for_update policy.train_micro_batch_size "
                "runtime_args.train_micro_batch_size data.micro_batch_size_per_gpu " ROLL(
                    "training_args.per_device_train_batch_size"),
          COUNT, micro_batch),
    TAKES(ACTOR "ppo_micro_batch_size", COUNT, rollout.at_once), // older
    TAKES(ACTOR "use_dynamic_bsz data.use_dynamic_bsz " ROLL(
              "use_dynamic_batching_in_train") " " ROLL("use_sequence_packing"),
          FLAG, rollout.packs),
    TAKES(ACTOR "ppo_max_token_len_per_gpu data.max_token_len_per_gpu " ROLL(
              "max_tokens_per_microbatch_in_train") " " ROLL("sequence_packing_args.max_"
                                                             "packed_sequence_length_"
                                                             "train") " actor.mb_spec."
                                                                      "max_tokens_per_mb",
          COUNT, rollout.packed),
    TAKES("data.max_prompt_length models.policy.max_prompt_tokens_length prompt_length "
          "train_dataset.max_length",
          COUNT, rollout.prompt),
    TAKES("data.max_response_length models.policy.max_response_tokens_length "
          "response_length "
          "gconfig.max_new_tokens",
          COUNT, rollout.answer),
    TAKES("data.max_length policy.max_total_sequence_length sequence_length", COUNT, job.sequence),
    TAKES(ACTOR
          "ulysses_sequence_parallel_size " EASY "ulysses_size " EASY
          "ulysses_sequence_parallel_size " ACTOR "fsdp_config.ulysses_sequence_parallel_size "
          "ulysses_sequence_parallel_size engine.ulysses_sequence_parallel_size "
          "models.policy_trainer.ulysses_sequence_parallel_size " ROLL("model_args.ulysses_size"),
          INT, ulysses),
    TAKES("actor_rollout_ref.model.enable_gradient_checkpointing " EASY
          "model.enable_gradient_checkpointing model.enable_gradient_checkpointing "
          "actor.gradient_checkpointing",
          FLAG, checkpointed),
    TAKES(EASY "model.model_path actor_rollout_ref.model.path model.path model.partial_pretrain "
               "policy.model_name "
               "models.policy.load pretrain actor.path",
          TEXT, model),
    TAKES(ACTOR "optim.override_optimizer_config.optimizer_cpu_offload", FLAG,
          job.layout.offload_optimizer),
    TAKES(ACTOR "optim.override_optimizer_config.optimizer_offload_fraction", NUMBER,
          offload_share),
    TAKES(ACTOR "optim.override_optimizer_config.use_precision_aware_optimizer", FLAG,
          precision_aware),
    TAKES(ACTOR "optim.override_optimizer_config.main_params_dtype", TEXT, state_types[0]),
    TAKES(ACTOR "optim.override_optimizer_config.exp_avg_dtype", TEXT, state_types[1]),
    TAKES(ACTOR "optim.override_optimizer_config.exp_avg_sq_dtype", TEXT, state_types[2]),
    TAKES("policy.precision actor.dtype " ROLL("model_args.dtype"), TEXT, dtype),
    TAKES("trainer.n_gpus_per_node cluster.gpus_per_node", COUNT, processes),
    TAKES("trainer.nnodes cluster.num_nodes", COUNT, nodes),
    // prime-rl's TOML (packages/prime-rl-configs at 559b4477): of RL, of tuning.
    TAKES("trainer.model.cp model.cp", INT, job.layout.context),
    TAKES("trainer.model.ep model.ep", INT, job.layout.expert),
    TAKES("seq_len trainer.model.seq_len data.seq_len", COUNT, job.sequence),
    TAKES("orchestrator.batch_size data.batch_size", COUNT, rollout.batch),
    TAKES("orchestrator.token_batch_size", COUNT, rollout.packed),
    TAKES("data.micro_batch_size", COUNT, micro_batch),
    TAKES("deployment.num_train_nodes", COUNT, nodes),
    TAKES("deployment.num_train_gpus deployment.gpus_per_node", COUNT, processes),
    TAKES(PRIME("optim_cpu_offload"), FLAG, job.layout.offload_optimizer),
    TAKES(PRIME("dp_replicate"), COUNT, instances),
    TAKES("model.name trainer.model.name", TEXT, model),
    TAKES("policy.megatron_cfg.peft.enabled policy.dtensor_cfg.lora_cfg.enabled actor.use_lora",
          SWITCH, adapters.on),
    TAKES(
        "actor_rollout_ref.model.lora_rank model.lora_rank actor_rollout_ref.model.lora.rank " EASY
        "model.lora.rank policy.dtensor_cfg.lora_cfg.dim policy.megatron_cfg.peft.dim "
        "actor.lora_rank lora_rank " ROLL("model_args.lora_rank") " " PRIME("lora.rank"),
        COUNT, adapters.rank),
    TAKES("actor_rollout_ref.model.target_modules model.target_modules "
          "actor_rollout_ref.model.lora.target_modules " EASY "model.lora.target_modules "
          "policy.dtensor_cfg.lora_cfg.target_modules policy.megatron_cfg.peft.target_modules "
          "actor.target_modules lora_target " ROLL("model_args.lora_target") " " PRIME(
              "lora.target_modules"),
          TEXT, adapters.modules),
    TAKES("policy.dtensor_cfg.lora_cfg.match_all_linear", FLAG, adapters.all),
    LATER(EASY "fsdp.enable_full_shard " ACTOR
               "fsdp_config.reshard_after_forward engine.reshard_after_forward"),
    LATER(PRIME("cp_style") " " PRIME("ac") " " PRIME("ac.mode") " " PRIME("ac.freq")),
    ROW(PRIME("lora.*"), LEFT, job, ONLY_READ, 0, NULL, false),
    ROW(ROLL_REST, LEFT, job, ONLY_READ, 0, NULL, false),
    ROW(ROLL_TRAINER("actor_train."), LEFT, job, ONLY_READ, 0, NULL, false),
    ROW(ROLL_TRAINER("sft_train."), LEFT, job, ONLY_READ, 0, NULL, false),
    ROW(EASY_REST, LEFT, job, ONLY_READ, 0, NULL, false),
    ROW(AREAL_REST, LEFT, job, ONLY_READ, 0, NULL, false),
};

static const char *const sections[] = {ACTOR "megatron",
                                       ACTOR "megatron.override_transformer_config",
                                       "policy.megatron_cfg",
                                       "policy.dtensor_cfg",
                                       "models.policy_trainer",
                                       "engine",
                                       "actor_train.strategy_args.strategy_config",
                                       "sft_train.strategy_args.strategy_config",
                                       "actor.megatron",
                                       NULL};

static const struct setting_names names[] = {
    {"NeMo RL, ChatLearn", "",
     "clear_memory_caches_before_refit refit_buffer_size_gb quant_batch_size quant_calib_size "
     "quant_calib_data disable_modelopt_layer_spec cp_normalize generation_batch_size "
     "pos_clip_ratio neg_clip_ratio meta_init groupgemm kl_coef model_provider_module "
     "use_group_sequence_policy save_hf max_token_in_packing"},
    {"prime-rl", "559b4477",
     "max_steps output_dir clean impl attn compile trust_remote_code "
     "fused_lm_head_token_chunk_size "
     "moe_use_grouped_mm moe_fused_kernel moe_router_dtype ep_comm_backend deepep_num_sms "
     "deepep_token_chunk_size freeze_moe_router reshard_after_forward conversion_dir enabled "
     "num_infer_gpus num_infer_nodes num_infer_replicas type level gpus_per_node max_async_level "
     "bench dump_config dry_run clean_output_dir seed"},
    {NULL, NULL, NULL}};

// Sections of what is no part of an update.
const struct setting_rows rl_rows = {
    .rows = rows,
    .count = ARRAY_LENGTH(rows),
    .effects = rl_effects,
    .within = nemo_effects,
    .sections = sections,
    .beyond = ACTOR "strategy model.strategy runtime_args.train_backend",
    .names = {nemo_names, names},
    .last_parts = true,
    .left =
        "algorithm.* reward.* reward_model.* reward_manager.* custom_reward_function.* critic.* "
        "actor_rollout_ref.rollout.* actor_rollout_ref.ref.* global_profiler.* ray_kwargs.* "
        "transfer_queue.* trainer.* data.* optim.* grpo.* ppo.* sft.* async_rl.* teachers.* "
        "distillation.* on_policy_distillation.* loss_fn.* checkpointing.* env.* logger.* "
        "cluster.* defaults "
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
        "policy.megatron_cfg.track_moe_metrics policy.dtensor_cfg.automodel_kwargs.* "
        "models.partial_rollout_manager.* orchestrator.* inference.* monitors.* run.* log.* ckpt.* "
        "slurm.* weight_broadcast.* wandb.* eval.* loss.* scheduler.* val.* benchmark.* "
        "model.debug.* model.compile.* deployment.* "
        "value.* value_loss_fn.* reward_penalties.* data_plane.*"};
