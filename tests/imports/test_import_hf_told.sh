#!/bin/sh
# import hf tells what of a config is not in the model: layers that predict further tokens, with
# their parameters and FLOP counted here by themselves; the parts of a model that do not read text;
# a quantization. A kind it does not know is refused with the way out.
BIN=${BIN:-bin} work=build/test_import_hf_told.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline options=

wrong() { echo "import hf, told: $*" >&2; failed=1; }

# says CODE WORDS CONFIG
says() {
    printf '%s' "$3" >"$work/config.json"
    # shellcheck disable=SC2086
    "$plumbline" import hf "$work/config.json" $options -o "$work/model.json" 2>"$work/err"
    [ $? -eq "$1" ] || wrong "$3: not exit $1: $(cat "$work/err")"
    grep -q -- "$2" "$work/err" || wrong "$3: not said: $2: $(cat "$work/err")"
}

# DeepSeek-V3's own config class has its published sizes. Its card: 11.5 billion parameters of the
# layer's own, 671 of the model. A layer: latent attention 187107328 and two norms, a router 256 x
# 7168, 257 experts of 3 x 7168 x 2048; a projection of 2 x 7168 to 7168, three norms. FLOP a token,
# forward and backward: 6 for each parameter that a token meets (8 of 256 experts) and for the
# head's 129280 x 7168 again, and the scores' 6 x 4096 x 128 x (192 + 128).
words=$(python3 - <<'END' 2>/dev/null
h, s = 7168, 4096
attention, expert, layer_norms, further = 187107328, 3 * 7168 * 2048, 2 * 7168, 2 * h * h + 3 * h
print("%.4g G parameters" % ((attention + layer_norms + 256 * h + 257 * expert + further) / 1e9))
END
)
own="${words:-11.61 G parameters}, 3.8 % of"
says 0 "1 layer of multi-token prediction in the model.*: $own" \
    '{"model_type": "deepseek_v3", "num_nextn_predict_layers": 1}'
grep -q "deepseek_v3: 682.*parameters" "$work/err" ||
    wrong "not 682 G parameters: $(cat "$work/err")"
says 0 "23.22 G parameters, 7.61 % of" \
    '{"model_type": "deepseek_v3", "num_nextn_predict_layers": 2}'
# Nemotron 3 Super's blocks of further tokens: queries and output 4096 x 4096, keys and values of
# two heads of 128, a router of 512, products to a latent of 1024 and back, a shared expert of 5376,
# 512 of 2688 on the latent, two matrices each; two norms; the projection and its three.
grep '"_name": "nemotron-3-super-120b-a12b"' tests/imports/hf_counts.jsonl >"$work/super.json"
more=$(python3 - <<'END' 2>/dev/null
h, f, z = 4096, 2688, 1024
block = 2 * h * h + 2 * h * 2 * 128 + 512 * h + 2 * h * z + 2 * h * 5376 + 512 * 2 * z * f + 2 * h
print(120668687360 + 2 * (block + 2 * h * h + 3 * h))
END
)
"$plumbline" import hf "$work/super.json" --mtp 2 -o "$work/model.json" 2>"$work/err"
grep -q "nemotron_h: ${more:-126553336832} parameters" "$work/err" ||
    wrong "Super with two further tokens: $(cat "$work/err")"
options="--mtp 1"
says 2 "--mtp: expected 0, found 1: further tokens of layers of one part" \
    '{"model_type": "nemotron_h", "hybrid_override_pattern": "M*E", "n_routed_experts": 8,
      "mtp_hybrid_override_pattern": "*-"}'
options="--mtp 0"
says 0 "left out, as transformers.*: ${words:-11.61 G parameters}, 3.8 % of" \
    '{"model_type": "deepseek_v3", "num_nextn_predict_layers": 1}'
grep -q "deepseek_v3: 671026404352 parameters" "$work/err" ||
    wrong "not the main model alone: $(cat "$work/err")"
options=
says 0 "deepseek_v3: 671026404352 parameters" '{"model_type": "deepseek_v3"}'
grep -q multi-token "$work/err" && wrong "no such layers, but told of: $(cat "$work/err")"
says 0 "vision_config: left out" \
    '{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"},
      "vision_config": {"hidden_size": 1024}}'
says 0 "vision_config: left out" \
    '{"model_type": "llava", "text_config": {"model_type": "llama"},
      "vision_config": {"model_type": "siglip_vision_model"}}'
says 0 "llava: 7063427072 parameters" \
    '{"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}}'
grep -q "left out" "$work/err" &&
    wrong "a tower that is read, told of as left out: $(cat "$work/err")"
says 0 "vision_config: images of 448 x 448, 256 tokens each" \
    '{"model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28,
      "num_key_value_heads": 4}'
