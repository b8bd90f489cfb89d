// Keys of DeepSpeed's JSON (runtime/config.py, runtime/zero/config.py, runtime/constants.py). What
// the model's code must do is under the key "plumbline", which DeepSpeed ignores.
#include "data/frameworks/setting.h"
#include "data/kinds/schedules.h"

static const struct setting_row rows[] = {
    SAYS("train_batch_size", COUNT, global_batch),
    SAYS("train_micro_batch_size_per_gpu", COUNT, micro_batch),
    SAYS("gradient_accumulation_steps", COUNT, steps),
    WRITES("steps_per_print", COUNT, print_every),
    SAYS("fp16.enabled", TRUE, fp16),
    SAYS("bf16.enabled", TRUE, bf16),
    TAKES("bfloat16.enabled", FLAG, old_bf16),
    TAKES("amp.enabled", FLAG, amp),
    TAKES("torch_autocast.enabled", FLAG, autocast),
    SAYS("data_types.grad_accum_dtype", TEXT, gradients),
    SAYS("communication_data_type", TEXT, sums),
    TAKES("fp32_allreduce", FLAG, wide_sums), // of older releases
    SAYS("zero_optimization.stage", INT, job.layout.zero),
    SAYS("zero_optimization.overlap_comm", RAW, overlap),
    SAYS("zero_optimization.offload_optimizer.device", TEXT, offload),
    SAYS("zero_optimization.offload_optimizer.pin_memory", TRUE, pinned),
    TAKES("zero_optimization.cpu_offload", TEXT, old_offload),
    TAKES("zero_optimization.offload_optimizer.ratio", NUMBER, offload_share),
    TAKES("zero_optimization.offload_param.device", TEXT, parameters),
    LATER("zero_optimization"),
    TAKES("optimizer.type", TEXT, optimizer),
    TAKES("tensor_parallel.autotp_size", INT, job.layout.tensor),
    TAKES("sequence_parallel_size", INT, job.layout.context),
    TAKES("expert_parallel.autoep_size", INT, job.layout.expert),
    TAKES("pipeline.stages", INT, job.layout.pipeline),
    LATER("activation_checkpointing.*"),
    TAKES("compile.deepcompile", FLAG, deep_compile),
    SAYS("plumbline.about", TEXT, about),
    SAYS("plumbline.sequence", COUNT, job.sequence),
    SAYS("plumbline.tensor", INT, job.layout.tensor),
    SAYS("plumbline.context", INT, job.layout.context),
    SAYS("plumbline.pipeline", INT, job.layout.pipeline),
    SAYS("plumbline.expert", INT, job.layout.expert),
    SAYS("plumbline.virtual_stages", INT, job.layout.virtual_stages),
    SAYS("plumbline.sequence_parallel", TRUE, job.layout.sequence_parallel),
    SAYS("plumbline.unfused_attention", UNLESS, job.layout.fused_attention),
    SAYS("plumbline.fp8", TRUE, fp8_model),
    SAYS("plumbline.fused_loss", TRUE, job.fused_loss),
    SAYS("plumbline.compiled", TRUE, job.compiled),
    SAYS("plumbline.unfused_norms", TRUE, job.unfused[UNFUSED_NORMS]),
    SAYS("plumbline.unfused_rotary", TRUE, job.unfused[UNFUSED_ROTARY]),
    SAYS("plumbline.unfused_activation", TRUE, job.unfused[UNFUSED_ACTIVATION]),
    SAYS("plumbline.unfused_loss", TRUE, job.unfused[UNFUSED_LOSS]),
    SAYS("plumbline.gathered_logits", TRUE, job.gathered_logits),
    SAYS("plumbline.scattered_messages", TRUE, job.scattered_messages),
    SAYS_NAME("plumbline.schedule", NAME, job.layout.schedule, schedule_names),
    SAYS_NAME("plumbline.recompute", NAME, mode, recompute_names),
    SAYS_NAME("plumbline.attention_kernel", NAME, job.attention_kernel, attention_kernel_names),
    LATER("plumbline.not_expressed"),
};
// Nothing for a job.
static const char left[] =
    "optimizer.params.* optimizer.* scheduler.* zero_optimization.offload_param.* "
    "zero_optimization.offload_optimizer.* comms_logger.* tensorboard.* wandb.* csv_monitor.* "
    "comet.* monitor_config.* flops_profiler.* autotuning.* elasticity.* hybrid_engine.* "
    "data_efficiency.* curriculum_learning.* compression_training.* quantize_training.* "
    "sparse_attention.* progressive_layer_drop.* eigenvalue.* nebula.* aio.* datastates.* timers.* "
    "tensor_parallel.* expert_parallel.* weight_quantization.*";
// What a job cannot state (runtime/zero/config.py and the sections' own files at edaa72212672).
const struct setting_effect deepspeed_effects[] = {
    {"zero_optimization.zero_hpz_partition_size zero_optimization.mics_shard_size", EFFECT_ON_JOB,
     "1 -1", "weights sharded within a part of the replicas: leave it out"},
    {"zero_optimization.zero_quantized_weights zero_optimization.zero_quantized_gradients "
     "zero_optimization.zero_quantized_nontrainable_weights",
     EFFECT_ON_JOB, "", "weights or gradients travel in 8 bits or fewer: leave it out"},
    {"sparse_attention.*", EFFECT_ON_JOB, "", "sparse attention: leave it out"},
    {"compression_training.* quantize_training.* weight_quantization.*", EFFECT_ASSUMED,
     "false 0 1", "weights are not compressed"},
    {"progressive_layer_drop.enabled data_efficiency.enabled", EFFECT_ASSUMED, "",
     "every layer has all tokens"},
    {"curriculum_learning.enabled elasticity.enabled", EFFECT_ASSUMED, "",
     "sequences and replicas have the stated size"},
    {"autotuning.enabled", EFFECT_ASSUMED, "", "batch and stage are as stated"},
    {"hybrid_engine.enabled", EFFECT_ASSUMED, "", "nothing is generated in between"},
    {"zero_optimization.zeropp_loco_param.*", EFFECT_ASSUMED, "", "gradients are not compressed"},
    {"bf16.bf16_master_weights_and_grads bf16.bf16_optimizer_states "
     "fp16.fp16_master_weights_and_grads",
     EFFECT_ON_JOB, "", "the optimizer's copies in 16 bits: leave it out"},
    {"zero_optimization.super_offload zero_optimization.zenflow.*", EFFECT_ON_JOB, "",
     "the optimizer's steps on the host beside the GPU's: leave it out"},
    {"tensor_parallel.tp.*", EFFECT_ON_JOB, "1", "state tensor_parallel.autotp_size"},
    {"pipeline.partition", EFFECT_ASSUMED, "parameters", "layers are split as a plan decides"},
    {"pipeline.activation_checkpoint_interval", EFFECT_ASSUMED, "0 1", "as recompute says"},
    {"gradient_predivide_factor", EFFECT_ASSUMED, "1 1.0", "it takes no time"},
    {NULL, EFFECT_ASSUMED, NULL, NULL}};

const struct setting_rows deepspeed_rows = {.rows = rows,
                                            .count = ARRAY_LENGTH(rows),
                                            .effects = deepspeed_effects,
                                            .names = {deepspeed_names},
                                            .last_parts = true,
                                            .left = left};
