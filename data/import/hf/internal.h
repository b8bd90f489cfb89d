// Shared by the files of Hugging Face's configs. Internal to data/import/hf/.
#pragma once

#include "data/import/said.h"
#include "data/inputs/model/model.h"

#define HF_SIZE_MAX 67108864.0 // 2^26; model_check sets the tighter ranges
#define HF_VALUES_MOST 1e15    // of one matrix or table, likewise

// What makes a layer different from the one before it.
struct hf_layer {
    bool mixture, cross, bidirectional, linear, beside, no_attention, no_feed_forward;
    bool unrotated; // latent attention without a rotated part, of its own shape
    int64_t window;
    bool chunked;                                          // the window is a chunk
    int64_t ffn, kv_heads, heads, head_width, value_width; // of its own shape; 0: the model's
    bool keys_as_values, keys_reused;                      // of its own shape
    bool choice_reused; // its keys are those that a layer before found (sparse attention)
    int64_t products;   // values of further matrices of it
    int64_t values;     // further ones of this layer
};

// The keys that were looked up, and what is said of them.
enum { HF_ASKED_MAX = 512 };
struct hf_asked {
    struct said *said;
    const char *keys[HF_ASKED_MAX];
    int count;
};

struct hf_class;
struct hf_model;
// Reads keys of its own, or sets what makes the layers different.
typedef enum status hf_reader(struct hf_model *x, struct error *err);

// A config while it is read: the defaults of its class, then the keys of the file, then what
// follows from them.
struct hf_model {
    const struct json *root,
        *whole; // in a model of several modalities its text_config, and the whole config
    const struct hf_class *class;
    bool by_architecture; // not by model_type, which is unknown
    const char *built;    // the architecture if it has no head of a language model; NULL: it has
    struct shape shape;
    struct expert_shape experts;
    struct hf_layer *layers; // [layer_count]
    int64_t layer_count, window;
    bool sorts_too; // beside the head of a language model it says whether a text follows another
    int64_t front;  // layers of another kind before the others: dense ones, or those of an encoder
    int64_t embedding_values, head_values; // more_values of both ends
    int64_t layer_values, mixture_values;  // of each layer; of one with experts in addition
    int64_t linear_values;                 // of one with linear attention in addition
    // The same, of matrices that tokens are multiplied by.
    int64_t layer_products, linear_products, mixture_products;
    const char **words;            // what each layer is, where the config says so
    const struct hf_layer *blocks; // or all of it
    int64_t further, depth; // layers that predict further tokens: of the config, of the model
    bool mtp_whole;         // they have attention and a mixture, which no other layer has together
    struct arena *arena;
    struct hf_asked *asked; // NULL: not noted
};

// A class of configs: the defaults of its config class for absent keys, and what else it reads.
struct hf_class {
    const char *name;
    struct shape shape; // kv_heads, head_width 0: follows from heads and hidden
    int64_t layers, window, front;
    struct expert_shape experts; // experts 0: no mixture; DeepSeek: shared_ffn counts shared ones
    hf_reader *read, *then;      // in this order; NULL: no keys of its own
    struct {
        const char *key; // how many experts all tokens use, each as wide as another; NULL: no key
        int64_t usual;
    } shared;
    const char *shared_width; // key of the width of those together, before `read`; NULL: none
    bool sinks;               // a number per head beside the scores
    hf_reader *arrange;       // sets the layers; NULL: all alike
    bool fixed_head_width;    // hidden / heads, whatever a key head_dim says
    bool floored_heads;       // hidden / heads need not be whole
    bool both;                // an encoder and its decoder
    bool textless;            // of images or sound alone
    bool shared_layers;       // all have the parameters of one
    bool headless;            // no task has logits: head_values are what follows the layers
    bool experts_as_ffn; // the width of an expert is intermediate_size, whatever another key says
    bool maybe_dense;    // 0 experts are allowed: the layers are not mixtures then
    bool flat;       // a config of several modalities may have the text's keys next to the others
    bool whole_ties; // the whole config decides whether embedding and head are tied, not the text's
    int64_t plain_width; // of a head's part that is not rotated, in latent attention
    int64_t index_heads; // of the part that selects a token's keys
    const char *told;    // features of the class that the model lacks; NULL: none
};
const struct hf_class *hf_class_at(int i); // NULL: no more
const struct hf_class *hf_recent_class_at(int i);
const struct hf_class *hf_find_class(const char *name); // NULL: none of that name
extern const char hf_params[]; // the class of files without a model_type, of Meta and Mistral
// Of an architecture (Qwen3ForCausalLM), whatever model_type says; NULL: of none that is read.
const struct hf_class *hf_find_architecture(const char *architecture, struct arena *arena);
bool hf_is_architecture(const char *name, const char *architecture, struct arena *arena);
// unread.c: for a class that is not supported, as the end of a sentence: why, the nearest supported
// one, which of the config's keys that one lacks, and what can be done. architecture NULL: not
// stated. The config is read as each class, hence a few thousand look-ups.
const char *hf_why_not(const struct hf_model *x, const char *type, const char *architecture);
// The first config that transformers printed in a log (LlamaConfig {...}) in place of the whole
// text; a text that begins as JSON stays. BAD_INPUT: neither; what else it looks like.
enum status hf_find_printed(const char **text, size_t *size, const char *path, struct said *said,
                            struct error *err);