says 0 "config.json: read: model\|config.json: read: .*hidden_size" \
    '{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "use_cache": true}'
says 0 "assumed: num_hidden_layers, vocab_size: the defaults of llama" \
    '{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "use_cache": true}'
says 0 "ignored (harmless): use_cache" '{"model_type": "llama", "use_cache": true}'
says 0 "not keys of llama, left out: frobs, hiden_size (did you mean hidden_size?)" \
    '{"model_type": "llama", "frobs": 1, "hiden_size": 64}'
options=--strict
whole='"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 99'
says 2 "would be assumed: vocab_size: the default" '{"model_type": "llama", "hidden_size": 64,
    "num_attention_heads": 4, "num_hidden_layers": 2}'
says 2 "strict: not keys of llama, left out: frobs" \
    "{\"model_type\": \"llama\", $whole, \"frobs\": 1}"
says 2 "strict: would be assumed: auto_map" "{\"model_type\": \"llama\", $whole, \"auto_map\": {}}"
says 0 "read: .*vocab_size" "{\"model_type\": \"llama\", $whole, \"use_cache\": true}"
options=
says 0 "quantization_config: left out" '{"model_type": "llama", "quantization_config": {"bits": 4}}'
says 0 "gpt_oss: biases of experts are planned as copies on every GPU" '{"model_type": "gpt_oss"}'
says 0 "deepseek_v32: 671877929216 parameters" '{"model_type": "deepseek_v32"}'
grep -q '"index_top_k": 2048' "$work/model.json" || wrong "no sparse attention"
says 0 "deepseek_v32: 683" '{"model_type": "deepseek_v32", "num_nextn_predict_layers": 1}'
says 0 "bloom: ALiBi positions" '{"model_type": "bloom"}'
says 0 "alibi: ALiBi positions" '{"model_type": "falcon", "alibi": true}'
says 0 "cohere: norms by the mean without biases" '{"model_type": "cohere"}'
says 0 "vision_config: left out" '{"model_type": "qwen2_5_vl", "vision_config": {"depth": 32}}'
nearest='the nearest that is: gemma2; describe'
says 2 "\"recurrent_gemma\" is not read: it has layers of linear attention; $nearest" \
    '{"model_type": "recurrent_gemma"}'
says 2 '"zamba2" is not read: .*; describe its layers in a model document' \
    '{"model_type": "zamba2"}'
# Kimi K3, from the shapes of its weights: 69 layers of linear attention with a gate of full rank
# and rates for 128 channels, 24 of latent attention with a gate, 92 mixtures on a latent of 3584;
# a norm and a direction for the residuals of earlier blocks, twice a layer and once at the end.
words=$(python3 - <<'END' 2>/dev/null
h, v, n = 7168, 163840, 12288
linear = 128 + 96 * h + n + 128 * h + n * 128 + 3 * n * 4 + 3 * n * h + 128
latent = 512 + 576 * h + 24576 * 512 + 1536 + 1536 * h + 18432 * 1536
mixture = 896 * 3 * 3072 * 3584 + 896 * h + 2 * 3584 * h + 3584 + 3 * 6144 * h
print(69 * linear + 24 * latent + 92 * mixture + 93 * (6 * h + 2 * n * h) + 3 * 33792 * h
      + 2 * v * h + 3 * h)
END
)
full=$(seq -s, 4 4 92),93
k3='"attn_res_block_size": 12, "first_k_dense_replace": 1, "hidden_act": "situ",
    "hidden_size": 7168, "intermediate_size": 33792, "kv_lora_rank": 512,
    "latent_moe_use_norm": true, "mla_use_output_gate": true, "model_type": "kimi_linear",
    "moe_intermediate_size": 3072, "num_attention_heads": 96, "num_experts": 896,
    "num_experts_per_token": 16, "num_hidden_layers": 93, "num_key_value_heads": 96,
    "num_shared_experts": 2, "q_lora_rank": 1536, "routed_expert_hidden_size": 3584'
says 0 "kimi_k3: ${words:-2779484395776} parameters" "{\"model_type\": \"kimi_k3\",
    \"text_config\": {$k3, \"linear_attn_config\": {
    \"full_attn_layers\": [$full], \"head_dim\": 128, \"num_heads\": 96,
    \"short_conv_kernel_size\": 4, \"use_full_rank_gate\": true}}}"
