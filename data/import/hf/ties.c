// Whether head and embedding share a matrix. In a model of several modalities its class decides
// whether the text's key counts, the whole config's, or both, and what an absent one means
// (transformers 5.24, by its models on the meta device with every pair of the two keys).
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

enum decides { THE_LAST, THE_TEXT, THE_WHOLE, EITHER, NOBODY };

static const struct rule {
    enum decides who;
    bool absent; // what the whole's key is when it is not there
    const char *types;
} rules[] = {
    {THE_WHOLE, true,
     "cohere2_vision deepseek_vl deepseek_vl_hybrid fun_asr_nano gemma3 gemma4 gemma4_unified "
     "glmasr got_ocr2 granite_docling granite_speech granite_speech_plus hyperclovax_vision_v2 "
     "internvl janus kimi_k25 lfm2_vl lfm3_vl lighton_ocr minicpm_ocr mistral3 "
     "moss_transcribe_diarize ovis2 paligemma pp_chart2table qwen3_asr"},
    {THE_WHOLE, false,
     "apertus1p5 aria exaone4_5 fuyu glm46v glmga idefics2 idefics3 llava_next muse_glimmer "
     "qianfan_ocr smolvlm step3p7 "
     "video_llava vipllava"},
    {EITHER, true, "hunyuan_vl paddleocr_vl"},
    {EITHER, false,
     "glm4v glm4v_moe glm_ocr llava llava_next_video llava_onevision minimax_m3_vl qwen2_5_vl "
     "shieldgemma2 video_llama_3"},
    {THE_TEXT, false, "blip-2 instructblip instructblipvideo llama4 vibevoice"},
    {NOBODY, false,
     "audioflamingo3 cosmos3_edge molmo2 muse_spark musicflamingo omniasr qwen2_audio "
     "vibevoice_asr voxtral"},
};

static struct rule rule_of(const char *type)
{
    for (size_t i = 0; type && i < ARRAY_LENGTH(rules); i++)
        if (name_is_listed(rules[i].types, type, strlen(type))) return rules[i];
    return (struct rule){THE_LAST, false, NULL};
}

enum status hf_read_ties(struct hf_model *x, const struct hf_model *whole, struct error *err)
{
    static const char key[] = "tie_word_embeddings";
    const char *type = NULL;
    bool *tied = &x->shape.tied_embeddings, text = *tied;
    if (x->whole != x->root) TRY(hf_text(whole, "model_type", &type, err));
    struct rule rule = rule_of(type);
    bool of_whole = rule.absent;
    if (rule.who != THE_LAST || !x->class->whole_ties) TRY(hf_flag(x, key, &text, err));
    if (rule.who == THE_LAST) of_whole = text;
    TRY(hf_flag(whole, key, &of_whole, err));
    *tied = rule.who == THE_TEXT ? text
            : rule.who == EITHER ? text || of_whole
            : rule.who == NOBODY ? false
                                 : of_whole;
    return OK;
}
