// Says of every key of a config whether it was read, and what was taken for keys that are not
// there.
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

// ---- which keys were looked up

void hf_asks(const struct hf_model *x, const char *key)
{
    struct hf_asked *a = x->asked;
    for (int i = 0; a && i < a->count; i++)
        if (!strcmp(a->keys[i], key)) return;
    if (!a || a->count == HF_ASKED_MAX) return;
    a->keys[a->count++] = arena_copy_text(x->arena, key);
}

static bool was_asked(const struct hf_asked *a, const char *key)
{
    for (int i = 0; i < a->count; i++)
        if (!strcmp(a->keys[i], key)) return true;
    return false;
}

// ---- keys that no model depends on: of tokens, generation, files, starting values, losses, and
// how scores, positions and experts' choices are scaled

static const char harmless[] =
    "architectures transformers_version torch_dtype dtype use_cache max_position_embeddings "
    "model_max_length initializer_range initializer_factor init_std pretraining_tp "
    "num_logits_to_keep output_router_logits output_attentions output_hidden_states return_dict "
    "router_aux_loss_coef router_z_loss_coef router_jitter_noise aux_loss_alpha seq_aux ep_size "
    "norm_topk_prob routed_scaling_factor scoring_func score_function topk_method n_group "
    "topk_group rope_theta rope_scaling rope_parameters rope_interleave rope_local_base_freq "
    "attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar attention_multiplier "
    "embedding_multiplier residual_multiplier logits_scaling swiglu_limit cache_implementation "
    "is_decoder id2label label2id problem_type task_specific_params gradient_checkpointing "
    "classifier_dropout summary_activation summary_first_dropout summary_proj_to_labels "
    "summary_type summary_use_proj scale_attn_weights reorder_and_upcast_attn "
    "chunk_size_feed_forward time_step_min time_step_max time_step_floor time_step_limit "
    "residual_in_fp32 use_mamba_kernels use_qk_norm max_window_layers first_k_dense_replace "
    "moe_layer_freq mlp_bias attention_bias head_dim bos_token_id "
    "_attn_implementation _attn_implementation_autoset bad_words_ids begin_suppress_tokens "
    "cross_attention_hidden_size diversity_penalty do_sample early_stopping "
    "encoder_no_repeat_ngram_size exponential_decay_length_penalty finetuning_task length_penalty "
    "max_length min_length no_repeat_ngram_size num_beam_groups num_beams num_return_sequences "
    "output_scores prefix remove_invalid_values repetition_penalty return_dict_in_generate "
    "suppress_tokens temperature tf_legacy_loss tie_encoder_decoder tokenizer_class top_p "
    "torchscript typical_p use_bfloat16 output_past";

static bool is_harmless(const char *key)
{
    size_t length = strlen(key);
    static const char *const ends[] = {"_token_id", "_token_index", "_token_ids"};
    for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
        if (length > strlen(ends[i]) && !strcmp(key + length - strlen(ends[i]), ends[i]))
            return true;
    return name_is_listed(harmless, key, length);
}

// ---- what is said

static void put(const char **list, const char *text, struct arena *arena)
{
    *list = *list ? arena_print(arena, "%s, %s", *list, text) : text;
}

// Told by themselves: parts, and what the class is found by.
static bool is_part(const char *key)
{
    return strstr(key, "text_config") || !strcmp(key, "llm_config") ||
           !strcmp(key, "language_config") || !strcmp(key, "model_type") ||
           !strcmp(key, "_name_or_path") || !strcmp(key, "auto_map") || strstr(key, "vision") ||
           strstr(key, "audio_config");
}

static const char quantized[] = "quantization_config";

bool hf_is_strange(const struct hf_model *x, const char *key)
{
    return !is_part(key) && !was_asked(x->asked, key) && strcmp(key, quantized) &&
           !is_harmless(key);
}

static void sort_key(const char **strange, const struct hf_model *x, const struct json *of,
                     const char *key)
{
    struct said *s = x->asked->said;
    const struct hf_asked *a = x->asked;
    if (hf_is_strange(x, key)) {
        int near = name_within(key, a->keys, a->count, strlen(key) > 6 ? 2 : 1);
        bool misspelt = near >= 0 && !json_has(of, a->keys[near]);
        put(strange,
            misspelt ? arena_print(x->arena, "%s (did you mean %s?)", key, a->keys[near]) : key,
            x->arena);
    } else if (is_part(key)) return;
    else if (was_asked(a, key)) said_read(s, key);
    else if (strcmp(key, quantized)) said_ignore(s, key);
    else said_assume(s, "%s: weights are trained in the job's precision", quantized);
}

static enum status sort_keys(const char **strange, const struct hf_model *x, const struct json *of,
                             struct error *err)
{
    const char *const *keys;
    struct json *values;
    int count;
    TRY(json_members(of, &keys, &values, &count, x->arena, err));
    for (int i = 0; i < count; i++) sort_key(strange, x, of, keys[i]);
    return OK;
}

// Sizes under any of their names; the first is named. A config of an unknown kind has to state
// them: its own may have other names.
static enum status assume_sizes(const struct hf_model *x, struct error *err)
{
    static const char *const sizes[][6] = {
        {"hidden_size", "n_embd", "d_model", "n_embed", "dim", NULL},
        {"num_hidden_layers", "n_layer", "num_layers", "n_layers", "block_configs", NULL},
        {"num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads", NULL},
        {"vocab_size", NULL},
        {"intermediate_size", "n_inner", "ffn_dim", "moe_intermediate_size", "n_embd", "dim"},
    };
    const char *absent = NULL;
    size_t count = x->class->textless ? 3 : ARRAY_LENGTH(sizes) - !x->by_architecture;
    bool attends = false;
    for (int64_t i = 0; i < x->layer_count; i++) attends = attends || !x->layers[i].linear;
    for (size_t i = 0; i < count; i++) {
        bool stated = i == 2 && !attends;
        for (int k = 0; k < 6 && sizes[i][k]; k++)
            stated = stated ||
                     (was_asked(x->asked, sizes[i][k]) &&
                      (json_has(x->root, sizes[i][k]) || json_has(x->whole, sizes[i][k])));
        if (!stated) put(&absent, sizes[i][0], x->arena);
    }
    if (!absent || x->words) return OK;
    if (x->by_architecture)
        return json_refuse(x->root, err,
                           "%s: expected under %s, as of %s, which its architecture says: a "
                           "model_type that is not known may have other keys",
                           absent, strchr(absent, ',') ? "these names" : "this name",
                           x->class->name);
    said_assume(x->asked->said, "%s: the default%s of %s", absent, strchr(absent, ',') ? "s" : "",
                x->class->name);
    return OK;
}

enum status hf_strange_keys(const struct hf_model *x, const char **strange, struct error *err)
{
    TRY(sort_keys(strange, x, x->root, err));
    return x->whole != x->root ? sort_keys(strange, x, x->whole, err) : OK;
}

enum status hf_say_keys(const struct hf_model *x, const char *path, struct error *err)
{
    const char *strange = NULL;
    TRY(hf_strange_keys(x, &strange, err));
    TRY(assume_sizes(x, err));
    if (json_has(x->root, "auto_map") || json_has(x->whole, "auto_map"))
        said_assume(x->asked->said, "auto_map's own code builds what transformers' class does");
    if (strange)
        said_unknown(x->asked->said, "%s: not keys of %s, left out: %s", path, x->class->name,
                     strange);
    return OK;
}
