// Finds the class of a config by its name, or by the architecture that it states; for one that is
// not read, why, and the nearest.
#include <ctype.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

const struct hf_class *hf_find_class(const char *name)
{
    const struct hf_class *class;
    for (int i = 0; (class = hf_class_at(i)); i++)
        if (!strcmp(class->name, name)) return class;
    return NULL;
}

static const char *const *class_names(struct arena *arena)
{
    int count = 0, towers = 0;
    while (hf_class_at(count)) count++;
    while (hf_tower_name(towers)) towers++;
    const char **names = TAKE(arena, count + towers + 1, const char *);
    for (int i = 0; i < count; i++) names[i] = hf_class_at(i)->name;
    for (int i = 0; i < towers; i++) names[count + i] = hf_tower_name(i);
    return names;
}

// ---- classes that are not supported: why, and the nearest supported one

#define LINEAR "layers of linear attention"
#define FLASH "linear attention of a kind of its own (flash-linear-attention)"
#define PAIRED "an encoder of such layers beside its decoder"
#define SHARED "layers of a state space, and blocks of attention that several of them share"
#define CONVOLVED "convolutions beside its attention"

static const struct unread {
    const char *name, *has, *nearest;
} unread[] = {
    {"recurrent_gemma", LINEAR, "gemma2"},
    {"gla", FLASH, "gated_deltanet"},
    {"delta_net", FLASH, "gated_deltanet"},
    {"gsa", FLASH, "gated_deltanet"},
    {"hgrn", FLASH, "gated_deltanet"},
    {"hgrn2", FLASH, "gated_deltanet"},
    {"retnet", FLASH, "gated_deltanet"},
    {"rwkv6", FLASH, "rwkv"},
    {"rwkv7", FLASH, "rwkv"},
    {"kda", FLASH, "kimi_linear"},
    {"gated_deltaproduct", FLASH, "gated_deltanet"},
    {"samba", FLASH, "mamba"},
    {"forgetting_transformer", FLASH, "transformer"},
    {"xlstm", "layers of long short-term memory", "mamba2"},
    {"zamba", SHARED, "bamba"},
    {"zamba2", SHARED ", with adapters for each use", "bamba"},
    {"deepseek_v4", "compressed attention and hyper-connections", "deepseek_v32"},
    {"hy_v4", "hyper-connections", "glm_moe_dsa"},
    {"jetmoe", "mixtures of attention's heads", "mixtral"},
    {"blt", "bytes that are patched", "llama"},
    {"dory", "states of unit length, with rates of channels", "afmoe"},
    {"dots3_note", "norms of rotated keys and gates in its latent attention", "deepseek_v32"},
    {"hrm", "layers that are run again", "llama"},
    {"inkling", CONVOLVED, "mixtral"},
    {"inkling2", CONVOLVED, "mixtral"},
    {"inkling2_loop", CONVOLVED ", and layers that are run again", "mixtral"},
    {"phi4_multimodal", "adapters for images and sound", "phi3"},
    {"qwen4_exp", "embeddings of several tokens and gated residuals", "qwen3_5_text"},
    {"zaya", "convolved attention and routers of layers", "qwen3_moe"},
    {"glm5_next", "hyper-connections and keys found in pools", "glm_moe_dsa"},
    {"ernie4_5_vl_moe", "experts of images beside those of text", "ernie4_5_moe"},
    {"unlimited_ocr", "windows beside a part that all tokens see", "deepseek_ocr2"},
    {"voxtral_realtime", "norms that depend on a delay", "mistral"},
    {"whisper", "an encoder of sound beside its decoder", "qwen2_audio"},
    {"gemma4_assistant", "layers on the keys of the model that it drafts for", "gemma4_text"},
    {"gemma4_unified_assistant", "layers on the keys of the model that it drafts for",
     "gemma4_text"},
    {"git", "an encoder of images before its decoder", "llava"},
    {"clip", "towers of images and of text alone", "llava"},
    {"siglip", "towers of images and of text alone", "llava"},
    {"mllama", "layers of cross attention to images", "llava"},
    {"modernbert", "windows to both sides", "eurobert"},
    {"modernvbert", "windows to both sides", "eurobert"},
    {"evolla", "layers that attend to a protein, and its encoder", "llama"},
    {"albert", "one layer for all, between embeddings of another width", "bert"},
    {"t5gemma", PAIRED, "gemma2"},
    {"t5gemma2", PAIRED, "gemma3_text"},
    {"deberta", "attention to relative positions", "roberta"},
    {"deberta-v2", "attention to relative positions", "roberta"},
    {"switch_transformers", "experts in an encoder and its decoder", "t5"},
    {"nllb-moe", "experts in an encoder and its decoder", "m2m_100"},
    {"longt5", "windows in an encoder beside its decoder", "t5"},
    {"led", "windows in an encoder beside its decoder", "bart"},
    {"kyutai_speech_to_text", "a table for each stream of sound", "llama"},
    {"moshi", "a table for each stream of sound", "llama"},
    {"chameleon", "tokens of images among those of text", "llama"},
    {"emu3", "tokens of images among those of text", "llama"},
    {"idefics", "layers of cross attention to images", "llava"},
    {"electra", "a discriminator beside its encoder", "bert"},
    {"xlm", "embeddings of languages", "roberta"},
};

