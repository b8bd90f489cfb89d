// Which value a key states: of the frameworks' rows, and of logs alone. Keys are compared by their
// last part ("model.seq_length"), in lower case and with '_' for '-'.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/frameworks/setting.h"
#include "data/import/logs/internal.h"

enum how {
    AS_KIND,          // of a setting's row
    COUNT,            // a whole number above 0
    SEVERAL,          // above 1: a launcher's one task starts others
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
    SHARDS,           // FSDP's words for what it shards, and "offload"
    PLACES,           // 1, unless the place is "none"
    POSITIVE,         // 1 if it is a number above 0; 0 does not undo another key's 1
};

struct key_row {
    const char *key;
    enum told told;
    enum how how;
    const char *text;
};

// Keys that no configuration has: of older programs' printed arguments, of DeepSpeed's own
// printing, MLPerf's config_*.sh, transformers; and those that mean something else in a log.
static const struct key_row rows[] = {
    {"world_size", TOLD_NUM_GPUS, COUNT, NULL},
    {"nnodes", TOLD_NODES, COUNT, NULL},
    {"devices", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"swiglu", TOLD_GATED, TRUTH, NULL},
    {"gated_linear_unit", TOLD_GATED, TRUTH, NULL},
    {"grad_reduce_in_fp32", TOLD_GRADIENT_BYTES, EITHER, "4|2"},
    {"optimizer", TOLD_ADAM, TEXT, NULL},
    {"compile", TOLD_COMPILED, TRUTH, NULL},
    {"bf16", TOLD_PRECISION, MEANS, "bf16"},
    {"fp16", TOLD_PRECISION, MEANS, "fp16"},
    {"precision", TOLD_PRECISION, TEXT, NULL},
    {"deepspeed", TOLD_DEEPSPEED, TRUTH, NULL},
    {"num_gpus", TOLD_NUM_GPUS, COUNT, NULL},
    {"np", TOLD_NUM_GPUS, COUNT, NULL}, // mpirun's
    {"ngpu", TOLD_NUM_GPUS, COUNT, NULL},
    {"num_processes", TOLD_NUM_GPUS, COUNT, NULL},
    {"nodes", TOLD_NODES, COUNT, NULL},
    {"num_node", TOLD_NODES, COUNT, NULL},
    {"dgxnnodes", TOLD_NODES, COUNT, NULL},
    {"slurm_nnodes", TOLD_NODES, COUNT, NULL},
    {"gpus_per_node", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"num_gpus_per_node", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"dgxngpu", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"ppn", TOLD_GPUS_PER_NODE, COUNT, NULL},
    {"ntasks_per_node", TOLD_GPUS_PER_NODE, SEVERAL, NULL},
    {"dp_shard_size", TOLD_DP, COUNT, NULL}, // accelerate's
    {"dropout", TOLD_DROPOUT, POSITIVE, NULL},
    {"num_hidden_layers", TOLD_LAYERS, COUNT, NULL},
    {"n_layers", TOLD_LAYERS, COUNT, NULL},
    {"n_layer", TOLD_LAYERS, COUNT, NULL},
    {"n_embd", TOLD_HIDDEN, COUNT, NULL},
    {"n_heads", TOLD_HEADS, COUNT, NULL},
    {"n_head", TOLD_HEADS, COUNT, NULL},
    {"num_heads", TOLD_HEADS, COUNT, NULL},
    {"n_kv_heads", TOLD_KV_HEADS, COUNT, NULL},
    {"num_kv_heads", TOLD_KV_HEADS, COUNT, NULL},
    {"head_dim", TOLD_HEAD_WIDTH, COUNT, NULL},
    {"cutoff_len", TOLD_SEQ, COUNT, NULL},
    {"max_seq_length", TOLD_SEQ, COUNT, NULL},
    {"max_seq_len", TOLD_SEQ, COUNT, NULL},
    {"sequence_len", TOLD_SEQ, COUNT, NULL},
    {"model_max_length", TOLD_SEQ, COUNT, NULL},
    {"packed_sequence_size", TOLD_SEQ, COUNT, NULL},
    {"block_size", TOLD_SEQ, COUNT, NULL},
    {"max_len", TOLD_SEQ, COUNT, NULL},
    {"max_words", TOLD_SEQ, COUNT, NULL},
    {"max_source_length", TOLD_SOURCE, COUNT, NULL},
    {"max_target_length", TOLD_TARGET, COUNT, NULL},
    {"model_parallel_size", TOLD_TP, COUNT, NULL},
    {"model_parallel", TOLD_TP, COUNT, NULL},
    {"tp_size", TOLD_TP, COUNT, NULL},
    {"pp_size", TOLD_PP, COUNT, NULL},
    {"cp_size", TOLD_CP, COUNT, NULL},
    {"dp_size", TOLD_DP, COUNT, NULL},
    {"ep_size", TOLD_EP, COUNT, NULL},
    {"tensor_model_parallel", TOLD_TP, COUNT, NULL},
    {"tensor_parallel_size", TOLD_TP, COUNT, NULL},
    {"pipeline_model_parallel", TOLD_PP, COUNT, NULL},
    {"pipeline_parallel_size", TOLD_PP, COUNT, NULL},
    {"pipe_parallel_size", TOLD_PP, COUNT, NULL},
    {"context_parallel", TOLD_CP, COUNT, NULL},
    {"data_parallel_size", TOLD_DP, COUNT, NULL},
    {"interleaved_pipeline", TOLD_VPP, COUNT, NULL},
    {"num_layers_in_first_pipeline_stage", TOLD_FIRST_LAYERS, WHOLE, NULL},
    {"num_layers_in_last_pipeline_stage", TOLD_LAST_LAYERS, WHOLE, NULL},
    {"asym_pp_embed", TOLD_EMBEDDING_COUNTS, TRUTH, NULL},
    {"asym_pp_loss", TOLD_HEAD_COUNTS, TRUTH, NULL},
    {"expert_model_parallel", TOLD_EP, COUNT, NULL},
    {"num_experts_per_tok", TOLD_TOP_K, COUNT, NULL},
    {"top_k_experts", TOLD_TOP_K, COUNT, NULL},
    {"finetuning_type", TOLD_ADAPTERS, NAMES, "lora"},
    {"params_dtype", TOLD_PRECISION, TEXT, NULL},
    {"compute_dtype", TOLD_PRECISION, TEXT, NULL}, // NeMo's performance scripts
    {"tokenizer_type", TOLD_TOKENIZER, TEXT, NULL},
    {"per_device_train_batch_size", TOLD_MICRO_BATCH, COUNT, NULL},
    {"micro_train_batch_size", TOLD_MICRO_BATCH, COUNT, NULL},
    {"device_train_microbatch_size", TOLD_MICRO_BATCH, COUNT, NULL},
    {"pp_microbatch_size", TOLD_MICRO_BATCH, COUNT, NULL},
    {"zero_stage", TOLD_ZERO, WHOLE, NULL},
    {"zero_optimization_stage", TOLD_ZERO, WHOLE, NULL},
    {"stage", TOLD_ZERO, WHOLE, NULL},
    {"fsdp", TOLD_ZERO, SHARDS, NULL},
    {"fsdp_sharding_strategy", TOLD_ZERO, SHARDS, NULL},
    {"offload_optimizer", TOLD_OFFLOAD, PLACES, NULL},
    {"offload_param", TOLD_OFFLOAD_WEIGHTS, PLACES, NULL},
    {"use_dist_optimizer", TOLD_ZERO, TRUTH, NULL},
    {"normalization", TOLD_RMS_NORM, NAMES, "RMSNorm"},
    {"tie_word_embeddings", TOLD_TIED, TRUTH, NULL},
    {"torch_compile", TOLD_COMPILED, TRUTH, NULL},
    {"flash_attention", TOLD_FLASH_SWITCH, TRUTH, NULL},
    {"flash_attn", TOLD_BACKEND, TEXT, NULL},
    {"attn_implementation", TOLD_BACKEND, TEXT, NULL},
    {"transformer_impl", TOLD_IMPLEMENTATION, TEXT, NULL},
    {"gradient_checkpointing", TOLD_GRANULARITY, EITHER, "full|none"},
    {"activation_checkpointing", TOLD_GRANULARITY, MEANS, "full"},
    {"checkpoint_mode", TOLD_GRANULARITY, TEXT, NULL},
    {"act_ckpt_granularity", TOLD_GRANULARITY, TEXT, NULL}, // MLPerf's exports
    {"quantization_bit", TOLD_WEIGHT_BITS, COUNT, NULL},
    {"load_in_4bit", TOLD_WEIGHT_BITS, MEANS, "4"},
    {"load_in_8bit", TOLD_WEIGHT_BITS, MEANS, "8"},
    {"bfloat16_enabled", TOLD_PRECISION, MEANS, "bf16"},
    {"fp16_enabled", TOLD_PRECISION, MEANS, "fp16"},
    {"float16_enabled", TOLD_PRECISION, MEANS, "fp16"},
    {"fp8", TOLD_FP8, SWITCH_OR_TEXT, NULL},
    {"fp4", TOLD_FP4, TEXT, NULL},
    {"fp8_hybrid", TOLD_FP8, MEANS, "hybrid"}, // one of both is true
    {"fp8_e4m3", TOLD_FP8, MEANS, "e4m3"},
    {"converters", TOLD_FP8, NAMES, "float8"},
    {"moe_dispatcher", TOLD_DISPATCHER, NAMES_DISPATCHER, NULL},
    {"enable_cuda_graph", TOLD_GRAPHS, EITHER, "step|none"},
    {"external_cuda_graph", TOLD_GRAPHS, EITHER, "parts|none"},
    {"enable_offline_packing", TOLD_PACKED, TRUTH, NULL},
    {"sequence_packing", TOLD_PACKED, PRESENT, NULL},
    {"packed_sequence", TOLD_PACKED, TRUTH, NULL},
    {"adapter_name", TOLD_ADAPTERS, NAMES, "lora"},
    {"use_lora", TOLD_ADAPTERS, TRUTH, NULL},
    {"use_peft", TOLD_ADAPTERS, TRUTH, NULL},
    {"use_gradient_checkpointing", TOLD_GRANULARITY, EITHER, "full|none"},
    {"lora_r", TOLD_ADAPTERS, COUNT, NULL},
    {"lora_rank", TOLD_ADAPTERS, COUNT, NULL},
};

