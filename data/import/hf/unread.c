// Configs that are not read: what the file is instead, or what its class has that models here lack,
// the class that understands most of its keys, and which keys that one does not.
#include <ctype.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

// ---- classes that are not supported: why, and the nearest supported one

#define FLASH "linear attention of a kind of its own (flash-linear-attention)"
#define PAIRED "an encoder of such layers beside its decoder"
#define SHARED "layers of a state space, and blocks of attention that several of them share"
#define CONVOLVED "convolutions beside its attention"

static const struct unread {
    const char *names, *has, *nearest;
} unread[] = {
    {"recurrent_gemma", "layers of linear attention", "gemma2"},
    {"delta_net gsa hgrn hgrn2 gated_deltaproduct", FLASH, "gated_deltanet"},
    {"rwkv6 rwkv7", FLASH, "rwkv"},
    {"kda", FLASH, "kimi_linear"},
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
    {"inkling inkling2", CONVOLVED, "mixtral"},
    {"inkling2_loop", CONVOLVED ", and layers that are run again", "mixtral"},
    {"phi4_multimodal", "adapters for images and sound", "phi3"},
    {"qwen4_exp", "embeddings of several tokens and gated residuals", "qwen3_5_text"},
    {"zaya", "convolved attention and routers of layers", "qwen3_moe"},
    {"glm5_next", "hyper-connections and keys found in pools", "glm_moe_dsa"},
    {"ernie4_5_vl_moe", "experts of images beside those of text", "ernie4_5_moe"},
    {"unlimited_ocr", "windows beside a part that all tokens see", "deepseek_ocr2"},
    {"voxtral_realtime", "norms that depend on a delay", "mistral"},
    {"gemma4_assistant gemma4_unified_assistant",
     "layers on the keys of the model that it drafts for", "gemma4_text"},
    {"git", "an encoder of images before its decoder", "llava"},
    {"modernvbert", "a tower before an encoder", "modernbert"},
    {"evolla", "layers that attend to a protein, and its encoder", "llama"},
    {"t5gemma", PAIRED, "gemma2"},
    {"t5gemma2", PAIRED, "gemma3_text"},
    {"deberta", "scores in products of its own", "deberta-v2"},
    {"switch_transformers", "experts in an encoder and its decoder", "t5"},
    {"nllb-moe", "experts in an encoder and its decoder", "m2m_100"},
    {"longt5", "windows in an encoder beside its decoder", "t5"},
    {"led", "windows in an encoder beside its decoder", "bart"},
    {"kyutai_speech_to_text moshi", "a table for each stream of sound", "llama"},
    {"chameleon emu3", "tokens of images among those of text", "llama"},
    {"idefics", "layers of cross attention to images", "mllama_text"},
    {"xlm", "embeddings of languages", "roberta"},
};

// Names begin types, "zamba2" of "zamba2_text"; an architecture is named in full.
static const struct unread *find_unread(const char *type, const char *architecture,
                                        struct arena *arena)
{
    for (int by_type = 1; by_type >= 0; by_type--)
        for (size_t i = 0; (by_type || architecture) && i < ARRAY_LENGTH(unread); i++)
            for (const char *at = unread[i].names; *at; at += *at == ' ') {
                size_t length = strcspn(at, " ");
                const char *name = arena_print(arena, "%.*s", (int)length, at);
                bool begins = !strncmp(type, name, length) &&
                              (!type[length] || type[length] == '_');
                if (by_type ? begins : hf_is_architecture(name, architecture, arena))
                    return &unread[i];
                at += length;
            }
    return NULL;
}

// ---- the nearest class by structure: the one whose reader understands most of the keys

enum { KEYS_MOST = 512, KEYS_NAMED = 12 };

struct fit {
    const struct hf_class *class;
    bool reads;
    int strange, absent; // keys of the file that the class lacks; keys of the class that it lacks
    int known;           // keys of both
    int alike;           // letters that both names begin with; 0: fewer than three
    const char *named;   // the strange ones
};

static int letters_alike(const char *a, const char *b)
{
    int count = 0;
    while (a[count] && tolower((unsigned char)a[count]) == tolower((unsigned char)b[count]))
        count++;
    return count < 3 ? 0 : count;
}