# Ling before version 3: layers of grouped attention, a dense one before the mixtures, norms of each
# head's queries and keys.
words=$(python3 - <<'END' 2>/dev/null
h, v, f, heads, groups, width = 512, 9000, 640, 8, 2, 96
attention = 2 * h * heads * width + 2 * h * groups * width
mixture = 12 * 3 * h * 48 + 12 * h + 2 * 3 * h * 48
plain = 4 * (attention + 2 * h) + 3 * h * f + 3 * mixture + 2 * v * h + h
print(plain, plain + 4 * 2 * width + 4 * (heads + 2 * groups) * width)
END
)
ling='"num_hidden_layers": 4, "hidden_size": 512, "vocab_size": 9000, "intermediate_size": 640,
    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 96, "num_experts": 12,
    "num_experts_per_tok": 3, "moe_intermediate_size": 48, "num_shared_experts": 2,
    "first_k_dense_replace": 1, "tie_word_embeddings": false'
says 0 "bailing_moe: ${words% *} parameters" "{\"model_type\": \"bailing_moe\", $ling}"
says 0 "bailing_moe_v2: ${words#* } parameters" "{\"model_type\": \"bailing_moe_v2\", $ling,
    \"use_qk_norm\": true, \"use_qkv_bias\": true, \"score_function\": \"sigmoid\",
    \"moe_router_enable_expert_bias\": true, \"moe_shared_expert_intermediate_size\": 48}"
says 2 'use_bias": expected false' "{\"model_type\": \"bailing_moe\", $ling, \"use_bias\": true}"
# MiMo-V2: a number of each head in the softmax of layers with a window, of others, or of none.
mimo='"model_type": "mimo_v2_flash", "num_hidden_layers": 3, "hybrid_layer_pattern": [0, 1, 1]'
count() {
    says 0 parameters "{$mimo$1}"
    sed -n 's/.*mimo_v2_flash: \([0-9]*\) parameters/\1/p' "$work/err"
}
some=$(count '') far=$(count ', "add_full_attention_sink_bias": true')
none=$(count ', "add_swa_attention_sink_bias": false')
[ $((some - none)) -eq 128 ] && [ $((far - some)) -eq 64 ] || wrong "sinks: $none, $some, $far"
# Step 3.5 states a base of rotation for each layer.
step='"model_type": "step3p5", "num_hidden_layers": 3, "vocab_size": 5000'
says 0 'read: .*rope_theta' "{$step, \"rope_theta\": [5000000.0, 10000.0, 10000.0]}"
grep -q '"rotary_base": 5000000' "$work/model.json" || wrong "a base of each layer"
says 2 'rope_theta' "{$step, \"rope_theta\": [5000000.0]}"
# Files that contradict their class, or say what it leaves out, are refused by name.
says 2 '"head_dim": expected heads x head_dim to be the hidden size, 2560, .* found 20 x 256' \
    '{"model_type": "helium", "head_dim": 256}'
says 2 '"use_conv_bias": expected true' '{"model_type": "falcon_mamba", "use_conv_bias": false}'
says 2 '"mamba_conv_bias": expected true' '{"model_type": "jamba", "mamba_conv_bias": false}'
says 0 parameters '{"model_type": "jamba"}'
base=$(sed -n 's/.*jamba: \([0-9]*\) parameters/\1/p' "$work/err")
says 0 "jamba: $((base + 28 * (2 * 8192 + 4096))) parameters" \
    '{"model_type": "jamba", "mamba_proj_bias": true}'
says 2 '"expansion_ratio": expected 4' '{"model_type": "mpt", "expansion_ratio": 8}'
says 2 '"qk_head_dim": expected qk_nope_head_dim + qk_rope_head_dim, 192, found 96' \
    '{"model_type": "longcat_flash", "qk_head_dim": 96}'
# A width of its own goes before what a factor says: 32 layers of d wide, 48 of steps, 16 of states.
words=$(python3 -c 'h, d, v, r, n = 768, 1000, 50280, 48, 16
each = h + 2 * d * h + 4 * d + d + d * (r + 2 * n) + r * d + d + d * n + d + d * h
print(v * h + h + 32 * each)
' 2>/dev/null)
says 0 "mamba: ${words:-105} parameters" \
    '{"model_type": "mamba", "expand": 2, "intermediate_size": 1000}'
# Heads of Ling 3's delta attention under the name that transformers saves.
ling3='"model_type": "bailing_hybrid", "num_hidden_layers": 1, "first_k_dense_replace": 1'
says 0 parameters "{$ling3, \"linear_num_heads\": 16}"
grep -q '"value_heads": 16' "$work/model.json" || wrong "heads of delta attention"
# Nemotron's mixtures have a shared expert of the stated width whatever its number is.
says 0 'read: .*n_shared_experts' '{"model_type": "nemotron_h", "n_shared_experts": 0}'
grep -q '"shared_ffn": 7688' "$work/model.json" || wrong "the shared expert of nemotron_h"
# GLM 5.2: layers that take the keys which one before them found have nothing that finds any: of
# 6 layers 3 here, each 2048 x 32 x 128 + 6144 x (128 + 32) + 2 x 128 fewer.
glm='"model_type": "glm_moe_dsa", "num_hidden_layers": 6'
size() { sed -n 's/.*glm_moe_dsa: \([0-9]*\) parameters/\1/p' "$work/err"; }
says 0 parameters "{$glm}"
all=$(size)
for how in '"index_topk_freq": 4, "index_skip_topk_offset": 3' '"index_topk_pattern": "FFFSSS"' \
    '"indexer_types": ["full", "full", "full", "shared", "shared", "shared"]'; do
    says 0 '3 layers attend to the keys that one before them found: .* 2048 tokens' "{$glm, $how}"
    [ $((all - $(size))) -eq $((3 * (2048 * 32 * 128 + 6144 * 160 + 256))) ] ||
        wrong "$how: $all, $(size)"
done
says 2 'expected a full layer first' "{$glm, \"index_topk_pattern\": \"SFFFFF\"}"
says 2 'expected a letter for each of 6 layers' "{$glm, \"index_topk_pattern\": \"FS\"}"
# A layer that predicts further tokens finds its own keys, whatever the last one does.
says 0 '1 layer of multi-token prediction' "{$glm, \"num_nextn_predict_layers\": 1,
    \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3}"