// BAD_INPUT, always: says what a file without a model_type is.
enum status hf_refuse_other(const struct hf_model *x, struct error *err);
// config.c: the shape and the layers of x->class, by the keys.
enum status hf_read_class(struct hf_model *x, struct error *err);
// Sets x->class by model_type, that of the text's part, which becomes x->root, or the architecture.
// BAD_INPUT: not the config of a model, or of one that is not read, said by name.
enum status hf_choose_class(struct hf_model *x, struct json *text, const char **type,
                            struct error *err);

// ---- keys.c: a missing key leaves *to unchanged
bool hf_has(const struct hf_model *x, const char *key); // null counts as present
bool hf_is_list(const struct hf_model *x, const char *key);
enum status hf_fields(const struct hf_model *x, const struct json_field *fields, size_t count,
                      struct error *err);
#define HF_FIELDS(x, fields, err) hf_fields(x, fields, ARRAY_LENGTH(fields), err)
// null counts as 0.
enum status hf_count(const struct hf_model *x, const char *key, int64_t *to, struct error *err);
enum status hf_flag(const struct hf_model *x, const char *key, bool *to, struct error *err);
// The shape has dropout if any of these keys, each with the value that its absence means, is above
// 0.
struct hf_share {
    const char *key;
    double absent;
};
enum status hf_dropout(struct hf_model *x, const struct hf_share *shares, size_t count,
                       struct error *err);
#define HF_DROPOUT(x, err, ...)                                                                    \
    hf_dropout(x, (const struct hf_share[]){__VA_ARGS__},                                          \
               ARRAY_LENGTH(((const struct hf_share[]){__VA_ARGS__})), err)
enum status hf_text(const struct hf_model *x, const char *key, const char **to, struct error *err);
// Sets *listed[i] for each number; says how many name no layer. Absent or null: sets none.
enum status hf_layer_list(const struct hf_model *x, const char *key, bool **listed,
                          struct error *err);
// A word per layer; NULL: the key is absent.
enum status hf_layer_types(const struct hf_model *x, const char *key, const char ***types,
                           struct error *err);
// The same, and of numbers up to `most`; further ones are of layers that predict further tokens.
enum status hf_first_types(const struct hf_model *x, const char *key, const char ***types,
                           struct error *err);
enum status hf_first_numbers(const struct hf_model *x, const char *key, double most,
                             int64_t **numbers, struct error *err);
// BAD_INPUT: a layer's type is none of these words; types NULL: not stated.
enum status hf_expect_words(const struct hf_model *x, const char **types, const char *words,
                            struct error *err);
// Experts that every token uses: as many as the key says, each of an expert's width.
enum status hf_read_shared(struct hf_model *x, const char *key, int64_t shared, struct error *err);
// Layers with rotated positions: no_rope_layers, else all but every no_rope_layer_interval-th (4).
enum status hf_rotated_layers(const struct hf_model *x, bool **rotated, struct error *err);
// Layers of layer_types "sliding_attention" get the window; without the key, those whose number
// (counted from 1) is not a multiple of `pattern`.
enum status hf_windows(struct hf_model *x, int64_t pattern, struct error *err);

