// Which value a framework's key states. Keys are compared by their last part ("model.seq_length",
// "--seq-length", "SEQ_LENGTH"), in lower case and with '_' for '-'.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/import/logs/internal.h"

enum how {
    COUNT,            // a whole number above 0
    WHOLE,            // 0 too
    TRUTH,            // true or false, or nothing behind it
    FALSITY,          // the opposite
    TEXT,             // any
    SWITCH_OR_TEXT,   // any; true and false state the switch beside it alone
    NAMES,            // 1 if it is the row's text, else 0
    MEANS,            // the row's text, if it is true
    EITHER,           // the row's two texts, "A|B": A if it is true, else B
    NAMES_DISPATCHER, // of experts, in a framework's words
    NAMES_GRAPHS,     // a kind of CUDA graphs
    PRESENT,          // 1, whatever it is
    POSITIVE,         // 1 if it is a number above 0; 0 does not undo another key's 1
};

struct key_row {
    const char *key;
    enum told told;
    enum how how;
    const char *text;
};

// Megatron-LM and Megatron Core (arguments.py of several years, TransformerConfig), DeepSpeed's
// config, MLPerf's config_*.sh, torchtitan's TOML, transformers' TrainingArguments and config.json.
static const struct key_row rows[] = {
    {"world_size", TOLD_NUM_GPUS, COUNT, NULL},
    {"num_gpus", TOLD_NUM_GPUS, COUNT, NULL},
    {"ngpu", TOLD_NUM_GPUS, COUNT, NULL},
    {"num_processes", TOLD_NUM_GPUS, COUNT, NULL},
    {"nnodes", TOLD_NODES, COUNT, NULL},
    {"nodes", TOLD_NODES, COUNT, NULL},
    {"num_nodes", TOLD_NODES, COUNT, NULL},
    {"num_node", TOLD_NODES, COUNT, NULL},
    {"dgxnnodes", TOLD_NODES, COUNT, NULL},
    {"slurm_nnodes", TOLD_NODES, COUNT, NULL},
    {"nproc_per_node", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"gpus_per_node", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"dgxngpu", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"devices", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"num_layers", TOLD_LAYERS, COUNT, NULL},
    {"num_hidden_layers", TOLD_LAYERS, COUNT, NULL},
    {"n_layers", TOLD_LAYERS, COUNT, NULL},
    {"n_layer", TOLD_LAYERS, COUNT, NULL},
    {"hidden_size", TOLD_HIDDEN, COUNT, NULL},
    {"n_embd", TOLD_HIDDEN, COUNT, NULL},
    {"ffn_hidden_size", TOLD_FFN, COUNT, NULL},
    {"intermediate_size", TOLD_FFN, COUNT, NULL},
    {"num_attention_heads", TOLD_HEADS, COUNT, NULL},
    {"n_heads", TOLD_HEADS, COUNT, NULL},
    {"n_head", TOLD_HEADS, COUNT, NULL},
    {"num_query_groups", TOLD_KV_HEADS, COUNT, NULL},
    {"num_key_value_heads", TOLD_KV_HEADS, COUNT, NULL},
    {"n_kv_heads", TOLD_KV_HEADS, COUNT, NULL},
    {"group_query_attention", TOLD_GROUPED, TRUTH, NULL},
    {"kv_channels", TOLD_HEAD_WIDTH, COUNT, NULL},
    {"head_dim", TOLD_HEAD_WIDTH, COUNT, NULL},
    {"vocab_size", TOLD_VOCAB, COUNT, NULL},
    {"padded_vocab_size", TOLD_VOCAB, COUNT, NULL},
    {"seq_length", TOLD_SEQ, COUNT, NULL},
    {"encoder_seq_length", TOLD_SEQ, COUNT, NULL},
    {"seq_len", TOLD_SEQ, COUNT, NULL},
    {"cutoff_len", TOLD_SEQ, COUNT, NULL},
    {"max_seq_length", TOLD_SEQ, COUNT, NULL},
    {"sequence_len", TOLD_SEQ, COUNT, NULL},
    {"model_max_length", TOLD_SEQ, COUNT, NULL},
    {"tensor_model_parallel_size", TOLD_TP, COUNT, NULL},
    {"model_parallel_size", TOLD_TP, COUNT, NULL},
    {"tensor_model_parallel", TOLD_TP, COUNT, NULL},
    {"tensor_parallel_degree", TOLD_TP, COUNT, NULL},
    {"tensor_parallel_size", TOLD_TP, COUNT, NULL},
    {"autotp_size", TOLD_TP, COUNT, NULL},
    {"pipeline_model_parallel_size", TOLD_PP, COUNT, NULL},
    {"pipeline_model_parallel", TOLD_PP, COUNT, NULL},
    {"pipeline_parallel_degree", TOLD_PP, COUNT, NULL},
    {"pipeline_parallel_size", TOLD_PP, COUNT, NULL},
    {"pipe_parallel_size", TOLD_PP, COUNT, NULL},
    {"context_parallel_size", TOLD_CP, COUNT, NULL},
    {"context_parallel", TOLD_CP, COUNT, NULL},
    {"context_parallel_degree", TOLD_CP, COUNT, NULL},
    {"data_parallel_size", TOLD_DP, COUNT, NULL},
    {"virtual_pipeline_model_parallel_size", TOLD_VPP, COUNT, NULL},
    {"interleaved_pipeline", TOLD_VPP, COUNT, NULL},
    {"num_virtual_stages_per_pipeline_rank", TOLD_VPP, COUNT, NULL},
    {"num_layers_per_virtual_pipeline_stage", TOLD_LAYERS_OF_STAGE, COUNT, NULL},
    {"decoder_first_pipeline_num_layers", TOLD_FIRST_LAYERS, WHOLE, NULL},
    {"num_layers_in_first_pipeline_stage", TOLD_FIRST_LAYERS, WHOLE, NULL},
    {"decoder_last_pipeline_num_layers", TOLD_LAST_LAYERS, WHOLE, NULL},
    {"num_layers_in_last_pipeline_stage", TOLD_LAST_LAYERS, WHOLE, NULL},
    {"account_for_embedding_in_pipeline_split", TOLD_EMBEDDING_COUNTS, TRUTH, NULL},
    {"account_for_loss_in_pipeline_split", TOLD_HEAD_COUNTS, TRUTH, NULL},
    {"asym_pp_embed", TOLD_EMBEDDING_COUNTS, TRUTH, NULL},
    {"asym_pp_loss", TOLD_HEAD_COUNTS, TRUTH, NULL},
    {"pipeline_model_parallel_layout", TOLD_STAGES, TEXT, NULL},
    {"expert_model_parallel_size", TOLD_EP, COUNT, NULL},
    {"expert_model_parallel", TOLD_EP, COUNT, NULL},
    {"expert_parallel_degree", TOLD_EP, COUNT, NULL},
    {"expert_tensor_parallel_size", TOLD_ETP, COUNT, NULL},
    {"num_experts", TOLD_EXPERTS, COUNT, NULL},
    {"num_moe_experts", TOLD_EXPERTS, COUNT, NULL},
    {"moe_router_topk", TOLD_TOP_K, COUNT, NULL},
    {"num_experts_per_tok", TOLD_TOP_K, COUNT, NULL},
    {"moe_ffn_hidden_size", TOLD_EXPERT_FFN, COUNT, NULL},
    {"moe_shared_expert_intermediate_size", TOLD_SHARED_FFN, COUNT, NULL},
    {"q_lora_rank", TOLD_QUERY_RANK, COUNT, NULL},
    {"kv_lora_rank", TOLD_KV_RANK, COUNT, NULL},
    {"qk_pos_emb_head_dim", TOLD_ROTARY_WIDTH, COUNT, NULL},
    {"v_head_dim", TOLD_VALUE_WIDTH, COUNT, NULL},
    {"multi_latent_attention", TOLD_LATENT, TRUTH, NULL},
    {"finetuning_type", TOLD_ADAPTERS, NAMES, "lora"},
    {"params_dtype", TOLD_PRECISION, TEXT, NULL},
    {"tokenizer_type", TOLD_TOKENIZER, TEXT, NULL},
    {"position_embedding_type", TOLD_POSITION_TYPE, TEXT, NULL},
    {"use_rotary_position_embeddings", TOLD_POSITION_TYPE, MEANS, "rope"},
    {"max_position_embeddings", TOLD_MOST_POSITIONS, COUNT, NULL},
    {"micro_batch_size", TOLD_MICRO_BATCH, COUNT, NULL},
    {"local_batch_size", TOLD_MICRO_BATCH, COUNT, NULL},
    {"per_device_train_batch_size", TOLD_MICRO_BATCH, COUNT, NULL},
    {"train_micro_batch_size_per_gpu", TOLD_MICRO_BATCH, COUNT, NULL},
    {"global_batch_size", TOLD_GLOBAL_BATCH, COUNT, NULL},
    {"train_batch_size", TOLD_GLOBAL_BATCH, COUNT, NULL},
    {"gradient_accumulation_steps", TOLD_ACCUMULATION, COUNT, NULL},
    {"sequence_parallel", TOLD_SP, TRUTH, NULL},
    {"zero_stage", TOLD_ZERO, WHOLE, NULL},
    {"zero_optimization_stage", TOLD_ZERO, WHOLE, NULL},
    {"stage", TOLD_ZERO, WHOLE, NULL},
    {"use_distributed_optimizer", TOLD_ZERO, TRUTH, NULL},
    {"use_dist_optimizer", TOLD_ZERO, TRUTH, NULL},
    {"swiglu", TOLD_GATED, TRUTH, NULL},
    {"normalization", TOLD_RMS_NORM, NAMES, "RMSNorm"},
    {"untie_embeddings_and_output_weights", TOLD_TIED, FALSITY, NULL},
    {"tie_word_embeddings", TOLD_TIED, TRUTH, NULL},
    {"hidden_dropout", TOLD_DROPOUT, POSITIVE, NULL},
    {"attention_dropout", TOLD_DROPOUT, POSITIVE, NULL},
    {"add_bias_linear", TOLD_BIAS, TRUTH, NULL},
    {"disable_bias_linear", TOLD_BIAS, FALSITY, NULL},
    {"accumulate_allreduce_grads_in_fp32", TOLD_GRADIENT_BYTES, EITHER, "4|2"},
    {"grad_reduce_in_bf16", TOLD_GRADIENT_BYTES, MEANS, "2"},
    {"optimizer", TOLD_ADAM, TEXT, NULL},
    {"overlap_grad_reduce", TOLD_OVERLAP, TRUTH, NULL},
    {"overlap_comm", TOLD_OVERLAP, TRUTH, NULL},
    {"overlap_p2p_comm", TOLD_OVERLAP_MESSAGES, TRUTH, NULL},
    {"tp_comm_overlap", TOLD_OVERLAP_TENSOR, TRUTH, NULL},
    {"enable_async_tensor_parallel", TOLD_OVERLAP_TENSOR, TRUTH, NULL},
    {"cross_entropy_loss_fusion", TOLD_FUSED_LOSS, TRUTH, NULL},
    {"compile", TOLD_COMPILED, TRUTH, NULL},
    {"torch_compile", TOLD_COMPILED, TRUTH, NULL},
    {"use_flash_attn", TOLD_FLASH_SWITCH, TRUTH, NULL},
    {"use_flash_attn_v1", TOLD_FLASH_SWITCH, TRUTH, NULL},
    {"use_flash_attn_v2", TOLD_FLASH_SWITCH, TRUTH, NULL},
    {"flash_attention", TOLD_FLASH_SWITCH, TRUTH, NULL},
    {"flash_attn", TOLD_BACKEND, TEXT, NULL},
    {"attn_implementation", TOLD_BACKEND, TEXT, NULL},
    {"attention_backend", TOLD_BACKEND, TEXT, NULL},
    {"transformer_impl", TOLD_IMPLEMENTATION, TEXT, NULL},
    {"recompute_granularity", TOLD_GRANULARITY, TEXT, NULL},
    {"recompute_method", TOLD_METHOD, TEXT, NULL},
    {"recompute_num_layers", TOLD_RECOMPUTED, COUNT, NULL},
    {"recompute_modules", TOLD_MODULES, TEXT, NULL},
    {"recompute_activations", TOLD_GRANULARITY, MEANS, "selective"},
    {"checkpoint_activations", TOLD_GRANULARITY, EITHER, "full|none"},
    {"activations_checkpoint_method", TOLD_METHOD, TEXT, NULL},
    {"activations_checkpoint_granularity", TOLD_GRANULARITY, TEXT, NULL},
    {"gradient_checkpointing", TOLD_GRANULARITY, EITHER, "full|none"},
    {"bf16", TOLD_PRECISION, MEANS, "bf16"},
    {"bfloat16_enabled", TOLD_PRECISION, MEANS, "bf16"},
    {"fp16", TOLD_PRECISION, MEANS, "fp16"},
    {"fp16_enabled", TOLD_PRECISION, MEANS, "fp16"},
    {"float16_enabled", TOLD_PRECISION, MEANS, "fp16"},
    {"precision", TOLD_PRECISION, TEXT, NULL},
    {"mixed_precision", TOLD_PRECISION, TEXT, NULL},
    {"fp8", TOLD_FP8, SWITCH_OR_TEXT, NULL},
    {"fp8_format", TOLD_FP8, TEXT, NULL},
    {"fp8_hybrid", TOLD_FP8, TEXT, NULL},
    {"moe_token_dispatcher_type", TOLD_DISPATCHER, NAMES_DISPATCHER, NULL},
    {"moe_flex_dispatcher_backend", TOLD_DISPATCHER, NAMES_DISPATCHER, NULL},
    {"moe_dispatcher", TOLD_DISPATCHER, NAMES_DISPATCHER, NULL},
    {"overlap_moe_expert_parallel_comm", TOLD_OVERLAP_DISPATCH, TRUTH, NULL},
    {"moe_expert_capacity_factor", TOLD_FIXED_CAPACITY, POSITIVE, NULL},
    {"moe_pad_expert_input_to_capacity", TOLD_FIXED_CAPACITY, TRUTH, NULL},
    {"cuda_graph_impl", TOLD_GRAPHS, NAMES_GRAPHS, NULL},
    {"enable_cuda_graph", TOLD_GRAPHS, EITHER, "step|none"},
    {"external_cuda_graph", TOLD_GRAPHS, EITHER, "parts|none"},
    {"enable_offline_packing", TOLD_PACKED, TRUTH, NULL},
    {"sequence_packing", TOLD_PACKED, PRESENT, NULL},
    {"packed_sequence", TOLD_PACKED, TRUTH, NULL},
    {"deepspeed", TOLD_DEEPSPEED, TRUTH, NULL},
    {"optimizer_cpu_offload", TOLD_OFFLOAD, TRUTH, NULL},
    {"lora_r", TOLD_ADAPTERS, COUNT, NULL},
    {"lora_rank", TOLD_ADAPTERS, COUNT, NULL},
};