// Letters and digits alone, in lower case, up to an end.
static const char *squashed(const char *text, size_t length, struct arena *arena)
{
    char *to = TAKE(arena, length + 1, char);
    int count = 0;
    for (size_t i = 0; i < length && text[i]; i++)
        if (isalnum((unsigned char)text[i])) to[count++] = (char)tolower((unsigned char)text[i]);
    return to;
}

// Whether a class of this name has the architecture, of which what is before its task counts.
static bool is_architecture(const char *name, const char *of, struct arena *arena)
{
    const char *end = strstr(of, "For");
    if (!end) end = strstr(of, "LMHead");
    if (!end || end == of) return false;
    const char *words = squashed(of, (size_t)(end - of), arena),
               *own = squashed(name, strlen(name), arena);
    size_t length = strlen(words);
    return !strncmp(own, words, length) && (!own[length] || !strcmp(own + length, "text"));
}

const struct hf_class *hf_find_architecture(const char *architecture, struct arena *arena)
{
    const struct hf_class *class;
    for (int i = 0; architecture && (class = hf_class_at(i)); i++)
        if (is_architecture(class->name, architecture, arena)) return class;
    return NULL;
}

static const struct unread *find_unread(const char *type, const char *architecture,
                                        struct arena *arena)
{
    for (size_t i = 0; i < ARRAY_LENGTH(unread); i++) {
        size_t length = strlen(unread[i].name);
        if (!strncmp(type, unread[i].name, length) && (!type[length] || type[length] == '_'))
            return &unread[i];
    }
    for (size_t i = 0; architecture && i < ARRAY_LENGTH(unread); i++)
        if (is_architecture(unread[i].name, architecture, arena)) return &unread[i];
    return NULL;
}

const char *hf_why_not(const char *type, const char *architecture, struct arena *arena)
{
    const char *const *names = class_names(arena);
    const struct unread *u = find_unread(type, architecture, arena);
    int count = 0, meant;
    if (u) return arena_print(arena, ": it has %s; the nearest that is: %s", u->has, u->nearest);
    while (names[count]) count++;
    meant = name_within(type, names, count, strlen(type) > 6 ? 2 : 1);
    if (meant >= 0 && strlen(type) > 3)
        return arena_print(arena, "; the nearest name that is: %s", names[meant]);
    return arena_print(
        arena, ", nor a name near it: docs/FORMATS.md (import hf) lists the %d classes that are",
        count);
}

// ---- what is no config of a model

static enum status refuse_other(const struct hf_model *x, struct error *err)
{
    const char *adapter = NULL, *base = NULL, *part = NULL;
    TRY(hf_text(x, "peft_type", &adapter, err));
    TRY(hf_text(x, "base_model_name_or_path", &base, err));
    TRY(hf_text(x, "_class_name", &part, err));
    if (adapter)
        return json_refuse(x->root, err,
                           "peft_type: %s: an adapter, expected the config.json of its model%s%s; "
                           "the model's runs state adapter_rank (docs/FORMATS.md)",
                           adapter, base ? ", " : "", base ? base : "");
    if (part)
        return json_refuse(x->root, err,
                           "_class_name: %s: a part of a pipeline of diffusers, expected the "
                           "config.json of a language model",
                           part);
    return json_refuse(x->root, err,
                       "key \"model_type\" is missing: expected the config.json of one model");
}