# flash-linear-attention: a transformer, and the delta rule with gates beside a layer of attention.
flash=$(python3 - <<'END' 2>/dev/null
h, v, ffn = 1024, 32000, 2816
kv = h // 4
each = 2 * h * h + 2 * h * kv + 3 * h * ffn + 2 * h + 2 * (h // 16)
print(2 * v * h + h + 24 * each)
k, w = 6 * 64, 12 * 96
delta = h * (2 * k + 3 * w + 2 * 12) + 4 * (2 * k + w) + 2 * 12 + 96
near = 2 * h * h + 2 * h * (h // 8) + h + 2 * (h // 8)
print(2 * v * h + h + 3 * delta + near + 4 * (3 * h * ffn + 2 * h))
END
)
set -- $flash
says 0 "transformer: ${1:-298} parameters" '{"model_type": "transformer", "hidden_size": 1024,
    "num_heads": 16, "num_kv_heads": 4, "qk_norm": true, "num_hidden_layers": 24}'
says 0 "gated_deltanet: ${2:-298} parameters" '{"model_type": "gated_deltanet",
    "hidden_size": 1024, "num_heads": 6, "num_v_heads": 12, "head_dim": 64, "expand_v": 1.5,
    "num_hidden_layers": 4, "intermediate_size": null, "attn": {"layers": [2], "num_heads": 16,
    "num_kv_heads": 2, "qkv_bias": true, "window_size": 2048}}'
grep -q '"window": 2048' "$work/model.json" || wrong "the window of attention between deltas"
says 2 '"gsa" is not read: it has linear attention of a kind of its own' '{"model_type": "gsa"}'
says 2 'expected num_heads x head_dim to be expand x hidden_size, 4096, found 128 x 64' \
    '{"model_type": "mamba2", "hidden_size": 2048}'
says 0 'num_heads: 64, those of expand x hidden_size, as in flash-linear-attention' \
    '{"model_type": "mamba2", "hidden_size": 2048, "fuse_norm": true, "head_dim": 64}'
# A width of heads that is rounded down, as its class rounds it.
says 0 'glm4_moe: 103481200640 parameters' '{"model_type": "glm4_moe",
    "num_nextn_predict_layers": 0}'
says 2 '"hy_v4_vl_text" is not read: it has hyper-connections' \
    '{"model_type": "hy_v4_vl", "text_config": {"model_type": "hy_v4_vl_text"}}'
says 2 'it has layers on the keys of the model that it drafts for' \
    '{"model_type": "gemma4_assistant", "text_config": {"model_type": "gemma4_text"}}'
# MiMo 7B is as qwen2, with a layer that predicts further tokens.
says 0 'mimo: [0-9]* parameters' '{"model_type": "mimo", "num_nextn_predict_layers": 1}'
own=$(sed -n 's/.*mimo: \([0-9]*\) parameters/\1/p' "$work/err")
says 0 "qwen2: $own parameters" '{"model_type": "qwen2", "hidden_size": 4096,
    "intermediate_size": 11008, "num_hidden_layers": 36, "num_key_value_heads": 8,
    "vocab_size": 151680}'
rest='"num_key_value_heads": 4, "intermediate_size": 200'
# A name that nobody knows is answered by its architecture; so is one that is not read.
says 0 'assumed: .*model_type: my_own is read as qwen3, by its architecture, Qwen3ForCausalLM' \
    "{\"model_type\": \"my_own\", \"architectures\": [\"Qwen3ForCausalLM\"], $whole, $rest}"