// Of a key: what is behind its last dot, in the rows' letters. false: it is too long for a row.
static bool plain_key(char to[TOLD_KEY], const char *key, size_t length)
{
    for (size_t i = length; i-- > 0;)
        if (key[i] == '.') {
            key += i + 1, length -= i + 1;
            break;
        }
    if (!length || length >= TOLD_KEY) return false;
    for (size_t i = 0; i < length; i++)
        to[i] = (char)(key[i] == '-' ? '_' : tolower((unsigned char)key[i]));
    to[length] = '\0';
    return true;
}

static unsigned letters_of(const char *key)
{
    unsigned h = 0;
    while (*key) h = h * 31 + (unsigned char)*key++;
    return h;
}

// The first row of the key; -1: none. The rows are hashed once a call of the program: an index is a
// row's number plus one.
static int find_row(const char *key)
{
    enum { ROOM = 512 };
    static _Thread_local unsigned char index[ROOM];
    static _Thread_local bool built;
    for (size_t i = 0; !built && i < ARRAY_LENGTH(rows); i++) {
        unsigned at = letters_of(rows[i].key) % ROOM;
        while (index[at]) at = (at + 1) % ROOM;
        index[at] = (unsigned char)(i + 1);
    }
    built = true;
    for (unsigned at = letters_of(key) % ROOM; index[at]; at = (at + 1) % ROOM)
        if (!strcmp(rows[index[at] - 1].key, key)) return index[at] - 1;
    return -1;
}

