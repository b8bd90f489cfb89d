// The contents of a Megatron-LM argument list, or of the same under other names (NeMo): a model and
// a job.
#ifndef PLUMBLINE_DATA_IMPORT_MEGATRON_ARGUMENTS_H
#define PLUMBLINE_DATA_IMPORT_MEGATRON_ARGUMENTS_H

#include "data/inputs/job.h"
#include "data/inputs/model/model.h"

struct megatron_arguments {
    const char *file;
    int64_t layers, hidden, ffn, heads, groups, head_width, sequence, positions, vocabulary,
        vocabulary_multiple;
    int64_t query_rank, kv_rank, plain_width, rotary_width, value_width;
    int64_t experts, top_k, expert_ffn, shared_ffn, mtp;
    int64_t micro_batch, global_batch, tensor, pipeline, context, expert, layers_of_stage,
        virtual_stages, stages_beside_layout, group, recomputed, processes, nodes;
    int64_t yarn_positions;
    double attention_dropout, hidden_dropout, epsilon, rotary_base, rotary_share, mtp_loss_scale;
    double stretch, interpolation; // factors: Llama 3's; the one for all positions alike
    double yarn, beta_fast, beta_slow, mscale, mscale_all_dim; // YaRN's; yarn 1: none
    const char *normalization, *position_type, *mixtures, *granularity, *method, *backend,
        *optimizer, *fp8, *layout, *rope_type,
        *activation; // of a configuration that names it; NULL: from the flags
    bool grouped, swiglu, squared_relu, no_bias, qkv_bias, qk_norm, untied, latent, shared_gate,
        sequence_parallel, distributed_optimizer, overlapped, bf16, fp16, gradients_in_fp32,
        gradients_in_bf16, selective, flash, gated, fused_loss, stretched;
};

extern const struct megatron_arguments megatron_defaults; // Megatron-LM's own

// BAD_INPUT: sizes are missing, or one flag contradicts the other.
enum status megatron_check(const struct megatron_arguments *a, struct error *err);
// *m and *j have their document's path. gpus 0: as stated in the list.
enum status megatron_model(struct model *m, struct megatron_arguments *a, struct arena *arena,
                           struct error *err);
enum status megatron_job(struct job *j, const struct megatron_arguments *a, int64_t gpus,
                         struct error *err);

#endif