// What a member of a run is as a value that is told; how: if not by its row's kind.
static const struct meaning {
    size_t member; // of struct run
    enum told told;
    enum how how;
    const char *text;
} meanings[] = {
#define MEANS_OF(member) offsetof(struct run, member)
    {MEANS_OF(nodes), TOLD_NODES, AS_KIND, NULL},
    {MEANS_OF(processes), TOLD_GPUS_PER_NODE, AS_KIND, NULL},
    {MEANS_OF(layers), TOLD_LAYERS, AS_KIND, NULL},
    {MEANS_OF(shape.hidden), TOLD_HIDDEN, AS_KIND, NULL},
    {MEANS_OF(shape.ffn), TOLD_FFN, AS_KIND, NULL},
    {MEANS_OF(shape.heads), TOLD_HEADS, AS_KIND, NULL},
    {MEANS_OF(groups), TOLD_KV_HEADS, AS_KIND, NULL},
    {MEANS_OF(key_value_heads), TOLD_KV_HEADS, AS_KIND, NULL},
    {MEANS_OF(grouped), TOLD_GROUPED, AS_KIND, NULL},
    {MEANS_OF(shape.head_width), TOLD_HEAD_WIDTH, AS_KIND, NULL},
    {MEANS_OF(shape.vocabulary), TOLD_VOCAB, AS_KIND, NULL},
    {MEANS_OF(padded_vocabulary), TOLD_VOCAB, AS_KIND, NULL},
    {MEANS_OF(job.sequence), TOLD_SEQ, AS_KIND, NULL},
    {MEANS_OF(data_sequence), TOLD_SEQ, AS_KIND, NULL},
    {MEANS_OF(job.layout.tensor), TOLD_TP, AS_KIND, NULL},
    {MEANS_OF(job.layout.pipeline), TOLD_PP, AS_KIND, NULL},
    {MEANS_OF(job.layout.context), TOLD_CP, AS_KIND, NULL},
    {MEANS_OF(stages_of_rank), TOLD_VPP, AS_KIND, NULL},
    {MEANS_OF(layers_of_stage), TOLD_LAYERS_OF_STAGE, AS_KIND, NULL},
    {MEANS_OF(first_stage), TOLD_FIRST_LAYERS, WHOLE, NULL},
    {MEANS_OF(last_stage), TOLD_LAST_LAYERS, WHOLE, NULL},
    {MEANS_OF(counts_embedding), TOLD_EMBEDDING_COUNTS, AS_KIND, NULL},
    {MEANS_OF(counts_loss), TOLD_HEAD_COUNTS, AS_KIND, NULL},
    {MEANS_OF(stages), TOLD_STAGES, AS_KIND, NULL},
    {MEANS_OF(job.layout.expert), TOLD_EP, AS_KIND, NULL},
    {MEANS_OF(expert_tensor), TOLD_ETP, AS_KIND, NULL},
    {MEANS_OF(experts.experts), TOLD_EXPERTS, AS_KIND, NULL},
    {MEANS_OF(experts.top_k), TOLD_TOP_K, AS_KIND, NULL},
    {MEANS_OF(experts.ffn), TOLD_EXPERT_FFN, AS_KIND, NULL},
    {MEANS_OF(experts.shared_ffn), TOLD_SHARED_FFN, AS_KIND, NULL},
    {MEANS_OF(shape.query_rank), TOLD_QUERY_RANK, AS_KIND, NULL},
    {MEANS_OF(shape.kv_rank), TOLD_KV_RANK, AS_KIND, NULL},
    {MEANS_OF(shape.rotary_width), TOLD_ROTARY_WIDTH, AS_KIND, NULL},
    {MEANS_OF(shape.value_width), TOLD_VALUE_WIDTH, AS_KIND, NULL},
    {MEANS_OF(latent), TOLD_LATENT, AS_KIND, NULL},
    {MEANS_OF(position_type), TOLD_POSITION_TYPE, AS_KIND, NULL},
    {MEANS_OF(rotary_flag), TOLD_POSITION_TYPE, MEANS, "rope"},
    {MEANS_OF(positions), TOLD_MOST_POSITIONS, AS_KIND, NULL},
    {MEANS_OF(job.layout.micro_batch), TOLD_MICRO_BATCH, AS_KIND, NULL},
    {MEANS_OF(local_batch), TOLD_MICRO_BATCH, AS_KIND, NULL},
    {MEANS_OF(micro_batch), TOLD_MICRO_BATCH, AS_KIND, NULL},
    {MEANS_OF(job.global_batch), TOLD_GLOBAL_BATCH, AS_KIND, NULL},
    {MEANS_OF(global_batch), TOLD_GLOBAL_BATCH, AS_KIND, NULL},
    {MEANS_OF(steps), TOLD_ACCUMULATION, AS_KIND, NULL},
    {MEANS_OF(job.layout.sequence_parallel), TOLD_SP, AS_KIND, NULL},
    {MEANS_OF(job.layout.zero), TOLD_ZERO, AS_KIND, NULL},
    {MEANS_OF(distributed), TOLD_ZERO, AS_KIND, NULL},
    {MEANS_OF(shape.tied_embeddings), TOLD_TIED, AS_KIND, NULL},
    {MEANS_OF(hidden_dropout), TOLD_DROPOUT, AS_KIND, NULL},
    {MEANS_OF(attention_dropout), TOLD_DROPOUT, AS_KIND, NULL},
    {MEANS_OF(shape.linear_bias), TOLD_BIAS, AS_KIND, NULL},
    {MEANS_OF(gradients_in_fp32), TOLD_GRADIENT_BYTES, EITHER, "4|2"},
    {MEANS_OF(gradients_in_bf16), TOLD_GRADIENT_BYTES, MEANS, "2"},
    {MEANS_OF(optimizer), TOLD_ADAM, AS_KIND, NULL},
    {MEANS_OF(job.layout.gradient_sync), TOLD_OVERLAP, AS_KIND, NULL},
    {MEANS_OF(overlap), TOLD_OVERLAP, TRUTH, NULL},
    {MEANS_OF(job.overlapped_messages), TOLD_OVERLAP_MESSAGES, AS_KIND, NULL},
    {MEANS_OF(job.overlapped_tensor), TOLD_OVERLAP_TENSOR, AS_KIND, NULL},
    {MEANS_OF(job.fused_loss), TOLD_FUSED_LOSS, AS_KIND, NULL},
    {MEANS_OF(flash), TOLD_FLASH_SWITCH, AS_KIND, NULL},
    {MEANS_OF(backend), TOLD_BACKEND, AS_KIND, NULL},
    {MEANS_OF(granularity), TOLD_GRANULARITY, AS_KIND, NULL},
    {MEANS_OF(method), TOLD_METHOD, AS_KIND, NULL},
    {MEANS_OF(recomputed), TOLD_RECOMPUTED, AS_KIND, NULL},
    {MEANS_OF(modules), TOLD_MODULES, AS_KIND, NULL},
    {MEANS_OF(module_list), TOLD_MODULES, AS_KIND, NULL},
    {MEANS_OF(selective), TOLD_GRANULARITY, MEANS, "selective"},
    {MEANS_OF(checkpointed), TOLD_GRANULARITY, EITHER, "full|none"},
    {MEANS_OF(precision), TOLD_PRECISION, AS_KIND, NULL},
    {MEANS_OF(fp8), TOLD_FP8, AS_KIND, NULL},
    {MEANS_OF(fp8_flag), TOLD_FP8, AS_KIND, NULL},
    {MEANS_OF(fp8_recipe), TOLD_FP8_RECIPE, TEXT, NULL},
    {MEANS_OF(fp4), TOLD_FP4, TEXT, NULL},
    {MEANS_OF(dispatcher), TOLD_DISPATCHER, NAMES_DISPATCHER, NULL},
    {MEANS_OF(dispatch_kernels), TOLD_DISPATCHER, NAMES_DISPATCHER, NULL},
    {MEANS_OF(job.overlapped_dispatch), TOLD_OVERLAP_DISPATCH, AS_KIND, NULL},
    {MEANS_OF(capacity), TOLD_FIXED_CAPACITY, AS_KIND, NULL},
    {MEANS_OF(job.fixed_capacity), TOLD_FIXED_CAPACITY, AS_KIND, NULL},
    {MEANS_OF(graphs), TOLD_GRAPHS, NAMES_GRAPHS, NULL},
    {MEANS_OF(job.layout.offload_optimizer), TOLD_OFFLOAD, AS_KIND, NULL},
#undef MEANS_OF
};