// The weight of further tokens' losses, which configs do not state: that of DeepSeek-V3 in the last
// third of its training (arXiv 2412.19437, 4.2), which is also Megatron's default.
#define HF_MTP_LOSS_SCALE 0.1
struct layer_run hf_mtp_run(const struct hf_model *x, int64_t depth); // layers like the last one

// ---- towers.c: runs before the text's, for a model_type with a tower; count 0: none is read
struct hf_tower {
    struct layer_run runs[4];
    int count;
    const char *part; // the key that states it
};
const char *hf_tower_name(int i); // of the kinds with a tower; NULL: no more
bool hf_has_tower(const char *type);
// whole: the config; width: the text's.
enum status hf_read_tower(const struct hf_model *whole, const char *type, int64_t width,
                          struct hf_tower *to, struct error *err);

// heads.c: whether a class has a dense layer on the first token, for what sorts texts; whether what
// an architecture ends with is not the head of a language model; what it is, after the layers are
// known.
bool hf_is_pooled(const char *name);
bool hf_is_headless(const struct hf_model *x, const char *architecture);
enum status hf_read_other_head(struct hf_model *x, struct error *err);
enum status hf_read_labels(const struct hf_model *x, int64_t *to, struct error *err); // how many

// images.c: whether it is an encoder of images alone; its model; or its runs before text, by the
// part's keys: built, what it ends with, as an architecture's name.
bool hf_is_of_images(const char *type);
enum status hf_read_image_tower(const struct hf_model *part, const char *type, const char *built,
                                struct hf_tower *to, int64_t *patches, struct error *err);
enum status hf_build_images(struct model *m, struct hf_model *x, const char *type,
                            struct error *err);

// sound.c: the same of encoders of sound.
bool hf_is_of_sound(const char *type);
enum status hf_build_sound(struct model *m, struct hf_model *x, const char *type,
                           struct error *err);

// find.c: the first of `architectures`; NULL: none is stated.
enum status hf_read_architecture(const struct hf_model *x, const char **to, struct error *err);

// said.c
void hf_asks(const struct hf_model *x, const char *key);       // notes it
bool hf_is_strange(const struct hf_model *x, const char *key); // no reader asked for it
// All of them, "a, b"; NULL: none. Notes the others as read or harmless.
enum status hf_strange_keys(const struct hf_model *x, const char **strange, struct error *err);
// Tells what was read, assumed and ignored; with strict what would be assumed is refused.
enum status hf_say_keys(const struct hf_model *x, const char *path, struct error *err);

extern const char hf_alibi[]; // printed for models with these positions
// told.c: says what of the whole config is not in the model.
void hf_tell_left_out(const struct hf_model *x, const struct json *whole,
                      const struct hf_tower *tower, const struct model *m);

// ties.c: whether head and embedding are one matrix, by the text's key, the whole's or both.
enum status hf_read_ties(struct hf_model *x, const struct hf_model *whole, struct error *err);

enum status hf_read_facts(struct hf_model *x,
                          struct error *err); // facts.c: activation and the like

// ---- llama.c, variants.c, others.c: for the classes that they are named after
hf_reader hf_read_attention_bias, hf_read_llama, hf_arrange_all_near, hf_arrange_qwen,
    hf_arrange_gemma2, hf_arrange_gemma3, hf_read_phi3, hf_arrange_qwen2_moe, hf_arrange_qwen3_moe,
    hf_read_qwen2_moe, hf_arrange_mixtral, hf_read_llama4, hf_arrange_llama4, hf_read_deepseek,
    hf_arrange_deepseek, hf_read_gpt2, hf_read_gpt_neox, hf_read_opt, hf_read_falcon, hf_read_bert,
    hf_arrange_bert, hf_read_t5, hf_arrange_t5, hf_read_glm, hf_read_seed_oss, hf_read_use_bias,
    hf_read_apertus, hf_read_stablelm, hf_read_cohere, hf_read_bloom, hf_arrange_three_of_four,
    hf_arrange_smollm3, hf_arrange_mixtures, hf_read_minicpm3, hf_read_glm4_lite, hf_read_gpt_oss,
    hf_arrange_gpt_oss, hf_read_glm4_moe, hf_arrange_dots1, hf_read_minimax_m2, hf_read_hunyuan_moe,
    hf_read_ernie_moe, hf_arrange_ernie_moe, hf_read_phimoe, hf_read_indexed, hf_arrange_listed,
    hf_arrange_indexed, hf_arrange_qwen3_next, hf_read_kimi_linear, hf_arrange_kimi_linear,
    hf_read_delta, hf_arrange_qwen3_5, hf_read_olmo_hybrid, hf_arrange_olmo_hybrid;

