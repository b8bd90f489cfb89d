// A run as a framework's configuration states it: the job with its layout, the shape of the model,
// and what frameworks say in other words than our documents. Each key of a framework is a row
// (setting.h) that names the member it states: imports read by the rows, exports write by them.
#pragma once

#include "data/inputs/job.h"
#include "data/inputs/model/model.h"

struct run {
    const char *file; // that is read
    bool wants_model, wants_job;
    struct arena *arena; // of texts and lists that are put together
    struct job job;
    struct shape shape;
    struct expert_shape experts; // of the model's mixtures
    const struct model *known;   // that a recipe names and that is shipped; NULL: none
    // Which keys are written: those of a described model, of attention with latents or without, of
    // heads that do not fill the width, of rotary positions, of mixtures, of layers that predict
    // further tokens, of linear attention; of a form of the file.
    bool linear, shaped, latent, plain, odd_heads, rotary, plain_rotary, mixtures, further, toml,
        python;
    int64_t gpus, processes, nodes; // processes: of a node
    int64_t global_batch, micro_batch, steps;
    bool bf16, fp16;
    int mode; // of recomputation, for all stages
    const char *precision, *optimizer, *gradients, *schedule;
    // Of recomputation; modules: with blanks between them, or as a list in brackets.
    const char *granularity, *method, *modules, *module_list;
    int64_t recomputed;
    const char *stages; // which layers each has
    int64_t layers_of_stage, stages_of_rank;

    // Megatron-LM, NeMo; waits, in_batches: for messages between stages
    int64_t layers, mtp; // decoder layers, and those that predict further tokens
    // Every how many layers has experts; dense layers before the others; experts that all tokens
    // use.
    int64_t expert_interval, dense_first, shared_experts;
    int64_t ffn_multiple; // FlagScale: of 8/3 hidden x ffn_factor, the width is the next multiple
    double ffn_factor;
    int64_t state_bytes; // the job's, as AxoNN's file has them
    int64_t positions, data_sequence, padding, groups, plain_width, group;
    int64_t instances; // groups of data ranks, in each of which states are sharded; 0: not stated
    double attention_dropout, hidden_dropout, offload_share; // of the optimizer's state
    double stretch, interpolation, yarn; // factors: Llama 3's; for all positions alike; YaRN's
    const char *state_types[3];          // of main weights and both moments; NULL: fp32
    const char *gradient_type;           // of the gradients that the optimizer reads; NULL: fp32
    const char *position_type, *rope_type, *frequencies, *dispatcher, *backend, *fusion, *momentum,
        *fp8, *fp8_recipe, *fp4, *router_dtype, *router_score, *balancing;
    double balancing_weight; // of the loss that balances experts
    // Dispatch of experts: whose kernels "flex" uses; tokens of an expert over the mean, above
    // which they are dropped, 0: none are. CUDA graphs, and what they hold, as modules and
    // module_list.
    const char *dispatch_kernels, *graphs, *graph_modules, *graph_module_list;
    double capacity;
    bool unchecked; // losses and gradients are not looked at for NaN
    // Attention over windows: "127,0", and which layers have it; linear attention: its kind, and
    // which layers have it.
    const char *window, *windowed, *variant, *linear_layers;
    // Of a model whose configuration has a class of its own in Megatron Bridge: the class, rotary
    // bases of local and other layers, what multiplies scores.
    const char *provider, *bases;
    double score_scale;
    int64_t unturned;   // every how many layers has no positions
    bool unit_norms;    // queries and keys of unit length in the others
    bool weighs_inputs; // an expert's weight multiplies its tokens, not what it makes of them
    const char *activation, *target; // its name, or the name of its function
    // Of attention with sinks and experts with biases, as in gpt-oss: its gate, x sigmoid(1.702 x)
    // of clamped values, times another one plus an offset; "learnable".
    bool quick_geglu, unfused_gelu, separate_dropout, unrounded_yarn;
    double glu_offset, clamp;
    const char *dropout_fusion, *yarn_rounding; // "false", where the flags above are on
    const char *softmax;
    bool spread;                       // over context ranks
    bool grouped_gemm, permute_fusion; // of the experts
    bool unmasked;                     // the data loader makes no attention mask
    bool other;                        // the trainer is none of Megatron's
    bool grouped, swiglu, squared_relu, openai_gelu, qk_norm, stretched, padded, flash, selective,
        gradients_in_fp32, gradients_in_bf16, precision_aware, gathers, distributed, waits,
        in_batches;