// What is behind a key's last dot, in the rows' letters. false: it is too long for a row.
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
    for (; *key; key++) h = h * 31 + (unsigned char)*key;
    return h;
}

// ---- all keys: those above, and of frameworks' rows those of several words that mean one thing

enum { KEY_ROOM = 4096 };

struct log_keys {
    struct key_row *at[KEY_ROOM]; // by letters; told TOLD_COUNT: of several meanings
};

static struct key_row **place_of(struct log_keys *keys, const char *key)
{
    unsigned at = letters_of(key) % KEY_ROOM;
    while (keys->at[at] && strcmp(keys->at[at]->key, key) != 0) at = (at + 1) % KEY_ROOM;
    return &keys->at[at];
}

static enum how how_of_kind(enum setting_kind kind)
{
    switch (kind) {
    case SETTING_FLAG:
    case SETTING_TRUE:
    case SETTING_SWITCH: return TRUTH;
    case SETTING_UNLESS: return FALSITY;
    case SETTING_NUMBER:
    case SETTING_ROUND:
    case SETTING_SHARE: return POSITIVE;
    case SETTING_INT:
    case SETTING_COUNT:
    case SETTING_WHOLE: return COUNT;
    default: return TEXT;
    }
}

static const struct meaning *meaning_of(const struct setting_row *row)
{
    bool read = row->kind != SETTING_LEFT && row->kind != SETTING_LATER && row->use != ONLY_WRITTEN;
    for (size_t i = 0; read && i < ARRAY_LENGTH(meanings); i++)
        if (meanings[i].member == row->at) return &meanings[i];
    return NULL;
}