says 2 'hidden_size, num_hidden_layers, .*, intermediate_size: expected under these names' \
    '{"model_type": "hf_olmo", "architectures": ["OLMoForCausalLM"], "d_model": 64,
      "vocab_size": 99}'
says 0 'assumed: .*(not stated) is read as gemma3_text, by its architecture' \
    "{\"architectures\": [\"Gemma3ForCausalLM\"], $whole, $rest}"
says 0 'clip: 151277313 parameters' \
    '{"model_type": "clip", "text_config": {"model_type": "clip_text_model"}}'
says 2 '"deepseek_ref" is not read: it has compressed attention' \
    '{"model_type": "deepseek_ref", "architectures": ["DeepseekV4ForCausalLM"]}'
says 2 'architectures: "OpenMoeForCausalLM" is not read; the nearest that is, by its keys: ' \
    '{"architectures": ["OpenMoeForCausalLM"], "vocab_size": 8, "hidden_size": 4}'
says 2 'has parts: encoder (vit), decoder (trocr); expected' '{"model_type": "pair",
    "encoder": {"model_type": "vit"}, "decoder": {"model_type": "trocr"}}'
says 2 'is missing, but there are parts: text (bert): expected' '{"text": {"model_type": "bert"}}'
# What a file is that is no config.
says 2 'key "weight_map": this is an index of a checkpoint.s files' '{"weight_map": {"a": "b"}}'
says 2 'key "zero_optimization": .*(plumbline import deepspeed)' '{"zero_optimization": {}}'
says 2 'key "do_sample": this is how a model generates' '{"do_sample": true}'
says 2 'a GGUF file or its metadata' 'general.architecture: llama'
says 2 'YAML: expected a config.json; plumbline import nemo' 'model:
  num_layers: 4'
# Configs as logs have them; the sizes of Meta's and Mistral's own files, counted by their cards.
says 0 'line 2: LlamaConfig, as transformers printed it' 'INFO
now LlamaConfig {"model_type": "llama"} x'
says 0 '8030261248 parameters' '{"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8,
    "vocab_size": 128256, "ffn_dim_multiplier": 1.3, "multiple_of": 1024, "rope_theta": 5e5}'
says 0 '46702792704 parameters' '{"dim": 4096, "n_layers": 32, "head_dim": 128, "vocab_size": 32000,
    "hidden_dim": 14336, "n_heads": 32, "n_kv_heads": 8,
    "moe": {"num_experts_per_tok": 2, "num_experts": 8}}'
says 2 '"vision_num_cross_attention_layers": not read of a params.json' \
    '{"dim": 8, "n_layers": 2, "n_heads": 2, "vision_num_cross_attention_layers": 1}'
says 2 'peft_type: LORA: an adapter, expected the config.json of its model, me/llama' \
    '{"peft_type": "LORA", "base_model_name_or_path": "me/llama", "r": 8}'
says 2 '_class_name: AutoencoderKL: a part of a pipeline of diffusers' \
    '{"_class_name": "AutoencoderKL"}'
says 2 'T5EncoderModel: the encoder of a t5 alone is not read' \
    '{"model_type": "t5", "architectures": ["T5EncoderModel"]}'
says 0 'assumed: .*LlamaForRanking is planned with the head of a language model' \
    '{"model_type": "llama", "architectures": ["LlamaForRanking"]}'
says 0 'assumed: .*SpERT is planned with the head of a language model' \
    '{"model_type": "bert", "architectures": ["SpERT"]}'
says 0 'LlamaForSequenceClassification: no head of a language model; .* 16384 parameters' \
    '{"model_type": "llama", "architectures": ["LlamaForSequenceClassification"],
      "id2label": {"0": "a", "1": "b", "2": "c"}}'
says 0 'bert: 109482240 parameters' '{"model_type": "bert", "architectures": ["BertModel"]}'
says 0 'qwen2: [0-9]* parameters' \
    '{"model_type": "internvl_chat", "llm_config": {"model_type": "qwen2"},
      "vision_config": {"hidden_size": 64}, "_name_or_path": "qwen2"}'
says 0 'distilbert: 90426426 parameters' \
    '{"model_type": "distilbert", "tie_word_embeddings": false}'
says 0 'sound is planned as long as the text' '{"model_type": "whisper"}'
says 2 '"conv_kernel_sizes": expected 4 of them' \
    '{"model_type": "speech_to_text", "num_conv_layers": 4}'
says 2 '"num_hidden_groups": expected 1: one layer for all' \
    '{"model_type": "albert", "num_hidden_groups": 2}'
says 0 'parameters, is part of the embedding' \
    '{"model_type": "albert", "architectures": ["AlbertModel"]}'