static bool is_part_of_others(const struct fit *f)
{
    const char *text = strstr(f->class->name, "_text");
    return text && !text[5];
}

static bool is_better(const struct fit *a, const struct fit *b)
{
    if (a->reads != b->reads) return a->reads;
    if (a->strange != b->strange) return a->strange < b->strange;
    if (a->alike != b->alike) return a->alike > b->alike;
    if (is_part_of_others(a) != is_part_of_others(b)) return is_part_of_others(b);
    return a->absent < b->absent;
}

// Reads the config as one of the class would be, and says nothing of it.
static struct fit fit_of(const struct hf_model *x, const struct hf_class *class, const char *type,
                         const char *const *keys, int count)
{
    struct said said = {.arena = x->arena};
    struct hf_asked asked = {.said = &said};
    struct hf_model trial = *x;
    struct error ignored = {OK, ""};
    trial.class = class, trial.asked = &asked;
    struct fit f = {.class = class, .alike = letters_alike(class->name, type)};
    f.reads = hf_read_class(&trial, &ignored) == OK;
    for (int i = 0; i < count; i++)
        if (hf_is_strange(&trial, keys[i]) && ++f.strange <= KEYS_NAMED)
            f.named = arena_print(x->arena, "%s%s%s", f.named ? f.named : "", f.named ? ", " : "",
                                  keys[i]);
    for (int i = 0; i < asked.count; i++) f.absent += !json_has(x->root, asked.keys[i]);
    f.known = asked.count - f.absent;
    if (f.strange > KEYS_NAMED)
        f.named = arena_print(x->arena, "%s and %d more", f.named, f.strange - KEYS_NAMED);
    return f;
}

// NULL: as the one that understands most.
static struct fit nearest(const struct hf_model *x, const struct hf_class *class, const char *type)
{
    const char *const *keys;
    struct json *values;
    struct error ignored = {OK, ""};
    int count = 0, best = 0;
    if (json_members(x->root, &keys, &values, &count, x->arena, &ignored) != OK) count = 0;
    if (count > KEYS_MOST) count = KEYS_MOST;
    if (class) return fit_of(x, class, type, keys, count);
    struct arena_mark mark = arena_set_mark(x->arena);
    struct fit found = fit_of(x, hf_class_at(0), type, keys, count);
    for (int i = 1; hf_class_at(i); i++) {
        arena_reset(x->arena, mark);
        struct fit f = fit_of(x, hf_class_at(i), type, keys, count);
        if (is_better(&f, &found)) found = f, best = i;
    }
    return fit_of(x, hf_class_at(best), type, keys, count);
}

// Parts that are models of their own: "encoder (vit), decoder (trocr)"; NULL: there are none.
static const char *parts_of(const struct hf_model *x)
{
    const char *const *keys, *list = NULL;
    struct json *values;
    struct error ignored = {OK, ""};
    int count = 0;
    if (json_members(x->root, &keys, &values, &count, x->arena, &ignored) != OK) return NULL;
    for (int i = 0; i < count; i++) {
        const struct hf_model part = {.root = &values[i], .arena = x->arena};
        const char *type = NULL;
        if (hf_text(&part, "model_type", &type, &ignored) != OK || !type) continue;
        list =
            arena_print(x->arena, "%s%s%s (%s)", list ? list : "", list ? ", " : "", keys[i], type);
    }
    return list;
}

const char *hf_why_not(const struct hf_model *x, const char *type, const char *architecture)
{
    static const char describe[] = "describe its layers in a model document (docs/FORMATS.md, "
                                   "model; plumbline example gpt writes one)";
    const struct unread *u = find_unread(type, architecture, x->arena);
    const char *parts = u ? NULL : parts_of(x);
    if (!u && !json_has(x->root, "vocab_size") && !json_has(x->root, "n_vocab"))
        return arena_print(x->arena,
                           ": it states no vocab_size, as models of text do%s%s; expected the "
                           "config.json of a language model, or %s",
                           parts ? ", but has parts: " : "", parts ? parts : "", describe);
    struct fit f = nearest(x, u ? hf_find_class(u->nearest) : NULL, type);
    const char *name = f.class ? f.class->name : u->nearest,
               *lacks = f.named ? arena_print(x->arena, ", which has no key %s", f.named) : "";
    if (u)
        return arena_print(x->arena, ": it has %s; the nearest that is: %s%s; %s", u->has, name,
                           lacks, describe);
    if (f.strange > KEYS_NAMED || 2 * f.strange > f.known)
        return arena_print(x->arena, ", nor is any class with such keys: %s even lacks %s; %s",
                           name, f.named, describe);
    return arena_print(x->arena,
                       "; the nearest that is, by its keys: %s%s; if its layers are those, state "
                       "\"model_type\": \"%s\", otherwise %s",
                       name, lacks, name, describe);
}