static void take_framework(struct log_keys *keys, const struct setting_rows *of,
                           struct arena *arena)
{
    const struct setting_rows names = setting_rows_of(of, arena);
    char key[TOLD_KEY];
    for (int i = 0; i < names.count; i++) {
        const struct setting_row *row = &names.rows[i];
        const struct meaning *m = meaning_of(row);
        if (!plain_key(key, row->key, strlen(row->key)) || !strchr(key, '_')) continue;
        struct key_row **to = place_of(keys, key);
        bool own = *to >= rows && *to < rows + ARRAY_LENGTH(rows);
        if (own || (*to && m && (*to)->told == m->told)) continue;
        if (!*to) *to = TAKE(arena, 1, struct key_row);
        else m = NULL;
        **to = (struct key_row){.key = arena_copy_text(arena, key), .told = TOLD_COUNT};
        if (!m) continue;
        (*to)->told = m->told, (*to)->text = m->text;
        (*to)->how = m->how == AS_KIND ? how_of_kind(row->kind) : m->how;
    }
}

struct log_keys *log_keys_make(struct arena *arena)
{
    static const struct setting_rows *const frameworks[] = {&megatron_rows, &nemo_rows,
                                                            &deepspeed_rows, &torchtitan_rows};
    struct log_keys *keys = TAKE(arena, 1, struct log_keys);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        *place_of(keys, rows[i].key) = (struct key_row *)&rows[i];
    for (size_t i = 0; i < ARRAY_LENGTH(frameworks); i++)
        take_framework(keys, frameworks[i], arena);
    return keys;
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
    case EITHER: // FSDP's own switch stays
        if (!truth && !strcmp(l->told[row->told].key, "activation_checkpointing")) break;
        tell(l, row->told, by, row->key, truth ? row->text : bar + 1,
             truth ? (size_t)(bar - row->text) : strlen(bar + 1));
        break;
    default: break;
    }
}

