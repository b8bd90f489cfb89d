// Keys of nanotron's YAML (src/nanotron/config: config.py, models_config.py, parallelism_config.py
// at 2411b022a75f).
#include "data/frameworks/setting.h"

#define EXPERTS "model.model_config.moe_config."

static const struct setting_row rows[] = {
    TAKES("parallelism.tp", INT, job.layout.tensor),
    TAKES("parallelism.pp", INT, job.layout.pipeline),
    TAKES("parallelism.dp", COUNT, replicas),
    TAKES("parallelism.context_parallel_size", INT, job.layout.context),
    TAKES("parallelism.expert_parallel_size", INT, job.layout.expert),
    TAKES("parallelism.pp_engine", TEXT, schedule),
    TAKES("parallelism.tp_mode", TEXT, reshard),
    TAKES("parallelism.recompute_layer", FLAG, checkpointed),
    TAKES("tokens.sequence_length", COUNT, job.sequence),
    TAKES("tokens.micro_batch_size", INT, job.layout.micro_batch),
    TAKES("tokens.batch_accumulation_per_replica", COUNT, micro_batches),
    TAKES("optimizer.zero_stage", INT, job.layout.zero),
    TAKES("optimizer.accumulate_grad_in_fp32", FLAG, gradients_in_fp32),
    TAKES("optimizer.optimizer_factory.name", TEXT, optimizer),
    TAKES("model.dtype", TEXT, dtype),
    TAKES("model.make_vocab_size_divisible_by", COUNT, padding),
    TAKES("model.model_config.num_hidden_layers", COUNT, layers),
    TAKES("model.model_config.hidden_size", COUNT, shape.hidden),
    TAKES("model.model_config.intermediate_size", COUNT, shape.ffn),
    TAKES("model.model_config.num_attention_heads", COUNT, shape.heads),
    TAKES("model.model_config.num_key_value_heads model.model_config.num_kv_heads", COUNT, groups),
    TAKES("model.model_config.vocab_size", COUNT, shape.vocabulary),
    TAKES("model.model_config.hidden_act model.model_config.activation_function", TEXT, activation),
    TAKES("model.model_config.rms_norm_eps model.model_config.layer_norm_epsilon", NUMBER,
          shape.norm_epsilon),
    TAKES("model.model_config.rope_theta", NUMBER, shape.rotary_base),
    TAKES("model.model_config.tie_word_embeddings", FLAG, shape.tied_embeddings),
    TAKES("model.model_config.attention_bias", FLAG, shape.qkv_bias),
    TAKES(EXPERTS "num_experts", COUNT, experts.experts),
    TAKES(EXPERTS "top_k", COUNT, experts.top_k),
    TAKES(EXPERTS "moe_intermediate_size", COUNT, experts.ffn),
    TAKES(EXPERTS "shared_expert_intermediate_size", COUNT, experts.shared_ffn),
    TAKES(EXPERTS "enable_shared_expert", FLAG, experts.shared_gate),
    LATER(EXPERTS "layers"),
    TAKES("model.model_config.is_llama_config", FLAG, swiglu),
    TAKES("model.model_config.is_qwen2_config", FLAG, swiglu),
    TAKES("model.model_config.is_starcoder2_config", FLAG, unmasked),
    TAKES("model.model_config.grouped_query", FLAG, grouped),
    TAKES("model.model_config.sliding_window_size", COUNT, positions),
    TAKES("model.model_config.attn_pdrop", NUMBER, attention_dropout),
    TAKES("model.model_config.resid_pdrop", NUMBER, hidden_dropout),
};

const struct setting_rows nanotron_rows = {
    .rows = rows,
    .count = ARRAY_LENGTH(rows),
    .effects = nanotron_effects,
    .names = {nanotron_names},
    .last_parts = true,
    .left = "data_stages.* data.* logging.* optimizer.no_load_optim doremi.* lighteval.* general.* "
            "s3_upload.* profiler.* *"};