# Encoders of images beside text, and of sound.
says 2 'vision_config: expected an end as wide as the text.s 640, found 512' \
    '{"model_type": "clip", "text_config": {"hidden_size": 640, "num_attention_heads": 8}}'
says 2 'CLIPForImageClassification is not read: of a clip_text, its Model and' \
    '{"model_type": "clip", "architectures": ["CLIPForImageClassification"], "text_config": {}}'
says 0 'text_config: the model is the language model alone, whatever else its class has' \
    '{"model_type": "llama4", "text_config": {"model_type": "llama4_text"}}'
says 2 'ForImageClassificationWithTeacher" is not read' \
    '{"model_type": "deit", "architectures": ["DeiTForImageClassificationWithTeacher"]}'
says 0 'Gemma3ForSequenceClassification: no head of a language model' '{"model_type": "gemma3",
    "architectures": ["Gemma3ForSequenceClassification"],
    "text_config": {"model_type": "gemma3_text"}}'
says 2 'StableDiffusionSafetyChecker is not read: of a clip_text' '{"model_type": "clip",
    "architectures": ["StableDiffusionSafetyChecker"], "text_config": {}}'
says 0 'Gemma3Model: no head of a language model' '{"model_type": "gemma3",
    "architectures": ["Gemma3Model"], "text_config": {"model_type": "gemma3_text"}}'
says 0 'clip: its images (49 patches) are planned before its texts' \
    '{"model_type": "clip", "text_config": {"hidden_size": 512}}'
says 0 'ten seconds of 16 kHz, 499 frames, are a sequence' '{"model_type": "hubert"}'
says 2 '"Wav2Vec2ForPreTraining" is not read: of a wav2vec2' \
    '{"model_type": "wav2vec2", "architectures": ["Wav2Vec2ForPreTraining"]}'
says 2 '"adapter_attn_dim": expected none' '{"model_type": "wav2vec2", "adapter_attn_dim": 16}'
says 2 '"conv_kernel": expected as many as conv_dim, found 2' \
    '{"model_type": "wav2vec2", "conv_kernel": [10, 3]}'
says 2 'convolutions longer than ten seconds' '{"model_type": "hubert", "conv_dim": [8, 8, 8],
    "conv_kernel": [9, 9, 9], "conv_stride": [60000, 60000, 2]}'
says 0 'wavlm: positions are counted in parameters, not in work' '{"model_type": "wavlm"}'
# A text in place of a list, parts of diffusers, names that are those of several classes.
says 0 'bert: 109482240 parameters' '{"model_type": "bert", "architectures": "BertModel"}'
says 2 '_class_name: WanModel: a part of a pipeline of diffusers' \
    '{"model_type": "wan", "architectures": "WanModel", "_class_name": "WanModel", "dim": 5120}'
says 2 '"QwenForCausalLM" is not read; the nearest' '{"architectures": ["QwenForCausalLM"],
    "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 90}'
says 0 'cross_attention_layers: 1 of its 2 numbers name none of the 4 layers' \
    '{"model_type": "mllama_text", "num_hidden_layers": 4, "cross_attention_layers": [1, 8]}'
says 0 'gla: 1365514240 parameters' '{"model_type": "gla", "intermediate_size": null}'
says 0 'retnet: 1351727104 parameters' '{"model_type": "retnet"}'
says 2 '"use_output_gate": expected true' '{"model_type": "gla", "use_output_gate": false}'
says 2 '"t5gemma" is not read: it has an encoder of such layers' '{"model_type": "t5gemma"}'
says 0 'modernbert: windows to both sides are planned' '{"model_type": "modernbert"}'
says 2 '"pre_seq_len": expected none: keys and values of a learned prefix' \
    '{"model_type": "chatglm", "pre_seq_len": 128}'
says 0 'electra: 13549057 parameters' \
    '{"model_type": "electra", "architectures": ["ElectraForPreTraining"]}'
# Encoders of images alone.
says 0 'vit: an image of 196 patches is a sequence' \
    '{"model_type": "vit", "architectures": ["ViTForImageClassification"]}'
says 0 'assumed: architectures: the Model of a dinov2' '{"model_type": "dinov2"}'
says 2 '"ViTForMaskedImageModeling" is not read: of a vit, its Model and ForImageClassification' \
    '{"model_type": "vit", "architectures": ["ViTForMaskedImageModeling"]}'
says 2 '"hidden_size": expected a multiple of num_attention_heads, 12, found 64' \
    '{"model_type": "vit", "hidden_size": 64}'
says 2 '"patch_size": expected at most image_size, 8, found 16' \
    '{"model_type": "vit", "image_size": 8}'