static bool is_word(const char *value, size_t length, const char *word)
{
    return strlen(word) == length && !strncasecmp(value, word, length);
}

// 1 true, 0 false, -1 neither.
static int truth_of(const char *value, size_t length)
{
    if (!length || is_word(value, length, "true") || is_word(value, length, "1")) return 1;
    return is_word(value, length, "false") || is_word(value, length, "0") ? 0 : -1;
}

static bool is_nothing(const char *value, size_t length)
{
    return is_word(value, length, "none") || is_word(value, length, "null") ||
           is_word(value, length, "auto") || is_word(value, length, "~");
}

static bool whole_of(const char *value, size_t length, int64_t *number)
{
    *number = 0;
    if (length > 2 && !strncmp(value + length - 2, ".0", 2)) length -= 2; // 288.0
    if (!length || length > 12) return false;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)value[i])) return false;
        *number = 10 * *number + (value[i] - '0');
    }
    return true;
}

static void tell_text(struct log *l, const struct key_row *row, enum told_by by, const char *text)
{
    tell(l, row->told, by, row->key, text, strlen(text));
}

static void take_truth(struct log *l, const struct key_row *row, enum told_by by, int truth)
{
    const char *bar = row->text ? strchr(row->text, '|') : NULL;
    if (truth < 0) return;
    switch (row->how) {
    case TRUTH: tell_text(l, row, by, truth ? "1" : "0"); break;
    case FALSITY: tell_text(l, row, by, truth ? "0" : "1"); break;
    case MEANS:
        if (truth) tell_text(l, row, by, row->text);
        break;
    case EITHER:
        tell(l, row->told, by, row->key, truth ? row->text : bar + 1,
             truth ? (size_t)(bar - row->text) : strlen(bar + 1));
        break;
    default: break;
    }
}