// How experts' tokens travel, and what graphs hold, as columns say it.
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

// "full_shard auto_wrap offload", FULL_SHARD; FSDP's offload takes weights and optimizer along.
static void take_shards(struct log *l, const struct key_row *row, enum told_by by,
                        const char *value, size_t length)
{
    static const struct {
        const char *word, *zero;
    } kinds[] = {
        {"full_shard", "3"}, {"hybrid_shard", "3"}, {"shard_grad_op", "2"}, {"no_shard", "0"}};
    char text[TOLD_TEXT];
    snprintf(text, sizeof text, "%.*s", (int)(length < TOLD_TEXT ? length : TOLD_TEXT - 1), value);
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        if (find_in_any_case(text, kinds[i].word)) tell_text(l, row, by, kinds[i].zero);
    if (find_in_any_case(text, "offload"))
        tell_text(l, &(struct key_row){row->key, TOLD_OFFLOAD, PRESENT, NULL}, by, "1");
}

static void take_value(struct log *l, const struct key_row *row, enum told_by by, const char *value,
                       size_t length)
{
    int64_t number;
    switch (row->how) {
    case COUNT:
    case SEVERAL:
    case WHOLE:
        if (whole_of(value, length, &number) && (number > 0 || row->how == WHOLE) &&
            (number > 1 || row->how != SEVERAL))
            tell_count(l, row->told, by, row->key, number);
        return;
    case TEXT:
        if (row->told == TOLD_ADAM && // a size in MB; "FP16_Optimizer", around another
            (!isalpha((unsigned char)*value) || (length > 10 && value[length - 9] == 'O')))
            return;
        if (length && (!is_nothing(value, length) || row->told == TOLD_GRANULARITY))
            tell(l, row->told, by, row->key, value, length);
        if (!length && row->told == TOLD_BACKEND) tell_text(l, row, by, "flash"); // a bare flag
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
    case SHARDS: take_shards(l, row, by, value, length); return;
    case PRESENT:
    case PLACES:
        if (length && !is_nothing(value, length) && (row->how == PRESENT || !strstr(value, "none")))
            tell_text(l, row, by, "1");
        return;
    case POSITIVE:
        if (length && (strtod(value, NULL) > 0 || l->told[row->told].by < by))
            tell_text(l, row, by, strtod(value, NULL) > 0 ? "1" : "0");
        return;
    default: take_truth(l, row, by, is_nothing(value, length) ? -1 : truth_of(value, length));
    }
}

bool log_setting(struct log *l, enum told_by by, const char *key, size_t key_length,
                 const char *value, size_t length)
{
    char name[TOLD_KEY];
    static const char section[] = "activation_checkpoint.mode"; // of torchtitan: a word of its own
    if (key_length == strlen(section) && !strncmp(key, section, key_length))
        key = "checkpoint_mode", key_length = strlen(key);
    if (!plain_key(name, key, key_length)) return false;
    const struct key_row *row = *place_of(l->reader->keys, name);
    if (!row || row->told == TOLD_COUNT) return false;
    // The data's sequences, not what the model could have.
    if (by == BY_SETTING && strcmp(name, "sequence_length") == 0) by = BY_PROGRAM;
    while (length && strchr("\"'`", *value)) value++, length--;
    while (length && strchr("\"'`,;)", value[length - 1])) length--;
    take_value(l, row, by, value, length);
    return true;
}