says 2 '"image_size": too many patches' '{"model_type": "deit", "image_size": 9999999}'
says 2 'LlamaForCausalLMEagle3: a draft model' \
    '{"model_type": "llama", "architectures": ["LlamaForCausalLMEagle3"]}'
says 2 'nor is any class with such keys: .* even lacks a, b, .* and 2 more' '{"model_type": "foo",
    "vocab_size": 8, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1,
    "j": 1, "k": 1, "l": 1, "m": 1, "n": 1}'
# As the cards count them: ChatGLM 6B, ChatGLM3 6B, GLM-4 9B, InternLM2 7B, Baichuan2 7B and 13B,
# MiniCPM 2B.
says 0 'chatglm: 6173286400 parameters' '{"model_type": "chatglm",
    "architectures": ["ChatGLMModel"], "inner_hidden_size": 16384, "num_layers": 28,
    "position_encoding_2d": true, "vocab_size": 130528}'
glm='"model_type": "chatglm", "architectures": ["ChatGLMModel"], "add_bias_linear": false,
    "add_qkv_bias": true, "multi_query_attention": true, "multi_query_group_num": 2'
says 0 'chatglm: 6243584000 parameters' "{$glm, \"num_layers\": 28, \"padded_vocab_size\": 65024}"
says 0 'chatglm: 9399951360 parameters' \
    "{$glm, \"num_layers\": 40, \"padded_vocab_size\": 151552}"
says 0 'internlm2: 7737708544 parameters' '{"model_type": "internlm2", "bias": false,
    "intermediate_size": 14336, "num_key_value_heads": 8, "vocab_size": 92544}'
says 0 'baichuan: 7505973248 parameters' '{"model_type": "baichuan"}'
says 0 'baichuan: 13896668160 parameters' '{"model_type": "baichuan", "hidden_size": 5120,
    "intermediate_size": 13696, "num_hidden_layers": 40, "num_attention_heads": 40}'
says 0 'minicpm: 2724880896 parameters' '{"model_type": "minicpm", "hidden_size": 2304,
    "intermediate_size": 5760, "num_hidden_layers": 40, "num_attention_heads": 36,
    "vocab_size": 122753}'
says 0 'llava: 6738415616 parameters' '{"model_type": "llava", "hidden_size": 4096,
    "architectures": ["LlavaLlamaForCausalLM"], "intermediate_size": 11008, "vocab_size": 32000,
    "num_hidden_layers": 32, "num_attention_heads": 32}'
# The card of Qwen 7B: 7721324544 parameters.
says 0 'qwen: 7721324544 parameters' '{"model_type": "qwen", "architectures": ["QWenLMHeadModel"],
    "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
    "num_attention_heads": 32, "vocab_size": 151936, "kv_channels": 128, "no_bias": true}'
says 2 'BartForCausalLM: the decoder of a bart alone is not read' \
    '{"model_type": "bart", "architectures": ["BartForCausalLM"]}'
says 2 '"share_encoder_decoder_embeddings": expected true: one table for encoder and decoder' \
    '{"model_type": "marian", "share_encoder_decoder_embeddings": false}'
says 2 '"encoder_attention_heads": expected a divisor of d_model, 1024, found 7' \
    '{"model_type": "bart", "encoder_attention_heads": 7}'
says 2 '"attention_bias": expected false: biases beside a gate without one are not read' \
    '{"model_type": "laguna", "gating": "per-element", "attention_bias": true}'
# Sarvam's biases are those of queries, keys and values.
sarvam='"model_type": "sarvam_moe", "num_hidden_layers": 2, "head_dim": 64'
count_of() { sed -n "s/.*$1: \([0-9]*\) parameters/\1/p" "$work/err"; }
says 0 parameters "{$sarvam}"
plain=$(count_of sarvam_moe)
says 0 "sarvam_moe: $((plain + 2 * 64 * (64 + 2 * 4))) parameters" \
    "{$sarvam, \"attention_bias\": true}"
# Whether head and embedding are one matrix is the whole's key, the text's, either, or nobody's.
tie() {
    says 0 parameters "{\"model_type\": \"$1\"$3, \"text_config\": {\"model_type\": \"$2\",
        \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_key_value_heads\": 4,
        \"vocab_size\": 1000, \"num_hidden_layers\": 2$4}}"
    grep -q '"tied_embeddings": true' "$work/model.json" && found=tied || found=apart
    [ $found = "$5" ] || wrong "$1$3, text$4: $found, not $5"
}
yes=', "tie_word_embeddings": true' no=', "tie_word_embeddings": false'
tie internvl qwen2 '' '' tied
tie internvl qwen2 '' "$no" tied
tie internvl qwen2 "$no" "$yes" apart
tie idefics3 llama '' "$yes" apart
tie idefics3 llama "$yes" '' tied
tie qwen2_5_vl qwen2_5_vl_text "$no" "$yes" tied
tie qwen2_5_vl qwen2_5_vl_text "$no" "$no" apart
tie paddleocr_vl paddleocr_vl_text '' "$no" tied
tie voxtral llama "$yes" "$yes" apart
tie llama4 llama4_text "$yes" "$no" apart
tie my_own llama '' "$yes" tied
tie my_own llama "$no" "$yes" apart
# Thinkers are read for their text.
says 0 'thinker_config: its text alone is the model' '{"model_type": "qwen2_5_omni",
    "thinker_config": {"text_config": {"model_type": "qwen2_5_omni_text"}}, "talker_config": {}}'