// How experts' tokens travel, and what graphs hold, as columns say it; others are not known.
static const char *word_of(enum how how, const char *value, size_t length)
{
    static const struct {
        enum how how;
        const char *word, *column;
    } names[] = {{NAMES_DISPATCHER, "alltoall", "all_to_all"},
                 {NAMES_DISPATCHER, "deepep", "deepep"},
                 {NAMES_DISPATCHER, "hybridep", "hybridep"},
                 {NAMES_GRAPHS, "transformer_engine", "parts"},
                 {NAMES_GRAPHS, "local", "step"},
                 {NAMES_GRAPHS, "full_iteration", "step"},
                 {NAMES_GRAPHS, "none", "none"}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (names[i].how == how && is_word(value, length, names[i].word)) return names[i].column;
    return NULL;
}

static void take_value(struct log *l, const struct key_row *row, enum told_by by, const char *value,
                       size_t length)
{
    int64_t number;
    switch (row->how) {
    case COUNT:
    case WHOLE:
        if (whole_of(value, length, &number) && (number > 0 || row->how == WHOLE))
            tell_count(l, row->told, by, row->key, number);
        return;
    case TEXT:
        if (length && (!is_nothing(value, length) || row->told == TOLD_GRANULARITY))
            tell(l, row->told, by, row->key, value, length);
        return;
    case SWITCH_OR_TEXT:
        if (truth_of(value, length) >= 0 && length)
            tell_text(l, &(struct key_row){row->key, TOLD_FP8_SWITCH, TRUTH, NULL}, by,
                      truth_of(value, length) ? "1" : "0");
        if (truth_of(value, length) != 0 && length && !is_nothing(value, length))
            tell(l, row->told, by, row->key, value, length);
        return;
    case NAMES: tell_text(l, row, by, is_word(value, length, row->text) ? "1" : "0"); return;
    case NAMES_DISPATCHER:
    case NAMES_GRAPHS:
        if (word_of(row->how, value, length))
            tell_text(l, row, by, word_of(row->how, value, length));
        return;
    case PRESENT:
        if (length && !is_nothing(value, length)) tell_text(l, row, by, "1");
        return;
    case POSITIVE:
        if (length && (strtod(value, NULL) > 0 || !told(l, row->told)))
            tell_text(l, row, by, strtod(value, NULL) > 0 ? "1" : "0");
        return;
    default: take_truth(l, row, by, is_nothing(value, length) ? -1 : truth_of(value, length));
    }
}

bool log_setting(struct log *l, enum told_by by, const char *key, size_t key_length,
                 const char *value, size_t length)
{
    char name[TOLD_KEY];
    if (!plain_key(name, key, key_length)) return false;
    int row = find_row(name);
    if (row < 0) return false;
    while (length && strchr("\"'`", *value)) value++, length--;
    while (length && strchr("\"'`,;)", value[length - 1])) length--;
    take_value(l, &rows[row], by, value, length);
    return true;
}

// ---- settings within a line

static bool in_key(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.'; }

static const char *end_of_value(const char *s)
{
    char close = *s == '"' || *s == '\'' ? *s : '\0';
    if (close) {
        const char *end = strchr(s + 1, close);
        return end ? end + 1 : s + strlen(s);
    }
    while (*s && !isspace((unsigned char)*s) && !strchr(",}|", *s)) s++;
    return s;
}

// A shell's default, "${NAME:=64}": the value behind the sign.
static const char *without_default(const char *value, const char **end)
{
    const char *sign = memchr(value, '{', (size_t)(*end - value));
    if (!sign) return value;
    for (const char *s = sign; s + 1 < *end; s++)
        if (*s == ':' && (s[1] == '=' || s[1] == '-')) {
            const char *close = memchr(s, '}', (size_t)(*end - s));
            if (close) *end = close;
            return s + 2;
        }
    return value;
}

// A flag at the end of a line has its value on the next.
static void take_pending(struct log *l, const char *line)
{
    char *pending = l->reader->pending;
    line += strspn(line, " \t");
    if (*pending && *line && *line != '-')
        log_setting(l, BY_SETTING, pending, strlen(pending), line, strcspn(line, " \t"));
    *pending = '\0';
}

void log_settings(struct log *l, const char *line)
{
    // The program says what it replaces by.
    enum told_by by = strstr(line, "Overriding config:") ? BY_PROGRAM : BY_SETTING;
    take_pending(l, line);
    for (const char *s = line; *s;) {
        if (!isalpha((unsigned char)*s) && *s != '_') {
            s++;
            continue;
        }
        const char *key = s;
        while (in_key(*s)) s++;
        size_t length = (size_t)(s - key);
        bool dashes = key - line >= 2 && key[-1] == '-' && key[-2] == '-';
        const char *value = s + (*s == '"' || *s == '\'');
        value += strspn(value, " ");
        bool signed_ = *value == '=' || *value == ':';
        if (signed_) value += 1, value += strspn(value, " ");
        else if (!dashes || value == s) {
            if (dashes) log_setting(l, by, key, length, "", 0);
            if (dashes && !*s && length < TOLD_KEY)
                memcpy(l->reader->pending, key, length), l->reader->pending[length] = '\0';
            continue;
        }
        if (!signed_ && value[0] == '-' && value[1] == '-') { // a flag, and the next one
            log_setting(l, by, key, length, "", 0);
            continue;
        }
        const char *end = end_of_value(value), *from = value;
        if (*from == '"' || *from == '$') from = without_default(from, &end);
        if (log_setting(l, by, key, length, from, (size_t)(end - from)) || dashes)
            s = end > s ? end : s;
    }
}
