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
    SAYS("zero_optimization.mics_shard_size", WHOLE, shards),
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

const struct setting_rows deepspeed_rows = {.rows = rows,
                                            .count = ARRAY_LENGTH(rows),
                                            .effects = deepspeed_effects,
                                            .names = {deepspeed_names},
                                            .last_parts = true,
                                            .left = left};