// ---- the class of a config

static enum status read_architecture(const struct hf_model *x, const char **to, struct error *err)
{
    struct json list = {0};
    struct json_field fields[] = {FIELD_ARRAY("architectures", OPTIONAL, &list)};
    const char **names = NULL;
    int count = 0;
    *to = NULL;
    TRY(json_lenient(x->root, fields, 1, x->arena, err));
    if (json_is_present(&list)) TRY(json_texts(&list, &names, &count, x->arena, err));
    if (count) *to = names[0];
    return OK;
}

// In a model of several modalities, the part that reads and writes text.
static enum status find_text(struct hf_model *x, struct json *text, struct error *err)
{
    static const char *const keys[] = {"text_config", "llm_config", "language_config"};
    struct json *thinker = TAKE(x->arena, 1, struct json);
    struct json_field thinks[] = {FIELD_OBJECT("thinker_config", OPTIONAL, thinker)};
    TRY(HF_FIELDS(x, thinks, err));
    if (json_is_present(thinker)) {
        x->root = x->whole = thinker;
        said_line(x->asked->said,
                  "thinker_config: its text alone is the model: what hears, sees and speaks is "
                  "left out");
    }
    for (size_t i = 0; i < ARRAY_LENGTH(keys) && !json_is_present(text); i++) {
        struct json_field parts[] = {FIELD_OBJECT(keys[i], OPTIONAL, text)};
        TRY(HF_FIELDS(x, parts, err));
    }
    return OK;
}

// An encoder alone has half of its class; other tasks have a head of their own.
static enum status weigh_task(const struct hf_model *x, const char *architecture, struct error *err)
{
    static const char tasks[] = "CausalLM ConditionalGeneration MaskedLM PreTraining Seq2SeqLM";
    const char *task = architecture ? strstr(architecture, "For") : NULL;
    if (architecture && strstr(architecture, "EncoderModel"))
        return json_refuse(x->root, err, "architectures: %s: the encoder of a %s alone is not read",
                           architecture, x->class->name);
    if (x->class->both && task && !strcmp(task, "ForCausalLM"))
        return json_refuse(x->root, err, "architectures: %s: the decoder of a %s alone is not read",
                           architecture, x->class->name);
    if (!task || name_is_listed(tasks, task + 3, strlen(task + 3))) return OK;
    said_assume(x->asked->said,
                "architectures: %s is planned with the head of a language model, on its vocabulary",
                architecture);
    return OK;
}

enum status hf_choose_class(struct hf_model *x, struct json *text, const char **type,
                            struct error *err)
{
    struct json_field types[] = {FIELD_TEXT("model_type", OPTIONAL, type)};
    const char *built;
    TRY(HF_FIELDS(x, types, err));
    TRY(read_architecture(x, &built, err));
    if (!*type && !built) return refuse_other(x, err);
    TRY(find_text(x, text, err));
    const char *named = *type ? *type : built, *of_part = arena_print(x->arena, "%s_text", named);
    x->class = *type ? hf_find_class(*type) : NULL;
    const struct hf_class *of_text = hf_find_class(of_part);
    if (!x->class && !json_is_present(text) && of_text && (of_text->flat || hf_has_tower(named)))
        x->class = of_text;
    if (!x->class && json_is_present(text) && !strstr(named, "_assistant")) {
        struct json_field optional[] = {FIELD_TEXT("model_type", OPTIONAL, &of_part)};
        x->root = text;
        TRY(HF_FIELDS(x, optional, err));
        TRY(read_architecture(x, &built, err));
        x->class = hf_find_class(of_part);
        named = of_part;
    }
    if (!x->class && (x->class = hf_find_architecture(built, x->arena))) {
        x->by_architecture = true;
        said_assume(x->asked->said, "model_type: %s is read as %s, by its architecture, %s",
                    *type ? *type : "(not stated)", x->class->name, built);
    }
    const char *key = *type ? "model_type" : "architectures";
    if (!*type) *type = named;
    if (x->class) return weigh_task(x, built, err);
    return json_refuse(x->root, err,
                       "%s: \"%s\" is not read%s; describe its layers in a model document "
                       "(docs/FORMATS.md, model; plumbline example gpt writes one)",
                       key, named, hf_why_not(named, built, x->arena));
}