    // Of Megatron-LM's older versions and forks, and of what several flags state.
    bool rotary_flag, no_positions, unpadded, counts_embedding, counts_loss, fp8_flag, checkpointed,
        recomputes_experts, deepep, graphed, fsdp, torch_fsdp, deepspeed, no_pipeline;
    int64_t padded_vocabulary, key_value_heads;
    const int64_t *rank_layers;      // decoder layers of each pipeline rank; NULL: not stated
    int64_t first_stage, last_stage; // decoder layers of the first and the last pipeline rank
    int zero_stage, ulysses;
    bool geglu, experts_over_tensor;
    const char *glu, *head_type, *sharding, *layer_list; // the list: of each stage, "7,7,8"
    const char *accelerate;                              // the name of its configuration
    // One letter for each layer: M, *, -, E; of its state spaces.
    const char *hybrid;
    double hybrid_attention, hybrid_mlp; // shares of the layers, where no letters are stated
    int64_t state_heads, state_head_width, state_width, state_groups;
    bool states; // are written
    const char *spec;
    // GPT-NeoX and MegaBlocks: kinds of attention, with how often they come; kinds of norms;
    // "fp16".
    bool experts_over_data, feed_forward_bias, attention_bias;
    const char *attention_kinds, *norm_kind, *number_format;

    // Reinforcement learning: tokens of a prompt and of an answer, answers to each prompt, the
    // batch of tuning; micro-batches of whole sequences within a number of tokens; what all GPUs
    // take at once.
    struct {
        int64_t prompt, answer, answers, batch, packed, at_once;
        bool packs;
    } rollout;

    // Adapters of low rank: how weights are trained, by its name; 1 or 0 as stated, -1: not stated;
    // their rank, their factor, on which products; bits of the frozen matrices.
    struct {
        const char *way, *alpha, *modules, *bits;
        int on;
        int64_t rank;
        double dropout;
        bool all, four, eight;
    } adapters;

    // DeepSpeed
    const char *about, *sums, *offload, *old_offload, *parameters, *overlap;
    int64_t print_every; // iterations
    bool old_bf16, amp, autocast, fp8_model, wide_sums, deep_compile, pinned;

    // AxoNN: ranks of each axis of the tensor grid, from rows on
    int axes[3], precision_at, gathers_at;
    bool syncs_beside;

    // torchtitan
    const char *model, *flavor, *converters, *filters, *dtype, *reshard, *csv, *components, *rotate;
    int64_t local_batch, micro_batches, replicas, shards, first_less, last_less, expert_tensor;
    bool cpu_offload, early_step, compile;
    bool narrow; // weights, gradients and states have the precision alone
};

// How an optimizer keeps its states: with momentum, fp32 weights next to 16-bit ones; bytes of each
// moment, 0: 4.
struct optimizer_way {
    bool momentum, weights;
    int moment_bytes;
};
// Sets the job's `adam` and its bytes of state, of its precision. What the optimizer keeps, in
// words; NULL: both of Adam's moments.
const char *optimizer_set(struct job *j, const char *name, const struct optimizer_way *way);
// By its name, an optimizer whose states are others than fp32 ones of each value.
enum narrow_optimizer {
    NARROW_GALORE,
    NARROW_APOLLO,
    NARROW_LOMO,
    NARROW_FOUR_BITS,
    NARROW_EIGHT_BITS,
    NARROW_NONE
};
enum narrow_optimizer optimizer_narrow(const char *name);
// bitsandbytes' Adam in 8 bits (51294d90 optim/optimizer.py: both moments of tensors of 4096 values
// and more in uint8), with fp32 weights beside 16-bit ones, as Adam in fp32 is; 0: another one.
int eight_bit_state_bytes(const char *optimizer, enum precision precision);

bool run_has_adapters(const struct run *r);
int run_frozen_bits(const struct run *r); // 0: the precision's
// The keys of a frozen block, as a model document has them; NULL: none of the products' names is
// known.
const char *adapters_text(const struct run *r, struct arena *arena);
// The model with all frozen but the blocks' adapters. BAD_INPUT: they cannot be priced in it.
enum status adapters_add(struct model *m, const struct run *r, struct arena *arena,
                         struct error *err);