grep -q 'qwen2_5_omni: 7615616512 parameters' "$work/err" || wrong "the thinker's text"
# Mistral Large 4: layers without rotated positions have keys of the latent alone.
large='"model_type": "mistral_large4_text", "num_hidden_layers": 4'
says 0 parameters "{$large, \"no_rope_layers\": [1, 0, 1, 0]}"
half=$(sed -n 's/.*large4_text: \([0-9]*\) parameters/\1/p' "$work/err")
says 0 "large4_text: $((half - 6144 * 64 + 512 * 64 * 64)) parameters" \
    "{$large, \"no_rope_layers\": [1, 0, 0, 0]}"
says 2 'latents of a layer before are not read' "{$large, \"kv_source_layers\": [0, 0, 2, 3]}"
says 2 '"q_lora_rank": expected a smaller product of gates' '{"model_type": "axk2",
    "num_attention_heads": 60000000, "q_lora_rank": 60000000, "v_head_dim": 60000000}'
says 2 '"layer_types": expected one of linear_attention full_attention attention, found "conv"' \
    '{"model_type": "qwen3_next", "num_hidden_layers": 1, "layer_types": ["conv"]}'
says 2 '"layer_types": expected one of conv .*, found "mamba"' \
    '{"model_type": "lfm2", "num_hidden_layers": 2, "layer_types": ["conv", "mamba"]}'
# Gemma 3 states how scores are scaled, which Megatron's layer takes from there; read back, the
# model is the same. Without it there is no layer.
gemma='"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 1024,
    "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "vocab_size": 262208'
for width in 256 168; do
    says 0 'read: .*query_pre_attn_scalar' \
        "{\"model_type\": \"gemma3_text\", $gemma, \"query_pre_attn_scalar\": $width}"
    grep -q "\"score_width\": $width" "$work/model.json" || wrong "scores of $width are not kept"
    "$plumbline" example gpt --model "$work/model.json" --gpu h100-80gb --gpus 8 --sequence 4096 \
        --global-batch 32 --framework megatron --layouts all --tensor 2 --pipeline 2 \
        --micro-batch 1 -o "$work/gemma-$width" >/dev/null 2>"$work/err" &&
        "$plumbline" solve "$work/gemma-$width/problem.json" --quiet --gap 0.3 \
            -o "$work/gemma-$width/plan.json" >/dev/null 2>"$work/err" &&
        "$plumbline" report --format launch --for megatron -o "$work/gemma-$width/launch" \
            "$work/gemma-$width/plan.json" >/dev/null 2>"$work/err" &&
        "$plumbline" import megatron "$work/gemma-$width/launch/megatron.sh" \
            --vocabulary 262208 --gpus 8 -o "$work/gemma-$width/read.json" 2>"$work/err" ||
        wrong "gemma: $(cat "$work/err")"
    grep -q "softmax_scale = $width \*\* -0.5" "$work/gemma-$width/launch/plumbline_layer.py" &&
        grep -q "^gemma3_$width.module" "$work/gemma-$width/launch/plumbline_layer.py" &&
        grep -q -- "--spec plumbline_layer gemma3_$width" "$work/gemma-$width/launch/megatron.sh" ||
        wrong "gemma: the layer of $width"
    python3 -c 'import json, sys
a, b = (json.load(open(path)) for path in sys.argv[1:])
assert a["shape"] == b["shape"]
' "$work/gemma-$width/read.json" "$work/model.json" || wrong "gemma: read back otherwise"
done
sed '/score_width/d' "$work/model.json" >"$work/unsaid.json"
"$plumbline" example gpt --model "$work/unsaid.json" --gpu h100-80gb --gpus 8 --sequence 4096 \
    --global-batch 32 --framework megatron --layouts all -o "$work/unsaid" 2>"$work/err" &&
    wrong "gemma: a scale that is not stated is taken"
grep -q "4 norms" "$work/err" || wrong "gemma, not stated: $(cat "$work/err")"
[ $failed -eq 0 ] && echo "import hf, told: all as expected"
exit $failed