// ---- what is no config of a model

static const struct {
    const char *key, *is;
} others[] = {
    {"weight_map", "an index of a checkpoint's files"},
    {"__metadata__", "the header of a file of weights"},
    {"quant_method", "how a checkpoint is quantized"},
    {"quantization", "how a checkpoint is quantized"},
    {"tokenizer_class", "the configuration of a tokenizer"},
    {"added_tokens_decoder", "the configuration of a tokenizer"},
    {"image_processor_type", "how images are prepared"},
    {"feature_extractor_type", "how sound is prepared"},
    {"processor_class", "how inputs are prepared"},
    {"do_sample", "how a model generates"},
    {"max_new_tokens", "how a model generates"},
    {"eos_token_id", "how a model generates"},
    {"zero_optimization", "a configuration of DeepSpeed (plumbline import deepspeed)"},
    {"train_micro_batch_size_per_gpu", "a configuration of DeepSpeed (plumbline import deepspeed)"},
    {"general.architecture", "the metadata of a GGUF file"},
    {"metadata", "the metadata of a file of weights"},
    {"_diffusers_version", "a part of a pipeline of diffusers"},
};

enum status hf_refuse_other(const struct hf_model *x, struct error *err)
{
    static const char expected[] = "expected the config.json of a language model";
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
        return json_refuse(x->root, err, "_class_name: %s: a part of a pipeline of diffusers, %s",
                           part, expected);
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (json_has(x->root, others[i].key))
            return json_refuse(x->root, err, "key \"%s\": this is %s, %s", others[i].key,
                               others[i].is, expected);
    const char *parts = parts_of(x);
    return json_refuse(x->root, err, "key \"model_type\" is missing%s%s: %s",
                       parts ? ", but there are parts: " : "", parts ? parts : "", expected);
}

// ---- texts that are not JSON from their first letter on

// The end of the object that begins at `at`; NULL: there is none.
static const char *object_end(const char *at, const char *end)
{
    int depth = 0;
    bool quoted = false;
    for (; at < end; at++) {
        if (quoted && *at == '\\') at++;
        else if (*at == '"') quoted = !quoted;
        else if (!quoted && *at == '{') depth++;
        else if (!quoted && *at == '}' && !--depth) return at + 1;
    }
    return NULL;
}

enum status hf_find_printed(const char **text, size_t *size, const char *path, struct said *said,
                            struct error *err)
{
    const char *begin = *text + strspn(*text, " \t\r\n"), *end = *text + *size, *stop;
    if (begin >= end || *begin == '{' || *begin == '[') return OK;
    for (const char *at = begin; (at = strstr(at, "Config {")); at++) {
        const char *name = at, *open = at + strlen("Config ");
        while (name > begin && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
        if (!(stop = object_end(open, end))) break;
        int line = 1;
        for (const char *to = *text; to < at; to++) line += *to == '\n';
        said_line(said, "%s: line %d: %.*s, as transformers printed it", path, line,
                  (int)(open - 1 - name), name);
        *text = open, *size = (size_t)(stop - open);
        return OK;
    }
    if (!strncmp(begin, "GGUF", 4) || strstr(begin, "general.architecture"))
        return refuse(err, "%s: a GGUF file or its metadata: expected the config.json of its model",
                      path);
    if (strstr(begin, "num_layers:") || strstr(begin, "num_hidden_layers:"))
        return refuse(err,
                      "%s: YAML: expected a config.json; plumbline import nemo, megatron and "
                      "trainer read the YAML of their programs",
                      path);
    return OK;
}