// ---- llama.c, others.c, mixtures.c
hf_reader hf_read_qwen, hf_read_chatglm, hf_read_internlm, hf_read_baichuan, hf_read_params,
    hf_arrange_params, hf_read_helium, hf_read_hyperclovax, hf_arrange_first_of_four,
    hf_read_exaone, hf_read_gptj, hf_read_gpt_neo, hf_arrange_gpt_neo, hf_read_gpt_bigcode,
    hf_read_mpt, hf_read_phi, hf_read_persimmon, hf_arrange_exaone_moe, hf_read_afmoe,
    hf_arrange_afmoe, hf_arrange_hy_v3, hf_read_sarvam_moe, hf_read_axk1, hf_read_ling,
    hf_arrange_ling;

// ---- hybrids.c
hf_reader hf_read_bamba, hf_arrange_bamba, hf_read_granite_hybrid, hf_arrange_granite_hybrid,
    hf_read_falcon_h1, hf_arrange_falcon_h1, hf_read_mamba2, hf_arrange_mamba2, hf_read_nemotron_h,
    hf_arrange_nemotron_h, hf_read_jamba, hf_arrange_jamba, hf_read_mamba, hf_read_minimax,
    hf_arrange_minimax, hf_read_lfm2, hf_arrange_lfm2;

// ---- widths.c
hf_reader hf_read_mimo_dense, hf_read_mimo, hf_arrange_mimo, hf_read_step, hf_arrange_step,
    hf_read_laguna, hf_arrange_laguna, hf_read_gemma4, hf_arrange_gemma4, hf_read_longcat,
    hf_arrange_longcat, hf_read_dbrx, hf_arrange_granite_moe_swa;

// ---- inputs.c
hf_reader hf_read_gemma4_inputs, hf_arrange_gemma4_inputs, hf_read_gemma3n, hf_arrange_gemma3n,
    hf_read_bailing, hf_arrange_bailing;

// ---- others.c: encoders, encoder-decoders
hf_reader hf_read_ernie_bert, hf_read_megatron_bert, hf_read_electra, hf_read_distilbert,
    hf_read_eurobert, hf_read_umt5, hf_read_bart, hf_arrange_bart, hf_read_clip_text,
    hf_read_whisper, hf_arrange_whisper, hf_read_speech_to_text, hf_read_albert;

// ---- flash.c
hf_reader hf_read_flash_transformer, hf_read_gated_deltanet, hf_arrange_gated_deltanet, hf_read_gla;

// ---- variants.c: by layer_types, else all but every `interval`-th
enum status hf_arrange_linear(struct hf_model *x, int64_t interval, struct error *err);

// ---- recent.c
hf_reader hf_arrange_mellum, hf_arrange_kolibri, hf_arrange_flint, hf_read_lara_mini,
    hf_arrange_lara_mini, hf_arrange_windows, hf_read_aria, hf_read_cohere_moe,
    hf_arrange_cohere_moe, hf_read_minimax_m3, hf_arrange_minimax_m3, hf_read_gemma4_unified,
    hf_read_apertus15, hf_read_bitnet, hf_read_diffllama, hf_read_doge, hf_read_lfm3,
    hf_arrange_lfm3, hf_read_biogpt, hf_read_xglm, hf_read_neox_japanese, hf_arrange_neox_japanese,
    hf_read_rwkv, hf_arrange_rwkv, hf_read_molmo, hf_read_mistral_large, hf_arrange_mistral_large,
    hf_read_gated, hf_arrange_muse, hf_read_muse_spark, hf_arrange_beam, hf_read_axk2,
    hf_read_modernbert, hf_arrange_modernbert, hf_arrange_modernbert_encoder, hf_read_mllama,
    hf_arrange_mllama, hf_read_deberta, hf_arrange_deberta;

// ---- nas.c
hf_reader hf_read_nas, hf_arrange_nas;
